//! Program texts through the compiler.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: String| {
    if let Err(problem) = hostile::programs::compile(&text) {
        panic!("{problem}");
    }
});
