//! The loop: arithmetic on temps, the frame, and jumps.

use ir::*;
use runtime::trace::Event;
use runtime::{BitString, Context};

use crate::code::{Code, Op, Ref};
use crate::trace::changes_many;
use crate::watch::Watcher;

/// Memory that a run needs and the next one can use again.
#[derive(Default)]
pub struct Memory {
    temps: Vec<u128>,
    scratch: Scratch,
}

/// Buffers of single instructions.
#[derive(Default)]
pub struct Scratch {
    pub key: Vec<u8>,
    pub bits: BitString,
    pub bytes: Vec<u8>,
}

/// One run of a function.
pub struct Run<'a, 'd> {
    pub program: &'a Program,
    pub code: &'a Code,
    /// The values of the function's temps.
    pub temps: &'a mut [u128],
    pub scratch: &'a mut Scratch,
    pub context: &'a mut Context<'d>,
    /// Present in traced runs.
    pub names: Option<text::Names<'a>>,
    /// The innermost local variable, in traced runs.
    pub locals: Option<LocalId>,
    /// The frame before what changes many variables at once, in traced runs.
    pub before: Vec<u8>,
    /// Present in watched runs.
    pub watcher: Option<&'a mut Watcher>,
}

impl<'a, 'd> Run<'a, 'd> {
    pub fn new(program: &'a Program, code: &'a Code, memory: &'a mut Memory, context: &'a mut Context<'d>) -> Self {
        let Memory { temps, scratch } = memory;
        // Temps keep what earlier runs left in them; each is assigned before it is used.
        if temps.len() < code.temps.len() {
            temps.resize(code.temps.len(), 0);
        }
        Self { program, code, temps, scratch, context, names: None, locals: None, before: Vec::new(), watcher: None }
    }

    pub fn plain(mut self) {
        self.execute::<false, false>();
    }

    pub fn watched(mut self, watcher: &'a mut Watcher) {
        self.watcher = Some(watcher);
        self.execute::<false, true>();
    }

    pub fn traced(mut self, name: &str) {
        self.names = Some(text::Names::new(self.program));
        self.event(Event::Block { name: name.to_owned() });
        self.execute::<true, false>();
    }

    #[inline]
    pub fn get(&self, operand: Ref) -> u128 {
        match operand.split() {
            Ok(temp) => self.temps[temp],
            Err(constant) => self.code.constants[constant],
        }
    }

    #[inline]
    fn set(&mut self, temp: u32, value: u128) {
        self.temps[temp as usize] = value;
    }

    /// The offset of an indexed place, unless the index is out of range.
    pub fn at(&self, place: u32) -> Option<u32> {
        let place = &self.code.indexed[place as usize];
        let index = self.get(place.index);
        (index < u128::from(place.count)).then(|| place.offset + index as u32 * place.stride)
    }

    fn execute<const TRACE: bool, const WATCH: bool>(&mut self) {
        let code = self.code;
        let mut next = 0;
        loop {
            let op = code.ops[next];
            next += 1;
            if WATCH {
                self.watch(op);
            }
            match op {
                Op::Unary { op, width, dst, a } => self.set(dst, eval::unary(op, self.get(a), width.into())),
                Op::Binary { op, width, dst, a, b } => {
                    self.set(dst, eval::binary(op, self.get(a), self.get(b), width.into()));
                }
                Op::Compare { op, width, dst, a, b } => {
                    self.set(dst, eval::compare(op, self.get(a), self.get(b), width.into()).into());
                }
                Op::Resize { signed, from, to, dst, a } => {
                    self.set(dst, eval::resize(signed, self.get(a), from.into(), to.into()));
                }
                Op::Slice { hi, lo, dst, a } => self.set(dst, eval::slice(self.get(a), hi.into(), lo.into())),
                Op::Insert { hi, lo, dst, a, value } => {
                    self.set(dst, eval::insert(self.get(a), self.get(value), hi.into(), lo.into()));
                }
                Op::Concat { b_width, dst, a, b } => {
                    self.set(dst, eval::concat(self.get(a), self.get(b), b_width.into()));
                }
                Op::Select { dst, cond, a, b } => {
                    self.set(dst, if self.get(cond) != 0 { self.get(a) } else { self.get(b) });
                }
                Op::Load { width, dst, offset } => self.set(dst, self.context.frame.read(offset, width.into())),
                Op::LoadAt { width, dst, place } => {
                    let value = self.at(place).map_or(0, |offset| self.context.frame.read(offset, width.into()));
                    self.set(dst, value);
                }
                Op::Store { width, offset, src } => {
                    let before = if TRACE { self.context.frame.read(offset, width.into()) } else { 0 };
                    self.context.frame.write(offset, width.into(), self.get(src));
                    if TRACE {
                        self.assigned(offset, width.into(), before);
                    }
                }
                Op::StoreAt { width, place, src } => {
                    if let Some(offset) = self.at(place) {
                        let before = if TRACE { self.context.frame.read(offset, width.into()) } else { 0 };
                        self.context.frame.write(offset, width.into(), self.get(src));
                        if TRACE {
                            self.assigned(offset, width.into(), before);
                        }
                    }
                }
                Op::Copy { dst, src, bytes } => {
                    if TRACE {
                        self.remember();
                    }
                    let src = src as usize;
                    self.context.frame.all_mut().copy_within(src..src + bytes as usize, dst as usize);
                    if TRACE {
                        self.changed(dst, bytes);
                    }
                }
                Op::Zero { offset, bytes } => {
                    if TRACE {
                        self.remember();
                    }
                    self.context.frame.bytes_mut(offset, bytes).fill(0);
                    if TRACE {
                        self.changed(offset, bytes);
                    }
                }
                Op::LoadArg { width, dst, offset } => self.set(dst, self.argument(offset, width.into())),
                Op::Other(number) => {
                    let inst = &code.others[number as usize];
                    if TRACE && changes_many(inst) {
                        self.remember();
                    }
                    let cursor = self.context.cursor;
                    self.call(inst);
                    if WATCH {
                        self.watch_call(inst, cursor);
                    }
                    if TRACE {
                        self.called(inst);
                    }
                }
                Op::Jump(to) => next = to as usize,
                Op::Branch { cond, then, otherwise } => {
                    next = if self.get(cond) != 0 { then } else { otherwise } as usize;
                }
                Op::Switch { value, switch } => {
                    let switch = &code.switches[switch as usize];
                    let found = switch.cases.binary_search_by_key(&self.get(value), |(case, _)| *case);
                    next = found.map_or(switch.default, |i| switch.cases[i].1) as usize;
                }
                Op::Return => return,
            }
        }
    }

    /// A parameter of the action found last; zero if no entry was found that has it.
    fn argument(&self, offset: u32, width: u32) -> u128 {
        let mut bytes = [0; 16];
        let size = storage_size(width) as usize;
        if let Some(data) = self.context.action_data().get(offset as usize..offset as usize + size) {
            bytes[..size].copy_from_slice(data);
        }
        u128::from_le_bytes(bytes)
    }
}
