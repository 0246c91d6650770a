//! Statements.

use super::{MAX_ELSE_IFS, Parse, Parser};
use crate::ast::{
    Annotation, BinaryOp, Block, Decl, Expr, ExprKind, ForCollection, Stmt, StmtKind, SwitchCase, SwitchLabel, VarDecl,
};
use crate::diag::Diagnostic;
use crate::source::Span;
use crate::token::TokenKind;

impl Parser<'_> {
    /// `{ ... }` with a scope of its own.
    pub(super) fn block(&mut self) -> Parse<Block> {
        self.annotated_block(Vec::new(), self.span())
    }

    pub(super) fn annotated_block(&mut self, annotations: Vec<Annotation>, start: Span) -> Parse<Block> {
        let stmts = self.scoped(|p| p.braced(Self::stmt))?;
        Ok(Block { annotations, stmts, span: self.since(start) })
    }

    pub(super) fn stmt(&mut self) -> Parse<Stmt> {
        self.nested(|p| {
            let start = p.span();
            let kind = p.stmt_kind(start)?;
            Ok(Stmt { kind, span: p.since(start) })
        })
    }

    fn stmt_kind(&mut self, start: Span) -> Parse<StmtKind> {
        let annotations = self.annotations()?;
        if !annotations.is_empty() && !matches!(self.kind(), TokenKind::OpenBrace | TokenKind::For) {
            return match self.local_decl(annotations, start)? {
                Some(decl) => Ok(StmtKind::Decl(decl)),
                None => Err(self.expected("a declaration or block after the annotation")),
            };
        }
        match self.kind() {
            TokenKind::OpenBrace => return Ok(StmtKind::Block(self.annotated_block(annotations, start)?)),
            TokenKind::For => return self.scoped(|p| p.for_loop(annotations)),
            TokenKind::Semicolon => {
                self.bump();
                return Ok(StmtKind::Empty);
            }
            TokenKind::If => return self.if_else(),
            TokenKind::Switch => return self.switch(),
            TokenKind::Return => {
                self.bump();
                let value = if self.kind() == TokenKind::Semicolon { None } else { Some(self.expr()?) };
                self.semicolon("`return`")?;
                return Ok(StmtKind::Return(value));
            }
            TokenKind::Exit => return self.word(StmtKind::Exit, "`exit`"),
            TokenKind::Break => return self.word(StmtKind::Break, "`break`"),
            TokenKind::Continue => return self.word(StmtKind::Continue, "`continue`"),
            TokenKind::Else => {
                let error = Diagnostic::error(self.span(), "`else` without `if`");
                return Err(self.report(error.help("put several statements before it into `{` and `}`")));
            }
            TokenKind::Action | TokenKind::Table => {
                let what = self.kind().describe();
                let error = Diagnostic::error(self.span(), format!("{what} cannot be declared among statements"));
                return Err(self.report(error));
            }
            _ => {}
        }
        if let Some(decl) = self.local_decl(Vec::new(), start)? {
            return Ok(StmtKind::Decl(decl));
        }
        let kind = self.simple()?;
        let what = if matches!(kind, StmtKind::Call(_)) { "the call" } else { "the assignment" };
        self.semicolon(what)?;
        Ok(kind)
    }

    fn word(&mut self, kind: StmtKind, after: &str) -> Parse<StmtKind> {
        self.bump();
        self.semicolon(after)?;
        Ok(kind)
    }

    /// An assignment or call, without its `;`.
    fn simple(&mut self) -> Parse<StmtKind> {
        let can_start = self.kind().is_name()
            || matches!(self.kind(), TokenKind::Dot | TokenKind::This | TokenKind::OpenParen | TokenKind::Error);
        if !can_start {
            return Err(self.expected("a statement"));
        }
        let target = self.postfix()?;
        if let Some((op, length)) = self.assign_operator() {
            self.pos += length;
            let value = self.expr()?;
            return Ok(StmtKind::Assign { target, op, value });
        }
        if matches!(target.kind, ExprKind::Call { .. }) {
            return Ok(StmtKind::Call(target));
        }
        if self.kind() == TokenKind::EqEq {
            let error = Diagnostic::error(self.span(), "a comparison is no statement");
            return Err(self.report(error.help("to assign, write `=`")));
        }
        Err(self.expected("`=` or a call's `(`"))
    }

    /// The assignment operator here (`None` for plain `=`), and how many tokens it has.
    fn assign_operator(&self) -> Option<(Option<BinaryOp>, usize)> {
        use BinaryOp as Op;
        let op = match self.kind() {
            TokenKind::Assign => return Some((None, 1)),
            TokenKind::AddAssign => Op::Add,
            TokenKind::SubAssign => Op::Sub,
            TokenKind::AddSatAssign => Op::AddSat,
            TokenKind::SubSatAssign => Op::SubSat,
            TokenKind::MulAssign => Op::Mul,
            TokenKind::DivAssign => Op::Div,
            TokenKind::ModAssign => Op::Mod,
            TokenKind::AndAssign => Op::BitAnd,
            TokenKind::OrAssign => Op::BitOr,
            TokenKind::XorAssign => Op::BitXor,
            TokenKind::ShlAssign => Op::Shl,
            TokenKind::Gt if self.nth(1) == TokenKind::Ge && !self.tokens[self.pos + 1].space => {
                return Some((Some(Op::Shr), 2));
            }
            _ => return None,
        };
        Some((Some(op), 1))
    }

    /// A constant, variable or instance, if one is declared here.
    pub(super) fn local_decl(&mut self, annotations: Vec<Annotation>, start: Span) -> Parse<Option<Decl>> {
        if self.kind() == TokenKind::Const {
            return self.const_decl(annotations, start).map(Some);
        }
        let is_name = self.kind().is_name() || self.kind() == TokenKind::Dot;
        let Some(end) = self.type_end(self.pos) else {
            // `bit<` and such that do not end: reading the type tells why.
            let starts_type = !is_name && self.is_type_at(self.pos);
            return if starts_type { Err(self.ty().err().unwrap_or(super::Stop)) } else { Ok(None) };
        };
        if self.kind_at(end) == TokenKind::OpenParen && is_name {
            return match self.closers[end] {
                Some(close) if self.names_instance(close as usize + 1) => {
                    self.instance(annotations, start).map(|i| Some(Decl::Instance(i)))
                }
                _ => Ok(None),
            };
        }
        let named = self.kind_at(end).is_name() || (self.kind_at(end).is_keyword() && !self.tokens[end].line_start);
        if !named && is_name {
            return Ok(None);
        }
        if self.kind() == TokenKind::Error && self.kind_at(end) == TokenKind::Dot {
            return Ok(None);
        }
        let decl = self.variable(annotations, start)?;
        self.semicolon("the declaration of a variable")?;
        Ok(Some(Decl::Var(VarDecl { span: self.since(start), ..decl })))
    }

    /// Whether what is at `index`, behind `name(...)`, is the name of an instance. On a new line it may as well start
    /// the next statement, the `;` before it forgotten.
    fn names_instance(&self, index: usize) -> bool {
        let ends = match self.kind_at(index + 1) {
            TokenKind::Semicolon | TokenKind::OpenBracket => true,
            TokenKind::Assign => self.kind_at(index + 2) == TokenKind::OpenBrace,
            _ => false,
        };
        self.kind_at(index).is_name() && (ends || !self.tokens[index].line_start)
    }

    /// `type name = init`, without its `;`.
    fn variable(&mut self, annotations: Vec<Annotation>, start: Span) -> Parse<VarDecl> {
        let ty = self.ty()?;
        let (ty, name) = self.declarator(ty, "the name of a variable")?;
        let init = if self.take(TokenKind::Assign) { Some(self.expr()?) } else { None };
        self.declare(&name, false);
        Ok(VarDecl { annotations, ty, name, init, span: self.since(start) })
    }

    /// `(condition)`.
    fn condition(&mut self) -> Parse<Expr> {
        let open = self.expect(TokenKind::OpenParen)?;
        let cond = self.expr()?;
        self.expect_close(open, TokenKind::CloseParen, "")?;
        Ok(cond)
    }

    fn if_else(&mut self) -> Parse<StmtKind> {
        let outer = self.else_ifs;
        let result = self.if_chain();
        self.else_ifs = outer;
        result
    }

    /// `if`, all its `else if` and the last `else`. A loop, since generated programs have hundreds in a row.
    fn if_chain(&mut self) -> Parse<StmtKind> {
        let mut arms = Vec::new();
        let mut otherwise = loop {
            let start = self.bump().span;
            let cond = self.condition()?;
            let then = Box::new(self.stmt()?);
            arms.push((start, cond, then));
            if !self.take(TokenKind::Else) {
                break None;
            }
            if self.kind() != TokenKind::If {
                break Some(Box::new(self.stmt()?));
            }
            self.else_ifs += 1;
            if self.else_ifs > MAX_ELSE_IFS {
                let error = Diagnostic::error(self.span(), format!("more than {MAX_ELSE_IFS} `else if` in a row"));
                return Err(self.report(error.help("use a `switch`")));
            }
        };
        let mut whole = StmtKind::Empty;
        while let Some((start, cond, then)) = arms.pop() {
            whole = StmtKind::If { cond, then, otherwise: otherwise.take() };
            if !arms.is_empty() {
                otherwise = Some(Box::new(Stmt { kind: whole, span: self.since(start) }));
                whole = StmtKind::Empty;
            }
        }
        Ok(whole)
    }

    fn switch(&mut self) -> Parse<StmtKind> {
        self.bump();
        let subject = self.condition()?;
        let cases = self.braced(Self::switch_case)?;
        Ok(StmtKind::Switch { subject, cases })
    }

    fn switch_case(&mut self) -> Parse<SwitchCase> {
        let start = self.span();
        let label =
            if self.take(TokenKind::Default) { SwitchLabel::Default(start) } else { SwitchLabel::Expr(self.expr()?) };
        self.expect(TokenKind::Colon)?;
        let has_body = matches!(self.kind(), TokenKind::OpenBrace | TokenKind::At);
        let body = if has_body {
            let start = self.span();
            let annotations = self.annotations()?;
            Some(self.annotated_block(annotations, start)?)
        } else {
            None
        };
        Ok(SwitchCase { label, body, span: self.since(start) })
    }

    fn for_loop(&mut self, annotations: Vec<Annotation>) -> Parse<StmtKind> {
        self.bump();
        let open = self.expect(TokenKind::OpenParen)?;
        let start = self.span();
        let var_annotations = self.annotations()?;
        if let Some(end) = self.type_end(self.pos)
            && self.kind_at(end).is_name()
            && self.kind_at(end + 1) == TokenKind::In
        {
            let ty = self.ty()?;
            let name = self.name("the name of a variable")?;
            self.declare(&name, false);
            self.expect(TokenKind::In)?;
            let first = self.expr()?;
            let collection = if self.take(TokenKind::Range) {
                ForCollection::Range(first, self.expr()?)
            } else {
                ForCollection::Expr(first)
            };
            self.expect_close(open, TokenKind::CloseParen, "")?;
            let body = Box::new(self.stmt()?);
            return Ok(StmtKind::ForIn { annotations, var_annotations, ty, name, collection, body });
        }
        let mut init = Vec::new();
        if self.kind() != TokenKind::Semicolon {
            init.push(self.for_init(var_annotations, start)?);
            while self.take(TokenKind::Comma) {
                let start = self.span();
                let annotations = self.annotations()?;
                init.push(self.for_init(annotations, start)?);
            }
        }
        self.expect(TokenKind::Semicolon)?;
        let cond = self.expr()?;
        self.expect(TokenKind::Semicolon)?;
        let mut update = Vec::new();
        while self.kind() != TokenKind::CloseParen {
            let start = self.span();
            let kind = self.simple()?;
            update.push(Stmt { kind, span: self.since(start) });
            if !self.take(TokenKind::Comma) {
                break;
            }
        }
        self.expect_close(open, TokenKind::CloseParen, "`,` or ")?;
        let body = Box::new(self.stmt()?);
        Ok(StmtKind::For { annotations, init, cond, update, body })
    }

    /// A variable or an assignment or call at the start of a `for`.
    fn for_init(&mut self, annotations: Vec<Annotation>, start: Span) -> Parse<Stmt> {
        let end = self.type_end(self.pos);
        let kind = if end.is_some_and(|end| self.kind_at(end).is_name()) {
            StmtKind::Decl(Decl::Var(self.variable(annotations, start)?))
        } else {
            self.simple()?
        };
        Ok(Stmt { kind, span: self.since(start) })
    }
}
