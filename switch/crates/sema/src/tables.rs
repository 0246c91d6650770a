//! Tables.

use std::rc::Rc;

use hir::{
    ActionId, ActionRef, Annotation, AnnotationBody, DefaultAction, Expr, ExprKind, Property, Table, TableKey, Type,
};
use num_traits::ToPrimitive;
use syntax::ast;
use syntax::source::Span;

use crate::arguments::{CallSite, Purpose};
use crate::checker::Checker;
use crate::fold;
use crate::scope::Symbol;
use crate::signature::{Bound, Sig};
use crate::suggest::nearest;
use crate::types::count;

impl<'a> Checker<'a> {
    pub fn declare_table(&mut self, decl: &'a ast::Table) -> hir::TableId {
        let mut table = Table {
            name: decl.name.name.clone(),
            keys: Vec::new(),
            actions: Vec::new(),
            default_action: None,
            empty_group_action: None,
            entries: None,
            size: None,
            properties: Vec::new(),
            annotations: self.annotations(&decl.annotations),
            span: decl.name.span,
        };
        let mut has_actions = false;
        let mut later = Vec::new();
        let mut priorities = None;
        for property in &decl.properties {
            match &property.value {
                ast::PropertyValue::Key(keys) => table.keys.extend(keys.iter().filter_map(|key| self.table_key(key))),
                ast::PropertyValue::Actions(actions) => {
                    has_actions = true;
                    self.action_list(actions, &mut table.actions);
                }
                _ => later.push(property),
            }
        }
        if !has_actions {
            let message = format!("the table `{}` has no `actions`", decl.name.name);
            self.error_help(decl.name.span, message, "write `actions = { ... }`".into());
        }
        // The rest may name actions and keys, wherever these stand.
        for property in later {
            match (&property.value, property.name.name.as_str()) {
                (ast::PropertyValue::Entries(entries), _) => {
                    self.check_after_key(property, decl);
                    table.entries = Some(self.entries(entries, property.is_const, &table));
                    priorities = Some(property.name.span);
                }
                (ast::PropertyValue::Expr(value), "default_action") => {
                    self.check_after_actions(property, decl);
                    table.default_action = self.action_property("default_action", value, property.is_const, &table);
                }
                (ast::PropertyValue::Expr(value), name @ "psa_empty_group_action") => {
                    table.empty_group_action = self.action_property(name, value, property.is_const, &table);
                }
                (ast::PropertyValue::Expr(value), name) => self.property(property, name, value, &mut table),
                _ => {}
            }
        }
        if let Some(span) = priorities {
            self.check_priorities(&table, span);
        }
        let names_default = decl.properties.iter().any(|p| p.name.name == "default_action");
        if !names_default {
            self.add_no_action(&mut table);
        }
        let id = self.prog.tables.push(table);
        self.declare(&decl.name, Symbol::Table(id));
        id
    }

    fn table_key(&mut self, key: &'a ast::KeyElement) -> Option<TableKey> {
        let expr = self.expr(&key.expr, None);
        let kind = &key.match_kind.name;
        if !self.prog.match_kinds.contains(kind) {
            let near = nearest(kind, self.prog.match_kinds.iter().map(String::as_str)).map(str::to_owned);
            self.unknown(key.match_kind.span, format!("there is no match kind `{kind}`"), near);
        }
        let annotations = self.annotations(&key.annotations);
        if self.is_poison(&expr) {
            return None;
        }
        if !has_name(&expr) && !annotations.iter().any(|a| a.name == "name") {
            self.error_help(
                expr.span,
                "the control plane needs a name for a computed key",
                "write `@name(\"...\")` behind the match kind".into(),
            );
        }
        let stored = self.prog.types.stored(expr.ty);
        let matchable = matches!(
            self.ty(stored),
            Type::Bit(_) | Type::Signed(_) | Type::Bool | Type::Enum(_) | Type::Error | Type::Varbit(_)
        );
        if !matchable {
            let found = self.describe(&expr);
            let message = format!("a table cannot match {found}");
            if stored == self.basic.int {
                self.error_help(expr.span, message, "give the number a width, as in `8w1`".into());
            } else {
                self.error(expr.span, message);
            }
            return None;
        }
        Some(TableKey { expr, match_kind: kind.clone(), source: key.source.clone(), annotations, span: key.span })
    }

    fn action_list(&mut self, listed: &'a [ast::ActionRef], out: &mut Vec<ActionRef>) {
        for reference in listed {
            let Some(action) = self.action_named(&reference.path) else { continue };
            if let Some(before) = out.iter().find(|before| before.action == action) {
                let labels = [(before.span, "first listed here".to_owned())];
                let message = format!("the action `{}` is listed twice", reference.path.name.name);
                self.error_at(reference.span, message, &labels);
                continue;
            }
            let (bound, _) = self.split_sig(action);
            let args = reference.args.as_deref().unwrap_or_default();
            if args.len() != bound.params.len() && args.iter().all(|arg| arg.name.is_none()) {
                let message = format!(
                    "the table must bind the {} of `{}` with a direction, {} given",
                    count(bound.params.len(), "parameter"),
                    reference.path.name.name,
                    args.len()
                );
                self.error_at(reference.span, message, &self.declared_here(&reference.path));
                continue;
            }
            let site = CallSite::new(args, reference.span, Purpose::Action);
            let Some(matched) = self.match_call(&bound, Bound::new(), site) else { continue };
            let args = matched.args.into_iter().flatten().collect();
            let annotations = self.annotations(&reference.annotations);
            out.push(ActionRef { action, args, annotations, span: reference.span });
        }
    }

    fn action_named(&mut self, path: &'a ast::Path) -> Option<ActionId> {
        match self.lookup(path, "action", |s| matches!(s, Symbol::Action(_))) {
            Symbol::Action(action) => Some(action),
            Symbol::Poison => None,
            other => {
                let message = format!("`{}` is {}, not an action", path.name.name, other.what());
                self.error_at(path.span, message, &self.declared_here(path));
                None
            }
        }
    }

    /// The parameters that a table binds, which have a direction, and those left to the control plane.
    fn split_sig(&self, action: ActionId) -> (Sig, Sig) {
        let sig: Rc<Sig> = self.sig_of_action(action);
        let (mut bound, mut free) = ((*sig).clone(), (*sig).clone());
        bound.params.retain(|p| p.direction.is_some());
        free.params.retain(|p| p.direction.is_none());
        (bound, free)
    }

    /// The action of a default or entry, by its place in the table's list, and its control-plane arguments.
    pub fn chosen_action(
        &mut self,
        path: &'a ast::Path,
        args: &'a [ast::Arg],
        span: Span,
        table: &Table,
    ) -> Option<(usize, Vec<Expr>)> {
        let action = self.action_named(path)?;
        let Some(index) = table.actions.iter().position(|listed| listed.action == action) else {
            let name = &path.name.name;
            let message = format!("the action `{name}` is not among the actions of the table `{}`", table.name);
            self.error_help(path.span, message, format!("add `{name};` to `actions`"));
            return None;
        };
        let (bound, free) = self.split_sig(action);
        // The arguments bound in the list may be repeated here.
        let repeated = if args.iter().any(|arg| arg.name.is_some()) {
            args.iter()
                .take_while(|arg| arg.name.as_ref().is_some_and(|n| bound.params.iter().any(|p| p.name == n.name)))
                .count()
        } else if args.len() > free.params.len() && args.len() <= free.params.len() + bound.params.len() {
            bound.params.len().min(args.len())
        } else {
            0
        };
        let site = CallSite::new(&args[..repeated], span, Purpose::Action);
        if repeated > 0 {
            let repeats = self.match_call(&bound, Bound::new(), site)?;
            let same = repeats.args.iter().flatten().zip(&table.actions[index].args).all(|(a, b)| same_expr(a, b));
            if !same {
                let labels = [(table.actions[index].span, "other arguments are bound here".to_owned())];
                self.error_at(span, "the bound arguments must be those of the list of actions", &labels);
                return None;
            }
        }
        let site = CallSite { args: &args[repeated..], purpose: Purpose::Construct, ..site };
        let matched = self.match_call(&free, Bound::new(), site)?;
        Some((index, matched.args.into_iter().flatten().collect()))
    }

    fn action_property(
        &mut self,
        name: &str,
        value: &'a ast::Expr,
        is_const: bool,
        table: &Table,
    ) -> Option<DefaultAction> {
        let (callee, args): (_, &'a [ast::Arg]) = match &value.kind {
            ast::ExprKind::Call { callee, args, .. } => (&callee.kind, args),
            other => (other, &[]),
        };
        let ast::ExprKind::Path(path) = callee else {
            self.error(value.span, format!("`{name}` must be an action"));
            return None;
        };
        let (action, args) = self.chosen_action(path, args, value.span, table)?;
        Some(DefaultAction { action, args, is_const })
    }

    /// A table without a default action does nothing by default.
    fn add_no_action(&mut self, table: &mut Table) {
        let Some(Symbol::Action(action)) = self.scopes.global("NoAction").map(|d| d.symbol.clone()) else { return };
        let listed = table.actions.iter().position(|listed| listed.action == action);
        let index = listed.unwrap_or_else(|| {
            let only =
                Annotation { name: "defaultonly".into(), body: AnnotationBody::Empty, text: None, span: table.span };
            table.actions.push(ActionRef { action, args: Vec::new(), annotations: vec![only], span: table.span });
            table.actions.len() - 1
        });
        table.default_action = Some(DefaultAction { action: index, args: Vec::new(), is_const: false });
    }

    fn property(&mut self, property: &'a ast::TableProperty, name: &str, value: &'a ast::Expr, table: &mut Table) {
        let value = self.expr(value, None);
        if self.is_poison(&value) {
            return;
        }
        let span = value.span;
        match name {
            "size" => match &value.kind {
                ExprKind::Int(n) => match n.to_u64() {
                    Some(size) => {
                        table.size = Some(size);
                        return;
                    }
                    None => {
                        let message = format!("a table cannot have the size {n}");
                        self.error(span, message);
                        return;
                    }
                },
                _ if !self.known_at_compile_time(&value) || !self.is_integer(&value) => {
                    let found = self.describe(&value);
                    self.error(span, format!("the size of a table must be a constant number, found {found}"));
                    return;
                }
                // Only the instance knows it: a constructor parameter.
                _ => {}
            },
            "support_timeout" | "largest_priority_wins" if value.ty != self.basic.bool => {
                let found = self.describe(&value);
                self.error(span, format!("`{name}` must be `true` or `false`, found {found}"));
                return;
            }
            "priority_delta" => {
                let positive = matches!(&value.kind, ExprKind::Int(n) if n.sign() == num_bigint::Sign::Plus);
                if !positive {
                    self.error(span, "`priority_delta` must be a positive number");
                    return;
                }
            }
            _ if !self.known_at_compile_time(&value) => {
                self.error(span, format!("the property `{name}` must be known when the program is compiled"));
                return;
            }
            _ => {}
        }
        let annotations = self.annotations(&property.annotations);
        table.properties.push(Property {
            name: name.to_owned(),
            value,
            annotations,
            is_const: property.is_const,
            span: property.span,
        });
    }

    fn is_integer(&self, e: &Expr) -> bool {
        e.ty == self.basic.int || fold::width(self.ty(self.prog.types.stored(e.ty))).is_some()
    }
}

/// Whether the control plane can name the key as it stands in the source.
fn has_name(key: &Expr) -> bool {
    match &key.kind {
        ExprKind::Var(_) | ExprKind::Int(_) | ExprKind::Bool(_) => true,
        ExprKind::Field(base, _) | ExprKind::TupleField(base, _) | ExprKind::IsValid(base) => has_name(base),
        ExprKind::Slice { base, .. } => has_name(base),
        ExprKind::Index(base, at) | ExprKind::Binary(hir::BinaryOp::BitAnd, base, at) => has_name(base) && has_name(at),
        _ => false,
    }
}

/// Whether two expressions are the same but for where they stand.
fn same_expr(a: &Expr, b: &Expr) -> bool {
    fn strip(e: &Expr) -> Expr {
        let kind = match &e.kind {
            ExprKind::Field(base, i) => ExprKind::Field(Box::new(strip(base)), *i),
            ExprKind::TupleField(base, i) => ExprKind::TupleField(Box::new(strip(base)), *i),
            ExprKind::Index(base, i) => ExprKind::Index(Box::new(strip(base)), Box::new(strip(i))),
            ExprKind::Slice { base, hi, lo } => ExprKind::Slice { base: Box::new(strip(base)), hi: *hi, lo: *lo },
            ExprKind::Cast(e) => ExprKind::Cast(Box::new(strip(e))),
            ExprKind::Unary(op, e) => ExprKind::Unary(*op, Box::new(strip(e))),
            ExprKind::Binary(op, l, r) => ExprKind::Binary(*op, Box::new(strip(l)), Box::new(strip(r))),
            ExprKind::Aggregate(items) => ExprKind::Aggregate(items.iter().map(strip).collect()),
            ExprKind::IsValid(base) => ExprKind::IsValid(Box::new(strip(base))),
            ExprKind::Call(call) => {
                let args = call.args.iter().map(|arg| arg.as_ref().map(strip)).collect();
                ExprKind::Call(Box::new(hir::Call { callee: call.callee.clone(), args }))
            }
            other => other.clone(),
        };
        Expr { ty: e.ty, kind, span: Span::default() }
    }
    strip(a) == strip(b)
}
