//! Finds the steps in a case's comments, and reads their words.

use num_bigint::BigUint;

/// The words of one step that are not read yet.
#[derive(Clone)]
pub struct Words<'a> {
    rest: &'a str,
}

/// The steps with their lines: what stands behind `//:`.
pub fn steps(text: &str) -> Result<Vec<(usize, Words<'_>)>, String> {
    let steps: Vec<_> = text
        .lines()
        .enumerate()
        .filter_map(|(i, line)| Some((i + 1, Words { rest: line.trim_start().strip_prefix("//:")?.trim() })))
        .collect();
    if steps.is_empty() { Err("it has no step (//: ...)".to_owned()) } else { Ok(steps) }
}

impl<'a> Words<'a> {
    pub fn starts_with_word(&self, word: &str) -> bool {
        self.rest.split_whitespace().next() == Some(word)
    }

    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// The next word; empty at the end.
    pub fn word(&mut self) -> &'a str {
        let (word, rest) = self.rest.split_once(char::is_whitespace).unwrap_or((self.rest, ""));
        self.rest = rest.trim_start();
        word
    }

    /// All that is left.
    pub fn rest(&mut self) -> &'a str {
        std::mem::take(&mut self.rest)
    }

    pub fn number(&mut self) -> Result<BigUint, String> {
        number(self.word())
    }

    pub fn int<T: TryFrom<BigUint>>(&mut self) -> Result<T, String> {
        let value = self.number()?;
        T::try_from(value.clone()).map_err(|_| format!("{value} is too large here"))
    }

    /// All that is left, as bytes in hexadecimal; `-` or nothing for none.
    pub fn bytes(&mut self) -> Result<Vec<u8>, String> {
        let text: String = self.rest().split_whitespace().filter(|word| *word != "-").collect();
        let byte = |i| text.get(i..i + 2).and_then(|two| u8::from_str_radix(two, 16).ok());
        let bytes: Option<Vec<u8>> = (0..text.len()).step_by(2).map(byte).collect();
        bytes.ok_or_else(|| format!("`{text}` is not whole bytes in hexadecimal"))
    }
}

/// A number in decimal or hexadecimal.
pub fn number(word: &str) -> Result<BigUint, String> {
    let digits = word.replace('_', "");
    let value = match digits.strip_prefix("0x") {
        Some(hex) => BigUint::parse_bytes(hex.as_bytes(), 16),
        None => BigUint::parse_bytes(digits.as_bytes(), 10),
    };
    value.ok_or_else(|| format!("`{word}` is no number"))
}
