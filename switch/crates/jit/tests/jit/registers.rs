//! Cells of registers, wherever they are: in pages that nobody wrote to yet, behind the end, beside others'; and turns.

use std::sync::Arc;
use std::thread;

use interp::Interpreter;
use ir::*;
use jit::Jit;
use num_bigint::BigUint;
use runtime::{Backend, Context, Device, PAGE};

use crate::random::errors;

/// A register by its width, what its cells begin as, and how many it has.
const KINDS: [(u32, u64, u64); 6] =
    [(32, 0, PAGE + 2), (48, 0, 3), (64, 7, PAGE), (72, 0, 2 * PAGE), (1, 0, 1), (200, 0, 3)];
const INDEX: u32 = 0;
const VALUE: u32 = 8;
const BEFORE: u32 = 16;
const WIDE: u32 = 32;

/// Reads a cell, and writes it where there is a value to be written; of wide registers, both by the frame.
fn program((width, initial, size): (u32, u64, u64)) -> Arc<Program> {
    let mut program = Program { errors: errors(), ..Program::default() };
    // Another one's pages before and after it.
    let beside = || Register { name: "beside".into(), size: PAGE + 1, width: 8, ..Register::default() };
    program.registers.push(beside());
    let register = program.registers.push(Register { name: "r".into(), size, width, initial: BigUint::from(initial) });
    program.registers.push(beside());
    let narrow = width <= 128;
    let [index, value, before] = [0, 1, 2].map(Temp::new);
    let (dst, src) = if narrow {
        (Dest::Temp(before), Arg::Scalar(Operand::Temp(value), width))
    } else {
        (Dest::Frame(Place::at(WIDE), width), Arg::Frame(Place::at(WIDE + 32), width))
    };
    let mut insts = vec![
        Inst::Load { dst: index, place: Place::at(INDEX) },
        Inst::Load { dst: value, place: Place::at(VALUE) },
        Inst::RegisterRead { dst, register, index: Operand::Temp(index) },
        Inst::RegisterWrite { register, index: Operand::Temp(index), value: src },
    ];
    if narrow {
        insts.push(Inst::Store { place: Place::at(BEFORE), width, src: Operand::Temp(before) });
    }
    let mut blocks = Arena::default();
    blocks.push(Block { insts, end: Terminator::Return });
    let width = if narrow { width as u8 } else { 1 };
    program.functions.push(Function { name: "f".into(), temps: vec![32, width, width], blocks });
    program.frame = Frame { size: 96, persistent: 96, ..Frame::default() };
    assert_eq!(verify(&program), []);
    Arc::new(program)
}

fn pass(context: &mut Context<'_>, backend: &dyn Backend, index: u64, value: u64) -> Vec<u8> {
    context.start(0);
    context.frame.write(INDEX, 32, index.into());
    context.frame.bytes_mut(VALUE, 1)[0] = value as u8;
    context.frame.bytes_mut(WIDE + 32, 1)[0] = value as u8;
    backend.run(FunctionId::new(0), context);
    context.registers.end_turn();
    assert!(!context.effects.fault);
    context.frame.persistent().to_vec()
}

#[test]
fn cells_are_the_same_wherever_they_are() {
    for kind in KINDS {
        let program = program(kind);
        let engines: [Box<dyn Backend>; 2] =
            [Box::new(Interpreter::new(program.clone())), Box::new(Jit::compile(program.clone()).unwrap())];
        let [expected, found] = engines.each_ref().map(|engine| {
            let device = Device::new(program.clone()).unwrap();
            device.set_register(RegisterId::new(1), 0, &BigUint::from(1u8)).unwrap();
            let carried = device.carried();
            let device = Device::new(program.clone()).unwrap();
            assert!(device.carry_on(&carried));
            let mut context = Context::new(&device, 0);
            let indices = [0, 1, 0, 2, 3, kind.2 - 1, kind.2, PAGE - 1, PAGE, PAGE + 1, u64::from(u32::MAX), 2, PAGE];
            let mut passes = vec![];
            for (value, index) in (0..).map(|turn| turn % 2).zip(indices) {
                passes.push(pass(&mut context, &**engine, index, value));
                // The controller writes where no packet did.
                let _ = device.set_register(RegisterId::new(1), PAGE - 2, &BigUint::from(1u8));
                passes.push(pass(&mut context, &**engine, PAGE - 2, value));
            }
            (passes, device.carried())
        });
        assert_eq!(found, expected, "{kind:?}");
    }
}

/// Adds one to a cell: read, compute, write.
fn adding(width: u32) -> Arc<Program> {
    let mut program = Program { errors: errors(), ..Program::default() };
    let register = program.registers.push(Register { name: "r".into(), size: 1, width, ..Register::default() });
    let [before, after] = [0, 1].map(Temp::new);
    let insts = vec![
        Inst::RegisterRead { dst: Dest::Temp(before), register, index: Operand::Imm(0) },
        Inst::Binary { dst: after, op: BinaryOp::Add, a: Operand::Temp(before), b: Operand::Imm(1) },
        Inst::RegisterWrite { register, index: Operand::Imm(0), value: Arg::Scalar(Operand::Temp(after), width) },
    ];
    let mut blocks = Arena::default();
    blocks.push(Block { insts, end: Terminator::Return });
    program.functions.push(Function { name: "f".into(), temps: vec![width as u8; 2], blocks });
    program.frame = Frame { size: 96, persistent: 96, ..Frame::default() };
    assert_eq!(verify(&program), []);
    Arc::new(program)
}

#[test]
fn packets_of_several_threads_take_turns() {
    const PACKETS: u64 = 20_000;
    for width in [48, 100] {
        let program = adding(width);
        let jit = Jit::compile(program.clone()).unwrap();
        let device = Device::new(program).unwrap();
        device.serve_threads();
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    let mut context = Context::new(&device, 0);
                    for _ in 0..PACKETS {
                        context.start(0);
                        jit.run(FunctionId::new(0), &mut context);
                        context.registers.end_turn();
                    }
                });
            }
        });
        assert_eq!(device.register(RegisterId::new(0), 0), Ok(BigUint::from(3 * PACKETS)), "width {width}");
    }
}
