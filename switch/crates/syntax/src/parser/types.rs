//! Types, and the names of type parameters.

use super::{Parse, Parser};
use crate::ast::{Expr, Ident, Path, Type, TypeKind};
use crate::token::TokenKind;

impl Parser<'_> {
    pub(super) fn ty(&mut self) -> Parse<Type> {
        self.nested(Self::ty_inner)
    }

    fn ty_inner(&mut self) -> Parse<Type> {
        let start = self.span();
        let kind = match self.kind() {
            TokenKind::Bool => self.plain(TypeKind::Bool),
            TokenKind::Error => self.plain(TypeKind::Error),
            TokenKind::String => self.plain(TypeKind::String),
            TokenKind::Void => self.plain(TypeKind::Void),
            TokenKind::MatchKind => self.plain(TypeKind::MatchKind),
            TokenKind::Underscore => self.plain(TypeKind::DontCare),
            TokenKind::Bit => {
                self.bump();
                let width = if self.kind() == TokenKind::Lt { Some(Box::new(self.width()?)) } else { None };
                TypeKind::Bit(width)
            }
            TokenKind::Int => {
                self.bump();
                if self.kind() == TokenKind::Lt { TypeKind::Int(Box::new(self.width()?)) } else { TypeKind::InfInt }
            }
            TokenKind::Varbit => {
                self.bump();
                TypeKind::Varbit(Box::new(self.width()?))
            }
            TokenKind::Tuple => {
                self.bump();
                TypeKind::Tuple(self.type_arguments()?)
            }
            TokenKind::List if self.nth(1) == TokenKind::Lt => {
                self.bump();
                let open = self.expect(TokenKind::Lt)?;
                let element = self.ty()?;
                self.expect_close(open, TokenKind::Gt, "")?;
                TypeKind::List(Box::new(element))
            }
            TokenKind::Dot => {
                let path = self.path("a type")?;
                self.named(path)?
            }
            kind if kind.is_name() => {
                let path = self.path("a type")?;
                self.named(path)?
            }
            _ => return Err(self.expected("a type")),
        };
        let mut ty = Type { kind, span: self.since(start) };
        while self.kind() == TokenKind::OpenBracket {
            ty = self.stack(ty)?;
        }
        Ok(ty)
    }

    fn plain(&mut self, kind: TypeKind) -> TypeKind {
        self.bump();
        kind
    }

    fn named(&mut self, path: Path) -> Parse<TypeKind> {
        let args = if self.kind() == TokenKind::Lt { self.type_arguments()? } else { Vec::new() };
        Ok(TypeKind::Named { path, args })
    }

    /// `[size]` behind the element type `element`, or behind the name that is declared with it.
    pub(super) fn stack(&mut self, element: Type) -> Parse<Type> {
        let open = self.expect(TokenKind::OpenBracket)?;
        let size = self.inner_expr()?;
        let close = self.expect_close(open, TokenKind::CloseBracket, "")?;
        let span = element.span.to(close);
        Ok(Type { kind: TypeKind::Stack { element: Box::new(element), size: Box::new(size) }, span })
    }

    /// `<width>`.
    fn width(&mut self) -> Parse<Expr> {
        let open = self.expect(TokenKind::Lt)?;
        let outer = std::mem::replace(&mut self.no_greater, true);
        let width = self.expr();
        self.no_greater = outer;
        let width = width?;
        self.expect_close(open, TokenKind::Gt, "")?;
        Ok(width)
    }

    /// `<A, B>`, also empty.
    pub(super) fn type_arguments(&mut self) -> Parse<Vec<Type>> {
        let open = self.expect(TokenKind::Lt)?;
        let mut args = Vec::new();
        if self.take(TokenKind::Gt) {
            return Ok(args);
        }
        loop {
            args.push(self.ty()?);
            if !self.take(TokenKind::Comma) {
                self.expect_close(open, TokenKind::Gt, "`,` or ")?;
                return Ok(args);
            }
        }
    }

    /// `<T, U>` if it is there; declares the names as types.
    pub(super) fn type_params(&mut self) -> Parse<Vec<Ident>> {
        let mut params = Vec::new();
        if self.kind() != TokenKind::Lt {
            return Ok(params);
        }
        let open = self.bump().span;
        loop {
            let name = self.name("the name of a type parameter")?;
            self.declare(&name, true);
            params.push(name);
            if !self.take(TokenKind::Comma) {
                self.expect_close(open, TokenKind::Gt, "`,` or ")?;
                return Ok(params);
            }
        }
    }

    /// `name` or `.name`.
    pub(super) fn path(&mut self, what: &str) -> Parse<Path> {
        let start = self.span();
        let global = self.take(TokenKind::Dot);
        let name = self.name(what)?;
        Ok(Path { global, span: self.since(start), name })
    }
}
