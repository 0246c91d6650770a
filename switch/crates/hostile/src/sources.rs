//! Programs and cases of this repository, which mutations start from.

use std::path::{Path, PathBuf};

use compiler::Options;

use crate::packets::Engines;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

fn read(path: &str) -> Result<String, String> {
    let path = repository().join(path);
    std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))
}

/// Sizes of what there is by session, flow and pair, in arrays as in what finds a place in them.
const MANY_CELLS: [&str; 6] = ["2097152", "1048576", "262144", "131072", "65536", "16384"];
/// What arrays have instead: who asks for all of them at once gets every cell, and a million cells take a second.
pub const FEW_CELLS: u32 = 16;

/// The edge program as a controller sends it, for fewer sessions.
pub fn edge() -> Result<String, String> {
    let options = Options { include_dirs: vec![repository().join("p4src")], read_files: true, ..Options::default() };
    let path = repository().join("p4src/v1model/main.p4");
    let text = compiler::device_config(&path.display().to_string(), &read("p4src/v1model/main.p4")?, &options)?;
    Ok(with_short_arrays(&MANY_CELLS.iter().fold(text, |text, size| text.replace(size, &FEW_CELLS.to_string()))))
}

/// The program with the smaller arrays short as well: those by port and by reason, whose sizes are bounds of other things too.
fn with_short_arrays(text: &str) -> String {
    let mut pieces = text.split(">(");
    let mut short = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let (size, rest) = piece.split_at(piece.bytes().take_while(u8::is_ascii_digit).count());
        let is_array = size.parse().is_ok_and(|size: u32| size > FEW_CELLS) && rest.starts_with([',', ')']);
        let size = if is_array { FEW_CELLS.to_string() } else { size.to_owned() };
        short += &[">(", &size, rest].concat();
    }
    short
}

/// A program with every object that P4Info describes.
pub fn objects() -> Result<String, String> {
    read("switch/crates/p4info/tests/golden/objects.p4")
}

/// A small program.
pub fn routing() -> Result<String, String> {
    read("bench/p4/routing.p4")
}

/// What p4c makes of the small program, without places in its source.
pub fn document() -> Result<String, String> {
    read("switch/crates/hostile/seeds/routing.json")
}

/// The edge program with the entries of one of its cases, on all engines.
pub fn edge_engines(case: &str) -> Result<Engines, String> {
    let p4src = repository().join("p4src");
    Engines::new(&p4src.join("v1model/main.p4"), &[&p4src], &read(&format!("p4src/tests/{case}.stf"))?)
}
