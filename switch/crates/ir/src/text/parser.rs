//! The parser: tokens one after the other, and references to what came before.

use std::collections::HashMap;
use std::fmt;

use num_bigint::BigUint;

use super::lex::{Token, lex};
use super::names::Word;
use crate::*;

/// Why a text is not a program.
#[derive(Debug, Clone, PartialEq)]
pub struct ParseError {
    pub line: u32,
    pub message: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for ParseError {}

pub(super) type Result<T> = std::result::Result<T, ParseError>;

pub(super) struct Parser {
    tokens: Vec<(Token, u32)>,
    next: usize,
    pub program: Program,
    /// Offsets by name; of a name that came twice, the first.
    symbols: HashMap<String, u32>,
}

impl Parser {
    pub fn new(text: &str) -> Result<Self> {
        Ok(Self { tokens: lex(text)?, next: 0, program: Program::default(), symbols: HashMap::new() })
    }

    pub fn at_end(&self) -> bool {
        self.next >= self.tokens.len()
    }

    /// A variable or header that `offset` finds by its name.
    pub fn name_offset(&mut self, name: &str, offset: u32) {
        self.symbols.entry(name.to_owned()).or_insert(offset);
    }

    pub fn error<T>(&self, message: impl Into<String>) -> Result<T> {
        // What was just read is at fault, or what should have followed the last token.
        let at = self.next.clamp(1, self.tokens.len().max(1)) - 1;
        let line = self.tokens.get(at).map_or(1, |(_, line)| *line);
        Err(ParseError { line, message: message.into() })
    }

    pub fn peek(&self, ahead: usize) -> Option<&Token> {
        self.tokens.get(self.next + ahead).map(|(token, _)| token)
    }

    pub fn skip(&mut self) {
        self.next += 1;
    }

    fn expected<T>(&mut self, what: &str) -> Result<T> {
        let found = match self.peek(0) {
            None => "the end".to_owned(),
            Some(Token::Word(word) | Token::Quoted(word)) => format!("`{word}`"),
            Some(Token::Int(value)) => format!("{value}"),
            Some(Token::Temp(number)) => format!("%{number}"),
            Some(Token::Number(number)) => format!("#{number}"),
            Some(Token::Mark(mark)) => format!("`{mark}`"),
        };
        self.next += 1;
        self.error(format!("expected {what}, found {found}"))
    }

    pub fn is_mark(&self, mark: &str) -> bool {
        matches!(self.peek(0), Some(Token::Mark(found)) if *found == mark)
    }

    pub fn take_mark(&mut self, mark: &str) -> bool {
        let found = self.is_mark(mark);
        self.next += usize::from(found);
        found
    }

    pub fn mark(&mut self, mark: &str) -> Result<()> {
        if self.take_mark(mark) { Ok(()) } else { self.expected(&format!("`{mark}`")) }
    }

    pub fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(0), Some(Token::Word(found)) if found == word)
    }

    pub fn take_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        self.next += usize::from(found);
        found
    }

    pub fn word(&mut self, word: &str) -> Result<()> {
        if self.take_word(word) { Ok(()) } else { self.expected(&format!("`{word}`")) }
    }

    pub fn any_word(&mut self, what: &str) -> Result<String> {
        match self.peek(0) {
            Some(Token::Word(word)) => {
                let word = word.clone();
                self.next += 1;
                Ok(word)
            }
            _ => self.expected(what),
        }
    }

    /// A word of a closed set.
    pub fn kind<K: Word>(&mut self, what: &str) -> Result<K> {
        let word = self.any_word(what)?;
        match K::from_word(&word) {
            Some(kind) => Ok(kind),
            None => {
                let known: Vec<_> = K::WORDS.iter().map(|(_, word)| *word).collect();
                self.error(format!("`{word}` is no {what}: {}", known.join(", ")))
            }
        }
    }

    pub fn name(&mut self) -> Result<String> {
        match self.peek(0) {
            Some(Token::Word(name) | Token::Quoted(name)) => {
                let name = name.clone();
                self.next += 1;
                Ok(name)
            }
            _ => self.expected("a name"),
        }
    }

    pub fn big(&mut self) -> Result<BigUint> {
        match self.peek(0) {
            Some(Token::Int(value)) => {
                let value = value.clone();
                self.next += 1;
                Ok(value)
            }
            _ => self.expected("a number"),
        }
    }

    /// A number that fits the type.
    pub fn int<T: TryFrom<BigUint>>(&mut self) -> Result<T> {
        let value = self.big()?;
        match T::try_from(value.clone()) {
            Ok(value) => Ok(value),
            Err(_) => self.error(format!("{value} is too large here")),
        }
    }

    /// `(item, item)`
    pub fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        let mut items = Vec::new();
        self.mark("(")?;
        while !self.take_mark(")") {
            if !items.is_empty() {
                self.mark(",")?;
            }
            items.push(item(self)?);
        }
        Ok(items)
    }

    /// `{ item item }`
    pub fn body(&mut self, mut item: impl FnMut(&mut Self) -> Result<()>) -> Result<()> {
        self.mark("{")?;
        while !self.take_mark("}") {
            item(self)?;
        }
        Ok(())
    }

    pub fn is_number(&self) -> bool {
        matches!(self.peek(0), Some(Token::Number(_)))
    }

    /// A reference to an item of one of the program's arenas, by number or name.
    pub fn reference<H: Handle, T>(
        &mut self,
        what: &str,
        arena: impl Fn(&Program) -> &Arena<H, T>,
        name: impl Fn(&T) -> &str,
    ) -> Result<H> {
        if let Some(Token::Number(number)) = self.peek(0) {
            let number = *number;
            self.next += 1;
            return Ok(H::new(number));
        }
        let wanted = self.name()?;
        match arena(&self.program).iter().find(|(_, item)| name(item) == wanted) {
            Some((handle, _)) => Ok(handle),
            None => self.error(format!("there is no {what} `{wanted}` before this line")),
        }
    }

    /// The offset of a variable or header.
    pub fn offset(&mut self) -> Result<u32> {
        if self.take_mark("@") {
            return self.int();
        }
        let name = self.name()?;
        let known = self.symbols.get(&name).or_else(|| self.symbols.get(&format!("{name}.$valid")));
        match known {
            Some(offset) => Ok(*offset),
            None => self.error(format!("there is no variable `{name}` in the frame")),
        }
    }
}
