//! Mutated restrictions: none may panic, and a violation is what it says.

use constraints::{Datum, Field, FieldKind, Form, Matched, Owner, Restriction};
use fastrand::Rng;

/// Restrictions that are made.
const ROUNDS: usize = 20_000;

const SEEDS: [&str; 4] = [
    "hdr.ipv4.dst::mask != 0 -> hdr.type == 0x0800;\n // a comment\n ::priority < 0x7fffffff;",
    "(lpm::prefix_length <= 24 || lpm == ipv4('192.0.2.1')) && !(range::low > 5) -> range::high < 0b11;",
    "vrf != '' && (port::mask == -1 || port == 'eth0') == true; /* b */ hdr.type != mac('02:00:00:00:00:01')",
    "((ternary::value >= 1) != false) -> (-::priority < --3; true;) || optional == 0o17 && hdr.type::value == 10",
];

/// What restrictions are made of.
const PIECES: [&str; 38] = [
    " ",
    "\n",
    "(",
    ")",
    "!",
    "-",
    "->",
    "&&",
    "||",
    ";",
    "::",
    "==",
    "!=",
    "<",
    "<=",
    ">",
    ">=",
    ".",
    "'",
    "\"",
    "//",
    "/*",
    "*/",
    "0",
    "1",
    "0x",
    "0b",
    "4294967296",
    "true",
    "false",
    "hdr.type",
    "lpm",
    "range",
    "vrf",
    "::priority",
    "::mask",
    "ä",
    "\u{0}",
];

fn fields() -> Vec<Field> {
    let field = |name: &str, kind, form| Field { name: name.to_owned(), kind, form };
    let bits = Form::Bits(32);
    vec![
        field("hdr.type", FieldKind::Exact, bits),
        field("hdr.ipv4.dst", FieldKind::Ternary, bits),
        field("ternary", FieldKind::Ternary, Form::Bits(128)),
        field("lpm", FieldKind::Lpm, bits),
        field("range", FieldKind::Range, bits),
        field("optional", FieldKind::Optional, Form::Bits(1)),
        field("vrf", FieldKind::Exact, Form::Text),
        field("port", FieldKind::Optional, Form::Text),
    ]
}

fn values(random: &mut Rng) -> Vec<Matched> {
    let mut number = || random.u32(..4);
    let mut ternary = |mask: u32| Matched::Ternary { value: number().into(), mask: mask.into() };
    let (dst, wide, optional) = (ternary(0xff), ternary(0), ternary(1));
    let text = |text: &str| Datum::from(text);
    vec![
        Matched::Exact(0x0800.into()),
        dst,
        wide,
        Matched::Lpm { value: random.u32(..4).into(), prefix: random.u32(..33) },
        Matched::Range { low: 1.into(), high: random.u32(1..9).into() },
        optional,
        Matched::Exact(text(if random.bool() { "" } else { "blue" })),
        Matched::Ternary { value: text("eth0"), mask: 1u8.into() },
    ]
}

fn mutated(random: &mut Rng) -> String {
    let mut text: Vec<char> = SEEDS[random.usize(..SEEDS.len())].chars().collect();
    for _ in 0..=random.usize(..4) {
        let at = random.usize(..=text.len());
        let end = (at + random.usize(..12)).min(text.len());
        match random.usize(..4) {
            0 => drop(text.drain(at..end)),
            1 => {
                let copy: Vec<char> = text[at..end].to_vec();
                let to = random.usize(..=text.len());
                text.splice(to..to, copy);
            }
            _ => drop(text.splice(at..at, PIECES[random.usize(..PIECES.len())].chars())),
        }
    }
    text.into_iter().collect()
}

#[test]
fn mutated_restrictions_are_read_or_refused() {
    let mut random = Rng::with_seed(1);
    let (mut good, mut broken) = (0, 0);
    for _ in 0..ROUNDS {
        let text = mutated(&mut random);
        let owner = if random.u8(..8) == 0 { Owner::Action } else { Owner::Table };
        match Restriction::new(&text, owner, &fields()) {
            Ok(restriction) => {
                good += 1;
                if let Some(violation) = restriction.violation(&values(&mut random), random.i32(..)) {
                    broken += 1;
                    assert!(violation.quote.contains('^'), "{text:?}: {violation}");
                    assert!(violation.place.line <= text.split('\n').count(), "{text:?}: {violation}");
                }
            }
            Err(error) => assert!(!error.message.is_empty() && error.quote.contains('^'), "{text:?}: {error}"),
        }
    }
    // All three happen, or nothing was tried.
    assert!(
        good > ROUNDS / 50 && broken > ROUNDS / 200 && good < ROUNDS,
        "{good} of {ROUNDS} were read, {broken} broken"
    );
}
