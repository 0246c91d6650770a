"""The order of look-ups in docs/pipeline.md is the program's, and leaves no table out."""

import re

from write_lookups import BEGIN, COLUMN, END, P4SRC, PAGE, controls, lines, page


def test_page_is_up_to_date() -> None:
    text = PAGE.read_text()
    assert page(text) == text, "run p4src/tests/write_lookups.py"


def test_every_table_is_there() -> None:
    text = PAGE.read_text()
    shown = text[text.index(BEGIN) : text.index(END)]
    p4info = (P4SRC / "wayname.p4info.txtpb").read_text()
    tables = re.findall(
        r'^tables \{\n  preamble \{\n    id: \d+\n    name: "[\w.]+"\n    alias: "(\w+)"', p4info, re.MULTILINE
    )
    numbered = {
        f"{base}_{number}"
        for base, first, last in re.findall(r"(\w+)_(\d+) \.\. (\d+)", shown)
        for number in range(int(first), int(last) + 1)
    }
    names = set(re.findall(r"^ +(\w+)", shown, re.MULTILINE))
    assert len(tables) > 50
    assert [table for table in tables if table not in names | numbered] == []


PROGRAM = """
control Inner(inout metadata_t meta) {
    table second {
        key = {
            meta.a : lpm @id(1) @name("a");
            meta.b : ternary @id(2) @name("b");
        }
        actions = { NoAction; }
    }
    apply {
        second.apply();
    }
}
control NoLookup(inout metadata_t meta) {
    apply {
        meta.a = 1;
    }
}
control ingress(inout metadata_t meta) {
    Inner() inner;
    NoLookup() no_lookup;
    table third {
        key = { meta.c : exact @id(1) @name("c"); }
        actions = { NoAction; }
    }
    apply {
        no_lookup.apply(meta);
        if (meta.c == 0) {
            inner.apply(meta);
        }
        third.apply();
    }
}
"""


def test_order_is_that_of_the_text_and_what_looks_nothing_up_is_left_out() -> None:
    shown = [line.rstrip() for line in lines(controls(PROGRAM), "ingress", "ingress")]
    assert [(line[:COLUMN].strip(), line[COLUMN:]) for line in shown] == [
        ("ingress", ""),
        ("inner", ""),
        ("second", "a (longest prefix), b (ternary)"),
        ("third", "c"),
    ]
