#!/usr/bin/env python3
"""Writes controller/wayname/p4_constants.py: what P4 and Python both say, from the P4 text alone.

    write_constants.py            writes the file
    write_constants.py --check    fails if the file is not what would be written

A constant of a type below becomes a member of that type's class, and the comment on its line says what it means.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from itertools import pairwise, takewhile
from pathlib import Path
from typing import NamedTuple

from p4_text import P4SRC, Constant, constants, numbers, widths

FILE = P4SRC.parent / "controller" / "wayname" / "p4_constants.py"
LONGEST_LINE = 120


class Enum(NamedTuple):
    """A class of the written module, for the constants of a type."""

    name: str
    base: str
    doc: str


ENUMS = {
    "punt_reason_t": Enum("Punt", "IntEnum", "Why a packet came to the controller."),
    "punt_class_t": Enum(
        "PuntClass",
        "_InWords",
        "What the tables know of a packet for the controller; the class of all others is their reason.",
    ),
    "drop_reason_t": Enum("Drop", "_InWords", "Why a packet was dropped."),
    "packet_out_kind_t": Enum("PacketOutKind", "IntEnum", "What the switch does with a packet of the controller."),
    "session_mode_t": Enum("SessionMode", "IntFlag", "What a session's packets do beside going by a path."),
    "host_protocols_t": Enum("HostProtocols", "IntFlag", "What an edge speaks for the hosts of a prefix."),
    "session_event_kind_t": Enum("SessionEventKind", "IntEnum", "What the switch found out about a session."),
    "path_event_kind_t": Enum("PathEventKind", "IntEnum", "What the switch found out about a path of a schedule."),
    "flow_event_kind_t": Enum(
        "FlowEventKind",
        "IntEnum",
        "What became of a flow whose provider does not work, or why it is looked after.",
    ),
    "feedback_t": Enum("ScheduleFeedback", "IntFlag", "What acknowledgements change."),
    "provider_health_t": Enum("ProviderHealth", "IntEnum", "Whether a provider works."),
    "border_side_t": Enum("BorderSide", "IntEnum", "Which side of the border is behind an interface."),
    "guards_t": Enum("Guard", "IntFlag", "What is checked of a packet that comes by a port of hosts."),
    "mapping_sides_t": Enum("Maps", "IntFlag", "Which addresses of what comes by an interface may be mapped."),
    "linux_class_t": Enum("LinuxClass", "IntEnum", "What a packet to Linux is."),
    "encapsulation_mode_t": Enum("EncapsulationMode", "IntEnum", "How headers are put onto a packet."),
}
# Sizes and single constants that the controller uses.
NUMBERS = (
    "CPU_PORT",
    "CPU_SESSION",
    "PORTS",
    "FDB_ENTRIES",
    "ESTABLISHED_FLOWS",
    "HASH_BUCKETS",
    "SOURCE_BINDINGS",
    "ECMP_GROUP_MEMBERS_MOST",
    "PUNT_CLASSES",
    "WATCHED_SESSIONS",
    "MONITORED_PAIRS",
    "SCHEDULES",
    "NUMBERED_SESSIONS",
    "SLOTS_OF_SCHEDULE",
    "LONGEST_BEHIND",
    "SR_POLICIES",
    "SEGMENTS_OF_POLICY",
    "SEGMENT_LIST_EXTENSIONS",
    "VERIFIED_SEGMENTS",
    "PROVEN_LIST_BITS",
    "IOAM_TRACES",
    "SOURCE_ROUTES",
    "HOPS_CHECKED",
    "NO_SCHEMA",
    "HASH_BUCKETS_OF_POLICY",
)
WIDTHS = ("path_t",)

HEAD = '''"""What P4 and Python both say, from the text of p4src.

Written by p4src/tests/write_constants.py: change it there.
"""

from __future__ import annotations

from enum import IntEnum, IntFlag
from typing import Self


class _InWords(IntEnum):
    """Numbers that people read as words."""

    words: str

    def __new__(cls, number: int, words: str = "") -> Self:
        member = int.__new__(cls, number)
        member._value_ = number
        member.words = words
        return member

'''


class ConstantsError(Exception):
    """What is missing between P4 and Python, and how to mend it."""


def written() -> str:
    """Return the text of the module."""
    enums = (line for type_name, enum in ENUMS.items() for line in _enum(type_name, enum))
    return "\n".join((HEAD, *_sizes(), *enums)) + "\n"


def _sizes() -> Iterator[str]:
    known, bits = numbers(), widths()
    for name in NUMBERS:
        if name not in known:
            raise ConstantsError(f"p4src has no constant {name}: take it out of NUMBERS, or write its new name there")
        yield f"{name} = {known[name]}"
    for name in WIDTHS:
        if name not in bits:
            raise ConstantsError(f"p4src has no type {name}: take it out of WIDTHS, or write its new name there")
        yield f"{name.removesuffix('_t').upper()}_BITS = {bits[name]}"


def _enum(type_name: str, enum: Enum) -> Iterator[str]:
    members = constants(type_name)
    if not members:
        raise ConstantsError(f"p4src has no constant of the type {type_name}: take it out of ENUMS")
    for one, other in pairwise(members):
        if one.number == other.number:
            raise ConstantsError(
                f"{one.name} and {other.name} are both {one.number}: give one of them a number of its own"
            )
    parts = zip(*(member.name.split("_") for member in members), strict=False)
    prefix = "".join(f"{part[0]}_" for part in takewhile(lambda part: len(set(part)) == 1, parts))
    yield from ("", "", f"class {enum.name}({enum.base}):", f'    """{enum.doc}"""', "")
    for member in members:
        yield _member(member, prefix, enum.base)


def _member(member: Constant, prefix: str, base: str) -> str:
    if not member.words:
        raise ConstantsError(f"{member.name} has no words: write behind it, on its line, // and what it means")
    name = member.name.removeprefix(prefix)
    line = f'    {name} = {member.number}, "{member.words}"' if base == "_InWords" else ""
    line = line or f"    {name} = {member.number}  # {member.words}"
    if len(line) > LONGEST_LINE:
        raise ConstantsError(f"{member.name}: its words are too long, by {len(line) - LONGEST_LINE} letters")
    return line


def main() -> int:
    arguments = argparse.ArgumentParser(description="Write what P4 and Python both say")
    arguments.add_argument("--check", action="store_true", help="only compare it with the file")
    check = arguments.parse_args().check
    try:
        text = written()
    except ConstantsError as error:
        print(error, file=sys.stderr)
        return 1
    if not check:
        FILE.write_text(text)
    elif not FILE.exists() or FILE.read_text() != text:
        mend = Path(__file__).relative_to(P4SRC.parent)
        print(f"{FILE.relative_to(P4SRC.parent)} is out of date: run {mend}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
