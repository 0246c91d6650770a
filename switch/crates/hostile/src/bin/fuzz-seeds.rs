//! Writes what fuzzing starts from: `fuzz-seeds FOLDER` makes one folder for each fuzz target in it.

use std::path::Path;
use std::process::ExitCode;

use hostile::calls::Known;
use hostile::{packets, seeds, sources};

fn main() -> ExitCode {
    let Some(folder) = std::env::args_os().nth(1) else {
        eprintln!("say where to: fuzz-seeds FOLDER");
        return ExitCode::from(2);
    };
    match write_all(Path::new(&folder)) {
        Ok(count) => {
            println!("{count} seeds in {}", Path::new(&folder).display());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn write_all(folder: &Path) -> Result<usize, String> {
    let texts = [sources::edge()?, sources::objects()?, sources::routing()?].map(String::into_bytes);
    let mut runs = Vec::new();
    for case in ["bridging", "discovery", "errors", "extensions", "packet_out", "punts", "routing"] {
        let all = sources::edge_engines(case)?.packets();
        runs.extend(all.chunks(4).map(packets::format));
    }
    let messages = seeds::messages(&Known::new(&sources::edge()?)?);
    Ok(write(&folder.join("compiler"), &texts)?
        + write(&folder.join("documents"), &[sources::document()?.into_bytes()])?
        + write(&folder.join("packets"), &runs)?
        + write(&folder.join("messages"), &messages)?)
}

fn write(folder: &Path, seeds: &[Vec<u8>]) -> Result<usize, String> {
    let describe = |error: std::io::Error| format!("{}: {error}", folder.display());
    std::fs::create_dir_all(folder).map_err(describe)?;
    for (number, seed) in seeds.iter().enumerate() {
        std::fs::write(folder.join(format!("seed-{number:03}")), seed).map_err(describe)?;
    }
    Ok(seeds.len())
}
