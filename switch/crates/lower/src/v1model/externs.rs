//! v1model's extern functions and methods.

use hir::instances::{InstanceId, full_name, name_annotation};
use hir::{Expr, TypeId};
use ir::{CloneKind, CompareOp, HashAlgorithm, Inst, Operand};
use syntax::source::Span;

use crate::context::{Active, Block, Lower, R, Shared, fail};
use crate::externs::Called;
use crate::objects::UnnamedDigest;
use crate::value::{TRUE, Value, Values};

/// `egress_spec` of a packet that is to be dropped.
const DROP_PORT: u128 = 511;

impl Lower<'_> {
    pub fn v1model_function(&mut self, name: &str, type_args: &[TypeId], given: &[&Expr], call: &Expr) -> R<Called> {
        match (name, given) {
            ("mark_to_drop", []) => {
                if let Some(Shared { standard: (place, ty), .. }) = self.shared {
                    self.mark_to_drop(place, ty);
                }
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
            ("clone", [kind, session]) => self.clone_packet(call, kind, session, None)?,
            ("clone3", [kind, session, data]) => {
                let fields = self.field_list_of(data)?;
                self.clone_packet(call, kind, session, Some(fields))?;
            }
            ("clone_preserving_field_list", [kind, session, list]) => {
                let fields = self.field_list(list)?;
                self.clone_packet(call, kind, session, Some(fields))?;
            }
            ("resubmit", data) => {
                self.only_in(Block::Ingress, name, call)?;
                let fields = data.first().map(|data| self.field_list_of(data)).transpose()?;
                self.b.push(Inst::Resubmit { fields });
            }
            ("resubmit_preserving_field_list", [list]) => {
                self.only_in(Block::Ingress, name, call)?;
                let fields = Some(self.field_list(list)?);
                self.b.push(Inst::Resubmit { fields });
            }
            ("recirculate", data) => {
                self.only_in(Block::Egress, name, call)?;
                let fields = data.first().map(|data| self.field_list_of(data)).transpose()?;
                self.b.push(Inst::Recirculate { fields });
            }
            ("recirculate_preserving_field_list", [list]) => {
                self.only_in(Block::Egress, name, call)?;
                let fields = Some(self.field_list(list)?);
                self.b.push(Inst::Recirculate { fields });
            }
            ("truncate", [bytes]) => {
                let bytes = self.scalar(bytes)?;
                self.b.push(Inst::Truncate { bytes });
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
            _ => return Ok(Called::Unknown),
        }
        Ok(Called::NoValue)
    }

    /// Refuses a call outside the block that it acts in, as p4c does.
    fn only_in(&self, block: Block, what: &str, call: &Expr) -> R<()> {
        if self.block == block {
            return Ok(());
        }
        let block = if block == Block::Ingress { "ingress" } else { "egress" };
        fail(call.span, format!("`{what}` can only be called in {block}"))
    }

    fn mark_to_drop(&mut self, place: ir::Place, ty: TypeId) {
        for (name, value) in [("egress_spec", DROP_PORT), ("mcast_grp", 0)] {
            if let Some((field, width)) = self.field(place, ty, name) {
                self.b.store(field, width, Operand::Imm(value));
            }
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

    fn clone_packet(&mut self, call: &Expr, kind: &Expr, session: &Expr, fields: Option<ir::FieldListId>) -> R<()> {
        let (kind, from, what) = match self.constant_member(kind, "the kind of clone")? {
            "I2E" => (CloneKind::IngressToEgress, Block::Ingress, "clone(CloneType.I2E, ...)"),
            "E2E" => (CloneKind::EgressToEgress, Block::Egress, "clone(CloneType.E2E, ...)"),
            other => return fail(kind.span, format!("`{other}` is not a kind of clone")),
        };
        self.only_in(from, what, call)?;
        let width = self.width(session.ty, session.span)?;
        let value = self.expr(session)?;
        let Value::Scalar(session) = self.resize(&value, width, 32, false) else { return Ok(()) };
        self.b.push(Inst::Clone { kind, session, fields });
        Ok(())
    }

    pub fn v1model_method(
        &mut self,
        name: &str,
        method: &str,
        object: &Expr,
        instance: InstanceId,
        given: &[&Expr],
    ) -> R<Called> {
        match (name, method, given) {
            ("counter", "count", [index]) => {
                let index = self.object_index(index)?;
                let Some(&counter) = self.objects.counters.get(&instance) else { return Ok(Called::NoValue) };
                self.b.push(Inst::Count { counter, index });
            }
            // The lookup has counted already.
            ("direct_counter", "count", []) => {}
            ("meter", "execute_meter", [index, result]) => {
                let index = self.object_index(index)?;
                let width = self.meter_width(result)?;
                let target = self.lvalue(result)?;
                let Some(&meter) = self.objects.meters.get(&instance) else { return Ok(Called::NoValue) };
                let dst = self.b.temp(width);
                self.b.push(Inst::Meter { dst, meter, index, before: None });
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
                    return Ok(Called::NoValue);
                }
                let dst = self.b.temp(width);
                self.b.push(Inst::DirectMeter { dst, table, before: None });
                self.assign(&target, result.ty, &Value::Scalar(Operand::Temp(dst)));
            }
            ("register", "read", [result, index]) => self.register_read(instance, result, index)?,
            ("register", "write", [index, value]) => self.register_write(instance, index, value)?,
            ("packet_buffer", method, given) => return self.call_buffer(object.span, instance, method, given),
            ("Checksum16", "get", [data]) => {
                let mut list = Vec::new();
                self.args(data, &mut list)?;
                let (dst, value) = self.dest(16);
                self.b.push(Inst::Checksum { dst, algorithm: HashAlgorithm::Csum16, data: list, payload: false });
                return Ok(Called::Value(value));
            }
            _ => return Ok(Called::Unknown),
        }
        Ok(Called::NoValue)
    }

    fn meter_width(&mut self, result: &Expr) -> R<u32> {
        let width = self.width(result.ty, result.span)?;
        if !Self::is_narrow(width) {
            return fail(result.span, "a colour needs 1 to 128 bits");
        }
        Ok(width)
    }

    fn register_read(&mut self, instance: InstanceId, result: &Expr, index: &Expr) -> R<()> {
        let Some(&register) = self.objects.registers.get(&instance) else { return Ok(()) };
        let target = self.lvalue(result)?;
        let index = self.object_index(index)?;
        let value = self.read_cell(register, index, result.ty);
        self.assign(&target, result.ty, &value);
        Ok(())
    }
}
