"""What nodes wrote into a trace (RFC 9197, section 4.4.2), in the order in which the packet passed them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from wayname.ioam.options import TraceOption
from wayname.wire.errors import DecodeError

_NONE = 0xFFFFFFFF
_MOST_DELAY = 0x80000000  # set where the delay is longer than the other bits can say
_SNAPSHOT = 22


@dataclass(frozen=True, slots=True)
class NodeData:
    """One node's data; what it did not write, or did not know, is None."""

    hop_limit: int | None = None
    node: int | None = None
    ingress: int | None = None
    egress: int | None = None
    seconds: int | None = None
    fraction: int | None = None
    delay: int | None = None
    data: int | None = None
    queue: int | None = None
    node_wide: int | None = None
    data_wide: int | None = None
    schema: int | None = None
    snapshot: bytes = b""

    @property
    def id(self) -> int | None:
        """The node's id, the short one where it has both."""
        return self.node if self.node is not None else self.node_wide

    @property
    def time(self) -> int | None:
        """When the packet came, in microseconds of POSIX."""
        if self.seconds is None or self.fraction is None:
            return None
        return self.seconds * 1_000_000 + self.fraction


def nodes_of(trace: TraceOption) -> list[NodeData]:
    """Read all nodes' data, the first node's first; the list has the newest one's first."""
    nodes: list[NodeData] = []
    data = trace.data[4 * trace.words_left :]
    # The last bit is reserved: nodes write nothing for it.
    if trace.type >> 23 - _SNAPSHOT == 0:
        raise DecodeError("a trace that asks for nothing")
    while data:
        node, data = _node(trace.type, data)
        nodes.append(node)
    nodes.reverse()
    return nodes


def _node(type_: int, data: bytes) -> tuple[NodeData, bytes]:
    values: dict[str, int | None] = {}
    words = _Words(data)
    for bit in range(_SNAPSHOT):
        if not type_ >> 23 - bit & 1:
            continue
        first = words.take(1)
        match bit:
            case 0:
                values |= {"hop_limit": first >> 24, "node": first & 0xFFFFFF}
            case 1:
                values |= {"ingress": first >> 16, "egress": first & 0xFFFF}
            case 2:
                values["seconds"] = first
            case 3:
                values["fraction"] = _known(first)
            case 4:
                values["delay"] = min(first, _MOST_DELAY) if first != _NONE else None
            case 5:
                values["data"] = first
            case 6:
                values["queue"] = _known(first)
            case 8:
                values["hop_limit"] = first >> 24
                values["node_wide"] = (first & 0xFFFFFF) << 32 | words.take(1)
            case 9:
                values |= {"ingress": first, "egress": words.take(1)}
            case 10:
                values["data_wide"] = first << 32 | words.take(1)
    snapshot = b""
    if type_ >> 23 - _SNAPSHOT & 1:
        head = words.take(1)
        values["schema"] = head & 0xFFFFFF
        snapshot = words.octets(4 * (head >> 24))
    return NodeData(**values, snapshot=snapshot), words.rest


class _Words:
    """Takes words of 32 bits from octets."""

    def __init__(self, octets: bytes) -> None:
        self.rest = octets

    def take(self, count: int) -> int:
        return int.from_bytes(self.octets(4 * count))

    def octets(self, count: int) -> bytes:
        if len(self.rest) < count:
            raise DecodeError("a trace that ends inside a node's data")
        taken, self.rest = self.rest[:count], self.rest[count:]
        return taken


def _known(value: int) -> int | None:
    return None if value == _NONE else value


def ids_of(nodes: list[NodeData]) -> Iterator[int]:
    """Yield the nodes' ids; a node that has none is 0."""
    return (node.id or 0 for node in nodes)
