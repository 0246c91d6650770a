"""The payload header among random extension headers: where RFC 5533 (12.2 and 11) has it, and off again."""

from __future__ import annotations

from typing import NamedTuple

import pytest
from chain_model import judge
from chain_packets import Lot
from session_site import LOCAL, REMOTE, Session, between, came_by, from_host, in_by, out_by, sent_by, to_host
from session_switch import SessionSwitch
from shim6_layers import SHIM6

HOP_BY_HOP, ROUTING, FRAGMENT = 0, 43, 44


class Sound(NamedTuple):
    """A packet that nothing is wrong with, and where its payload header belongs."""

    packet: bytes
    at: int
    said: int
    headers: int
    speaks: bool  # has a Shim6 header of its own, where one is looked for


def sound(frame: bytes) -> Sound | None:
    chain = judge(frame)
    if chain.reason is not None or frame[12:14] != b"\x86\xdd":
        return None
    packet = frame[14 : 54 + int.from_bytes(frame[18:20])]
    place, speaks, fragmented = 40, False, False
    at, said = 40, 6
    for number, (kind, size) in enumerate(chain.headers):
        if kind == HOP_BY_HOP and number == 0:
            at, said = 40 + size, 40
        if kind == ROUTING and packet[place + 2] in (3, 4):
            return None  # these are acted on: session_cases.py
        if kind == FRAGMENT:
            fragmented = fragmented or int.from_bytes(packet[place + 2 : place + 4]) & 0xFFF9 != 0
        speaks = speaks or (kind == SHIM6 and not fragmented)
        place += size
    return Sound(packet, at, said, len(chain.headers), speaks)


@pytest.mark.parametrize(("backend", "count"), [("jit", 1500), ("interpreter", 500)])
def test_it_goes_on_and_comes_off_among_any_headers(backend: str, count: int) -> None:
    switch = SessionSwitch(Session(path=1, watched=False), backend=backend)
    on = off = own = 0
    for out, frame in Lot(5533).packets(count):
        found = sound(frame)
        if found is None or out != 4:
            continue
        leaves = found.packet if found.speaks else sent_by(1, found.packet, found.at, found.said)
        ((port, left),) = switch.send(1, bytes(from_host(found.packet)))
        assert (port, left[14:21]) == (4, leaves[:7]), frame.hex()
        assert left[:21] + left[22:] == (bytes(out_by(4, leaves))[:21] + leaves[8:]), frame.hex()
        own += found.speaks
        on += not found.speaks
        if found.headers < 10:
            back = between(found.packet, REMOTE, LOCAL)
            came = bytes(in_by(4, came_by(1, back, found.at, found.said)))
            ((port, left),) = switch.send(4, came)
            reached = bytes(to_host(back))
            assert (port, left[:21] + left[22:]) == (1, reached[:21] + reached[22:]), came.hex()
            off += 1
    assert on > count // 5 and off > count // 5 and own > count // 20, (on, off, own)
