//! Parsers: states, transitions and value sets.

use super::{Parse, Parser};
use crate::ast::{Annotation, Decl, ParserBody, Select, SelectCase, State, Transition, ValueSetDecl};
use crate::diag::Diagnostic;
use crate::source::Span;
use crate::token::TokenKind;

/// What stands between the braces of a parser.
enum Item {
    Local(Decl),
    State(State),
}

impl Parser<'_> {
    pub(super) fn parser_body(&mut self) -> Parse<ParserBody> {
        let mut body = ParserBody { locals: Vec::new(), states: Vec::new() };
        for item in self.braced(Self::parser_item)? {
            match item {
                Item::Local(decl) => body.locals.push(decl),
                Item::State(state) => body.states.push(state),
            }
        }
        Ok(body)
    }

    fn parser_item(&mut self) -> Parse<Item> {
        let start = self.span();
        let annotations = self.annotations()?;
        match self.kind() {
            TokenKind::State if self.nth(1).is_name() || self.nth(1).is_keyword() => {
                self.state(annotations, start).map(Item::State)
            }
            TokenKind::ValueSet => self.value_set(annotations, start).map(Item::Local),
            _ => match self.local_decl(annotations, start)? {
                Some(decl) => Ok(Item::Local(decl)),
                None => Err(self.expected("a state or a declaration of the parser")),
            },
        }
    }

    fn value_set(&mut self, annotations: Vec<Annotation>, start: Span) -> Parse<Decl> {
        self.bump();
        let open = self.expect(TokenKind::Lt)?;
        let ty = self.ty()?;
        self.expect_close(open, TokenKind::Gt, "")?;
        let open = self.expect(TokenKind::OpenParen)?;
        let size = self.expr()?;
        self.expect_close(open, TokenKind::CloseParen, "")?;
        let name = self.name("the name of a value set")?;
        self.declare(&name, false);
        self.semicolon("the declaration of a value set")?;
        Ok(Decl::ValueSet(ValueSetDecl { annotations, ty, size, name, span: self.since(start) }))
    }

    fn state(&mut self, annotations: Vec<Annotation>, start: Span) -> Parse<State> {
        self.bump();
        let name = self.name("the name of a state")?;
        let mut transition: Option<(Transition, Span)> = None;
        let items = self.scoped(|p| {
            p.braced(|p| {
                if let Some((_, place)) = &transition {
                    let error = Diagnostic::error(p.span(), "nothing may stand behind the transition of a state");
                    return Err(p.report(error.label(*place, "the transition")));
                }
                if p.kind() != TokenKind::Transition {
                    return p.stmt().map(Some);
                }
                let start = p.bump().span;
                let read = p.transition()?;
                transition = Some((read, p.since(start)));
                Ok(None)
            })
        })?;
        let stmts = items.into_iter().flatten().collect();
        Ok(State { annotations, name, stmts, transition: transition.map(|t| t.0), span: self.since(start) })
    }

    fn transition(&mut self) -> Parse<Transition> {
        if self.kind() != TokenKind::Select {
            let name = self.name("the name of a state, or `select`")?;
            self.semicolon("the transition")?;
            return Ok(Transition::Direct(name));
        }
        let start = self.bump().span;
        let open = self.expect(TokenKind::OpenParen)?;
        let exprs = self.expr_list(TokenKind::CloseParen)?;
        self.expect_close(open, TokenKind::CloseParen, "`,` or ")?;
        let cases = self.braced(Self::select_case)?;
        Ok(Transition::Select(Select { exprs, cases, span: self.since(start) }))
    }

    fn select_case(&mut self) -> Parse<SelectCase> {
        let start = self.span();
        let keys = self.key_sets()?;
        self.expect(TokenKind::Colon)?;
        let state = self.name("the name of a state")?;
        self.semicolon("the case")?;
        Ok(SelectCase { keys, state, span: self.since(start) })
    }
}
