//! Expressions: names, literals, and parts of values.

mod member;
mod slice;

use hir::{Direction, Expr, ExprKind, Type, TypeId, VarKind};
use syntax::ast;
use syntax::source::Span;

use crate::checker::Checker;
use crate::fold;
use crate::scope::Symbol;
use crate::signature::Ty;
use crate::suggest::nearest;
use crate::types::count;

/// What an expression of the source names: a value, or something only some places take.
pub enum Entity {
    Value(Expr),
    Type(TypeId),
    /// Anything else that a name can stand for.
    Symbol(Symbol),
}

impl<'a> Checker<'a> {
    /// The expression with its type. `expected` is the type the place asks for; it guides literals, and whether the
    /// result has it is for the caller to see to ([`Checker::coerce`]).
    pub fn expr(&mut self, e: &'a ast::Expr, expected: Option<TypeId>) -> Expr {
        match self.entity(e, expected) {
            Entity::Value(value) => value,
            Entity::Type(ty) => {
                let name = self.name(ty);
                let message = format!("`{name}` is a type, a value is expected");
                if ty == self.basic.any {
                    // Reported where the type was.
                } else if self.block_sig(ty).is_some() {
                    self.error_help(e.span, message, "write `(...)` behind it to make an instance".into());
                } else {
                    self.error(e.span, message);
                }
                self.poison(e.span)
            }
            Entity::Symbol(Symbol::Poison) => self.poison(e.span),
            Entity::Symbol(symbol) => {
                let what = symbol.what();
                let labels = match &e.kind {
                    ast::ExprKind::Path(path) => self.declared_here(path),
                    _ => Vec::new(),
                };
                self.error_at(e.span, format!("{what} cannot stand as a value here"), &labels);
                self.poison(e.span)
            }
        }
    }

    /// An expression that must be of the type.
    pub fn expr_of(&mut self, e: &'a ast::Expr, ty: TypeId) -> Expr {
        let value = self.expr(e, Some(ty));
        self.coerce(value, ty)
    }

    pub fn entity(&mut self, e: &'a ast::Expr, expected: Option<TypeId>) -> Entity {
        let entity = self.deeper(e.span, |checker| checker.entity_here(e, expected));
        entity.unwrap_or(Entity::Symbol(Symbol::Poison))
    }

    fn entity_here(&mut self, e: &'a ast::Expr, expected: Option<TypeId>) -> Entity {
        let span = e.span;
        Entity::Value(match &e.kind {
            ast::ExprKind::Path(path) => return self.path(path, span),
            ast::ExprKind::Type(ty) => {
                return match self.resolve_ty(ty) {
                    Ty::Known(id) => Entity::Type(id),
                    _ => Entity::Symbol(Symbol::Poison),
                };
            }
            ast::ExprKind::Member { base, member } => return self.member(base, member, span),
            ast::ExprKind::Bool(b) => self.make(self.basic.bool, ExprKind::Bool(*b), span),
            ast::ExprKind::Int(lit) => self.int_literal(lit, span),
            ast::ExprKind::Str(s) => self.make(self.basic.string, ExprKind::Str(s.clone()), span),
            ast::ExprKind::This => {
                self.error(span, "`this` has a meaning only in the body of an abstract method");
                self.poison(span)
            }
            ast::ExprKind::DontCare => {
                self.error(span, "`_` can only stand for an argument of an `out` parameter");
                self.poison(span)
            }
            ast::ExprKind::Dots => match expected {
                Some(ty) => self.default_value(ty, span),
                None => {
                    self.error(span, "the type of `...` is not known here");
                    self.poison(span)
                }
            },
            ast::ExprKind::Invalid => {
                let invalid = self.make(self.basic.any, ExprKind::Invalid, span);
                match expected {
                    Some(ty) => self.coerce(invalid, ty),
                    None => invalid,
                }
            }
            ast::ExprKind::Index { base, index } => self.index(base, index, span),
            ast::ExprKind::Slice { base, hi, lo } => self.slice(base, hi, lo, span),
            ast::ExprKind::PlusSlice { base, low, width } => self.slice_from(base, low, width, span),
            ast::ExprKind::Unary { op, operand } => {
                let operand = self.expr(operand, None);
                self.unary(*op, operand, span)
            }
            ast::ExprKind::Binary { op, left, right } => {
                let equality = matches!(op, ast::BinaryOp::Eq | ast::BinaryOp::Ne);
                if equality && matches!(left.kind, ast::ExprKind::Struct { .. }) {
                    // Only the other side can say what `{f = a}` is.
                    let right = self.expr(right, None);
                    let left = self.expr(left, Some(right.ty));
                    return Entity::Value(self.binary(*op, left, right, span));
                }
                let left = self.expr(left, None);
                let hint = equality.then_some(left.ty).filter(|ty| self.is_composite(*ty));
                let right = self.expr(right, hint);
                self.binary(*op, left, right, span)
            }
            ast::ExprKind::Ternary { cond, then, otherwise } => {
                let cond = self.expr(cond, None);
                let then = self.expr(then, expected);
                let otherwise = self.expr(otherwise, expected);
                self.ternary(cond, then, otherwise, span)
            }
            ast::ExprKind::Cast { ty, operand } => {
                let to = self.resolve_type(ty);
                let hint = self.is_composite(to).then_some(to);
                let operand = self.expr(operand, hint);
                if to == self.basic.string && operand.ty != to {
                    self.error(ty.span, "nothing can be cast to `string`");
                    return Entity::Value(self.poison(span));
                }
                self.cast(operand, to, span)
            }
            ast::ExprKind::Call { callee, type_args, args } => self.call(callee, type_args, args, span, expected),
            ast::ExprKind::List(items) => self.list(items, span, expected),
            ast::ExprKind::Struct { fields, dots } => self.struct_literal(fields, *dots, span, expected),
        })
    }

    fn is_composite(&self, ty: TypeId) -> bool {
        self.part_types(ty, 0).is_some() || self.is_header(ty)
    }

    fn path(&mut self, path: &'a ast::Path, span: Span) -> Entity {
        // The members of `match_kind` are names of the top level that any other declaration hides.
        let kind = self.prog.match_kinds.iter().position(|kind| *kind == path.name.name);
        if let (None, Some(kind)) = (self.find(path), kind) {
            return Entity::Value(self.make(self.basic.match_kind, ExprKind::EnumMember(kind), span));
        }
        let symbol = self.lookup(path, "name", |s| !matches!(s, Symbol::Poison));
        match symbol {
            Symbol::Var(var) => {
                let ty = self.prog.vars[var].ty;
                Entity::Value(self.make(ty, ExprKind::Var(var), span))
            }
            Symbol::Const(value) => Entity::Value(Expr { span, ..(*value).clone() }),
            Symbol::Type(ty) => Entity::Type(ty),
            Symbol::Parser(id) => Entity::Type(self.intern(Type::Parser(id))),
            Symbol::Control(id) => Entity::Type(self.intern(Type::Control(id))),
            other => Entity::Symbol(other),
        }
    }

    fn int_literal(&mut self, lit: &ast::IntLit, span: Span) -> Expr {
        let Some(width) = lit.width else {
            if lit.value.bits() > fold::MAX_INT_BITS {
                self.error(span, format!("constants may have up to {} bits", fold::MAX_INT_BITS));
                return self.poison(span);
            }
            return self.make(self.basic.int, ExprKind::Int(lit.value.clone()), span);
        };
        if width.bits > crate::types::MAX_WIDTH || (width.signed && width.bits == 0) {
            let least = u32::from(width.signed);
            let most = crate::types::MAX_WIDTH;
            self.error(span, format!("a width of {} bits: it must be between {least} and {most}", width.bits));
            return self.poison(span);
        }
        let ty = if width.signed { Type::Signed(width.bits) } else { Type::Bit(width.bits) };
        if !fold::fits(&lit.value, &ty) {
            let kept = fold::wrap(&lit.value, &ty);
            let message = format!("{} does not fit in {} bits; its low bits give {kept}", lit.value, width.bits);
            self.warn(span, message);
        }
        let value = fold::wrap(&lit.value, &ty);
        let ty = self.intern(ty);
        self.make(ty, ExprKind::Int(value), span)
    }

    /// `{a, b, ...}`.
    fn list(&mut self, items: &'a [ast::Expr], span: Span, expected: Option<TypeId>) -> Expr {
        let dots = items.last().filter(|e| e.kind == ast::ExprKind::Dots).map(|e| e.span);
        let items = if dots.is_some() { &items[..items.len() - 1] } else { items };
        let parts = expected.and_then(|ty| Some((ty, self.part_types(ty, items.len())?)));
        let Some((ty, parts)) = parts else {
            if let Some(dots) = dots {
                self.error(dots, "the type of the list is not known here, so `...` cannot be filled in");
                return self.poison(span);
            }
            let values: Vec<Expr> = items.iter().map(|item| self.expr(item, None)).collect();
            if values.iter().any(|value| self.is_poison(value)) {
                return self.poison(span);
            }
            if let Some(object) = values.iter().find(|value| self.is_object(value.ty)) {
                let (at, found) = (object.span, self.describe(object));
                self.error(at, format!("{found} cannot be in a list"));
                return self.poison(span);
            }
            let types = values.iter().map(|value| value.ty).collect();
            let ty = self.intern(Type::Tuple(types));
            return self.make(ty, ExprKind::Aggregate(values), span);
        };
        if items.len() > parts.len() || (items.len() < parts.len() && dots.is_none()) {
            let name = self.name(ty);
            let message = format!("`{name}` takes {}, found {}", count(parts.len(), "element"), items.len());
            if items.len() < parts.len() && !items.is_empty() {
                self.error_help(span, message, "end the list with `...` to take defaults for the rest".into());
            } else {
                self.error(span, message);
            }
            return self.poison(span);
        }
        let mut values: Vec<Expr> = items.iter().zip(&parts).map(|(item, ty)| self.expr_of(item, *ty)).collect();
        if let Some(dots) = dots {
            for ty in &parts[values.len()..] {
                let value = self.default_value(*ty, dots);
                values.push(value);
            }
        }
        if values.iter().any(|value| self.is_poison(value)) {
            return self.poison(span);
        }
        self.make(ty, ExprKind::Aggregate(values), span)
    }

    /// `{f = a, ...}`.
    fn struct_literal(
        &mut self,
        fields: &'a [ast::KeyValue],
        dots: Option<Span>,
        span: Span,
        expected: Option<TypeId>,
    ) -> Expr {
        self.check_distinct(fields.iter().map(|f| &f.key), "field");
        let wanted = expected.filter(|ty| matches!(self.ty(*ty), Type::Struct(_) | Type::Header(_)));
        let Some(ty) = wanted else {
            for field in fields {
                self.expr(&field.value, None);
            }
            match expected.filter(|ty| *ty != self.basic.any) {
                Some(ty) => {
                    let name = self.name(ty);
                    self.error(span, format!("expected `{name}`, found values for the fields of a struct"));
                }
                None => self.error_help(
                    span,
                    "the type of this struct is not known here",
                    "put the type in front: `(T) { ... }`".into(),
                ),
            }
            return self.poison(span);
        };
        let types = self.part_types(ty, 0).unwrap_or_default();
        let names = self.field_names(ty).unwrap_or_default();
        let mut values: Vec<Option<Expr>> = vec![None; names.len()];
        let mut failed = false;
        for field in fields {
            match names.iter().position(|name| *name == field.key.name) {
                Some(at) => values[at] = Some(self.expr_of(&field.value, types[at])),
                None => {
                    let near = nearest(&field.key.name, names.iter().map(String::as_str)).map(str::to_owned);
                    let message = format!("`{}` has no field `{}`", self.name(ty), field.key.name);
                    self.unknown(field.key.span, message, near);
                    self.expr(&field.value, None);
                    failed = true;
                }
            }
        }
        let missing: Vec<&str> =
            names.iter().zip(&values).filter(|(_, v)| v.is_none()).map(|(name, _)| name.as_str()).collect();
        if !missing.is_empty() && dots.is_none() && !failed {
            let message = format!("no value for `{}` of `{}`", missing.join("`, `"), self.name(ty));
            self.error_help(span, message, "end the list with `...` to take defaults for the rest".into());
            failed = true;
        }
        if failed {
            return self.poison(span);
        }
        let values: Vec<Expr> = values
            .into_iter()
            .zip(types)
            .map(|(value, ty)| value.unwrap_or_else(|| self.default_value(ty, dots.unwrap_or(span))))
            .collect();
        if values.iter().any(|value| self.is_poison(value)) {
            return self.poison(span);
        }
        self.make(ty, ExprKind::Aggregate(values), span)
    }

    /// Why nothing can be stored in the expression; `None` if something can.
    pub fn not_writable(&self, e: &Expr) -> Option<(String, Option<(Span, String)>)> {
        match &e.kind {
            ExprKind::Var(id) => {
                let var = &self.prog.vars[*id];
                let name = &var.name;
                let why = match &var.kind {
                    VarKind::Local if !self.readonly.contains(id) => return None,
                    VarKind::Param(Some(Direction::Out | Direction::InOut)) => return None,
                    VarKind::Local => format!("`{name}` is a constant"),
                    VarKind::Param(Some(Direction::In)) => format!("`{name}` is an `in` parameter"),
                    VarKind::Param(None) => {
                        format!("`{name}` is a parameter without direction, which can only be read")
                    }
                    VarKind::CtorParam => format!("`{name}` is a constructor parameter"),
                    VarKind::Instance(_) => format!("`{name}` is an instance"),
                };
                Some((why, Some((var.span, format!("`{name}` is declared here")))))
            }
            ExprKind::Field(base, _)
            | ExprKind::TupleField(base, _)
            | ExprKind::Index(base, _)
            | ExprKind::StackNext(base)
            | ExprKind::StackLast(base)
            | ExprKind::Slice { base, .. }
            | ExprKind::SliceFrom { base, .. } => self.not_writable(base),
            _ if self.is_poison(e) => None,
            _ if fold::is_const(e) => Some(("it is a constant".into(), None)),
            _ => Some(("it is a computed value, not a variable or a part of one".into(), None)),
        }
    }

    /// Reports an expression that nothing can be stored in; `problem` is how the message begins.
    pub fn check_writable(&mut self, e: &Expr, problem: &str) -> bool {
        let Some((why, label)) = self.not_writable(e) else { return true };
        let labels: Vec<(Span, String)> = label.into_iter().collect();
        self.error_at(e.span, format!("{problem}: {why}"), &labels);
        false
    }
}
