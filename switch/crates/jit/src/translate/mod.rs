//! From a function of the flat form to Cranelift's.
//!
//! Every temp becomes a Cranelift value of the narrowest type of 8, 16, 32, 64 or 128 bits, always masked to the
//! temp's width. The frame stays in memory, but what a straight line of code stored or loaded is remembered
//! ([`known`]), so a field goes from the packet to a key in a register.

mod deparser;
mod emit;
mod externs;
mod few;
mod fold;
mod known;
mod memory;
mod parser;
mod promote;
mod register;
mod scalar;
mod stage;
mod state;
mod table;
mod threading;
mod wide;
mod wire;
mod zeros;

use std::collections::BTreeMap;
use std::sync::Arc;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{AliasRegion, AliasRegionData, Block, InstBuilder, StackSlot, Type, Value, types::*};
use cranelift_codegen::isa::CallConv;
use cranelift_frontend::{FunctionBuilder, Switch, Variable};
use ir::flow::Flow;
use ir::{BlockId, FunctionId, Handle, Inst, Program, Terminator};
use runtime::Held;
use runtime::frame::Erased;

use crate::raw::at;
use crate::slow::SlowCalls;
use crate::stages::Stages;
use known::Known;
pub(crate) use scalar::type_of;
use zeros::Zeros;

/// So many cases are compared one after the other: branches are foreseen better than jumps through a table.
const FEW_CASES: usize = 4;

/// What the functions of a program share.
pub(crate) struct Shared {
    pub call_conv: CallConv,
    /// Instructions that helpers run; compiled code holds their addresses.
    pub slow_calls: SlowCalls,
    /// Address of a frame full of zeros, which is read in place of an element that is not there.
    pub zeros: usize,
    /// What of a frame is zeroed only where it is noted as written.
    pub erased: Erased,
    /// By table: what is built into the code; nothing of those that it looks up.
    pub held: Vec<Option<Held>>,
    /// By register: the number of its first page, if compiled code finds its cells itself.
    pub register_pages: Vec<Option<usize>>,
    /// By register: whether packets write to it.
    pub registers_written: Vec<bool>,
    /// What marked code tells where it is.
    pub stages: Option<Arc<Stages>>,
    /// Numbers of errors.
    pub packet_too_short: u32,
    pub invalid_argument: u32,
    pub header_too_short: u32,
}

/// Memories that never overlap.
#[derive(Debug, Clone, Copy)]
enum Memory {
    Frame,
    Packet,
    Output,
    /// The [`crate::raw::RawContext`].
    Raw,
    /// The function's own stack.
    Scratch,
    ActionData,
    /// Of registers, and where their pages are.
    Cells,
}

/// A temp's value.
#[derive(Debug, Clone, Copy)]
enum Slot {
    Value(Value),
    /// The result of something that may fail, whose paths join later.
    Variable(Variable),
}

struct Translator<'a> {
    program: &'a Program,
    id: FunctionId,
    function: &'a ir::Function,
    flow: Flow,
    builder: FunctionBuilder<'a>,
    shared: &'a mut Shared,
    regions: [AliasRegion; 7],
    temps: Vec<Option<Slot>>,
    /// How often each temp is read.
    uses: Vec<u32>,
    /// What assigns each temp.
    definitions: Vec<Option<&'a Inst>>,
    blocks: Vec<Option<Block>>,
    /// What is jumped to. What is known at compile time leaves the rest out.
    reached: Vec<bool>,
    /// By block: whether no loop leads to it, so that all that lead to it are translated before it.
    before_loops: Vec<bool>,
    /// What is known where a block begins; behind loops, of blocks with one predecessor alone.
    known_at: Vec<Option<Known>>,
    known: Known,
    scratch: Option<StackSlot>,
    raw: Value,
    frame: Value,
    /// The packet's bytes and their number.
    packet: Value,
    packet_len: Value,
    cursor: Variable,
    out: Variable,
    data: Variable,
    fuel: Variable,
    /// The first three of those that the function uses, their types and where they stand in the raw context.
    state: Vec<(Variable, Type, i32)>,
    /// Locals that are not in the frame, by offset.
    promoted: BTreeMap<u32, Variable>,
    /// Whether the output was reserved before the function runs.
    output_reserved: bool,
}

/// Translates the function `id` into `builder`'s function, which has one parameter, the raw context. Answers how many bytes of
/// output to reserve before it runs, too.
pub(crate) fn translate<'a>(
    program: &'a Program,
    id: FunctionId,
    mut builder: FunctionBuilder<'a>,
    shared: &'a mut Shared,
) -> (FunctionBuilder<'a>, u32) {
    let function = &program.functions[id];
    let entry = builder.create_block();
    builder.append_block_params_for_function_params(entry);
    builder.switch_to_block(entry);
    let raw = builder.block_params(entry)[0];
    let names = ["frame", "packet", "output", "raw", "scratch", "action data", "cells"];
    let regions = std::array::from_fn(|i| {
        let data = AliasRegionData { user_id: i as u32, description: names[i].into() };
        builder.func.dfg.alias_regions.insert(data)
    });
    let [cursor, out, data] = std::array::from_fn(|_| builder.declare_var(I64));
    let fuel = builder.declare_var(I32);
    let flow = Flow::new(function);
    let mut uses = vec![0; function.temps.len()];
    let mut definitions = vec![None; function.temps.len()];
    for block in &flow.order {
        let block = &function.blocks[*block];
        block.insts.iter().for_each(|inst| inst.uses(|temp| uses[temp.index()] += 1));
        block.insts.iter().for_each(|inst| inst.defs(|temp| definitions[temp.index()] = Some(inst)));
        block.end.uses(|temp| uses[temp.index()] += 1);
    }
    let mut translator = Translator {
        program,
        id,
        function,
        builder,
        shared,
        regions,
        temps: vec![None; function.temps.len()],
        uses,
        definitions,
        blocks: vec![None; function.blocks.len()],
        reached: vec![false; function.blocks.len()],
        before_loops: flow.before_loops(),
        known_at: vec![None; function.blocks.len()],
        known: Known::default(),
        scratch: None,
        raw,
        frame: raw,
        packet: raw,
        packet_len: raw,
        cursor,
        out,
        data,
        fuel,
        state: Vec::new(),
        promoted: BTreeMap::new(),
        output_reserved: false,
        flow,
    };
    let output = translator.run();
    (translator.builder, output)
}

impl Translator<'_> {
    fn run(&mut self) -> u32 {
        let output = self.output_at_once();
        self.output_reserved = output > 0;
        self.mark_block();
        self.frame = self.load_raw(I64, at::FRAME);
        self.load_state();
        self.load_promoted();
        let order = std::mem::take(&mut self.flow.order);
        for block in &order {
            self.blocks[block.index()] = Some(self.builder.create_block());
        }
        let first = self.block(order[0]);
        self.builder.ins().jump(first, &[]);
        self.reached[order[0].index()] = true;
        if self.before_loops[order[0].index()] {
            let zeros = Zeros::at_start(self.program, &self.shared.erased, self.id);
            self.known_at[order[0].index()] = Some(Known::only(zeros));
        }
        let mut waiting = order;
        // Once, where no loop enters a block that nothing before it does.
        while waiting.iter().any(|block| self.reached[block.index()]) {
            waiting.retain(|block| {
                let reached = self.reached[block.index()];
                if reached {
                    let target = self.block(*block);
                    self.builder.switch_to_block(target);
                    self.known = self.known_at[block.index()].take().unwrap_or_default();
                    self.translate_block(*block);
                }
                !reached
            });
        }
        self.builder.seal_all_blocks();
        output
    }

    fn translate_block(&mut self, id: BlockId) {
        let function = self.function;
        let block = &function.blocks[id];
        let mut left = &block.insts[..];
        while let Some((inst, rest)) = left.split_first() {
            let emits = self.rare_emits(left);
            if emits > 0 {
                self.emit_if_any(&left[..emits]);
                left = &left[emits..];
                continue;
            }
            left = rest;
            if let Inst::Lookup { table, keys, hit, action, .. } = inst
                && self.is_built_in(*table, keys)
            {
                // What follows only asks which action it is: go straight to it.
                let actions = self.chooses(*action, rest, &block.end);
                self.compare_few(*table, keys, (*hit, *action), actions.as_ref());
                if actions.is_some() {
                    return;
                }
                continue;
            }
            if let Some(error) = self.fallible(inst)
                && let Some((failed, passed)) = self.decides(error, rest, &block.end)
            {
                // What follows only asks whether this failed: go straight to where each answer leads.
                self.translate_fallible(inst, Some(failed));
                self.jump(passed);
                return;
            }
            self.translate_inst(inst);
        }
        self.translate_end(&block.end);
    }

    fn translate_inst(&mut self, inst: &Inst) {
        if let Some((dst, result)) = self.fold(inst) {
            let value = self.operand(result, self.width(dst));
            self.set(dst, value);
            return;
        }
        match inst {
            Inst::Unary { dst, op, a } => {
                let value = self.unary(*op, *a, self.width(*dst));
                self.set(*dst, value);
            }
            Inst::Binary { dst, op, a, b } => {
                let value = self.binary(*op, *a, *b, self.width(*dst));
                self.set(*dst, value);
            }
            Inst::Compare { dst, op, width, a, b } => {
                let value = self.compare(*op, *width, *a, *b);
                self.set(*dst, value);
            }
            Inst::Resize { dst, signed, from, a } => {
                let value = self.resize(*signed, *a, *from, self.width(*dst));
                self.set(*dst, value);
            }
            Inst::Slice { dst, a, hi, lo } => {
                let value = self.slice(*a, *hi, *lo);
                self.set(*dst, value);
            }
            Inst::Insert { dst, a, value, hi, lo } => {
                let value = self.insert(*a, *value, *hi, *lo, self.width(*dst));
                self.set(*dst, value);
            }
            Inst::Concat { dst, a, b, b_width } => {
                let value = self.concat(*a, *b, *b_width, self.width(*dst));
                self.set(*dst, value);
            }
            Inst::Select { dst, cond, a, b } => {
                let width = self.width(*dst);
                let (cond, a, b) = (self.operand(*cond, 1), self.operand(*a, width), self.operand(*b, width));
                let value = self.select(cond, a, b);
                self.set(*dst, value);
            }
            Inst::Load { dst, place } => {
                let value = self.load(place, self.width(*dst));
                self.set(*dst, value);
            }
            Inst::Store { place, width, src } => self.store(place, *width, *src),
            Inst::Copy { dst, src, bytes } => self.copy(dst, src, *bytes),
            Inst::Zero { place, bytes } => self.zero(place, *bytes),
            Inst::Lookahead { .. } | Inst::Advance { .. } => self.translate_fallible(inst, None),
            Inst::Extract { header, .. } if parser::is_simple(&self.program.header_types[*header]) => {
                self.translate_fallible(inst, None);
            }
            Inst::PacketLength { dst } => {
                let length = self.builder.ins().ireduce(I32, self.packet_len);
                let length = self.cast(length, type_of(self.width(*dst)));
                self.set(*dst, length);
            }
            Inst::Fuel { dst } => self.take_fuel(*dst),
            Inst::Emit { header, place } => self.emit(*header, place),
            Inst::Lookup { table, keys, selector, hit, action } => {
                self.lookup(*table, keys, selector, *hit, *action);
                self.mark_block();
            }
            Inst::LoadArg { dst, offset } => {
                let data = self.builder.use_var(self.data);
                let value = self.load_from(Memory::ActionData, type_of(self.width(*dst)), data, *offset as i32);
                self.set(*dst, value);
            }
            Inst::CopyArg { dst, offset, bytes } => self.copy_arg(dst, *offset, *bytes),
            Inst::Count { counter, index } => self.count(*counter, *index),
            Inst::RegisterRead { dst, register, index } => self.register_read(dst, *register, *index),
            Inst::RegisterWrite { register, index, value } => self.register_write(inst, *register, *index, value),
            Inst::Hash { dst, algorithm, base, data, max } => self.hash(inst, dst, *algorithm, base, data, max),
            Inst::Wide { op, dst, args } => self.wide(inst, *op, dst, args),
            Inst::Checksum { dst, algorithm, data, payload } => self.checksum(inst, dst, *algorithm, data, *payload),
            Inst::Assert { cond, .. } => self.assert(*cond, inst),
            // Tracing is the interpreter's work.
            Inst::Note(note) => self.mark_note(*note),
            Inst::Locals(_) => {}
            Inst::Extract { .. }
            | Inst::StackShift { .. }
            | Inst::InValueSet { .. }
            | Inst::Meter { .. }
            | Inst::DirectMeter { .. }
            | Inst::BufferKeep { .. }
            | Inst::BufferRelease { .. }
            | Inst::BufferSend { .. }
            | Inst::Random { .. }
            | Inst::Digest { .. }
            | Inst::CallExtern { .. }
            | Inst::Clone { .. }
            | Inst::Resubmit { .. }
            | Inst::Recirculate { .. }
            | Inst::Truncate { .. }
            | Inst::LogMessage { .. } => self.slow(inst),
        }
    }

    fn translate_end(&mut self, end: &Terminator) {
        match end {
            Terminator::Jump(to) => self.jump(*to),
            Terminator::Branch { cond, then, otherwise } => {
                if let Some(cond) = self.constant_of(*cond) {
                    return self.jump(if cond != 0 { *then } else { *otherwise });
                }
                let value = self.operand(*cond, 1);
                let then = self.target_if(*cond, 1, *then);
                let otherwise = self.target_if(*cond, 0, *otherwise);
                self.builder.ins().brif(value, then, &[], otherwise, &[]);
            }
            Terminator::Switch { value, cases, default, .. } if self.constant_of(*value).is_some() => {
                let value = self.constant_of(*value);
                let case = cases.iter().find(|(case, _)| Some(*case) == value);
                self.jump(case.map_or(*default, |(_, to)| *to));
            }
            Terminator::Switch { value, width, cases, default } if cases.len() <= FEW_CASES => {
                let operand = *value;
                let value = self.operand(operand, *width);
                for (case, to) in cases {
                    let to = self.target_if(operand, *case, *to);
                    let case = self.constant(type_of(*width), *case);
                    let same = self.builder.ins().icmp(IntCC::Equal, value, case);
                    let next = self.builder.create_block();
                    self.builder.ins().brif(same, to, &[], next, &[]);
                    self.builder.switch_to_block(next);
                }
                self.jump(*default);
            }
            Terminator::Switch { value, width, cases, default } => {
                let value = self.operand(*value, *width);
                let mut switch = Switch::new();
                for (case, to) in cases {
                    let to = self.target(*to);
                    switch.set_entry(*case, to);
                }
                let default = self.target(*default);
                switch.emit(&mut self.builder, value, default);
            }
            Terminator::Return => {
                self.write_back();
                self.mark_around();
                self.builder.ins().return_(&[]);
            }
        }
    }
}
