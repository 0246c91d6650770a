//! Sets of values in `select` cases and table entries.

use hir::{Expr, ExprKind, KeySet, Type, TypeId};
use num_traits::Zero;
use syntax::ast;
use syntax::source::Span;

use crate::checker::Checker;
use crate::fold;
use crate::scope::Symbol;
use crate::types::count;

impl<'a> Checker<'a> {
    /// A set of values of the type. `None`: it was reported.
    pub fn key_set(&mut self, set: &'a ast::KeySet, ty: TypeId) -> Option<KeySet> {
        match &set.kind {
            ast::KeySetKind::Default | ast::KeySetKind::Any => Some(KeySet::Any),
            ast::KeySetKind::Value(value) => {
                let value = self.expr_of(value, ty);
                (!self.is_poison(&value)).then_some(KeySet::Value(value))
            }
            ast::KeySetKind::Mask(value, mask) => {
                let (value, mask) = self.bounds(value, mask, ty, "`&&&`")?;
                Some(KeySet::Mask(value, mask))
            }
            ast::KeySetKind::Range(first, last) => {
                let (first, last) = self.bounds(first, last, ty, "`..`")?;
                if let (ExprKind::Int(a), ExprKind::Int(b)) = (&first.kind, &last.kind)
                    && a > b
                {
                    let message = format!("the range {a} .. {b} is empty: the smaller number stands first");
                    self.error(set.span, message);
                    return None;
                }
                Some(KeySet::Range(first, last))
            }
        }
    }

    /// Both operands of `&&&` or `..`, which are numbers.
    fn bounds(&mut self, a: &'a ast::Expr, b: &'a ast::Expr, ty: TypeId, what: &str) -> Option<(Expr, Expr)> {
        let number = match self.ty(ty) {
            Type::Enum(_) => self.prog.types.stored(ty),
            _ => ty,
        };
        let stored = self.prog.types.stored(number);
        if number != self.basic.any && fold::width(self.ty(stored)).is_none() {
            let name = self.name(ty);
            self.error(a.span.to(b.span), format!("{what} makes sets of numbers, but `{name}` is matched"));
            return None;
        }
        let (a, b) = (self.bound(a, number), self.bound(b, number));
        (!self.is_poison(&a) && !self.is_poison(&b)).then_some((a, b))
    }

    fn bound(&mut self, e: &'a ast::Expr, number: TypeId) -> Expr {
        let value = self.expr(e, Some(number));
        // The mask of a `type` over bits may be written as these bits.
        match self.ty(number) {
            Type::New(id) if value.ty == self.prog.types.new_types[*id].underlying => self.cast_node(value, number),
            Type::New(_) if value.ty == self.basic.int => self.cast_node(value, number),
            _ => self.coerce(value, number),
        }
    }

    /// The sets of a `select` case, one for each selected expression.
    pub fn select_keys(&mut self, keys: &'a [ast::KeySet], types: &[TypeId], span: Span) -> Option<Vec<KeySet>> {
        if let [key] = keys {
            if matches!(key.kind, ast::KeySetKind::Default | ast::KeySetKind::Any) {
                return Some(vec![KeySet::Any]);
            }
            if let Some(set) = self.value_set(key) {
                return self.fit_value_set(set, types, key.span).map(|set| vec![set]);
            }
        }
        if keys.len() != types.len() {
            let message =
                format!("{} matched by {}", count(types.len(), "expression"), count(keys.len(), "set of values"));
            self.error(span, message.replace("set of valuess", "sets of values"));
            return None;
        }
        let mut sets = Vec::new();
        for (key, ty) in keys.iter().zip(types) {
            sets.push(match self.value_set(key) {
                Some(set) => self.fit_value_set(set, &[*ty], key.span),
                None => self.key_set(key, *ty),
            });
        }
        sets.into_iter().collect()
    }

    fn value_set(&self, key: &ast::KeySet) -> Option<hir::ValueSetId> {
        let ast::KeySetKind::Value(ast::Expr { kind: ast::ExprKind::Path(path), .. }) = &key.kind else {
            return None;
        };
        match self.find(path)?.symbol {
            Symbol::ValueSet(id) => Some(id),
            _ => None,
        }
    }

    fn fit_value_set(&mut self, set: hir::ValueSetId, types: &[TypeId], span: Span) -> Option<KeySet> {
        let ty = self.prog.value_sets[set].ty;
        let parts = self.part_types(ty, 0);
        // A set of structs matches the list of their fields; one field may also match alone.
        if types == [ty] || parts.as_deref() == Some(types) || ty == self.basic.any {
            return Some(KeySet::ValueSet(set));
        }
        let (have, want) = (self.name(ty), self.names(types));
        self.error(span, format!("this is a set of `{have}`, but `{want}` is matched"));
        None
    }

    /// Reports a set that a match kind cannot have.
    pub fn check_match_kind(&mut self, set: &KeySet, kind: &str, span: Span) {
        let problem = match (kind, set) {
            ("exact", KeySet::Value(_)) => None,
            ("exact", _) => Some("an `exact` key takes a single value"),
            ("optional", KeySet::Value(_) | KeySet::Any) => None,
            ("optional", _) => Some("an `optional` key takes a single value or `_`"),
            ("lpm", KeySet::Range(..)) => {
                Some("an `lpm` key takes a value, or a value with a prefix mask: `v &&& mask`")
            }
            ("lpm", KeySet::Mask(_, mask)) => match &mask.kind {
                ExprKind::Int(mask_value) => {
                    let width = fold::width(self.ty(self.prog.types.stored(mask.ty))).unwrap_or(0);
                    (!is_prefix(mask_value, width)).then_some("the mask of an `lpm` key has its ones on the left only")
                }
                _ => None,
            },
            ("ternary", KeySet::Range(..)) => {
                Some("a `ternary` key takes a value, or a value with a mask: `v &&& mask`")
            }
            ("range", KeySet::Mask(..)) => Some("a `range` key takes a value or a range: `first .. last`"),
            _ => None,
        };
        if let Some(problem) = problem {
            self.error(span, problem);
        }
    }
}

fn is_prefix(mask: &num_bigint::BigInt, width: u32) -> bool {
    let zeros = mask.trailing_zeros().unwrap_or(0);
    mask.is_zero()
        || ((mask >> zeros) + 1u8) == num_bigint::BigInt::from(1) << (u64::from(width) - zeros.min(u64::from(width)))
}

#[cfg(test)]
mod tests {
    use super::is_prefix;

    #[test]
    fn tells_prefixes() {
        for (mask, prefix) in
            [(0u32, true), (0xff00, true), (0xffff, true), (0x8000, true), (0x00ff, false), (0xf0f0, false)]
        {
            assert_eq!(is_prefix(&mask.into(), 16), prefix, "{mask:#x}");
        }
    }
}
