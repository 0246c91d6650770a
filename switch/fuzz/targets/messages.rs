//! P4Runtime messages through the service: the first byte names the call.

#![no_main]

use std::cell::RefCell;
use std::sync::Arc;

use hostile::calls::Known;
use hostile::messages::Lasting;
use libfuzzer_sys::fuzz_target;

thread_local! {
    static SERVED: RefCell<Lasting> = RefCell::new(served().expect("the edge program compiles"));
}

fn served() -> Result<Lasting, String> {
    Lasting::new(Arc::new(Known::new(&hostile::sources::edge()?)?))
}

fuzz_target!(|input: &[u8]| {
    if let Err(problem) = SERVED.with_borrow_mut(|served| served.check(input)) {
        panic!("{problem}");
    }
});
