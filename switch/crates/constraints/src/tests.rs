use num_bigint::BigUint;

use super::*;

fn field(name: &str, kind: FieldKind, form: Form) -> Field {
    Field { name: name.to_owned(), kind, form }
}

/// A key of each kind, and of each form.
fn keys() -> Vec<Field> {
    let bits = Form::Bits(32);
    vec![
        field("exact", FieldKind::Exact, bits),
        field("hdr.ipv4.dst", FieldKind::Ternary, bits),
        field("lpm", FieldKind::Lpm, bits),
        field("range", FieldKind::Range, bits),
        field("optional", FieldKind::Optional, Form::Bits(1)),
        field("vrf", FieldKind::Exact, Form::Text),
        field("port", FieldKind::Optional, Form::Text),
        field("other", FieldKind::Other, bits),
        field("second", FieldKind::Ternary, bits),
    ]
}

/// exact 7, ternary 0x0a000000 &&& 0xff000000, lpm 0xc0000200/24, range 5 to 9, optional 1, vrf 'blue', port not matched.
fn values() -> Vec<Matched> {
    let ternary = |value: u32, mask: u32| Matched::Ternary { value: value.into(), mask: mask.into() };
    vec![
        Matched::Exact(7.into()),
        ternary(0x0a00_0000, 0xff00_0000),
        Matched::Lpm { value: 0xc000_0200.into(), prefix: 24 },
        Matched::Range { low: 5.into(), high: 9.into() },
        ternary(1, 1),
        Matched::Exact("blue".into()),
        Matched::Ternary { value: "".into(), mask: BigUint::default() },
        Matched::Exact(0.into()),
        ternary(0, 0),
    ]
}

fn holds(text: &str) -> bool {
    let restriction = Restriction::new(text, Owner::Table, &keys()).unwrap_or_else(|error| panic!("{text}: {error}"));
    restriction.violation(&values(), 10).is_none()
}

fn violation(text: &str) -> String {
    let restriction = Restriction::new(text, Owner::Table, &keys()).unwrap();
    restriction.violation(&values(), 10).expect("it is broken").to_string()
}

fn error(text: &str) -> String {
    Restriction::new(text, Owner::Table, &keys()).expect_err(text).to_string()
}

#[test]
fn parts_of_keys_have_their_values() {
    for text in [
        "exact == 7 && exact::value == 7 && exact < 8",
        "hdr.ipv4.dst::value == ipv4('10.0.0.0') && hdr.ipv4.dst::mask == 0xff000000",
        "lpm::prefix_length == 24 && lpm::value == 0xc0000200",
        "range::low == 5 && range::high == 0b1001",
        "optional == 1 && optional::mask == -1",
        "::priority < 0x7fffffff; ::priority == 0o12;",
    ] {
        assert!(holds(text), "{text}");
    }
}

#[test]
fn a_whole_match_is_only_that_of_its_one_value() {
    assert!(!holds("hdr.ipv4.dst == 0x0a000000"));
    assert!(holds("hdr.ipv4.dst != 0x0a000000"));
    assert!(!holds("lpm == 0xc0000200") && !holds("range == 5") && !holds("port == ''"));
    assert!(holds("hdr.ipv4.dst != second && second == second"));
}

#[test]
fn numbers_take_the_width_that_they_are_compared_with() {
    assert!(holds("exact == 0x100000007") && holds("exact == -4294967289") && holds("second::mask != -1"));
    // Without a width there is nothing to cut off.
    assert!(holds("0x100000007 != 7") && holds("::priority != -4294967286"));
}

#[test]
fn texts_are_compared_and_zero_is_the_empty_one() {
    assert!(holds("vrf == 'blue' && vrf != '' && vrf != 0"));
    assert!(holds("port::mask == 0 && port::value == ''"));
    let with_port = |text: &str, port: &str| {
        let restriction = Restriction::new(text, Owner::Table, &keys()).unwrap();
        let mut values = values();
        values[6] = Matched::Ternary { value: port.into(), mask: 1u8.into() };
        restriction.violation(&values, 10).is_none()
    };
    assert!(with_port("port == 'eth0' && port::mask == -1 && port::mask != 0", "eth0"));
    assert!(with_port("port == 0", "") && !with_port("port == 0", "eth0"));
}

#[test]
fn operators_bind_as_in_p4_constraints() {
    // `;` weakest, then `->`, `||`, `&&`, comparisons, signs.
    assert!(holds("false -> true && false"));
    assert!(holds("true || true && false"));
    assert!(!holds("true -> false; true"));
    assert!(holds("!false && !(exact == 8)"));
    assert!(holds("(true -> false) == false; -1 == - 1; --1 == 1"));
    assert!(holds("/* a \n comment */ true; // and another"));
    assert!(holds("(true; true;) && true"));
    let twice = error("true -> true -> true");
    assert!(twice.starts_with("line 1, column 14: `->` twice in a row"), "{twice}");
    assert!(error("1 == 1 == true").contains("add parentheses"));
}

#[test]
fn addresses_are_numbers() {
    assert!(holds("mac('02:00:00:00:00:0a') == 0x02000000000a"));
    assert!(holds("ipv6('2001:db8::1') == 0x20010db8000000000000000000000001"));
    assert!(error("ipv4('10.0.0') == 1").contains("'10.0.0' is no ipv4 address"));
    assert!(error("mac('2:0:0:0:0:1') == 1").contains("is no mac address"));
    assert!(error("ip('::') == 1").contains("no addresses `ip`"));
}

#[test]
fn a_violation_is_the_smallest_part_that_explains_it() {
    let text = "exact == 7;\n  hdr.ipv4.dst::mask != 0 -> (optional == 0 || exact == 8);\n";
    assert_eq!(
        violation(text),
        "line 2, column 3: it must satisfy\n\
         2 |   hdr.ipv4.dst::mask != 0 -> (optional == 0 || exact == 8);\n  \
         |   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n\
         but exact is 7, hdr.ipv4.dst is 0xa000000 (mask 0xff000000), optional is 1 (mask 0x1)"
    );
    let negated = violation("!(exact == 7 || false)");
    assert!(negated.starts_with("line 1, column 3: it must not satisfy\n1 | !(exact == 7 || false)\n  |   ^^^^^^^^^^"));
    // Of two reasons the shorter one.
    assert!(violation("(exact == 6 || exact == 5) && ::priority > 10").contains("the priority is 10"));
}

#[test]
fn a_part_of_several_lines_is_marked_in_each() {
    let shown = violation("true;\n(exact == 1 ||\n   exact == 2);");
    assert!(
        shown.contains("2 | (exact == 1 ||\n  | ^^^^^^^^^^^^^^\n3 |    exact == 2);\n  |    ^^^^^^^^^^^"),
        "{shown}"
    );
}

#[test]
fn errors_name_line_and_column() {
    for (text, expected) in [
        ("", "line 1, column 1: expected a key, a number"),
        ("foo.bar == 2", "line 1, column 1: there is no key `foo.bar`; known: exact, hdr.ipv4.dst"),
        ("exact ==\n 0b2", "line 2, column 3: expected an operator or the end, found `b2`"),
        ("exact == 1 here", "line 1, column 12: expected an operator or the end, found `here`"),
        ("hdr.ipv4.dst::prefix_length == 1", "line 1, column 1: key `hdr.ipv4.dst` has no `::prefix_length`"),
        ("0x0f :: value == 1", "line 1, column 1: int has no `::value`"),
        ("-1 == -false", "line 1, column 8: expected int, found bool"),
        ("!1", "line 1, column 2: expected bool, found int"),
        ("exact", "line 1, column 1: expected bool, found the exact match of bit<32>"),
        ("optional > 0", "line 1, column 1: matches have no order"),
        ("true < false", "line 1, column 1: bools have no order"),
        ("vrf < 'b'", "line 1, column 1: texts have no order"),
        ("vrf == 1", "line 1, column 1: a text does not compare with int"),
        ("exact == 'a'", "line 1, column 1: bit<32> does not compare with a text"),
        ("exact::value == optional::value", "line 1, column 1: bit<32> does not compare with bit<1>"),
        ("exact == lpm", "line 1, column 1: the exact match"),
        ("true == 1", "line 1, column 1: bool does not compare with int"),
        ("::size > 1", "line 1, column 1: there is no `::size`; an entry has `::priority`"),
        ("other == 1", "line 1, column 1: key `other` has a match kind of the program's own"),
        ("exact = 1", "line 1, column 7: `=` compares nothing; write `==`"),
        ("exact == 'a", "line 1, column 10: this text is not closed"),
        ("exact == 1 ä", "line 1, column 12: 'ä' means nothing"),
        ("(true", "line 1, column 6: expected `)`, found the end"),
    ] {
        let error = error(text);
        assert!(error.starts_with(expected), "{text}: {error}");
    }
}

#[test]
fn actions_have_parameters_and_no_priority() {
    let params = [field("vlan", FieldKind::Value, Form::Bits(12)), field("vrf", FieldKind::Value, Form::Text)];
    let restriction = Restriction::new("vlan != 0 && vlan < 4095; vrf != ''", Owner::Action, &params).unwrap();
    let values = |vlan: u32| [Matched::Exact(vlan.into()), Matched::Exact("a".into())];
    assert!(restriction.violation(&values(5), 0).is_none());
    let broken = restriction.violation(&values(4095), 0).unwrap().to_string();
    assert!(broken.ends_with("but vlan is 4095"), "{broken}");
    for (text, expected) in [
        ("::priority == 1", "an action has none"),
        ("vlan::value == 1", "bit<12> has no `::value`; only keys have"),
        ("port == 1", "there is no parameter `port`; known: vlan, vrf"),
    ] {
        let error = Restriction::new(text, Owner::Action, &params).unwrap_err().to_string();
        assert!(error.contains(expected), "{text}: {error}");
    }
}

#[test]
fn what_is_too_deep_or_too_long_is_refused() {
    assert!(error(&"(".repeat(1000)).contains("within each other"));
    assert!(error(&"!".repeat(1000)).contains("within each other"));
    assert!(error(&vec!["true"; 1200].join(";")).contains("operators in a row"));
    assert!(error(&format!("exact{} == 1", "::value".repeat(1200))).contains("operators in a row"));
    assert!(error(&" ".repeat(MAX_BYTES + 1)).contains("bytes at most"));
    assert!(holds(&vec!["true"; 900].join(";")));
}
