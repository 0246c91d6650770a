//! Mutated program texts.

use fastrand::Rng;
use hostile::mutate::mutated;
use hostile::programs::compile;
use hostile::sources;

/// Mutations of each text.
const ROUNDS: usize = 60;

fn mutations(text: &str, seed: u64) {
    let other = sources::objects().unwrap();
    let mut random = Rng::with_seed(seed);
    assert_eq!(compile(text), Ok(true), "a mutation starts from a program that compiles");
    for round in 0..ROUNDS {
        let bytes = mutated(&mut random, text.as_bytes(), other.as_bytes());
        let text = String::from_utf8_lossy(&bytes);
        if let Err(problem) = compile(&text) {
            panic!("round {round}: {problem}\n{text}");
        }
    }
}

#[test]
fn the_edge_program_may_be_mutated() {
    mutations(&sources::edge().unwrap(), 1);
}

#[test]
fn a_program_with_every_object_may_be_mutated() {
    mutations(&sources::objects().unwrap(), 2);
}

#[test]
fn a_small_program_may_be_mutated() {
    mutations(&sources::routing().unwrap(), 3);
}

#[test]
fn bytes_without_meaning_are_refused() {
    let mut random = Rng::with_seed(4);
    for _ in 0..ROUNDS {
        let bytes: Vec<u8> = (0..random.usize(..2000)).map(|_| random.u8(..)).collect();
        assert_eq!(compile(&String::from_utf8_lossy(&bytes)), Ok(false));
    }
}
