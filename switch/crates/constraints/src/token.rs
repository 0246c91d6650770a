//! From the text of a restriction to its tokens.

use crate::error::Error;
use crate::place::Span;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    True,
    False,
    And,
    Or,
    Implies,
    ColonColon,
    Eq,
    Ne,
    Gt,
    Ge,
    Lt,
    Le,
    Not,
    Minus,
    Open,
    Close,
    Dot,
    Semicolon,
    Name,
    /// Digits of this radix, behind their prefix.
    Number(u32),
    /// In single quotes.
    Text,
    End,
}

#[derive(Debug, Clone, Copy)]
pub struct Token<'a> {
    pub kind: Kind,
    /// A number has lost its prefix, a text its quotes.
    pub text: &'a str,
    pub span: Span,
}

/// Longest first where one starts another.
const OPERATORS: [(&str, Kind); 16] = [
    ("&&", Kind::And),
    ("||", Kind::Or),
    ("->", Kind::Implies),
    ("::", Kind::ColonColon),
    ("==", Kind::Eq),
    ("!=", Kind::Ne),
    (">=", Kind::Ge),
    ("<=", Kind::Le),
    (">", Kind::Gt),
    ("<", Kind::Lt),
    ("!", Kind::Not),
    ("-", Kind::Minus),
    ("(", Kind::Open),
    (")", Kind::Close),
    (".", Kind::Dot),
    (";", Kind::Semicolon),
];

/// All tokens, `End` last.
pub fn tokens(text: &str) -> Result<Vec<Token<'_>>, Error> {
    let mut found = Vec::new();
    let mut at = 0;
    loop {
        at += blank_length(&text[at..]);
        let rest = &text[at..];
        if rest.is_empty() {
            found.push(Token { kind: Kind::End, text: "", span: Span { start: at, end: at } });
            return Ok(found);
        }
        let Some((kind, shown, length)) = first(rest) else {
            let end = at + rest.chars().next().map_or(1, char::len_utf8);
            return Err(Error::new(text, Span { start: at, end }, unknown(rest)));
        };
        found.push(Token { kind, text: shown, span: Span { start: at, end: at + length } });
        at += length;
    }
}

/// White space and comments at the start; a comment may be left open.
fn blank_length(text: &str) -> usize {
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches([' ', '\t', '\r', '\n']);
        if rest.starts_with("//") {
            rest = &rest[rest.find(['\r', '\n']).unwrap_or(rest.len())..];
        } else if let Some(comment) = rest.strip_prefix("/*") {
            rest = comment.find("*/").map_or("", |end| &comment[end + 2..]);
        } else {
            return text.len() - rest.len();
        }
    }
}

type IsDigit = fn(char) -> bool;

/// Kind, text and length of the token at the start.
fn first(text: &str) -> Option<(Kind, &str, usize)> {
    let run = |text: &str, is_part: fn(char) -> bool| text.find(|c| !is_part(c)).unwrap_or(text.len());
    let first = text.chars().next()?;
    if first.is_ascii_alphabetic() || first == '_' {
        let length = run(text, |c| c.is_ascii_alphanumeric() || c == '_');
        let word = &text[..length];
        let kind = match word {
            "true" => Kind::True,
            "false" => Kind::False,
            _ => Kind::Name,
        };
        return Some((kind, word, length));
    }
    if first.is_ascii_digit() {
        let radixes: [([&str; 2], u32, IsDigit); 4] = [
            (["0b", "0B"], 2, |c| matches!(c, '0' | '1')),
            (["0o", "0O"], 8, |c| c.is_digit(8)),
            (["0x", "0X"], 16, |c| c.is_ascii_hexdigit()),
            (["0d", "0D"], 10, |c| c.is_ascii_digit()),
        ];
        for (prefixes, radix, is_digit) in radixes {
            if let Some(digits) = prefixes.iter().find_map(|prefix| text.strip_prefix(prefix)) {
                let length = run(digits, is_digit);
                if length > 0 {
                    return Some((Kind::Number(radix), &digits[..length], length + 2));
                }
            }
        }
        let length = run(text, |c| c.is_ascii_digit());
        return Some((Kind::Number(10), &text[..length], length));
    }
    if let Some(inner) = text.strip_prefix('\'') {
        let length = inner.find('\'')?;
        return Some((Kind::Text, &inner[..length], length + 2));
    }
    let (operator, kind) = OPERATORS.iter().find(|(operator, _)| text.starts_with(operator))?;
    Some((*kind, &text[..operator.len()], operator.len()))
}

fn unknown(text: &str) -> String {
    match text.chars().next() {
        Some('\'') => "this text is not closed; close it with `'`".to_owned(),
        Some('=') => "`=` compares nothing; write `==`".to_owned(),
        Some('&') => "`&` is no operator; write `&&`".to_owned(),
        Some('|') => "`|` is no operator; write `||`".to_owned(),
        other => format!("{:?} means nothing in a restriction", other.unwrap_or_default()),
    }
}
