//! The parser: from tokens to the syntax tree, by recursive descent.
//!
//! A construct that cannot be read is reported and skipped, up to the end of its statement or declaration, so that one
//! run tells of several errors.

mod annotation;
mod control;
mod decl;
mod expr;
mod lookahead;
mod number;
mod object;
mod state;
mod stmt;
mod types;

use std::collections::HashMap;
use std::rc::Rc;

use crate::ast::{Ident, Program};
use crate::diag::{Diagnostic, Diagnostics};
use crate::source::Span;
use crate::token::{Token, TokenKind};

/// Constructs within each other. The tree is walked by recursion, so hostile input must not make it deep.
pub const MAX_NESTING: usize = 160;
/// Height of the tree of one expression; `a + b + c` has height 3 without any nesting.
pub const MAX_HEIGHT: usize = 512;
/// `else if` in a row, each of which stands in the tree within the one before it.
pub const MAX_ELSE_IFS: usize = 512;

/// Parses preprocessed tokens. What comes back with errors is what could be read.
pub fn parse_tokens(tokens: &[Token], diagnostics: &mut Diagnostics) -> Program {
    let (closers, unclosed) = lookahead::brackets(tokens);
    let mut parser = Parser {
        tokens,
        pos: 0,
        diagnostics,
        muted: false,
        end_reported: false,
        closers,
        unclosed,
        type_args: HashMap::new(),
        scopes: vec![HashMap::new()],
        depth: 0,
        height: 0,
        else_ifs: 0,
        no_greater: false,
        types_as_exprs: false,
    };
    parser.program()
}

struct Parser<'a> {
    /// The last one is `Eof`.
    tokens: &'a [Token],
    pos: usize,
    diagnostics: &'a mut Diagnostics,
    /// Something is only tried: errors are not told.
    muted: bool,
    /// The end of the program came too early and that has been told.
    end_reported: bool,
    /// For each opening bracket the index of the closing one.
    closers: Vec<Option<u32>>,
    /// The last opening bracket that has no closing one.
    unclosed: Option<usize>,
    /// Where a list of type arguments that may start at some `<` ends.
    type_args: HashMap<usize, Option<usize>>,
    /// For each name in scope whether it is a type.
    scopes: Vec<HashMap<Rc<str>, bool>>,
    depth: usize,
    /// Height of the expression that was read last.
    height: usize,
    /// `else if` around this place.
    else_ifs: usize,
    /// `>` ends the expression: it is a width in `<...>`.
    no_greater: bool,
    /// A type may stand for an expression: in an annotation.
    types_as_exprs: bool,
}

/// What was wrong has been told; the construct is given up.
#[derive(Debug)]
struct Stop;

type Parse<T> = Result<T, Stop>;

impl<'a> Parser<'a> {
    fn kind(&self) -> TokenKind {
        self.tokens[self.pos].kind
    }

    /// The kind of the token `n` places on.
    fn nth(&self, n: usize) -> TokenKind {
        self.kind_at(self.pos + n)
    }

    fn kind_at(&self, index: usize) -> TokenKind {
        self.tokens.get(index).map_or(TokenKind::Eof, |t| t.kind)
    }

    fn token(&self) -> &'a Token {
        &self.tokens[self.pos]
    }

    fn span(&self) -> Span {
        self.token().span
    }

    /// The span of the token before this one.
    fn before(&self) -> Span {
        self.tokens[self.pos.saturating_sub(1)].span
    }

    fn since(&self, start: Span) -> Span {
        start.to(self.before())
    }

    fn bump(&mut self) -> &'a Token {
        let token = &self.tokens[self.pos];
        if token.kind != TokenKind::Eof {
            self.pos += 1;
        }
        token
    }

    /// Takes a token of this kind if it is next.
    fn take(&mut self, kind: TokenKind) -> bool {
        let found = self.kind() == kind;
        if found {
            self.bump();
        }
        found
    }

    fn expect(&mut self, kind: TokenKind) -> Parse<Span> {
        if self.kind() == kind {
            return Ok(self.bump().span);
        }
        Err(self.expected(kind.describe()))
    }

    /// Takes what closes the bracket at `open`.
    fn expect_close(&mut self, open: Span, kind: TokenKind, or: &str) -> Parse<Span> {
        if self.kind() == kind {
            return Ok(self.bump().span);
        }
        let error = self.expected_error(&format!("{or}{}", kind.describe()));
        let error = match (kind, self.kind()) {
            (TokenKind::CloseParen, TokenKind::Assign) => error.help("`==` compares; `=` only assigns"),
            (_, TokenKind::Eof) => error,
            _ => error.label(open, "opened here"),
        };
        Err(self.report(error))
    }

    /// Takes `;`. One that is plainly missing is told and taken for there.
    fn semicolon(&mut self, after: &str) -> Parse<()> {
        if self.take(TokenKind::Semicolon) {
            return Ok(());
        }
        if self.kind() == TokenKind::Eof || self.is_bad() {
            return Err(self.expected(&format!("`;` after {after}")));
        }
        let message = format!("expected `;` after {after}, found {}", self.found());
        let stop = self.report(Diagnostic::error(self.before().after(), message).help("add `;`"));
        if self.token().line_start || self.kind() == TokenKind::CloseBrace { Ok(()) } else { Err(stop) }
    }

    /// Takes a name; `what` says of what. A keyword in its place is told and taken for one.
    fn name(&mut self, what: &str) -> Parse<Ident> {
        let token = self.token();
        if !token.kind.is_name() {
            if !token.kind.is_keyword() || token.kind == TokenKind::Underscore || token.line_start {
                return Err(self.expected(what));
            }
            let message = format!("`{}` is a keyword and cannot be {what}", token.text);
            let error = Diagnostic::error(token.span, message);
            self.report(error.help(format!("choose another name, such as `{}_`", token.text)));
        }
        self.bump();
        Ok(Ident { name: token.text.to_string(), span: token.span })
    }

    /// What stands here, for a message.
    fn found(&self) -> String {
        let token = self.token();
        match token.kind {
            TokenKind::Eof => "the end of the program".to_owned(),
            _ if token.text.chars().count() > 40 => {
                format!("`{}...`", token.text.chars().take(40).collect::<String>())
            }
            _ => format!("`{}`", token.text),
        }
    }

    /// No P4 token stands here.
    fn is_bad(&self) -> bool {
        matches!(self.kind(), TokenKind::OpenStr | TokenKind::Unknown)
    }

    fn expected_error(&self, what: &str) -> Diagnostic {
        let span = self.span();
        match self.kind() {
            TokenKind::OpenStr => Diagnostic::error(span, "this string is not closed").help("close it with `\"`"),
            TokenKind::Unknown => Diagnostic::error(span, format!("the character {} is not P4", self.found())),
            TokenKind::Eof => {
                let error = Diagnostic::error(span, format!("expected {what}, found the end of the program"));
                match self.unclosed.map(|i| &self.tokens[i]) {
                    Some(open) => error.label(open.span, format!("this `{}` is not closed", open.text)),
                    None => error,
                }
            }
            _ => Diagnostic::error(span, format!("expected {what}, found {}", self.found())),
        }
    }

    fn expected(&mut self, what: &str) -> Stop {
        let error = self.expected_error(what);
        self.report(error)
    }

    fn report(&mut self, error: Diagnostic) -> Stop {
        let at_end = self.kind() == TokenKind::Eof;
        if !(self.muted || at_end && self.end_reported) {
            self.end_reported |= at_end;
            self.diagnostics.push(error);
        }
        Stop
    }

    /// Reads something that may hold more of itself.
    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        if self.depth >= MAX_NESTING {
            let message = format!("this is nested in more than {MAX_NESTING} others");
            return Err(self.report(Diagnostic::error(self.span(), message)));
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// Reads something with a scope of its own.
    fn scoped<T>(&mut self, read: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        self.scopes.push(HashMap::new());
        let result = read(self);
        self.scopes.pop();
        result
    }

    fn declare(&mut self, name: &Ident, is_type: bool) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name.name.as_str().into(), is_type);
        }
    }

    /// Whether a name is a type; `None` if nothing declares it.
    fn is_type(&self, name: &str) -> Option<bool> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name).copied())
    }

    /// Reads items between `{` and `}`; an item that cannot be read is skipped.
    fn braced<T>(&mut self, mut item: impl FnMut(&mut Self) -> Parse<T>) -> Parse<Vec<T>> {
        let open = self.expect(TokenKind::OpenBrace)?;
        let mut items = Vec::new();
        while !self.at_end_of_body(open) {
            let start = self.pos;
            match item(self) {
                Ok(item) => items.push(item),
                Err(Stop) => self.skip_item(start),
            }
        }
        self.take(TokenKind::CloseBrace);
        Ok(items)
    }

    /// Whether a body ends here: at its `}`, or where plainly another declaration begins because `}` is missing.
    fn at_end_of_body(&mut self, open: Span) -> bool {
        match self.kind() {
            TokenKind::CloseBrace => true,
            TokenKind::Eof => {
                self.expected("`}`");
                true
            }
            kind if starts_top_level(kind) && self.token().line_start => {
                let error = Diagnostic::error(self.span(), format!("expected `}}` before {}", kind.describe()));
                self.report(error.label(open, "this `{` is not closed"));
                true
            }
            _ => false,
        }
    }

    /// Goes behind the item that started at `start` and was given up here, to where the next one may start.
    fn skip_item(&mut self, start: usize) {
        let stopped = self.pos;
        // From the start again, since the place may lie within brackets that only as a whole belong to the item.
        self.pos = start;
        loop {
            let kind = self.kind();
            if self.pos >= stopped {
                match kind {
                    TokenKind::Eof | TokenKind::CloseBrace => return,
                    TokenKind::Semicolon => {
                        self.bump();
                        return;
                    }
                    _ if self.pos > start && self.token().line_start && starts_item(kind) => return,
                    _ => {}
                }
            }
            self.skip_group();
            if kind == TokenKind::OpenBrace && self.pos > stopped {
                self.take(TokenKind::Semicolon);
                return;
            }
        }
    }

    /// Goes over a token, and from an opening bracket over all up to the closing one.
    fn skip_group(&mut self) {
        match self.closers[self.pos] {
            Some(close) => self.pos = close as usize + 1,
            None => {
                self.bump();
            }
        }
    }
}

/// Keywords that only stand at the start of a declaration at the top level.
fn starts_top_level(kind: TokenKind) -> bool {
    use TokenKind::*;
    matches!(kind, Control | Parser | Struct | Header | HeaderUnion | Extern | Package | Typedef | Enum)
}

/// Keywords at which reading can go on after an error.
fn starts_item(kind: TokenKind) -> bool {
    use TokenKind::*;
    starts_top_level(kind)
        || matches!(
            kind,
            Action | Table | State | Apply | Const | If | For | Switch | Return | Exit | Transition | ValueSet | At
        )
}

#[cfg(test)]
mod tests;
