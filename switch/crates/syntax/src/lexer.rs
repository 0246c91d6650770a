//! From the text of one file to its tokens; directives are still in it.

use std::borrow::Cow;
use std::collections::HashSet;
use std::rc::Rc;

use crate::diag::{Diagnostic, Diagnostics};
use crate::source::{FileId, Span};
use crate::token::{PUNCTUATION, Token, TokenKind};

/// Splits a file into tokens. Only an unclosed comment is an error here: any other odd text may stand in a part that the
/// preprocessor skips.
pub fn lex(file: FileId, text: &str, diagnostics: &mut Diagnostics) -> Vec<Token> {
    let mut lexer = Lexer {
        file,
        text,
        bytes: text.as_bytes(),
        pos: 0,
        space: true,
        line_start: true,
        in_directive: false,
        after_hash: false,
        string: None,
        strings_at_if: Vec::new(),
        texts: HashSet::new(),
    };
    let mut tokens = Vec::new();
    while lexer.skip_blank(diagnostics) {
        tokens.push(lexer.token());
    }
    tokens
}

struct Lexer<'a> {
    file: FileId,
    text: &'a str,
    bytes: &'a [u8],
    pos: usize,
    space: bool,
    line_start: bool,
    /// The present line started with `#`.
    in_directive: bool,
    /// The last token was the `#` of a directive.
    after_hash: bool,
    /// Where the string starts that goes on behind the present directive.
    string: Option<usize>,
    /// The same at each open `#if`: all its branches go on from there.
    strings_at_if: Vec<Option<usize>>,
    /// One copy of each text: a program says the same words over and over.
    texts: HashSet<Rc<str>>,
}

/// The text without the ends of lines that a backslash takes away, as in C.
fn without_splices(text: &str) -> Cow<'_, str> {
    if text.contains("\\\n") || text.contains("\\\r\n") {
        text.replace("\\\n", "").replace("\\\r\n", "").into()
    } else {
        text.into()
    }
}

impl Lexer<'_> {
    /// Goes to the next token; `false` at the end.
    fn skip_blank(&mut self, diagnostics: &mut Diagnostics) -> bool {
        loop {
            let rest = &self.bytes[self.pos..];
            match rest {
                [] => return false,
                [b'\n', ..] => {
                    self.pos += 1;
                    self.line_start = true;
                    if self.in_directive && self.string.is_some() {
                        self.in_directive = false;
                        if !self.at_directive() {
                            return self.pos < self.bytes.len();
                        }
                    }
                }
                [b' ' | b'\t' | b'\r' | b'\x0b' | b'\x0c', ..] => self.pos += 1,
                [b'\\', b'\n', ..] => self.pos += 2,
                [b'\\', b'\r', b'\n', ..] => self.pos += 3,
                [b'/', b'/', ..] => self.skip_line_comment(),
                [b'/', b'*', ..] => self.skip_comment(diagnostics),
                _ => return true,
            }
            self.space = true;
        }
    }

    fn skip_line_comment(&mut self) {
        while let Some(&byte) = self.bytes.get(self.pos) {
            if byte == b'\n' {
                let line = &self.bytes[..self.pos];
                let line = line.strip_suffix(b"\r").unwrap_or(line);
                if !line.ends_with(b"\\") {
                    return;
                }
            }
            self.pos += 1;
        }
    }

    fn skip_comment(&mut self, diagnostics: &mut Diagnostics) {
        match self.text[self.pos + 2..].find("*/") {
            Some(length) => self.pos += length + 4,
            None => {
                let open = self.span(self.pos, self.pos + 2);
                diagnostics.push(Diagnostic::error(open, "this comment is not closed").help("close it with `*/`"));
                self.pos = self.bytes.len();
            }
        }
    }

    fn token(&mut self) -> Token {
        let start = self.pos;
        let in_string = self.string.filter(|_| self.line_start && !self.at_directive());
        let kind = match self.bytes[start] {
            _ if in_string.is_some() => self.string(in_string),
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => {
                self.skip_word();
                TokenKind::Ident
            }
            b'0'..=b'9' => {
                self.skip_word();
                TokenKind::Number
            }
            b'"' => self.string(None),
            _ => self.punctuation(),
        };
        let text = without_splices(&self.text[start..self.pos]);
        let text = match self.texts.get(&*text) {
            Some(shared) => shared.clone(),
            None => {
                let shared: Rc<str> = (&*text).into();
                self.texts.insert(shared.clone());
                shared
            }
        };
        if self.after_hash {
            self.follow_conditional(&text);
        }
        if self.line_start {
            self.in_directive = kind == TokenKind::Hash;
        }
        self.after_hash = self.line_start && kind == TokenKind::Hash;
        let token =
            Token { kind, text, span: self.span(start, self.pos), space: self.space, line_start: self.line_start };
        self.space = false;
        self.line_start = kind == TokenKind::StrPart;
        token
    }

    /// Whether nothing but blanks stands between here and a `#`.
    fn at_directive(&self) -> bool {
        self.bytes[self.pos..].iter().find(|byte| !matches!(byte, b' ' | b'\t')) == Some(&b'#')
    }

    /// Remembers at an `#if` in which string it stands, for its other branches.
    fn follow_conditional(&mut self, word: &str) {
        match word {
            "if" | "ifdef" | "ifndef" => self.strings_at_if.push(self.string),
            "elif" | "else" => self.string = self.strings_at_if.last().copied().unwrap_or(self.string),
            "endif" => {
                self.strings_at_if.pop();
            }
            _ => {}
        }
    }

    /// A word may go on on the next line, behind a backslash.
    fn skip_word(&mut self) {
        let in_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        loop {
            match &self.bytes[self.pos..] {
                [byte, ..] if in_word(byte) => self.pos += 1,
                [b'\\', b'\n', byte, ..] if in_word(byte) => self.pos += 3,
                [b'\\', b'\r', b'\n', byte, ..] if in_word(byte) => self.pos += 4,
                _ => return,
            }
        }
    }

    /// A string, or the part of it up to a line that is a directive; `opened` is the start of one that goes on here.
    fn string(&mut self, opened: Option<usize>) -> TokenKind {
        self.string = None;
        let start = opened.unwrap_or_else(|| {
            self.pos += 1;
            self.pos
        });
        let mut stop = start;
        loop {
            match &self.bytes[self.pos..] {
                [] => return TokenKind::OpenStr,
                [b'\n', ..] if !self.string_goes_on(start, &mut stop) => return TokenKind::OpenStr,
                [b'\n', ..] => {
                    self.pos += 1;
                    if self.at_directive() {
                        self.string = Some(start);
                        return TokenKind::StrPart;
                    }
                }
                [b'"', ..] => {
                    self.pos += 1;
                    return if opened.is_some() { TokenKind::StrEnd } else { TokenKind::Str };
                }
                [b'\\', b'"' | b'\\' | b'\n', ..] => self.pos += 2,
                [b'\\', b'\r', b'\n', ..] => self.pos += 3,
                _ => self.pos += 1,
            }
        }
    }

    /// Whether a string that starts at `start` and reaches the end of its line is meant to go on. P4 allows it, but far
    /// more often the quote is forgotten, and then the next one comes after the end of a statement. Where a value may
    /// stand, a string that starts with the end of its line is meant.
    ///
    /// `stop` is where the next of these characters was found, so that a string of many lines is searched once.
    fn string_goes_on(&self, start: usize, stop: &mut usize) -> bool {
        let before = self.bytes[..start - 1].trim_ascii_end().last();
        let is_value = matches!(before, Some(b'(' | b'[' | b',' | b'='));
        let starts_empty = matches!(self.bytes[start], b'\n' | b'\r');
        if self.in_directive || (is_value && starts_empty) {
            return !self.in_directive;
        }
        if *stop < self.pos || *stop == start {
            let rest = &self.bytes[self.pos..];
            let length = rest.iter().position(|b| matches!(b, b'"' | b';' | b'{' | b'}'));
            *stop = self.pos + length.unwrap_or(rest.len());
        }
        self.bytes.get(*stop) == Some(&b'"')
    }

    fn punctuation(&mut self) -> TokenKind {
        let rest = &self.text[self.pos..];
        // `>=` right behind `>` would hide the end of `bit<8>=`, but so it does for everyone who reads P4.
        for (text, kind) in PUNCTUATION {
            if rest.starts_with(text) {
                self.pos += text.len();
                return *kind;
            }
        }
        self.pos += rest.chars().next().map_or(1, char::len_utf8);
        TokenKind::Unknown
    }

    fn span(&self, start: usize, end: usize) -> Span {
        Span { file: self.file, start: start as u32, end: end as u32 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<String> {
        let mut diagnostics = Diagnostics::new();
        let tokens = lex(FileId(0), text, &mut diagnostics);
        assert!(diagnostics.is_empty());
        tokens.iter().map(|t| t.text.to_string()).collect()
    }

    #[test]
    fn longest_punctuation_wins_but_shift_right_stays_apart() {
        assert_eq!(texts("a|+|=b|+|c|d"), ["a", "|+|=", "b", "|+|", "c", "|", "d"]);
        assert_eq!(texts("x>>y >>= z"), ["x", ">", ">", "y", ">", ">=", "z"]);
        assert_eq!(texts("1..5 ... {#} &&& [a+:3]"), ["1", "..", "5", "...", "{#}", "&&&", "[", "a", "+:", "3", "]"]);
    }

    #[test]
    fn comments_and_continued_lines_are_blank() {
        assert_eq!(texts("a/* x\n*/b // c \\\n still comment\nd \\\n e"), ["a", "b", "d", "e"]);
        let tokens = lex(FileId(0), "a \\\n b\nc", &mut Diagnostics::new());
        let starts: Vec<bool> = tokens.iter().map(|t| t.line_start).collect();
        assert_eq!(starts, [true, false, true]);
    }

    #[test]
    fn strings_keep_escapes_and_end_before_the_statement_does() {
        assert_eq!(texts(r#""a\"b" c"#), [r#""a\"b""#, "c"]);
        assert_eq!(texts("\"two\nlines\""), ["\"two\nlines\""]);
        assert_eq!(texts("f(\"\na; {\n\")"), ["f", "(", "\"\na; {\n\"", ")"]);
        let tokens = lex(FileId(0), "\"abc\nd; \"", &mut Diagnostics::new());
        assert_eq!(tokens[0].kind, TokenKind::OpenStr);
        assert_eq!(&*tokens[1].text, "d");
    }

    #[test]
    fn unclosed_comment_is_an_error_at_its_start() {
        let mut diagnostics = Diagnostics::new();
        assert_eq!(lex(FileId(0), "a /* b", &mut diagnostics).len(), 1);
        let found: Vec<_> = diagnostics.iter().collect();
        assert_eq!((found[0].span.start, &*found[0].message), (2, "this comment is not closed"));
    }

    #[test]
    fn unknown_characters_do_not_break_utf8() {
        assert_eq!(texts("aäb"), ["a", "ä", "b"]);
    }
}
