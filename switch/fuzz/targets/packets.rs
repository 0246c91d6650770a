//! Packets through the edge program, on the interpreter and the JIT.

#![no_main]

use std::cell::RefCell;

use hostile::packets::{Pair, parse};
use libfuzzer_sys::fuzz_target;

thread_local! {
    static PAIR: RefCell<Pair> = RefCell::new(hostile::sources::edge_pair("extensions").expect("the edge program compiles"));
}

fuzz_target!(|data: &[u8]| {
    if let Err(difference) = PAIR.with_borrow_mut(|pair| pair.run(&parse(data))) {
        panic!("{difference}");
    }
});
