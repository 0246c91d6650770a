//! `check` and `compile`: the compiler on the command line.

use std::io::{Write, stdout};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, anyhow};
use proto::p4::config::v1::P4Info;

use crate::args::{Check, Compile, Source};
use crate::target::take_turns;

pub fn check(args: &Check) -> Result<ExitCode> {
    let options = args.source.options();
    let result = compiler::compile_file(&args.program, &options);
    let result = result.and_then(|compiled| p4info::p4info(&compiled).map(|_| compiled));
    let (diagnostics, sources, good) = match &result {
        Ok(compiled) => (&compiled.warnings, &compiled.sources, true),
        Err(failure) => (&failure.diagnostics, &failure.sources, false),
    };
    let mut out = stdout().lock();
    if args.json {
        for report in diagnostics.reports(sources) {
            writeln!(out, "{}", serde_json::to_string(&report)?)?;
        }
    } else {
        eprint!("{}", diagnostics.render(sources, false));
        if let Ok(compiled) = &result {
            writeln!(out, "{}: no errors", args.program.display())?;
            if let Some(note) = take_turns(&compiled.program) {
                writeln!(out, "{note}")?;
            }
        }
    }
    Ok(if good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

pub fn compile(args: &Compile) -> Result<ExitCode> {
    let options = args.source.options();
    let result = compiler::compile_file(&args.program, &options);
    let compiled = match result {
        Ok(compiled) => compiled,
        Err(failure) => {
            eprintln!("{failure}");
            return Ok(ExitCode::FAILURE);
        }
    };
    eprint!("{}", compiled.warnings.render(&compiled.sources, false));
    if let Some(path) = &args.p4info {
        match p4info::p4info(&compiled) {
            Ok(info) => write(path, &encoded(&info, path))?,
            Err(failure) => {
                eprintln!("{failure}");
                return Ok(ExitCode::FAILURE);
            }
        }
    }
    if let Some(path) = &args.config {
        write(path, program_text(&args.program, &args.source)?.as_bytes())?;
    }
    if let Some(path) = &args.flat {
        write(path, compiled.program.to_string().as_bytes())?;
    }
    Ok(ExitCode::SUCCESS)
}

fn encoded(info: &P4Info, path: &Path) -> Vec<u8> {
    let text = ["txt", "txtpb", "textproto"].iter().any(|kind| path.extension().is_some_and(|found| found == *kind));
    if text || path == Path::new("-") { p4info::to_text(info).into_bytes() } else { p4info::to_binary(info) }
}

fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    if path == Path::new("-") {
        return Ok(stdout().write_all(bytes)?);
    }
    std::fs::write(path, bytes).with_context(|| path.display().to_string())
}

/// The program with everything it includes as one text: the device config.
pub fn program_text(program: &Path, source: &Source) -> Result<String> {
    let name = program.display().to_string();
    let text = std::fs::read(program).with_context(|| name.clone())?;
    compiler::device_config(&name, &String::from_utf8_lossy(&text), &source.options())
        .map_err(|errors| anyhow!("{errors}"))
}
