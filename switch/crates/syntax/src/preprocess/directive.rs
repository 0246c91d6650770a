//! Lines that start with `#`.

use std::path::{Path, PathBuf};

use super::condition::evaluate;
use super::{Input, Preprocessor};
use crate::builtin;
use crate::diag::Diagnostic;
use crate::source::{FileId, MAX_FILE_BYTES, Span};
use crate::token::{Token, TokenKind};

/// An open `#if`, `#ifdef` or `#ifndef`.
pub(super) struct Conditional {
    pub word: &'static str,
    pub span: Span,
    /// The text around it is read.
    outer_live: bool,
    /// The present branch is read.
    live: bool,
    /// Some branch has been read.
    taken: bool,
    else_seen: Option<Span>,
}

impl Conditional {
    pub(super) fn is_live(&self) -> bool {
        self.live
    }
}

/// Directives there are, for those that misspell one.
const DIRECTIVES: &[&str] = &[
    "include", "define", "undef", "if", "ifdef", "ifndef", "elif", "else", "endif", "error", "warning", "line",
    "pragma",
];

impl Preprocessor<'_> {
    /// Obeys a directive: its `#` and the rest of its line.
    pub(super) fn directive(&mut self, hash: &Token, line: &[Token]) {
        let Some(word) = line.first() else { return };
        let at = hash.span.to(word.span);
        let rest = &line[1..];
        let live = self.files.last().and_then(|f| f.conditionals.last()).is_none_or(Conditional::is_live);
        match &*word.text {
            "if" => self.open_conditional("if", at, rest),
            "ifdef" => self.open_conditional("ifdef", at, rest),
            "ifndef" => self.open_conditional("ifndef", at, rest),
            "elif" => self.elif(at, rest),
            "else" => self.else_branch(at),
            "endif" => {
                if self.files.last_mut().and_then(|f| f.conditionals.pop()).is_none() {
                    self.diagnostics.error(at, "`#endif` without `#if`");
                }
            }
            _ if !live => {}
            "include" => self.include(at, rest),
            "define" => self.define(at, rest),
            "undef" => {
                if let Some(name) = self.macro_name(at, rest) {
                    self.macros.remove(&name.text);
                }
            }
            "error" | "warning" => {
                let said = rest.first().zip(rest.last()).map(|(a, b)| self.map.snippet(a.span.to(b.span)));
                let message = format!("#{}: {}", word.text, said.unwrap_or("(no message)"));
                if &*word.text == "error" {
                    self.diagnostics.error(at, message);
                } else {
                    self.diagnostics.warning(at, message);
                }
            }
            "pragma" | "ident" => {}
            "line" => self.line_marker(at, rest),
            _ if word.kind == TokenKind::Number => self.line_marker(at, line),
            // P4 is preprocessed as assembler is, where such a line may be a comment.
            _ => {
                let mut warning = Diagnostic::warning(at, format!("there is no directive `#{}`", word.text));
                if let Some(near) = DIRECTIVES.iter().find(|d| is_near(d, &word.text)) {
                    warning = warning.help(format!("write `#{near}`"));
                }
                self.diagnostics.push(warning);
            }
        }
    }

    fn open_conditional(&mut self, word: &'static str, span: Span, line: &[Token]) {
        let outer_live = self.files.last().and_then(|f| f.conditionals.last()).is_none_or(Conditional::is_live);
        let live = outer_live
            && match word {
                "if" => self.condition(span, line),
                _ => {
                    let name = self.macro_name(span, line);
                    name.is_some_and(|n| self.is_defined(&n.text) == (word == "ifdef"))
                }
            };
        if let Some(file) = self.files.last_mut() {
            file.conditionals.push(Conditional { word, span, outer_live, live, taken: live, else_seen: None });
        }
    }

    fn elif(&mut self, span: Span, line: &[Token]) {
        let Some(last) = self.files.last().and_then(|f| f.conditionals.last()) else {
            self.diagnostics.error(span, "`#elif` without `#if`");
            return;
        };
        if let Some(earlier) = last.else_seen {
            self.diagnostics.push(Diagnostic::error(span, "`#elif` after `#else`").label(earlier, "the `#else`"));
            return;
        }
        let live = last.outer_live && !last.taken && self.condition(span, line);
        if let Some(last) = self.files.last_mut().and_then(|f| f.conditionals.last_mut()) {
            last.live = live;
            last.taken |= live;
        }
    }

    fn else_branch(&mut self, span: Span) {
        let Some(last) = self.files.last_mut().and_then(|f| f.conditionals.last_mut()) else {
            self.diagnostics.error(span, "`#else` without `#if`");
            return;
        };
        if let Some(earlier) = last.else_seen.replace(span) {
            self.diagnostics.push(Diagnostic::error(span, "a second `#else`").label(earlier, "the first one"));
            return;
        }
        last.live = last.outer_live && !last.taken;
        last.taken = true;
    }

    fn is_defined(&self, name: &str) -> bool {
        self.macros.contains_key(name) || matches!(name, "__FILE__" | "__LINE__" | "__COUNTER__" | "__has_include")
    }

    /// The value of an `#if`; `defined` is answered before macros expand.
    fn condition(&mut self, span: Span, line: &[Token]) -> bool {
        let mut inputs = Vec::new();
        let mut rest = line;
        while let Some((token, after)) = rest.split_first() {
            rest = after;
            let mut token = token.clone();
            if &*token.text == "defined" {
                let (name, used) = match after {
                    [open, name, close, ..]
                        if open.kind == TokenKind::OpenParen && close.kind == TokenKind::CloseParen =>
                    {
                        (name, 3)
                    }
                    [name, ..] => (name, 1),
                    [] => (&token, 0),
                };
                if name.kind != TokenKind::Ident || used == 0 {
                    self.diagnostics.error(token.span, "`defined` needs the name of a macro");
                    return false;
                }
                token.text = if self.is_defined(&name.text) { "1" } else { "0" }.into();
                token.kind = TokenKind::Number;
                rest = &after[used..];
            } else if &*token.text == "__has_include" {
                let close = after.iter().position(|t| t.kind == TokenKind::CloseParen);
                let name = match (after.first().map(|t| t.kind), close) {
                    (Some(TokenKind::OpenParen), Some(close)) => self.included_name(&after[1..close]),
                    _ => None,
                };
                let Some((name, quoted, _)) = name else {
                    self.diagnostics.error(token.span, "`__has_include` needs the name of a file in parentheses");
                    return false;
                };
                let from = self.files.last().map(|f| f.file);
                token.text = if self.find(&name, from.filter(|_| quoted)).is_ok() { "1" } else { "0" }.into();
                token.kind = TokenKind::Number;
                rest = &after[close.map_or(0, |close| close + 1)..];
            }
            inputs.push(Input { token, painted: false });
        }
        let tokens: Vec<Token> = self.expand_list(inputs).into_iter().map(|i| i.token).collect();
        match evaluate(span, &tokens) {
            Ok(value) => value != 0,
            Err(error) => {
                self.diagnostics.push(*error);
                false
            }
        }
    }

    /// `# 12 "file"` or `#line 12 "file"`.
    fn line_marker(&mut self, at: Span, line: &[Token]) {
        let number = line.first().and_then(|t| t.text.parse::<u32>().ok());
        let name = line.get(1).filter(|t| t.kind == TokenKind::Str).map(|t| unquote(&t.text));
        match number {
            Some(number) => self.map.add_marker(at, number, name.as_deref()),
            None => self.diagnostics.error(at, "a line marker needs the number of a line"),
        }
    }

    fn include(&mut self, at: Span, line: &[Token]) {
        let Some((name, quoted, span)) = self.included_name(line) else {
            let error = Diagnostic::error(at, "expected the name of a file after `#include`");
            self.diagnostics.push(error.help("write `#include \"file.p4\"` or `#include <file.p4>`"));
            return;
        };
        let from = self.files.last().map(|f| f.file);
        match self.find(&name, from.filter(|_| quoted)) {
            Ok(file) => self.open(file, Some(span)),
            Err(help) => {
                let error = Diagnostic::error(span, format!("there is no file `{name}` to include"));
                self.diagnostics.push(error.help(help));
            }
        }
    }

    /// `"file"` or `<file>`, or a macro that makes one: the name, whether it is quoted, and its place.
    fn included_name(&mut self, line: &[Token]) -> Option<(String, bool, Span)> {
        let mut line = line.to_vec();
        if line.first().is_some_and(|t| t.kind == TokenKind::Ident) {
            let inputs = line.into_iter().map(|token| Input { token, painted: false }).collect();
            line = self.expand_list(inputs).into_iter().map(|i| i.token).collect();
        }
        match line.as_slice() {
            [name, ..] if name.kind == TokenKind::Str => Some((unquote(&name.text), true, name.span)),
            [open, rest @ ..] if open.kind == TokenKind::Lt && rest.iter().any(|t| t.kind == TokenKind::Gt) => {
                let inner = rest.iter().take_while(|t| t.kind != TokenKind::Gt);
                let last = inner.clone().last().map_or(open.span, |t| t.span);
                Some((inner.map(|t| &*t.text).collect(), false, open.span.to(last)))
            }
            _ => None,
        }
    }

    /// Looks beside the file `from`, in the include folders and among the built-in files, in this order.
    fn find(&mut self, name: &str, from: Option<FileId>) -> Result<FileId, String> {
        let mut places = Vec::new();
        if let Some(from) = from {
            let from = self.map.name(from);
            places.push(Path::new(&*from).parent().unwrap_or(Path::new("")).join(name));
        }
        places.extend(self.options.include_dirs.iter().map(|dir| dir.join(name)));
        for place in &places {
            let shown = place.to_string_lossy();
            if let Some(file) = self.map.find(&shown) {
                return Ok(file);
            }
            if self.options.read_files
                && let Some(text) = read(place)?
            {
                return Ok(self.map.add(&*shown, text));
            }
        }
        if let Some((shown, text)) = builtin::file(name) {
            return Ok(self.map.find(shown).unwrap_or_else(|| self.map.add(shown, text)));
        }
        let folders: Vec<String> = places.iter().filter_map(|p| p.parent()).map(shown_folder).collect();
        Err(if !self.options.read_files {
            "only `core.p4`, `v1model.p4`, `psa.p4` and `packet_buffer.p4` can be included here; give the program preprocessed"
                .to_owned()
        } else if folders.is_empty() {
            "give the folder to look in with -I".to_owned()
        } else {
            format!("looked in {}; give other folders with -I", folders.join(", "))
        })
    }
}

fn shown_folder(folder: &Path) -> String {
    let shown = folder.display().to_string();
    format!("`{}`", if shown.is_empty() { "." } else { &shown })
}

/// The text of a file; `None` if there is none.
fn read(place: &PathBuf) -> Result<Option<String>, String> {
    let Ok(metadata) = std::fs::metadata(place) else { return Ok(None) };
    if !metadata.is_file() {
        return Ok(None);
    }
    if metadata.len() > MAX_FILE_BYTES as u64 {
        return Err(format!("`{}` has more than {MAX_FILE_BYTES} bytes", place.display()));
    }
    match std::fs::read(place) {
        Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
        Err(error) => Err(format!("`{}` cannot be read: {error}", place.display())),
    }
}

/// The text of a string literal.
fn unquote(text: &str) -> String {
    let inner = text.strip_prefix('"').and_then(|t| t.strip_suffix('"')).unwrap_or(text);
    inner.replace("\\\"", "\"").replace("\\\\", "\\")
}

/// One letter too few, too many or wrong, or two swapped: roughly, same ends and nearly the same length.
fn is_near(right: &str, written: &str) -> bool {
    let shared = right.bytes().zip(written.bytes()).take_while(|(a, b)| a == b).count();
    let tail = right.bytes().rev().zip(written.bytes().rev()).take_while(|(a, b)| a == b).count();
    right.len().abs_diff(written.len()) <= 1 && shared + tail + 2 >= right.len() && shared + tail >= 2
}
