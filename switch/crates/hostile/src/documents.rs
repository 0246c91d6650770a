//! Documents in p4c's BMv2 JSON through the loader, and packets through what it takes.

use std::sync::Arc;

use pipeline::{BackendKind, Loaded};
use stf::hostile::Packets;

use crate::packets::Engines;

/// For each document: enough that most go further than its first header.
const PACKETS: usize = 8;

/// Reads a document. What is taken does the same on all engines; what is not, has an error to show. Answers whether it was
/// taken.
pub fn read(text: &str) -> Result<bool, String> {
    let refused = |error: String| if error.is_empty() { Err("refused without a word".into()) } else { Ok(false) };
    let program = match bmv2_json::program(text) {
        Ok(program) => Arc::new(program),
        Err(error) => return refused(error.to_string()),
    };
    // An entry of its own may be wrong.
    let reference = match Loaded::new(program, BackendKind::Interpreter) {
        Ok(loaded) => loaded,
        Err(error) => return refused(error),
    };
    let packets: Vec<_> = Packets::new(1).take(PACKETS).collect();
    Engines::beside(reference, vec![])?.run(&packets)?;
    Ok(true)
}
