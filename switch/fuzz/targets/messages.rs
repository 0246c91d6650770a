//! P4Runtime messages through the service: the first byte names the call.

#![no_main]

use std::sync::{Arc, LazyLock};

use hostile::calls::Known;
use hostile::messages::Served;
use libfuzzer_sys::fuzz_target;

static PROGRAM: LazyLock<Arc<Known>> =
    LazyLock::new(|| Arc::new(known().expect("the program compiles")));

fn known() -> Result<Known, String> {
    Known::new(&hostile::sources::edge()?)
}

fuzz_target!(|input: &[u8]| {
    let served = Served::new(&PROGRAM).expect("a service");
    if let Err(problem) = served.check(input) {
        panic!("{problem}");
    }
});
