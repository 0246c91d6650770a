//! Looking ahead: which bracket closes which, and where a type would end.

use super::Parser;
use crate::token::{Token, TokenKind};

/// Lists of type arguments within each other.
const MAX_TYPE_DEPTH: usize = 64;

/// For each opening bracket the index of the closing one, and the last that has none.
pub(super) fn brackets(tokens: &[Token]) -> (Vec<Option<u32>>, Option<usize>) {
    let mut closers = vec![None; tokens.len()];
    let mut open: Vec<usize> = Vec::new();
    let mut unclosed = None;
    let opens = |kind| match kind {
        TokenKind::CloseParen => Some(TokenKind::OpenParen),
        TokenKind::CloseBracket => Some(TokenKind::OpenBracket),
        TokenKind::CloseBrace => Some(TokenKind::OpenBrace),
        _ => None,
    };
    // How many of each kind are open, so that a stray closing bracket does not search the whole stack.
    let mut count = [0_usize; 3];
    let slot = |kind| match kind {
        TokenKind::OpenParen => 0,
        TokenKind::OpenBracket => 1,
        _ => 2,
    };
    for (i, token) in tokens.iter().enumerate() {
        match token.kind {
            TokenKind::OpenParen | TokenKind::OpenBracket | TokenKind::OpenBrace => {
                open.push(i);
                count[slot(token.kind)] += 1;
            }
            kind => {
                let Some(wanted) = opens(kind).filter(|w| count[slot(*w)] > 0) else { continue };
                // A `)` or `]` does not reach over an open `{`: there the mistake lies in the inner bracket.
                if wanted != TokenKind::OpenBrace
                    && open
                        .iter()
                        .rev()
                        .take_while(|o| tokens[**o].kind != wanted)
                        .any(|o| tokens[*o].kind == TokenKind::OpenBrace)
                {
                    continue;
                }
                while let Some(last) = open.pop() {
                    count[slot(tokens[last].kind)] -= 1;
                    if tokens[last].kind == wanted {
                        closers[last] = Some(i as u32);
                        break;
                    }
                    unclosed = Some(last);
                }
            }
        }
    }
    (closers, open.last().copied().or(unclosed))
}

impl Parser<'_> {
    /// The index behind the type that may start at `index`.
    pub(super) fn type_end(&mut self, index: usize) -> Option<usize> {
        self.type_end_at(index, 0)
    }

    /// The index behind the `>` if a list of type arguments may start at the `<` at `index`.
    pub(super) fn type_args_end(&mut self, index: usize) -> Option<usize> {
        self.type_args_end_at(index, 0)
    }

    fn type_end_at(&mut self, index: usize, depth: usize) -> Option<usize> {
        use TokenKind::*;
        let mut end = match self.kind_at(index) {
            Bool | Error | String | MatchKind | Void | Underscore => index + 1,
            Bit | Int | Varbit if self.kind_at(index + 1) == Lt => self.width_end(index + 1)?,
            Bit | Int => index + 1,
            Tuple | List if self.kind_at(index + 1) == Lt => self.type_args_end_at(index + 1, depth)?,
            Dot if self.kind_at(index + 1).is_name() => self.named_end(index + 2, depth)?,
            kind if kind.is_name() => self.named_end(index + 1, depth)?,
            _ => return None,
        };
        while self.kind_at(end) == OpenBracket {
            end = self.closers[end]? as usize + 1;
        }
        Some(end)
    }

    fn named_end(&mut self, index: usize, depth: usize) -> Option<usize> {
        if self.kind_at(index) == TokenKind::Lt { self.type_args_end_at(index, depth) } else { Some(index) }
    }

    fn type_args_end_at(&mut self, index: usize, depth: usize) -> Option<usize> {
        if depth >= MAX_TYPE_DEPTH {
            return None;
        }
        // Remembered, since in `a < b < c < ...` each `<` is asked about again when the outer one fails.
        if let Some(known) = self.type_args.get(&index) {
            return *known;
        }
        let end = self.type_args_end_new(index, depth);
        self.type_args.insert(index, end);
        end
    }

    fn type_args_end_new(&mut self, index: usize, depth: usize) -> Option<usize> {
        let mut at = index + 1;
        if self.kind_at(at) == TokenKind::Gt {
            return Some(at + 1);
        }
        loop {
            at = self.type_end_at(at, depth + 1)?;
            match self.kind_at(at) {
                TokenKind::Comma => at += 1,
                TokenKind::Gt => return Some(at + 1),
                _ => return None,
            }
        }
    }

    /// The index behind the `>` of the `<` of `bit<...>`.
    fn width_end(&self, open: usize) -> Option<usize> {
        let mut at = open + 1;
        loop {
            match self.kind_at(at) {
                TokenKind::Gt => return Some(at + 1),
                TokenKind::OpenParen | TokenKind::OpenBracket => at = self.closers[at]? as usize + 1,
                TokenKind::Eof
                | TokenKind::Semicolon
                | TokenKind::OpenBrace
                | TokenKind::CloseBrace
                | TokenKind::CloseParen
                | TokenKind::CloseBracket => return None,
                _ => at += 1,
            }
        }
    }

    /// Whether what stands at `index` can only be a type, or is a name not known to be anything else.
    pub(super) fn is_type_at(&self, index: usize) -> bool {
        use TokenKind::*;
        match self.kind_at(index) {
            Bool | Error | String | MatchKind | Void | Underscore | Bit | Int | Varbit | Tuple => true,
            List => self.kind_at(index + 1) == Lt,
            Dot => self.is_type_at(index + 1),
            kind if kind.is_name() => self.is_type(&self.tokens[index].text) != Some(false),
            _ => false,
        }
    }

    /// Whether the `<` here starts type arguments of a call: they end in `>` and `(` follows.
    pub(super) fn is_generic_call(&mut self) -> bool {
        (self.is_type_at(self.pos + 1) || self.nth(1) == TokenKind::Gt)
            && self.type_args_end(self.pos).is_some_and(|end| self.kind_at(end) == TokenKind::OpenParen)
    }
}
