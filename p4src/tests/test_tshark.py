"""tshark reads all that leaves, unless what came in was malformed already."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from segment_cases import FRAME, FRAME_REDUCED, INLINE, PATH, REDUCED, SOURCE, TUNNEL
from site_switch import SiteSwitch
from test_segments import LONGEST, prefix, put
from test_traces import know
from trace_cases import END
from tshark import TSHARK, malformed

from small_site import CPU, PACKET_IN_BYTES, to_router, udp

PACKET_OUT_BYTES = 5

pytestmark = pytest.mark.skipif(TSHARK is None, reason="needs tshark")

CASES = sorted(Path(__file__).parent.glob("*.stf"))


def sound(kind: str, port: int, text: str) -> bytes:
    """The frame, without what stands before it between switch and controller."""
    head = {"packet": PACKET_OUT_BYTES, "expect": PACKET_IN_BYTES}[kind]
    return bytes.fromhex(text)[head if port == CPU else 0 :]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_what_a_case_expects_is_as_sound_as_what_it_sends(case: Path) -> None:
    frames: list[bytes] = []
    came_of: dict[int, int] = {}
    came = 0
    for line in case.read_text("ascii").splitlines():
        match = re.match(r"(packet|expect) (\d+) ([0-9a-f]+)", line)
        if match is None:
            continue
        if match[1] == "packet":
            came = len(frames)
        else:
            came_of[len(frames)] = came
        frames.append(sound(match[1], int(match[2]), match[3]))
    bad = malformed(frames)
    spoilt = {number: bad[number] for number, source in came_of.items() if number in bad and source not in bad}
    assert came_of and not spoilt


def test_every_length_of_a_path_in_every_mode() -> None:
    switch = SiteSwitch()
    switch.add("routes", "route_nexthop", {"destination": "fd00::/16"}, {"nexthop": 1})
    frames: list[bytes] = []
    for count in range(1, LONGEST + 1):
        put(switch, count, PATH[:count])
        for mode in (INLINE, TUNNEL, REDUCED, FRAME, FRAME_REDUCED):
            bound = {"mode": mode, "policy": count, "trace": 0}
            switch.add("encapsulations", "encapsulate_segments", {"destination": f"{prefix(count, mode)}/64"}, bound)
            packet = to_router(udp(to=f"{prefix(count, mode)}1"))
            frames += [output for _, output in switch.send(1, bytes(packet))]
    assert len(frames) == 5 * LONGEST
    assert malformed(frames) == {}


@pytest.mark.parametrize("mode", [INLINE, TUNNEL])
def test_every_size_and_every_bit_of_a_trace(mode: int) -> None:
    switch = SiteSwitch()
    switch.add("routes", "route_nexthop", {"destination": "fd00::/16"}, {"nexthop": 1})
    for port in (1, CPU):
        know(switch, port, 1, 0)
    shapes = [(1 << 22, 1, words) for words in range(1, 62)]
    shapes += [(1 << 23 - bit, 2 if bit in (8, 9, 10) else 1, 8) for bit in range(12)]
    frames: list[bytes] = []
    for number, (type_, node_length, words) in enumerate(shapes, 1):
        shape: dict[str, int | str] = {"namespace": 1, "type": type_, "node_length": node_length, "words": words}
        shape |= {"flags": 0, "packets": 1, "of": 1}
        switch.add("ioam_traces", "push_trace", {"trace": number}, shape)
        where: dict[str, int | str] = {"mode": mode, "trace": number, "source": SOURCE, "destination": END}
        network = f"2001:db8:f001:{number:x}::"
        switch.add("encapsulations", "encapsulate_trace", {"destination": f"{network}/64"}, where)
        packet = to_router(udp(to=f"{network}1"))
        frames += [output for _, output in switch.send(1, bytes(packet))]
    assert len(frames) == len(shapes)
    assert malformed(frames) == {}
