//! From P4 text to the flat form in one call.

use std::path::Path;

use hir::instances::Instances;
use syntax::diag::{Diagnostic, Diagnostics};
pub use syntax::preprocess::Options;
use syntax::source::{FileId, SourceMap, Span};

/// A program that compiled: all that the control plane and the packet path are made from.
#[derive(Debug)]
pub struct Compiled {
    pub program: ir::Program,
    pub hir: hir::Program,
    pub instances: Instances,
    pub sources: SourceMap,
    /// Findings that do not keep the program from running.
    pub warnings: Diagnostics,
}

/// A program that did not compile.
#[derive(Debug)]
pub struct Failure {
    pub diagnostics: Diagnostics,
    pub sources: SourceMap,
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.diagnostics.render(&self.sources, false).trim_end())
    }
}

impl std::error::Error for Failure {}

/// Compiles a text. `name` is what findings call it, and what its `#include "..."` are relative to.
pub fn compile_text(name: &str, text: &str, options: &Options) -> Result<Compiled, Box<Failure>> {
    let mut sources = SourceMap::new();
    let main = sources.add(name, text);
    compile(sources, main, options)
}

/// Compiles a file, with the files it includes.
pub fn compile_file(path: &Path, options: &Options) -> Result<Compiled, Box<Failure>> {
    let mut sources = SourceMap::new();
    let name = path.display().to_string();
    match std::fs::read(path) {
        Ok(bytes) => {
            let main = sources.add(name, String::from_utf8_lossy(&bytes));
            let options = Options { read_files: true, ..options.clone() };
            compile(sources, main, &options)
        }
        Err(error) => {
            let main = sources.add(name, "");
            let mut diagnostics = Diagnostics::new();
            diagnostics.error(Span { file: main, start: 0, end: 0 }, format!("the file cannot be read: {error}"));
            Err(Box::new(Failure { diagnostics, sources }))
        }
    }
}

/// Preprocesses a text to the one that a P4Runtime client sends as the device config: it includes nothing any more, and
/// its errors still name the places they come from.
pub fn device_config(name: &str, text: &str, options: &Options) -> Result<String, String> {
    let mut sources = SourceMap::new();
    let main = sources.add(name, text);
    let mut diagnostics = Diagnostics::new();
    let tokens = syntax::preprocess::preprocess(&mut sources, main, options, &mut diagnostics);
    if diagnostics.has_errors() {
        return Err(diagnostics.render(&sources, false).trim_end().to_string());
    }
    Ok(syntax::preprocess::program_text(&sources, &tokens))
}

/// Stack for the deepest nesting that the parser lets through, in a build without optimisation too.
const STACK_BYTES: usize = 256 << 20;

fn compile(sources: SourceMap, main: FileId, options: &Options) -> Result<Compiled, Box<Failure>> {
    // A thread of our own: the caller's stack may be too small for the nesting allowed.
    std::thread::scope(|scope| {
        let compiling = std::thread::Builder::new().stack_size(STACK_BYTES);
        match compiling.spawn_scoped(scope, || compile_here(sources, main, options)).map(|thread| thread.join()) {
            Ok(Ok(result)) => result,
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            Err(error) => panic!("no thread can be started: {error}"),
        }
    })
}

fn compile_here(mut sources: SourceMap, main: FileId, options: &Options) -> Result<Compiled, Box<Failure>> {
    let (ast, mut diagnostics) = syntax::parse(&mut sources, main, options);
    if diagnostics.has_errors() {
        return Err(Box::new(Failure { diagnostics, sources }));
    }
    let checked = sema::check(&ast, &mut diagnostics);
    let Some(hir) = checked.filter(|_| !diagnostics.has_errors()) else {
        return Err(Box::new(Failure { diagnostics, sources }));
    };
    let instances = match Instances::new(&hir) {
        Ok(instances) => instances,
        Err(error) => {
            let span = if error.span == Span::default() { Span { file: main, ..Span::default() } } else { error.span };
            diagnostics.push(Diagnostic::error(span, error.message));
            return Err(Box::new(Failure { diagnostics, sources }));
        }
    };
    match lower::lower(&hir, &instances, &sources) {
        Ok(program) => Ok(Compiled { program, hir, instances, sources, warnings: diagnostics }),
        Err(errors) => {
            diagnostics.append(errors);
            Err(Box::new(Failure { diagnostics, sources }))
        }
    }
}
