#!/usr/bin/env python3
"""Malformed packets of every header that the pipeline acts on, from a seeded generator.

    malformed.py --packets 50000

Each packet is one that would be right, with some of its numbers wrong, its end missing, or headers where none belong.
For every one of them the pipeline must do one thing that is counted: send it on, answer it, give it to the controller,
or drop it for a reason. JIT and interpreter must agree, lengths must fit, and a sound packet in between must come out
as ever.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from carriers import (
    HOP_BY_HOP,
    IN_FRAME,
    IN_IPV4,
    IN_IPV6,
    ROUTING,
    Node,
    Trace,
    ipv6,
    node_length,
    options,
    segment_header,
)
from malformed_esp import add_esp_session, esp_packets
from malformed_ilnp import add_ilnp_session, nonces
from malformed_sessions import add_session, control_messages, errors_about_sessions, payload_headers
from session_cases import DATAGRAM as DATAGRAM_OF_SESSION
from session_site import LOCAL, REMOTE, came_by, in_by
from site_switch import SiteSwitch

from small_site import CPU, DROP, FAR, IP_OF, PROVIDER, ROUTER, to_router, udp

END, END_PSP, END_USD, HOP = (f"fd00:1::{n}" for n in range(1, 5))
DT6, DT4, DX2, B6 = (f"fd00:2::{n}" for n in range(1, 5))
TUNNELLED, INLINE, ROUTED, TRACED = (f"2001:db8:f0{n}::" for n in range(1, 5))
SOURCE = "fd00:5::1"
DATAGRAM = bytes(udp())[40:]


def edge(backend: str) -> SiteSwitch:
    """All kinds of carriers bound, and a segment of each kind."""
    switch = SiteSwitch(backend)
    add = switch.add
    add("routes", "route_nexthop", {"destination": "fd00::/16"}, {"nexthop": 1})
    for sid, action, parameters in (
        (END, "end", {"flavours": 0}),
        (END_PSP, "end", {"flavours": 1}),
        (END_USD, "end", {"flavours": 4}),
        (HOP, "source_route_hop", {}),
        (DT6, "end_dt6", {"vrf": 0}),
        (DT4, "end_dt4", {"vrf": 0}),
        (DX2, "end_dx2", {"port": 2}),
        (B6, "end_b6_encaps", {"flavours": 0, "mode": 2, "policy": 1}),
    ):
        add("sids", action, {"destination": f"{sid}/128"}, parameters)
    add("ipv4_vrf_routes", "route_nexthop", {"vrf": 0, "destination": "::/0"}, {"nexthop": 1})
    add(
        "sr_policies",
        "push_segments_3",
        {"policy": 1},
        {
            "source": SOURCE,
            "extensions": 1,
            "hmac": 0,
            "first": "fd00:9::1",
            "second": "fd00:9::2",
            "third": "fd00:9::3",
        },
    )
    add(
        "segment_list_extension_1",
        "push_extension_1",
        {"policy": 1},
        {"first": "fd00:9::4", "second": "fd00:9::5", "third": "fd00:9::6", "fourth": "fd00:9::7"},
    )
    node = Node()
    for port in (1, 4, CPU):
        add(
            "ioam_namespaces",
            "set_namespace",
            {"port": port, "namespace": 1},
            {
                "node": node.id,
                "node_wide": node.id_wide,
                "data": node.data,
                "data_wide": node.data_wide,
                "schema": 0x123456,
                "snapshot": 7,
                "epoch": 0,
            },
        )
    add(
        "ioam_traces",
        "push_trace",
        {"trace": 1},
        {"namespace": 1, "type": 0xC7F002, "node_length": 12, "words": 61, "flags": 0, "packets": 1, "of": 1},
    )
    add(
        "source_route_hops",
        "push_source_route",
        {"source_route": 1},
        {
            "first": "fd00:8::1",
            "prefix_left_out": 14,
            "last_prefix_left_out": 3,
            "hops": 3,
            "middle": 4,
            "addresses": 0x00020003 << 992,
        },
    )
    add(
        "encapsulations",
        "encapsulate_segments",
        {"destination": f"{TUNNELLED}/48"},
        {"mode": 2, "policy": 1, "trace": 1},
    )
    add("encapsulations", "encapsulate_segments", {"destination": f"{INLINE}/48"}, {"mode": 1, "policy": 1, "trace": 0})
    add("encapsulations", "encapsulate_source_route", {"destination": f"{ROUTED}/48"}, {"source_route": 1, "trace": 1})
    add(
        "encapsulations",
        "encapsulate_trace",
        {"destination": f"{TRACED}/48"},
        {"mode": 2, "trace": 1, "source": SOURCE, "destination": "fd00:9::9"},
    )
    add_session(switch)
    add_esp_session(switch)
    add_ilnp_session(switch)
    return switch


def odd_number(numbers: random.Random) -> int:
    """A length or count that is likely to be a limit."""
    return numbers.choice((0, 1, 2, 3, 4, 7, 8, 15, 16, 31, 32, 127, 128, 254, 255, numbers.randrange(256)))


def spoil(numbers: random.Random, packet: bytes, important: range) -> bytes:
    """Wrong numbers where lengths and counts stand; sometimes a cut end, or more than was said."""
    raw = bytearray(packet)
    for _ in range(numbers.randrange(4)):
        raw[min(numbers.choice(important), len(raw) - 1)] = odd_number(numbers)
    kind = numbers.randrange(8)
    if kind == 0:
        return bytes(raw[: numbers.randrange(40, len(raw) + 1)])  # the length says more than is there
    if kind == 1:
        raw[40 + numbers.randrange(len(raw) - 39) :] = b""  # and here it agrees
        return bytes(raw[:4]) + max(0, len(raw) - 40).to_bytes(2) + bytes(raw[6:])
    if kind == 2:
        raw += numbers.randbytes(numbers.randrange(1, 64))
    if kind == 3:
        at = numbers.randrange(len(raw))
        raw[at] = numbers.randrange(256)
    return bytes(raw)


def segments(numbers: random.Random) -> bytes:
    count = numbers.randrange(1, 12)
    path = [numbers.choice((END, END_PSP, END_USD, B6, DT6, IP_OF[1], FAR)) for _ in range(count)]
    left = numbers.randrange(count)
    upper, payload = numbers.choice(
        ((17, DATAGRAM), (IN_IPV6, inner_ipv6(numbers)), (ROUTING, segment_header(17, path, left) + DATAGRAM))
    )
    tlvs = bytes(8 * numbers.randrange(3))
    header = segment_header(upper, path, left, tlvs=tlvs)
    return spoil(numbers, ipv6(ROUTING, header + payload, FAR, path[count - 1 - left]), range(40, 48))


def source_route(numbers: random.Random) -> bytes:
    body = numbers.randbytes(8 * numbers.randrange(8))
    fixed = bytes(
        [17, len(body) // 8, 3, numbers.randrange(6), numbers.randrange(256), numbers.randrange(16) << 4, 0, 0]
    )
    return spoil(numbers, ipv6(ROUTING, fixed + body + DATAGRAM, FAR, HOP), range(40, 48))


def traced(numbers: random.Random) -> bytes:
    type_ = numbers.randrange(1 << 24)
    words = numbers.randrange(62)
    trace = Trace(
        type_,
        node_length(type_),
        numbers.randrange(words + 1),
        numbers.randbytes(4 * words),
        numbers.choice((1, 1, 1, 2)),
        numbers.choice((0, 0, 0, 8, 4, 2)),
    )
    before = numbers.choice((b"\1\0", b"\1\0", b"\0\0", b"\5\2\0\0\1\0", bytes(numbers.randrange(12))))
    body = options(17, before, trace.option(), numbers.choice((b"", b"\x1e\4abcd", trace.option())))
    return spoil(numbers, ipv6(HOP_BY_HOP, body + DATAGRAM, IP_OF[1], FAR), range(40, 60))


def hop_by_hop(numbers: random.Random) -> bytes:
    """Options of any kind, one after the other."""
    body = b"".join(
        bytes([numbers.choice((0, 1, 5, 0x1E, 0x31, 0x11, 0xC2)), length]) + numbers.randbytes(length)
        for length in (numbers.randrange(16) for _ in range(numbers.randrange(12)))
    )
    return spoil(numbers, ipv6(HOP_BY_HOP, options(17, body) + DATAGRAM, IP_OF[1], FAR), range(40, 80))


def inner_ipv6(numbers: random.Random) -> bytes:
    upper, payload = numbers.choice(
        ((17, DATAGRAM), (58, bytes([1, 0, 0, 0]) + bytes(8)), (HOP_BY_HOP, options(17) + DATAGRAM))
    )
    return ipv6(
        upper,
        payload,
        FAR,
        numbers.choice((IP_OF[1], TUNNELLED + "1", INLINE + "1", ROUTED + "1")),
        numbers.choice((0, 1, 2, 64)),
    )


def inner_ipv4(numbers: random.Random) -> bytes:
    words = numbers.choice((5, 5, 5, 6, 15, 4, 0))
    head = bytes([0x40 | words, numbers.randrange(4)]) + (max(words, 5) * 4 + 8).to_bytes(2) + bytes(4)
    return (
        head
        + bytes([numbers.choice((0, 1, 2, 64)), 17])
        + bytes(2)
        + numbers.randbytes(8)
        + bytes(max(words, 5) * 4 - 20 + 8)
    )


def tunnels(numbers: random.Random) -> bytes:
    sid, upper, payload = numbers.choice(
        (
            (DT6, IN_IPV6, inner_ipv6(numbers)),
            (DT4, IN_IPV4, inner_ipv4(numbers)),
            (DX2, IN_FRAME, numbers.randbytes(numbers.randrange(40))),
            (END_USD, IN_IPV6, inner_ipv6(numbers)),
            (DT6, IN_IPV4, inner_ipv4(numbers)),
            (DT4, 58, bytes(8)),
        )
    )
    start = 6 << 28 | numbers.randrange(4) << 20
    return spoil(numbers, ipv6(upper, payload, FAR, sid, start=start), range(40, 60))


def chains(numbers: random.Random) -> bytes:
    """Headers upon headers, to where packets get carriers of their own."""
    payload, upper = DATAGRAM, 17
    for _ in range(numbers.randrange(12)):
        kind = numbers.choice((60, ROUTING, 44, 135, 51, HOP_BY_HOP, IN_IPV6))
        if kind == ROUTING:
            header = segment_header(upper, [FAR] * numbers.randrange(1, 4), numbers.randrange(5))
        elif kind == IN_IPV6:
            header = ipv6(upper, b"", FAR, IP_OF[1])
        else:
            header = bytes([upper, numbers.randrange(3)]) + numbers.randbytes(numbers.choice((6, 14, 22)))
        payload, upper = header + payload, kind
    destination = numbers.choice((TUNNELLED, INLINE, ROUTED, TRACED, END[:-1], DT6[:-1])) + "1"
    return spoil(numbers, ipv6(upper, payload, IP_OF[1], destination), range(40, 100))


def of_session(make: Callable[[random.Random], bytes]) -> Callable[[random.Random], bytes]:
    """A packet of a session, spoilt where its first two headers after IPv6's stand."""
    return lambda numbers: spoil(numbers, make(numbers), range(40, 56))


KINDS: dict[str, Callable[[random.Random], bytes]] = {
    "segments": segments,
    "source routes": source_route,
    "traces": traced,
    "hop-by-hop options": hop_by_hop,
    "tunnels": tunnels,
    "chains of headers": chains,
    "payload headers": of_session(payload_headers),
    "control messages": of_session(control_messages),
    "errors about sessions": of_session(errors_about_sessions),
    "ESP": of_session(esp_packets),
    "nonces": of_session(nonces),
}


@dataclass(slots=True)
class Tally:
    """What became of the packets."""

    sent: int = 0
    silent: int = 0
    drops: Counter[str] | None = None


def frames(kind: str, count: int, seed: int) -> Iterator[tuple[int, bytes]]:
    numbers = random.Random(f"{kind} {seed}")
    for _ in range(count):
        into, mac, router = numbers.choice(
            ((1, b"\2\0\0\0\0\x11", ROUTER[1]), (4, bytes.fromhex(PROVIDER[4].replace(":", "")), ROUTER[100]))
        )
        yield into, bytes.fromhex(router.replace(":", "")) + mac + b"\x86\xdd" + KINDS[kind](numbers)


def wrong_length(packet: bytes) -> bool:
    """Whether the outermost IPv6 header promises more than follows."""
    return packet[12:14] == b"\x86\xdd" and int.from_bytes(packet[18:20]) + 54 > len(packet)


def flood(switches: list[SiteSwitch], kind: str, count: int, seed: int = 1) -> Tally:
    """Sends them through all switches; whatever is not as it must be raises AssertionError."""
    canary = bytes(to_router(udp(to=TUNNELLED + "1")))
    of_peer = bytes(in_by(4, came_by(1, ipv6(17, DATAGRAM_OF_SESSION, REMOTE, LOCAL))))
    begin = [dropped(switch) for switch in switches]
    sound = [(switch.send(1, canary), switch.send(4, of_peer)) for switch in switches]
    tally = Tally()
    for number, (port, frame) in enumerate(frames(kind, count, seed)):
        outputs = [switch.send(port, frame) for switch in switches]
        assert all(output == outputs[0] for output in outputs), f"{kind} {number}: the switches differ on {frame.hex()}"
        assert not any(wrong_length(packet) for to, packet in outputs[0] if to != CPU), (
            f"{kind} {number}: {frame.hex()}"
        )
        tally.sent += bool(outputs[0])
        tally.silent += not outputs[0]
        if number % 100 == 0:
            for switch, expected in zip(switches, sound, strict=True):
                found = (switch.send(1, canary), switch.send(4, of_peer))
                assert found == expected, f"{kind} {number}: something of it stayed"
    counted = [dropped(switch) - before for switch, before in zip(switches, begin, strict=True)]
    assert all(drops == counted[0] for drops in counted)
    answered = counted[0].pop("answered", 0)
    counted[0].pop("DROP_TRACE_FOREIGN", 0)  # copies, not packets
    assert tally.silent + answered == counted[0].total(), (
        f"{kind}: {tally.silent} silent, {answered} answered, {counted[0]}"
    )
    tally.drops = counted[0]
    return tally


def dropped(switch: SiteSwitch) -> Counter[str]:
    names = {number: name for name, number in DROP.items() if number}
    drops = Counter(
        {
            name: switch.counted("ingress_drops", number) + switch.counted("egress_drops", number)
            for number, name in names.items()
        }
    )
    drops["answered"] = sum(switch.counted("errors_sent", type_) for type_ in range(1, 5))
    return +drops


def main() -> int:
    arguments = argparse.ArgumentParser(description="Send malformed packets through the pipeline")
    arguments.add_argument("--packets", type=int, default=50_000, help="of each kind of header")
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--jit-only", action="store_true", help="leave the interpreter out")
    chosen = arguments.parse_args()
    switches = [edge(backend) for backend in (["jit"] if chosen.jit_only else ["jit", "interpreter"])]
    for kind in KINDS:
        tally = flood(switches, kind, chosen.packets, chosen.seed)
        reasons = ", ".join(
            f"{name.removeprefix('DROP_').lower()} {count}" for name, count in (tally.drops or Counter()).most_common()
        )
        print(
            f"{kind}: {chosen.packets} packets, {tally.sent} went somewhere, {tally.silent} ended; {reasons}",
            flush=True,
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
