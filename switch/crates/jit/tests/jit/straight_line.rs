//! Random programs without branches leave the same frame as their definition.

use std::sync::Arc;

use crate::random::{Builder, Recipe, run};
use ir::{FunctionId, Handle};
use jit::Jit;
use proptest::prelude::*;
use runtime::{Backend, Context, Device, FrameMemory};

fn recipes() -> impl Strategy<Value = Vec<Recipe>> {
    let recipe =
        (any::<u8>(), any::<[u32; 6]>(), any::<u128>()).prop_map(|(kind, pick, number)| Recipe { kind, pick, number });
    prop::collection::vec(recipe, 1..60)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn programs_do_what_they_mean(recipes in recipes(), seeds in any::<[u64; 3]>()) {
        let mut builder = Builder::default();
        let mut filler = FrameMemory::new(&ir::Frame { size: builder.size, persistent: builder.size, ..Default::default() });
        recipes.iter().for_each(|recipe| builder.add(recipe));
        let fills: Vec<_> = seeds
            .iter()
            .map(|seed| {
                builder.fill(&mut filler, *seed);
                filler.all()[..builder.size as usize].to_vec()
            })
            .collect();
        let program = Arc::new(builder.finish());
        let jit = Jit::compile(program.clone()).unwrap();
        let device = Device::new(program.clone());
        for fill in fills {
            let mut expected = FrameMemory::new(&program.frame);
            expected.all_mut()[..fill.len()].copy_from_slice(&fill);
            let mut context = Context::new(&device, 0);
            context.frame = expected.clone();
            run(&program.functions[FunctionId::new(0)], &mut expected);
            jit.run(FunctionId::new(0), &mut context);
            let size = program.frame.size;
            prop_assert_eq!(context.frame.bytes(0, size), expected.bytes(0, size));
        }
    }
}
