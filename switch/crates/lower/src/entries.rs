//! Entries that stand in the program.

use hir::instances::Value as Constant;
use hir::{Annotation, AnnotationBody, AnnotationValue, Entries, Entry, Expr, KeySet};
use ir::{ConstEntry, Match, MatchKind};
use num_bigint::{BigInt, BigUint};
use num_traits::{One, ToPrimitive, Zero};
use syntax::source::Span;

use crate::context::{Lower, R, fail};

impl Lower<'_> {
    /// The entries of a table, with P4Runtime's priorities: the larger wins.
    pub fn entries(&mut self, decl: &hir::Table, entries: &Entries, table: &ir::Table) -> R<Vec<ConstEntry>> {
        let ranked = table
            .keys
            .iter()
            .any(|key| matches!(key.kind, MatchKind::Ternary | MatchKind::Range | MatchKind::Optional));
        let priorities = if ranked { self.priorities(decl, &entries.list)? } else { vec![0; entries.list.len()] };
        let mut out = Vec::with_capacity(entries.list.len());
        for (entry, priority) in entries.list.iter().zip(priorities) {
            let Some(action) = table.actions.get(entry.action) else {
                return fail(entry.span, "the entry's action is not among the table's actions");
            };
            let args = self.action_args(action.action, &entry.args, entry.span)?;
            let keys = self.matches(entry, table)?;
            let is_const = entries.is_const || entry.is_const;
            out.push(ConstEntry { keys, priority, action: entry.action, args, is_const });
        }
        Ok(out)
    }

    /// Priorities as the program gives them or, where it doesn't, counted from the one before (P4_16, section 14.2.1.4).
    fn priorities(&mut self, decl: &hir::Table, entries: &[Entry]) -> R<Vec<u32>> {
        let mut largest_wins = true;
        let mut delta = 1i64;
        for property in &decl.properties {
            match (property.name.as_str(), self.constant(&property.value)) {
                ("largest_priority_wins", Some(Constant::Bool(value))) => largest_wins = value,
                ("priority_delta", Some(Constant::Int(value))) => match value.to_i64() {
                    Some(value) if value > 0 && value <= i64::from(u32::MAX) => delta = value,
                    _ => return fail(property.span, "`priority_delta` must be a positive number of 32 bits"),
                },
                _ => {}
            }
        }
        let annotated: Vec<Option<u32>> = entries.iter().map(|entry| priority_annotation(&entry.annotations)).collect();
        if annotated.iter().any(Option::is_some) {
            // The annotation is older than P4_16's priorities: 1 is the first, and the others count from the top.
            let numbers = annotated.iter().zip(1..).map(|(priority, place)| priority.unwrap_or(place)).collect();
            return Ok(invert(numbers));
        }
        let mut given = Vec::with_capacity(entries.len());
        let mut last: Option<i64> = None;
        for entry in entries {
            let priority = match (&entry.priority, last) {
                (Some(priority), _) => i64::from(self.constant_number::<u32>(priority, "a priority")?),
                (None, Some(last)) => last + if largest_wins { -delta } else { delta },
                (None, None) if largest_wins => (entries.len() as i64 - 1) * delta + 1,
                (None, None) => 1,
            };
            if !(0..=i64::from(u32::MAX)).contains(&priority) {
                return fail(entry.span, "the priority of this entry is out of range");
            }
            last = Some(priority);
            given.push(priority as u32);
        }
        Ok(if largest_wins { given } else { invert(given) })
    }

    fn matches(&mut self, entry: &Entry, table: &ir::Table) -> R<Vec<Match>> {
        let all = [const { &KeySet::Any }; 1];
        let keys: Vec<&KeySet> = match entry.keys.as_slice() {
            [KeySet::Any] => all.iter().copied().cycle().take(table.keys.len()).collect(),
            keys => keys.iter().collect(),
        };
        if keys.len() != table.keys.len() {
            let message = format!("the table has {} keys, the entry {}", table.keys.len(), keys.len());
            return fail(entry.span, message);
        }
        table.keys.iter().zip(keys).map(|(key, set)| self.key_match(key, set, entry.span)).collect()
    }

    fn key_match(&mut self, key: &ir::Key, set: &KeySet, span: Span) -> R<Match> {
        let zero = BigUint::zero();
        let ones = (BigUint::one() << key.width) - 1u32;
        Ok(match (key.kind, set) {
            (MatchKind::Exact, KeySet::Value(value)) => Match::Exact(self.entry_bits(value, key.width)?),
            (MatchKind::Lpm, KeySet::Any) => Match::Lpm { value: zero, prefix: 0 },
            (MatchKind::Lpm, KeySet::Value(value)) => {
                Match::Lpm { value: self.entry_bits(value, key.width)?, prefix: key.width }
            }
            (MatchKind::Lpm, KeySet::Mask(value, mask)) => {
                let mask_bits = self.entry_bits(mask, key.width)?;
                let rest = &ones - &mask_bits;
                // A prefix leaves 2^n - 1, of which no bit is in its successor.
                if !(&rest & (&rest + 1u32)).is_zero() {
                    return fail(mask.span, "the mask of an `lpm` key must be a prefix: ones, then zeros");
                }
                let prefix = key.width - rest.bits() as u32;
                Match::Lpm { value: self.entry_bits(value, key.width)? & mask_bits, prefix }
            }
            (MatchKind::Ternary, KeySet::Any) => Match::Ternary { value: zero.clone(), mask: zero },
            (MatchKind::Ternary, KeySet::Value(value)) => {
                Match::Ternary { value: self.entry_bits(value, key.width)?, mask: ones }
            }
            (MatchKind::Ternary, KeySet::Mask(value, mask)) => {
                let mask = self.entry_bits(mask, key.width)?;
                Match::Ternary { value: self.entry_bits(value, key.width)? & &mask, mask }
            }
            (MatchKind::Range, KeySet::Any) => Match::Range { low: zero, high: ones },
            (MatchKind::Range, KeySet::Value(value)) => {
                let value = self.entry_bits(value, key.width)?;
                Match::Range { low: value.clone(), high: value }
            }
            (MatchKind::Range, KeySet::Range(low, high)) => {
                let (low, high) = (self.entry_bits(low, key.width)?, self.entry_bits(high, key.width)?);
                if low > high {
                    return fail(span, "the range is empty: its start is above its end");
                }
                Match::Range { low, high }
            }
            (MatchKind::Optional, KeySet::Any) => Match::Optional(None),
            (MatchKind::Optional, KeySet::Value(value)) => Match::Optional(Some(self.entry_bits(value, key.width)?)),
            (kind, _) => {
                let kind = format!("{kind:?}").to_lowercase();
                return fail(
                    span,
                    format!("key `{}` has match kind `{kind}`, which cannot match such a set", key.name),
                );
            }
        })
    }

    fn entry_bits(&mut self, expr: &Expr, width: u32) -> R<BigUint> {
        match self.constant(expr) {
            Some(Constant::Int(value)) if value < BigInt::zero() && !self.is_signed(expr.ty) => {
                fail(expr.span, "a key's value cannot be negative")
            }
            Some(value) => match self.bits_of(&value, width) {
                Some(bits) => Ok(bits),
                None => fail(expr.span, "a key's value must be a constant number"),
            },
            None => fail(expr.span, "a key's value must be a constant"),
        }
    }
}

/// Priorities of which the smallest wins as ones of which the largest does.
fn invert(priorities: Vec<u32>) -> Vec<u32> {
    let most = priorities.iter().copied().max().unwrap_or(0);
    priorities.into_iter().map(|priority| most - priority + 1).collect()
}

fn priority_annotation(annotations: &[Annotation]) -> Option<u32> {
    let annotation = annotations.iter().find(|annotation| annotation.name == "priority")?;
    match &annotation.body {
        AnnotationBody::Exprs(values) => match values.first()? {
            AnnotationValue::Int(priority) => priority.to_u32(),
            _ => None,
        },
        _ => None,
    }
}
