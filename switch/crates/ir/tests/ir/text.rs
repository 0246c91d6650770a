//! The text form: what is written reads back the same, and mistakes are told with their line.

use ir::*;

const ALL: &str = include_str!("all.ir");

fn parse(text: &str) -> Program {
    text.parse().unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn a_printed_program_reads_back_the_same() {
    let program = parse(ALL);
    let printed = program.to_string();
    let again = parse(&printed);
    assert_eq!(format!("{program:#?}"), format!("{again:#?}"));
    assert_eq!(printed, again.to_string());
}

#[test]
fn printing_changes_nothing_but_comments() {
    let bare = |text: &str| -> Vec<String> {
        let lines = text.lines().map(|line| line.split(" //").next().unwrap_or("").trim().to_owned());
        lines.filter(|line| !line.is_empty() && !line.starts_with("//")).collect()
    };
    let printed = parse(ALL).to_string();
    // Notes and strings are referred to by number, whatever the source did.
    let notes = |line: String| line.replace("note start", "note #0").replace("note In.t", "note #3");
    let wanted: Vec<_> = bare(ALL).into_iter().map(notes).collect();
    let found: Vec<_> = bare(&printed).into_iter().map(notes).collect();
    for (found, wanted) in found.iter().zip(&wanted) {
        assert_eq!(found, wanted);
    }
    assert_eq!(found.len(), wanted.len());
}

#[test]
fn the_sample_is_well_formed() {
    let errors: Vec<_> = verify(&parse(ALL)).iter().map(ToString::to_string).collect();
    assert!(errors.is_empty(), "{}", errors.join("\n"));
}

#[test]
fn names_stand_for_places() {
    let program = parse(ALL);
    let insts = &program.functions[FunctionId::new(0)].blocks[BlockId::new(0)].insts;
    assert_eq!(insts[1], Inst::Load { dst: Temp::new(0), place: Place::at(64) });
    let extract = insts.iter().find_map(|inst| match inst {
        Inst::Extract { place, .. } => Some(*place),
        _ => None,
    });
    assert_eq!(extract, Some(Place::at(0)), "a header is named without its validity");
}

#[test]
fn mistakes_are_told_with_their_line() {
    for (text, line, message) in [
        ("frame 8 persistent", 1, "expected a number, found the end"),
        ("\nfunction f {\nb1:\n return\n}", 3, "this block should be b0"),
        ("function f {\nb0:\n jmp b0\n}", 3, "`jmp` is no instruction without a result"),
        ("function f {\nb0:\n %0:8 = frob 1\n}", 3, "`frob` is no instruction with a result"),
        ("function f {\nb0:\n %0:8 = load x\n}", 3, "there is no variable `x` in the frame"),
        ("function f {\nb0:\n %0:300 = load @0\n}", 3, "300 is too large here"),
        ("function f {\nb0:\n jump 3\n}", 3, "expected a block, found 3"),
        ("counter c size 3 pieces", 1, "`pieces` is no unit: packets, bytes, both"),
        ("table t size 3 { action a }", 1, "there is no action `a` before this line"),
        ("string \"abc", 1, "a quote is not closed"),
        ("frame 0q12", 1, "0q12 is not a number"),
        ("!", 1, "nothing starts with '!'"),
        ("gadget", 1, "`gadget` is no item (frame, header, table, function, ...)"),
        ("function f { b0: count #99999999999, 1", 1, "a number should follow #"),
    ] {
        let error = text.parse::<Program>().expect_err(text);
        assert_eq!((error.line, error.message.as_str()), (line, message), "{text}");
    }
}

proptest::proptest! {
    /// Whatever words are exchanged in a program, it is refused or read, verified and printed, but nothing panics.
    #[test]
    fn damaged_programs_do_no_harm(swaps in proptest::collection::vec((0..2000usize, 0..2000usize), 1..4)) {
        let mut words: Vec<&str> = ALL.split_inclusive([' ', '\n', ':', ',']).collect();
        for (to, from) in swaps {
            let size = words.len();
            words[to % size] = words[from % size];
        }
        if let Ok(program) = words.concat().parse::<Program>() {
            let again = parse(&program.to_string());
            proptest::prop_assert_eq!(format!("{program:?}"), format!("{again:?}"));
            let told = verify(&program).iter().map(|error| error.to_string().len()).sum::<usize>();
            proptest::prop_assert!(told < 1 << 20);
        }
    }
}
