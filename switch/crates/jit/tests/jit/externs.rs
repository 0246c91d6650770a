//! Random calls of externs do the same on the JIT as on the interpreter: to the frame, to what outlives the packet, and
//! to what the pipeline is asked for.

use std::sync::Arc;

use interp::Interpreter;
use ir::eval::mask;
use ir::*;
use jit::Jit;
use num_bigint::BigUint;
use proptest::prelude::*;
use runtime::{Backend, Context, Device, Effects, GREEN, MeterConfig};

use crate::random::errors;

const CELLS: u64 = 4;
const WIDTHS: [u32; 9] = [1, 8, 9, 16, 32, 48, 64, 65, 128];
const WIDE: [u32; 2] = [129, 200];
const REGISTERS: [u32; 5] = [1, 32, 64, 100, 200];
const VARBIT: u32 = 80;
const ALGORITHMS: [HashAlgorithm; 8] = [
    HashAlgorithm::Crc32,
    HashAlgorithm::Crc32Custom,
    HashAlgorithm::Crc16,
    HashAlgorithm::Crc16Custom,
    HashAlgorithm::Random,
    HashAlgorithm::Identity,
    HashAlgorithm::Csum16,
    HashAlgorithm::Xor16,
];

/// Numbers that decide what a call is.
type Recipe = (u8, [u32; 8], u128);

/// One function of extern calls on variables of all widths, and what of it a packet fills.
struct Builder {
    program: Program,
    scalars: Vec<(u32, u32)>,
    wides: Vec<(u32, u32)>,
    varbit: u32,
    end: u32,
    temps: Vec<u8>,
    insts: Vec<Inst>,
}

impl Builder {
    fn new() -> Self {
        let mut end = 0u32;
        let mut place = |size: u32| {
            let offset = end.next_multiple_of(8);
            end = offset + size;
            offset
        };
        let mut all =
            |widths: &[u32]| -> Vec<_> { widths.iter().map(|width| (place(storage_size(*width)), *width)).collect() };
        let (scalars, wides) = (all(&WIDTHS), all(&WIDE));
        let varbit = place(4 + VARBIT.div_ceil(8));
        let mut program = Program { errors: errors(), ..Program::default() };
        program.counters.push(Counter { name: "c".into(), size: CELLS, unit: CounterUnit::Both });
        for unit in [MeterUnit::Packets, MeterUnit::Bytes] {
            program.meters.push(Meter { name: "m".into(), size: CELLS, unit });
        }
        for width in REGISTERS {
            program.registers.push(Register { name: "r".into(), size: CELLS, width, ..Default::default() });
        }
        program.digests.push(Digest { name: "d".into(), widths: vec![48, 200, 1] });
        program.strings.push("{} and {}".into());
        Self { program, scalars, wides, varbit, end, temps: Vec::new(), insts: Vec::new() }
    }

    fn temp(&mut self, width: u32) -> Temp {
        self.temps.push(width as u8);
        Temp::new(self.temps.len() - 1)
    }

    /// A scalar of `width` bits: a number, or one of the frame made to fit.
    fn operand(&mut self, width: u32, pick: u32, number: u128) -> Operand {
        if pick.is_multiple_of(3) {
            return Operand::Imm(number & mask(width));
        }
        let (offset, from) = self.scalars[pick as usize / 3 % self.scalars.len()];
        let loaded = self.temp(from);
        self.insts.push(Inst::Load { dst: loaded, place: Place::at(offset) });
        let dst = self.temp(width);
        self.insts.push(Inst::Resize { dst, signed: false, from, a: Operand::Temp(loaded) });
        Operand::Temp(dst)
    }

    /// An index that is in range more often than not.
    fn index(&mut self, pick: u32, number: u128) -> Operand {
        if pick.is_multiple_of(2) {
            Operand::Imm(number % (u128::from(CELLS) + 1))
        } else {
            self.operand(32, pick, number)
        }
    }

    /// A value of exactly `width` bits that is no varbit.
    fn fixed(&mut self, width: u32, pick: u32, number: u128) -> Arg {
        match self.wides.iter().find(|wide| wide.1 == width) {
            Some((offset, _)) if pick.is_multiple_of(2) => Arg::Frame(Place::at(*offset), width),
            _ if width <= 128 => Arg::Scalar(self.operand(width, pick, number), width),
            _ => Arg::Const(BigUint::from(number), width),
        }
    }

    fn data(&mut self, picks: [u32; 3], number: u128) -> Vec<Arg> {
        let one = |this: &mut Self, pick: u32| match pick % 4 {
            0 => Arg::Varbit(Place::at(this.varbit), VARBIT),
            1 => this.fixed(WIDE[pick as usize / 4 % WIDE.len()], pick / 8, number),
            _ => this.fixed(1 + pick / 4 % 128, pick / 8, number),
        };
        picks[..1 + number as usize % 3].iter().map(|pick| one(self, *pick)).collect()
    }

    /// A temp, or a wide variable. The temp's value goes to the frame afterwards, so that it is compared.
    fn dest(&mut self, width: u32) -> Dest {
        match self.wides.iter().find(|wide| wide.1 == width) {
            Some((offset, _)) => Dest::Frame(Place::at(*offset), width),
            None => Dest::Temp(self.temp(width)),
        }
    }

    fn keep(&mut self, dest: Dest) {
        let Dest::Temp(temp) = dest else { return };
        let width = self.temps[temp.index()].into();
        let offset = self.end.next_multiple_of(16);
        self.end = offset + 16;
        self.insts.push(Inst::Store { place: Place::at(offset), width, src: Operand::Temp(temp) });
    }

    fn any_width(pick: u32) -> u32 {
        let widths = [1, 2, 8, 16, 32, 48, 64, 100, 128, 129, 200];
        widths[pick as usize % widths.len()]
    }

    fn add(&mut self, (kind, [a, b, c, d, e, f, g, h], number): Recipe) {
        let algorithm = ALGORITHMS[h as usize % ALGORITHMS.len()];
        match kind % 12 {
            0 => {
                let index = self.index(a, number);
                self.insts.push(Inst::Count { counter: CounterId::new(0), index });
            }
            1 => {
                let index = self.index(a, number);
                let dst = self.temp([2, 8, 32][b as usize % 3]);
                let before = (d % 2 == 1).then(|| self.index(e, number >> 8));
                self.insts.push(Inst::Meter { dst, meter: MeterId::new(c as usize % 2), index, before });
                self.keep(Dest::Temp(dst));
            }
            2 => {
                let number_of = a as usize % REGISTERS.len();
                let index = self.index(b, number);
                let dst = self.dest(REGISTERS[number_of]);
                self.insts.push(Inst::RegisterRead { dst, register: RegisterId::new(number_of), index });
                self.keep(dst);
            }
            3 => {
                let number_of = a as usize % REGISTERS.len();
                let index = self.index(b, number >> 8);
                let value = self.fixed(REGISTERS[number_of], c, number);
                self.insts.push(Inst::RegisterWrite { register: RegisterId::new(number_of), index, value });
            }
            4 | 5 => {
                let data = self.data([a, b, c], number);
                let base = self.fixed(Self::any_width(d), e, number);
                let max = self.fixed(Self::any_width(f), g, number >> 64);
                let dst = self.dest(Self::any_width(d ^ f));
                self.insts.push(Inst::Hash { dst, algorithm, base, data, max });
                self.keep(dst);
            }
            6 => {
                let data = self.data([a, b, c], number);
                let dst = self.dest(Self::any_width(d));
                self.insts.push(Inst::Checksum { dst, algorithm, data, payload: e.is_multiple_of(2) });
                self.keep(dst);
            }
            7 => {
                let width = Self::any_width(d);
                let (lo, hi) = (self.fixed(width, a, number >> 64), self.fixed(width, b, number));
                let dst = self.dest(width);
                self.insts.push(Inst::Random { dst, lo, hi });
                self.keep(dst);
            }
            8 => {
                let data = vec![self.fixed(48, a, number), self.fixed(200, b, number), self.fixed(1, c, number)];
                self.insts.push(Inst::Digest { digest: DigestId::new(0), data });
            }
            9 => {
                let kind = [CloneKind::IngressToEgress, CloneKind::EgressToEgress][b as usize % 2];
                let session = self.operand(32, a, number);
                self.insts.push(Inst::Clone { kind, session, fields: None });
            }
            10 => {
                let bytes = self.operand(32, a, number);
                let insts =
                    [Inst::Resubmit { fields: None }, Inst::Recirculate { fields: None }, Inst::Truncate { bytes }];
                self.insts.push(insts[b as usize % 3].clone());
            }
            _ => {
                let args = self.data([a, b, c], number);
                self.insts.push(Inst::LogMessage { format: StringId::new(0), args });
                let cond = self.operand(1, d, number);
                self.insts.push(Inst::Assert { cond, text: StringId::new(0) });
            }
        }
    }

    fn finish(mut self) -> Program {
        self.program.frame = Frame { size: self.end, persistent: self.end, ..Frame::default() };
        let mut blocks = Arena::default();
        blocks.push(Block { insts: self.insts, end: Terminator::Return });
        self.program.functions.push(Function { name: "test".into(), temps: self.temps, blocks });
        self.program
    }
}

/// What a backend made of some packets: frames and effects, then counts, registers, and what the meters let through.
type Outcome = (Vec<(Vec<u8>, Effects)>, Vec<(u64, u64)>, Vec<BigUint>, Vec<u32>);

fn run(
    backend: &dyn Backend,
    program: &Arc<Program>,
    variables: &[(u32, u32)],
    packets: &[(Vec<u8>, u128)],
) -> Outcome {
    let device = Device::new(program.clone()).unwrap();
    for meter in program.meters.keys() {
        let config = MeterConfig { cir: 1000, cburst: 60, pir: 2000, pburst: 90 };
        device.set_meter(meter, 1, Some(config)).unwrap();
    }
    let mut context = Context::new(&device, 7);
    let mut passes = Vec::new();
    for (round, (packet, seed)) in (1u64..).zip(packets) {
        context.packet.refill(0, packet);
        context.start(round * 1_000_000);
        context.cursor = packet.len() / 2;
        for (number, (offset, width)) in (1u32..).zip(variables) {
            let value = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(number * 7);
            if *width <= 128 {
                context.frame.write(*offset, *width, value & mask(*width));
            } else {
                context.frame.bytes_mut(*offset, 16).copy_from_slice(&value.to_le_bytes());
            }
        }
        backend.run(FunctionId::new(0), &mut context);
        assert!(!context.effects.fault);
        passes.push((context.frame.persistent().to_vec(), context.effects.clone()));
    }
    context.idle();
    let counts =
        (0..CELLS).map(|i| device.counter(CounterId::new(0), i).map(|data| (data.packets, data.bytes)).unwrap());
    let registers = program.registers.keys().flat_map(|id| (0..CELLS).map(move |i| (id, i)));
    let registers = registers.map(|(id, i)| device.register(id, i).unwrap()).collect();
    let counts = counts.collect();
    let colours = program.meters.keys().map(|meter| context.meter(meter, 1, GREEN)).collect();
    (passes, counts, registers, colours)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn externs_do_the_same(
        recipes in prop::collection::vec(any::<Recipe>(), 1..30),
        mut packets in prop::collection::vec((prop::collection::vec(any::<u8>(), 0..90), any::<u128>()), 1..5),
    ) {
        let mut builder = Builder::new();
        recipes.into_iter().for_each(|recipe| builder.add(recipe));
        // The length of the varbit is a scalar like others; what is too long counts as full.
        let mut variables = [builder.scalars.clone(), builder.wides.clone()].concat();
        variables.push((builder.varbit, 7));
        variables.push((builder.varbit + 4, 80));
        packets.iter_mut().for_each(|(_, seed)| *seed |= 1);
        let program = Arc::new(builder.finish());
        prop_assert_eq!(verify(&program), []);
        let jit = Jit::compile(program.clone()).unwrap();
        let interpreter = Interpreter::new(program.clone());
        let expected = run(&interpreter, &program, &variables, &packets);
        prop_assert_eq!(run(&jit, &program, &variables, &packets), expected);
    }
}
