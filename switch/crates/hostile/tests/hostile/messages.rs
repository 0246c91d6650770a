//! Mutated P4Runtime messages, over gRPC without a network.

use std::sync::Arc;

use fastrand::Rng;
use hostile::calls::Known;
use hostile::messages::{Lasting, METHODS, Served};
use hostile::mutate::mutated;
use hostile::{seeds, sources};

/// A service of the edge program, and inputs that are right for it.
fn served() -> (Arc<Known>, Vec<Vec<u8>>) {
    let known = Arc::new(Known::new(&sources::edge().unwrap()).unwrap());
    let inputs = seeds::messages(&known);
    (known, inputs)
}

/// Mutates the inputs of one method.
fn mutations(method: &str, rounds: usize) {
    let (known, inputs) = served();
    let number = METHODS.iter().position(|known| *known == method).unwrap() as u8;
    let inputs: Vec<_> = inputs.into_iter().filter(|input| input[0] == number).collect();
    let mut random = Rng::with_seed(u64::from(number));
    let mut served = Lasting::new(known).unwrap();
    for round in 0..rounds {
        let (input, other) = (&inputs[random.usize(..inputs.len())], &inputs[random.usize(..inputs.len())]);
        let message = mutated(&mut random, &input[1..], &other[1..]);
        let input = [&[number], &message[..]].concat();
        served.check(&input).unwrap_or_else(|problem| panic!("round {round}: {problem}"));
    }
}

#[test]
fn who_reads_everything_gets_few_cells() {
    let (known, _) = served();
    let p4info = &known.p4info;
    let sizes = p4info.registers.iter().map(|array| i64::from(array.size));
    let sizes = sizes.chain(p4info.counters.iter().map(|array| array.size));
    let sizes: Vec<_> = sizes.chain(p4info.meters.iter().map(|array| array.size)).collect();
    assert!(sizes.len() > 50 && sizes.iter().all(|size| *size <= i64::from(sources::FEW_CELLS)), "{sizes:?}");
}

/// Checks the inputs that are right, each on a switch that nothing was written to.
fn taken(is_chosen: fn(&str) -> bool) {
    let (known, inputs) = served();
    for input in inputs.iter().filter(|input| is_chosen(METHODS[usize::from(input[0])])) {
        Served::new(&known).unwrap().check(input).unwrap();
    }
}

#[test]
fn writes_that_are_right_are_taken() {
    taken(|method| method == "Write");
}

#[test]
fn messages_that_are_right_are_taken() {
    taken(|method| method != "Write" && method != "Read");
}

#[test]
fn reads_that_are_right_are_taken() {
    let (known, inputs) = served();
    let served = Served::new(&known).unwrap();
    let is_read = |input: &&Vec<u8>| METHODS[usize::from(input[0])] == "Read";
    for input in inputs.iter().filter(is_read) {
        served.check(input).unwrap();
    }
}

#[test]
fn writes_may_be_mutated() {
    mutations("Write", 400);
}

#[test]
fn reads_may_be_mutated() {
    mutations("Read", 200);
}

#[test]
fn pipelines_may_be_mutated() {
    mutations("SetForwardingPipelineConfig", 60);
}

#[test]
fn streams_may_be_mutated() {
    mutations("StreamChannel", 200);
}
