//! v1model's extern functions.

use hir::instances::{full_name, name_annotation};
use hir::{Expr, ExternFnId, TypeId};
use ir::{CloneKind, CompareOp, HashAlgorithm, Inst, Operand};
use syntax::source::Span;

use crate::context::{Active, Lower, R, fail};
use crate::objects::UnnamedDigest;
use crate::value::{TRUE, Value, Values, arg};

/// `egress_spec` of a packet that is to be dropped.
const DROP_PORT: u128 = 511;

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
            ("mark_to_drop", []) => {
                let (place, ty) = self.shared.standard;
                self.mark_to_drop(place, ty);
            }
            ("mark_to_drop", [metadata]) => {
                let spot = self.spot(metadata)?;
                self.mark_to_drop(spot.place, metadata.ty);
            }
            ("hash", [result, algorithm, base, data, max]) => self.hash(result, algorithm, base, data, max)?,
            ("random", [result, lo, hi]) => {
                let width = self.width(result.ty, result.span)?;
                let target = self.lvalue(result)?;
                let (lo, hi) = (self.arg(lo)?, self.arg(hi)?);
                let (dst, value) = self.dest(width);
                self.b.push(Inst::Random { dst, lo, hi });
                self.assign(&target, result.ty, &value);
            }
            ("digest", [_, data]) => self.digest(data, type_args, call.span)?,
            ("verify_checksum" | "verify_checksum_with_payload", [cond, data, checksum, algorithm]) => {
                let payload = name.ends_with("payload");
                self.checksum(cond, data, checksum, algorithm, payload, false)?;
            }
            ("update_checksum" | "update_checksum_with_payload", [cond, data, checksum, algorithm]) => {
                let payload = name.ends_with("payload");
                self.checksum(cond, data, checksum, algorithm, payload, true)?;
            }
            ("clone", [kind, session]) => self.clone_packet(kind, session, None)?,
            ("clone3", [kind, session, data]) => {
                let fields = self.field_list_of(data)?;
                self.clone_packet(kind, session, Some(fields))?;
            }
            ("clone_preserving_field_list", [kind, session, list]) => {
                let fields = self.field_list(list)?;
                self.clone_packet(kind, session, Some(fields))?;
            }
            ("resubmit", data) => {
                let fields = data.first().map(|data| self.field_list_of(data)).transpose()?;
                self.b.push(Inst::Resubmit { fields });
            }
            ("resubmit_preserving_field_list", [list]) => {
                let fields = Some(self.field_list(list)?);
                self.b.push(Inst::Resubmit { fields });
            }
            ("recirculate", data) => {
                let fields = data.first().map(|data| self.field_list_of(data)).transpose()?;
                self.b.push(Inst::Recirculate { fields });
            }
            ("recirculate_preserving_field_list", [list]) => {
                let fields = Some(self.field_list(list)?);
                self.b.push(Inst::Recirculate { fields });
            }
            ("truncate", [bytes]) => {
                let bytes = self.scalar(bytes)?;
                self.b.push(Inst::Truncate { bytes });
            }
            ("assert" | "assume", [check]) => {
                let cond = self.scalar(check)?;
                let at = self.sources.location(call.span);
                let text = format!("{}:{}: {}", at.file, at.line, self.snippet(call.span));
                let text = self.out.strings.push(text);
                self.b.push(Inst::Assert { cond, text });
            }
            ("log_msg", [format, data @ ..]) => {
                let Some(hir::instances::Value::Str(format)) = self.constant(format) else {
                    return fail(format.span, "the message must be a string literal");
                };
                let format = self.out.strings.push(format);
                let mut args = Vec::new();
                data.iter().try_for_each(|data| self.args(data, &mut args))?;
                self.b.push(Inst::LogMessage { format, args });
            }
            ("static_assert", _) => return Ok(Some(Value::Scalar(TRUE))),
            _ => return fail(call.span, format!("v1model has no function `{name}` with these arguments")),
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

    fn mark_to_drop(&mut self, place: ir::Place, ty: TypeId) {
        for (name, value) in [("egress_spec", DROP_PORT), ("mcast_grp", 0)] {
            if let Some((field, width)) = self.field(place, ty, name) {
                self.b.store(field, width, Operand::Imm(value));
            }
        }
    }

    fn algorithm(&self, expr: &Expr) -> R<HashAlgorithm> {
        let name = self.constant_member(expr, "the hash algorithm")?;
        match crate::objects::algorithm(name) {
            Some(algorithm) => Ok(algorithm),
            None => fail(expr.span, format!("`{name}` is not a hash algorithm of v1model")),
        }
    }

    fn hash(&mut self, result: &Expr, algorithm: &Expr, base: &Expr, data: &Expr, max: &Expr) -> R<()> {
        let width = self.width(result.ty, result.span)?;
        let target = self.lvalue(result)?;
        let algorithm = self.algorithm(algorithm)?;
        let base = self.arg(base)?;
        let mut list = Vec::new();
        self.args(data, &mut list)?;
        let max = self.arg(max)?;
        let (dst, value) = self.dest(width);
        self.b.push(Inst::Hash { dst, algorithm, base, data: list, max });
        self.assign(&target, result.ty, &value);
        Ok(())
    }

    fn checksum(
        &mut self,
        cond: &Expr,
        data: &Expr,
        checksum: &Expr,
        algorithm: &Expr,
        payload: bool,
        update: bool,
    ) -> R<()> {
        let algorithm = self.algorithm(algorithm)?;
        let width = self.width(checksum.ty, checksum.span)?;
        let (then, done) = (self.b.block(), self.b.block());
        self.condition(cond, then, done)?;
        self.b.enter(then);
        let target = if update { Some(self.lvalue(checksum)?) } else { None };
        let mut list = Vec::new();
        self.args(data, &mut list)?;
        let (dst, value) = self.dest(width);
        self.b.push(Inst::Checksum { dst, algorithm, data: list, payload });
        match target {
            Some(target) => self.assign(&target, checksum.ty, &value),
            None => {
                let stated = self.expr(checksum)?;
                let differs = self.compare(CompareOp::Ne, width, &value, &stated);
                let wrong = self.b.block();
                self.b.branch(differs, wrong, done);
                self.b.enter(wrong);
                if let Some((place, width)) = self.standard_field("checksum_error") {
                    self.b.store(place, width, TRUE);
                }
            }
        }
        self.b.jump(done);
        self.b.enter(done);
        Ok(())
    }

    fn digest(&mut self, data: &Expr, type_args: &[TypeId], call: Span) -> R<()> {
        let ty = type_args.first().copied().unwrap_or(data.ty);
        let mut args = Vec::new();
        self.args(data, &mut args)?;
        let known = match self.digest_name(ty) {
            Some(name) => self.objects.digests.get(&name).copied().ok_or(name),
            None => self.objects.unnamed_digests.iter().find(|d| d.call == call).map(|d| d.id).ok_or(String::new()),
        };
        let digest = known.unwrap_or_else(|name| {
            let leaves = self.data_leaves(ty, "");
            let widths = leaves.iter().map(|leaf| crate::objects::leaf_width(leaf.kind)).collect();
            let id = self.out.digests.push(ir::Digest { name: name.clone(), widths });
            if name.is_empty() {
                let in_action = self.active.iter().any(|active| matches!(active, Active::Action(_)));
                self.objects.unnamed_digests.push(UnnamedDigest { id, call, in_action });
            } else {
                self.objects.digests.insert(name, id);
            }
            id
        });
        self.b.push(Inst::Digest { digest, data: args });
        Ok(())
    }

    /// The name of a digest of this type; a list has none of its own.
    fn digest_name(&self, ty: TypeId) -> Option<String> {
        let types = &self.hir.types;
        Some(match types.get(ty) {
            hir::Type::Struct(id) | hir::Type::Header(id) | hir::Type::HeaderUnion(id) => {
                full_name("", &types.structs[*id].name, &types.structs[*id].annotations)
            }
            hir::Type::Enum(id) => types.enums[*id].name.clone(),
            hir::Type::New(id) => {
                let decl = &types.new_types[*id];
                name_annotation(&decl.annotations).unwrap_or(&decl.name).to_owned()
            }
            _ => return None,
        })
    }

    /// Numbers the digests that have no name, as P4Info does: those of a block's actions come before those of its body.
    pub fn number_digests(&mut self, first: usize) {
        let found = &mut self.objects.unnamed_digests[first..];
        found.sort_by_key(|digest| if digest.in_action { (0, digest.call.start) } else { (1, 0) });
        for (number, digest) in (first..).zip(found.iter()) {
            self.out.digests[digest.id].name = format!("digest_{number}");
        }
    }

    fn clone_packet(&mut self, kind: &Expr, session: &Expr, fields: Option<ir::FieldListId>) -> R<()> {
        let kind = match self.constant_member(kind, "the kind of clone")? {
            "I2E" => CloneKind::IngressToEgress,
            "E2E" => CloneKind::EgressToEgress,
            other => return fail(kind.span, format!("`{other}` is not a kind of clone")),
        };
        let width = self.width(session.ty, session.span)?;
        let value = self.expr(session)?;
        let Value::Scalar(session) = self.resize(&value, width, 32, false) else { return Ok(()) };
        self.b.push(Inst::Clone { kind, session, fields });
        Ok(())
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
        let method = decl.methods[method].name.as_str();
        if matches!(decl.name.as_str(), "packet_in" | "packet_out") {
            return self.call_packet(method, type_args, args, call);
        }
        let instance = self.instance_of(object)?;
        let given: Vec<&Expr> = args.iter().flatten().collect();
        match (decl.name.as_str(), method, given.as_slice()) {
            ("counter", "count", [index]) => {
                let index = self.object_index(index)?;
                let Some(&counter) = self.objects.counters.get(&instance) else { return Ok(None) };
                self.b.push(Inst::Count { counter, index });
            }
            // The lookup has counted already.
            ("direct_counter", "count", []) => {}
            ("meter", "execute_meter", [index, result]) => {
                let index = self.object_index(index)?;
                let width = self.meter_width(result)?;
                let target = self.lvalue(result)?;
                let Some(&meter) = self.objects.meters.get(&instance) else { return Ok(None) };
                let dst = self.b.temp(width);
                self.b.push(Inst::Meter { dst, meter, index });
                self.assign(&target, result.ty, &Value::Scalar(Operand::Temp(dst)));
            }
            ("direct_meter", "read", [result]) => {
                let width = self.meter_width(result)?;
                let target = self.lvalue(result)?;
                let Some(&table) = self.objects.direct_meters.get(&instance) else {
                    return fail(object.span, "no table has this direct meter");
                };
                // The meter belongs to its own table's entries: an action that another table runs too has none there.
                if self.running.is_some_and(|running| running != table) {
                    return Ok(None);
                }
                let dst = self.b.temp(width);
                self.b.push(Inst::DirectMeter { dst, table });
                self.assign(&target, result.ty, &Value::Scalar(Operand::Temp(dst)));
            }
            ("register", "read", [result, index]) => self.register_read(instance, result, index)?,
            ("register", "write", [index, value]) => self.register_write(instance, index, value)?,
            ("Checksum16", "get", [data]) => {
                let mut list = Vec::new();
                self.args(data, &mut list)?;
                let (dst, value) = self.dest(16);
                self.b.push(Inst::Checksum { dst, algorithm: HashAlgorithm::Csum16, data: list, payload: false });
                return Ok(Some(value));
            }
            (name, method, _) => {
                return fail(call.span, format!("v1model has no `{name}.{method}` with these arguments"));
            }
        }
        Ok(None)
    }

    fn meter_width(&mut self, result: &Expr) -> R<u32> {
        let width = self.width(result.ty, result.span)?;
        if !Self::is_narrow(width) {
            return fail(result.span, "a colour needs 1 to 128 bits");
        }
        Ok(width)
    }

    fn object_index(&mut self, index: &Expr) -> R<Operand> {
        let width = self.width(index.ty, index.span)?;
        let value = self.expr(index)?;
        Ok(self.saturated_index(&value, width, false, u128::from(u32::MAX)))
    }

    fn register_read(&mut self, instance: hir::instances::InstanceId, result: &Expr, index: &Expr) -> R<()> {
        let Some(&register) = self.objects.registers.get(&instance) else { return Ok(()) };
        let width = self.out.registers[register].width;
        let target = self.lvalue(result)?;
        let index = self.object_index(index)?;
        let (dst, value) = self.dest(width);
        self.b.push(Inst::RegisterRead { dst, register, index });
        if self.scalar_type(result.ty).is_some() {
            self.assign(&target, result.ty, &value);
            return Ok(());
        }
        let place = self.alloc(result.ty);
        let bytes = self.layout(result.ty).size;
        self.zero(place, bytes);
        self.unpack(&value, width, place, result.ty);
        self.assign(&target, result.ty, &Value::Frame(place));
        Ok(())
    }

    fn register_write(&mut self, instance: hir::instances::InstanceId, index: &Expr, value: &Expr) -> R<()> {
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
