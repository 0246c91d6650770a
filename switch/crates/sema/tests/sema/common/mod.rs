//! Programs from text.

use syntax::diag::Diagnostics;
use syntax::preprocess::Options;
use syntax::source::SourceMap;

/// Parses and checks a program; core.p4 and v1model.p4 can be included.
pub fn check(text: &str) -> (Option<hir::Program>, SourceMap, Diagnostics) {
    let mut map = SourceMap::new();
    let file = map.add("main.p4", text);
    let (program, mut diagnostics) = syntax::parse(&mut map, file, &Options::default());
    assert!(!diagnostics.has_errors(), "the text does not parse:\n{}", diagnostics.render(&map, false));
    let checked = sema::check(&program, &mut diagnostics);
    (checked, map, diagnostics)
}
