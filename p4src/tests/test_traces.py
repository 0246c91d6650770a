"""Traces with times and queues, of any size and type: what a case without a clock cannot say."""

from __future__ import annotations

import random

import pytest
from carriers import (
    HOP_BY_HOP,
    IN_IPV6,
    Node,
    Trace,
    hop_less,
    ipv6,
    ipv6_of,
    node_length,
    options,
    out_by_first,
    start_of,
)
from segment_cases import SOURCE, TUNNEL, from_first_host
from site_switch import MICROSECOND, SiteSwitch
from trace_cases import END

from small_site import CPU, FAR, IP_OF, to_router, udp

SECONDS, FRACTION, DELAY, QUEUE = (1 << 23 - bit for bit in (2, 3, 4, 6))
TIMES = SECONDS | FRACTION
EPOCH = 1_795_000_000_000_000
ALL_BITS = 0xFFF000
NOT_ASSIGNED = 0xFFC


@pytest.fixture(scope="module", params=["jit", "interpreter"])
def edge(request: pytest.FixtureRequest) -> SiteSwitch:
    switch = SiteSwitch(request.param)
    switch.add("routes", "route_nexthop", {"destination": "fd00::/16"}, {"nexthop": 1})
    for port in (1, CPU):
        know(switch, port, 1, EPOCH)
    return switch


def know(switch: SiteSwitch, port: int, namespace: int, epoch: int) -> None:
    node = Node()
    said: dict[str, int | str] = {
        "node": node.id,
        "node_wide": node.id_wide,
        "data": node.data,
        "data_wide": node.data_wide,
        "schema": node.schema,
        "snapshot": 0,
        "epoch": epoch,
    }
    switch.add("ioam_namespaces", "set_namespace", {"port": port, "namespace": namespace}, said)


def carrying(trace: Trace, hop_limit: int = 64) -> bytes:
    return ipv6(HOP_BY_HOP, options(17, b"\1\0", trace.option()) + bytes(udp())[40:], IP_OF[1], FAR, hop_limit)


def passed(switch: SiteSwitch, came: Trace) -> bytes:
    """The trace's option as it leaves."""
    [(port, packet)] = switch.send(1, bytes(from_first_host(carrying(came))))
    assert port == 4
    return packet[14 + 44 :][: len(came.option())]


def filled(came: Trace, node: Node) -> bytes:
    mine = node.words(came.type)
    left = came.left - len(mine) // 4
    data = came.list[: 4 * left] + mine + came.list[4 * came.left :]
    return Trace(came.type, came.node_length, left, data, came.namespace).option()


def test_every_size_of_a_trace_that_begins_here(edge: SiteSwitch) -> None:
    for words in range(1, 62):
        shape: dict[str, int | str] = {
            "namespace": 1,
            "type": SECONDS,
            "node_length": 1,
            "words": words,
            "flags": 0,
            "packets": 1,
            "of": 1,
        }
        edge.add("ioam_traces", "push_trace", {"trace": words}, shape)
        where: dict[str, int | str] = {"mode": TUNNEL, "trace": words, "source": SOURCE, "destination": END}
        edge.add("encapsulations", "encapsulate_trace", {"destination": f"2001:db8:f001:{words:x}::/64"}, where)
        packet = to_router(udp(to=f"2001:db8:f001:{words:x}::1"))
        sent = edge.send(1, bytes(packet))
        node = Node(arrived=EPOCH + edge.now // MICROSECOND)
        trace = Trace(SECONDS, 1, words - 1, bytes(4 * words - 4) + node.words(SECONDS))
        inner = hop_less(ipv6_of(packet))
        outer = ipv6(HOP_BY_HOP, trace.options(IN_IPV6) + inner, SOURCE, END, start=start_of(inner))
        assert sent == [(4, bytes(out_by_first(outer)))]


def test_any_type_with_any_room(edge: SiteSwitch) -> None:
    numbers = random.Random(9197)
    for _ in range(300):
        type_ = numbers.randrange(1, 1 << 24) & (ALL_BITS | numbers.choice((0, NOT_ASSIGNED)) | 2) | DELAY
        need = len(Node().words(type_)) // 4
        words = numbers.randrange(need, 62)
        left = numbers.randrange(need, words + 1)
        came = Trace(type_, node_length(type_), left, numbers.randbytes(4 * words))
        seen = passed(edge, came)
        assert seen == filled(came, Node(arrived=EPOCH + edge.now // MICROSECOND)), hex(type_)


@pytest.mark.parametrize("now", [0, 1, 999_999, 1_000_000, 2**32 * 10**6 - 1, 2**51 - 1, 2**51 - 10**6])
def test_times_are_exact(now: int) -> None:
    switch = SiteSwitch()
    know(switch, 1, 1, (now - switch.now // MICROSECOND - 1000) % 2**64)
    came = Trace(TIMES, 2, 2, bytes(8))
    assert (
        passed(switch, came)
        == Trace(TIMES, 2, 0, (now // 10**6 % 2**32).to_bytes(4) + (now % 10**6).to_bytes(4)).option()
    )


def test_a_queue_shows_in_delay_and_depth() -> None:
    switch = SiteSwitch()
    know(switch, 1, 1, 0)
    type_ = DELAY | QUEUE
    came = Trace(type_, 2, 2, bytes(8))
    packet = bytes(from_first_host(carrying(came)))
    time = len(packet) * 8 * MICROSECOND  # of one packet on a link of a million bits a second
    switch.switch.set_link(4, rate=1_000_000)
    outputs = [output for _ in range(4) for output in switch.switch.inject(1, packet, switch.now)]
    outputs += switch.switch.advance(switch.now + 10 * time)
    assert len(outputs) == 4
    seen = [output.packet[14 + 44 + 12 :][:8] for output in outputs]
    delays = [int.from_bytes(words[:4]) for words in seen]
    depths = [int.from_bytes(words[4:]) for words in seen]
    assert delays == [0, time, 2 * time, 3 * time]
    assert depths[0] == 0 and max(depths) > 0 and depths[1] > depths[3]
