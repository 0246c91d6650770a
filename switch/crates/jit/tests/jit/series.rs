//! Functions that run one after the other.

use std::sync::Arc;

use interp::Interpreter;
use ir::{FunctionId, Handle, Program};
use jit::{AtOnce, Jit};
use runtime::{Backend, Context, Device, Stop};

/// `push` shifts the number and adds one; `nothing` does nothing; `look` adds what a table says, which is 5; `count` adds to
/// a register.
const PROGRAM: &str = "
frame 16 persistent 16 {
    0 number: bits 32
}
errors (NoError, PacketTooShort, NoMatch, StackOutOfBounds, HeaderTooShort, ParserTimeout, ParserInvalidArgument)
register cells size 1 width 32 initial 0
action say (more: 32 @ 0)
table one size 16 {
    key key: 32 exact
    action say
    default 0 (5)
}
function push {
b0:
    %0:32 = load number
    %1:32 = shl %0, 4
    %2:32 = add %1, 1
    store number:32, %2
    return
}
function nothing {
b0:
    return
}
function look {
b0:
    %0:32 = load number
    %1:1, %2:32 = lookup one (%0:32)
    %3:32 = load_arg 0
    %4:32 = add %0, %3
    store number:32, %4
    return
}
function count {
b0:
    %0:32 = register_read cells, 0
    %1:32 = add %0, 1
    register_write cells, 0, %1:32
    return
}
blocks push push push push push push
";

fn functions(names: &[&str]) -> Vec<FunctionId> {
    let number = |name: &&str| ["push", "nothing", "look", "count"].iter().position(|known| known == name);
    names.iter().map(|name| FunctionId::new(number(name).expect("the program has it"))).collect()
}

fn number(context: &Context<'_>) -> u32 {
    context.frame.read(0, 32) as u32
}

/// Runs them all, in as many parts as it takes: how many of each part, and the number in the end.
fn run(backend: &dyn Backend, context: &mut Context<'_>, names: &[&str], stop: u32) -> (Vec<usize>, u32) {
    let functions = functions(names);
    context.start(0);
    let (mut ran, mut parts) = (0, Vec::new());
    while ran < functions.len() {
        let part = backend.run_some(
            &functions[ran..],
            context,
            &mut Stop { behind: u32::MAX, asked: &mut |context, _| number(context) == stop },
        );
        context.registers.end_turn();
        parts.push(part);
        ran += part;
    }
    (parts, number(context))
}

#[test]
fn functions_run_in_turn_until_there_is_something_to_do() {
    let program: Arc<Program> = Arc::new(PROGRAM.parse().unwrap());
    let code = Arc::new(Jit::compile(program.clone()).unwrap());
    let special = AtOnce::new(code.clone());
    let device = Device::new(program.clone()).unwrap();
    let mut context = Context::new(&device, 0);
    let all = ["push", "nothing", "look", "push"];
    for backend in [&*code as &dyn Backend, &special] {
        assert_eq!(run(backend, &mut context, &all, u32::MAX), (vec![4], 0x61));
        assert_eq!(
            run(backend, &mut context, &all, 1),
            (vec![1, 1, 2], 0x61),
            "behind the first, and the one that does nothing"
        );
        assert_eq!(run(backend, &mut context, &all, 6), (vec![3, 1], 0x61), "behind the third");
        assert_eq!(run(backend, &mut context, &all, 0x61), (vec![4], 0x61), "behind the last there is nothing");
        assert_eq!(run(backend, &mut context, &["nothing", "nothing"], 0), (vec![1, 1], 0), "which changed nothing");
        context.start(0);
        let stop = &mut Stop { behind: 0b100, asked: &mut |_, ran| ran == 3 || panic!("not asked for") };
        assert_eq!(backend.run_some(&functions(&all), &mut context, stop), 3, "where it is asked for");
    }
    let interpreter = Interpreter::new(program);
    assert_eq!(run(&interpreter, &mut context, &all, u32::MAX), (vec![1; 4], 0x61), "by the interpreter each alone");
}

#[test]
fn others_have_their_turn_behind_a_function_that_used_registers() {
    let program: Arc<Program> = Arc::new(PROGRAM.parse().unwrap());
    let code = Jit::compile(program.clone()).unwrap();
    let device = Device::new(program).unwrap();
    let mut context = Context::new(&device, 0);
    let all = ["push", "count", "push"];
    assert_eq!(run(&code, &mut context, &all, u32::MAX), (vec![3], 0x11), "nobody waits");
    device.serve_threads();
    assert_eq!(run(&code, &mut context, &all, u32::MAX), (vec![2, 1], 0x11));
}
