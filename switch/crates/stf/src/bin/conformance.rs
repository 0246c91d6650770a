//! Runs p4c's own cases: every program of `p4_16_samples` for v1model, and for PSA as BMv2 has it, that has an `.stf`, on the interpreter, the JIT, and by the ways of packets.
//!
//! Prints a line for each case that fails, then the counts; ends with 1 if less than the goal pass.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use clap::Parser;
use compiler::Options;
use pipeline::{BackendKind, FlowStats, Loaded};
use runtime::Externs;
use stf::{Outcome, alike, hostile, script};

#[derive(Parser)]
#[command(about = "Run p4c's STF cases on the embedded switch")]
struct Args {
    /// p4c's `testdata` folder, or any folder with `.p4` and `.stf` files of the same names
    folder: PathBuf,
    /// The program of all cases, where each has not one of its own
    #[arg(long, value_name = "P4")]
    program: Option<PathBuf>,
    /// Folder in which #include looks
    #[arg(short = 'I', value_name = "FOLDER")]
    include: Vec<PathBuf>,
    /// Only cases whose name contains this
    #[arg(long, default_value = "")]
    only: String,
    /// Also print the cases that pass
    #[arg(long)]
    verbose: bool,
    /// Instead of the cases, send this many random, cut and oversized packets through each program
    #[arg(long, value_name = "PACKETS")]
    hostile: Option<u64>,
    /// Per cent of the cases that must pass on both backends
    #[arg(long, default_value_t = 95.0)]
    goal: f64,
}

const BACKENDS: [(BackendKind, &str); 5] = [
    (BackendKind::Interpreter, "interpreter"),
    (BackendKind::Jit, "jit"),
    (BackendKind::SpecialAtOnce, "jit for the tables' content"),
    (BackendKind::Flows, "known ways"),
    (BackendKind::CheckedFlows, "known ways, checked"),
];

/// Changed packets of a case, and as many random ones, that take ways which are known by then.
const CHANGED: u64 = 1000;

fn main() -> ExitCode {
    let args = Args::parse();
    let samples = args.folder.join("p4_16_samples");
    let folder = if samples.is_dir() { samples } else { args.folder.clone() };
    let cases = match cases(&folder, &args.only, args.program.is_some()) {
        Ok(cases) => cases,
        Err(error) => {
            eprintln!("{}: {error}", folder.display());
            return ExitCode::from(2);
        }
    };
    let mut include_dirs = args.include.clone();
    include_dirs.push(args.folder.join("../p4include"));
    let options = Options { include_dirs, read_files: true, ..Options::default() };
    // What all cases run is compiled once; each begins with fresh state.
    let common = args.program.as_deref().map(|program| BACKENDS.map(|(kind, _)| load(program, &options, kind)));
    let mut passed = [0; BACKENDS.len()];
    let mut known = [FlowStats::default(); BACKENDS.len()];
    for case in &cases {
        let name = case.file_name().unwrap_or_default().to_string_lossy().into_owned();
        for (index, (kind, backend)) in BACKENDS.into_iter().enumerate() {
            let result = catch_unwind(AssertUnwindSafe(|| {
                let loaded = match &common {
                    Some(common) => common[index].as_ref().map_err(String::clone)?.fresh()?,
                    None => load(&with_extension(case, "p4"), &options, kind)?,
                };
                match args.hostile {
                    Some(packets) => hostile::run(&loaded, packets).map(|()| FlowStats::default()),
                    None => run(case, &loaded, matches!(kind, BackendKind::Flows | BackendKind::CheckedFlows)),
                }
            }))
            .unwrap_or_else(|_| Err("panicked".into()));
            match result {
                Ok(flows) => {
                    passed[index] += 1;
                    known[index].add(&flows);
                    if args.verbose {
                        println!("pass {name} [{backend}]");
                    }
                }
                Err(error) => println!("FAIL {name} [{backend}]: {error}"),
            }
        }
    }
    let mut good = !cases.is_empty();
    for ((passed, known), (_, backend)) in passed.into_iter().zip(known).zip(BACKENDS) {
        let share = 100.0 * passed as f64 / cases.len().max(1) as f64;
        println!("{backend}: {passed} of {} cases passed, {share:.1} %", cases.len());
        if known != FlowStats::default() {
            println!("  {} packets took one of {} ways that were learned", known.hits, known.learned);
        }
        good &= share >= args.goal;
    }
    if good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The programs, without extension, that are for v1model or PSA and have an `.stf`.
fn cases(folder: &Path, only: &str, one_program: bool) -> std::io::Result<Vec<PathBuf>> {
    let mut cases = vec![];
    for entry in std::fs::read_dir(folder)? {
        let script = entry?.path();
        let program = script.with_extension("p4");
        let wanted = script.extension().is_some_and(|extension| extension == "stf")
            && script.to_string_lossy().contains(only)
            && (one_program || program.is_file());
        let is_for = |text: String| ["v1model.p4", "bmv2/psa.p4"].iter().any(|file| text.contains(file));
        let ours = || std::fs::read_to_string(&program).is_ok_and(is_for);
        if wanted && (one_program || ours()) {
            cases.push(script.with_extension(""));
        }
    }
    cases.sort();
    Ok(cases)
}

fn load(program: &Path, options: &Options, kind: BackendKind) -> Result<Loaded, String> {
    let compiled = compiler::compile_file(program, options).map_err(|failure| first_error(&failure.to_string()))?;
    let problems = ir::verify::verify(&compiled.program);
    if let Some(problem) = problems.first() {
        return Err(format!("the flat form is wrong: {problem}"));
    }
    // p4c's runner links this one into the switch.
    let externs = Externs::default().function("extern_func", |call| call.args.to_vec());
    Loaded::with_externs(Arc::new(compiled.program), kind, Arc::new(externs))
}

/// Runs a case; one whose packets are `changed`, too, beside the interpreter.
fn run(case: &Path, loaded: &Loaded, changed: bool) -> Result<FlowStats, String> {
    let text = std::fs::read_to_string(with_extension(case, "stf")).map_err(|error| error.to_string())?;
    let script = script::parse(&text)?;
    passed(stf::run(loaded, &script)?)?;
    let mut flows = FlowStats::default();
    if changed {
        let reference = loaded.as_kind(BackendKind::Interpreter)?;
        flows = alike::compare(&reference, &loaded.fresh()?, &script, CHANGED)?;
    }
    // Nothing is compiled again for it.
    let loaded = loaded.fresh()?;
    loaded.device.serve_threads();
    passed(stf::run_in_turn(&loaded, &script, 2)?).map_err(|error| format!("on two threads in turn: {error}"))?;
    Ok(flows)
}

fn passed(outcome: Outcome) -> Result<(), String> {
    match outcome.failures.first() {
        None => Ok(()),
        Some(first) => Err(format!("{first} ({} differences)", outcome.failures.len())),
    }
}

/// `case` names hold dots, so an extension is appended, not replaced.
fn with_extension(case: &Path, extension: &str) -> PathBuf {
    let mut name = case.as_os_str().to_owned();
    name.push(".");
    name.push(extension);
    name.into()
}

fn first_error(text: &str) -> String {
    text.lines().find(|line| line.contains("error")).unwrap_or(text).to_string()
}
