"""What p4c copies all headers or all metadata for, which took it 25 minutes and 18 GB, is not written.

It copies parameters in and out: of a function at every call, of a control where it is applied with different arguments.
"""

import re

from p4_text import text

WHOLE = re.compile(r"\b(?:headers_t|metadata_t)\b")
# A function begins at the line's start: a type, a name, parameters and a body.
FUNCTION = re.compile(r"^(?:void|bool|bit<\d+>|\w+_t) (?P<name>\w+)\((?P<parameters>[^)]*)\) \{", re.M)
CONTROL = re.compile(r"^control (?P<name>\w+)\((?P<parameters>[^)]*)\) \{(?P<body>.*?)^\}", re.M | re.S)
INSTANCE = re.compile(r"^    (?P<control>[A-Z]\w+)\(\) (?P<name>\w+);", re.M)


def copied_by_functions(program: str) -> list[str]:
    """Return the functions that have all headers or all metadata as a parameter."""
    return [match["name"] for match in FUNCTION.finditer(program) if WHOLE.search(match["parameters"])]


def copied_by_controls(program: str) -> list[str]:
    """Return the controls with such a parameter that another one applies with different arguments."""
    controls = {match["name"]: match for match in CONTROL.finditer(program)}
    found = []
    for caller in controls.values():
        for instance in INSTANCE.finditer(caller["body"]):
            calls = re.findall(rf"\b{instance['name']}\.apply\(([^;]*)\);", caller["body"])
            different = {" ".join(call.split()) for call in calls}
            called = controls.get(instance["control"])
            if called and len(different) > 1 and WHOLE.search(called["parameters"]):
                found.append(f"{caller['name']}: {instance['name']}")
    return found


def test_no_function_takes_all_headers_or_all_metadata() -> None:
    assert FUNCTION.search(text())
    assert copied_by_functions(text()) == []
    assert copied_by_functions("void drop(inout metadata_t meta, in bit<8> why) {") == ["drop"]


def test_a_control_that_takes_them_is_applied_with_the_same_arguments() -> None:
    assert len(CONTROL.findall(text())) > 50
    assert copied_by_controls(text()) == []
    twice = """
control Marks(in metadata_t meta, in bool chosen) {
}
control Schedules(in metadata_t meta) {
    Marks() marks;
    apply {
        marks.apply(meta, true);
        marks.apply(meta, false);
    }
}
"""
    assert copied_by_controls(twice) == ["Schedules: marks"]
    assert copied_by_controls(twice.replace("false", "true")) == []
