//! The parser: its states, what they do and where they lead.

use std::collections::{HashMap, HashSet};

use ir::{Arg, BinaryOp, BlockId, CompareOp, Inst, NoteKind, Operand, Temp, Terminator};
use lower::value::{FALSE, NARROW, TRUE, Value, Values, arg, number};
use num_bigint::BigInt;
use num_traits::ToPrimitive;

use crate::context::{HeaderSpot, Translation};
use crate::error::{Error, Result, Within, fail};
use crate::expr::{self, Expr};
use crate::layout::Stack;
use crate::model::{self, ParserOp, ParserParameter, SourceInfo, State, Transition};

/// A part of a transition's key.
struct KeyPart {
    value: Value,
    width: u32,
}

impl KeyPart {
    /// Bits in the values of transitions: every part fills whole bytes.
    fn padded(&self) -> u32 {
        self.width.next_multiple_of(8)
    }
}

impl<'d> Translation<'d> {
    /// Writes the states out; the parser ends in `self.end`.
    pub fn parser(&mut self, parser: &'d model::Parser) -> Result<()> {
        let by_name: HashMap<&str, usize> =
            parser.parse_states.iter().enumerate().map(|(index, state)| (state.name.as_str(), index)).collect();
        let missing = |name: &str| Error::new(format!("there is no parser state {name}"));
        let start = *by_name.get(parser.init_state.as_str()).ok_or_else(|| missing(&parser.init_state))?;
        for target in parser.parse_states.iter().flat_map(|state| &state.transitions) {
            if let Some(name) = target.next_state.as_deref().filter(|name| !by_name.contains_key(name)) {
                return Err(missing(name));
            }
        }
        let blocks: Vec<BlockId> = parser.parse_states.iter().map(|_| self.b.block()).collect();
        self.b.jump(blocks[start]);
        let flow = Flow::of(parser, start, &by_name);
        for &index in &flow.reached {
            let state = &parser.parse_states[index];
            self.b.enter(blocks[index]);
            if flow.heads.contains(&index) {
                self.fuel();
            }
            self.note(NoteKind::ParserState, &state.name, &SourceInfo::default());
            let mark = self.b.mark();
            let target = |next: &Option<String>, end| next.as_ref().map_or(end, |name| blocks[by_name[name.as_str()]]);
            self.state(state, target).within(|| format!("parser state {}", state.name))?;
            self.b.release(mark);
        }
        Ok(())
    }

    fn state(&mut self, state: &State, target: impl Fn(&Option<String>, BlockId) -> BlockId) -> Result<()> {
        for (index, op) in state.parser_ops.iter().enumerate() {
            self.parser_op(op).within(|| format!("operation {index} (`{}`)", op.op))?;
        }
        let mut parts = Vec::with_capacity(state.transition_key.len());
        for part in &state.transition_key {
            let width = self.bounds(part)?.width;
            parts.push(KeyPart { value: self.low(part, width)?, width });
        }
        let mut rest = state.transitions.as_slice();
        while let Some((transition, more)) = rest.split_first() {
            let to = target(&transition.next_state, self.end);
            if transition.is_default() {
                self.b.jump(to);
                return Ok(());
            }
            let taken = self.switch(&parts, rest, &target)?;
            if taken > 0 {
                rest = &rest[taken..];
                continue;
            }
            let holds = self.matches(&parts, transition)?;
            let next = self.b.block();
            self.b.branch(holds, to, next);
            self.b.enter(next);
            rest = more;
        }
        self.require(FALSE, "NoMatch");
        Ok(())
    }

    /// Leading transitions on plain numbers, two at least, as one `Switch`; gives how many.
    fn switch(
        &mut self,
        parts: &[KeyPart],
        transitions: &[Transition],
        target: &impl Fn(&Option<String>, BlockId) -> BlockId,
    ) -> Result<usize> {
        let [KeyPart { value: Value::Scalar(value), width: width @ 1..=NARROW }] = parts else { return Ok(0) };
        let (mut seen, mut cases, mut taken) = (HashSet::new(), Vec::new(), 0);
        for transition in transitions {
            if transition.kind != "hexstr" || transition.is_default() || transition.mask.is_some() {
                break;
            }
            let Some(label) = text_number(&transition.value)?.to_u128() else { break };
            taken += 1;
            let fits = *width == 128 || label < 1 << width;
            if fits && seen.insert(label) {
                cases.push((label, target(&transition.next_state, self.end)));
            }
        }
        if taken < 2 {
            return Ok(0);
        }
        let default = self.b.block();
        self.b.end(Terminator::Switch { value: *value, width: *width, cases, default });
        self.b.enter(default);
        Ok(taken)
    }

    fn matches(&mut self, parts: &[KeyPart], transition: &Transition) -> Result<Operand> {
        if transition.kind == "parse_vset" {
            return self.in_value_set(parts, transition);
        }
        if transition.kind != "hexstr" {
            return fail(format!("transitions of type `{}` are not supported", transition.kind));
        }
        let value = text_number(&transition.value)?;
        let mask = transition.mask.as_ref().map(|_| text_number(&transition.mask)).transpose()?;
        let mut left: u32 = parts.iter().map(KeyPart::padded).sum();
        let mut all = TRUE;
        for part in parts {
            left -= part.padded();
            let cut = |whole: &BigInt| number(&(whole >> left), part.width);
            let (mut have, mut wanted) = (part.value.clone(), cut(&value));
            if let Some(mask) = &mask {
                let mask = cut(mask);
                have = self.binary(BinaryOp::And, part.width, &have, &mask);
                wanted = self.binary(BinaryOp::And, part.width, &wanted, &mask);
            }
            let same = self.compare(CompareOp::Eq, part.width, &have, &wanted);
            all = self.b.and(all, same);
        }
        Ok(all)
    }

    /// A value set has one key for each part of the transition key it is used with.
    fn in_value_set(&mut self, parts: &[KeyPart], transition: &Transition) -> Result<Operand> {
        if transition.mask.is_some() {
            return fail("a value set with a mask is not supported");
        }
        let name = transition.value.clone().unwrap_or_default();
        let declared = self.document.parse_vsets.iter().find(|set| set.name == name);
        let declared = declared.ok_or_else(|| Error::new(format!("there is no value set {name}")))?;
        let widths: Vec<u32> = parts.iter().map(|part| part.width).collect();
        let set = match self.objects.value_sets.get(&name) {
            Some(known) => *known,
            None => {
                let key = |width: &u32| ir::Key { width: *width, ..ir::Key::default() };
                let size = declared.max_size.unwrap_or(1024);
                let keys = widths.iter().map(key).collect();
                let set = self.out.value_sets.push(ir::ValueSet { name: name.clone(), size, keys });
                self.objects.value_sets.insert(name.clone(), set);
                set
            }
        };
        if self.out.value_sets[set].keys.iter().map(|key| key.width).ne(widths) {
            return fail(format!("value set {name} is used with keys of several widths"));
        }
        let args: Vec<Arg> = parts.iter().map(|part| arg(&part.value, part.width)).collect();
        let dst = self.b.temp(1);
        self.b.push(Inst::InValueSet { dst, set, args });
        Ok(Operand::Temp(dst))
    }

    fn parser_op(&mut self, op: &ParserOp) -> Result<()> {
        match (op.op.as_str(), op.parameters.as_slice()) {
            ("extract", [ParserParameter::Value(header)]) => self.extract(header, None),
            ("extract_VL", [ParserParameter::Value(header), ParserParameter::Value(bits)]) => {
                self.extract(header, Some(bits))
            }
            ("set", [ParserParameter::Value(to), ParserParameter::Value(value)]) => self.assign(to, value),
            ("verify", [ParserParameter::Value(check), ParserParameter::Value(error)]) => {
                let ok = self.truth(check)?;
                let error = self.operand(error, 32)?;
                self.require_or(ok, error);
                Ok(())
            }
            ("shift", [ParserParameter::Bytes(bytes)]) => {
                self.advance(Operand::Imm(u128::from(*bytes) * 8));
                Ok(())
            }
            ("advance", [ParserParameter::Value(bits)]) => {
                let bits = self.index(bits, u128::from(u32::MAX))?;
                self.advance(bits);
                Ok(())
            }
            ("primitive", [ParserParameter::Call(primitive)]) => self.primitives(std::slice::from_ref(primitive)),
            _ => fail("this parser operation is not supported with these parameters"),
        }
    }

    fn advance(&mut self, bits: Operand) {
        let error = self.b.temp(32);
        self.b.push(Inst::Advance { error, bits });
        self.check(error);
    }

    /// Ends the parser if the packet could not be read.
    pub fn check(&mut self, error: Temp) {
        let good = self.b.compare(CompareOp::Eq, 32, Operand::Temp(error), FALSE);
        self.require_or(good, Operand::Temp(error));
    }

    fn extract(&mut self, header: &Expr, bits: Option<&Expr>) -> Result<()> {
        let (spot, stack) = match header {
            Expr::HeaderStack(name) => {
                let stack = self.stack(name)?;
                (self.next(&stack, 0)?, Some(stack))
            }
            Expr::NextUnion(name, member) => {
                let (_, index) = self.union_member(name, member)?;
                let stack = self.stack(name)?;
                (self.next(&stack, index)?, Some(stack))
            }
            _ => (self.header_spot(header)?, None),
        };
        let ty = &spot.header.ty;
        let id = ty.id;
        self.whole_bytes(id)?;
        let varbit_bits = match (ty.fields.iter().any(|field| field.varbit), bits) {
            (true, Some(bits)) => Some(self.index(bits, u128::from(u32::MAX))?),
            (false, None) => None,
            (true, None) => return fail(format!("{} has a varbit: only `extract_VL` can extract it", ty.name)),
            (false, Some(_)) => return fail(format!("{} has no varbit for `extract_VL`", ty.name)),
        };
        let error = self.b.temp(32);
        self.b.push(Inst::Extract { error, header: id, place: spot.place, varbit_bits, peek: false });
        self.check(error);
        self.set_valid(&spot);
        if let Some(stack) = stack {
            let next = self.b.load(Self::next_of(&stack), 32);
            let next = self.b.binary(BinaryOp::Add, 32, next, Operand::Imm(1));
            self.b.store(Self::next_of(&stack), 32, next);
        }
        Ok(())
    }

    /// A member of the next free element of a stack.
    fn next(&mut self, stack: &Stack, member: usize) -> Result<HeaderSpot> {
        let index = self.b.load(Self::next_of(stack), 32);
        self.require_inside(index, stack.count);
        let mut members = self.element_at(stack, index);
        Ok(members.swap_remove(member))
    }
}

fn text_number(text: &Option<String>) -> Result<BigInt> {
    expr::number(text.as_deref().unwrap_or_default()).map_err(Error::new)
}

/// Which states a parser reaches, and which of them close a loop.
struct Flow {
    reached: Vec<usize>,
    heads: HashSet<usize>,
}

impl Flow {
    fn of(parser: &model::Parser, start: usize, by_name: &HashMap<&str, usize>) -> Self {
        let successors = |state: usize| -> Vec<usize> {
            let next = parser.parse_states[state].transitions.iter().rev().filter_map(|to| to.next_state.as_deref());
            next.filter_map(|name| by_name.get(name).copied()).collect()
        };
        let mut flow = Flow { reached: vec![start], heads: HashSet::new() };
        let (mut seen, mut open) = (HashSet::from([start]), HashSet::from([start]));
        let mut path = vec![(start, successors(start))];
        while let Some((state, left)) = path.last_mut() {
            match left.pop() {
                Some(next) if open.contains(&next) => {
                    flow.heads.insert(next);
                }
                Some(next) if seen.insert(next) => {
                    open.insert(next);
                    flow.reached.push(next);
                    path.push((next, successors(next)));
                }
                Some(_) => {}
                None => {
                    open.remove(state);
                    path.pop();
                }
            }
        }
        flow
    }
}
