//! Random headers in random packets: fields come off the packet, and go back onto it, bit by bit.

use std::sync::Arc;

use crate::random::errors;
use interp::Interpreter;
use ir::eval::Wide;
use ir::*;
use jit::Jit;
use proptest::prelude::*;
use runtime::{Backend, Context, Device};

const PARSER: usize = 0;
const DEPARSER: usize = 1;
const TOO_SHORT: u32 = 1;
/// Where the header stands, in an element of a stack if the test wants so; far enough behind the other variables that it is
/// not zeroed with them.
const PLACE: u32 = 64;
/// Where the parser leaves its error, and a mark on its ordinary way.
const ERROR: u32 = 0;
const MARK: u32 = 4;
/// Where the index of the element and the length of the varbit stand.
const INDEX: u32 = 8;
const BITS: u32 = 12;

/// A header type of fields of these widths; the one with the given number is a varbit.
fn layout(widths: &[u32], varbit: Option<usize>) -> HeaderType {
    let mut end = 1u32;
    let fields = widths
        .iter()
        .enumerate()
        .map(|(i, width)| {
            let varbit = varbit == Some(i);
            let (size, align) =
                if varbit { (4 + width.div_ceil(8), 4) } else { (storage_size(*width), storage_align(*width)) };
            let offset = end.next_multiple_of(align);
            end = offset + size;
            HeaderField { name: format!("f{offset}"), offset, width: *width, varbit }
        })
        .collect();
    HeaderType { name: "h".into(), fields, size: end.next_multiple_of(8) }
}

/// How the parser goes.
#[derive(Debug, Clone, Copy)]
struct Shape {
    /// Bytes skipped first.
    skip: u32,
    peek: bool,
    /// Branches on the error at once, or stores it first.
    branch: bool,
    /// The element of a stack of 3 that the header stands in, by an index of run time.
    element: Option<u32>,
}

fn program(header: HeaderType, shape: Shape) -> Program {
    let size = header.size;
    let frame = (PLACE + size * 3).next_multiple_of(8);
    let mut program = Program {
        frame: Frame { size: frame, persistent: frame, headers: frame, ..Frame::default() },
        errors: errors(),
        ..Program::default()
    };
    let varbit = header.fields.iter().any(|field| field.varbit);
    let header = program.header_types.push(header);
    let temps = vec![32, 32, 32, 1, 32];
    let [skipped, index, error, failed, bits] = [0, 1, 2, 3, 4].map(Temp::new);
    let mut place = Place::at(PLACE);
    if shape.element.is_some() {
        place.index = Some(Index { index: Operand::Temp(index), stride: size, count: 3 });
    }
    let store = |offset, src| Inst::Store { place: Place::at(offset), width: 32, src };
    let mut start = vec![
        Inst::Advance { error: skipped, bits: Operand::Imm(u128::from(shape.skip) * 8) },
        Inst::Load { dst: index, place: Place::at(INDEX) },
        Inst::Load { dst: bits, place: Place::at(BITS) },
        Inst::Extract { error, header, place, varbit_bits: varbit.then_some(Operand::Temp(bits)), peek: shape.peek },
    ];
    let mut blocks = Arena::default();
    if shape.branch {
        start.push(Inst::Compare {
            dst: failed,
            op: CompareOp::Ne,
            width: 32,
            a: Operand::Temp(error),
            b: Operand::Imm(0),
        });
        let [bad, good, end] = [1, 2, 3].map(BlockId::new);
        let branch = Terminator::Branch { cond: Operand::Temp(failed), then: bad, otherwise: good };
        blocks.push(Block { insts: start, end: branch });
        blocks.push(Block { insts: vec![], end: Terminator::Jump(end) });
        blocks.push(Block { insts: vec![store(MARK, Operand::Imm(1))], end: Terminator::Jump(end) });
        blocks.push(Block { insts: vec![store(ERROR, Operand::Temp(error))], end: Terminator::Return });
    } else {
        start.push(store(ERROR, Operand::Temp(error)));
        start.push(store(MARK, Operand::Imm(1)));
        blocks.push(Block { insts: start, end: Terminator::Return });
    }
    program.functions.push(Function { name: "parser".into(), temps, blocks });
    let mut blocks = Arena::default();
    // The deparser has the index in a temp of the same number.
    let load = Inst::Load { dst: index, place: Place::at(INDEX) };
    let emit = Inst::Emit { header, place };
    let insts = vec![load, emit.clone(), emit];
    blocks.push(Block { insts, end: Terminator::Return });
    program.functions.push(Function { name: "deparser".into(), temps: vec![32, 32], blocks });
    program
}

/// Widths of fields that together are whole bytes.
fn widths() -> impl Strategy<Value = Vec<u32>> {
    let width =
        prop_oneof![1..=20u32, Just(8), Just(16), Just(24), Just(32), Just(48), Just(64), Just(128), 60..=140u32];
    prop::collection::vec(width, 1..8).prop_map(|mut widths| {
        let bits: u32 = widths.iter().sum();
        if !bits.is_multiple_of(8) {
            widths.push(8 - bits % 8);
        }
        widths
    })
}

fn shape() -> impl Strategy<Value = Shape> {
    (0..3u32, any::<bool>(), any::<bool>(), prop::option::of(0..5u32)).prop_map(|(skip, peek, branch, element)| Shape {
        skip,
        peek,
        branch,
        element,
    })
}

/// A backend's frame, cursor and output when a header with a varbit of `bits` bits is taken off and put back twice, the
/// second time with another length.
fn run_varbit(
    backend: &dyn Backend,
    device: &Device,
    packet: &[u8],
    element: u32,
    [bits, other]: [u32; 2],
) -> (Vec<u8>, usize, Vec<u8>) {
    let header = &device.program().header_types[HeaderTypeId::new(0)];
    let mut context = Context::new(device, 0);
    context.packet.refill(0, packet);
    context.frame.write(INDEX, 32, element.into());
    context.frame.write(BITS, 32, bits.into());
    backend.run(FunctionId::new(PARSER), &mut context);
    backend.run(FunctionId::new(DEPARSER), &mut context);
    for field in header.fields.iter().filter(|field| field.varbit) {
        context.frame.write(PLACE + field.offset, 32, other.into());
    }
    backend.run(FunctionId::new(DEPARSER), &mut context);
    assert!(!context.effects.fault);
    (context.frame.persistent().to_vec(), context.cursor, context.out.clone())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn headers_go_through_unchanged(
        widths in widths(),
        shape in shape(),
        mut packet in prop::collection::vec(any::<u8>(), 0..160),
        long in any::<bool>(),
    ) {
        let header = layout(&widths, None);
        let bytes = widths.iter().sum::<u32>() as usize / 8;
        let start = shape.skip as usize;
        if long {
            packet.resize(start + bytes, 0xa5);
        }
        let program = Arc::new(program(header.clone(), shape));
        let jit = Jit::compile(program.clone()).unwrap();
        let device = Device::new(program.clone()).unwrap();
        let mut context = Context::new(&device, 0);
        context.packet.refill(0, &packet);
        let element = shape.element.unwrap_or(0);
        context.frame.write(INDEX, 32, element.into());
        // The code must say itself that it writes the header, or it is neither emitted nor zeroed.
        context.frame.set_written(0);
        jit.run(FunctionId::new(PARSER), &mut context);

        let there = element < 3;
        let skipped = if packet.len() >= start { start } else { 0 };
        let fits = skipped + bytes <= packet.len() || !there;
        prop_assert_eq!(context.frame.read(ERROR, 32) as u32, if fits { 0 } else { TOO_SHORT });
        prop_assert_eq!(context.frame.read(MARK, 32) == 1, fits || !shape.branch);
        prop_assert_eq!(context.cursor, if fits && there && !shape.peek { skipped + bytes } else { skipped });
        let extracted = fits && there;
        for other in 0..3 {
            let place = PLACE + other * header.size;
            let valid = extracted && other == element;
            prop_assert_eq!(context.frame.read(place, 8) == 1, valid);
            let mut bit = 0;
            for field in &header.fields {
                let all = Wide::from_wire_bits(&packet[skipped..], (packet.len() - skipped) as u32 * 8).to_biguint();
                let expected = if valid {
                    let rest = (packet.len() - skipped) as u32 * 8 - bit - field.width;
                    Wide::from_biguint(&(all >> rest), field.width)
                } else {
                    Wide::zero(field.width)
                };
                let bytes = context.frame.bytes(place + field.offset, storage_size(field.width));
                prop_assert_eq!(Wide::from_le_bytes(bytes, bytes.len() as u32 * 8).to_biguint(), expected.to_biguint());
                bit += field.width;
            }
        }

        context.out.extend_from_slice(b"before");
        jit.run(FunctionId::new(DEPARSER), &mut context);
        let mut expected = b"before".to_vec();
        if extracted {
            expected.extend_from_slice(&packet[skipped..skipped + bytes]);
            expected.extend_from_slice(&packet[skipped..skipped + bytes]);
        }
        prop_assert_eq!(&context.out, &expected);
    }

    #[test]
    fn varbits_do_the_same(
        widths in widths(),
        at in any::<prop::sample::Index>(),
        most in 1..100u32,
        bits in prop::array::uniform2(prop_oneof![0..120u32, (0..12u32).prop_map(|bytes| bytes * 8)]),
        shape in shape(),
        packet in prop::collection::vec(any::<u8>(), 0..160),
    ) {
        let (mut widths, at) = (widths.clone(), at.index(widths.len() + 1));
        widths.insert(at, most);
        let program = Arc::new(program(layout(&widths, Some(at)), shape));
        let jit = Jit::compile(program.clone()).unwrap();
        let interpreter = Interpreter::new(program.clone());
        let device = Device::new(program).unwrap();
        let run = |backend: &dyn Backend| run_varbit(backend, &device, &packet, shape.element.unwrap_or(0), bits);
        prop_assert_eq!(run(&jit), run(&interpreter));
    }
}
