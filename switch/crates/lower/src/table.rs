//! Applying tables.

use hir::{ActionRef, Direction, Expr, TableId};
use ir::{BlockId, Inst, NoteKind, Operand, Terminator};
use syntax::source::Span;

use crate::call::direction;
use crate::context::{Active, Binding, Lower, R, fail, offset};
use crate::layout::{Leaf, LeafKind};
use crate::value::{FALSE, NARROW, Values, arg};

impl Lower<'_> {
    /// Evaluates the keys, looks them up and runs the action found. Yields whether an entry was hit (1 bit).
    pub fn apply_table(&mut self, table: TableId, span: Span) -> R<Operand> {
        let join = self.b.block();
        let hit = self.apply_and_go(table, span, |_| join)?;
        self.b.enter(join);
        Ok(hit)
    }

    /// The same, and then goes to where `next` leads from the table's action of that number, or from none.
    pub fn apply_and_go(&mut self, table: TableId, span: Span, next: impl Fn(Option<usize>) -> BlockId) -> R<Operand> {
        let decl = &self.hir.tables[table];
        if self.reject.is_some() {
            return fail(span, "a table cannot be applied in a parser");
        }
        if !self.active.is_empty() {
            return fail(span, "a table cannot be applied in an action or a function");
        }
        let Some(&id) = self.objects.tables.get(&(self.instance, table)) else {
            if self.diagnostics.has_errors() {
                // Reported where the table is.
                return Ok(FALSE);
            }
            return fail(span, format!("table `{}` does not belong to this control", decl.name));
        };
        self.claim_names(id, decl);
        self.note(NoteKind::Table, &decl.name, decl.span);
        let exprs: Vec<&Expr> = decl.keys.iter().map(|key| &key.expr).collect();
        let values = self.operands(&exprs)?;
        let (mut keys, mut selector) = (Vec::new(), Vec::new());
        for (key, value) in decl.keys.iter().zip(&values) {
            let width = self.width(key.expr.ty, key.expr.span)?;
            let list = if key.match_kind == "selector" { &mut selector } else { &mut keys };
            list.push(arg(value, width.max(1)));
        }
        let (hit, action) = (self.b.temp(1), self.b.temp(32));
        self.b.push(Inst::Lookup { table: id, keys, selector, hit, action });
        let mut cases = Vec::new();
        let mut blocks = Vec::new();
        for (index, action) in decl.actions.iter().enumerate() {
            let block = self.b.block();
            cases.push((index as u128, block));
            blocks.push((block, action));
        }
        self.b.end(Terminator::Switch { value: Operand::Temp(action), width: 32, cases, default: next(None) });
        for (index, (block, action)) in blocks.into_iter().enumerate() {
            self.b.enter(block);
            let mark = self.b.mark();
            let ir_action = self.out.tables[id].actions.get(index).map(|action| action.action);
            self.running = Some(id);
            if let Some(ir_action) = ir_action
                && let Err(error) = self.run_action(ir_action, action)
            {
                self.diagnostics.push(*error);
            }
            self.running = None;
            self.b.release(mark);
            self.b.jump(next(Some(index)));
        }
        Ok(Operand::Temp(hit))
    }

    fn claim_names(&mut self, id: ir::TableId, decl: &hir::Table) {
        let name = self.out.tables[id].name.clone();
        self.claim_name("table", &name, ir::Handle::index(id), decl.span);
        for (listed, chosen) in self.out.tables[id].actions.clone().iter().zip(&decl.actions) {
            let name = self.out.actions[listed.action].name.clone();
            let span = self.hir.actions[chosen.action].span;
            self.claim_name("action", &name, ir::Handle::index(listed.action), span);
        }
    }

    /// The action of an entry: arguments bound in the table, and the entry's data.
    fn run_action(&mut self, ir_action: ir::ActionId, chosen: &ActionRef) -> R<()> {
        let action = &self.hir.actions[chosen.action];
        self.note(NoteKind::Action, &action.name, action.span);
        let (mut directed, mut data) = (Vec::new(), Vec::new());
        for &param in &action.params {
            match direction(self.hir, param) {
                Some(Direction::In | Direction::Out | Direction::InOut) => directed.push(param),
                None => data.push(param),
            }
        }
        let args: Vec<Option<Expr>> = chosen.args.iter().cloned().map(Some).collect();
        let copies = self.bind(&directed, &args, false)?;
        let mut fields = self.out.actions[ir_action].params.clone().into_iter();
        for param in data {
            let ty = self.hir.vars[param].ty;
            if let Some((1..=NARROW, _)) = self.scalar_type(ty)
                && !self.written.contains(&param)
                && let Some(field) = fields.next()
            {
                let dst = self.b.temp(field.width);
                self.b.push(Inst::LoadArg { dst, offset: field.offset });
                self.env.insert(param, Binding::Value(Operand::Temp(dst)));
                continue;
            }
            let place = self.alloc(ty);
            let bytes = self.layout(ty).size;
            self.zero(place, bytes);
            self.name(place, param);
            for leaf in self.data_leaves(ty, "") {
                let (LeafKind::Scalar(width, _), Some(field)) = (leaf.kind, fields.next()) else { continue };
                let dst = offset(place, leaf.offset);
                if width <= NARROW {
                    let value = self.b.temp(width);
                    self.b.push(Inst::LoadArg { dst: value, offset: field.offset });
                    self.b.store(dst, width, Operand::Temp(value));
                } else {
                    let bytes = ir::storage_size(width);
                    self.b.push(Inst::CopyArg { dst, offset: field.offset, bytes });
                }
            }
            self.env.insert(param, Binding::Place(place));
        }
        self.active.push(Active::Action(chosen.action));
        let result = self.inlined(copies, None, |lower| {
            lower.statements(&action.body);
            Ok(())
        });
        self.active.pop();
        self.note(NoteKind::ActionEnd, &action.name, action.span);
        result
    }

    /// The scalars of a type that an entry or a digest can hold.
    pub fn data_leaves(&mut self, ty: hir::TypeId, name: &str) -> Vec<Leaf> {
        let mut leaves = Vec::new();
        self.layouts.leaves(&self.hir.types, ty, name, 0, &mut leaves);
        leaves.retain(|leaf| matches!(leaf.kind, LeafKind::Scalar(..)));
        leaves
    }
}
