//! The verifier, a mistake for every rule.

use ir::{Program, verify};

/// A well-formed program; `ITEMS` and `CODE` are where mistakes are put.
const BASE: &str = "
frame 256 persistent 128 {
    0 h.$valid: bool
    2 h.x: bits 16
    8 meta.a: bits 8
    16 meta.w: bits 256
    48 o.$valid: bool
    52 o.data: varbit 64
    64 p.data: varbit 64
}
errors (NoError, PacketTooShort, NoMatch, StackOutOfBounds, HeaderTooShort, ParserTimeout, ParserInvalidArgument)
header h_t size 4 {
    2 x: 16
}
header odd_t size 4 {
    2 x: 12
}
header o_t size 16 {
    4 data: varbit 64
}
action a (x: 8 @ 0, w: 256 @ 8)
action b (x: 16 @ 0)
table t size 8 {
    key k: 8 exact
    action a
    meter t.m packets
}
table u size 8 {
    key k: 8 exact
    action b
    selector (16)
}
counter c size 1 packets
meter m size 1 packets
register r size 1 width 16
value_set v size 1 {
    key k: 16 exact
}
digest d (16, 8)
field_list 1 { 8 1 }
string hello
note statement x f.p4 1
ITEMS
function f {
b0:
    %0:8 = load meta.a
    %1:16 = load h.x
    %2:1 = eq:8 %0, 1
    %3:32 = packet_length
CODE
    return
}
blocks f f f f f f
";

fn errors(items: &str, code: &str) -> Vec<String> {
    let text = BASE.replace("ITEMS", items).replace("CODE", code);
    let program: Program = text.parse().unwrap_or_else(|error| panic!("{error} in {items}{code}"));
    verify(&program).iter().map(ToString::to_string).collect()
}

#[test]
fn the_base_is_well_formed() {
    assert_eq!(errors("", ""), Vec::<String>::new());
}

#[test]
fn an_error_says_where() {
    assert_eq!(
        errors("", "%4:8 = add %0, 300"),
        ["function f, block b0, instruction 4: %4:8 = add %0, 300: 0x12c does not fit 8 bits"]
    );
}

/// Every mistake is found, and is all that is found.
fn check(cases: &[(&str, &str)], errors: impl Fn(&str) -> Vec<String>) {
    for (text, message) in cases {
        let found = errors(text);
        assert!(found.len() == 1 && found[0].ends_with(message), "{text}\nwanted: {message}\nfound: {found:#?}");
    }
}

#[test]
fn temps() {
    check(
        &[
            ("%0:8 = neg %0", "%0 is assigned a second time"),
            ("%5:8 = neg %6\n %6:8 = neg %0", "%6 may be used before it is assigned"),
            (
                "branch %2, b1, b2\nb1: %5:8 = neg %0\n jump b2\nb2: store meta.a:8, %5",
                "%5 may be used before it is assigned",
            ),
            ("%4:0 = load @0", "%4 has 0 bits, not 1 to 128"),
            ("%4:129 = load @16", "%4 has 129 bits, not 1 to 128"),
            ("store meta.a:8, %7", "%7 has no width"),
            ("%5:1 = not %4", "%4 is used but never assigned"),
        ],
        |code| errors("", code),
    );
}

#[test]
fn dominance_follows_every_path() {
    let through_loop = "jump b1\nb1: %5:8 = neg %0\n branch %2, b1, b2\nb2: store meta.a:8, %5";
    assert_eq!(errors("", through_loop), Vec::<String>::new());
    let never_reached = "return\nb1: store meta.a:8, %9\n jump b1\nb2: %9:8 = neg %0";
    assert_eq!(errors("", never_reached), Vec::<String>::new());
}

#[test]
fn widths_and_immediates() {
    check(
        &[
            ("%4:16 = neg %0", "%0 has 8 bits instead of 16"),
            ("%4:16 = add %1, %0", "%0 has 8 bits instead of 16"),
            ("%4:8 = mul %0, 256", "0x100 does not fit 8 bits"),
            ("%4:8 = shl %7, %3", "%7 has no width"),
            ("%4:8 = eq:8 %0, %0", "%4 has 8 bits instead of 1"),
            ("%4:1 = lt_u:16 %0, 5", "%0 has 8 bits instead of 16"),
            ("%4:1 = lt_u:129 1, 1", "a scalar has 1 to 128 bits, not 129"),
            ("%4:16 = resize_u:16 %0", "%0 has 8 bits instead of 16"),
            ("%4:9 = slice [8:0] %0", "[8:0] is no part of 8 bits"),
            ("%4:4 = slice [7:5] %0", "%4 has 4 bits instead of 3"),
            ("%4:8 = insert [9:8] %0, 1", "[9:8] is no part of 8 bits"),
            ("%4:8 = insert [1:0] %0, 4", "0x4 does not fit 2 bits"),
            ("%4:8 = concat 0, %0:8", "no bit of `a` is left"),
            ("%4:24 = concat %0, %0:8", "%0 has 8 bits instead of 16"),
            ("%4:8 = select %0, %0, %0", "%0 has 8 bits instead of 1"),
            ("%4:8 = select %2, %0, %1", "%1 has 16 bits instead of 8"),
            ("store meta.a:8, %1", "%1 has 16 bits instead of 8"),
            ("meta.w:256 = wide neg (meta.w:200)", "the operand has 200 bits instead of 256"),
            ("meta.w:256 = wide add (meta.w:256, const 1:255)", "the right operand has 255 bits instead of 256"),
            ("%4:8 = wide eq (meta.w:256, meta.w:256)", "the result has 8 bits instead of 1"),
            ("%4:1 = wide eq (meta.w:256, meta.w:255)", "the right operand has 255 bits instead of 256"),
            ("%4:8 = wide slice [256:249] (meta.w:256)", "[256:249] is no part of 256 bits"),
            ("%4:8 = wide slice [200:192] (meta.w:256)", "the result has 8 bits instead of 9"),
            ("meta.w:256 = wide insert [7:0] (meta.w:256, %1:16)", "the right operand has 16 bits instead of 8"),
            ("meta.w:256 = wide concat (meta.w:240, %0:8)", "all parts together has 248 bits instead of 256"),
            ("meta.w:256 = wide concat (meta.w:256)", "1 arguments instead of 2"),
            ("meta.w:256 = wide shl (meta.w:256, const 0x100:8)", "0x100 does not fit 8 bits"),
            ("%4:1 = wide lt_u (varbit o.data:64, varbit p.data:64)", "a varbit can't stand here"),
            ("%4:1 = wide eq (varbit o.data:64, 1:64)", "a varbit can't stand here"),
        ],
        |code| errors("", code),
    );
}

#[test]
fn places() {
    check(
        &[
            ("store @256:8, 0", "the place ends at 257, the frame at 256"),
            ("%4:32 = load @2", "offset 2 is not a multiple of 4"),
            ("%4:8 = load @0 + %0 * 32 below 9", "the place ends at 257, the frame at 256"),
            ("%4:16 = load @0 + %0 * 3 below 2", "the stride is not a multiple of 2"),
            ("%4:8 = load @0 + %0 * 3 below 0", "the stack has no elements"),
            ("%4:8 = load @0 + %9 * 3 below 2", "%9 has no width"),
            ("copy @0, @250, 8", "the place ends at 258, the frame at 256"),
            ("zero @250, 7", "the place ends at 257, the frame at 256"),
            ("@32:0 = wide resize_u (%0:8)", "a variable of no bits"),
            ("@240:256 = wide resize_u (%0:8)", "the place ends at 272, the frame at 256"),
            ("push_front @200, 20, 3, 1", "the place ends at 260, the frame at 256"),
            ("%4:1 = wide eq (varbit o.data:64, varbit @54:64)", "offset 54 is not a multiple of 4"),
        ],
        |code| errors("", code),
    );
}

#[test]
fn headers() {
    check(
        &[
            ("%4:32 = extract #9 h", "there is no HeaderTypeId(9)"),
            ("%4:16 = extract h_t h", "%4 has 16 bits instead of 32"),
            ("%4:32 = extract h_t @1", "offset 1 is not a multiple of 2"),
            ("emit h_t @254", "the place ends at 258, the frame at 256"),
            ("emit odd_t h", "a header of 12 bits is not whole bytes"),
            ("%4:32 = peek odd_t h", "a header of 12 bits is not whole bytes"),
            ("%4:32 = extract h_t h varbit 8", "the header has no varbit"),
            ("%4:32 = extract o_t o", "the length of the varbit is missing"),
            ("%4:32 = extract o_t o varbit %0", "%0 has 8 bits instead of 32"),
            ("%4:32, meta.w:0 = lookahead", "a variable of no bits"),
            ("%4:32 = advance %0", "%0 has 8 bits instead of 32"),
        ],
        |code| errors("", code),
    );
}

#[test]
fn tables() {
    check(
        &[
            ("%4:1, %5:32 = lookup #7 (%0:8)", "there is no TableId(7)"),
            ("%4:1, %5:32 = lookup t (%1:16)", "an argument has 16 bits instead of 8"),
            ("%4:1, %5:32 = lookup t ()", "0 keys instead of 1"),
            ("%4:1, %5:32 = lookup u (%0:8)", "0 inputs of the selector instead of 1"),
            ("%4:1, %5:16 = lookup t (%0:8)", "%5 has 16 bits instead of 32"),
            ("%4:1, %5:32 = lookup t (varbit o.data:8)", "a varbit can't stand here"),
            ("%4:8 = load_arg 0", "no lookup comes before it on some path"),
            (
                "branch %2, b1, b2\nb1: %4:1, %5:32 = lookup t (%0:8)\n jump b2\nb2: %6:8 = load_arg 0",
                "no lookup comes before it on some path",
            ),
            (
                "branch %2, b1, b2\nb1: %4:1, %5:32 = lookup t (%0:8)\n jump b3
                 b2: %6:1, %7:32 = lookup u (%0:8) selector (%1:16)\n jump b3\nb3: %8:8 = load_arg 0",
                "lookups in different tables come before it",
            ),
            ("%4:1, %5:32 = lookup t (%0:8)\n %6:9 = load_arg 0", "no action of t has a parameter of that width at 0"),
            (
                "%4:1, %5:32 = lookup t (%0:8)\n copy_arg meta.w, 8, 16",
                "no action of t has a parameter of 16 bytes at 8",
            ),
            ("%4:1, %5:32 = lookup u (%0:8) selector (%1:16)\n %6:2 = direct_meter t", "the last lookup was in u"),
            ("%4:1, %5:32 = lookup u (%0:8) selector (%1:16)\n %6:2 = direct_meter u", "u has no direct meter"),
        ],
        |code| errors("", code),
    );
    let in_the_block_before = "%4:1, %5:32 = lookup t (%0:8)\n jump b1\nb1: %6:8 = load_arg 0";
    assert_eq!(errors("", in_the_block_before), Vec::<String>::new());
}

#[test]
fn externs() {
    check(
        &[
            ("count #1, 0", "there is no CounterId(1)"),
            ("%4:2 = meter #1, 0", "there is no MeterId(1)"),
            ("%4:8 = register_read r, 0", "the result has 8 bits instead of 16"),
            ("%4:16 = register_read r, %0", "%0 has 8 bits instead of 32"),
            ("%4:16 = register_read #5, 0", "there is no RegisterId(5)"),
            ("register_write r, 0, %0:8", "the value has 8 bits instead of 16"),
            ("%4:1 = in_value_set v (%0:8)", "an argument has 8 bits instead of 16"),
            ("%4:16 = hash crc16 0:16, (%0:9), 1:16", "%0 has 8 bits instead of 9"),
            ("%4:16 = hash crc16 varbit o.data:64, (), 1:16", "a varbit can't stand here"),
            ("%4:16 = random 0:16, 1:8", "a bound has 8 bits instead of 16"),
            ("digest d (%1:16)", "1 members instead of 2"),
            ("digest d (%1:16, %1:16)", "a member has 16 bits instead of 8"),
            ("clone_i2e %0", "%0 has 8 bits instead of 32"),
            ("resubmit fields #3", "there is no FieldListId(3)"),
            ("truncate %0", "%0 has 8 bits instead of 32"),
            ("log_message #3 ()", "there is no StringId(3)"),
            ("assert %0, #0", "%0 has 8 bits instead of 1"),
            ("note #3", "there is no NoteId(3)"),
            ("locals #3", "there is no LocalId(3)"),
        ],
        |code| errors("", code),
    );
}

#[test]
fn ends() {
    check(
        &[
            ("jump b7\nb1:", "there is no block b7"),
            ("branch %0, b1, b1\nb1:", "%0 has 8 bits instead of 1"),
            ("switch %0:8 { 1: b1, 1: b1, default: b1 }\nb1:", "two cases are equal"),
            ("switch %0:8 { 256: b1, default: b1 }\nb1:", "a case does not fit 8 bits"),
            ("switch %0:9 { 1: b1, default: b1 }\nb1:", "%0 has 8 bits instead of 9"),
        ],
        |code| errors("", code),
    );
}

#[test]
fn objects() {
    check(
        &[
            ("frame 256 persistent 300 {}", "frame: the persistent part is larger than the frame"),
            ("frame 256 persistent 128 headers 129 {}", "frame: headers end behind the persistent part"),
            ("frame 256 persistent 128 { 250 x: bits 64 }", "frame: x lies outside the frame"),
            ("frame 256 persistent 128 { 201 x: bool 200 y: bool }", "frame: x should stand after y"),
            (
                "metadata { ingress_port 128 }",
                "standard metadata: 2 bytes at offset 128 lie outside the persistent part",
            ),
            ("metadata { egress_spec 3 }", "standard metadata: offset 3 is not aligned for 9 bits"),
            ("errors (NoError)", "errors: ParserInvalidArgument is missing"),
            ("header x size 2 { 0 a: 8 }", "header type x: a overlaps what stands before it"),
            ("header x size 8 { 2 a: 32 }", "header type x: a is not aligned to 4 bytes"),
            ("header x size 2 { 1 a: 8 2 b: 8 }", "header type x: its fields take 3 bytes, but its size is 2"),
            ("header x size 2 { 1 a: 0 }", "header type x: a has no bits"),
            ("header x size 40 { 4 a: varbit 8 12 b: varbit 8 }", "header type x: it has more than one varbit"),
            ("action x (a: 8 @ 0, b: 8 @ 0)", "action x: b overlaps what stands before it"),
            ("action x (a: 16 @ 1)", "action x: a is not aligned to 2 bytes"),
            ("action x (a: 0 @ 0)", "action x: a has no bits"),
            ("table x size 1 { key k: 0 exact }", "table x: key k has no bits"),
            ("table x size 1 { key k: 8 lpm key j: 8 lpm }", "table x: more than one key is matched by prefix"),
            ("table x size 1 { action #9 }", "table x: there is no ActionId(9)"),
            ("table x size 1 { default 0 () }", "table x: it has no action 0"),
            ("table x size 1 { action b default 0 () }", "table x: b is given 0 arguments instead of 1"),
            ("table x size 1 { action b default 0 (0x10000) }", "argument x of b: 0x10000 does not fit 16 bits"),
            ("table x size 1 { action b entry (1) priority 0 -> 0 (1) }", "table x: an entry has 1 keys instead of 0"),
            (
                "table x size 1 { key k: 8 exact action b entry (256) priority 0 -> 0 (1) }",
                "table x: key k: 0x100 does not fit 8 bits",
            ),
            (
                "table x size 1 { key k: 8 lpm action b entry (1/9) priority 0 -> 0 (1) }",
                "table x: key k: prefix 9 exceeds 8 bits",
            ),
            (
                "table x size 1 { key k: 8 ternary action b entry (1 &&& 256) priority 0 -> 0 (1) }",
                "table x: key k: 0x100 does not fit 8 bits",
            ),
            (
                "table x size 1 { key k: 8 ternary action b entry (1..2) priority 0 -> 0 (1) }",
                "table x: key k: Range { low: 1, high: 2 } is no match of kind Ternary",
            ),
            ("table x size 1 { profile #4 }", "table x: there is no ProfileId(4)"),
            ("table x size 1 { selector (0) }", "table x: an input of the selector has no bits"),
            ("profile x size 1 selector crc32 0", "action profile x: the selector's hash has no bits"),
            ("register x size 1 width 0", "register x: its cells have no bits"),
            ("value_set x size 1 { key k: 0 exact }", "value set x: key k has no bits"),
            ("digest x (0)", "digest x: a member has no bits"),
            ("field_list 2 { 127 2 }", "field list #1: 2 bytes at offset 127 lie outside the persistent part"),
            ("function g { }", "function g: it has no block"),
        ],
        |items| {
            let mut found = errors(items, "");
            if items.starts_with("errors") {
                assert_eq!(found.len(), 6);
                found.drain(..5);
            }
            found
        },
    );
    let blocks = "function g { b0: return }";
    let text = BASE.replace("ITEMS", blocks).replace("CODE", "").replace("blocks f f", "blocks f #2");
    let found: Vec<_> = verify(&text.parse().expect("parses")).iter().map(ToString::to_string).collect();
    assert_eq!(found, ["blocks: there is no FunctionId(2)"]);
    let text = BASE.replace("ITEMS", "").replace("CODE", "").replace("(NoError, ", "(Fine, NoError, ");
    let found: Vec<_> = verify(&text.parse().expect("parses")).iter().map(ToString::to_string).collect();
    assert_eq!(found, ["errors: the first error has to be NoError"]);
}
