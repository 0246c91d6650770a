//! Entries that stand in the program, as writes of a P4Runtime client.

use hir::instances::{InstanceId, Instances, Value};
use hir::{Expr, KeySet, Program, TableKey};
use num_bigint::BigInt;
use num_traits::{One, ToPrimitive, Zero};
use proto::p4::v1 as p4rt;
use proto::p4::v1::field_match::{Exact, FieldMatchType, Lpm, Optional, Range, Ternary};
use syntax::diag::Diagnostics;

use crate::bytes::padded;
use crate::ids::{Kind, Symbols};
use crate::message::collect;
use crate::table::{key_ids, number, param_ids};
use crate::types::width;
use crate::visible::{Table, Visible, action_name, digest_names, visible};

pub struct Entries<'p> {
    program: &'p Program,
    instances: &'p Instances,
    visible: Visible<'p>,
    symbols: Symbols,
}

impl<'p> Entries<'p> {
    pub fn new(program: &'p Program, instances: &'p Instances) -> Self {
        let visible = visible(program, instances);
        // P4Info says what is wrong with ids.
        let mut said = Diagnostics::new();
        let symbols = collect(program, instances, &visible, &digest_names(program, &visible), &mut said);
        Self { program, instances, visible, symbols }
    }

    pub fn build(self) -> p4rt::WriteRequest {
        let tables = self.visible.blocks.iter().flat_map(|block| &block.tables);
        let updates = tables.flat_map(|table| self.table(table)).map(|entry| p4rt::Update {
            r#type: p4rt::update::Type::Insert.into(),
            entity: Some(p4rt::Entity { entity: Some(p4rt::entity::Entity::TableEntry(entry)) }),
        });
        p4rt::WriteRequest { updates: updates.collect(), ..Default::default() }
    }

    fn table(&self, table: &Table) -> Vec<p4rt::TableEntry> {
        let decl = &self.program.tables[table.table.table];
        let Some(entries) = &decl.entries else { return Vec::new() };
        let ranked = decl.keys.iter().any(|key| matches!(&*key.match_kind, "ternary" | "range" | "optional"));
        let priorities = if !ranked {
            vec![0; entries.list.len()]
        } else if entries.is_const {
            // The first entry is matched first, so it gets the highest.
            (1..=entries.list.len() as i32).rev().collect()
        } else {
            self.priorities(table.control, decl, &entries.list)
        };
        let entry = |(entry, priority): (&hir::Entry, i32)| p4rt::TableEntry {
            table_id: self.symbols.id(Kind::Table, &table.table.name),
            r#match: self.matches(table.control, decl, entry),
            action: Some(self.action(table.control, decl, entry)),
            priority,
            is_const: entries.is_const || entry.is_const,
            ..Default::default()
        };
        entries.list.iter().zip(priorities).map(entry).collect()
    }

    fn constant(&self, control: InstanceId, expr: &Expr) -> Option<BigInt> {
        self.instances.evaluate(self.program, Some(control), expr).as_ref().and_then(number)
    }

    /// Priorities as they are written; an entry without one follows the entry before it (P4_16, "Entries").
    fn priorities(&self, control: InstanceId, decl: &hir::Table, entries: &[hir::Entry]) -> Vec<i32> {
        let property = |name: &str| {
            let property = decl.properties.iter().find(|property| property.name == name)?;
            self.instances.evaluate(self.program, Some(control), &property.value)
        };
        let largest_wins = property("largest_priority_wins") != Some(Value::Bool(false));
        let delta = match property("priority_delta") {
            Some(Value::Int(delta)) => delta.to_i32().unwrap_or(1),
            _ => 1,
        };
        let mut next =
            if largest_wins { (entries.len() as i32 - 1).saturating_mul(delta).saturating_add(1) } else { 1 };
        let mut out = Vec::with_capacity(entries.len());
        for entry in entries {
            let given = entry.priority.as_ref().and_then(|priority| self.constant(control, priority)?.to_i32());
            let priority = given.unwrap_or(next);
            next = if largest_wins { priority.saturating_sub(delta) } else { priority.saturating_add(delta) };
            out.push(priority);
        }
        out
    }

    fn action(&self, control: InstanceId, decl: &hir::Table, entry: &hir::Entry) -> p4rt::TableAction {
        let action = decl.actions[entry.action].action;
        let name = action_name(self.program, self.instances, control, action);
        let param = |(arg, param_id): (&Expr, u32)| {
            let value = self.constant(control, arg).unwrap_or_default();
            p4rt::action::Param { param_id, value: padded(&value, width(self.program, arg.ty)) }
        };
        let params = entry.args.iter().zip(param_ids(self.program, action)).map(param).collect();
        let action = p4rt::Action { action_id: self.symbols.id(Kind::Action, &name), params };
        p4rt::TableAction { r#type: Some(p4rt::table_action::Type::Action(action)) }
    }

    /// What the entry asks of each key. P4Runtime leaves out keys that take any value.
    fn matches(&self, control: InstanceId, decl: &hir::Table, entry: &hir::Entry) -> Vec<p4rt::FieldMatch> {
        let keys = decl.keys.iter().zip(key_ids(decl)).zip(&entry.keys);
        keys.filter_map(|((key, field_id), set)| {
            let field_match_type = Some(self.key_match(control, key, set)?);
            Some(p4rt::FieldMatch { field_id, field_match_type })
        })
        .collect()
    }

    fn key_match(&self, control: InstanceId, key: &TableKey, set: &KeySet) -> Option<FieldMatchType> {
        let width = width(self.program, key.expr.ty);
        let ones = (BigInt::one() << width) - 1;
        let bytes = |value: &BigInt| padded(value, width);
        let constant = |expr: &Expr| self.constant(control, expr);
        Some(match (&*key.match_kind, set) {
            ("exact", KeySet::Value(value)) => FieldMatchType::Exact(Exact { value: bytes(&constant(value)?) }),
            ("lpm", KeySet::Value(value)) => {
                FieldMatchType::Lpm(Lpm { value: bytes(&constant(value)?), prefix_len: width as i32 })
            }
            ("lpm", KeySet::Mask(value, mask)) => {
                let mask = constant(mask)? & &ones;
                let prefix_len = width.saturating_sub(mask.trailing_zeros()? as u32) as i32;
                FieldMatchType::Lpm(Lpm { value: bytes(&(constant(value)? & mask)), prefix_len })
            }
            ("ternary", KeySet::Value(value)) => {
                FieldMatchType::Ternary(Ternary { value: bytes(&constant(value)?), mask: bytes(&ones) })
            }
            ("ternary", KeySet::Mask(value, mask)) => {
                let mask = constant(mask)? & &ones;
                if mask.is_zero() {
                    return None;
                }
                FieldMatchType::Ternary(Ternary { value: bytes(&(constant(value)? & &mask)), mask: bytes(&mask) })
            }
            ("range", KeySet::Value(value)) => {
                let value = bytes(&constant(value)?);
                FieldMatchType::Range(Range { low: value.clone(), high: value })
            }
            ("range", KeySet::Range(low, high)) => {
                let (low, high) = (constant(low)?, constant(high)?);
                if low.is_zero() && high == ones {
                    return None;
                }
                FieldMatchType::Range(Range { low: bytes(&low), high: bytes(&high) })
            }
            ("optional", KeySet::Value(value)) => {
                FieldMatchType::Optional(Optional { value: bytes(&constant(value)?) })
            }
            _ => return None,
        })
    }
}
