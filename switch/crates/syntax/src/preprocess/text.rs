//! The preprocessed program as one text.

use std::fmt::Write;

use super::expand::quote;
use crate::source::{SourceMap, Span};
use crate::token::{Token, TokenKind, would_join};

/// Lines that are rather skipped by empty ones than by a marker.
const MAX_EMPTY_LINES: u32 = 8;

/// The whole preprocessed program as text that compiles by itself, with line markers that name the original places. This
/// is what a P4Runtime client sends as the device config.
pub fn program_text(map: &SourceMap, tokens: &[Token]) -> String {
    let mut out = String::new();
    let mut place: Option<(std::sync::Arc<str>, u32)> = None;
    let mut before: Option<&Token> = None;
    for token in tokens.iter().filter(|t| t.kind != TokenKind::Eof) {
        let (name, line) = map.shown_line(token.span);
        let same_file = place.as_ref().filter(|(file, _)| *file == name).map(|(_, line)| *line);
        match same_file {
            // The body of a macro whose use has several lines goes back to the first of them: no new line for that.
            Some(now) if line <= now => {
                let apart = before.is_some_and(|b| {
                    // As they stand in the file they are two tokens; only a macro brings others together.
                    let as_written = |t: &Token| map.snippet(t.span) == &*t.text;
                    let adjacent = b.span.after() == Span { end: token.span.start, ..token.span };
                    let joins = would_join(&b.text, &token.text) && !(adjacent && as_written(b) && as_written(token));
                    token.space || (joins && !is_shift(b, token))
                });
                if apart {
                    out.push(' ');
                }
                if token.line_start && line == now {
                    // A line of its own ends an `@pragma`.
                    keep_pragma_end(&mut out, &name, line);
                }
            }
            Some(now) if line - now <= MAX_EMPTY_LINES => {
                out.extend(std::iter::repeat_n('\n', (line - now) as usize));
                indent(&mut out, map, token);
                place = Some((name, line));
            }
            _ => {
                if !out.is_empty() {
                    out.push('\n');
                }
                let _ = writeln!(out, "# {line} {}", quote(&name));
                indent(&mut out, map, token);
                place = Some((name, line));
            }
        }
        out.push_str(&token.text);
        // A string may go over several lines.
        if let Some((_, line)) = &mut place {
            *line += token.text.matches('\n').count() as u32;
        }
        before = Some(token);
    }
    out.push('\n');
    out
}

/// Whether two tokens may be a shift to the right: `>>` and `>>=` are two tokens with nothing between them.
fn is_shift(left: &Token, right: &Token) -> bool {
    left.kind == TokenKind::Gt && matches!(right.kind, TokenKind::Gt | TokenKind::Ge)
}

/// Starts the same line once more.
fn keep_pragma_end(out: &mut String, name: &str, line: u32) {
    if !out.is_empty() && !out.ends_with('\n') {
        let _ = write!(out, "\n# {line} {}\n", quote(name));
    }
}

/// Puts the token in the column where it stands, so that places in the text are those in the file.
fn indent(out: &mut String, map: &SourceMap, token: &Token) {
    let column = map.location(token.span).column as usize;
    if column <= 80 {
        out.extend(std::iter::repeat_n(' ', column - 1));
    }
}
