//! PSA's extern functions and methods.

use hir::instances::{InstanceId, Value as Constant};
use hir::{Expr, TypeId};
use ir::{ActionOfTable, Arg, BinaryOp, CompareOp, HashAlgorithm, Inst, Operand};
use num_bigint::BigUint;

use crate::context::{Lower, R, fail};
use crate::externs::Called;
use crate::objects::leaf_width;
use crate::value::{Value, Values};

/// Egress to this port goes back to ingress.
const PORT_RECIRCULATE: u128 = 0xffff_fffa;

/// The width of `PSA_MeterColor_t`, and how many it has.
const COLOUR: u32 = 32;
const COLOURS: u128 = 3;

impl Lower<'_> {
    pub fn psa_function(&mut self, name: &str, given: &[&Expr]) -> R<Called> {
        let value = match (name, given) {
            ("psa_clone_i2e" | "psa_clone_e2e", [out]) => self.member(out, "clone")?,
            ("psa_resubmit", [out]) => {
                let (drop, resubmit) = (self.member(out, "drop")?, self.member(out, "resubmit")?);
                let goes_on = self.b.not(drop);
                self.b.and(goes_on, resubmit)
            }
            ("psa_normal", [out]) => {
                let (drop, resubmit) = (self.member(out, "drop")?, self.member(out, "resubmit")?);
                let either = self.b.or(drop, resubmit);
                self.b.not(either)
            }
            ("psa_recirculate", [out, input]) => {
                let drop = self.member(out, "drop")?;
                let port = self.member(input, "egress_port")?;
                let goes_back = self.b.compare(CompareOp::Eq, 32, port, Operand::Imm(PORT_RECIRCULATE));
                let goes_on = self.b.not(drop);
                self.b.and(goes_on, goes_back)
            }
            _ => return Ok(Called::Unknown),
        };
        Ok(Called::Value(Value::Scalar(value)))
    }

    fn member(&mut self, structure: &Expr, name: &str) -> R<Operand> {
        let spot = self.spot(structure)?;
        match self.field(spot.place, structure.ty, name) {
            Some((place, width)) => Ok(self.b.load(place, width)),
            None => fail(structure.span, format!("psa.p4's structure has no `{name}`")),
        }
    }

    pub fn psa_method(
        &mut self,
        name: &str,
        method: &str,
        object: &Expr,
        instance: InstanceId,
        given: &[&Expr],
        call: &Expr,
    ) -> R<Called> {
        let value: Option<Value> = match (name, method, given) {
            ("Counter", "count", [index]) => {
                let index = self.object_index(index)?;
                if let Some(&counter) = self.objects.counters.get(&instance) {
                    self.b.push(Inst::Count { counter, index });
                }
                None
            }
            // The lookup has counted already.
            ("DirectCounter", "count", []) => None,
            ("Meter", "execute", [index, before @ ..]) => {
                let index = self.object_index(index)?;
                let Some(&meter) = self.objects.meters.get(&instance) else { return Ok(Called::NoValue) };
                self.metered(before.first().copied(), |dst, before| Inst::Meter { dst, meter, index, before })?
            }
            ("DirectMeter", "execute", before) => {
                let Some(&table) = self.objects.direct_meters.get(&instance) else {
                    return fail(object.span, "no table has this direct meter");
                };
                if self.running != Some(table) {
                    return fail(call.span, "a direct meter can only be executed in an action of its own table");
                }
                self.metered(before.first().copied(), |dst, before| Inst::DirectMeter { dst, table, before })?
            }
            ("Register", "read", [index]) => {
                let index = self.object_index(index)?;
                let Some(&register) = self.objects.registers.get(&instance) else { return Ok(Called::NoValue) };
                Some(self.read_cell(register, index, call.ty))
            }
            ("Register", "write", [index, value]) => {
                self.register_write(instance, index, value)?;
                None
            }
            ("Random", "read", []) => self.random_number(instance, call)?,
            ("Hash", "get_hash", [data]) => {
                let none = Arg::Scalar(Operand::Imm(0), 1);
                self.hash_of(instance, none.clone(), data, none, call)?
            }
            ("Hash", "get_hash", [base, data, max]) => {
                let base = self.arg(base)?;
                let max = self.arg(max)?;
                self.hash_of(instance, base, data, max, call)?
            }
            ("Checksum" | "InternetChecksum", ..) => self.checksum_method(method, instance, given, call)?,
            ("Digest", "pack", [data]) => {
                let mut list = Vec::new();
                self.args(data, &mut list)?;
                if let Some(&digest) = self.objects.digest_streams.get(&instance) {
                    self.b.push(Inst::Digest { digest, data: list });
                }
                None
            }
            _ => return Ok(Called::Unknown),
        };
        Ok(value.map_or(Called::NoValue, Called::Value))
    }

    /// A meter's colour as psa.p4 has it. RFC 2698: without a colour before, as if that were green.
    fn metered(
        &mut self,
        before: Option<&Expr>,
        meter: impl FnOnce(ir::Temp, Option<Operand>) -> Inst,
    ) -> R<Option<Value>> {
        let before = before.map(|before| self.scalar(before)).transpose()?;
        let before = before.map(|before| self.turned(before, 2));
        let dst = self.b.temp(COLOUR);
        self.b.push(meter(dst, before));
        Ok(Some(Value::Scalar(self.turned(Operand::Temp(dst), 1))))
    }

    /// The colour that stands `by` places behind another, in turns. Ours from 0: green, yellow, red; psa.p4's: red, green,
    /// yellow.
    fn turned(&mut self, colour: Operand, by: u128) -> Operand {
        let next = self.b.binary(BinaryOp::Add, COLOUR, colour, Operand::Imm(by));
        let again = self.b.binary(BinaryOp::Sub, COLOUR, next, Operand::Imm(COLOURS));
        let is_one = self.b.compare(CompareOp::LtU, COLOUR, next, Operand::Imm(COLOURS));
        self.b.select(COLOUR, is_one, next, again)
    }

    fn random_number(&mut self, instance: InstanceId, call: &Expr) -> R<Option<Value>> {
        let width = self.width(call.ty, call.span)?;
        let instances = self.instances;
        let bound = |index: usize| {
            let value = instances.get(instance).args.get(index).cloned().flatten();
            match value.and_then(|value| self.bits_of(&value, width)) {
                Some(bits) => Ok(Arg::Const(bits, width)),
                None => fail(call.span, "the bounds of a random number must be known when the program is compiled"),
            }
        };
        let (lo, hi) = (narrow(bound(0)?), narrow(bound(1)?));
        let (dst, value) = self.dest(width);
        self.b.push(Inst::Random { dst, lo, hi });
        Ok(Some(value))
    }

    fn hash_of(&mut self, instance: InstanceId, base: Arg, data: &Expr, max: Arg, call: &Expr) -> R<Option<Value>> {
        let algorithm = self.instance_algorithm(instance, call)?;
        let mut list = Vec::new();
        self.args(data, &mut list)?;
        // As on BMv2: zeros in front make whole bytes of the data.
        let bits: u32 = list.iter().map(Arg::width).sum();
        if !bits.is_multiple_of(8) && !list.iter().any(|arg| matches!(arg, Arg::Varbit(..))) {
            list.insert(0, Arg::Scalar(Operand::Imm(0), 8 - bits % 8));
        }
        let width = self.width(call.ty, call.span)?;
        let (dst, value) = self.dest(width);
        self.b.push(Inst::Hash { dst, algorithm, base, data: list, max });
        Ok(Some(value))
    }

    fn instance_algorithm(&self, instance: InstanceId, call: &Expr) -> R<HashAlgorithm> {
        match self.instances.get(instance).args.first() {
            Some(Some(Constant::EnumMember(ty, index))) => self.algorithm_of(*ty, *index, call.span),
            _ => fail(call.span, "a hash needs an algorithm that is known when the program is compiled"),
        }
    }

    /// What an entry does whose group is empty: PSA says `NoAction`, where the program says nothing.
    pub fn empty_group(&mut self, decl: &hir::Table, table: &ir::Table) -> R<Option<ActionOfTable>> {
        if let Some(call) = &decl.empty_group_action {
            let Some(chosen) = table.actions.get(call.action) else {
                return fail(decl.span, "the action of empty groups is not among the table's actions");
            };
            let args = self.action_args(chosen.action, &call.args, decl.span)?;
            return Ok(Some(ActionOfTable { action: call.action, args }));
        }
        let listed = decl.actions.iter().position(|listed| self.hir.actions[listed.action].name == "NoAction");
        Ok(listed.map(|action| ActionOfTable { action, args: Vec::new() }))
    }

    /// The value of a register's cells before anything is written.
    pub fn initial_value(&mut self, instance: InstanceId, element: TypeId) -> R<BigUint> {
        let instances = self.instances;
        let given = instances.get(instance);
        let Some(Some(value)) = given.args.get(1) else { return Ok(BigUint::ZERO) };
        // Whose constants the value may name.
        self.instance = given.parent.unwrap_or(self.instance);
        let widths: Vec<u32> = self.data_leaves(element, "").iter().map(|leaf| leaf_width(leaf.kind)).collect();
        let mut parts = Vec::new();
        match value {
            Constant::Expr(list) => self.constant_parts(list, &widths, &mut parts)?,
            scalar => parts.extend(widths.first().and_then(|width| self.bits_of(scalar, *width))),
        }
        if parts.len() != widths.len() {
            return fail(given.span, "a register's cells can only begin with a constant that has all their fields");
        }
        Ok(parts.iter().zip(widths).fold(BigUint::ZERO, |value, (part, width)| value << width | part))
    }
}

/// A constant as the form that the instructions want for its width.
fn narrow(arg: Arg) -> Arg {
    match arg {
        Arg::Const(value, width) if width <= crate::value::NARROW => {
            Arg::Scalar(Operand::Imm(value.try_into().unwrap_or_default()), width)
        }
        other => other,
    }
}
