//! Compares the P4Info and the entries of p4c's own v1model and PSA programs with what p4c's tests expect.
//!
//! Prints a line for each program, then the counts; ends with 1 if a program differs without an explanation.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use compiler::{Compiled, Options};

/// Programs that differ, and why: `name: reason`.
const EXPLAINED: &str = include_str!("../../explained.txt");

/// Deeply nested programs need a deep stack.
const STACK: usize = 64 << 20;

#[derive(Parser)]
#[command(about = "Compare P4Info with p4c's expected outputs")]
struct Args {
    /// p4c's `testdata` folder
    folder: PathBuf,
    /// Only programs whose name contains this
    #[arg(long, default_value = "")]
    only: String,
}

/// What came of one program.
enum Outcome {
    /// Equal as a message and, if so, as text.
    Equal {
        text: bool,
    },
    Different(String),
}

fn main() -> ExitCode {
    let args = Args::parse();
    let worker = std::thread::Builder::new().stack_size(STACK).spawn(move || compare_all(&args));
    match worker.map(|worker| worker.join()) {
        Ok(Ok(code)) => code,
        _ => ExitCode::from(2),
    }
}

fn compare_all(args: &Args) -> ExitCode {
    let programs = match programs(&args.folder, &args.only) {
        Ok(programs) => programs,
        Err(error) => {
            eprintln!("{}: {error}", args.folder.display());
            return ExitCode::from(2);
        }
    };
    let explained = explanations();
    let include = args.folder.join("../p4include");
    let options = Options { include_dirs: vec![include], read_files: true, ..Options::default() };
    let (mut equal, mut same_text, mut known, mut unexplained, mut stale) = (0, 0, 0, 0, 0);
    for program in &programs {
        let name = program.file_name().unwrap_or_default().to_string_lossy();
        let outcome = catch_unwind(AssertUnwindSafe(|| compare(&args.folder, program, &options)));
        let outcome = outcome.unwrap_or_else(|_| Outcome::Different("panicked".to_owned()));
        match (outcome, explained.get(&*name)) {
            (Outcome::Equal { text }, reason) => {
                equal += 1;
                same_text += usize::from(text);
                stale += usize::from(reason.is_some());
                let note = if reason.is_some() { ", though a difference is explained" } else { "" };
                println!("equal {name}{}{note}", if text { "" } else { " (in another order)" });
            }
            (Outcome::Different(difference), Some(reason)) => {
                known += 1;
                println!("explained {name}: {difference}\n    {reason}");
            }
            (Outcome::Different(difference), None) => {
                unexplained += 1;
                println!("DIFFERENT {name}: {difference}");
            }
        }
    }
    println!(
        "{equal} of {} programs equal, {same_text} of them in every byte; {known} differ as explained, {unexplained} \
         without explanation",
        programs.len()
    );
    if stale > 0 {
        println!("{stale} explained programs are equal: take them out of explained.txt");
    }
    let good = !programs.is_empty() && unexplained == 0 && stale == 0;
    if good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn explanations() -> BTreeMap<&'static str, &'static str> {
    let lines = EXPLAINED.lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| line.split_once(':')).map(|(name, reason)| (name.trim(), reason.trim())).collect()
}

/// The programs for v1model, and for PSA as BMv2 has it, that have an expected P4Info.
fn programs(folder: &Path, only: &str) -> std::io::Result<Vec<PathBuf>> {
    let mut programs = Vec::new();
    for entry in std::fs::read_dir(folder.join("p4_16_samples"))? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.ends_with(".p4")
            && name.contains(only)
            && expected(folder, &path, "p4info").is_file()
            && std::fs::read_to_string(&path)
                .is_ok_and(|text| ["v1model.p4", "bmv2/psa.p4"].iter().any(|file| text.contains(file)))
        {
            programs.push(path);
        }
    }
    programs.sort();
    Ok(programs)
}

fn expected(folder: &Path, program: &Path, what: &str) -> PathBuf {
    let name = program.file_name().unwrap_or_default().to_string_lossy();
    folder.join("p4_16_samples_outputs").join(format!("{name}.{what}.txtpb"))
}

fn compare(folder: &Path, program: &Path, options: &Options) -> Outcome {
    let read = |what: &str| std::fs::read_to_string(expected(folder, program, what));
    let Ok(text) = read("p4info") else { return Outcome::Different("its P4Info cannot be read".to_owned()) };
    let wanted = match p4info::parse_text(&text) {
        Ok(wanted) => wanted,
        Err(error) => return Outcome::Different(error.to_string()),
    };
    let compiled = compiler::compile_file(program, options);
    let (compiled, p4info) = match compiled.and_then(|compiled| Ok((p4info::p4info(&compiled)?, compiled))) {
        Ok((p4info, compiled)) => (compiled, p4info),
        Err(failure) => {
            let text = failure.to_string();
            let first = text.lines().find(|line| line.contains("error")).unwrap_or(&text);
            return Outcome::Different(format!("does not compile: {first}"));
        }
    };
    if let Some(difference) = p4info::difference(&p4info, &wanted) {
        return Outcome::Different(difference);
    }
    let same_text = p4info::to_text(&p4info) == text;
    match read("entries") {
        Ok(entries) => match compare_entries(&compiled, &entries) {
            Some(difference) => Outcome::Different(difference),
            None => Outcome::Equal { text: same_text },
        },
        Err(_) => Outcome::Equal { text: same_text },
    }
}

fn compare_entries(compiled: &Compiled, text: &str) -> Option<String> {
    let wanted = match p4info::parse_entries(text) {
        Ok(wanted) => wanted.updates,
        Err(error) => return Some(error.to_string()),
    };
    let given = p4info::entries(compiled).updates;
    if let Some(update) = given.iter().find(|update| !wanted.contains(update)) {
        return Some(format!("the entry should not be there: {update:?}"));
    }
    let missing = wanted.iter().find(|update| !given.contains(update));
    missing.map(|update| format!("the entry is missing: {update:?}"))
}
