//! Any text given to the compiler: it compiles to a program that keeps the rules of the IR, or is refused with a reason.

use compiler::Options;

use crate::{Random, bytes};

/// Programs that use much of the language.
const PROGRAMS: [&str; 7] = [
    include_str!("../programs/everything.p4"),
    include_str!("../../compiler/tests/cases/again.p4"),
    include_str!("../../compiler/tests/cases/copies.p4"),
    include_str!("../../compiler/tests/cases/loops.p4"),
    include_str!("../../compiler/tests/cases/numbers.p4"),
    include_str!("../../compiler/tests/cases/parsing.p4"),
    include_str!("../../p4info/tests/golden/objects.p4"),
];

/// Words that mean something where a program does not expect them.
const WORDS: [&str; 60] = [
    "bit<1>",
    "bit<8>",
    "bit<129>",
    "bit<2048>",
    "int<8>",
    "int<1>",
    "bit<0>",
    "varbit<64>",
    "bool",
    "error",
    "string",
    "int",
    "void",
    "_",
    "0",
    "1",
    "-1",
    "8w255",
    "8w256",
    "4s7",
    "1 << 200",
    "0xffffffffffffffffffff",
    "true",
    "{ }",
    "{ 1, 2 }",
    "{ a = 1 }",
    "...",
    "!",
    "~",
    "-",
    "/",
    "%",
    "**",
    "|+|",
    "|-|",
    "++",
    "<<",
    ">>",
    "&&&",
    "..",
    "==",
    "? 1 :",
    "[3:0]",
    "[7]",
    "(bit<9>)",
    ".isValid()",
    ".minSizeInBits()",
    ".next",
    ".last",
    ".apply()",
    "exit;",
    "return;",
    "in",
    "inout",
    "out",
    "const",
    "typedef",
    "#if 1",
    "#define X X X",
    "tuple<bit<8>, bool>",
];

pub fn seeds() -> Vec<Vec<u8>> {
    PROGRAMS.iter().map(|program| program.as_bytes().to_vec()).collect()
}

/// Panics when the compiler does, when it gives an ill-formed program, or one that changes by being printed and read.
pub fn run(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let program = match compiler::compile_text("hostile.p4", &text, &Options::default()) {
        Ok(compiled) => compiled.program,
        Err(failure) => {
            assert!(failure.diagnostics.has_errors(), "the text is refused without a reason");
            assert!(!failure.to_string().is_empty());
            return;
        }
    };
    let broken = ir::verify(&program);
    assert!(broken.is_empty(), "the program breaks the rules of the IR: {}", broken[0]);
    let printed = program.to_string();
    match printed.parse::<ir::Program>() {
        Ok(read) => assert!(read.to_string() == printed, "the program's text reads back as another program"),
        Err(error) => panic!("the program's text does not read back: {error}"),
    }
}

/// Moves, drops, doubles and replaces words of a program; seldom, mere bytes.
pub fn mutate(input: &[u8], random: &mut Random) -> Vec<u8> {
    if random.below(16) == 0 {
        let mut changed = input.to_vec();
        bytes::change(&mut changed, random);
        return changed;
    }
    let text = String::from_utf8_lossy(input);
    let mut words = words(&text);
    let mut donated = self::words(random.of::<&str>(&PROGRAMS));
    for _ in 0..=random.below(2) {
        let at = random.below(words.len());
        let end = (at + 1 + random.below(6)).min(words.len());
        match random.below(8) {
            0 => drop(words.drain(at..end)),
            1 => words.insert(at, *random.of::<&str>(&WORDS)),
            2 if !words.is_empty() => {
                let to = random.below(words.len());
                words.swap(at, to);
            }
            3 => {
                let again = words[at.min(end)..end].to_vec();
                let to = random.below(words.len());
                words.splice(to..to, again);
            }
            4 => {
                let from = random.below(donated.len());
                let until = (from + random.below(24)).min(donated.len());
                words.splice(at..at, donated.drain(from..until));
            }
            // A name for another name, a number for another number: most likely to be a program still.
            5 | 6 if !words.is_empty() => {
                let like: Vec<&str> = words.iter().filter(|word| kind(word) == kind(words[at])).copied().collect();
                words[at] = *random.of::<&str>(&like);
            }
            _ if !words.is_empty() => words[at] = *random.of::<&str>(&WORDS),
            _ => {}
        }
    }
    let mut text = String::with_capacity(text.len() + 64);
    words.iter().for_each(|word| text.push_str(word));
    text.into_bytes()
}

#[derive(PartialEq)]
enum Kind {
    Name,
    Number,
    Space,
    Sign,
}

fn kind(word: &str) -> Kind {
    match word.chars().next() {
        Some(first) if first.is_ascii_digit() => Kind::Number,
        Some(first) if first.is_alphabetic() || first == '_' => Kind::Name,
        Some(first) if first.is_whitespace() => Kind::Space,
        _ => Kind::Sign,
    }
}

/// The words of a text, with what stands between them.
fn words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let wordy = |c: char| c.is_alphanumeric() || c == '_';
        let end = match wordy(first) {
            true => rest.find(|c| !wordy(c)).unwrap_or(rest.len()),
            false => first.len_utf8(),
        };
        let (word, after) = rest.split_at(end);
        words.push(word);
        rest = after;
    }
    words
}
