//! What expressions may do and touch, found without writing code.

use std::collections::HashSet;

use hir::{
    Call, Callee, Direction, Expr, ExprKind, ExternParam, Program, Stmt, StmtKind, Transition, Type, VarId, VarKind,
};
use ir::Place;

use crate::context::{Binding, Lower};
use crate::layout::Shape;

/// Whether evaluating the expression can change anything or leave the block.
pub fn has_effects(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Call(_)
        | ExprKind::TableHit(_)
        | ExprKind::TableMiss(_)
        | ExprKind::StackNext(_)
        | ExprKind::StackLast(_) => true,
        _ => children(expr).into_iter().any(has_effects),
    }
}

/// Whether the expression is small and without effects, so that evaluating it in vain costs less than a branch.
pub fn is_cheap(expr: &Expr) -> bool {
    fn cost(expr: &Expr) -> usize {
        let own = match &expr.kind {
            ExprKind::Binary(hir::BinaryOp::Mul | hir::BinaryOp::Div | hir::BinaryOp::Mod, ..) => 6,
            ExprKind::Index(..) => 3,
            _ => 1,
        };
        own + children(expr).into_iter().map(cost).sum::<usize>()
    }
    !has_effects(expr) && cost(expr) <= 12
}

/// The expressions directly inside one.
fn children(expr: &Expr) -> Vec<&Expr> {
    match &expr.kind {
        ExprKind::Field(a, _)
        | ExprKind::TupleField(a, _)
        | ExprKind::StackNext(a)
        | ExprKind::StackLast(a)
        | ExprKind::StackLastIndex(a)
        | ExprKind::Slice { base: a, .. }
        | ExprKind::Unary(_, a)
        | ExprKind::Cast(a)
        | ExprKind::IsValid(a) => vec![a],
        ExprKind::Index(a, b) | ExprKind::Binary(_, a, b) | ExprKind::SliceFrom { base: a, start: b, .. } => vec![a, b],
        ExprKind::Ternary(a, b, c) => vec![a, b, c],
        ExprKind::Aggregate(items) => items.iter().collect(),
        _ => Vec::new(),
    }
}

/// The expressions inside an l-value that choose a part of it (indices, starts of slices) and have effects.
pub fn effectful_choices<'e>(target: &'e Expr, out: &mut Vec<&'e Expr>) {
    match &target.kind {
        ExprKind::Index(base, choice) | ExprKind::SliceFrom { base, start: choice, .. } => {
            effectful_choices(base, out);
            out.extend(has_effects(choice).then_some(&**choice));
        }
        ExprKind::Field(base, _)
        | ExprKind::TupleField(base, _)
        | ExprKind::Slice { base, .. }
        | ExprKind::StackNext(base)
        | ExprKind::StackLast(base) => effectful_choices(base, out),
        _ => {}
    }
}

/// Puts a variable where an expression of the source stands.
pub fn replace(expr: &mut Expr, what: &Expr, var: VarId) {
    if expr == what {
        expr.kind = ExprKind::Var(var);
        return;
    }
    match &mut expr.kind {
        ExprKind::Field(a, _)
        | ExprKind::TupleField(a, _)
        | ExprKind::StackNext(a)
        | ExprKind::StackLast(a)
        | ExprKind::StackLastIndex(a)
        | ExprKind::Slice { base: a, .. }
        | ExprKind::Unary(_, a)
        | ExprKind::Cast(a)
        | ExprKind::IsValid(a) => replace(a, what, var),
        ExprKind::Index(a, b) | ExprKind::Binary(_, a, b) | ExprKind::SliceFrom { base: a, start: b, .. } => {
            replace(a, what, var);
            replace(b, what, var);
        }
        _ => {}
    }
}

/// Bytes of the frame: first and one past the last.
pub type Extent = (u32, u32);

pub fn overlap(a: Extent, b: Extent) -> bool {
    a.0 < b.1 && b.0 < a.1
}

/// All bytes that `size` bytes at `place` may be.
pub fn extent(place: Place, size: u32) -> Extent {
    let more = place.index.map_or(0, |index| index.count.saturating_sub(1) * index.stride);
    (place.offset, place.offset + more + size)
}

impl Lower<'_> {
    /// The bytes that a variable or a part of one takes; `None` for any other expression.
    pub fn extent_of(&mut self, expr: &Expr) -> Option<Extent> {
        let size = self.layout(expr.ty).size;
        match &expr.kind {
            ExprKind::Var(var) => match self.binding(*var)? {
                Binding::Place(place) => Some(extent(place, size)),
                _ => None,
            },
            ExprKind::Field(base, index) | ExprKind::TupleField(base, index) => {
                let outer = self.extent_of(base)?;
                let layout = self.layout(base.ty);
                let (Shape::Struct(members) | Shape::Header(_, members) | Shape::Union(members)) = &layout.shape else {
                    return None;
                };
                // A base at an unknown index spans more than its own size.
                let exact = outer.1 - outer.0 == layout.size;
                let start = outer.0 + members.get(*index)?.offset;
                Some(if exact { (start, start + size) } else { outer })
            }
            ExprKind::Index(base, _) | ExprKind::StackNext(base) | ExprKind::StackLast(base) => self.extent_of(base),
            ExprKind::Slice { base, .. } | ExprKind::SliceFrom { base, .. } => self.extent_of(base),
            ExprKind::Cast(inner) if self.same_storage(inner.ty, expr.ty) => self.extent_of(inner),
            _ => None,
        }
    }

    pub fn same_storage(&self, a: hir::TypeId, b: hir::TypeId) -> bool {
        self.hir.types.stored(a) == self.hir.types.stored(b)
    }

    /// Whether evaluating the expression may read these bytes.
    pub fn may_read(&mut self, expr: &Expr, bytes: Extent) -> bool {
        if has_effects(expr) {
            return true;
        }
        if let Some(own) = self.extent_of(expr)
            && overlap(own, bytes)
        {
            return true;
        }
        children(expr).into_iter().any(|child| self.may_read(child, bytes))
    }
}

/// All variables that are assigned somewhere other than in their declaration.
pub fn written_vars(program: &Program) -> HashSet<VarId> {
    let mut walk = Written { program, vars: HashSet::new() };
    program.functions.iter().for_each(|(_, function)| walk.body(&function.body));
    program.actions.iter().for_each(|(_, action)| walk.body(&action.body));
    for (_, table) in program.tables.iter() {
        table.keys.iter().for_each(|key| walk.expr(&key.expr));
        for action in &table.actions {
            let params = &program.actions[action.action].params;
            for (arg, param) in action.args.iter().zip(params) {
                walk.arg(arg, direction(program, *param));
            }
        }
    }
    for (_, parser) in program.parsers.iter() {
        parser.locals.iter().filter_map(|local| local.init.as_ref()).for_each(|init| walk.expr(init));
        for state in &parser.states {
            walk.body(&state.body);
            if let Transition::Select { exprs, .. } = &state.transition {
                exprs.iter().for_each(|expr| walk.expr(expr));
            }
        }
    }
    for (_, control) in program.controls.iter() {
        control.locals.iter().filter_map(|local| local.init.as_ref()).for_each(|init| walk.expr(init));
        walk.body(&control.apply);
    }
    walk.vars
}

fn direction(program: &Program, param: VarId) -> Option<Direction> {
    match &program.vars[param].kind {
        VarKind::Param(direction) => *direction,
        _ => None,
    }
}

struct Written<'p> {
    program: &'p Program,
    vars: HashSet<VarId>,
}

impl Written<'_> {
    fn body(&mut self, body: &[Stmt]) {
        body.iter().for_each(|stmt| self.stmt(stmt));
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Assign(left, right) => {
                self.target(left);
                self.expr(right);
            }
            StmtKind::Declare(_, init) | StmtKind::Return(init) => init.iter().for_each(|init| self.expr(init)),
            StmtKind::Call(call) => self.expr(call),
            StmtKind::If { cond, then, otherwise } => {
                self.expr(cond);
                self.body(then);
                self.body(otherwise);
            }
            StmtKind::Block(body) => self.body(body),
            StmtKind::SwitchAction { cases, .. } => cases.iter().for_each(|case| self.body(&case.body)),
            StmtKind::SwitchValue { value, cases } => {
                self.expr(value);
                cases.iter().for_each(|case| self.body(&case.body));
            }
            StmtKind::For { init, cond, update, body } => {
                self.body(init);
                self.expr(cond);
                self.body(update);
                self.body(body);
            }
            StmtKind::ForRange { var, first, last, body } => {
                self.vars.insert(*var);
                self.expr(first);
                self.expr(last);
                self.body(body);
            }
            StmtKind::ForEach { var, items, body } => {
                self.vars.insert(*var);
                self.expr(items);
                self.body(body);
            }
            StmtKind::Break | StmtKind::Continue | StmtKind::Exit => {}
        }
    }

    /// The variable of which an l-value is a part.
    fn target(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Var(var) => {
                self.vars.insert(*var);
            }
            ExprKind::Index(base, index) | ExprKind::SliceFrom { base, start: index, .. } => {
                self.target(base);
                self.expr(index);
            }
            _ => children(expr).into_iter().for_each(|child| self.target(child)),
        }
    }

    fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Call(call) => self.call(call),
            _ => children(expr).into_iter().for_each(|child| self.expr(child)),
        }
    }

    fn arg(&mut self, arg: &Expr, direction: Option<Direction>) {
        match direction {
            Some(Direction::Out | Direction::InOut) => self.target(arg),
            _ => self.expr(arg),
        }
    }

    fn call(&mut self, call: &Call) {
        let program = self.program;
        let vars = |params: &[VarId]| params.iter().map(|param| direction(program, *param)).collect();
        let externs = |params: &[ExternParam]| params.iter().map(|param| param.direction).collect();
        let directions: Vec<Option<Direction>> = match &call.callee {
            Callee::Function(id) => vars(&program.functions[*id].params),
            Callee::Action(id) => vars(&program.actions[*id].params),
            Callee::ExternFn { function, .. } => externs(&program.extern_fns[*function].params),
            Callee::ExternMethod { object, method, .. } => match program.types.get(object.ty) {
                Type::Extern(id, _) => externs(&program.types.externs[*id].methods[*method].params),
                _ => Vec::new(),
            },
            // The type of a constructor parameter doesn't say its parameters' directions: assume the worst.
            Callee::ParserApply(object) => match program.types.get(object.ty) {
                Type::Parser(id) => vars(&program.parsers[*id].params),
                _ => vec![Some(Direction::InOut); call.args.len()],
            },
            Callee::ControlApply(object) => match program.types.get(object.ty) {
                Type::Control(id) => vars(&program.controls[*id].params),
                _ => vec![Some(Direction::InOut); call.args.len()],
            },
            Callee::TableApply(_) => Vec::new(),
            Callee::SetValid(target)
            | Callee::SetInvalid(target)
            | Callee::PushFront(target, _)
            | Callee::PopFront(target, _) => {
                self.target(target);
                Vec::new()
            }
        };
        for (index, arg) in call.args.iter().enumerate() {
            if let Some(arg) = arg {
                self.arg(arg, directions.get(index).copied().flatten());
            }
        }
    }
}
