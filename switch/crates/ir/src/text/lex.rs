//! Cuts text into tokens.

use num_bigint::BigUint;

use super::parser::ParseError;

#[derive(Debug, Clone, PartialEq)]
pub enum Token {
    /// A keyword or a plain name.
    Word(String),
    /// A name in quotes: never a keyword.
    Quoted(String),
    Int(BigUint),
    /// `%3`
    Temp(usize),
    /// `#3`
    Number(usize),
    /// Punctuation.
    Mark(&'static str),
}

/// Longer marks before their beginnings.
const MARKS: [&str; 16] = ["&&&", "->", "..", "{", "}", "(", ")", "[", "]", ":", ",", "=", "@", "+", "*", "/"];

/// The tokens with their lines.
pub fn lex(text: &str) -> Result<Vec<(Token, u32)>, ParseError> {
    let mut tokens = Vec::new();
    let mut line = 1;
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let error = |message: String| ParseError { line, message };
        if c.is_whitespace() {
            line += u32::from(c == '\n');
            rest = &rest[c.len_utf8()..];
            continue;
        }
        if rest.starts_with("//") {
            rest = &rest[rest.find('\n').unwrap_or(rest.len())..];
            continue;
        }
        let (token, after) = if c.is_ascii_alphabetic() || c == '_' || c == '$' {
            let (word, after) = split(rest, |c| c.is_ascii_alphanumeric() || "_$.[]".contains(c));
            (Token::Word(word.to_owned()), after)
        } else if c.is_ascii_digit() {
            let (digits, after) = split(rest, |c| c.is_ascii_alphanumeric());
            let value = match digits.strip_prefix("0x") {
                Some(hex) => BigUint::parse_bytes(hex.as_bytes(), 16),
                None => BigUint::parse_bytes(digits.as_bytes(), 10),
            };
            (Token::Int(value.ok_or_else(|| error(format!("{digits} is not a number")))?), after)
        } else if c == '%' || c == '#' {
            let (digits, after) = split(&rest[1..], |c| c.is_ascii_digit());
            let number = digits.parse::<u32>().map_err(|_| error(format!("a number should follow {c}")))? as usize;
            (if c == '%' { Token::Temp(number) } else { Token::Number(number) }, after)
        } else if c == '"' {
            let start = line;
            let (name, after) = quoted(&rest[1..], &mut line)
                .ok_or_else(|| ParseError { line: start, message: "a quote is not closed".to_owned() })?;
            (Token::Quoted(name), after)
        } else if let Some(mark) = MARKS.iter().find(|mark| rest.starts_with(**mark)) {
            (Token::Mark(mark), &rest[mark.len()..])
        } else {
            return Err(error(format!("nothing starts with {c:?}")));
        };
        tokens.push((token, line));
        rest = after;
    }
    Ok(tokens)
}

fn split(text: &str, belongs: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(|c| !belongs(c)).unwrap_or(text.len()))
}

/// What stands up to the closing quote, and the text behind it.
fn quoted<'a>(text: &'a str, line: &mut u32) -> Option<(String, &'a str)> {
    let mut name = String::new();
    let mut chars = text.char_indices();
    while let Some((i, c)) = chars.next() {
        match c {
            '"' => return Some((name, &text[i + 1..])),
            '\\' => match chars.next()?.1 {
                'n' => name.push('\n'),
                c => name.push(c),
            },
            _ => {
                *line += u32::from(c == '\n');
                name.push(c);
            }
        }
    }
    None
}
