//! Actions: their primitives one after the other, with jumps between them.

use ir::{BlockId, CloneKind, Inst, NoteKind, Operand, Place};
use lower::value::{FALSE, Values};
use num_bigint::BigInt;
use num_traits::ToPrimitive;

use crate::context::{Argument, HeaderSpot, Translation, field_of, siblings};
use crate::error::{Error, Result, Within, fail};
use crate::expr::Expr;
use crate::model::{self, Primitive};

/// `egress_spec` of a packet that is to be dropped.
const DROP_PORT: u128 = 511;

impl Translation<'_> {
    /// Writes an action out; it goes on behind it.
    pub fn run_action(&mut self, action: &model::Action, arguments: Vec<Argument>) -> Result<()> {
        let outer = std::mem::replace(&mut self.arguments, arguments);
        let mark = self.b.mark();
        self.note(NoteKind::Action, &action.name, &action.source_info);
        let done = self.primitives(&action.primitives).within(|| format!("action {}", action.name));
        self.note(NoteKind::ActionEnd, &action.name, &action.source_info);
        self.b.release(mark);
        self.arguments = outer;
        done
    }

    pub fn primitives(&mut self, primitives: &[Primitive]) -> Result<()> {
        let jumps = primitives.iter().any(|primitive| primitive.op.starts_with("_jump"));
        // Where each primitive begins, and the end.
        let blocks: Vec<BlockId> =
            if jumps { (0..=primitives.len()).map(|_| self.b.block()).collect() } else { Vec::new() };
        for (index, primitive) in primitives.iter().enumerate() {
            if let Some(block) = blocks.get(index) {
                self.b.jump(*block);
                self.b.enter(*block);
            }
            if !primitive.source_info.source_fragment.is_empty() {
                let source = &primitive.source_info;
                self.note(NoteKind::Statement, &source.source_fragment, source);
            }
            let place = || format!("primitive {index} (`{}`)", primitive.op);
            match primitive.op.as_str() {
                "_jump" | "_jump_if_zero" => self.jump(primitive, index, &blocks).within(place)?,
                _ => self.primitive(primitive).within(place)?,
            }
        }
        if let Some(end) = blocks.last() {
            self.b.jump(*end);
            self.b.enter(*end);
        }
        Ok(())
    }

    fn jump(&mut self, primitive: &Primitive, index: usize, blocks: &[BlockId]) -> Result<()> {
        let (cond, to) = match primitive.parameters.as_slice() {
            [to] => (None, to),
            [cond, to] => (Some(cond), to),
            _ => return fail("a jump has a target, and a condition before it"),
        };
        let Expr::Number(to) = to else { return fail("the target of a jump must be a number") };
        let to = to.to_usize().filter(|to| *to < blocks.len());
        let to = to.ok_or_else(|| Error::new("the target of the jump is outside of the action"))?;
        if to <= index {
            self.fuel();
        }
        match cond {
            None => self.b.jump(blocks[to]),
            Some(cond) => self.condition(cond, blocks[index + 1], blocks[to])?,
        }
        Ok(())
    }

    fn primitive(&mut self, primitive: &Primitive) -> Result<()> {
        match (primitive.op.as_str(), primitive.parameters.as_slice()) {
            ("assign" | "modify_field" | "set", [to, value]) => self.assign(to, value),
            ("assign_VL", [to, value]) => {
                let (to, value) = (self.spot(to)?, self.spot(value)?);
                if !to.varbit || !value.varbit || to.width != value.width {
                    return fail("two fields of variable length and the same limit are needed");
                }
                self.copy(to.place, value.place, 4 + to.width.div_ceil(8));
                Ok(())
            }
            ("add_header", [header]) => {
                let header = self.header_spot(header)?;
                self.set_valid(&header);
                Ok(())
            }
            ("remove_header", [header]) => {
                let header = self.header_spot(header)?;
                self.b.store(header.place, 1, FALSE);
                Ok(())
            }
            ("assign_header" | "copy_header", [to, from]) => {
                let (to, from) = (self.header_spot(to)?, self.header_spot(from)?);
                self.assign_headers(&[to], &[from])
            }
            ("assign_union", [to, from]) => {
                let (to, from) = (self.union_spot(to)?, self.union_spot(from)?);
                self.assign_headers(&to, &from)
            }
            ("assign_header_stack", [Expr::HeaderStack(to), Expr::HeaderStack(from)])
            | ("assign_union_stack", [Expr::HeaderUnionStack(to), Expr::HeaderUnionStack(from)]) => {
                let (to, from) = (self.stack(to)?, self.stack(from)?);
                if (to.stride, to.count) != (from.stride, from.count) {
                    return fail("the stacks differ in their elements");
                }
                let bytes = crate::layout::Stack::FIRST + to.stride * to.count;
                self.copy(Place::at(to.offset), Place::at(from.offset), bytes);
                Ok(())
            }
            (op @ ("push" | "pop"), [Expr::HeaderStack(stack) | Expr::HeaderUnionStack(stack), by]) => {
                self.shift_stack(stack, by, op == "push")
            }
            ("exit", []) => {
                self.b.jump(self.end);
                Ok(())
            }
            ("no_op", []) => Ok(()),
            // Its parameter is where standard metadata is copied to and from.
            ("mark_to_drop", [metadata @ Expr::Header(name)]) if name != "standard_metadata" => {
                let metadata = self.header_spot(metadata)?;
                for (name, value) in [("egress_spec", DROP_PORT), ("mcast_grp", 0)] {
                    let field = field_of(&metadata, name)?;
                    self.b.store(field.place, field.width, Operand::Imm(value));
                }
                Ok(())
            }
            ("mark_to_drop" | "drop", _) => {
                let standard = self.out.standard_metadata;
                self.b.store(Place::at(standard.egress_spec), 9, Operand::Imm(DROP_PORT));
                self.b.store(Place::at(standard.mcast_grp), 16, FALSE);
                Ok(())
            }
            ("assert" | "assume", [check]) => {
                let cond = self.truth(check)?;
                let source = &primitive.source_info;
                let text = format!("{}:{}: {}", source.filename, source.line, source.source_fragment);
                let text = self.out.strings.push(text);
                self.b.push(Inst::Assert { cond, text });
                Ok(())
            }
            ("log_msg", [Expr::Text(format), args @ ..]) => {
                let format = self.out.strings.push(format.clone());
                let list = match args {
                    [Expr::List(list)] => list.as_slice(),
                    _ => &[],
                };
                let args = list.iter().map(|arg| self.argument_of(arg)).collect::<Result<_>>()?;
                self.b.push(Inst::LogMessage { format, args });
                Ok(())
            }
            ("truncate", [bytes]) => {
                let bytes = self.index(bytes, u128::from(u32::MAX))?;
                self.b.push(Inst::Truncate { bytes });
                Ok(())
            }
            ("clone_ingress_pkt_to_egress", [session, list @ ..]) => {
                self.clone_packet(CloneKind::IngressToEgress, session, list)
            }
            ("clone_egress_pkt_to_egress", [session, list @ ..]) => {
                self.clone_packet(CloneKind::EgressToEgress, session, list)
            }
            ("resubmit", list) => {
                let fields = self.field_list(list)?;
                self.b.push(Inst::Resubmit { fields });
                Ok(())
            }
            ("recirculate", list) => {
                let fields = self.field_list(list)?;
                self.b.push(Inst::Recirculate { fields });
                Ok(())
            }
            _ => self.extern_primitive(primitive),
        }
    }

    pub fn assign(&mut self, to: &Expr, value: &Expr) -> Result<()> {
        if let Expr::Register(name, index) = to {
            return self.register_write(name, index, value);
        }
        let to = self.spot(to)?;
        if to.varbit {
            return fail("a field of variable length is assigned by `assign_VL`");
        }
        let value = self.low(value, to.width)?;
        self.put(to, &value);
        Ok(())
    }

    fn assign_headers(&mut self, to: &[HeaderSpot], from: &[HeaderSpot]) -> Result<()> {
        for (to, from) in to.iter().zip(from) {
            if to.header.ty.id != from.header.ty.id {
                return fail(format!("a {} is no {}", from.header.ty.name, to.header.ty.name));
            }
            self.copy(to.place, from.place, to.header.ty.size);
        }
        // All members of a union are written; of one header alone its siblings have to give way.
        if let ([to], siblings) = (to, to.first().map(siblings).unwrap_or_default()) {
            let valid = self.b.load(to.place, 1);
            let absent = self.b.not(valid);
            for sibling in siblings {
                let was = self.b.load(sibling, 1);
                let is = self.b.and(was, absent);
                self.b.store(sibling, 1, is);
            }
        }
        Ok(())
    }

    fn shift_stack(&mut self, name: &str, by: &Expr, push: bool) -> Result<()> {
        let stack = self.stack(name)?;
        let Expr::Number(by) = by else { return fail("a stack is moved by a constant number") };
        let by = by.to_u32().unwrap_or(u32::MAX).min(stack.count);
        if by == 0 {
            return Ok(());
        }
        let place = Place::at(stack.offset + crate::layout::Stack::FIRST);
        self.b.push(Inst::StackShift { place, stride: stack.stride, count: stack.count, by, push });
        let next = self.b.load(Self::next_of(&stack), 32);
        let (most, amount) = (Operand::Imm(stack.count.into()), Operand::Imm(by.into()));
        let moved = if push {
            let sum = self.b.binary(ir::BinaryOp::Add, 32, next, amount);
            let over = self.b.compare(ir::CompareOp::LtU, 32, most, sum);
            self.b.select(32, over, most, sum)
        } else {
            let under = self.b.compare(ir::CompareOp::LtU, 32, next, amount);
            let rest = self.b.binary(ir::BinaryOp::Sub, 32, next, amount);
            self.b.select(32, under, FALSE, rest)
        };
        self.b.store(Self::next_of(&stack), 32, moved);
        Ok(())
    }

    fn clone_packet(&mut self, kind: CloneKind, session: &Expr, list: &[Expr]) -> Result<()> {
        let session = self.index(session, u128::from(u32::MAX))?;
        let fields = self.field_list(list)?;
        self.b.push(Inst::Clone { kind, session, fields });
        Ok(())
    }

    /// The field list that the last parameter names; 0 is none.
    fn field_list(&mut self, list: &[Expr]) -> Result<Option<ir::FieldListId>> {
        let [Expr::Number(list)] = list else {
            return if list.is_empty() { Ok(None) } else { fail("the number of a field list is needed") };
        };
        if *list == BigInt::ZERO {
            return Ok(None);
        }
        let found = list.to_u32().and_then(|list| self.objects.field_lists.get(&list).copied());
        found.map(Some).ok_or_else(|| Error::new(format!("there is no field list {list}")))
    }

    /// Constants as arguments of an action.
    pub fn constant_arguments(&self, action: &model::Action, data: &[String]) -> Result<Vec<Argument>> {
        if data.len() != action.runtime_data.len() {
            let (wanted, given) = (action.runtime_data.len(), data.len());
            return fail(format!("action {} takes {wanted} arguments, {given} are given", action.name));
        }
        let argument = |(value, data): (&String, &model::RuntimeData)| {
            let value = crate::expr::number(value).map_err(Error::new)?;
            Ok(Argument::Constant(value, data.bitwidth))
        };
        data.iter().zip(&action.runtime_data).map(argument).collect()
    }
}
