//! Entries of tables that stand in the program.

use hir::{Entries, Entry, Expr, ExprKind, Table};
use num_bigint::{BigInt, Sign};
use syntax::ast;
use syntax::source::Span;

use crate::checker::Checker;
use crate::types::count;

impl<'a> Checker<'a> {
    pub fn entries(&mut self, entries: &'a [ast::Entry], is_const: bool, table: &Table) -> Entries {
        let list = entries.iter().filter_map(|entry| self.entry(entry, is_const, table)).collect();
        Entries { is_const, list }
    }

    pub fn check_after_key(&mut self, entries: &ast::TableProperty, table: &ast::Table) {
        let key = table.properties.iter().find(|p| matches!(p.value, ast::PropertyValue::Key(_)));
        if let Some(key) = key
            && key.span.start > entries.span.start
        {
            let labels = [(key.name.span, "move the entries behind this".to_owned())];
            self.error_at(entries.name.span, "the entries of a table stand after its key", &labels);
        }
    }

    pub fn check_after_actions(&mut self, default: &ast::TableProperty, table: &ast::Table) {
        let actions = table.properties.iter().find(|p| matches!(p.value, ast::PropertyValue::Actions(_)));
        if let Some(actions) = actions
            && actions.span.start > default.span.start
        {
            let labels = [(actions.name.span, "move the default action behind this".to_owned())];
            self.error_at(default.name.span, "the default action of a table stands after its actions", &labels);
        }
    }

    fn entry(&mut self, entry: &'a ast::Entry, all_const: bool, table: &Table) -> Option<Entry> {
        if table.keys.is_empty() {
            self.error(entry.span, format!("the table `{}` has no key, so it has no entries", table.name));
            return None;
        }
        let priority = entry.priority.as_ref().map(|priority| self.expr(priority, None));
        if let Some(priority) = &priority {
            if !self.is_poison(priority) && !matches!(priority.kind, ExprKind::Int(_)) {
                self.error(priority.span, "a priority must be a constant number");
            } else if all_const {
                self.error_help(
                    priority.span,
                    "the entries of `const entries` have their order for priority",
                    "leave the priority out, or write `entries` without `const`".into(),
                );
            }
        }
        let keys = self.entry_keys(entry, table);
        let args = entry.action.args.as_deref().unwrap_or_default();
        let chosen = self.chosen_action(&entry.action.path, args, entry.action.span, table);
        let annotations = self.annotations(&entry.annotations);
        let ((action, args), keys) = (chosen?, keys?);
        if table.actions[action].annotations.iter().any(|a| a.name == "defaultonly") {
            self.error(entry.action.span, "this action is marked `@defaultonly`");
        }
        let is_const = all_const || entry.is_const;
        Some(Entry { is_const, priority, keys, action, args, annotations, span: entry.span })
    }

    fn entry_keys(&mut self, entry: &'a ast::Entry, table: &Table) -> Option<Vec<hir::KeySet>> {
        if let [key] = entry.keys.as_slice()
            && matches!(key.kind, ast::KeySetKind::Default | ast::KeySetKind::Any)
            && table.keys.len() > 1
        {
            return Some(vec![hir::KeySet::Any; table.keys.len()]);
        }
        // `{a, b}` is another way to write `(a, b)`.
        if let [ast::KeySet { kind: ast::KeySetKind::Value(ast::Expr { kind: ast::ExprKind::List(items), .. }), .. }] =
            entry.keys.as_slice()
            && items.len() == table.keys.len()
        {
            let sets = items.iter().zip(&table.keys).map(|(item, key)| {
                let value = self.expr_of(item, key.expr.ty);
                let set = hir::KeySet::Value(value);
                self.check_constant_set(&set);
                set
            });
            return Some(sets.collect());
        }
        if entry.keys.len() != table.keys.len() {
            let message = format!(
                "the table `{}` has {}, the entry {}",
                table.name,
                count(table.keys.len(), "key"),
                entry.keys.len()
            );
            self.error(entry.span, message);
            return None;
        }
        let mut sets = Vec::new();
        for (set, key) in entry.keys.iter().zip(&table.keys) {
            let checked = self.key_set(set, key.expr.ty);
            if let Some(checked) = &checked {
                self.check_match_kind(checked, &key.match_kind, set.span);
                self.check_constant_set(checked);
            }
            sets.push(checked);
        }
        sets.into_iter().collect()
    }

    pub fn check_constant_set(&mut self, set: &hir::KeySet) {
        let parts: &[&Expr] = match set {
            hir::KeySet::Value(value) => &[value],
            hir::KeySet::Mask(a, b) | hir::KeySet::Range(a, b) => &[a, b],
            _ => &[],
        };
        for part in parts {
            if !self.is_poison(part) && !self.known_at_compile_time(part) {
                self.error(part.span, "the values to match must be known when the program is compiled");
            }
        }
    }

    /// Entries that can overlap have priorities: given ones, or one step from the entry before (P4_16, "Entries").
    pub fn check_priorities(&mut self, table: &Table, span: Span) {
        let Some(entries) = &table.entries else { return };
        let given = |entry: &Entry| match &entry.priority {
            Some(Expr { kind: ExprKind::Int(n), .. }) => Some(n.clone()),
            _ => None,
        };
        let Some(first) = entries.list.iter().find(|entry| entry.priority.is_some()) else { return };
        let first_span = first.priority.as_ref().map_or(span, |priority| priority.span);
        let overlap = table.keys.iter().any(|key| ["ternary", "range", "optional"].contains(&key.match_kind.as_str()));
        if !overlap {
            self.error(first_span, "the entries of this table cannot overlap, so they have no priorities");
            return;
        }
        if entries.list[0].priority.is_none() {
            let at = entries.list[0].span;
            let labels = [(first_span, "this entry has one".to_owned())];
            self.error_at(at, "the first entry needs a priority if any entry has one", &labels);
            return;
        }
        let property = |name: &str| table.properties.iter().find(|p| p.name == name).map(|p| &p.value.kind);
        let largest_wins = !matches!(property("largest_priority_wins"), Some(ExprKind::Bool(false)));
        let delta = match property("priority_delta") {
            Some(ExprKind::Int(delta)) => delta.clone(),
            _ => BigInt::from(1),
        };
        let mut priority = BigInt::from(0);
        let mut bad = None;
        for entry in &entries.list {
            priority = match given(entry) {
                Some(n) => n,
                None if largest_wins => priority - &delta,
                None => priority + &delta,
            };
            if priority.sign() == Sign::Minus || priority > BigInt::from(i32::MAX) {
                bad = Some(entry.span);
                break;
            }
        }
        if let Some(at) = bad {
            self.error(
                at,
                format!("the priority of this entry would be {priority}: it must be between 0 and 2^31 - 1"),
            );
        }
    }
}
