//! Branches that ask again for what was asked before, and ways that join.

use std::sync::Arc;

use interp::Interpreter;
use ir::{FunctionId, Handle, Program};
use jit::Jit;
use runtime::{Backend, Context, Device};

/// One block after the other asks for `decided`, for both bits at once, for either, for a number; some write what was asked
/// for, and the answer of one is read by another. `mark` has a digit for each block that ran.
const PROGRAM: &str = "
frame 32 persistent 32 {
    0 decided: bits 1
    1 other: bits 1
    4 number: bits 8
    8 mark: bits 64
}
errors (NoError, PacketTooShort, NoMatch, StackOutOfBounds, HeaderTooShort, ParserTimeout, ParserInvalidArgument)
function main {
b0:
    %0:1 = load decided
    %1:1 = not %0
    %2:1 = load other
    %3:1 = and %1, %2
    branch %3, b1, b2
b1:
    %4:64 = load mark
    %5:64 = shl %4, 4
    %6:64 = add %5, 1
    store mark:64, %6
    %7:8 = load number
    %8:1 = eq:8 %7, 3
    branch %8, b3, b4
b2:
    %9:1 = load decided
    %10:1 = load other
    %11:1 = or %9, %10
    branch %11, b4, b5
b3:
    store decided:1, 1
    jump b4
b4:
    %12:1 = load decided
    branch %12, b6, b7
b5:
    %13:64 = load mark
    %14:64 = shl %13, 4
    %15:64 = add %14, 2
    store mark:64, %15
    store other:1, 1
    jump b7
b6:
    %16:64 = load mark
    %17:64 = shl %16, 4
    %18:64 = add %17, 3
    store mark:64, %18
    jump b8
b7:
    %19:64 = load mark
    %20:64 = shl %19, 4
    %21:64 = add %20, 4
    store mark:64, %21
    store number:8, 3
    jump b8
b8:
    %22:8 = load number
    %23:1 = ne:8 %22, 3
    %24:1 = load other
    %25:1 = and %23, %24
    branch %25, b9, b10
b9:
    %26:64 = load mark
    %27:64 = shl %26, 4
    %28:64 = add %27, 5
    store mark:64, %28
    jump b10
b10:
    %29:8 = load number
    switch %29:8 { 3: b11, 4: b12, default: b13 }
b11:
    %30:8 = load number
    %31:1 = eq:8 %30, 3
    branch %31, b12, b13
b12:
    %32:64 = load mark
    %33:64 = shl %32, 4
    %34:64 = add %33, 6
    store mark:64, %34
    store decided:1, 1
    jump b13
b13:
    %35:1 = load decided
    branch %35, b14, b15
b14:
    store other:1, %35
    jump b15
b15:
    return
}
blocks main main main main main main
";

#[test]
fn what_is_asked_again_has_the_same_answer() {
    let program: Arc<Program> = Arc::new(PROGRAM.parse().unwrap());
    let device = Device::new(program.clone()).unwrap();
    let [mut one, mut other] = [0, 1].map(|_| Context::new(&device, 0));
    let (native, interpreter) = (Jit::compile(program.clone()).unwrap(), Interpreter::new(program));
    let run = |backend: &dyn Backend, context: &mut Context<'_>, [decided, other, number]: [u128; 3]| {
        context.start(0);
        context.frame.write(0, 1, decided);
        context.frame.write(1, 1, other);
        context.frame.write(4, 8, number);
        backend.run(FunctionId::new(0), context);
        context.frame.persistent().to_vec()
    };
    let mut marks = Vec::new();
    for number in 0..=255 {
        for bits in [[0, 0], [0, 1], [1, 0], [1, 1]] {
            let input = [bits[0], bits[1], number];
            let expected = run(&interpreter, &mut other, input);
            assert_eq!(run(&native, &mut one, input), expected, "{input:?}");
            marks.push(expected[8..].to_vec());
        }
    }
    marks.sort();
    marks.dedup();
    assert_eq!(marks.len(), 7, "ways through the program");
}
