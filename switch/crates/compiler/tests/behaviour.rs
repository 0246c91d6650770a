//! Programs of `cases/`, each with packets in and packets out, on both ways to run a program.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use compiler::{Options, compile_file};
use pipeline::{BackendKind, Loaded};

fn run(name: &str) {
    let program: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases").join(name).with_extension("p4");
    let text = std::fs::read_to_string(program.with_extension("stf")).unwrap();
    let script = stf::script::parse(&text).unwrap();
    let compiled = compile_file(&program, &Options::default()).unwrap_or_else(|failure| panic!("{failure}"));
    assert_eq!(ir::verify(&compiled.program), []);
    let flat = compiled.program.to_string();
    let read: ir::Program = flat.parse().unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(read.to_string(), flat, "the text form says all");
    let program = Arc::new(compiled.program);
    for backend in [BackendKind::Interpreter, BackendKind::Jit, BackendKind::SpecialAtOnce] {
        let loaded = Loaded::new(program.clone(), backend).unwrap();
        let outcome = stf::run(&loaded, &script).unwrap();
        let failures: Vec<String> = outcome.failures.iter().map(ToString::to_string).collect();
        assert!(failures.is_empty(), "{backend:?}:\n{}", failures.join("\n"));
    }
}

macro_rules! cases {
    ($($name:ident)*) => { $(
        #[test]
        fn $name() {
            run(stringify!($name));
        }
    )* };
}

cases! {
    loops copies numbers headers parsing rejected tables defaults again field_lists limits psa_paths psa_externs
}
