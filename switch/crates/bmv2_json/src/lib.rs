//! p4c's BMv2 JSON as a program of this switch: from the document to the flat form in one call.
//!
//! The format is that of `p4c-bm2-ss` and `simple_switch`, version 2. It computes with numbers of any length and cuts
//! them where they are assigned; [`bounds`] finds the widths that the flat form needs. What a document uses and this
//! crate does not know is an error that names it.

mod action;
mod bounds;
mod context;
mod control;
mod error;
mod expr;
mod externs;
mod layout;
mod model;
mod number;
mod objects;
mod parser;
mod program;
mod truth;

pub use error::Error;

/// Brackets inside brackets: far more than a compiler writes.
const MAX_DEPTH: usize = 4096;
/// Stack for that many, in a build without optimisation too.
const STACK_BYTES: usize = 256 << 20;

/// Whether a device config is such a document rather than the text of a P4 program.
pub fn is_document(config: &str) -> bool {
    config.trim_start().starts_with('{')
}

/// Reads a document.
pub fn program(text: &str) -> Result<ir::Program, Error> {
    let depth = depth(text);
    if depth > MAX_DEPTH {
        return Err(Error::new(format!(
            "the document has {depth} brackets inside each other; {MAX_DEPTH} are the most"
        )));
    }
    // A thread of our own: the caller's stack may be too small for the nesting allowed.
    std::thread::scope(|scope| {
        let reading = std::thread::Builder::new().stack_size(STACK_BYTES);
        match reading.spawn_scoped(scope, || read(text)).map(|thread| thread.join()) {
            Ok(Ok(result)) => result,
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            Err(error) => panic!("no thread can be started: {error}"),
        }
    })
}

fn read(text: &str) -> Result<ir::Program, Error> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    // The depth is bounded above.
    deserializer.disable_recursion_limit();
    let document = serde::Deserialize::deserialize(&mut deserializer).map_err(|error| Error::new(error.to_string()))?;
    deserializer.end().map_err(|error| Error::new(error.to_string()))?;
    let program = program::translate(&document)?;
    // Native code relies on these rules, and the document may come from anywhere.
    match ir::verify(&program).first() {
        None => Ok(program),
        Some(broken) => Err(Error::new(format!("the document cannot be run: {broken}"))),
    }
}

/// How many brackets stand open at most, strings left out.
fn depth(text: &str) -> usize {
    let (mut depth, mut deepest, mut in_string, mut escaped) = (0usize, 0, false, false);
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'[' | b'{' if !in_string => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b']' | b'}' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}
