//! Number literals: `10`, `0xFF`, `8w0b1010_1010`, `4s7`.

use num_bigint::BigInt;

use super::{Parse, Parser};
use crate::ast::{IntLit, IntWidth};
use crate::diag::Diagnostic;

/// Digits of a literal; reading a decimal number takes time in the square of them.
const MAX_DIGITS: usize = 2048;

impl Parser<'_> {
    pub(super) fn number(&mut self) -> Parse<IntLit> {
        let token = self.token();
        match read(&token.text) {
            Ok(number) => {
                self.bump();
                Ok(number)
            }
            Err(message) => {
                // The literal is there, only wrong: reading goes on behind it.
                self.report(Diagnostic::error(token.span, message));
                self.bump();
                Ok(IntLit { value: BigInt::ZERO, width: None, base: 10 })
            }
        }
    }
}

fn read(text: &str) -> Result<IntLit, String> {
    let digits_of_width = text.bytes().take_while(u8::is_ascii_digit).count();
    let (width, rest) = match text.as_bytes().get(digits_of_width) {
        Some(sign @ (b'w' | b's')) => {
            let Ok(bits) = text[..digits_of_width].parse::<u32>() else {
                return Err(format!("the width `{}` is too large", shorten(&text[..digits_of_width])));
            };
            (Some(IntWidth { bits, signed: *sign == b's' }), &text[digits_of_width + 1..])
        }
        _ => (None, text),
    };
    let (base, digits) = match rest.get(..2) {
        Some("0x" | "0X") => (16, &rest[2..]),
        Some("0o" | "0O") => (8, &rest[2..]),
        Some("0b" | "0B") => (2, &rest[2..]),
        Some("0d" | "0D") => (10, &rest[2..]),
        _ => (10, rest),
    };
    if let Some(wrong) = digits.chars().find(|c| *c != '_' && !c.is_digit(base)) {
        let kind = match base {
            16 => "a hexadecimal digit",
            8 => "an octal digit",
            2 => "a binary digit",
            _ => "a digit",
        };
        return Err(format!("`{wrong}` in `{}` is not {kind}", shorten(text)));
    }
    let digits: Vec<u8> = digits.bytes().filter(|b| *b != b'_').collect();
    if digits.len() > MAX_DIGITS {
        return Err(format!("this number has more than {MAX_DIGITS} digits"));
    }
    match BigInt::parse_bytes(&digits, base) {
        Some(value) => Ok(IntLit { value, width, base }),
        None => Err(format!("the digits of `{}` are missing", shorten(text))),
    }
}

fn shorten(text: &str) -> &str {
    text.get(..40).unwrap_or(text)
}
