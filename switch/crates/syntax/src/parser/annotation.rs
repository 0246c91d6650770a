//! Annotations.

use super::{Parse, Parser, Stop};
use crate::ast::{Annotation, AnnotationBody, Expr, FreeArgs, Ident};
use crate::token::{Token, TokenKind};

impl Parser<'_> {
    /// All annotations that stand here.
    pub(super) fn annotations(&mut self) -> Parse<Vec<Annotation>> {
        let mut list = Vec::new();
        while self.kind() == TokenKind::At {
            list.push(self.annotation()?);
        }
        Ok(list)
    }

    fn annotation(&mut self) -> Parse<Annotation> {
        let at = self.expect(TokenKind::At)?;
        if &*self.token().text == "pragma" {
            return self.pragma();
        }
        let name = self.annotation_name()?;
        let body = match self.kind() {
            TokenKind::OpenParen => self.free_body()?,
            TokenKind::OpenBracket => self.structured_body()?,
            _ => AnnotationBody::Empty,
        };
        Ok(Annotation { name, body, span: self.since(at) })
    }

    /// Any word can name an annotation, keywords too.
    fn annotation_name(&mut self) -> Parse<Ident> {
        let token = self.token();
        if token.kind != TokenKind::Ident && !token.kind.is_keyword() {
            return Err(self.expected("the name of an annotation"));
        }
        self.bump();
        Ok(Ident { name: token.text.to_string(), span: token.span })
    }

    /// `@pragma name ...`: the rest of the line is its body.
    fn pragma(&mut self) -> Parse<Annotation> {
        let at = self.before();
        self.bump();
        let name = self.annotation_name()?;
        let start = self.pos;
        while self.kind() != TokenKind::Eof && !self.token().line_start {
            self.bump();
        }
        let body = if self.pos == start {
            AnnotationBody::Empty
        } else {
            AnnotationBody::Free { text: text_of(&self.tokens[start..self.pos]), args: FreeArgs::Opaque }
        };
        Ok(Annotation { name, body, span: self.since(at) })
    }

    /// `(...)`: any tokens. They are kept as text, and read as a list if they are one.
    fn free_body(&mut self) -> Parse<AnnotationBody> {
        let Some(close) = self.closers[self.pos].map(|c| c as usize) else {
            let open = self.bump().span;
            self.pos = self.tokens.len() - 1;
            return self.expect_close(open, TokenKind::CloseParen, "").map(|_| AnnotationBody::Empty);
        };
        let start = self.pos + 1;
        let text = text_of(&self.tokens[start..close]);
        self.pos = start;
        let muted = std::mem::replace(&mut self.muted, true);
        let types = std::mem::replace(&mut self.types_as_exprs, true);
        let args = self.free_args();
        self.muted = muted;
        self.types_as_exprs = types;
        let args = args.ok().filter(|_| self.pos == close).unwrap_or(FreeArgs::Opaque);
        self.pos = close + 1;
        Ok(AnnotationBody::Free { text, args })
    }

    fn free_args(&mut self) -> Parse<FreeArgs> {
        let end = TokenKind::CloseParen;
        if self.starts_key_value() {
            return Ok(FreeArgs::KeyValues(self.key_values(end)?.0));
        }
        Ok(FreeArgs::Exprs(self.expr_list(end)?))
    }

    /// `[...]`: expressions or `key = value` pairs.
    fn structured_body(&mut self) -> Parse<AnnotationBody> {
        let open = self.expect(TokenKind::OpenBracket)?;
        let end = TokenKind::CloseBracket;
        let body = if self.starts_key_value() {
            AnnotationBody::KeyValues(self.key_values(end)?.0)
        } else {
            AnnotationBody::Exprs(self.expr_list(end)?)
        };
        self.expect_close(open, end, "`,` or ")?;
        Ok(body)
    }

    fn starts_key_value(&self) -> bool {
        self.kind().is_name() && self.nth(1) == TokenKind::Assign
    }

    /// `a, b` up to `end`; a last comma may be there.
    pub(super) fn expr_list(&mut self, end: TokenKind) -> Result<Vec<Expr>, Stop> {
        let mut list = Vec::new();
        while self.kind() != end {
            list.push(self.inner_expr()?);
            if !self.take(TokenKind::Comma) {
                break;
            }
        }
        Ok(list)
    }
}

/// The tokens as text, a blank where white space was.
fn text_of(tokens: &[Token]) -> String {
    let mut text = String::new();
    for token in tokens {
        if token.space && !text.is_empty() {
            text.push(' ');
        }
        text.push_str(&token.text);
    }
    text
}
