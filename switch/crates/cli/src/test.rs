//! `test`: cases of a program, on each engine.

use std::collections::BTreeSet;
use std::io::{self, IsTerminal, Write, stdout};
use std::path::Path;
use std::process::ExitCode;
use std::sync::mpsc::channel;

use anyhow::{Context, Result, anyhow};
use loader::Program;
use pipeline::BackendKind;
use runtime::Recorder;
use serde::Serialize;
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
    let mut out = stdout();
    for path in &args.cases {
        let tried = run_case(&programs, path)?;
        passed += usize::from(tried.passed);
        match args.json {
            true => writeln!(out, "{}", serde_json::to_string(&tried)?)?,
            false => print(&mut out, &tried)?,
        }
    }
    if !args.json {
        writeln!(out, "{passed} of {} cases passed", args.cases.len())?;
    }
    Ok(if passed == args.cases.len() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// What came of a case.
#[derive(Serialize)]
struct Tried {
    case: String,
    passed: bool,
    failures: Vec<Failed>,
    /// Those of packets that failures are about, in the order of their lines.
    traces: Vec<Traced>,
}

/// A failure, and the engines that had it.
#[derive(Serialize)]
struct Failed {
    engines: Vec<&'static str>,
    #[serde(flatten)]
    failure: Failure,
}

/// What became of a packet and its copies.
#[derive(Serialize)]
struct Traced {
    /// Of the packet.
    line: usize,
    traces: Vec<Trace>,
}

/// Runs a case on all engines.
fn run_case(programs: &[(Program, &'static str)], path: &Path) -> Result<Tried> {
    let case = path.display().to_string();
    let text = std::fs::read_to_string(path).with_context(|| case.clone())?;
    let script = script::parse(&text).map_err(|error| anyhow!("{case}: {error}"))?;
    // Engines that fail alike are told of once.
    let mut outcomes: Vec<(Outcome, Vec<&'static str>)> = vec![];
    for (program, engine) in programs {
        let fresh = program.fresh().map_err(|error| anyhow!("{case}: {error}"))?;
        let outcome = stf::run(&fresh.loaded, &script).map_err(|error| anyhow!("{case}: {error}"))?;
        match outcomes.iter_mut().find(|(known, _)| *known == outcome) {
            Some((_, engines)) => engines.push(engine),
            None => outcomes.push((outcome, vec![engine])),
        }
    }
    let failures: Vec<_> = outcomes
        .into_iter()
        .flat_map(|(Outcome { failures }, engines)| {
            failures.into_iter().map(move |failure| Failed { engines: engines.clone(), failure })
        })
        .collect();
    let packets: BTreeSet<_> = failures.iter().filter_map(|each| each.failure.packet).collect();
    let traces = packets
        .into_iter()
        .map(|line| Ok(Traced { line, traces: traces_of(&programs[0].0, &script, line)? }))
        .collect::<Result<_>>()?;
    Ok(Tried { case, passed: failures.is_empty(), failures, traces })
}

/// Prints it for people; the trace of a packet stands behind the first failure that is about it.
fn print(out: &mut impl Write, tried: &Tried) -> io::Result<()> {
    let Tried { case, failures, .. } = tried;
    if tried.passed {
        writeln!(out, "{case}: passed")?;
    }
    let mut traces: Vec<_> = tried.traces.iter().collect();
    for (at, failure) in failures.iter().enumerate() {
        if at == 0 || failures[at - 1].engines != failure.engines {
            writeln!(out, "{case}: failed ({})", failure.engines.join(", "))?;
        }
        print_failure(out, &failure.failure)?;
        if let Some(at) = traces.iter().position(|each| Some(each.line) == failure.failure.packet) {
            print_trace(out, traces.remove(at))?;
        }
    }
    Ok(())
}

fn print_failure(out: &mut impl Write, failure: &Failure) -> io::Result<()> {
    let (Some(expected), Some(got)) = (&failure.expected, &failure.got) else {
        return writeln!(out, "  {failure}");
    };
    let line = failure.line.map_or_else(String::new, |line| format!("line {line}: "));
    writeln!(out, "  {line}{}:\n    expected {expected}\n    got      {got}", failure.what)?;
    writeln!(out, "             {}", differences(expected, got))
}

fn print_trace(out: &mut impl Write, traced: &Traced) -> io::Result<()> {
    writeln!(out, "  the packet of line {}:", traced.line)?;
    let colour = if stdout().is_terminal() { Colour::Always } else { Colour::Never };
    for trace in &traced.traces {
        for line in trace::text(trace, colour).lines() {
            writeln!(out, "    {line}")?;
        }
    }
    Ok(())
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
fn traces_of(program: &Program, script: &[Line], packet: usize) -> Result<Vec<Trace>> {
    let sent = script.iter().find(|line| line.number == packet).map(|line| &line.command);
    let Some(Command::Packet { port, bytes }) = sent else { return Ok(vec![]) };
    let (sender, traces) = channel();
    let (port, bytes) = (*port, bytes.clone());
    let recorder = Recorder::new(move |steps, left_out| {
        // Read below, once the case has run.
        let _ = sender.send(Trace::new(0, port, &bytes, steps, left_out));
    });
    let fresh = program.fresh().map_err(|error| anyhow!("{error}"))?;
    stf::run_traced(&fresh.loaded, script, Some((packet, recorder))).map_err(|error| anyhow!("{error}"))?;
    Ok(traces.try_iter().collect())
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
