//! Statements.

use hir::{ActionCase, ExprKind, Stmt, StmtKind, TableId, Type, ValueCase, Var, VarKind};
use syntax::ast;
use syntax::source::Span;

use crate::checker::{Checker, Place};
use crate::fold;
use crate::scope::Symbol;

impl<'a> Checker<'a> {
    pub fn block(&mut self, block: &'a ast::Block) -> Vec<Stmt> {
        self.scoped(|checker| checker.statements(&block.stmts))
    }

    /// Statements in the scope that is open.
    pub fn statements(&mut self, stmts: &'a [ast::Stmt]) -> Vec<Stmt> {
        let mut out = Vec::new();
        for stmt in stmts {
            match &stmt.kind {
                ast::StmtKind::Decl(ast::Decl::Var(decl)) => self.check_hides_no_parameter(&decl.name),
                ast::StmtKind::Decl(ast::Decl::Const(decl)) => self.check_hides_no_parameter(&decl.name),
                _ => {}
            }
            self.statement(stmt, &mut out);
        }
        out
    }

    fn statement(&mut self, stmt: &'a ast::Stmt, out: &mut Vec<Stmt>) {
        let kind = self.deeper(stmt.span, |checker| checker.statement_kind(stmt)).flatten();
        if let Some(kind) = kind {
            out.push(Stmt { kind, span: stmt.span });
        }
    }

    /// A statement that may be a single one or a block, in a scope of its own.
    fn body(&mut self, stmt: &'a ast::Stmt) -> Vec<Stmt> {
        match &stmt.kind {
            ast::StmtKind::Block(block) => self.block(block),
            _ => self.scoped(|checker| {
                let mut out = Vec::new();
                checker.statement(stmt, &mut out);
                out
            }),
        }
    }

    fn statement_kind(&mut self, stmt: &'a ast::Stmt) -> Option<StmtKind> {
        match &stmt.kind {
            ast::StmtKind::Empty => None,
            ast::StmtKind::Decl(decl) => self.local_declaration(decl),
            ast::StmtKind::Assign { target, op, value } => self.assignment(target, *op, value, stmt.span),
            ast::StmtKind::Call(call) => {
                let value = self.expr(call, None);
                match value.kind {
                    ExprKind::Call(_) => Some(StmtKind::Call(value)),
                    ExprKind::New(_) => {
                        self.error_help(
                            call.span,
                            "this makes an instance that nothing uses",
                            "give it a name, and declare it among the locals".into(),
                        );
                        None
                    }
                    // What is left, `isValid()` and the like, has no effect.
                    _ => None,
                }
            }
            ast::StmtKind::If { cond, then, otherwise } => {
                let cond = self.expr(cond, None);
                let cond = self.condition(cond);
                let then = self.body(then);
                let otherwise = otherwise.as_ref().map(|stmt| self.body(stmt)).unwrap_or_default();
                Some(StmtKind::If { cond, then, otherwise })
            }
            ast::StmtKind::Block(block) => Some(StmtKind::Block(self.block(block))),
            ast::StmtKind::Switch { subject, cases } => self.switch(subject, cases, stmt.span),
            ast::StmtKind::For { init, cond, update, body, .. } => Some(self.scoped(|checker| {
                let mut first = Vec::new();
                init.iter().for_each(|stmt| checker.statement(stmt, &mut first));
                let cond = checker.expr(cond, None);
                let cond = checker.condition(cond);
                let update = checker.statements(update);
                checker.body.loops += 1;
                let body = checker.body(body);
                checker.body.loops -= 1;
                StmtKind::For { init: first, cond, update, body }
            })),
            ast::StmtKind::ForIn { var_annotations, ty, name, collection, body, .. } => {
                self.for_in(var_annotations, ty, name, collection, body)
            }
            ast::StmtKind::Break | ast::StmtKind::Continue => {
                let is_break = stmt.kind == ast::StmtKind::Break;
                if self.body.loops == 0 {
                    let word = if is_break { "break" } else { "continue" };
                    self.error(stmt.span, format!("`{word}` outside of a loop"));
                    return None;
                }
                Some(if is_break { StmtKind::Break } else { StmtKind::Continue })
            }
            ast::StmtKind::Return(value) => self.return_statement(value.as_ref(), stmt.span),
            ast::StmtKind::Exit => {
                if self.body.place == Place::Parser {
                    self.error_help(
                        stmt.span,
                        "`exit` cannot be used in a parser",
                        "write `transition reject;`".into(),
                    );
                    return None;
                }
                Some(StmtKind::Exit)
            }
        }
    }

    fn local_declaration(&mut self, decl: &'a ast::Decl) -> Option<StmtKind> {
        match decl {
            ast::Decl::Var(decl) => {
                let (var, init) = self.variable(decl);
                Some(StmtKind::Declare(var, init))
            }
            ast::Decl::Const(decl) => {
                let (var, init) = self.constant(decl)?;
                Some(StmtKind::Declare(var, Some(init)))
            }
            ast::Decl::Instance(decl) => {
                let var = self.instance(decl)?;
                self.body.locals.push(hir::Local { var, init: None });
                None
            }
            other => {
                self.error(other.span(), "this cannot be declared among statements");
                None
            }
        }
    }

    fn assignment(
        &mut self,
        target: &'a ast::Expr,
        op: Option<ast::BinaryOp>,
        value: &'a ast::Expr,
        span: Span,
    ) -> Option<StmtKind> {
        let target = self.expr(target, None);
        let poisoned = self.is_poison(&target);
        if !poisoned && !self.check_writable(&target, "this cannot be assigned to") {
            self.expr(value, None);
            return None;
        }
        let value = match op {
            None => self.expr_of(value, target.ty),
            Some(op) => {
                let right = self.expr(value, None);
                let value = self.binary(op, target.clone(), right, span);
                self.coerce(value, target.ty)
            }
        };
        if poisoned || self.is_poison(&value) {
            return None;
        }
        Some(StmtKind::Assign(target, value))
    }

    fn for_in(
        &mut self,
        annotations: &'a [ast::Annotation],
        ty: &'a ast::Type,
        name: &'a ast::Ident,
        collection: &'a ast::ForCollection,
        body: &'a ast::Stmt,
    ) -> Option<StmtKind> {
        let item = self.resolve_type(ty);
        if !self.storable(item) {
            let found = self.name(item);
            self.error(ty.span, format!("there are no variables of type `{found}`"));
            return None;
        }
        // The collection is outside the scope of the variable.
        let (first, last) = match collection {
            ast::ForCollection::Range(first, last) => {
                if item != self.basic.any && fold::width(self.ty(self.prog.types.stored(item))).is_none() {
                    let found = self.name(item);
                    self.error(ty.span, format!("a range is made of numbers, not of `{found}`"));
                    return None;
                }
                (self.expr_of(first, item), Some(self.expr_of(last, item)))
            }
            ast::ForCollection::Expr(items) => (self.collection(items, item)?, None),
        };
        self.scoped(|checker| {
            let annotations = checker.annotations(annotations);
            let var = checker.new_var(Var {
                name: name.name.clone(),
                ty: item,
                kind: VarKind::Local,
                default: None,
                annotations,
                span: name.span,
            });
            checker.declare(name, Symbol::Var(var));
            checker.body.loops += 1;
            let body = checker.body(body);
            checker.body.loops -= 1;
            Some(match last {
                Some(last) => StmtKind::ForRange { var, first, last, body },
                None => StmtKind::ForEach { var, items: first, body },
            })
        })
    }

    /// What a `for` goes through: a stack, or a list of items of the variable's type.
    fn collection(&mut self, items: &'a ast::Expr, item: hir::TypeId) -> Option<hir::Expr> {
        let list = self.list_type(item);
        let items = self.expr(items, Some(list));
        if self.is_poison(&items) {
            return None;
        }
        if let Type::Stack(element, _) = *self.ty(items.ty)
            && element == item
        {
            return Some(items);
        }
        match self.convert(items, list) {
            Ok(items) => Some(items),
            Err(items) => {
                let (have, want) = (self.describe(&items), self.name(item));
                self.error(items.span, format!("expected a stack or a list of `{want}`, found {have}"));
                None
            }
        }
    }

    fn return_statement(&mut self, value: Option<&'a ast::Expr>, span: Span) -> Option<StmtKind> {
        if self.body.place == Place::Parser {
            self.error_help(span, "`return` cannot be used in a parser", "write `transition accept;`".into());
            return None;
        }
        let (void, ret) = (self.basic.void, self.body.ret);
        match value {
            None if ret != void => {
                let want = self.name(ret);
                self.error(span, format!("expected a value of type `{want}` to return"));
                None
            }
            None => Some(StmtKind::Return(None)),
            Some(value) if ret == void => {
                self.expr(value, None);
                self.error(value.span, "nothing can be returned here");
                None
            }
            Some(value) => {
                let value = self.expr_of(value, ret);
                Some(StmtKind::Return(Some(value)))
            }
        }
    }

    fn switch(&mut self, subject: &'a ast::Expr, cases: &'a [ast::SwitchCase], span: Span) -> Option<StmtKind> {
        if self.body.place == Place::Parser {
            self.error_help(span, "`switch` cannot be used in a parser", "write `transition select`".into());
            return None;
        }
        if let Some(at) = cases.iter().position(|case| matches!(case.label, ast::SwitchLabel::Default(_)))
            && at + 1 != cases.len()
        {
            self.error(cases[at].span, "`default` must be the last case of a `switch`");
        }
        if let ast::ExprKind::Member { base, member } = &subject.kind
            && member.name == "action_run"
            && matches!(base.kind, ast::ExprKind::Call { .. })
        {
            let applied = self.expr(base, None);
            if let Type::TableResult(table) = *self.ty(applied.ty) {
                return Some(self.switch_action(table, cases));
            }
            if !self.is_poison(&applied) {
                let found = self.describe(&applied);
                self.error(subject.span, format!("only the result of a table has `action_run`, found {found}"));
            }
            return None;
        }
        let value = self.expr(subject, None);
        self.switch_value(value, cases)
    }

    fn switch_action(&mut self, table: TableId, cases: &'a [ast::SwitchCase]) -> StmtKind {
        let mut merged = Vec::new();
        let mut actions: Vec<usize> = Vec::new();
        let mut seen: Vec<usize> = Vec::new();
        let mut default = false;
        for case in cases {
            match &case.label {
                ast::SwitchLabel::Default(_) => default = true,
                ast::SwitchLabel::Expr(label) => {
                    if let Some(index) = self.action_label(table, label) {
                        if seen.contains(&index) {
                            self.error(label.span, "this action has a case already");
                        }
                        seen.push(index);
                        actions.push(index);
                    }
                }
            }
            if let Some(body) = &case.body {
                let body = self.block(body);
                merged.push(ActionCase { actions: std::mem::take(&mut actions), default, body });
                default = false;
            }
        }
        StmtKind::SwitchAction { table, cases: merged }
    }

    fn action_label(&mut self, table: TableId, label: &'a ast::Expr) -> Option<usize> {
        let ast::ExprKind::Path(path) = &label.kind else {
            self.error(label.span, "a case of `action_run` is the name of an action");
            return None;
        };
        let symbol = self.lookup(path, "action", |s| matches!(s, Symbol::Action(_)));
        let Symbol::Action(action) = symbol else {
            if !matches!(symbol, Symbol::Poison) {
                let message = format!("`{}` is {}, not an action", path.name.name, symbol.what());
                self.error_at(label.span, message, &self.declared_here(path));
            }
            return None;
        };
        let decl = &self.prog.tables[table];
        let index = decl.actions.iter().position(|listed| listed.action == action);
        if index.is_none() {
            let message = format!("the table `{}` has no action `{}`", decl.name, path.name.name);
            let labels = [(decl.span, format!("`{}` is declared here", decl.name))];
            self.error_at(label.span, message, &labels);
        }
        index
    }

    fn switch_value(&mut self, value: hir::Expr, cases: &'a [ast::SwitchCase]) -> Option<StmtKind> {
        if self.is_poison(&value) {
            return None;
        }
        let ty = value.ty;
        let stored = self.prog.types.stored(ty);
        if !matches!(self.ty(stored), Type::Bit(_) | Type::Signed(_) | Type::Enum(_) | Type::Error | Type::Bool) {
            let found = self.describe(&value);
            self.error(value.span, format!("a `switch` goes by a number, enum, error or bool, found {found}"));
            return None;
        }
        let mut merged = Vec::new();
        let mut values: Vec<hir::Expr> = Vec::new();
        let mut seen: Vec<hir::Expr> = Vec::new();
        let mut default = false;
        for case in cases {
            match &case.label {
                ast::SwitchLabel::Default(_) => default = true,
                ast::SwitchLabel::Expr(label) => {
                    let label = self.expr_of(label, ty);
                    if self.is_poison(&label) {
                        continue;
                    }
                    if !self.known_at_compile_time(&label) {
                        self.error(label.span, "a case of a `switch` must be a constant");
                        continue;
                    }
                    if let Some(before) = seen.iter().find(|before| fold::const_eq(before, &label)) {
                        let labels = [(before.span, "first here".to_owned())];
                        self.error_at(label.span, "this value has a case already", &labels);
                        continue;
                    }
                    seen.push(label.clone());
                    values.push(label);
                }
            }
            if let Some(body) = &case.body {
                let body = self.block(body);
                merged.push(ValueCase { values: std::mem::take(&mut values), default, body });
                default = false;
            }
        }
        Some(StmtKind::SwitchValue { value, cases: merged })
    }
}

/// Whether the end of the statements is never reached.
pub fn always_leaves(stmts: &[Stmt]) -> bool {
    stmts.iter().any(|stmt| match &stmt.kind {
        StmtKind::Return(_) | StmtKind::Exit => true,
        StmtKind::Block(body) => always_leaves(body),
        StmtKind::If { then, otherwise, .. } => always_leaves(then) && always_leaves(otherwise),
        StmtKind::SwitchValue { cases, .. } => {
            cases.iter().any(|case| case.default) && cases.iter().all(|case| always_leaves(&case.body))
        }
        StmtKind::SwitchAction { cases, .. } => {
            cases.iter().any(|case| case.default) && cases.iter().all(|case| always_leaves(&case.body))
        }
        _ => false,
    })
}
