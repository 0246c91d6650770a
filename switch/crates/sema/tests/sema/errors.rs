//! What is said about wrong programs: each `errors/*.p4` against the `.err` beside it. `SEMA_BLESS=1` writes the `.err`.

use std::fmt::Write;
use std::path::Path;

use syntax::diag::Diagnostics;
use syntax::source::{SourceMap, Span};

/// One line for each mistake, one for each place that belongs to it, one for the mend.
fn said(map: &SourceMap, diagnostics: &Diagnostics) -> String {
    let place = |span: Span| {
        let at = map.location(span);
        let file = Path::new(&*at.file).file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
        // Lines of the files that come with the compiler are not these tests' business.
        if file == "main.p4" { format!("{}:{}", at.line, at.column) } else { file }
    };
    let mut out = String::new();
    for diagnostic in diagnostics.iter() {
        let _ = writeln!(out, "{} {}: {}", place(diagnostic.span), diagnostic.severity.name(), diagnostic.message);
        for label in &diagnostic.labels {
            let _ = writeln!(out, "    {} {}", place(label.span), label.message);
        }
        if let Some(help) = &diagnostic.help {
            let _ = writeln!(out, "    help: {help}");
        }
    }
    out
}

#[test]
fn errors_are_as_written_down() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/errors");
    let mut differing = Vec::new();
    let mut seen = 0;
    for entry in std::fs::read_dir(&folder).expect("the folder of cases") {
        let path = entry.expect("an entry of the folder").path();
        if path.extension().is_none_or(|ext| ext != "p4") {
            continue;
        }
        seen += 1;
        let text = std::fs::read_to_string(&path).expect("the case");
        let (program, map, diagnostics) = crate::common::check(&text);
        assert!(program.is_none(), "{} passes", path.display());
        let said = said(&map, &diagnostics);
        let expected = path.with_extension("err");
        if std::env::var_os("SEMA_BLESS").is_some() {
            std::fs::write(&expected, &said).expect("the expectation is written");
        }
        if std::fs::read_to_string(&expected).unwrap_or_default() != said {
            differing.push(format!("{}:\n{said}", path.display()));
        }
    }
    assert!(seen > 0, "no cases in {}", folder.display());
    assert!(differing.is_empty(), "{}", differing.join("\n"));
}
