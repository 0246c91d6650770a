"""What is measured: each mode of encapsulation at each size, with the entries and the packets for it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from ipaddress import IPv6Address, IPv6Network
from random import Random

from scapy.layers.inet import UDP
from scapy.layers.inet6 import IPv6
from scapy.packet import Raw
from segment_cases import FRAME, FRAME_REDUCED, INLINE, REDUCED, SOURCE, TUNNEL
from trace_cases import END, ID

from small_site import CPU, HOST, IP_OF, Entry, entries, to_router

IN_PORT, OUT_PORT = 1, 4
PLAIN = "plain"
TRACE_SIZES = range(4, 245, 4)
SEGMENTS = range(1, 37)
# The sizes that a quick run takes, by the letter of the figure.
MAIN_SIZES = {"a": (4, 124, 244), "b": (3, 36), "c": (3, 36), "d": (12, 36)}
# What the generator and the counter know a packet by (switch/crates/bench/src/traffic.rs).
MARK = b"wayname!"
PAYLOAD_OCTETS = 64
PACKETS_OF_POINT = 32
NAMESPACE = 1
ADDRESSES_OCTETS = 128
# Addresses of a source route have all but their last two octets in common.
IN_COMMON = 14


@dataclass(frozen=True, slots=True)
class Mode:
    """A curve. `panel` is the letter of the paper's figure; `kernel` is what Linux calls the mode, if it has it."""

    name: str
    panel: str
    number: int
    sizes: Sequence[int]
    kernel: str | None = None


MODES = (
    Mode("trace inline", "a", INLINE, TRACE_SIZES),
    Mode("trace tunnel", "a", TUNNEL, TRACE_SIZES),
    Mode("inline", "b", INLINE, SEGMENTS, "inline"),
    Mode("tunnel", "b", TUNNEL, SEGMENTS, "encap"),
    Mode("reduced", "b", REDUCED, SEGMENTS, "encap.red"),
    Mode("frame", "c", FRAME, SEGMENTS, "l2encap"),
    Mode("frame reduced", "c", FRAME_REDUCED, SEGMENTS, "l2encap.red"),
    Mode("source route", "d", INLINE, SEGMENTS),
)


@dataclass(frozen=True, slots=True)
class Point:
    """A mode at a size; without a mode, a packet that is only routed."""

    mode: Mode | None
    size: int

    @property
    def name(self) -> str:
        """As the fast half prints it."""
        return f"{self.mode.name} {self.size}" if self.mode else PLAIN

    @property
    def prefix(self) -> IPv6Network:
        """Where its packets go."""
        number = (MODES.index(self.mode) + 1 if self.mode else 0) << 8 | self.size
        return IPv6Network((f"2001:db8:{number:x}::", 48))

    def packets(self, seed: int) -> list[bytes]:
        """Frames of one length between drawn ports, to drawn hosts of the prefix."""
        numbers = Random(f"{seed} {self.name}")
        return [self._packet(numbers) for _ in range(PACKETS_OF_POINT)]

    def _packet(self, numbers: Random) -> bytes:
        body = numbers.randbytes(PAYLOAD_OCTETS - 8 - len(MARK)) + MARK
        source, destination = (numbers.randrange(1024, 1 << 16) for _ in range(2))
        address = self.prefix[numbers.getrandbits(80)]
        datagram = IPv6(src=IP_OF[1], dst=str(address)) / UDP(sport=source, dport=destination) / Raw(body)
        return bytes(to_router(datagram))


def hops(size: int, seed: int) -> list[str]:
    """So many segments, in the order of travel; those of a source route have all but two octets in common."""
    return [f"fd00::{number:x}" for number in Random(f"{seed} {size} hops").sample(range(1, 1 << 16), size)]


def all_points() -> list[Point]:
    """The plain one first, then curve by curve."""
    return [Point(None, 0), *(Point(mode, size) for mode in MODES for size in mode.sizes)]


def main_points() -> list[Point]:
    """A few sizes of each mode, in the same order."""
    return [point for point in all_points() if point.mode is None or point.size in MAIN_SIZES[point.mode.panel]]


def site_entries(points: Sequence[Point], seed: int) -> Iterator[Entry]:
    """The small site with what the points need."""
    yield from entries()
    yield Entry("learned_macs", {"port": IN_PORT, "vlan": 1, "source": HOST[1]}, "known_mac", {})
    yield Entry("routes", {"destination": "fd00::/16"}, "route_nexthop", {"nexthop": 1})
    node: dict[str, int | str] = {"node": 0x1E57, "node_wide": 0, "data": 0, "data_wide": 0}
    yield Entry(
        "ioam_namespaces",
        {"port": CPU, "namespace": NAMESPACE},
        "set_namespace",
        node | {"schema": 0xFFFFFF, "snapshot": 0, "epoch": 0},
    )
    for size in sorted({point.size for point in points if point.mode and point.mode.panel in "bc"}):
        yield from _policy(size, hops(size, seed))
    for size in sorted({point.size for point in points if point.mode and point.mode.panel == "a"}):
        shape: dict[str, int | str] = {"namespace": NAMESPACE, "type": ID, "node_length": 1, "words": size // 4}
        yield Entry("ioam_traces", {"trace": size // 4}, "push_trace", shape | {"flags": 0, "packets": 1, "of": 1})
    for point in points:
        if point.mode and point.mode.panel == "d":
            yield _source_route(point.size, hops(point.size, seed))
        if point.mode:
            yield _binding(point, point.mode)


def _policy(number: int, hops: list[str]) -> Iterator[Entry]:
    """As many segments in the policy's own entry as make the rest a multiple of four."""
    own = (len(hops) - 1) % 4 + 1
    names = ("first", "second", "third", "fourth")
    start: dict[str, int | str] = {"source": SOURCE, "extensions": (len(hops) - own) // 4, "hmac": 0}
    yield Entry(
        "sr_policies", {"policy": number}, f"push_segments_{own}", start | dict(zip(names, hops[:own], strict=False))
    )
    for place, begin in enumerate(range(own, len(hops), 4), 1):
        four: dict[str, int | str] = dict(zip(names, hops[begin : begin + 4], strict=True))
        yield Entry(f"segment_list_extension_{place}", {"policy": number}, f"push_extension_{place}", four)


def _source_route(number: int, hops: list[str]) -> Entry:
    middle = b"".join(IPv6Address(hop).packed[IN_COMMON:] for hop in hops[1:])
    parameters: dict[str, int | str] = {
        "first": hops[0],
        "prefix_left_out": IN_COMMON,
        "last_prefix_left_out": 0,
        "hops": len(hops),
        "middle": len(middle),
        "addresses": int.from_bytes(middle.ljust(ADDRESSES_OCTETS, bytes(1))),
    }
    return Entry("source_route_hops", {"source_route": number}, "push_source_route", parameters)


def _binding(point: Point, mode: Mode) -> Entry:
    key: dict[str, int | str] = {"destination": str(point.prefix)}
    if mode.panel == "a":
        ends: dict[str, int | str] = {"source": SOURCE, "destination": END}
        trace: dict[str, int | str] = {"mode": mode.number, "trace": point.size // 4}
        return Entry("encapsulations", key, "encapsulate_trace", trace | ends)
    if mode.panel == "d":
        route: dict[str, int | str] = {"source_route": point.size, "trace": 0}
        return Entry("encapsulations", key, "encapsulate_source_route", route)
    policy: dict[str, int | str] = {"mode": mode.number, "policy": point.size, "trace": 0}
    return Entry("encapsulations", key, "encapsulate_segments", policy)


def written(points: Sequence[Point], seed: int) -> str:
    """A line for each packet, as `bench-encap` reads them."""
    return "".join(f"{point.name}\t{packet.hex()}\n" for point in points for packet in point.packets(seed))
