//! Members: of types, values, header stacks.

use hir::{Expr, ExprKind, Type, TypeId};
use syntax::ast;
use syntax::source::Span;

use super::Entity;
use crate::checker::{Checker, Place};
use crate::fold;
use crate::scope::Symbol;
use crate::suggest::nearest;

impl<'a> Checker<'a> {
    pub(super) fn member(&mut self, base: &'a ast::Expr, member: &'a ast::Ident, span: Span) -> Entity {
        let value = match self.entity(base, None) {
            Entity::Value(value) => value,
            Entity::Type(ty) => return Entity::Value(self.type_member(ty, member, span)),
            Entity::Symbol(Symbol::Poison) => return Entity::Symbol(Symbol::Poison),
            Entity::Symbol(symbol) => {
                let message = format!("{} has no member `{}`", symbol.what(), member.name);
                if matches!(symbol, Symbol::Table(_)) {
                    self.error_help(member.span, message, format!("apply it first: `.apply().{}`", member.name));
                } else {
                    self.error(member.span, message);
                }
                return Entity::Symbol(Symbol::Poison);
            }
        };
        Entity::Value(self.value_member(value, member, span))
    }

    /// `E.member`, `error.Member`.
    fn type_member(&mut self, ty: TypeId, member: &ast::Ident, span: Span) -> Expr {
        let name = &member.name;
        match self.ty(ty) {
            Type::Any => self.poison(span),
            Type::Error => match self.prog.errors.iter().position(|e| e == name) {
                Some(index) => self.make(ty, ExprKind::Error(index), span),
                None => {
                    let near = nearest(name, self.prog.errors.iter().map(String::as_str)).map(str::to_owned);
                    self.unknown(member.span, format!("there is no error `{name}`"), near);
                    self.poison(span)
                }
            },
            Type::Enum(id) => {
                let decl = &self.prog.types.enums[*id];
                let Some(index) = decl.members.iter().position(|m| m.name == *name) else {
                    let near = nearest(name, decl.members.iter().map(|m| m.name.as_str())).map(str::to_owned);
                    let message = format!("enum `{}` has no member `{name}`", decl.name);
                    self.unknown(member.span, message, near);
                    return self.poison(span);
                };
                let kind = match (decl.underlying, &decl.members[index].value) {
                    (None, _) => ExprKind::EnumMember(index),
                    (Some(_), Some(value)) => ExprKind::Int(value.clone()),
                    (Some(_), None) => return self.poison(span),
                };
                self.make(ty, kind, span)
            }
            _ => {
                let ty = self.name(ty);
                self.error(member.span, format!("the type `{ty}` has no member `{name}`"));
                self.poison(span)
            }
        }
    }

    fn value_member(&mut self, base: Expr, member: &ast::Ident, span: Span) -> Expr {
        if self.is_poison(&base) {
            return self.poison(span);
        }
        let ty = base.ty;
        match self.ty(ty).clone() {
            Type::Struct(_) | Type::Header(_) | Type::HeaderUnion(_) => self.field(base, member, span),
            Type::Stack(element, size) => self.stack_member(base, element, size, member, span),
            Type::TableResult(table) => match member.name.as_str() {
                "hit" => self.make(self.basic.bool, ExprKind::TableHit(table), span),
                "miss" => self.make(self.basic.bool, ExprKind::TableMiss(table), span),
                "action_run" => {
                    self.error(span, "`action_run` can only be the subject of a `switch`");
                    self.poison(span)
                }
                name => {
                    let near = nearest(name, ["hit", "miss", "action_run"]).map(str::to_owned);
                    let message = format!("applying a table yields no `{name}`, but `hit`, `miss` and `action_run`");
                    self.unknown(member.span, message, near);
                    self.poison(span)
                }
            },
            _ => {
                let (have, name) = (self.describe(&base), &member.name);
                self.error(member.span, format!("{have} has no field `{name}`"));
                self.poison(span)
            }
        }
    }

    fn field(&mut self, base: Expr, member: &ast::Ident, span: Span) -> Expr {
        let fields = self.prog.types.fields(base.ty).unwrap_or_default();
        let Some(index) = fields.iter().position(|f| f.name == member.name) else {
            let near = nearest(&member.name, fields.iter().map(|f| f.name.as_str())).map(str::to_owned);
            let ty = self.name(base.ty);
            let message = format!("`{ty}` has no field `{}`", member.name);
            let method = ["isValid", "setValid", "setInvalid"].contains(&member.name.as_str());
            if method && self.is_header(base.ty) {
                self.error_help(member.span, message, format!("call it: `{}()`", member.name));
            } else {
                self.unknown(member.span, message, near);
            }
            return self.poison(span);
        };
        let ty = fields[index].ty;
        if let ExprKind::Aggregate(items) = &base.kind
            && fold::is_const(&items[index])
        {
            return Expr { span, ..items[index].clone() };
        }
        self.make(ty, ExprKind::Field(Box::new(base), index), span)
    }

    fn stack_member(&mut self, base: Expr, element: TypeId, size: u32, member: &ast::Ident, span: Span) -> Expr {
        let name = member.name.as_str();
        let headers = self.is_header(element);
        match name {
            "size" => return self.make(self.basic.bit32, ExprKind::Int(size.into()), span),
            "next" | "last" | "lastIndex" if !headers => {
                let ty = self.name(base.ty);
                self.error(member.span, format!("`{name}` is there for stacks of headers, not for `{ty}`"));
                return self.poison(span);
            }
            "next" | "last" | "lastIndex" if self.body.place != Place::Parser => {
                self.error_help(
                    member.span,
                    format!("`{name}` of a stack can only be used in a parser"),
                    "elsewhere name the element by its index, as in `[0]`".into(),
                );
                return self.poison(span);
            }
            _ => {}
        }
        let base = Box::new(base);
        match name {
            "next" => self.make(element, ExprKind::StackNext(base), span),
            "last" => self.make(element, ExprKind::StackLast(base), span),
            "lastIndex" => self.make(self.basic.bit32, ExprKind::StackLastIndex(base), span),
            _ => {
                let near = nearest(name, ["next", "last", "lastIndex", "size"]).map(str::to_owned);
                let ty = self.name(base.ty);
                let message = format!("`{ty}` has no member `{name}`; index it first: `[i].{name}`");
                self.unknown(member.span, message, near);
                self.poison(span)
            }
        }
    }
}
