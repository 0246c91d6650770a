//! Random programs.

mod flow;

use ir::eval::{Wide, mask};
use ir::*;
use num_bigint::BigUint;
use runtime::FrameMemory;

use flow::Open;

/// The errors that every program has.
pub fn errors() -> Vec<String> {
    let names = [
        "NoError",
        "PacketTooShort",
        "NoMatch",
        "StackOutOfBounds",
        "HeaderTooShort",
        "ParserTimeout",
        "ParserInvalidArgument",
    ];
    names.map(String::from).to_vec()
}

/// Numbers that decide what an instruction is; proptest shrinks lists of them.
#[derive(Debug, Clone)]
pub struct Recipe {
    pub kind: u8,
    pub pick: [u32; 6],
    pub number: u128,
}

/// Scalars of these widths stand in the frame.
const WIDTHS: [u32; 24] = [1, 2, 3, 7, 8, 9, 12, 13, 16, 17, 20, 24, 31, 32, 33, 48, 56, 63, 64, 65, 96, 100, 127, 128];
const WIDE_WIDTHS: [u32; 5] = [129, 160, 191, 192, 256];
const UNARY: [UnaryOp; 2] = [UnaryOp::Neg, UnaryOp::Not];
const BINARY: [BinaryOp; 15] = [
    BinaryOp::Add,
    BinaryOp::Sub,
    BinaryOp::Mul,
    BinaryOp::Div,
    BinaryOp::Mod,
    BinaryOp::And,
    BinaryOp::Or,
    BinaryOp::Xor,
    BinaryOp::Shl,
    BinaryOp::Shr,
    BinaryOp::Sar,
    BinaryOp::AddSatU,
    BinaryOp::SubSatU,
    BinaryOp::AddSatS,
    BinaryOp::SubSatS,
];
const COMPARE: [CompareOp; 6] =
    [CompareOp::Eq, CompareOp::Ne, CompareOp::LtU, CompareOp::LeU, CompareOp::LtS, CompareOp::LeS];

/// Elements of the stack behind the scalars: `count` of `stride` bytes.
const STRIDE: u32 = 24;
const COUNT: u32 = 3;

/// Where the variables start; before them the values of temps are left to be compared.
const VARIABLES: u32 = 8192;

pub struct Builder {
    scalars: Vec<(u32, u32)>,
    wides: Vec<(u32, u32)>,
    stack: u32,
    size: u32,
    temps: Vec<u8>,
    /// Temps that may be used here.
    visible: Vec<Temp>,
    blocks: Arena<BlockId, Block>,
    insts: Vec<Inst>,
    open: Option<Open>,
}

impl Default for Builder {
    fn default() -> Self {
        let mut end = VARIABLES;
        let mut place = |width: u32| {
            let offset = end.next_multiple_of(storage_align(width));
            end = offset + storage_size(width);
            (offset, width)
        };
        let scalars = WIDTHS.iter().map(|width| place(*width)).collect();
        let wides = WIDE_WIDTHS.iter().map(|width| place(*width)).collect();
        let stack = end.next_multiple_of(8);
        Self {
            scalars,
            wides,
            stack,
            size: stack + STRIDE * COUNT,
            temps: Vec::new(),
            visible: Vec::new(),
            blocks: Arena::default(),
            insts: Vec::new(),
            open: None,
        }
    }
}

impl Builder {
    fn temp(&mut self, width: u32) -> Temp {
        self.temps.push(width as u8);
        let temp = Temp::new(self.temps.len() - 1);
        self.visible.push(temp);
        temp
    }

    fn scalar(&self, pick: u32) -> (u32, u32) {
        self.scalars[pick as usize % self.scalars.len()]
    }

    fn wide(&self, pick: u32) -> (u32, u32) {
        self.wides[pick as usize % self.wides.len()]
    }

    /// An operand of `width` bits: a number, a temp that exists, or a scalar from the frame made to fit.
    fn operand(&mut self, width: u32, pick: u32, number: u128) -> Operand {
        let fitting: Vec<_> =
            self.visible.iter().copied().filter(|temp| u32::from(self.temps[temp.index()]) == width).collect();
        if pick.is_multiple_of(4) {
            // Small and large numbers are as likely as others.
            let number = match pick / 4 % 4 {
                0 => number % 3,
                1 => mask(width).saturating_sub(number % 3),
                _ => number,
            };
            return Operand::Imm(number & mask(width));
        }
        if pick % 4 < 3 && !fitting.is_empty() {
            return Operand::Temp(fitting[pick as usize / 4 % fitting.len()]);
        }
        let (offset, from) = self.scalar(pick / 4);
        let loaded = self.temp(from);
        self.insts.push(Inst::Load { dst: loaded, place: Place::at(offset) });
        if from == width {
            return Operand::Temp(loaded);
        }
        let dst = self.temp(width);
        let signed = pick & 0x1000 != 0;
        self.insts.push(Inst::Resize { dst, signed, from, a: Operand::Temp(loaded) });
        Operand::Temp(dst)
    }

    /// A place of `width` bits in the stack; its index may be out of range.
    fn element(&mut self, pick: u32, number: u128) -> Place {
        let index = match pick % 3 {
            0 => Operand::Imm(u128::from(pick / 3) % 5),
            1 => self.operand(3, pick / 3, number % 8),
            _ => self.operand(32, pick / 3, number % 5),
        };
        Place { offset: self.stack, index: Some(Index { index, stride: STRIDE, count: COUNT }) }
    }

    fn any_arg(&mut self, pick: u32, number: u128) -> Arg {
        match pick % 3 {
            0 => {
                let (offset, width) = self.wide(pick / 3);
                Arg::Frame(Place::at(offset), width)
            }
            1 => Arg::Const(num_bigint::BigUint::from(number) << 12u32, 140),
            _ => {
                let width = 1 + pick / 3 % 128;
                Arg::Scalar(self.operand(width, pick / 7, number), width)
            }
        }
    }

    pub fn add(&mut self, recipe: &Recipe) {
        let [a, b, c, d, e, f] = recipe.pick;
        let number = recipe.number;
        let width = if f.is_multiple_of(2) { WIDTHS[e as usize % WIDTHS.len()] } else { 1 + e % 128 };
        match recipe.kind % 22 {
            0 => {
                let a = self.operand(width, a, number);
                let dst = self.temp(width);
                self.insts.push(Inst::Unary { dst, op: UNARY[c as usize % 2], a });
            }
            1..=4 => {
                let op = BINARY[c as usize % BINARY.len()];
                let shift = matches!(op, BinaryOp::Shl | BinaryOp::Shr | BinaryOp::Sar);
                let x = self.operand(width, a, number);
                let y = if shift {
                    let limit = if d.is_multiple_of(8) { u128::MAX } else { 140 };
                    self.operand([width, 8, 5, 32][d as usize % 4], b, (number >> 64) % limit)
                } else {
                    self.operand(width, b, number >> 3)
                };
                let dst = self.temp(width);
                self.insts.push(Inst::Binary { dst, op, a: x, b: y });
            }
            5 => {
                let x = self.operand(width, a, number);
                let y = if d.is_multiple_of(4) { x } else { self.operand(width, b, number >> 3) };
                let dst = self.temp(1);
                self.insts.push(Inst::Compare { dst, op: COMPARE[c as usize % 6], width, a: x, b: y });
            }
            6 => {
                let to = 1 + c % 128;
                let x = self.operand(width, a, number);
                let dst = self.temp(to);
                self.insts.push(Inst::Resize { dst, signed: d.is_multiple_of(2), from: width, a: x });
            }
            7 => {
                let hi = c % width;
                let lo = d % (hi + 1);
                let x = self.operand(width, a, number);
                let dst = self.temp(hi - lo + 1);
                self.insts.push(Inst::Slice { dst, a: x, hi, lo });
            }
            8 => {
                let hi = c % width;
                let lo = d % (hi + 1);
                let x = self.operand(width, a, number);
                let value = self.operand(hi - lo + 1, b, number >> 5);
                let dst = self.temp(width);
                self.insts.push(Inst::Insert { dst, a: x, value, hi, lo });
            }
            9 => {
                let left = 1 + c % 127;
                let right = 1 + d % (128 - left);
                let x = self.operand(left, a, number);
                let y = self.operand(right, b, number >> 9);
                let dst = self.temp(left + right);
                self.insts.push(Inst::Concat { dst, a: x, b: y, b_width: right });
            }
            10 => {
                let x = self.operand(width, a, number);
                let y = self.operand(width, b, number >> 1);
                let cond = if d.is_multiple_of(2) {
                    self.operand(1, c, number)
                } else {
                    // The smaller or larger of the two.
                    let dst = self.temp(1);
                    self.insts.push(Inst::Compare { dst, op: COMPARE[c as usize % 6], width, a: x, b: y });
                    Operand::Temp(dst)
                };
                let dst = self.temp(width);
                self.insts.push(Inst::Select { dst, cond, a: x, b: y });
            }
            11 => {
                let (offset, width) = self.scalar(c);
                let src = self.operand(width, a, number);
                self.insts.push(Inst::Store { place: Place::at(offset), width, src });
            }
            12 => {
                let place = self.element(b, number);
                let width = [8, 16, 33, 64, 100, 128][c as usize % 6];
                let src = self.operand(width, a, number);
                if d.is_multiple_of(2) {
                    self.insts.push(Inst::Store { place, width, src });
                } else {
                    let dst = self.temp(64);
                    self.insts.push(Inst::Load { dst, place });
                }
            }
            13 => {
                // Within the wide values and the stack any bytes mean something.
                let start = self.wides[0].0;
                let bytes = 1 + c % 70;
                let span = self.size - start - bytes;
                let copy = |pick: u32| Place::at(start + pick % span);
                let inst = match d % 3 {
                    0 => Inst::Copy { dst: copy(a), src: copy(b), bytes },
                    1 => Inst::Copy { dst: self.element(a, number), src: self.element(b, number >> 3), bytes: STRIDE },
                    _ => Inst::Zero { place: self.element(a, number), bytes: STRIDE },
                };
                self.insts.push(inst);
                self.trim_wides();
            }
            14 => {
                let (offset, width) = self.wide(a);
                let x = Arg::Frame(Place::at(offset), width);
                let (to, _) = *self.wides.iter().filter(|wide| wide.1 == width).nth(0).expect("it exists");
                let op = BINARY[c as usize % BINARY.len()];
                let y = match op {
                    BinaryOp::Shl | BinaryOp::Shr if d.is_multiple_of(2) => {
                        Arg::Scalar(Operand::Imm(number % 40 * 8), 16)
                    }
                    BinaryOp::Shl | BinaryOp::Shr | BinaryOp::Sar => Arg::Scalar(self.operand(16, b, number % 300), 16),
                    _ => x.clone(),
                };
                let dst = Dest::Frame(Place::at(to), width);
                self.insts.push(Inst::Wide { op: WideOp::Binary(op), dst, args: vec![x, y] });
            }
            15 => {
                let x = self.any_arg(a, number);
                let dst = match b % 2 {
                    0 => Dest::Temp(self.temp(width)),
                    _ => {
                        let (offset, width) = self.wide(b / 2);
                        Dest::Frame(Place::at(offset), width)
                    }
                };
                let op = if c.is_multiple_of(2) { WideOp::ResizeU } else { WideOp::ResizeS };
                self.insts.push(Inst::Wide { op, dst, args: vec![x] });
            }
            20 => self.cut(a, b, c),
            21 => self.put_together(a, b, number),
            16 | 17 if self.open.is_none() => self.fork(a, b, number),
            18 if self.open.is_none() => self.start_loop(),
            _ => {
                let place = Place::at(self.stack);
                let push = c.is_multiple_of(2);
                self.insts.push(Inst::StackShift { place, stride: STRIDE, count: COUNT, by: a % 5, push });
            }
        }
        self.step(c, number);
    }

    /// Some whole bytes of a wide value, as a temp and as another wide value; any bits of it; and whether it is another one,
    /// which differs in few bits or none.
    fn cut(&mut self, a: u32, b: u32, c: u32) {
        let (offset, width) = self.wide(a);
        let first = b % width;
        let count = 1 + c % (width - first).min(128);
        let (dst, op) = (Dest::Temp(self.temp(count)), WideOp::Slice { hi: first + count - 1, lo: first });
        self.insts.push(Inst::Wide { op, dst, args: vec![Arg::Frame(Place::at(offset), width)] });
        let number = BigUint::from(1u8) << (c % width);
        let known = Arg::Const(if b.is_multiple_of(2) { BigUint::ZERO } else { number }, width);
        for (number, other) in [Arg::Frame(Place::at(offset), width), known].into_iter().enumerate() {
            let op =
                WideOp::Compare(if (a as usize + number).is_multiple_of(2) { CompareOp::Eq } else { CompareOp::Ne });
            let dst = Dest::Temp(self.temp(1));
            self.insts.push(Inst::Wide { op, dst, args: vec![Arg::Frame(Place::at(offset), width), other] });
        }
        let lo = 8 * (b % (width / 8));
        let bits = 8 * (1 + c % ((width - lo) / 8).min(16));
        let dst = Dest::Temp(self.temp(bits));
        let args = vec![Arg::Frame(Place::at(offset), width)];
        self.insts.push(Inst::Wide { op: WideOp::Slice { hi: lo + bits - 1, lo }, dst, args });
        let [(_, narrow), (to, wide)] = [self.wides[1], self.wides[3]];
        let lo = 8 * (b % ((wide - narrow) / 8 + 1));
        let (op, dst) = (WideOp::Slice { hi: lo + narrow - 1, lo }, Dest::Frame(Place::at(self.wides[1].0), narrow));
        self.insts.push(Inst::Wide { op, dst, args: vec![Arg::Frame(Place::at(to), wide)] });
    }

    /// 256 bits of 192 and 64.
    fn put_together(&mut self, a: u32, b: u32, number: u128) {
        let [(long, width), (to, all)] = [self.wides[3], self.wides[4]];
        let rest = match a % 3 {
            0 => Arg::Const(0u32.into(), all - width),
            _ => Arg::Scalar(self.operand(all - width, b, number), all - width),
        };
        let mut args = vec![Arg::Frame(Place::at(if a.is_multiple_of(2) { long } else { to }), width), rest];
        if b.is_multiple_of(2) {
            args.reverse();
        }
        self.insts.push(Inst::Wide { op: WideOp::Concat, dst: Dest::Frame(Place::at(to), all), args });
    }

    /// Loads all that the frame holds.
    pub fn read_all(&mut self) {
        self.close();
        let wides = self.wides.iter().map(|(offset, width)| (*offset, storage_size(*width)));
        let words =
            wides.chain([(self.stack, STRIDE * COUNT)]).flat_map(|(offset, bytes)| (offset..offset + bytes).step_by(8));
        let all: Vec<_> = self.scalars.iter().copied().chain(words.map(|offset| (offset, 64))).collect();
        for (offset, width) in all {
            let dst = self.temp(width);
            self.insts.push(Inst::Load { dst, place: Place::at(offset) });
        }
    }

    /// Clears the bits of wide values above their widths, which copies of any bytes may have set.
    fn trim_wides(&mut self) {
        for (offset, width) in self.wides.clone() {
            let dst = Dest::Frame(Place::at(offset), width);
            let arg = Arg::Frame(Place::at(offset), width);
            self.insts.push(Inst::Wide { op: WideOp::ResizeU, dst, args: vec![arg] });
        }
    }

    /// The program. Its function also stores the temps, so that none is computed in vain. The variables may be locals.
    pub fn finish(mut self, locals: bool) -> Program {
        self.close();
        for (i, temp) in self.visible.iter().rev().take(VARIABLES as usize / 16).enumerate() {
            let width = self.temps[temp.index()].into();
            self.insts.push(Inst::Store { place: Place::at(i as u32 * 16), width, src: Operand::Temp(*temp) });
        }
        self.end(Terminator::Return);
        let persistent = if locals { VARIABLES } else { self.size };
        let frame = Frame { size: self.size, persistent, headers: persistent, ..Frame::default() };
        let mut program = Program { frame, errors: errors(), ..Program::default() };
        program.functions.push(Function { name: "test".into(), temps: self.temps, blocks: self.blocks });
        program
    }

    /// Fills a frame with random contents, masked.
    pub fn filler(&self) -> impl Fn(&mut FrameMemory, u64) + use<> {
        let (scalars, wides, stack) = (self.scalars.clone(), self.wides.clone(), self.stack);
        move |frame, seed| {
            let mut state = seed | 1;
            let mut next = || {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                u128::from(state) << 64 | u128::from(state.wrapping_mul(0x9e37_79b9_7f4a_7c15))
            };
            for (offset, width) in &scalars {
                frame.write(*offset, *width, next() & mask(*width));
            }
            for (offset, width) in &wides {
                let value = Wide::from_le_bytes(&[next().to_le_bytes(), next().to_le_bytes()].concat(), *width);
                value.write_le_bytes(frame.bytes_mut(*offset, storage_size(*width)));
            }
            for byte in frame.bytes_mut(stack, STRIDE * COUNT) {
                *byte = next() as u8;
            }
        }
    }
}
