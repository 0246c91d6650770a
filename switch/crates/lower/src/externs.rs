//! Calls of extern functions and methods: those that all architectures have, and the way to each one's own.

use hir::instances::InstanceId;
use hir::{Expr, ExternFnId, TypeId};
use ir::{HashAlgorithm, Inst, Operand, RegisterId};

use crate::context::{Lower, R, fail};
use crate::value::{TRUE, Value, Values, arg};

/// What came of a call of an extern.
pub enum Called {
    Value(Value),
    NoValue,
    /// The architecture has no such extern: it is the program's own.
    Unknown,
}

impl Called {
    fn value(self) -> Option<Value> {
        match self {
            Self::Value(value) => Some(value),
            Self::NoValue | Self::Unknown => None,
        }
    }
}

impl Lower<'_> {
    pub fn call_extern(
        &mut self,
        function: ExternFnId,
        type_args: &[TypeId],
        args: &[Option<Expr>],
        call: &Expr,
    ) -> R<Option<Value>> {
        let name = self.hir.extern_fns[function].name.as_str();
        let given: Vec<&Expr> = args.iter().flatten().collect();
        match (name, given.as_slice()) {
            ("verify", [check, error]) => self.verify(check, error, call)?,
            ("assert" | "assume", [check]) => {
                let cond = self.scalar(check)?;
                let at = self.sources.location(call.span);
                let text = format!("{}:{}: {}", at.file, at.line, self.snippet(call.span));
                let text = self.out.strings.push(text);
                self.b.push(Inst::Assert { cond, text });
            }
            ("static_assert", _) => return Ok(Some(Value::Scalar(TRUE))),
            _ => {
                let called = match self.instances.architecture().is_psa() {
                    true => self.psa_function(name, &given)?,
                    false => self.v1model_function(name, type_args, &given, call)?,
                };
                return match called {
                    Called::Unknown => self.call_plugin(name, None, &self.hir.extern_fns[function].params, args, call),
                    known => Ok(known.value()),
                };
            }
        }
        Ok(None)
    }

    fn verify(&mut self, check: &Expr, error: &Expr, call: &Expr) -> R<()> {
        let Some(reject) = self.reject else {
            return fail(call.span, "`verify` can only be used in a parser");
        };
        let ok = self.scalar(check)?;
        let error = self.scalar(error)?;
        let (good, bad) = (self.b.block(), self.b.block());
        self.b.branch(ok, good, bad);
        self.b.enter(bad);
        self.raise(error, reject);
        self.b.enter(good);
        Ok(())
    }

    pub fn algorithm(&self, expr: &Expr) -> R<HashAlgorithm> {
        let name = self.constant_member(expr, "the hash algorithm")?;
        match crate::objects::algorithm(name) {
            Some(algorithm) => Ok(algorithm),
            None => {
                fail(expr.span, format!("`{name}` is not a hash algorithm of {}", self.instances.architecture().name))
            }
        }
    }

    /// `object.method(...)` of an extern object.
    pub fn call_method(
        &mut self,
        object: &Expr,
        method: usize,
        type_args: &[TypeId],
        args: &[Option<Expr>],
        call: &Expr,
    ) -> R<Option<Value>> {
        let hir::Type::Extern(id, _) = self.hir.types.get(object.ty) else {
            return fail(object.span, "this object has no methods");
        };
        let decl = &self.hir.types.externs[*id];
        let params = &decl.methods[method].params;
        let method = decl.methods[method].name.as_str();
        if matches!(decl.name.as_str(), "packet_in" | "packet_out") {
            return self.call_packet(method, type_args, args, call);
        }
        let instance = self.instance_of(object)?;
        let given: Vec<&Expr> = args.iter().flatten().collect();
        let called = match self.instances.architecture().is_psa() {
            true => self.psa_method(&decl.name, method, object, instance, &given, call)?,
            false => self.v1model_method(&decl.name, method, object, instance, &given)?,
        };
        match called {
            Called::Unknown => self.call_plugin(method, Some(instance), params, args, call),
            known => Ok(known.value()),
        }
    }

    pub fn object_index(&mut self, index: &Expr) -> R<Operand> {
        let width = self.width(index.ty, index.span)?;
        let value = self.expr(index)?;
        Ok(self.saturated_index(&value, width, false, u128::from(u32::MAX)))
    }

    /// A cell of a register, whose elements are of type `ty`.
    pub fn read_cell(&mut self, register: RegisterId, index: Operand, ty: TypeId) -> Value {
        let width = self.out.registers[register].width;
        let (dst, value) = self.dest(width);
        self.b.push(Inst::RegisterRead { dst, register, index });
        if self.scalar_type(ty).is_some() {
            return value;
        }
        let place = self.alloc(ty);
        let bytes = self.layout(ty).size;
        self.zero(place, bytes);
        self.unpack(&value, width, place, ty);
        Value::Frame(place)
    }

    pub fn register_write(&mut self, instance: InstanceId, index: &Expr, value: &Expr) -> R<()> {
        let Some(&register) = self.objects.registers.get(&instance) else { return Ok(()) };
        let width = self.out.registers[register].width;
        let index = self.object_index(index)?;
        let value = match self.scalar_type(value.ty) {
            Some(_) => self.expr(value)?,
            None => {
                let spot = self.spot(value)?;
                self.pack(spot.place, value.ty)
            }
        };
        self.b.push(Inst::RegisterWrite { register, index, value: arg(&value, width) });
        Ok(())
    }
}
