//! The value of an `#if`.

use crate::diag::Diagnostic;
use crate::source::Span;
use crate::token::{Token, TokenKind};

/// Parentheses and signs within each other.
const MAX_DEPTH: usize = 100;

/// Evaluates a condition whose macros are expanded; a name that is left counts as 0, as in C.
pub(super) fn evaluate(directive: Span, tokens: &[Token]) -> Result<i64, Box<Diagnostic>> {
    let mut run = Evaluator { tokens, pos: 0, place: directive, depth: 0 };
    let value = run.ternary(true)?;
    match run.peek() {
        None => Ok(value),
        Some(extra) => Err(run.wrong(format!("`{}` is left over in this condition", extra.text))),
    }
}

struct Evaluator<'a> {
    tokens: &'a [Token],
    pos: usize,
    place: Span,
    depth: usize,
}

type Value = Result<i64, Box<Diagnostic>>;

impl<'a> Evaluator<'a> {
    fn peek(&self) -> Option<&'a Token> {
        self.tokens.get(self.pos)
    }

    fn wrong(&self, message: String) -> Box<Diagnostic> {
        Box::new(Diagnostic::error(self.peek().map_or(self.place, |t| t.span), message))
    }

    fn take(&mut self, text: &str) -> bool {
        let found = self.peek().is_some_and(|t| &*t.text == text);
        self.pos += usize::from(found);
        found
    }

    /// `live` is false in a part whose value does not matter, such as the right side of `0 && ...`.
    fn ternary(&mut self, live: bool) -> Value {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.wrong("this condition is nested too deeply".to_owned()));
        }
        let cond = self.binary(0, live)?;
        let value = if self.take("?") {
            let then = self.ternary(live && cond != 0)?;
            if !self.take(":") {
                return Err(self.wrong("expected `:` in this condition".to_owned()));
            }
            let otherwise = self.ternary(live && cond == 0)?;
            if cond != 0 { then } else { otherwise }
        } else {
            cond
        };
        self.depth -= 1;
        Ok(value)
    }

    /// The operator at the present place, how strongly it binds and how many tokens it has.
    fn operator(&self) -> Option<(&'static str, u8, usize)> {
        let next = self.tokens.get(self.pos + 1);
        let found = match &*self.peek()?.text {
            "||" => ("||", 1),
            "&&" => ("&&", 2),
            "|" => ("|", 3),
            "^" => ("^", 4),
            "&" => ("&", 5),
            "==" => ("==", 6),
            "!=" => ("!=", 6),
            "<=" => ("<=", 7),
            ">=" => (">=", 7),
            "<" => ("<", 7),
            ">" if next.is_some_and(|n| n.kind == TokenKind::Gt && !n.space) => return Some((">>", 8, 2)),
            ">" => (">", 7),
            "<<" => ("<<", 8),
            "+" => ("+", 9),
            "-" => ("-", 9),
            "*" => ("*", 10),
            "/" => ("/", 10),
            "%" => ("%", 10),
            _ => return None,
        };
        Some((found.0, found.1, 1))
    }

    fn binary(&mut self, weakest: u8, live: bool) -> Value {
        let mut left = self.unary(live)?;
        while let Some((op, strength, length)) = self.operator().filter(|o| o.1 > weakest) {
            self.pos += length;
            let right_live = live && !(op == "&&" && left == 0) && !(op == "||" && left != 0);
            let right = self.binary(strength, right_live)?;
            left = match op {
                "||" => (left != 0 || right != 0).into(),
                "&&" => (left != 0 && right != 0).into(),
                "|" => left | right,
                "^" => left ^ right,
                "&" => left & right,
                "==" => (left == right).into(),
                "!=" => (left != right).into(),
                "<=" => (left <= right).into(),
                ">=" => (left >= right).into(),
                "<" => (left < right).into(),
                ">" => (left > right).into(),
                "<<" => left.checked_shl(right.clamp(0, 64) as u32).unwrap_or(0),
                ">>" => left >> right.clamp(0, 63),
                "+" => left.wrapping_add(right),
                "-" => left.wrapping_sub(right),
                "*" => left.wrapping_mul(right),
                _ if right == 0 && live => {
                    return Err(self.wrong("division by zero in this condition".to_owned()));
                }
                _ if right == 0 => 0,
                "/" => left.wrapping_div(right),
                _ => left.wrapping_rem(right),
            };
        }
        Ok(left)
    }

    fn unary(&mut self, live: bool) -> Value {
        let Some(token) = self.peek() else {
            let message = if self.tokens.is_empty() { "the condition is missing" } else { "the condition ends early" };
            return Err(self.wrong(message.to_owned()));
        };
        let sign = match &*token.text {
            sign @ ("!" | "-" | "+" | "~") => sign,
            "(" => {
                self.pos += 1;
                let value = self.ternary(live)?;
                if !self.take(")") {
                    return Err(self.wrong("expected `)` in this condition".to_owned()));
                }
                return Ok(value);
            }
            _ => {
                let value = match token.kind {
                    TokenKind::Number => number(&token.text)
                        .ok_or_else(|| self.wrong(format!("`{}` is no number for a condition", token.text)))?,
                    TokenKind::Ident => i64::from(&*token.text == "true"),
                    _ => return Err(self.wrong(format!("`{}` has no place in a condition", token.text))),
                };
                self.pos += 1;
                return Ok(value);
            }
        };
        self.pos += 1;
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.wrong("this condition is nested too deeply".to_owned()));
        }
        let value = self.unary(live)?;
        self.depth -= 1;
        Ok(match sign {
            "!" => (value == 0).into(),
            "-" => value.wrapping_neg(),
            "~" => !value,
            _ => value,
        })
    }
}

/// A number as C writes it: base prefix, suffix of `U` and `L`.
fn number(text: &str) -> Option<i64> {
    let text = text.to_ascii_lowercase();
    let digits = text.trim_end_matches(['u', 'l']);
    let value = match digits.get(..2) {
        Some("0x") => u64::from_str_radix(&digits[2..], 16),
        Some("0b") => u64::from_str_radix(&digits[2..], 2),
        Some(two) if two.starts_with('0') => u64::from_str_radix(&digits[1..], 8),
        _ => digits.parse(),
    };
    value.ok().map(|v| v as i64)
}
