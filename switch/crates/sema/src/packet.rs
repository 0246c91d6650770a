//! What the methods of core.p4's `packet_in` take beyond their signatures.

use hir::{Expr, Type, TypeId};
use syntax::source::Span;

use crate::checker::Checker;

impl Checker<'_> {
    pub fn check_packet_in(&mut self, method: &str, args: &[Option<Expr>], type_args: &[TypeId], span: Span) {
        let &[ty] = type_args else { return };
        if ty == self.basic.any {
            return;
        }
        let at = args.first().and_then(|arg| arg.as_ref().map(|e| e.span)).unwrap_or(span);
        let name = self.name(ty);
        match method {
            "extract" => {
                if !matches!(self.ty(ty), Type::Header(_)) {
                    self.error(at, format!("only a header can be extracted, found `{name}`"));
                    return;
                }
                let fields = self.prog.types.fields(ty).unwrap_or_default();
                let varbits = fields.iter().filter(|f| self.has_varbit(f.ty)).count();
                if varbits > 1 {
                    self.error(at, format!("`{name}` has {varbits} `varbit` fields; one can be extracted"));
                    return;
                }
                let varies = varbits == 1;
                if varies && args.len() == 1 {
                    self.error_help(
                        at,
                        format!("`{name}` has a `varbit` field, whose size is not given"),
                        "write it as a second argument, in bits: `extract(h, size)`".into(),
                    );
                } else if !varies && args.len() == 2 {
                    self.error_help(
                        at,
                        format!("`{name}` has no `varbit` field that could take the size"),
                        "leave the second argument out".into(),
                    );
                }
            }
            "lookahead" if self.has_varbit(ty) || self.is_object(ty) || self.has_int(ty) || self.is_union(ty) => {
                self.error(span, format!("only a type of fixed width can be looked ahead, found `{name}`"));
            }
            _ => {}
        }
    }

    fn is_union(&self, ty: TypeId) -> bool {
        matches!(self.ty(ty), Type::HeaderUnion(_) | Type::String | Type::MatchKind | Type::Error)
    }

    fn has_varbit(&self, ty: TypeId) -> bool {
        match self.ty(self.prog.types.stored(ty)) {
            Type::Varbit(_) => true,
            Type::Struct(id) | Type::Header(id) | Type::HeaderUnion(id) => {
                self.prog.types.structs[*id].fields.iter().any(|f| self.has_varbit(f.ty))
            }
            Type::Tuple(items) => items.iter().any(|item| self.has_varbit(*item)),
            Type::Stack(element, _) => self.has_varbit(*element),
            _ => false,
        }
    }
}
