//! Methods that values have by the language itself: validity, stacks, sizes.

use hir::{Call, Callee, Expr, ExprKind, Type, TypeId};
use num_traits::ToPrimitive;
use syntax::ast;

use crate::arguments::CallSite;
use crate::checker::{Checker, Place};
use crate::suggest::nearest;

const SIZE_METHODS: [&str; 4] = ["minSizeInBits", "maxSizeInBits", "minSizeInBytes", "maxSizeInBytes"];

impl<'a> Checker<'a> {
    pub fn builtin_method(&mut self, object: Expr, member: &ast::Ident, site: CallSite<'a>) -> Option<Expr> {
        if let Some(bits) = self.size_method(object.ty, member, site) {
            return bits;
        }
        let name = member.name.as_str();
        let known: &[&str] = match self.ty(object.ty) {
            Type::Header(_) => &["isValid", "setValid", "setInvalid"],
            Type::HeaderUnion(_) => &["isValid"],
            Type::Stack(element, _) if self.is_header(*element) => &["push_front", "pop_front"],
            _ => &[],
        };
        if !known.contains(&name) {
            let near = nearest(name, known.iter().copied()).map(str::to_owned);
            let message = format!("{} has no method `{name}`", self.describe(&object));
            self.unknown(member.span, message, near);
            return None;
        }
        match name {
            "isValid" => {
                self.no_arguments(name, site)?;
                Some(self.make(self.basic.bool, ExprKind::IsValid(Box::new(object)), site.span))
            }
            "setValid" | "setInvalid" => {
                self.no_arguments(name, site)?;
                if !self.check_writable(&object, "the validity of this cannot be changed") {
                    return None;
                }
                let object = Box::new(object);
                let callee = if name == "setValid" { Callee::SetValid(object) } else { Callee::SetInvalid(object) };
                Some(self.builtin_call(callee, site))
            }
            _ => {
                if self.body.place == Place::Parser {
                    self.error(site.span, format!("`{name}` cannot be used in a parser"));
                    return None;
                }
                if !self.check_writable(&object, "this cannot be shifted") {
                    return None;
                }
                let [arg] = site.args else {
                    self.error(site.span, format!("`{name}` takes 1 argument, {} given", site.args.len()));
                    return None;
                };
                let by = self.const_number(&arg.value, "the number of elements to shift by")?;
                let Some(by) = by.to_u32() else {
                    self.error(arg.span, format!("a stack cannot be shifted by {by} elements"));
                    return None;
                };
                let object = Box::new(object);
                let callee =
                    if name == "push_front" { Callee::PushFront(object, by) } else { Callee::PopFront(object, by) };
                Some(self.builtin_call(callee, site))
            }
        }
    }

    fn builtin_call(&self, callee: Callee, site: CallSite<'a>) -> Expr {
        self.make(self.basic.void, ExprKind::Call(Box::new(Call { callee, args: Vec::new() })), site.span)
    }

    fn no_arguments(&mut self, name: &str, site: CallSite<'a>) -> Option<()> {
        if site.args.is_empty() {
            return Some(());
        }
        self.error(site.span, format!("`{name}` takes no arguments, {} given", site.args.len()));
        None
    }

    /// `minSizeInBits()` and its like, of a type or a value; the outer `None` says that the method is another.
    pub fn size_method(&mut self, ty: TypeId, member: &ast::Ident, site: CallSite<'a>) -> Option<Option<Expr>> {
        let name = member.name.as_str();
        if !SIZE_METHODS.contains(&name) {
            return None;
        }
        if self.no_arguments(name, site).is_none() {
            return Some(None);
        }
        let Some(bits) = self.bits(ty, name.starts_with("max")) else {
            if ty != self.basic.any {
                let ty = self.name(ty);
                self.error(site.span, format!("`{ty}` has no size in bits"));
            }
            return Some(None);
        };
        let size = if name.ends_with("Bytes") { bits.div_ceil(8) } else { bits };
        Some(Some(self.make(self.basic.int, ExprKind::Int(size.into()), site.span)))
    }

    /// The least or the greatest number of bits that a value of the type has in a packet.
    fn bits(&self, ty: TypeId, greatest: bool) -> Option<u64> {
        Some(match self.ty(self.prog.types.stored(ty)) {
            Type::Bool => 1,
            Type::Bit(w) | Type::Signed(w) => u64::from(*w),
            Type::Varbit(w) => {
                if greatest {
                    u64::from(*w)
                } else {
                    0
                }
            }
            Type::Struct(id) | Type::Header(id) => {
                self.sum(self.prog.types.structs[*id].fields.iter().map(|f| f.ty), greatest)?
            }
            Type::Tuple(items) => self.sum(items.iter().copied(), greatest)?,
            Type::Stack(element, size) => self.bits(*element, greatest)?.saturating_mul(u64::from(*size)),
            Type::HeaderUnion(id) => {
                let fields = &self.prog.types.structs[*id].fields;
                let sizes: Option<Vec<u64>> = fields.iter().map(|f| self.bits(f.ty, greatest)).collect();
                let sizes = sizes?.into_iter();
                (if greatest { sizes.max() } else { sizes.min() }).unwrap_or(0)
            }
            _ => return None,
        })
    }

    fn sum(&self, types: impl Iterator<Item = TypeId>, greatest: bool) -> Option<u64> {
        types.map(|ty| self.bits(ty, greatest)).try_fold(0u64, |sum, bits| Some(sum.saturating_add(bits?)))
    }
}
