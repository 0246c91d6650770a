//! What nothing wrote since a packet entered is known to be zero, and what something may have written is not.

use std::sync::Arc;

use interp::Interpreter;
use ir::{Arena, Block, Blocks, Function, FunctionId, Handle, Program, Terminator};
use jit::Jit;
use proptest::prelude::*;
use runtime::{Backend, Context, Device};

use crate::random::{Builder, Recipe};

/// `look` stores what it reads: what the architecture says, what nobody writes, what the parser writes, a part of it, what
/// a field list keeps, an element that the parser found by its index, and one that it moved.
const PROGRAM: &str = "
frame 128 persistent 128 headers 0 {
    0 port: bits 9
    8 nobody: bits 32
    16 parsed: bits 32
    24 partly: bits 64
    32 kept: bits 32
    40 of_port: bits 9
    48 of_nobody: bits 32
    56 of_parsed: bits 32
    64 of_partly: bits 64
    72 of_kept: bits 32
    80 of_found: bits 8
    88 of_moved: bits 8
    96 found: bits 8
    104 moved: bits 8
}
errors (NoError, PacketTooShort, NoMatch, StackOutOfBounds, HeaderTooShort, ParserTimeout, ParserInvalidArgument)
metadata {
    ingress_port 0
}
field_list {
    32 4
}
function parse {
b0:
    %0:32 = packet_length
    store parsed:32, %0
    store @26:8, 1
    %1:32 = sub %0, 58
    store @96 + %1 * 2 below 4:8, 3
    store moved:8, 4
    push_front moved, 2, 4, 1
    return
}
function look {
b0:
    %0:9 = load port
    store of_port:9, %0
    %1:32 = load nobody
    store of_nobody:32, %1
    %2:32 = load parsed
    store of_parsed:32, %2
    %3:64 = load partly
    store of_partly:64, %3
    %4:32 = load kept
    store of_kept:32, %4
    %5:8 = load @100
    store of_found:8, %5
    %6:8 = load @106
    store of_moved:8, %6
    return
}
function nothing {
b0:
    return
}
blocks parse nothing look nothing nothing nothing
";

fn run(backend: &dyn Backend, context: &mut Context<'_>) -> Vec<u8> {
    let blocks = context.device.program().blocks;
    for block in [blocks.parser, blocks.verify_checksum, blocks.ingress] {
        backend.run(block, context);
    }
    assert!(!context.effects.fault);
    let left = context.frame.persistent().to_vec();
    context.start(0);
    assert!(context.frame.is_zeroed(), "something was written that is not zeroed");
    left
}

#[test]
fn what_somebody_before_a_block_may_have_written_is_read() {
    let program: Arc<Program> = Arc::new(PROGRAM.parse().unwrap());
    let device = Device::new(program.clone()).unwrap();
    let backends: [&dyn Backend; 2] = [&Interpreter::new(program.clone()), &Jit::compile(program.clone()).unwrap()];
    for backend in backends {
        let mut context = Context::new(&device, 0);
        context.packet.refill(0, &[7; 60]);
        context.start(0);
        context.frame.write(0, 9, 5);
        context.frame.write(32, 32, 77);
        backend.run(program.blocks.parser, &mut context);
        backend.run(program.blocks.ingress, &mut context);
        let read = [40, 48, 56, 64, 72, 80, 88].map(|offset| context.frame.read(offset, 64));
        assert_eq!(read, [5, 0, 60, 1 << 16, 77, 3, 4]);
    }
}

#[test]
fn what_nobody_before_a_block_writes_is_not_even_read() {
    let program: Arc<Program> = Arc::new(PROGRAM.parse().unwrap());
    let device = Device::new(program.clone()).unwrap();
    let jit = Jit::compile(program.clone()).unwrap();
    let mut context = Context::new(&device, 0);
    context.start(0);
    // Nothing that runs packets does this.
    context.frame.write(8, 32, 9);
    jit.run(program.blocks.ingress, &mut context);
    assert_eq!(context.frame.read(48, 32), 0);
}

fn recipes() -> impl Strategy<Value = Vec<Recipe>> {
    let recipe =
        (any::<u8>(), any::<[u32; 6]>(), any::<u128>()).prop_map(|(kind, pick, number)| Recipe { kind, pick, number });
    prop::collection::vec(recipe, 1..30)
}

/// A program whose parser and ingress are random, and read in the end all that was written.
fn program(recipes: [&[Recipe]; 2]) -> Program {
    let [parser, ingress] = recipes.map(|recipes| {
        let mut builder = Builder::default();
        recipes.iter().for_each(|recipe| builder.add(recipe));
        builder.read_all();
        builder.finish(false)
    });
    let mut program = Program { frame: parser.frame.clone(), errors: parser.errors.clone(), ..Program::default() };
    let mut add = |of: &Program| program.functions.push(of.functions[FunctionId::new(0)].clone());
    let [parser, ingress] = [add(&parser), add(&ingress)];
    let mut blocks = Arena::default();
    blocks.push(Block { insts: vec![], end: Terminator::Return });
    let nothing = program.functions.push(Function { name: "nothing".into(), temps: vec![], blocks });
    let (verify_checksum, egress, compute_checksum, deparser) = (nothing, nothing, nothing, nothing);
    program.blocks = Blocks { parser, verify_checksum, ingress, egress, compute_checksum, deparser };
    program
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn blocks_do_the_same(parser in recipes(), ingress in recipes()) {
        let program = Arc::new(program([&parser, &ingress]));
        let device = Device::new(program.clone()).unwrap();
        let [expected, found] = [
            &Interpreter::new(program.clone()) as &dyn Backend,
            &Jit::compile(program.clone()).unwrap(),
        ].map(|backend| {
            let mut context = Context::new(&device, 0);
            context.start(0);
            run(backend, &mut context)
        });
        prop_assert_eq!(found, expected);
    }
}
