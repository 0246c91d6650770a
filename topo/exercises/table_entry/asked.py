"""Exercise 1: do the entries let frames through as asked? The switch runs in this process."""

import importlib.util
import re
import traceback
from collections.abc import Iterator
from pathlib import Path

from finsy import P4MulticastGroupEntry, P4Schema, P4TableEntry
from finsy.p4entity import encode_entities
from finsy.proto import p4r
from wayname_switch import Switch, device_config

from exercises.finding import Finding, NotReadable
from wayname.p4_constants import CPU_PORT
from wayname.pipeline.program import P4INFO, PROGRAM, SOURCE

HOSTS = {1: "020000000001", 2: "020000000002", 3: "020000000003"}
TRUNK = 4
EVERYBODY = "ffffffffffff"
NOBODY = "020000000099"
# Of IEEE for experiments, so that nothing looks further than at addresses and tags.
TYPE = "88b5"
TAGS = {0: "", 10: "8100000a", 20: "81000014"}
PAYLOAD = "00" * 46
ENTRIES = (P4TableEntry, P4MulticastGroupEntry)


def frame(destination: str, source: str, vlan: int = 0) -> bytes:
    """Return an Ethernet frame, with a tag if it says a VLAN."""
    return bytes.fromhex(destination + source + TAGS[vlan] + TYPE + PAYLOAD)


def asked(file: Path) -> Iterator[Finding]:
    """Write the entries and let frames in."""
    switch = Switch(device_config(str(PROGRAM), include=[str(SOURCE)]), cpu_port=CPU_PORT)
    refused = write(switch, file)
    yield Finding(not refused, "the switch takes each entry", tuple(refused))
    for port, mac in HOSTS.items():
        to = {other: 0 for other in HOSTS if other != port} | {TRUNK: 10}
        yield sent(switch, f"a broadcast of port {port}'s host reaches all other ports", port, EVERYBODY, mac, 0, to)
    for port, mac in HOSTS.items():
        other = port % len(HOSTS) + 1
        text = f"a frame from port {port} to the host at port {other} leaves there and nowhere else"
        yield sent(switch, text, port, HOSTS[other], mac, 0, {other: 0})
    nowhere = {2: 0, 3: 0, TRUNK: 10}
    yield sent(switch, "a frame to a host that nobody knows is flooded", 1, NOBODY, HOSTS[1], 0, nowhere)
    yield sent(switch, "a frame of VLAN 10 from the trunk reaches its host", TRUNK, HOSTS[2], NOBODY, 10, {2: 0})
    yield sent(switch, "a frame of VLAN 20 from the trunk goes nowhere", TRUNK, HOSTS[2], NOBODY, 20, {})
    yield sent(switch, "a frame without a tag from the trunk goes nowhere", TRUNK, HOSTS[2], NOBODY, 0, {})


def write(switch: Switch, file: Path) -> list[str]:
    """Write the file's entries; return what was refused, and why."""
    spec = importlib.util.spec_from_file_location("answer", file)
    if spec is None or spec.loader is None:
        raise NotReadable(f"{file} is no Python file")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
        entries = module.entries()
        if not isinstance(entries, list) or not all(isinstance(each, ENTRIES) for each in entries):
            raise NotReadable(f"entries() returns {entries!r}; return a list of entries")
        entities = encode_entities(entries, P4Schema(P4INFO))
    except NotReadable:
        raise
    except Exception as error:  # it is the student's code, which may fail in any way
        raise NotReadable(f"{where(error, file)}{type(error).__name__}: {error}") from error
    updates = [p4r.Update(type=p4r.Update.INSERT, entity=entity) for entity in entities]
    told = switch.write(p4r.WriteRequest(updates=updates).SerializeToString())
    return [text for code, text in told if code]


def where(error: Exception, file: Path) -> str:
    """Return the line of the student's file that failed; none where it is a mistake in an entry."""
    lines = [each.lineno for each in traceback.extract_tb(error.__traceback__) if each.filename == str(file)]
    return f"line {lines[-1]}: " if lines else ""


def sent(switch: Switch, text: str, port: int, to: str, source: str, vlan: int, wanted: dict[int, int]) -> Finding:
    """Let a frame in, and look whether it leaves by the wanted ports, with the wanted tags."""
    switch.watch()
    left = {each.port: each.packet for each in switch.inject(port, frame(to, source, vlan))}
    switch.watch(None)
    right = left == {number: frame(to, source, tag) for number, tag in wanted.items()}
    named = ", ".join(map(str, sorted(left))) or "none"
    seen = [f"it left by ports: {named}; wanted: {', '.join(map(str, sorted(wanted))) or 'none'}"]
    return Finding(right, text, (*seen, *tables(switch.traces(text=True))))


def tables(traces: list[str]) -> Iterator[str]:
    """Yield of a trace which tables were asked for what, and how it ended."""
    lines = [line.strip() for line in "\n".join(traces).splitlines()]
    for before, line in zip(["", *lines], lines, strict=False):
        if line.startswith("key ") and before.startswith("table "):
            yield f"{before.split('  ')[0]}: {line.removeprefix('key ')}"
        elif found := re.match(r"meta\.drop = (DROP_\w+);", line):
            yield f"dropped: {found[1]}"
