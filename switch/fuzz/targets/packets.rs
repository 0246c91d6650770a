//! Packets through the edge program, on all engines.

#![no_main]

use std::cell::RefCell;

use hostile::packets::Lasting;
use libfuzzer_sys::fuzz_target;

thread_local! {
    static ENGINES: RefCell<Lasting> = RefCell::new(engines().expect("the edge program compiles"));
}

fn engines() -> Result<Lasting, String> {
    Lasting::new(hostile::sources::edge_engines("extensions")?)
}

fuzz_target!(|input: &[u8]| {
    if let Err(difference) = ENGINES.with_borrow_mut(|engines| engines.run(input)) {
        panic!("{difference}");
    }
});
