//! Writes the seeds of a target: `seeds TARGET FOLDER`.

use std::path::Path;
use std::process::ExitCode;
use std::{env, fs};

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [target, folder] = &arguments[..] else {
        eprintln!("usage: seeds compiler|packets|messages FOLDER");
        return ExitCode::from(2);
    };
    let seeds = match target.as_str() {
        "compiler" => hostile::compiler::seeds(),
        "packets" => hostile::packets::seeds(),
        "messages" => hostile::messages::seeds(),
        _ => {
            eprintln!("there is no target {target}; there are compiler, packets and messages");
            return ExitCode::from(2);
        }
    };
    match write(Path::new(folder), &seeds) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("the seeds cannot be written to {folder}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn write(folder: &Path, seeds: &[Vec<u8>]) -> std::io::Result<()> {
    fs::create_dir_all(folder)?;
    seeds.iter().enumerate().try_for_each(|(at, seed)| fs::write(folder.join(format!("seed-{at:03}")), seed))
}
