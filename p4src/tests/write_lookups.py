#!/usr/bin/env python3
"""Writes the order of look-ups into docs/pipeline.md: each control, the tables it applies, and their keys.

    write_lookups.py            writes the page
    write_lookups.py --check    fails if the page is not what would be written

The order is that of the program's text. Which look-ups a packet takes, its conditions say.
"""

import argparse
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import wayname_switch

P4SRC = Path(__file__).parent.parent
PROGRAM = P4SRC / "v1model" / "main.p4"
PAGE = P4SRC.parent / "docs" / "pipeline.md"
BEGIN, END = "<!-- look-ups: written by p4src/tests/write_lookups.py -->\n", "<!-- end of look-ups -->\n"
COLUMN = 54
KINDS = {"exact": "", "selector": "", "lpm": " (longest prefix)", "ternary": " (ternary)", "range": " (range)"}


@dataclass
class Control:
    """A control: what stands in it by name, and what it applies, in order."""

    file: str
    types: dict[str, str] = field(default_factory=dict)
    tables: dict[str, list[str]] = field(default_factory=dict)
    applies: list[str] = field(default_factory=list)


def controls(text: str) -> dict[str, Control]:
    """Return the controls of a preprocessed program by name."""
    found = {}
    file = ""
    for part in re.finditer(r'^# \d+ "([^"]*)"$|^control (\w+)\(', text, re.MULTILINE):
        if part[1] is not None:
            file = part[1]
        else:
            body = text[part.end() : text.index("\n}", part.end())]
            found[part[2]] = _control(body, _in_p4src(file))
    return found


def _in_p4src(file: str) -> str:
    path = Path(file).resolve()
    return str(path.relative_to(P4SRC.resolve())) if path.is_relative_to(P4SRC.resolve()) else ""


def _control(body: str, file: str) -> Control:
    control = Control(file)
    control.types = {name: kind for kind, name in re.findall(r"^\s*([A-Z]\w*)\(\) (\w+);", body, re.MULTILINE)}
    for name, table in re.findall(r"\btable (\w+) \{(.*?)actions = ", body, re.DOTALL):
        control.tables[name] = [
            key + KINDS[kind]
            for kind, key in re.findall(r':\s*(exact|lpm|ternary|range)\s*@id\(\w+\)\s*@name\("(\w+)"\)', table)
        ]
    at = re.search(r"\bapply \{", body)
    if at:
        control.applies = re.findall(r"\b(\w+)\.apply\(", body[at.end() :])
    return control


def lines(found: dict[str, Control], name: str, label: str, depth: int = 0) -> Iterator[str]:
    """Yield a control and what it looks up, line by line; tables that differ by a number share one."""
    control = found[name]
    inner = list(_inner(found, control, depth))
    if inner:
        yield f"{'  ' * depth + label:{COLUMN}}{control.file}"
        yield from inner


def _inner(found: dict[str, Control], control: Control, depth: int) -> Iterator[str]:
    seen: set[str] = set()
    for name in control.applies:
        number = re.search(r"_\d+$", name)
        base = name[: number.start()] if number and name in control.tables else name
        if base in seen:
            continue
        seen.add(base)
        if name in control.tables:
            alike = [each for each in control.tables if re.fullmatch(rf"{base}_\d+", each)]
            label = f"{alike[0]} .. {alike[-1].removeprefix(f'{base}_')}" if number else name
            yield f"{'  ' * (depth + 1) + label:{COLUMN}}{', '.join(control.tables[name]) or '(no key)'}"
        else:
            yield from lines(found, control.types[name], name, depth + 1)


def page(text: str) -> str:
    """Return the page with the order of look-ups as the program has it."""
    # The compiler leaves no comments, and says of which file each part is.
    found = controls(wayname_switch.device_config(str(PROGRAM)))
    graph = "\n".join(line.rstrip() for name in ("ingress", "egress") for line in lines(found, name, name))
    begin, end = text.index(BEGIN) + len(BEGIN), text.index(END)
    return f"{text[:begin]}\n```text\n{graph}\n```\n\n{text[end:]}"


def main() -> int:
    """Write the page, or compare it."""
    arguments = argparse.ArgumentParser(description="Write the order of look-ups into docs/pipeline.md")
    arguments.add_argument("--check", action="store_true", help="only compare it with the page")
    text = PAGE.read_text()
    made = page(text)
    if arguments.parse_args().check:
        if made != text:
            print("docs/pipeline.md: its look-ups are not what write_lookups.py writes; run it", file=sys.stderr)
        return int(made != text)
    PAGE.write_text(made)
    return 0


if __name__ == "__main__":
    sys.exit(main())
