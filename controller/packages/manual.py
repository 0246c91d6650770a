"""Writes the manual pages: wayname(1) of the commands' own help, wayname.toml(5) of the configuration's reference.

A key that the configuration takes and the reference does not have is an error.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import inspect
import os
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

# Where the API is by default depends on who asks; on the page it is the service's.
os.environ["XDG_RUNTIME_DIR"] = "/run"

import click
import roff
from pydantic import BeforeValidator

from wayname.cli.root import wayname
from wayname.config.encapsulation.load import KINDS
from wayname.config.load import FIRST, LAST
from wayname.config.tables import Table

REFERENCE = Path(__file__).resolve().parents[2] / "docs" / "configuration.md"
COMMON = {"--help", "--api", "--json"}
# What the package has beside the keys of the file.
FILES = """
/etc/wayname/edge.toml
    The configuration that the service reads; wayname.toml(5).
/etc/wayname/switch.env
    The ports of the switch; wayname-switch(8).
/var/lib/wayname
    What the controller keeps for its next start, and keys that it made.
/var/lib/wayname-switch/state
    The tables of the switch, for its next start.
/run/wayname/api
    The socket at which commands ask the service.
"""


def main() -> None:
    """Write both pages below a folder of manual pages."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="gets man1/wayname.1 and man5/wayname.toml.5")
    folder = parser.parse_args().folder
    version = importlib.metadata.version("wayname")
    for section, name, lines in ((1, "wayname", commands_page()), (5, "wayname.toml", configuration_page())):
        path = folder / f"man{section}" / f"{name}.{section}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(roff.page(name, section, _date(), version, lines))


def commands_page() -> Iterator[str]:
    """Yield wayname(1)."""
    root = click.Context(wayname, info_name="wayname")
    yield from (".SH NAME", "wayname \\- run and watch an IPv6 edge switch for sites with several providers")
    yield from (".SH SYNOPSIS", "\\fBwayname\\fR [\\fIOPTIONS\\fR] \\fICOMMAND\\fR [\\fIARGUMENTS\\fR]")
    yield ".SH DESCRIPTION"
    yield from help_text(wayname)
    yield ".SH OPTIONS"
    yield from options(wayname, root)
    yield ".SH COMMANDS"
    for name in wayname.list_commands(root):
        yield from command_text(name, root, wayname)
    yield ".SH EXIT STATUS"
    yield from roff.tagged("0", ("the command did its work",))
    yield from roff.tagged("1", ("it failed; a line on standard error says why",))
    yield from roff.tagged("2", ("it was used wrongly",))
    yield ".SH FILES"
    for path, about in re.findall(r"(\S.*)\n    (.*)", FILES):
        yield from roff.tagged(f"\\fI{roff.escaped(path)}\\fR", (about,))
    yield from (".SH SEE ALSO", ".BR wayname.toml (5),", ".BR wayname\\-switch (8)")


def command_text(name: str, parent: click.Context, group: click.Group) -> Iterator[str]:
    """Yield a command and those below it, each with all its names."""
    command = group.get_command(parent, name)
    assert command is not None
    context = click.Context(command, info_name=name, parent=parent)
    usage = " ".join(command.collect_usage_pieces(context))
    yield f'.SS "\\fB{roff.escaped(context.command_path)}\\fR {roff.escaped(usage)}"'
    yield from help_text(command)
    yield from options(command, context)
    if isinstance(command, click.Group):
        for each in command.list_commands(context):
            yield from command_text(each, context, command)


def help_text(command: click.Command) -> Iterator[str]:
    """Yield what a command says of itself; a paragraph behind \\b keeps its lines, as on the screen."""
    for text in re.split(r"\n\s*\n", inspect.cleandoc(command.help or "")):
        lines = text.splitlines()
        yield from roff.literal(lines[1:]) if lines[:1] == ["\b"] else roff.paragraph(lines)


def options(command: click.Command, context: click.Context) -> Iterator[str]:
    """Yield the options with their help."""
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        # Those that every command has stand at the top.
        if record is not None and (context.parent is None or not COMMON & set(parameter.opts)):
            yield from roff.tagged(f"\\fB{roff.escaped(record[0])}\\fR", (record[1],))


def configuration_page() -> Iterator[str]:
    """Yield wayname.toml(5): the reference, once it has been seen that it has all keys."""
    text = REFERENCE.read_text()
    for place, keys in sections():
        if missing := sorted(keys - keys_said(place, text)):
            raise SystemExit(f"{REFERENCE}: [{place}] has nothing of {', '.join(missing)}; say there what they are")
    yield from (".SH NAME", "wayname.toml \\- configuration of a Wayname edge", ".SH DESCRIPTION")
    yield from roff.of_markdown(text.partition("\n")[2])
    yield from (".SH SEE ALSO", ".BR wayname (1),", ".BR wayname\\-switch (8)")


def keys_said(place: str, text: str, follow: bool = True) -> set[str]:
    """Return the words that the section of a table explains, itself or by naming the table that has the same keys."""
    found = re.search(rf"^##+ `\[+{place}\]+`\n(.*?)(?=^##+ `|\Z)", text, re.MULTILINE | re.DOTALL)
    if found is None:
        return set()
    said = set(re.findall(r"[`.]\[*(\w+)", found[1]))
    others = re.findall(r"keys[^|.]*? of \[?`\[+(\w+)", found[1]) if follow else []
    return said.union(*(keys_said(other, text, follow=False) for other in others))


def sections() -> Iterator[tuple[str, set[str]]]:
    """Yield the tables of the file with all keys below them."""
    for section in (*FIRST, *LAST):
        yield section.key, set(keys_of(section.form))
    for kind, (form, _) in KINDS.items():
        yield kind, set(keys_of(form))


def keys_of(form: Any) -> Iterator[str]:
    """Yield the keys of the tables that a type has in it."""
    if isinstance(form, type) and issubclass(form, Table):
        for name, field in form.model_fields.items():
            yield field.alias or name
            yield from keys_of(field.annotation)
            for each in field.metadata:
                yield from keys_of(each)
    if isinstance(form, BeforeValidator) and inspect.isfunction(form.func):
        # What `by` reads stands in its function alone.
        yield from keys_of(inspect.getclosurevars(form.func).nonlocals.get("form"))
    for part in get_args(form):
        yield from keys_of(part)


def _date() -> str:
    """The day of the sources, so that the same sources make the same page."""
    return time.strftime("%Y-%m-%d", time.gmtime(int(os.environ.get("SOURCE_DATE_EPOCH", time.time()))))


if __name__ == "__main__":
    main()
