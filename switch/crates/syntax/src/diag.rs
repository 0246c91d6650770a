//! What the compiler has to say about a program, and how it is shown.

use std::collections::HashSet;
use std::fmt::Write;

use crate::source::{SourceMap, Span};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Severity {
    Error,
    Warning,
}

impl Severity {
    pub fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
        }
    }
}

/// One finding: what is wrong, where, and the mend when it is plain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    pub severity: Severity,
    pub message: String,
    pub span: Span,
    /// Other places that matter, each with what it has to do with it.
    pub labels: Vec<Label>,
    pub help: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    pub span: Span,
    pub message: String,
}

impl Diagnostic {
    pub fn error(span: Span, message: impl Into<String>) -> Self {
        Self::new(Severity::Error, span, message.into())
    }

    pub fn warning(span: Span, message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, span, message.into())
    }

    fn new(severity: Severity, span: Span, message: String) -> Self {
        Self { severity, message, span, labels: Vec::new(), help: None }
    }

    /// Adds another place.
    pub fn label(mut self, span: Span, message: impl Into<String>) -> Self {
        self.labels.push(Label { span, message: message.into() });
        self
    }

    /// Adds the mend.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// A finding as plain data, for tools.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Report {
    pub file: String,
    pub line: u32,
    pub col: u32,
    pub severity: &'static str,
    pub message: String,
    pub help: Option<String>,
}

/// Errors kept in one run; what follows them is seldom worth reading.
const MAX_ERRORS: usize = 100;

/// The findings of a run, in the order they came.
#[derive(Debug, Clone, Default)]
pub struct Diagnostics {
    list: Vec<Diagnostic>,
    seen: HashSet<(Span, String)>,
    errors: usize,
}

impl Diagnostics {
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes a finding; the same message at the same place counts once, and errors past a bound are only counted.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        let is_error = diagnostic.severity == Severity::Error;
        if is_error && self.errors >= MAX_ERRORS {
            self.errors += 1;
            return;
        }
        if !self.seen.insert((diagnostic.span, diagnostic.message.clone())) {
            return;
        }
        self.errors += usize::from(is_error);
        self.list.push(diagnostic);
    }

    pub fn error(&mut self, span: Span, message: impl Into<String>) {
        self.push(Diagnostic::error(span, message));
    }

    pub fn warning(&mut self, span: Span, message: impl Into<String>) {
        self.push(Diagnostic::warning(span, message));
    }

    pub fn has_errors(&self) -> bool {
        self.errors > 0
    }

    pub fn error_count(&self) -> usize {
        self.errors
    }

    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = &Diagnostic> {
        self.list.iter()
    }

    /// Takes all findings of a later step.
    pub fn append(&mut self, later: Diagnostics) {
        for diagnostic in later.list {
            self.push(diagnostic);
        }
    }

    /// All findings as text: `file:line:col: error: message`, the line, a caret, the mend.
    pub fn render(&self, map: &SourceMap, colour: bool) -> String {
        let mut out = String::new();
        for diagnostic in &self.list {
            render_one(&mut out, diagnostic, map, colour);
        }
        if self.errors > MAX_ERRORS {
            let more = self.errors - MAX_ERRORS;
            let _ = writeln!(out, "... and {more} more errors");
        }
        out
    }

    /// All findings as plain data.
    pub fn reports(&self, map: &SourceMap) -> Vec<Report> {
        self.list
            .iter()
            .map(|d| {
                let at = map.location(d.span);
                Report {
                    file: at.file.to_string(),
                    line: at.line,
                    col: at.column,
                    severity: d.severity.name(),
                    message: d.message.clone(),
                    help: d.help.clone(),
                }
            })
            .collect()
    }
}

const RED: &str = "\x1b[1;31m";
const YELLOW: &str = "\x1b[1;33m";
const CYAN: &str = "\x1b[1;36m";
const RESET: &str = "\x1b[0m";

fn paint(text: &str, code: &str, colour: bool) -> String {
    if colour { format!("{code}{text}{RESET}") } else { text.to_owned() }
}

fn render_one(out: &mut String, diagnostic: &Diagnostic, map: &SourceMap, colour: bool) {
    let code = match diagnostic.severity {
        Severity::Error => RED,
        Severity::Warning => YELLOW,
    };
    let at = map.location(diagnostic.span);
    let severity = paint(&format!("{}:", diagnostic.severity.name()), code, colour);
    let _ = writeln!(out, "{}:{}:{}: {severity} {}", at.file, at.line, at.column, diagnostic.message);
    excerpt(out, map, diagnostic.span, '^', "", code, colour);
    for label in &diagnostic.labels {
        let there = map.location(label.span);
        if (&there.file, there.line) != (&at.file, at.line) {
            let _ = writeln!(out, "{}:{}:{}:", there.file, there.line, there.column);
        }
        excerpt(out, map, label.span, '-', &label.message, CYAN, colour);
    }
    if let Some(help) = &diagnostic.help {
        let _ = writeln!(out, "  {} {help}", paint("help:", CYAN, colour));
    }
}

/// Columns of a source line that are shown; of a longer line only the part around the place.
const SHOWN_COLUMNS: usize = 160;

/// The line of the span with a mark under it, and a note behind the mark.
fn excerpt(out: &mut String, map: &SourceMap, span: Span, mark: char, note: &str, code: &str, colour: bool) {
    let (line, line_start) = map.line_of(span);
    if line.is_empty() && note.is_empty() {
        // An empty file, or one that cannot be read.
        return;
    }
    let from = (span.start as usize).saturating_sub(line_start).min(line.len());
    let to = (span.end as usize).saturating_sub(line_start).clamp(from, line.len());
    let (mut column, mut width, mut skipped) = (0, 0, 0);
    for (offset, _) in line.char_indices() {
        column += usize::from(offset < from);
        width += usize::from(offset >= from && offset < to);
    }
    if column > SHOWN_COLUMNS / 2 && column + width > SHOWN_COLUMNS {
        skipped = column - SHOWN_COLUMNS / 2;
    }
    let shown: String = line.chars().skip(skipped).take(SHOWN_COLUMNS).collect();
    let shown = shown.trim_end();
    // A tab stays a tab below, so that the mark stands right however wide the reader's tabs are.
    let pad: String =
        line.chars().skip(skipped).take(column - skipped).map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
    let width = width.clamp(1, SHOWN_COLUMNS.saturating_sub(column - skipped).max(1));
    let marks = paint(&mark.to_string().repeat(width), code, colour);
    let _ = writeln!(out, "  {shown}");
    let _ = writeln!(out, "{}", format!("  {pad}{marks} {note}").trim_end());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(map: &mut SourceMap, text: &str, word: &str) -> Span {
        let start = text.find(word).expect("the word is in the text") as u32;
        let file = map.add("a.p4", text);
        Span { file, start, end: start + word.len() as u32 }
    }

    #[test]
    fn shows_line_caret_label_and_help() {
        let mut map = SourceMap::new();
        let span = at(&mut map, "one\n\ttwo three\n", "three");
        let mut found = Diagnostics::new();
        let first = Span { start: 0, end: 3, ..span };
        found.push(Diagnostic::error(span, "no such word").label(first, "after this").help("write `tree`"));
        assert_eq!(
            found.render(&map, false),
            "a.p4:2:6: error: no such word\n  \ttwo three\n  \t    ^^^^^\na.p4:1:1:\n  one\n  --- after this\n  help: write `tree`\n"
        );
        assert!(found.render(&map, true).contains("\x1b[1;31merror:\x1b[0m"));
    }

    #[test]
    fn long_line_is_cut_around_the_place() {
        let mut map = SourceMap::new();
        let text = format!("{}HERE{}", "x".repeat(5000), "y".repeat(5000));
        let span = at(&mut map, &text, "HERE");
        let mut found = Diagnostics::new();
        found.error(span, "there");
        let shown = found.render(&map, false);
        assert!(shown.contains("HERE") && shown.len() < 600, "{shown}");
    }

    #[test]
    fn same_finding_counts_once_and_errors_are_bounded() {
        let mut found = Diagnostics::new();
        found.error(Span::default(), "x");
        found.error(Span::default(), "x");
        assert_eq!(found.error_count(), 1);
        for i in 0..1000 {
            found.error(Span::default(), format!("{i}"));
        }
        assert_eq!(found.iter().count(), MAX_ERRORS);
        assert!(found.render(&SourceMap::clone(&one_file()), false).ends_with("... and 901 more errors\n"));
    }

    fn one_file() -> SourceMap {
        let mut map = SourceMap::new();
        map.add("a.p4", "text\n");
        map
    }

    #[test]
    fn report_is_plain_data() {
        let mut map = SourceMap::new();
        let span = at(&mut map, "a b\n", "b");
        let mut found = Diagnostics::new();
        found.warning(span, "unused");
        let report = &found.reports(&map)[0];
        assert_eq!((report.line, report.col, report.severity, &*report.message), (1, 3, "warning", "unused"));
    }
}
