//! Calls of externs of the program's own, which Rust code answers at run time.

use hir::instances::{InstanceId, Value as Constant};
use hir::{Direction, Expr, ExternParam, TypeId};
use ir::{Arg, Dest, Extern, ExternObject, Inst, Place};
use num_bigint::BigUint;

use crate::context::{Lower, R, fail, offset};
use crate::layout::LeafKind;
use crate::lvalue::LValue;
use crate::value::{Value, Values};

impl Lower<'_> {
    /// A call of an extern function, or of a method of an object.
    pub fn call_plugin(
        &mut self,
        name: &str,
        object: Option<InstanceId>,
        params: &[ExternParam],
        args: &[Option<Expr>],
        call: &Expr,
    ) -> R<Option<Value>> {
        let object = object.map(|id| self.plugin_object(id)).transpose()?;
        let mut given: Vec<Arg> = Vec::new();
        let mut results: Vec<Dest> = Vec::new();
        let mut copies: Vec<(LValue, Place, TypeId)> = Vec::new();
        for (param, arg) in params.iter().zip(args) {
            let Some(arg) = arg else { return fail(call.span, "an extern of one's own has no optional parameters") };
            let out = matches!(param.direction, Some(Direction::Out | Direction::InOut));
            if param.direction != Some(Direction::Out) {
                self.args(arg, &mut given)?;
            }
            if out {
                let target = self.lvalue(arg)?;
                let place = self.result_place(arg.ty, &mut results)?;
                copies.push((target, place, arg.ty));
            }
        }
        let returned = match self.hir.types.get(call.ty) {
            hir::Type::Void => None,
            _ => Some(self.result_place(call.ty, &mut results)?),
        };
        let widths = results.iter().map(|dst| match dst {
            Dest::Frame(_, width) => *width,
            Dest::Temp(_) => 0,
        });
        let called = Extern { name: name.to_owned(), object, results: widths.collect() };
        let known = self.out.externs.iter().find(|(_, other)| **other == called).map(|(id, _)| id);
        let function = known.unwrap_or_else(|| self.out.externs.push(called));
        self.b.push(Inst::CallExtern { function, args: given, results });
        for (target, place, ty) in copies {
            let value = self.value_at(place, ty);
            self.assign(&target, ty, &value);
        }
        Ok(returned.map(|place| self.value_at(place, call.ty)))
    }

    fn value_at(&mut self, place: Place, ty: TypeId) -> Value {
        match self.scalar_type(ty) {
            Some((width, _)) => self.load(place, width),
            None => Value::Frame(place),
        }
    }

    /// Memory for a result: each scalar in it is one of its own.
    fn result_place(&mut self, ty: TypeId, results: &mut Vec<Dest>) -> R<Place> {
        let place = self.alloc(ty);
        let bytes = self.layout(ty).size;
        self.zero(place, bytes);
        for leaf in self.data_leaves(ty, "") {
            if let LeafKind::Scalar(width @ 1.., _) = leaf.kind {
                results.push(Dest::Frame(offset(place, leaf.offset), width));
            }
        }
        Ok(place)
    }

    fn plugin_object(&self, id: InstanceId) -> R<ExternObject> {
        let instance = self.instances.get(id);
        let hir::Type::Extern(decl, _) = self.hir.types.get(instance.ty) else {
            return fail(instance.span, "this object has no methods");
        };
        let mut args = Vec::new();
        for value in instance.args.iter().flatten() {
            args.push(match value {
                Constant::Int(number) => number.to_biguint().unwrap_or_default(),
                Constant::Bool(value) => BigUint::from(u8::from(*value)),
                Constant::EnumMember(_, index) | Constant::Error(index) => BigUint::from(*index),
                _ => {
                    let message =
                        "the constructor of an extern of one's own takes numbers, bool, errors and enum members";
                    return fail(instance.span, message);
                }
            });
        }
        Ok(ExternObject { name: instance.name.clone(), kind: self.hir.types.externs[*decl].name.clone(), args })
    }
}
