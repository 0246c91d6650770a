//! Documents in p4c's BMv2 JSON through the loader and the engines.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: String| {
    if let Err(problem) = hostile::documents::read(&text) {
        panic!("{problem}");
    }
});
