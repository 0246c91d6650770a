//! Places in the text of a restriction.

use std::fmt::Write;

/// A part of the text, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    pub start: usize,
    pub end: usize,
}

impl Span {
    pub fn to(self, other: Self) -> Self {
        Self { start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

/// A line and a column, both from 1; columns count characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    pub line: usize,
    pub column: usize,
}

impl Place {
    pub(crate) fn of(text: &str, at: usize) -> Self {
        let before = &text[..at];
        let start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Self { line: before.matches('\n').count() + 1, column: before[start..].chars().count() + 1 }
    }
}

/// The lines of a part, numbered, with the part marked below each.
pub(crate) fn quote(text: &str, span: Span) -> String {
    let first = Place::of(text, span.start).line;
    let last = Place::of(text, span.end.max(span.start + 1).min(text.len())).line.max(first);
    let mut out = String::new();
    let mut start = 0;
    for (number, line) in (1..).zip(text.split('\n')) {
        let end = start + line.len();
        if (first..=last).contains(&number) {
            let from = span.start.clamp(start, end) - start;
            let to = span.end.clamp(start, end) - start;
            let skipped = line.len() - line.trim_start().len();
            let from = if number > first { from.max(skipped) } else { from };
            if number == first || from < to {
                let marks = line[from.min(to)..to].chars().count().max(1);
                let width = last.to_string().len();
                let _ = writeln!(out, "{number:width$} | {}", line.trim_end());
                let _ = writeln!(out, "{:width$} | {}{}", "", blanks(&line[..from]), "^".repeat(marks));
            }
        }
        start = end + 1;
    }
    out.truncate(out.trim_end().len());
    out
}

/// Blanks as wide as the text; tabulators stay, so that marks stand below what they mark.
fn blanks(text: &str) -> String {
    text.chars().map(|c| if c == '\t' { '\t' } else { ' ' }).collect()
}
