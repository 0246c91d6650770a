//! What of a program the control plane can see, in p4c's order.
//!
//! p4c writes P4Info after its front end has removed what is never reached and has written sub-controls out where
//! they are declared. So a table that is not applied is not there, nor is an action that no such table lists; an extern
//! object is there if the parser or control that holds it is.

use std::collections::HashSet;

use hir::instances::{InstanceId, InstanceKind, Instances, TableInstance, Value, full_name};
use hir::{
    ActionId, Call, Callee, ControlId, Expr, ExprKind, KeySet, ParserId, Program, StateRef, Stmt, StmtKind, TableId,
    Transition, Type, TypeId, ValueSetId,
};
use syntax::source::Span;

use crate::types::control_plane_name;

/// The visible objects.
#[derive(Debug, Default)]
pub struct Visible<'p> {
    /// Extern objects of the top level.
    pub globals: Vec<InstanceId>,
    /// The blocks of the package.
    pub blocks: Vec<Block<'p>>,
}

/// The visible objects of a parser or control of the package and of all below it.
#[derive(Debug, Default)]
pub struct Block<'p> {
    pub externs: Vec<InstanceId>,
    pub tables: Vec<Table<'p>>,
    pub actions: Vec<Action>,
    pub value_sets: Vec<(ValueSetId, &'p str)>,
    /// The types of the data of the calls of `digest`.
    pub digests: Vec<TypeId>,
    /// A control calls an extern function.
    pub calls_extern: bool,
}

#[derive(Debug, Clone, Copy)]
pub struct Table<'p> {
    pub control: InstanceId,
    pub table: &'p TableInstance,
}

/// An action that a table lists or a control calls.
#[derive(Debug, Clone)]
pub struct Action {
    pub control: InstanceId,
    pub action: ActionId,
    pub name: String,
    /// A table lists it, so the control plane gives its parameters.
    pub listed: bool,
}

/// The full name of an action that a table of the control instance lists.
pub fn action_name(program: &Program, instances: &Instances, control: InstanceId, action: ActionId) -> String {
    let own = instances.get(control).actions.iter().find(|(own, _)| *own == action);
    own.map_or_else(
        || {
            let decl = &program.actions[action];
            full_name("", &decl.name, &decl.annotations)
        },
        |(_, name)| name.clone(),
    )
}

/// The control instance that declares an action; none for one of the top level.
fn action_owner(instances: &Instances, control: InstanceId, action: ActionId) -> Option<InstanceId> {
    instances.get(control).actions.iter().any(|(own, _)| *own == action).then_some(control)
}

/// Finds all that is visible.
pub fn visible<'p>(program: &'p Program, instances: &'p Instances) -> Visible<'p> {
    let is_extern = |id: &InstanceId| matches!(instances.get(*id).kind, InstanceKind::Extern(_));
    let tops = instances.iter().filter(|(_, instance)| instance.parent.is_none()).map(|(id, _)| id);
    let mut out = Visible { globals: tops.filter(is_extern).collect(), blocks: Vec::new() };
    for &block in instances.blocks.iter().flatten() {
        let mut walk = Walk { program, instances, reached: Reached::default(), in_action: false, exit_ends: false };
        walk.instance(block);
        let mut found = Block::default();
        walk.gather(block, &mut found);
        found.actions.splice(0..0, walk.global_actions(&found));
        if matches!(instances.get(block).kind, InstanceKind::Control(_)) {
            let in_body = std::mem::take(&mut walk.reached.digests);
            walk.action_bodies(&found);
            found.digests = walk.reached.digests;
            found.digests.extend(in_body);
            found.calls_extern = walk.reached.calls_extern;
        }
        out.blocks.push(found);
    }
    out
}

/// What the code of a block reaches.
#[derive(Default)]
struct Reached {
    instances: HashSet<InstanceId>,
    tables: HashSet<(InstanceId, TableId)>,
    value_sets: HashSet<(InstanceId, ValueSetId)>,
    /// Calls of actions outside actions.
    action_calls: Vec<(InstanceId, ActionId)>,
    digests: Vec<TypeId>,
    calls_extern: bool,
}

struct Walk<'p> {
    program: &'p Program,
    instances: &'p Instances,
    reached: Reached,
    in_action: bool,
    /// p4c drops what stands behind `exit` only where it has to write out a `return` in the same code.
    exit_ends: bool,
}

/// An object of a control or parser, by where it stands.
enum Item {
    Instance(InstanceId),
    Table(usize),
    Action(usize),
    ValueSet(usize),
}

impl<'p> Walk<'p> {
    /// Lists what `id` and the instances in it hold, in the order of the source.
    fn gather(&self, id: InstanceId, out: &mut Block<'p>) {
        let instance = self.instances.get(id);
        let in_tables: HashSet<InstanceId> =
            instance.tables.iter().flat_map(|table| &table.objects).map(|(_, object)| *object).collect();
        let children = self
            .instances
            .iter()
            .filter(|(child, inner)| inner.parent == Some(id) && (inner.var.is_some() || !in_tables.contains(child)));
        let mut items: Vec<(Span, Item)> = children.map(|(child, inner)| (inner.span, Item::Instance(child))).collect();
        for (index, table) in instance.tables.iter().enumerate() {
            items.push((self.program.tables[table.table].span, Item::Table(index)));
        }
        for (index, (action, _)) in instance.actions.iter().enumerate() {
            items.push((self.program.actions[*action].span, Item::Action(index)));
        }
        for (index, (set, _)) in instance.value_sets.iter().enumerate() {
            items.push((self.program.value_sets[*set].span, Item::ValueSet(index)));
        }
        items.sort_by_key(|(span, _)| span.start);
        let tables = instance.tables.iter().filter(|table| self.reached.tables.contains(&(id, table.table)));
        let listed: HashSet<ActionId> =
            tables.flat_map(|table| &self.program.tables[table.table].actions).map(|listed| listed.action).collect();
        for (_, item) in items {
            match item {
                Item::Instance(child) => match self.instances.get(child).kind {
                    InstanceKind::Extern(_) => out.externs.push(child),
                    _ if self.reached.instances.contains(&child) => self.gather(child, out),
                    _ => {}
                },
                Item::Table(index) => {
                    let table = &instance.tables[index];
                    if self.reached.tables.contains(&(id, table.table)) {
                        out.tables.push(Table { control: id, table });
                    }
                }
                Item::Action(index) => {
                    let (action, name) = &instance.actions[index];
                    let listed = listed.contains(action);
                    if listed || self.reached.action_calls.contains(&(id, *action)) {
                        out.actions.push(Action { control: id, action: *action, name: name.clone(), listed });
                    }
                }
                Item::ValueSet(index) => {
                    let (set, name) = &instance.value_sets[index];
                    if self.reached.value_sets.contains(&(id, *set)) {
                        out.value_sets.push((*set, name));
                    }
                }
            }
        }
    }

    /// Actions of the top level become actions of the control, in front of its own, in the order of their use.
    fn global_actions(&self, block: &Block<'p>) -> Vec<Action> {
        let mut out: Vec<Action> = Vec::new();
        let tables = block.tables.iter();
        let listed = tables.flat_map(|table| {
            let actions = &self.program.tables[table.table.table].actions;
            actions.iter().map(|listed| (table.control, listed.action, true))
        });
        let called = self.reached.action_calls.iter().map(|(control, action)| (*control, *action, false));
        for (control, action, listed) in listed.chain(called) {
            let is_own = self.instances.get(control).actions.iter().any(|(own, _)| *own == action);
            if !is_own && !out.iter().any(|other| other.action == action) {
                let name = action_name(self.program, self.instances, control, action);
                out.push(Action { control, action, name, listed });
            }
        }
        out
    }

    /// Looks for digests in the actions, which p4c keeps apart from the code that calls them.
    fn action_bodies(&mut self, block: &Block<'p>) {
        self.in_action = true;
        for action in &block.actions {
            // Each table that lists the action and each call has a copy of its own.
            let owner = action_owner(self.instances, action.control, action.action);
            let is_same = |control: InstanceId, other: ActionId| {
                other == action.action && owner == action_owner(self.instances, control, other)
            };
            let lists = |table: &&Table| {
                let actions = &self.program.tables[table.table.table].actions;
                actions.iter().any(|listed| is_same(table.control, listed.action))
            };
            let calls = self.reached.action_calls.iter().filter(|(control, other)| is_same(*control, *other));
            for _ in 0..block.tables.iter().filter(lists).count() + calls.count() {
                self.code(action.control, &self.program.actions[action.action].body);
            }
        }
        self.in_action = false;
    }

    /// Walks a block once for each time it is applied, as its code is written out each time. The compiler bounds that.
    fn instance(&mut self, id: InstanceId) {
        self.reached.instances.insert(id);
        match self.instances.get(id).kind {
            InstanceKind::Parser(parser) => self.parser(id, parser),
            InstanceKind::Control(control) => self.control(id, control),
            InstanceKind::Extern(_) => {}
        }
    }

    fn control(&mut self, id: InstanceId, control: ControlId) {
        let decl = &self.program.controls[control];
        for local in &decl.locals {
            local.init.iter().for_each(|init| self.expr(id, init));
        }
        self.code(id, &decl.apply);
    }

    fn parser(&mut self, id: InstanceId, parser: ParserId) {
        let decl = &self.program.parsers[parser];
        for local in &decl.locals {
            local.init.iter().for_each(|init| self.expr(id, init));
        }
        let mut reached = vec![false; decl.states.len()];
        let mut next: Vec<usize> = decl.states.iter().position(|state| state.name == "start").into_iter().collect();
        while let Some(index) = next.pop() {
            if std::mem::replace(&mut reached[index], true) {
                continue;
            }
            let state = &decl.states[index];
            self.code(id, &state.body);
            match &state.transition {
                Transition::Direct(StateRef::State(to)) => next.push(*to),
                Transition::Direct(_) => {}
                Transition::Select { exprs, cases } => {
                    exprs.iter().for_each(|expr| self.expr(id, expr));
                    for case in cases {
                        for key in &case.keys {
                            if let KeySet::ValueSet(set) = key {
                                self.reached.value_sets.insert((id, *set));
                            }
                        }
                        if let StateRef::State(to) = case.target {
                            next.push(to);
                        }
                    }
                }
            }
        }
    }

    fn constant(&self, scope: InstanceId, expr: &Expr) -> Option<Value> {
        self.instances.evaluate(self.program, Some(scope), expr)
    }

    /// Walks the whole code of a control, action, function or state.
    fn code(&mut self, scope: InstanceId, body: &[Stmt]) {
        let outer = std::mem::replace(&mut self.exit_ends, returns(body));
        self.body(scope, body);
        self.exit_ends = outer;
    }

    /// Walks statements; says whether control never comes out behind them.
    fn body(&mut self, scope: InstanceId, body: &[Stmt]) -> bool {
        body.iter().any(|stmt| self.stmt(scope, stmt))
    }

    fn stmt(&mut self, scope: InstanceId, stmt: &Stmt) -> bool {
        match &stmt.kind {
            StmtKind::Assign(left, right) => {
                self.expr(scope, left);
                self.expr(scope, right);
            }
            StmtKind::Declare(_, init) => init.iter().for_each(|init| self.expr(scope, init)),
            StmtKind::Call(call) => self.expr(scope, call),
            StmtKind::If { cond, then, otherwise } => match self.constant(scope, cond) {
                Some(Value::Bool(true)) => return self.body(scope, then),
                Some(Value::Bool(false)) => return self.body(scope, otherwise),
                _ => {
                    self.expr(scope, cond);
                    let then = self.body(scope, then);
                    return self.body(scope, otherwise) && then;
                }
            },
            StmtKind::Block(body) => return self.body(scope, body),
            StmtKind::SwitchAction { table, cases } => {
                self.table(scope, *table);
                let ends: Vec<bool> = cases.iter().map(|case| self.body(scope, &case.body)).collect();
                return cases.iter().any(|case| case.default) && ends.iter().all(|end| *end);
            }
            StmtKind::SwitchValue { value, cases } => {
                self.expr(scope, value);
                let value = self.constant(scope, value);
                let matches = |walk: &Self, case: &hir::ValueCase| {
                    value.is_some() && case.values.iter().any(|label| walk.constant(scope, label) == value)
                };
                if value.is_some() {
                    let chosen = cases.iter().find(|case| matches(self, case));
                    let chosen = chosen.or_else(|| cases.iter().find(|case| case.default));
                    return chosen.is_some_and(|case| self.body(scope, &case.body));
                }
                let ends: Vec<bool> = cases.iter().map(|case| self.body(scope, &case.body)).collect();
                return cases.iter().any(|case| case.default) && ends.iter().all(|end| *end);
            }
            StmtKind::For { init, cond, update, body } => {
                self.body(scope, init);
                self.expr(scope, cond);
                self.body(scope, body);
                self.body(scope, update);
            }
            StmtKind::ForRange { first, last, body, .. } => {
                self.expr(scope, first);
                self.expr(scope, last);
                self.body(scope, body);
            }
            StmtKind::ForEach { items, body, .. } => {
                self.expr(scope, items);
                self.body(scope, body);
            }
            StmtKind::Return(value) => {
                value.iter().for_each(|value| self.expr(scope, value));
                return true;
            }
            StmtKind::Exit => return self.exit_ends,
            StmtKind::Break | StmtKind::Continue => {}
        }
        false
    }

    fn expr(&mut self, scope: InstanceId, expr: &Expr) {
        match &expr.kind {
            ExprKind::Field(base, _)
            | ExprKind::TupleField(base, _)
            | ExprKind::StackNext(base)
            | ExprKind::StackLast(base)
            | ExprKind::StackLastIndex(base)
            | ExprKind::Slice { base, .. }
            | ExprKind::Unary(_, base)
            | ExprKind::Cast(base)
            | ExprKind::IsValid(base) => self.expr(scope, base),
            ExprKind::Index(a, b) | ExprKind::SliceFrom { base: a, start: b, .. } | ExprKind::Binary(_, a, b) => {
                self.expr(scope, a);
                self.expr(scope, b);
            }
            ExprKind::Ternary(cond, yes, no) => match self.constant(scope, cond) {
                Some(Value::Bool(true)) => self.expr(scope, yes),
                Some(Value::Bool(false)) => self.expr(scope, no),
                _ => [cond, yes, no].into_iter().for_each(|part| self.expr(scope, part)),
            },
            ExprKind::Aggregate(parts) => parts.iter().for_each(|part| self.expr(scope, part)),
            ExprKind::TableHit(table) | ExprKind::TableMiss(table) => self.table(scope, *table),
            ExprKind::Call(call) => self.call(scope, call),
            _ => {}
        }
    }

    fn call(&mut self, scope: InstanceId, call: &Call) {
        call.args.iter().flatten().for_each(|arg| self.expr(scope, arg));
        match &call.callee {
            Callee::Function(function) => self.code(scope, &self.program.functions[*function].body),
            // An action that another calls is written out there.
            Callee::Action(action) if self.in_action => self.code(scope, &self.program.actions[*action].body),
            Callee::Action(action) => self.reached.action_calls.push((scope, *action)),
            Callee::ExternFn { function, type_args } => {
                self.reached.calls_extern = true;
                if self.program.extern_fns[*function].name == "digest"
                    && let [ty] = type_args[..]
                {
                    self.reached.digests.push(ty);
                }
            }
            Callee::ParserApply(object) | Callee::ControlApply(object) => {
                if let Some(Value::Instance(id)) = self.constant(scope, object) {
                    self.instance(id);
                }
            }
            Callee::TableApply(table) => self.table(scope, *table),
            Callee::ExternMethod { object: part, .. }
            | Callee::SetValid(part)
            | Callee::SetInvalid(part)
            | Callee::PushFront(part, _)
            | Callee::PopFront(part, _) => self.expr(scope, part),
        }
    }

    fn table(&mut self, scope: InstanceId, table: TableId) {
        if self.reached.tables.insert((scope, table)) {
            self.program.tables[table].keys.iter().for_each(|key| self.expr(scope, &key.expr));
        }
    }
}

/// Whether a `return` stands in the code.
fn returns(body: &[Stmt]) -> bool {
    body.iter().any(|stmt| match &stmt.kind {
        StmtKind::Return(_) => true,
        StmtKind::If { then, otherwise, .. } => returns(then) || returns(otherwise),
        StmtKind::Block(body)
        | StmtKind::For { body, .. }
        | StmtKind::ForRange { body, .. }
        | StmtKind::ForEach { body, .. } => returns(body),
        StmtKind::SwitchAction { cases, .. } => cases.iter().any(|case| returns(&case.body)),
        StmtKind::SwitchValue { cases, .. } => cases.iter().any(|case| returns(&case.body)),
        _ => false,
    })
}

/// The names of the digests of a program, one for each call. Data without a named type has its digest numbered.
pub fn digest_names(program: &Program, visible: &Visible) -> Vec<(TypeId, String)> {
    let mut unnamed = 0;
    let types = visible.blocks.iter().flat_map(|block| &block.digests);
    types
        .map(|&ty| {
            let name = match program.types.get(ty) {
                Type::Struct(id) | Type::Header(id) | Type::HeaderUnion(id) => {
                    let decl = &program.types.structs[*id];
                    control_plane_name(&decl.name, &decl.annotations)
                }
                Type::Enum(id) => {
                    let decl = &program.types.enums[*id];
                    control_plane_name(&decl.name, &decl.annotations)
                }
                Type::New(id) => {
                    let decl = &program.types.new_types[*id];
                    control_plane_name(&decl.name, &decl.annotations)
                }
                _ => {
                    unnamed += 1;
                    format!("digest_{}", unnamed - 1)
                }
            };
            (ty, name)
        })
        .collect()
}
