//! Packets through the edge program, on all engines.

#![no_main]

use std::cell::RefCell;

use hostile::packets::{Engines, parse};
use libfuzzer_sys::fuzz_target;

thread_local! {
    static ENGINES: RefCell<Engines> =
        RefCell::new(hostile::sources::edge_engines("extensions").expect("the edge program compiles"));
}

fuzz_target!(|data: &[u8]| {
    if let Err(difference) = ENGINES.with_borrow_mut(|engines| engines.run(&parse(data))) {
        panic!("{difference}");
    }
});
