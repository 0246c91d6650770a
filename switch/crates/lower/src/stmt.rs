//! Statements.

use std::collections::{HashMap, HashSet};

use hir::{ControlId, Expr, ExprKind, Stmt, StmtKind, ValueCase, VarId, VarKind};
use ir::{BinaryOp, BlockId, CompareOp, NoteKind, Operand, Terminator};
use num_bigint::BigInt;
use num_traits::ToPrimitive;

use crate::context::{Binding, Lower, R, fail, offset};
use crate::layout::Shape;
use crate::value::{FALSE, NARROW, Value, Values, number};

impl Lower<'_> {
    /// The locals and the `apply` of a control.
    pub fn control_body(&mut self, control: ControlId) -> R<()> {
        let decl = &self.hir.controls[control];
        self.clear_checksums();
        for local in &decl.locals {
            self.declare(local.var, local.init.as_ref())?;
        }
        self.statements(&decl.apply);
        Ok(())
    }

    /// Statements with a scope of their own.
    pub fn statements(&mut self, body: &[Stmt]) {
        let mark = self.b.mark();
        self.statements_open(body);
        self.b.release(mark);
    }

    /// Statements whose variables live on after them.
    pub fn statements_open(&mut self, body: &[Stmt]) {
        for stmt in body {
            if self.b.is_full() {
                let message =
                    "the program is too large once its controls and actions are written out where they are used";
                self.diagnostics.error(stmt.span, message);
                return;
            }
            let mark = self.b.mark();
            if let Err(error) = self.statement(stmt) {
                self.diagnostics.push(*error);
            }
            if !matches!(stmt.kind, StmtKind::Declare(..)) {
                self.b.release(mark);
            }
        }
    }

    fn statement(&mut self, stmt: &Stmt) -> R<()> {
        match &stmt.kind {
            StmtKind::Assign(left, right) => {
                self.note_source(NoteKind::Statement, stmt.span);
                self.assignment(left, right)
            }
            StmtKind::Declare(var, init) => {
                if init.is_some() {
                    self.note_source(NoteKind::Statement, stmt.span);
                }
                self.declare(*var, init.as_ref())
            }
            StmtKind::Call(expr) => self.call_statement(expr, stmt),
            StmtKind::If { cond, then, otherwise } => {
                let (yes, no, join) = (self.b.block(), self.b.block(), self.b.block());
                self.condition(cond, yes, no)?;
                for (block, kind, body) in [(yes, NoteKind::Holds, then), (no, NoteKind::Fails, otherwise)] {
                    self.b.enter(block);
                    self.note_source(kind, cond.span);
                    self.statements(body);
                    self.b.jump(join);
                }
                self.b.enter(join);
                Ok(())
            }
            StmtKind::Block(body) => {
                self.statements(body);
                Ok(())
            }
            StmtKind::SwitchAction { table, cases } => {
                let join = self.b.block();
                let mut default = join;
                let mut labels = HashMap::new();
                let mut bodies = Vec::new();
                for case in cases {
                    let block = self.b.block();
                    labels.extend(case.actions.iter().map(|action| (*action, block)));
                    if case.default {
                        default = block;
                    }
                    bodies.push((block, &case.body));
                }
                let label = |action: Option<usize>| action.and_then(|action| labels.get(&action)).copied();
                self.apply_and_go(*table, stmt.span, |action| label(action).unwrap_or(default))?;
                self.case_bodies(bodies, join);
                Ok(())
            }
            StmtKind::SwitchValue { value, cases } => {
                self.note_source(NoteKind::Condition, value.span);
                self.switch_value(value, cases)
            }
            StmtKind::For { init, cond, update, body } => {
                self.statements_open(init);
                let (head, inside, next, done) = (self.b.block(), self.b.block(), self.b.block(), self.b.block());
                self.b.jump(head);
                self.b.enter(head);
                self.fuel();
                self.condition(cond, inside, done)?;
                self.b.enter(inside);
                self.loop_body(body, done, next);
                self.b.jump(next);
                self.b.enter(next);
                self.statements(update);
                self.b.jump(head);
                self.b.enter(done);
                Ok(())
            }
            StmtKind::ForRange { var, first, last, body } => self.for_range(*var, first, last, body),
            StmtKind::ForEach { var, items, body } => self.for_each(*var, items, body),
            StmtKind::Break | StmtKind::Continue => {
                let Some((out, next)) = self.body.loops.last().copied() else {
                    return fail(stmt.span, "`break` and `continue` can only stand in a loop");
                };
                self.b.jump(if matches!(stmt.kind, StmtKind::Break) { out } else { next });
                Ok(())
            }
            StmtKind::Return(value) => {
                self.note_source(NoteKind::Statement, stmt.span);
                if let (Some(value), Some((place, ty))) = (value, self.body.slot) {
                    self.fill(value, place, ty)?;
                }
                self.b.jump(self.body.ret);
                Ok(())
            }
            StmtKind::Exit => {
                if self.reject.is_some() {
                    return fail(stmt.span, "`exit` cannot stand in a parser");
                }
                self.note_source(NoteKind::Statement, stmt.span);
                self.b.jump(self.exit);
                Ok(())
            }
        }
    }

    fn call_statement(&mut self, expr: &Expr, stmt: &Stmt) -> R<()> {
        match &expr.kind {
            ExprKind::Call(call) => {
                if !matches!(call.callee, hir::Callee::TableApply(_)) {
                    self.note_source(NoteKind::Statement, stmt.span);
                }
                self.call(call, expr).map(|_| ())
            }
            _ => self.expr(expr).map(|_| ()),
        }
    }

    /// Brings a variable to life.
    pub fn declare(&mut self, var: VarId, init: Option<&Expr>) -> R<()> {
        let decl = &self.hir.vars[var];
        if matches!(decl.kind, VarKind::Instance(_)) {
            return Ok(());
        }
        if let (Some(init), Some((0..=NARROW, _))) = (init, self.scalar_type(decl.ty))
            && !self.written.contains(&var)
            && self.same_storage(init.ty, decl.ty)
        {
            let value = self.scalar(init)?;
            self.env.insert(var, Binding::Value(value));
            return Ok(());
        }
        let place = self.alloc(decl.ty);
        match init {
            Some(init) => {
                self.name(place, var);
                self.fill(init, place, decl.ty)?;
            }
            None => {
                let bytes = self.layout(decl.ty).size;
                match self.scalar_type(decl.ty) {
                    Some((width @ 1..=NARROW, _)) => self.b.store(place, width, FALSE),
                    _ => self.zero(place, bytes),
                }
                self.name(place, var);
            }
        }
        self.env.insert(var, Binding::Place(place));
        Ok(())
    }

    fn case_bodies(&mut self, bodies: Vec<(BlockId, &Vec<Stmt>)>, join: BlockId) {
        for (block, body) in bodies {
            self.b.enter(block);
            self.statements(body);
            self.b.jump(join);
        }
        self.b.enter(join);
    }

    fn switch_value(&mut self, value: &Expr, cases: &[ValueCase]) -> R<()> {
        let width = self.width(value.ty, value.span)?;
        let subject = self.expr(value)?;
        let join = self.b.block();
        let mut default = join;
        let mut bodies = Vec::new();
        let mut labels: Vec<(&Expr, BlockId)> = Vec::new();
        for case in cases {
            let block = self.b.block();
            labels.extend(case.values.iter().map(|label| (label, block)));
            if case.default {
                default = block;
            }
            bodies.push((block, &case.body));
        }
        match subject {
            Value::Scalar(operand) if width > 0 => {
                let mut seen = HashSet::new();
                let mut cases = Vec::new();
                for (label, block) in labels {
                    let Some(bits) = self.constant_label(label, width) else {
                        return fail(label.span, "a label of `switch` must be a constant");
                    };
                    if seen.insert(bits) {
                        cases.push((bits, block));
                    }
                }
                self.b.end(Terminator::Switch { value: operand, width, cases, default });
            }
            subject => {
                for (label, block) in labels {
                    let label = self.expr(label)?;
                    let same = self.compare(CompareOp::Eq, width, &subject, &label);
                    let next = self.b.block();
                    self.b.branch(same, block, next);
                    self.b.enter(next);
                }
                self.b.jump(default);
            }
        }
        self.case_bodies(bodies, join);
        Ok(())
    }

    /// A constant of at most 128 bits.
    pub fn constant_label(&self, expr: &Expr, width: u32) -> Option<u128> {
        use hir::instances::Value as Constant;
        match self.constant(expr)? {
            Constant::Int(value) => self.constant_bits(&value, width).to_u128(),
            Constant::Bool(value) => Some(value.into()),
            Constant::EnumMember(_, index) => Some(index as u128),
            Constant::Error(index) => Some(self.error_code(index) as u128),
            _ => None,
        }
    }

    fn loop_body(&mut self, body: &[Stmt], done: BlockId, next: BlockId) {
        self.body.loops.push((done, next));
        self.statements(body);
        self.body.loops.pop();
    }

    fn for_range(&mut self, var: VarId, first: &Expr, last: &Expr, body: &[Stmt]) -> R<()> {
        let ty = self.hir.vars[var].ty;
        let width = self.width(ty, first.span)?;
        let less = if self.is_signed(ty) { CompareOp::LeS } else { CompareOp::LeU };
        let values = self.operands(&[first, last])?;
        let last = self.snapshot(values[1].clone(), ty);
        // The count is apart from the variable, which the body may change.
        let counter = self.alloc(ty);
        let place = self.alloc(ty);
        self.name(place, var);
        self.store(counter, width, &values[0]);
        self.env.insert(var, Binding::Place(place));
        let (head, next, step, done) = (self.b.block(), self.b.block(), self.b.block(), self.b.block());
        let any = self.compare(less, width, &values[0], &last);
        self.b.branch(any, head, done);
        self.b.enter(head);
        self.fuel();
        let current = self.load(counter, width);
        self.store(place, width, &current);
        self.loop_body(body, done, next);
        self.b.jump(next);
        // Comparing before adding: the last value may be the largest there is.
        self.b.enter(next);
        let current = self.load(counter, width);
        let end = self.compare(CompareOp::Eq, width, &current, &last);
        self.b.branch(end, done, step);
        self.b.enter(step);
        let more = self.binary(BinaryOp::Add, width, &current, &number(&BigInt::from(1), width));
        self.store(counter, width, &more);
        self.b.jump(head);
        self.b.enter(done);
        Ok(())
    }

    fn for_each(&mut self, var: VarId, items: &Expr, body: &[Stmt]) -> R<()> {
        let ty = self.hir.vars[var].ty;
        if let ExprKind::Cast(inner) = &items.kind {
            return self.for_each(var, inner, body);
        }
        if let ExprKind::Aggregate(list) = &items.kind {
            return self.for_list(var, list, body);
        }
        let spot = self.spot(items)?;
        let place = self.alloc(ty);
        self.name(place, var);
        self.env.insert(var, Binding::Place(place));
        let size = self.layout(ty).size;
        let layout = self.layout(items.ty);
        let done = self.b.block();
        match &layout.shape {
            Shape::Stack { count, stride, first, .. } => {
                let counter = self.b.alloc(4, 4);
                self.b.store(counter, 32, FALSE);
                let (head, inside, next) = (self.b.block(), self.b.block(), self.b.block());
                self.b.jump(head);
                self.b.enter(head);
                self.fuel();
                let index = self.b.load(counter, 32);
                let more = self.b.compare(CompareOp::LtU, 32, index, Operand::Imm((*count).into()));
                self.b.branch(more, inside, done);
                self.b.enter(inside);
                let element = self.element(spot.place, *first, *stride, *count, index);
                self.copy(place, element, size);
                self.loop_body(body, done, next);
                self.b.jump(next);
                self.b.enter(next);
                let index = self.b.load(counter, 32);
                let index = self.b.binary(BinaryOp::Add, 32, index, Operand::Imm(1));
                self.b.store(counter, 32, index);
                self.b.jump(head);
            }
            Shape::Struct(members) => {
                for member in members {
                    let next = self.b.block();
                    self.copy(place, offset(spot.place, member.offset), size);
                    self.loop_body(body, done, next);
                    self.b.jump(next);
                    self.b.enter(next);
                }
                self.b.jump(done);
            }
            _ => return fail(items.span, "a loop goes over a range, a list or a stack"),
        }
        self.b.enter(done);
        Ok(())
    }

    /// A loop over a list that stands in the source: its values are all taken before the first turn.
    fn for_list(&mut self, var: VarId, list: &[Expr], body: &[Stmt]) -> R<()> {
        let ty = self.hir.vars[var].ty;
        let mut values = Vec::with_capacity(list.len());
        for item in list {
            let value = self.alloc(ty);
            self.fill(item, value, ty)?;
            values.push(value);
        }
        let place = self.alloc(ty);
        self.name(place, var);
        self.env.insert(var, Binding::Place(place));
        let size = self.layout(ty).size;
        let done = self.b.block();
        for value in values {
            let next = self.b.block();
            self.copy(place, value, size);
            self.loop_body(body, done, next);
            self.b.jump(next);
            self.b.enter(next);
        }
        self.b.jump(done);
        self.b.enter(done);
        Ok(())
    }
}
