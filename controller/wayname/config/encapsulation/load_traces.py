"""Reads namespaces and traces."""

from __future__ import annotations

from wayname.config.checks import between
from wayname.config.encapsulation.model import (
    DEFINED_BITS,
    FIELD_BITS,
    LOOPBACK_TYPE,
    NO_SCHEMA,
    SNAPSHOT,
    Namespace,
    Trace,
    node_length,
)
from wayname.config.encapsulation.values import (
    Site,
    unique_name,
)
from wayname.config.reader import Table

MOST_WORDS = 61  # 244 octets
NODES = 5


def namespace(table: Table, site: Site) -> Namespace:
    """Read what this node writes in a namespace."""
    device = site.config.switch.device_id
    number = table.take("id", int, check=between(0, 0xFFFF))
    site.take(table, "id", number, f"namespace {number}")
    node = table.take("node", int, device & 0xFFFFFF, between(0, 0xFFFFFE))
    schema = table.take("schema", int, NO_SCHEMA, between(0, NO_SCHEMA))
    if schema == NO_SCHEMA and table.has("snapshot"):
        raise table.error("snapshot", "has no schema", "write schema = ... (a number from 0 to 16777214) as well")
    ports = table.take("ports", list, [])
    known = [port.number for port in site.config.ports]
    for index, port in enumerate(ports):
        if type(port) is not int or port not in known:
            mend = f"the ports are {', '.join(map(str, known)) or 'none'}"
            raise table.error(f"ports[{index}]", f"there is no port {port!r}", mend)
    namespace = Namespace(
        number,
        node,
        table.take("node_wide", int, node, between(0, 2**56 - 2)),
        table.take("data", int, 0, between(0, 2**32 - 1)),
        table.take("data_wide", int, 0, between(0, 2**64 - 1)),
        schema,
        table.take("snapshot", int, 0, between(0, 2**64 - 1)),
        tuple(ports),
        table.take("export", bool, False),
    )
    table.close()
    return namespace


def trace(table: Table, site: Site) -> Trace:
    """Read what a kind of traffic has its way traced by."""
    name = unique_name(table, site)
    namespace = table.take("namespace", int, check=between(0, 0xFFFF))
    if not any(known.number == namespace for known in site.read.namespaces):
        mend = "add a [[namespace]] that says what this node writes in it"
        raise table.error("namespace", f"namespace {namespace} is not there", mend)
    type_ = _type(table)
    packets, of = _share(table)
    direct_export = table.take("direct_export", bool, False)
    loopback, active = table.take("loopback", bool, False), table.take("active", bool, False)
    flow = table.take("flow", int, 0, between(0, 2**32 - 1))
    if direct_export:
        for key in ("nodes", "octets", "loopback", "active"):
            if table.has(key):
                raise table.error(key, "does not go with direct_export", "leave it out: packets get no data")
        words = 0
    else:
        if table.has("flow"):
            raise table.error("flow", "numbers direct exports only", "leave it out, or write direct_export = true")
        words = _words(table, type_)
    if loopback and type_ != LOOPBACK_TYPE:
        raise table.error("loopback", "goes with the node's id alone (RFC 9322)", 'write fields = ["node"]')
    table.close()
    return Trace(name, namespace, type_, words, loopback, active, direct_export, flow, packets, of)


def _type(table: Table) -> int:
    if table.has("type"):
        if table.has("fields"):
            raise table.error("type", "says again what fields says", "write one of them")
        return table.take("type", int, check=_has_defined_bits)
    fields = table.take("fields", list, ["node", "interfaces", "seconds", "fraction", "delay", "queue"])
    type_ = 0
    for index, name in enumerate(fields):
        if not isinstance(name, str) or name not in FIELD_BITS:
            raise table.error(f"fields[{index}]", f"is {name!r}", f"write one of {', '.join(FIELD_BITS)}")
        type_ |= 1 << 23 - FIELD_BITS[name]
    if not type_:
        raise table.error("fields", "is empty", "name what each node is to write, as in node and delay")
    return type_


def _has_defined_bits(type_: int) -> str | None:
    """RFC 9197, section 4.4.1: who puts a trace on sets bits that nothing defines to 0."""
    return None if 0 < type_ == type_ & DEFINED_BITS else f"write bits of 0x{DEFINED_BITS:06X}, or name fields"


def _share(table: Table) -> tuple[int, int]:
    of = table.take("of", int, 1, between(1, 0xFFFF))
    packets = table.take("packets", int, 1, between(1, 0xFFFF))
    if packets > of:
        raise table.error("packets", f"{packets} of {of} packets get the trace", f"write {of} at most, or a greater of")
    return packets, of


def _words(table: Table, type_: int) -> int:
    each = node_length(type_) + (3 if type_ & SNAPSHOT else 0)
    if table.has("octets"):
        if table.has("nodes"):
            raise table.error("nodes", "says again what octets says", "write one of them")

        def is_size(octets: int) -> str | None:
            return None if 4 <= octets <= 4 * MOST_WORDS and octets % 4 == 0 else "write 4, 8, 12 ... 244"

        words = table.take("octets", int, check=is_size) // 4
        if words < (each - 2 if type_ & SNAPSHOT else each):
            mend = f"write {4 * each} at least, or fewer fields"
            raise table.error("octets", f"{4 * words} octets hold no node's {4 * each}", mend)
        return words
    nodes = table.take("nodes", int, min(NODES, MOST_WORDS // each) or 1, between(1, MOST_WORDS))
    if nodes * each > MOST_WORDS:
        wrong = f"{nodes} nodes with {4 * each} octets each take {4 * nodes * each}, and a trace holds {4 * MOST_WORDS}"
        raise table.error("nodes", wrong, f"write {MOST_WORDS // each} at most, or fewer fields")
    return nodes * each
