//! Strings of several lines. The preprocessor of C knows none: to it each line after the first is ordinary text, which may
//! be a directive, and in which macros expand and blanks shrink to one.

use super::{Input, Preprocessor};
use crate::diag::Diagnostics;
use crate::lexer::lex;
use crate::source::Span;
use crate::token::{Token, TokenKind};

/// Columns that a tabulator goes to.
const TAB: usize = 8;

/// A string up to a directive in it.
pub(super) struct OpenString {
    /// Its text is that of the first lines.
    first: Token,
    text: String,
    span: Span,
}

impl OpenString {
    fn token(self, kind: TokenKind) -> Token {
        Token { kind, text: self.text.into(), span: self.span, ..self.first }
    }
}

impl Preprocessor<'_> {
    /// Passes a token of the files on, strings of several lines as a whole.
    pub(super) fn string_of_lines(&mut self, mut token: Token) -> Option<Token> {
        if token.text.contains('\n') || token.kind == TokenKind::StrEnd {
            let goes_on = token.kind == TokenKind::StrEnd || token.kind == TokenKind::StrPart && self.is_in_string();
            token.text = self.lines(&token, goes_on).into();
        }
        let before = self.files.last_mut()?.string.take();
        let (string, token) = match (before, token.kind) {
            (None, TokenKind::StrPart) => {
                (Some(OpenString { text: token.text.to_string(), span: token.span, first: token }), None)
            }
            // The branch that opens it was skipped.
            (None, TokenKind::StrEnd) => (None, Some(Token { kind: TokenKind::OpenStr, ..token })),
            (None, _) => (None, Some(token)),
            (Some(before), TokenKind::StrPart) => (Some(self.joined(before, &token)), None),
            (Some(before), TokenKind::StrEnd) => (None, Some(self.joined(before, &token).token(TokenKind::Str))),
            // The branch that closes it was skipped.
            (Some(before), _) => {
                self.files.last_mut()?.pos -= 1;
                (None, Some(before.token(TokenKind::OpenStr)))
            }
        };
        self.files.last_mut()?.string = string;
        token
    }

    /// The string that the file leaves open.
    pub(super) fn end_string(&mut self) -> Option<Token> {
        Some(self.files.last_mut()?.string.take()?.token(TokenKind::OpenStr))
    }

    /// Directives and skipped lines in between leave empty ones, so that places in the string are those in the file.
    fn joined(&self, mut before: OpenString, next: &Token) -> OpenString {
        let text = self.map.text(before.span.file);
        let between = text.get(before.span.end as usize..next.span.start as usize).unwrap_or("");
        before.text.extend(between.matches('\n').chain([&*next.text]));
        before.span = before.span.to(next.span);
        before
    }

    fn is_in_string(&self) -> bool {
        self.files.last().is_some_and(|open| open.string.is_some())
    }

    /// The text of a string or a part of it, all lines after the one with the opening quote preprocessed.
    fn lines(&mut self, token: &Token, goes_on: bool) -> String {
        let mut lines: Vec<String> = Vec::new();
        for (at, line) in token.text.split('\n').enumerate() {
            lines.push(if at > 0 || goes_on { self.line(token, line) } else { line.to_owned() });
        }
        lines.join("\n")
    }

    fn line(&mut self, string: &Token, line: &str) -> String {
        let line = line.trim_end_matches('\r');
        let mut rest = line.trim_start_matches([' ', '\t']);
        if rest.is_empty() {
            return String::new();
        }
        let indent = line[..line.len() - rest.len()].bytes();
        let column = indent.fold(0, |column, byte| if byte == b'\t' { (column / TAB + 1) * TAB } else { column + 1 });
        let mut out = " ".repeat(column);
        while !rest.is_empty() {
            let literal = [rest.find("//"), rest.find("/*"), rest.find(['\'', '"'])].into_iter().flatten().min();
            let (code, after) = rest.split_at(literal.unwrap_or(rest.len()));
            self.expand_text(string, code, &mut out);
            if code.ends_with([' ', '\t']) && !after.is_empty() {
                out.push(' ');
            }
            let (literal, after) = after.split_at(literal_length(after));
            out.push_str(literal);
            rest = after;
        }
        out
    }

    /// Adds text with its macros expanded and one blank where there are some.
    fn expand_text(&mut self, string: &Token, text: &str, out: &mut String) {
        let tokens = lex(string.span.file, text, &mut Diagnostics::new());
        let place = |token| Input { token: Token { span: string.span, ..token }, painted: false };
        let tokens = self.expand_list(tokens.into_iter().map(place).collect());
        for (at, Input { token, .. }) in tokens.into_iter().enumerate() {
            if if at == 0 { text.starts_with([' ', '\t']) } else { token.space } {
                out.push(' ');
            }
            out.push_str(&token.text);
        }
    }
}

/// How much of the text stands as it is: a comment, a character, or all from a quote on.
fn literal_length(text: &str) -> usize {
    if let Some(comment) = text.strip_prefix("/*") {
        return comment.find("*/").map_or(text.len(), |end| end + 4);
    }
    match text.strip_prefix('\'') {
        Some(inner) => inner.find('\'').map_or(text.len(), |end| end + 2),
        None => text.len(),
    }
}
