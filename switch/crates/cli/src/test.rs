//! `test`: cases of a program, on each engine.

use std::io::{IsTerminal, stdout};
use std::path::Path;
use std::process::ExitCode;
use std::sync::mpsc::channel;

use anyhow::{Context, Result, anyhow};
use loader::Program;
use pipeline::BackendKind;
use runtime::Recorder;
use stf::script::{self, Command, Line};
use stf::{Failure, Outcome};
use trace::{Colour, Trace};

use crate::args::Test;

pub fn test(args: &Test) -> Result<ExitCode> {
    let options = args.source.options();
    let mut programs = vec![];
    for (kind, name) in [
        (BackendKind::Interpreter, "interpreter"),
        (BackendKind::Jit, "native code"),
        (BackendKind::SpecialAtOnce, "code for the tables' content"),
    ] {
        match compiler::compile_file(&args.program, &options) {
            Ok(compiled) => {
                programs.push((loader::program(compiled, kind).map_err(|error| anyhow!("{name}: {error}"))?, name));
            }
            Err(failure) => {
                eprintln!("{failure}");
                return Ok(ExitCode::FAILURE);
            }
        }
    }
    let mut passed = 0;
    for path in &args.cases {
        if run_case(&programs, path)? {
            passed += 1;
        }
    }
    println!("{passed} of {} cases passed", args.cases.len());
    Ok(if passed == args.cases.len() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Runs a case on all backends and prints what failed.
fn run_case(programs: &[(Program, &str)], path: &Path) -> Result<bool> {
    let name = path.display().to_string();
    let text = std::fs::read_to_string(path).with_context(|| name.clone())?;
    let script = script::parse(&text).map_err(|error| anyhow!("{name}: {error}"))?;
    // Backends that fail alike are told of once.
    let mut outcomes: Vec<(Outcome, Vec<&str>)> = vec![];
    for (program, backend) in programs {
        let fresh = program.fresh().map_err(|error| anyhow!("{name}: {error}"))?;
        let outcome = stf::run(&fresh.loaded, &script).map_err(|error| anyhow!("{name}: {error}"))?;
        match outcomes.iter_mut().find(|(known, _)| *known == outcome) {
            Some((_, backends)) => backends.push(backend),
            None => outcomes.push((outcome, vec![backend])),
        }
    }
    let failed: Vec<_> = outcomes.iter().filter(|(outcome, _)| !outcome.failures.is_empty()).collect();
    if failed.is_empty() {
        println!("{name}: passed");
        return Ok(true);
    }
    for (Outcome { failures }, backends) in failed {
        println!("{name}: failed ({})", backends.join(", "));
        let mut traced = vec![];
        for failure in failures {
            print_failure(failure);
            if let Some(packet) = failure.packet
                && !traced.contains(&packet)
            {
                traced.push(packet);
                print_trace(&programs[0].0, &script, packet)?;
            }
        }
    }
    Ok(false)
}

fn print_failure(failure: &Failure) {
    let (Some(expected), Some(got)) = (&failure.expected, &failure.got) else {
        println!("  {failure}");
        return;
    };
    let line = failure.line.map_or_else(String::new, |line| format!("line {line}: "));
    println!("  {line}{}:\n    expected {expected}\n    got      {got}", failure.what);
    println!("             {}", differences(expected, got));
}

/// A mark below each digit that differs.
fn differences(expected: &str, got: &str) -> String {
    let (digits, is_exact) = expected.strip_suffix(" $").map_or((expected, false), |digits| (digits, true));
    let same = |(want, have): (char, char)| if want == '*' || want == have { ' ' } else { '^' };
    let mut marks: String = digits.chars().zip(got.chars()).map(same).collect();
    let (wanted, had) = (digits.len(), got.len());
    if wanted > had || (is_exact && had > wanted) {
        marks += &"^".repeat(wanted.abs_diff(had));
    }
    marks.trim_end().to_owned()
}

/// Runs the case again with a recorder at the packet of a line.
fn print_trace(program: &Program, script: &[Line], packet: usize) -> Result<()> {
    let sent = script.iter().find(|line| line.number == packet).map(|line| &line.command);
    let Some(Command::Packet { port, bytes }) = sent else { return Ok(()) };
    let (sender, traces) = channel();
    let (port, bytes) = (*port, bytes.clone());
    let recorder = Recorder::new(move |steps, left_out| {
        // Read below, once the case has run.
        let _ = sender.send(Trace::new(0, port, &bytes, steps, left_out));
    });
    let fresh = program.fresh().map_err(|error| anyhow!("{error}"))?;
    stf::run_traced(&fresh.loaded, script, Some((packet, recorder))).map_err(|error| anyhow!("{error}"))?;
    println!("  the packet of line {packet}:");
    let colour = if stdout().is_terminal() { Colour::Always } else { Colour::Never };
    for trace in traces.try_iter() {
        for line in trace::text(&trace, colour).lines() {
            println!("    {line}");
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_stand_below_what_differs() {
        assert_eq!(differences("0a**0c", "0a110d"), "     ^");
        assert_eq!(differences("0a", "0a11"), "");
        assert_eq!(differences("0a $", "0a11"), "  ^^");
        assert_eq!(differences("0a11", "0b"), " ^^^");
    }
}
