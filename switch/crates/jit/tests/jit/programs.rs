//! Random programs leave the same frame on the JIT as on the interpreter.

use std::sync::Arc;

use interp::Interpreter;
use ir::{FunctionId, Handle};
use jit::Jit;
use proptest::prelude::*;
use runtime::frame::Erased;
use runtime::{Backend, Context, Device};

use crate::random::{Builder, Recipe};

fn recipes() -> impl Strategy<Value = Vec<Recipe>> {
    let recipe =
        (any::<u8>(), any::<[u32; 6]>(), any::<u128>()).prop_map(|(kind, pick, number)| Recipe { kind, pick, number });
    prop::collection::vec(recipe, 1..60)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn programs_do_the_same(recipes in recipes(), seeds in any::<[u64; 3]>(), locals in any::<bool>()) {
        let mut builder = Builder::default();
        recipes.iter().for_each(|recipe| builder.add(recipe));
        let fill = builder.filler();
        let program = Arc::new(builder.finish(locals));
        let jit = Jit::compile(program.clone()).unwrap();
        let interpreter = Interpreter::new(program.clone());
        let erased = Erased::new(&program.frame);
        let device = Device::new(program.clone()).unwrap();
        for seed in seeds {
            let run = |backend: &dyn Backend| {
                let mut context = Context::new(&device, 0);
                fill(&mut context.frame, seed);
                let filled = context.frame.persistent().iter().zip(0..).filter(|(byte, _)| **byte != 0);
                let written = filled.fold(0, |written, (_, offset)| written | erased.bits(offset, 1));
                context.frame.set_written(written);
                context.fuel = 20;
                backend.run(FunctionId::new(0), &mut context);
                assert!(!context.effects.fault);
                let result = (context.frame.persistent().to_vec(), context.fuel);
                context.start(0);
                assert!(context.frame.is_zeroed(), "something was written that is not zeroed");
                result
            };
            let (expected, found) = (run(&interpreter), run(&jit));
            prop_assert_eq!(found, expected);
        }
    }
}
