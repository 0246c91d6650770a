//! Runs programs from their P4 source and from p4c's BMv2 JSON: both must treat every packet alike.
//!
//! Prints a line for each program that differs or is refused, then the counts; ends with 1 if one differs.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Arc;

use clap::Parser;
use compiler::Options;
use pipeline::{BackendKind, Loaded};
use stf::{alike, script};

#[derive(Parser)]
#[command(about = "Compare programs from P4 and from p4c's BMv2 JSON; needs p4c-bm2-ss on PATH")]
struct Args {
    /// p4c's `testdata` folder, or any folder with `.p4` files, and `.stf` files of the same names
    folder: PathBuf,
    /// Folder in which #include looks
    #[arg(short = 'I', value_name = "FOLDER")]
    include: Vec<PathBuf>,
    /// Where JSON is kept, and taken from if it is there: p4c takes its time
    #[arg(long, value_name = "FOLDER")]
    keep: Option<PathBuf>,
    /// Only programs whose name contains this
    #[arg(long, default_value = "")]
    only: String,
    /// Packets of each kind: changed ones of the case, and random ones
    #[arg(long, default_value_t = 200)]
    packets: u64,
    /// Also print the programs that are alike
    #[arg(long)]
    verbose: bool,
}

/// What became of a program.
enum Verdict {
    Alike,
    /// Our compiler, p4c or neither takes it.
    NotBoth,
    /// The document cannot be run.
    Refused(String),
    Differs(String),
}

fn main() -> ExitCode {
    let args = Args::parse();
    let samples = args.folder.join("p4_16_samples");
    let folder = if samples.is_dir() { samples } else { args.folder.clone() };
    let programs = match programs(&folder, &args.only) {
        Ok(programs) => programs,
        Err(error) => {
            eprintln!("{}: {error}", folder.display());
            return ExitCode::from(2);
        }
    };
    if Command::new("p4c-bm2-ss").arg("--version").output().is_err() {
        println!("skipped: p4c-bm2-ss is not on PATH");
        return ExitCode::SUCCESS;
    }
    let temporary = std::env::temp_dir().join(format!("json_differential.{}", std::process::id()));
    let keep = args.keep.clone().unwrap_or_else(|| temporary.clone());
    if let Err(error) = std::fs::create_dir_all(&keep) {
        eprintln!("{}: {error}", keep.display());
        return ExitCode::from(2);
    }
    let mut include_dirs = args.include.clone();
    include_dirs.push(args.folder.join("../p4include"));
    let options = Options { include_dirs, read_files: true, ..Options::default() };
    let (mut alike, mut refused, mut differ) = (0, 0, 0);
    for program in &programs {
        let name = program.file_stem().unwrap_or_default().to_string_lossy();
        let verdict = catch_unwind(AssertUnwindSafe(|| examine(program, &keep, &options, args.packets)))
            .unwrap_or_else(|_| Verdict::Differs("panicked".into()));
        match verdict {
            Verdict::NotBoth => {}
            Verdict::Alike => {
                alike += 1;
                if args.verbose {
                    println!("alike {name}");
                }
            }
            Verdict::Refused(error) => {
                refused += 1;
                println!("REFUSED {name}: {error}");
            }
            Verdict::Differs(error) => {
                differ += 1;
                println!("DIFFERS {name}: {error}");
            }
        }
    }
    // Only what was made here.
    let _ = std::fs::remove_dir_all(temporary);
    println!(
        "{alike} of {} programs that both take are alike, {refused} refused, {differ} differ",
        alike + refused + differ
    );
    if differ == 0 && alike > 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn programs(folder: &Path, only: &str) -> std::io::Result<Vec<PathBuf>> {
    let mut found = vec![];
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let is_program = path.extension().is_some_and(|extension| extension == "p4");
        let v1model = || std::fs::read_to_string(&path).is_ok_and(|text| text.contains("v1model.p4"));
        if is_program && path.to_string_lossy().contains(only) && v1model() {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

fn examine(program: &Path, keep: &Path, options: &Options, packets: u64) -> Verdict {
    let Ok(compiled) = compiler::compile_file(program, options) else { return Verdict::NotBoth };
    let Some(json) = p4c(program, keep, &options.include_dirs) else { return Verdict::NotBoth };
    let document = match bmv2_json::program(&json) {
        Ok(document) => Arc::new(document),
        Err(error) => return Verdict::Refused(error.to_string()),
    };
    let script = match std::fs::read_to_string(program.with_extension("stf")) {
        Ok(text) => match script::parse(&text) {
            Ok(script) => script,
            Err(error) => return Verdict::Refused(format!("its case: {error}")),
        },
        Err(_) => vec![],
    };
    let source = Arc::new(compiled.program);
    match compare(&source, &document, &script, packets) {
        Ok(()) => Verdict::Alike,
        Err(error) => Verdict::Differs(error),
    }
}

/// The case first, which says the most; then many packets, with the JSON in native code.
fn compare(
    source: &Arc<ir::Program>,
    document: &Arc<ir::Program>,
    script: &[script::Line],
    packets: u64,
) -> Result<(), String> {
    let load = |program: &Arc<ir::Program>, kind| Loaded::new(program.clone(), kind);
    if !script.is_empty() {
        let wanted = stf::run(&load(source, BackendKind::Interpreter)?, script);
        for kind in [BackendKind::Interpreter, BackendKind::Jit, BackendKind::SpecialAtOnce] {
            let got = stf::run(&load(document, kind)?, script);
            if got != wanted {
                return Err(format!("the case, {kind:?}: from P4 {}, from JSON {}", outcome(&wanted), outcome(&got)));
            }
        }
    }
    alike::compare(&load(source, BackendKind::Interpreter)?, &load(document, BackendKind::Jit)?, script, packets)?;
    Ok(())
}

fn outcome(result: &Result<stf::Outcome, String>) -> String {
    match result {
        Ok(outcome) => outcome.failures.first().map_or_else(|| "passes".into(), |first| format!("fails ({first})")),
        Err(error) => format!("cannot be run ({error})"),
    }
}

/// The JSON that p4c makes of a program; `None` if it takes it not.
fn p4c(program: &Path, keep: &Path, include: &[PathBuf]) -> Option<String> {
    // Names hold dots, so the extension is appended.
    let file = keep.join(format!("{}.json", program.file_stem()?.to_string_lossy()));
    if !file.exists() {
        let folders = include.iter().flat_map(|folder| ["-I".as_ref(), folder.as_os_str()]);
        let done = Command::new("p4c-bm2-ss").args(folders).arg("-o").arg(&file).arg(program).output().ok()?;
        if !done.status.success() {
            let _ = std::fs::remove_file(&file);
            return None;
        }
    }
    std::fs::read_to_string(file).ok()
}
