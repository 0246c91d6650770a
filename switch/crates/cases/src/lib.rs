//! Runs the cases of `switch/cases/ir` on a backend; their format is told in the README there. For tests only.

mod script;
mod step;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ir::Program;
use runtime::{Backend, Context, Device};

use step::Stage;

/// Makes a backend for a program.
pub type Build<'a> = &'a dyn Fn(Arc<Program>) -> Box<dyn Backend>;

/// The files of all cases, in order.
pub fn all() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../cases/ir");
    let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("a readable folder").path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "ir"));
    files.sort();
    files
}

/// Runs one file; an error names the file and the line of every step that failed.
pub fn run_case(path: &Path, build: Build<'_>) -> Result<(), String> {
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    run_text(&text, build).map_err(|errors| {
        let errors: Vec<_> = errors.iter().map(|error| format!("{}: {error}", path.display())).collect();
        errors.join("\n")
    })
}

/// Runs all cases and panics with everything that failed; at least one has to be there.
pub fn run_all(build: Build<'_>) {
    let files = all();
    assert!(!files.is_empty(), "no case was found");
    let errors: Vec<String> = files.iter().filter_map(|path| run_case(path, build).err()).collect();
    assert!(errors.is_empty(), "{}", errors.join("\n"));
}

/// Runs the text of a case.
pub fn run_text(text: &str, build: Build<'_>) -> Result<(), Vec<String>> {
    let program: Program = text.parse().map_err(|error: ir::text::ParseError| vec![error.to_string()])?;
    let broken: Vec<String> = ir::verify(&program).iter().map(ToString::to_string).collect();
    if !broken.is_empty() {
        return Err(broken);
    }
    let steps = script::steps(text).map_err(|error| vec![error])?;
    if !steps.iter().any(|(_, step)| step.starts_with_word("expect")) {
        return Err(vec!["nothing is expected".to_owned()]);
    }
    let program = Arc::new(program);
    let backend = build(program.clone());
    let device = Device::new(program.clone()).map_err(|error| vec![error.to_string()])?;
    let mut stage = Stage { program: &program, backend: &*backend, context: Context::new(&device, 1), now: 0 };
    let mut errors = Vec::new();
    for (line, step) in steps {
        if let Err(error) = stage.step(step) {
            errors.push(format!("line {line}: {error}"));
        }
    }
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ir::FunctionId;

    /// Does nothing.
    struct Idle;

    impl Backend for Idle {
        fn run(&self, _: FunctionId, _: &mut Context<'_>) {}
    }

    fn failures(steps: &str) -> Vec<String> {
        let program = "\nframe 64 persistent 32 { 16 x: bits 8 }\nfunction f { b0: return }\nblocks f f f f f f\n\
            errors (NoError, PacketTooShort, NoMatch, StackOutOfBounds, HeaderTooShort, ParserTimeout, \
            ParserInvalidArgument)\n";
        run_text(&format!("{steps}{program}"), &|_| Box::new(Idle)).err().unwrap_or_default()
    }

    #[test]
    fn what_differs_is_told() {
        let failed =
            failures("//: packet\n//: set x 3\n//: run f\n//: expect x 4\n//: expect x 3\n//: expect cursor 1");
        assert_eq!(failed, ["line 4: x is 0x3 instead of 0x4", "line 6: the cursor is 0 instead of 1"]);
    }

    #[test]
    fn a_case_without_expectation_fails() {
        assert_eq!(failures("//: packet\n//: run f"), ["nothing is expected"]);
    }

    #[test]
    fn mistakes_in_steps_are_told() {
        let failed = failures("//: packet 0\n//: frobnicate\n//: run g\n//: set y 1\n//: expect x 300\n//: expect out");
        assert_eq!(
            failed,
            [
                "line 1: `0` is not whole bytes in hexadecimal",
                "line 2: `frobnicate` is no step",
                "line 3: there is no function `g`",
                "line 4: there is no variable `y`",
                "line 5: 300 does not fit 8 bits",
            ]
        );
    }
}
