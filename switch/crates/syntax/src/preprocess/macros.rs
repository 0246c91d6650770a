//! Macro definitions.

use std::rc::Rc;

use super::Preprocessor;
use crate::diag::Diagnostic;
use crate::source::Span;
use crate::token::{Token, TokenKind};

pub(super) struct Macro {
    pub span: Span,
    /// `None`: used without parentheses.
    pub params: Option<Params>,
    pub body: Vec<Piece>,
}

pub(super) struct Params {
    pub names: Vec<Rc<str>>,
    /// The last one takes all arguments that are left.
    pub variadic: bool,
}

/// A piece of a macro's body.
#[derive(PartialEq)]
pub(super) enum Piece {
    Token(BodyToken),
    /// A parameter by its index, and whether white space is before it.
    Param(usize, bool),
    /// `#param`.
    Stringify(usize, bool),
    /// `##`.
    Paste,
}

/// A token of a body; two are equal when they read the same.
pub(super) struct BodyToken(pub Token);

impl PartialEq for BodyToken {
    fn eq(&self, other: &Self) -> bool {
        self.0.text == other.0.text && self.0.space == other.0.space
    }
}

impl Preprocessor<'_> {
    /// `#define name body` or `#define name(params) body`; `line` is what comes after `define`.
    pub(super) fn define(&mut self, directive: Span, line: &[Token]) {
        let Some(name) = self.macro_name(directive, line) else { return };
        let mut rest = &line[1..];
        let mut params = None;
        if let Some(open) = rest.first().filter(|t| t.kind == TokenKind::OpenParen && !t.space) {
            let Some((list, used)) = self.params(open.span, &rest[1..]) else { return };
            params = Some(list);
            rest = &rest[1 + used..];
        }
        let Some(body) = self.body(params.as_ref(), rest) else { return };
        let new = Macro { span: name.span, params, body };
        if let Some(old) = self.macros.get(&name.text) {
            let same_params = old.params.as_ref().map(|p| &p.names) == new.params.as_ref().map(|p| &p.names);
            if !same_params || old.body != new.body {
                let message = format!("macro `{}` is defined again, and differently", name.text);
                let warning = Diagnostic::warning(name.span, message).label(old.span, "first defined here");
                self.diagnostics.push(warning.help(format!("write `#undef {}` before", name.text)));
            }
        }
        self.macros.insert(name.text, Rc::new(new));
    }

    /// The name a `#define`, `#undef` or `#ifdef` speaks of.
    pub(super) fn macro_name(&mut self, directive: Span, line: &[Token]) -> Option<Token> {
        match line.first() {
            Some(name) if name.kind == TokenKind::Ident && &*name.text != "defined" => Some(name.clone()),
            Some(other) => {
                self.diagnostics.error(other.span, format!("`{}` cannot be the name of a macro", other.text));
                None
            }
            None => {
                self.diagnostics.error(directive, "the name of a macro is missing");
                None
            }
        }
    }

    /// The parameters up to `)`, and how many tokens they took.
    fn params(&mut self, open: Span, line: &[Token]) -> Option<(Params, usize)> {
        let mut list = Params { names: Vec::new(), variadic: false };
        let mut pos = 0;
        if line.first().is_some_and(|t| t.kind == TokenKind::CloseParen) {
            return Some((list, 1));
        }
        loop {
            let token = line.get(pos);
            match token.map(|t| t.kind) {
                Some(TokenKind::Ident) => {
                    let name = token?.text.clone();
                    if list.names.contains(&name) {
                        self.diagnostics.error(token?.span, format!("parameter `{name}` is there twice"));
                        return None;
                    }
                    list.names.push(name);
                    if line.get(pos + 1).is_some_and(|t| t.kind == TokenKind::Dots) {
                        list.variadic = true;
                        pos += 1;
                    }
                }
                Some(TokenKind::Dots) => {
                    list.names.push("__VA_ARGS__".into());
                    list.variadic = true;
                }
                _ => {
                    let place = token.map_or(open, |t| t.span);
                    self.diagnostics.error(place, "expected the name of a macro's parameter, or `)`");
                    return None;
                }
            }
            pos += 1;
            match line.get(pos).map(|t| t.kind) {
                Some(TokenKind::CloseParen) => return Some((list, pos + 1)),
                Some(TokenKind::Comma) if !list.variadic => pos += 1,
                _ => {
                    let place = line.get(pos).map_or(open, |t| t.span);
                    self.diagnostics.error(place, "expected `)` after the parameters of a macro");
                    return None;
                }
            }
        }
    }

    fn body(&mut self, params: Option<&Params>, line: &[Token]) -> Option<Vec<Piece>> {
        let index = |token: &Token| {
            let names = &params?.names;
            names.iter().position(|n| token.kind == TokenKind::Ident && *n == token.text)
        };
        let mut body = Vec::with_capacity(line.len());
        let mut tokens = line.iter();
        while let Some(token) = tokens.next() {
            let piece = match token.kind {
                TokenKind::HashHash => Piece::Paste,
                TokenKind::Hash if params.is_some() => match tokens.next().and_then(index) {
                    Some(param) => Piece::Stringify(param, token.space),
                    None => {
                        self.diagnostics.error(token.span, "`#` in a macro must stand before a parameter");
                        return None;
                    }
                },
                _ => match index(token) {
                    Some(param) => Piece::Param(param, token.space),
                    None => Piece::Token(BodyToken(token.clone())),
                },
            };
            body.push(piece);
        }
        if body.first() == Some(&Piece::Paste) || body.last() == Some(&Piece::Paste) {
            let place = line.first().map_or(Span::default(), |t| t.span);
            self.diagnostics.error(place, "`##` must stand between two tokens");
            return None;
        }
        Some(body)
    }
}
