//! Expressions, arguments and sets of values.

use super::{MAX_HEIGHT, Parse, Parser};
use crate::ast::{Arg, BinaryOp, Expr, ExprKind, KeySet, KeySetKind, KeyValue, Type, TypeKind, UnaryOp};
use crate::diag::Diagnostic;
use crate::source::Span;
use crate::token::TokenKind;

impl Parser<'_> {
    pub(super) fn expr(&mut self) -> Parse<Expr> {
        self.nested(|p| {
            let cond = p.binary(0)?;
            if p.kind() != TokenKind::Question {
                return Ok(cond);
            }
            let mut height = p.height;
            p.bump();
            let then = p.expr()?;
            height = height.max(p.height);
            p.expect(TokenKind::Colon)?;
            let otherwise = p.expr()?;
            height = height.max(p.height);
            let span = cond.span.to(otherwise.span);
            let (cond, then, otherwise) = (Box::new(cond), Box::new(then), Box::new(otherwise));
            p.node(ExprKind::Ternary { cond, then, otherwise }, span, height)
        })
    }

    /// An expression within brackets, where `>` is an operator again.
    pub(super) fn inner_expr(&mut self) -> Parse<Expr> {
        let outer = std::mem::replace(&mut self.no_greater, false);
        let result = self.expr();
        self.no_greater = outer;
        result
    }

    /// An expression whose parts have at most this height.
    fn node(&mut self, kind: ExprKind, span: Span, height: usize) -> Parse<Expr> {
        self.height = height + 1;
        if self.height > MAX_HEIGHT {
            let message = format!("this expression has more than {MAX_HEIGHT} operations within each other");
            return Err(self.report(Diagnostic::error(span, message).help("split it with variables")));
        }
        Ok(Expr { kind, span })
    }

    fn leaf(&mut self, kind: ExprKind, span: Span) -> Expr {
        self.height = 1;
        Expr { kind, span }
    }

    /// The binary operator here, how strongly it binds and how many tokens it has.
    fn operator(&self) -> Option<(BinaryOp, u8, usize)> {
        use BinaryOp as Op;
        let found = match self.kind() {
            TokenKind::OrOr => (Op::Or, 1),
            TokenKind::AndAnd => (Op::And, 2),
            TokenKind::EqEq => (Op::Eq, 3),
            TokenKind::NotEq => (Op::Ne, 3),
            TokenKind::Lt => (Op::Lt, 4),
            TokenKind::Le => (Op::Le, 4),
            TokenKind::Ge if self.no_greater => return None,
            TokenKind::Ge => (Op::Ge, 4),
            TokenKind::Gt if self.no_greater => return None,
            TokenKind::Gt => {
                let joined = self.tokens.get(self.pos + 1).is_some_and(|t| !t.space);
                match self.nth(1) {
                    TokenKind::Gt if joined => return Some((Op::Shr, 8, 2)),
                    // `>>=`
                    TokenKind::Ge if joined => return None,
                    _ => (Op::Gt, 4),
                }
            }
            TokenKind::Pipe => (Op::BitOr, 5),
            TokenKind::Caret => (Op::BitXor, 6),
            TokenKind::Amp => (Op::BitAnd, 7),
            TokenKind::Shl => (Op::Shl, 8),
            TokenKind::Plus => (Op::Add, 9),
            TokenKind::Minus => (Op::Sub, 9),
            TokenKind::AddSat => (Op::AddSat, 9),
            TokenKind::SubSat => (Op::SubSat, 9),
            TokenKind::Concat => (Op::Concat, 9),
            TokenKind::Star => (Op::Mul, 10),
            TokenKind::Slash => (Op::Div, 10),
            TokenKind::Percent => (Op::Mod, 10),
            _ => return None,
        };
        Some((found.0, found.1, 1))
    }

    fn binary(&mut self, weakest: u8) -> Parse<Expr> {
        let mut left = self.unary()?;
        while let Some((op, strength, length)) = self.operator().filter(|o| o.1 > weakest) {
            let left_height = self.height;
            self.pos += length;
            let right = self.nested(|p| p.binary(strength))?;
            let height = left_height.max(self.height);
            let span = left.span.to(right.span);
            let kind = ExprKind::Binary { op, left: Box::new(left), right: Box::new(right) };
            left = self.node(kind, span, height)?;
        }
        Ok(left)
    }

    fn unary(&mut self) -> Parse<Expr> {
        let start = self.span();
        let op = match self.kind() {
            TokenKind::Not => UnaryOp::Not,
            TokenKind::Tilde => UnaryOp::Complement,
            TokenKind::Minus => UnaryOp::Neg,
            TokenKind::Plus => UnaryOp::Plus,
            TokenKind::OpenParen if self.is_cast() => return self.nested(Self::cast),
            _ => return self.postfix(),
        };
        self.bump();
        let operand = Box::new(self.nested(Self::unary)?);
        let height = self.height;
        let span = start.to(operand.span);
        self.node(ExprKind::Unary { op, operand }, span, height)
    }

    /// Whether the `(` here starts `(type) operand`.
    fn is_cast(&mut self) -> bool {
        use TokenKind::*;
        let first = self.pos + 1;
        let Some(close) = self.type_end(first).filter(|end| self.kind_at(*end) == CloseParen) else { return false };
        let name = if self.kind_at(first) == Dot { first + 1 } else { first };
        if !self.kind_at(name).is_name() || (self.kind_at(name) == List && self.kind_at(name + 1) == Lt) {
            return self.kind_at(first) != Underscore;
        }
        match self.is_type(&self.tokens[name].text) {
            Some(is_type) => is_type,
            // Of an unknown name only what follows tells.
            None => matches!(self.kind_at(close + 1), Ident | Number | Str | True | False | Not | Tilde | This),
        }
    }

    fn cast(&mut self) -> Parse<Expr> {
        let open = self.expect(TokenKind::OpenParen)?;
        let ty = self.ty()?;
        self.expect_close(open, TokenKind::CloseParen, "")?;
        let operand = Box::new(self.unary()?);
        let height = self.height;
        let span = open.to(operand.span);
        self.node(ExprKind::Cast { ty, operand }, span, height)
    }

    /// An expression with its members, indices and calls.
    pub(super) fn postfix(&mut self) -> Parse<Expr> {
        let mut expr = self.primary()?;
        loop {
            let height = self.height;
            let start = expr.span;
            match self.kind() {
                TokenKind::Dot => {
                    self.bump();
                    let member = self.name("the name of a member")?;
                    let span = start.to(member.span);
                    expr = self.node(ExprKind::Member { base: Box::new(expr), member }, span, height)?;
                }
                TokenKind::OpenBracket => expr = self.subscript(expr)?,
                TokenKind::OpenParen => expr = self.call(expr, Vec::new())?,
                TokenKind::Lt if takes_type_args(&expr) && self.is_generic_call() => {
                    let type_args = self.type_arguments()?;
                    self.height = height;
                    expr = self.call(expr, type_args)?;
                }
                _ => return Ok(expr),
            }
        }
    }

    fn call(&mut self, callee: Expr, type_args: Vec<Type>) -> Parse<Expr> {
        let mut height = self.height;
        let args = self.args()?;
        height = height.max(self.height);
        let span = self.since(callee.span);
        self.node(ExprKind::Call { callee: Box::new(callee), type_args, args }, span, height)
    }

    /// `(a, name = b, _)`.
    pub(super) fn args(&mut self) -> Parse<Vec<Arg>> {
        let open = self.expect(TokenKind::OpenParen)?;
        let mut args = Vec::new();
        let mut height = 0;
        if self.take(TokenKind::CloseParen) {
            self.height = height;
            return Ok(args);
        }
        loop {
            let start = self.span();
            let mut name = None;
            if self.kind().is_name() && self.nth(1) == TokenKind::Assign {
                name = Some(self.name("the name of an argument")?);
                self.bump();
            }
            let value = if self.kind() == TokenKind::Underscore {
                let span = self.bump().span;
                self.leaf(ExprKind::DontCare, span)
            } else {
                self.inner_expr()?
            };
            height = height.max(self.height);
            args.push(Arg { name, value, span: self.since(start) });
            if !self.take(TokenKind::Comma) {
                self.expect_close(open, TokenKind::CloseParen, "`,` or ")?;
                self.height = height;
                return Ok(args);
            }
        }
    }

    /// `[index]`, `[hi:lo]` or `[low+:width]`.
    fn subscript(&mut self, base: Expr) -> Parse<Expr> {
        let mut height = self.height;
        let base = Box::new(base);
        let open = self.expect(TokenKind::OpenBracket)?;
        let first = Box::new(self.inner_expr()?);
        height = height.max(self.height);
        let separator = self.kind();
        let mut second = None;
        if matches!(separator, TokenKind::Colon | TokenKind::PlusColon) {
            self.bump();
            second = Some(Box::new(self.inner_expr()?));
            height = height.max(self.height);
        }
        let close = self.expect_close(open, TokenKind::CloseBracket, "")?;
        let span = base.span.to(close);
        let kind = match second {
            None => ExprKind::Index { base, index: first },
            Some(lo) if separator == TokenKind::Colon => ExprKind::Slice { base, hi: first, lo },
            Some(width) => ExprKind::PlusSlice { base, low: first, width },
        };
        self.node(kind, span, height)
    }

    fn primary(&mut self) -> Parse<Expr> {
        let token = self.token();
        let kind = match token.kind {
            TokenKind::Number => ExprKind::Int(self.number()?),
            TokenKind::Str => {
                self.bump();
                ExprKind::Str(string_value(&token.text))
            }
            TokenKind::True | TokenKind::False => {
                self.bump();
                ExprKind::Bool(token.kind == TokenKind::True)
            }
            TokenKind::This => {
                self.bump();
                ExprKind::This
            }
            TokenKind::Dots => {
                self.bump();
                ExprKind::Dots
            }
            TokenKind::Invalid => {
                self.bump();
                ExprKind::Invalid
            }
            TokenKind::Error if self.nth(1) == TokenKind::Dot => ExprKind::Type(self.ty()?),
            TokenKind::OpenParen => {
                let open = self.bump().span;
                let mut inner = self.inner_expr()?;
                let close = self.expect_close(open, TokenKind::CloseParen, "")?;
                inner.span = open.to(close);
                return Ok(inner);
            }
            TokenKind::OpenBrace => return self.nested(Self::braces),
            kind if self.types_as_exprs && !kind.is_name() && self.is_type_at(self.pos) => ExprKind::Type(self.ty()?),
            TokenKind::List if self.nth(1) == TokenKind::Lt => ExprKind::Type(self.ty()?),
            kind if kind.is_name() || kind == TokenKind::Dot => self.path_or_type()?,
            TokenKind::Underscore => {
                let error = Diagnostic::error(token.span, "`_` cannot stand for a value here");
                return Err(self.report(error));
            }
            _ if self.is_type_at(self.pos) => {
                let error = self.expected_error("an expression");
                return Err(self.report(error.help("a cast has parentheses around the type: `(type) value`")));
            }
            _ => return Err(self.expected("an expression")),
        };
        let span = self.since(token.span);
        Ok(self.leaf(kind, span))
    }

    /// A path, or a type with arguments before `.`, as in `C<T>.apply()`.
    fn path_or_type(&mut self) -> Parse<ExprKind> {
        let start = self.span();
        let path = self.path("a name")?;
        let is_type = self.kind() == TokenKind::Lt && self.is_type(&path.name.name) == Some(true);
        if is_type && self.type_args_end(self.pos).is_some_and(|end| self.kind_at(end) == TokenKind::Dot) {
            let args = self.type_arguments()?;
            return Ok(ExprKind::Type(Type { kind: TypeKind::Named { path, args }, span: self.since(start) }));
        }
        Ok(ExprKind::Path(path))
    }

    /// `{a, b}` or `{k = v, ...}`.
    fn braces(&mut self) -> Parse<Expr> {
        let open = self.expect(TokenKind::OpenBrace)?;
        let mut height = 0;
        let kind = if self.kind().is_name() && self.nth(1) == TokenKind::Assign {
            let (fields, tallest) = self.key_values(TokenKind::CloseBrace)?;
            height = tallest;
            let dots = (self.kind() == TokenKind::Dots).then(|| self.bump().span);
            if dots.is_some() {
                self.take(TokenKind::Comma);
            }
            ExprKind::Struct { fields, dots }
        } else {
            let mut items = Vec::new();
            while self.kind() != TokenKind::CloseBrace {
                items.push(self.inner_expr()?);
                height = height.max(self.height);
                if !self.take(TokenKind::Comma) {
                    break;
                }
            }
            ExprKind::List(items)
        };
        let close = self.expect_close(open, TokenKind::CloseBrace, "`,` or ")?;
        self.node(kind, open.to(close), height)
    }

    /// `k = v, ...` up to `end` or `...`, and the height of the tallest value.
    pub(super) fn key_values(&mut self, end: TokenKind) -> Parse<(Vec<KeyValue>, usize)> {
        let mut list = Vec::new();
        let mut height = 0;
        while self.kind() != end && self.kind() != TokenKind::Dots {
            let key = self.name("the name of a field")?;
            self.expect(TokenKind::Assign)?;
            let value = self.inner_expr()?;
            height = height.max(self.height);
            list.push(KeyValue { span: self.since(key.span), key, value });
            if !self.take(TokenKind::Comma) {
                break;
            }
        }
        Ok((list, height))
    }

    /// The keys before the `:` of a select case or table entry, a tuple taken apart.
    pub(super) fn key_sets(&mut self) -> Parse<Vec<KeySet>> {
        let is_tuple = self.kind() == TokenKind::OpenParen
            && self.closers[self.pos].is_some_and(|close| self.kind_at(close as usize + 1) == TokenKind::Colon);
        if !is_tuple {
            return Ok(vec![self.key_set()?]);
        }
        let open = self.bump().span;
        let mut keys = Vec::new();
        loop {
            keys.push(self.key_set()?);
            if !self.take(TokenKind::Comma) {
                self.expect_close(open, TokenKind::CloseParen, "`,` or ")?;
                return Ok(keys);
            }
        }
    }

    fn key_set(&mut self) -> Parse<KeySet> {
        let start = self.span();
        let kind = match self.kind() {
            TokenKind::Default => {
                self.bump();
                KeySetKind::Default
            }
            TokenKind::Underscore => {
                self.bump();
                KeySetKind::Any
            }
            _ => {
                let first = self.expr()?;
                if self.take(TokenKind::Mask) {
                    KeySetKind::Mask(first, self.expr()?)
                } else if self.take(TokenKind::Range) {
                    KeySetKind::Range(first, self.expr()?)
                } else {
                    KeySetKind::Value(first)
                }
            }
        };
        Ok(KeySet { kind, span: self.since(start) })
    }
}

/// Only names can be called with type arguments.
fn takes_type_args(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Path(_) | ExprKind::Member { .. })
}

/// The value of a string literal: `\"` and `\\` are resolved, `\` at the end of a line takes the end away; P4 has no
/// other escapes.
fn string_value(text: &str) -> String {
    let inner = text.get(1..text.len().saturating_sub(1)).unwrap_or("");
    let mut value = String::with_capacity(inner.len());
    let mut chars = inner.chars().peekable();
    while let Some(c) = chars.next() {
        match chars.peek() {
            Some(next @ ('"' | '\\')) if c == '\\' => {
                value.push(*next);
                chars.next();
            }
            Some('\n') if c == '\\' => {
                chars.next();
            }
            _ => value.push(c),
        }
    }
    value
}
