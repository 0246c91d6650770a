//! Sets of values in `select` cases and table entries.

use hir::{Expr, ExprKind, KeySet, Type, TypeId};
use num_traits::Zero;
use syntax::ast;
use syntax::source::Span;

use crate::checker::Checker;
use crate::fold;
use crate::parsers::Shape;
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
                    self.warn(set.span, message);
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

    /// The sets of a `select` case, one for each selected value.
    pub fn select_keys(
        &mut self,
        keys: &'a [ast::KeySet],
        shapes: &[Shape],
        types: &[TypeId],
        span: Span,
    ) -> Option<Vec<KeySet>> {
        if let [key] = keys {
            if matches!(key.kind, ast::KeySetKind::Default | ast::KeySetKind::Any) {
                return Some(vec![KeySet::Any]);
            }
            if let Some(set) = self.value_set(key) {
                return self.fit_value_set(set, types, key.span).map(|set| vec![set]);
            }
            if let ([Shape::Value], ast::KeySetKind::Value(ast::Expr { kind: ast::ExprKind::List(items), .. })) =
                (shapes, &key.kind)
                && let [item] = items.as_slice()
            {
                return Some(vec![KeySet::Value(self.expr_of(item, types[0]))]);
            }
        }
        if keys.len() != shapes.len() {
            let message = format!("{} in `select`, {} in this case", count(shapes.len(), "expression"), keys.len());
            self.error(span, message);
            return None;
        }
        let mut sets = Vec::new();
        let mut at = 0;
        for (key, shape) in keys.iter().zip(shapes) {
            let types = &types[at..at + shape.values()];
            at += shape.values();
            match (self.value_set(key), shape) {
                (Some(set), _) => sets.push(self.fit_value_set(set, types, key.span)),
                (None, Shape::Value) => sets.push(self.key_set(key, types[0])),
                (None, Shape::List(_)) => self.list_keys(key, shape, types, &mut sets),
            }
        }
        let sets: Option<Vec<KeySet>> = sets.into_iter().collect();
        for set in sets.iter().flatten() {
            self.check_constant_set(set);
        }
        sets
    }

    /// The sets for a list among the selected expressions: a list of values, or anything.
    fn list_keys(&mut self, key: &'a ast::KeySet, shape: &Shape, types: &[TypeId], out: &mut Vec<Option<KeySet>>) {
        match &key.kind {
            ast::KeySetKind::Default | ast::KeySetKind::Any => {
                out.extend(std::iter::repeat_n(Some(KeySet::Any), shape.values()));
            }
            ast::KeySetKind::Value(value) => self.list_values(value, shape, &mut types.iter(), out),
            _ => {
                self.error(key.span, "a list is matched by a list of values");
                out.push(None);
            }
        }
    }

    fn list_values(
        &mut self,
        value: &'a ast::Expr,
        shape: &Shape,
        types: &mut std::slice::Iter<TypeId>,
        out: &mut Vec<Option<KeySet>>,
    ) {
        match (shape, &value.kind) {
            (Shape::Value, _) => {
                let Some(ty) = types.next() else { return };
                let value = self.expr_of(value, *ty);
                out.push((!self.is_poison(&value)).then_some(KeySet::Value(value)));
            }
            (Shape::List(shapes), ast::ExprKind::List(items)) if items.len() == shapes.len() => {
                for (item, shape) in items.iter().zip(shapes) {
                    self.list_values(item, shape, types, out);
                }
            }
            (Shape::List(shapes), _) => {
                self.error(value.span, format!("expected a list of {}", count(shapes.len(), "value")));
                out.push(None);
            }
        }
    }

    /// The types of the values in a value of the type, however deep they lie.
    fn leaf_types(&self, ty: TypeId, out: &mut Vec<TypeId>) {
        match self.ty(ty) {
            Type::Struct(_) | Type::Tuple(_) => {
                for part in self.part_types(ty, 0).unwrap_or_default() {
                    self.leaf_types(part, out);
                }
            }
            _ => out.push(ty),
        }
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
        let mut leaves = Vec::new();
        self.leaf_types(ty, &mut leaves);
        // A set of structs matches the list of their fields.
        if types == [ty] || types == leaves || ty == self.basic.any || types.contains(&self.basic.any) {
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
