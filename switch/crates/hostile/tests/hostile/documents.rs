//! Mutated documents.

use fastrand::Rng;
use hostile::documents::read;
use hostile::mutate::mutated;
use hostile::sources;

const ROUNDS: usize = 300;

#[test]
fn a_document_may_be_mutated() {
    let document = sources::document().unwrap();
    assert_eq!(read(&document), Ok(true), "a mutation starts from a document that is taken");
    let mut random = Rng::with_seed(5);
    let mut taken = 0;
    for round in 0..ROUNDS {
        let bytes = mutated(&mut random, document.as_bytes(), document.as_bytes());
        let text = String::from_utf8_lossy(&bytes);
        match read(&text) {
            Ok(was_taken) => taken += usize::from(was_taken),
            Err(problem) => panic!("round {round}: {problem}\n{text}"),
        }
    }
    assert!(taken > 0, "no mutation was taken");
}
