//! `@p4runtime_translation_mappings`: which text of a translated type means which value.

use num_bigint::BigUint;
use proto::p4::config::v1::P4NewTypeSpec;

use crate::status::{Result, Status};

/// The annotation, as P4Info writes it.
const NAME: &str = "@p4runtime_translation_mappings";

/// The pairs that a type's annotation gives, `({ {"text", value}, ... })`.
pub fn of(type_name: &str, spec: &P4NewTypeSpec) -> Result<Vec<(String, BigUint)>> {
    let Some(text) = spec.annotations.iter().find_map(|annotation| annotation.strip_prefix(NAME)) else {
        return Ok(Vec::new());
    };
    pairs(text).ok_or_else(|| {
        Status::invalid(format!("type {type_name} has {NAME}{text}; write {NAME}({{ {{\"text\", 1}}, ... }})"))
    })
}

fn pairs(text: &str) -> Option<Vec<(String, BigUint)>> {
    let mut rest = Scanner(text);
    rest.take("(").then_some(())?;
    rest.take("{").then_some(())?;
    let mut pairs = Vec::new();
    while rest.take("{") {
        let text = rest.string()?;
        rest.take(",").then_some(())?;
        pairs.push((text, rest.number()?));
        rest.take("}").then_some(())?;
        if !rest.take(",") {
            break;
        }
    }
    (rest.take("}") && rest.take(")") && rest.0.trim().is_empty()).then_some(pairs)
}

struct Scanner<'a>(&'a str);

impl Scanner<'_> {
    fn take(&mut self, word: &str) -> bool {
        match self.0.trim_start().strip_prefix(word) {
            Some(rest) => {
                self.0 = rest;
                true
            }
            None => false,
        }
    }

    fn string(&mut self) -> Option<String> {
        self.take("\"").then_some(())?;
        let mut text = String::new();
        let mut characters = self.0.char_indices();
        loop {
            match characters.next()? {
                (end, '"') => {
                    self.0 = &self.0[end + 1..];
                    return Some(text);
                }
                (_, '\\') => text.push(characters.next()?.1),
                (_, character) => text.push(character),
            }
        }
    }

    /// A number as P4 writes it: `3`, `0x3`, `0b11`, `10w3`, `1_000`.
    fn number(&mut self) -> Option<BigUint> {
        let start = self.0.trim_start();
        let end = start.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(start.len());
        let (word, rest) = start.split_at(end);
        self.0 = rest;
        let word = word.replace('_', "").to_ascii_lowercase();
        let digits = match word.split_once('w') {
            Some((width, digits)) if width.bytes().all(|byte| byte.is_ascii_digit()) => digits,
            _ => &word,
        };
        let (digits, radix) = match digits.get(..2) {
            Some("0x") => (&digits[2..], 16),
            Some("0b") => (&digits[2..], 2),
            Some("0o") => (&digits[2..], 8),
            _ => (digits, 10),
        };
        BigUint::parse_bytes(digits.as_bytes(), radix)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<Vec<(String, u32)>> {
        let pairs = pairs(text)?.into_iter();
        Some(pairs.map(|(text, value)| (text, value.try_into().unwrap())).collect())
    }

    #[test]
    fn pairs_are_read_as_p4_writes_them() {
        assert_eq!(read(r#"({ { "" , 0 } })"#), Some(vec![(String::new(), 0)]));
        assert_eq!(
            read(r#"({{"a\"b, c",0x1_0},{"two",10w2},})"#),
            Some(vec![("a\"b, c".to_owned(), 16), ("two".to_owned(), 2)])
        );
        assert_eq!(read("({})"), Some(vec![]));
        for wrong in ["", "()", r#"({ {"a"} })"#, r#"({ {"a", b} })"#, r#"({ {"a, 1} })"#, r#"({ {"a", 1} }) x"#] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn what_cannot_be_read_names_the_type() {
        let spec = P4NewTypeSpec { annotations: vec![format!("{NAME}(1)")], ..Default::default() };
        let error = of("vrf_t", &spec).unwrap_err();
        assert!(error.message.starts_with("type vrf_t has @p4runtime_translation_mappings(1); write"));
        assert_eq!(of("vrf_t", &P4NewTypeSpec::default()), Ok(vec![]));
    }
}
