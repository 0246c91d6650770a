"""The border's memory of connections: which of them have a slot, for how long, and what floods do to it."""

from __future__ import annotations

import heapq
import itertools
import random
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from border_flows import HOST, comes_in_by_2, established_by_2, goes_on, tcp
from border_site import out_of
from border_switch import BorderSwitch, drops
from carriers import octets
from keyed_hash import address_slot, border_slots
from site_switch import value_of, with_sizes

from small_site import FAR, IP_OF

FLOWS = 131072
STRANGER = "2001:db8:f00::bad"


@pytest.mark.parametrize(("lived", "held"), [(0, 4), (3, 4), (100, 100), (1000, 300)])
def test_an_established_connection_holds_its_slot_for_as_long_as_it_has_lived(
    tmp_path: Path, lived: float, held: float
) -> None:
    """Here there is one slot. Four seconds at least, 300 at most; and while nobody wants it, for ever."""
    switch = BorderSwitch(home=1, program=with_sizes(tmp_path, FLOWS=1))
    established_by_2(switch)
    if lived:
        assert goes_on(switch, lived)
    assert not comes_in_by_2(switch, lived + 1, STRANGER)
    assert not comes_in_by_2(switch, lived + held - 0.1, STRANGER)
    assert drops(switch, "DROP_FLOWS_FULL") == 2
    assert comes_in_by_2(switch, lived + held, STRANGER)


def test_nobody_takes_a_slot_that_nobody_wants() -> None:
    switch = BorderSwitch(home=1)
    established_by_2(switch)
    assert goes_on(switch, 10_000)


def test_a_half_open_connection_gives_way_at_once_and_an_answered_one_after_seconds(tmp_path: Path) -> None:
    switch = BorderSwitch(home=1, program=with_sizes(tmp_path, FLOWS=1))
    assert comes_in_by_2(switch, 0, STRANGER)
    assert comes_in_by_2(switch, 0, FAR)
    assert goes_on(switch, 0)
    assert not comes_in_by_2(switch, 1, STRANGER)
    assert comes_in_by_2(switch, 5, STRANGER)


@pytest.mark.parametrize(("share", "held"), [(1, 100), (0, 4)])
def test_a_connection_of_a_source_with_more_than_its_share_is_held_for_seconds(
    tmp_path: Path, share: int, held: int
) -> None:
    switch = BorderSwitch(home=1, program=with_sizes(tmp_path, FLOWS=1, FLOWS_OF_SOURCE=share))
    established_by_2(switch)
    assert goes_on(switch, 100)
    assert not comes_in_by_2(switch, 100 + held - 0.1, STRANGER)
    assert comes_in_by_2(switch, 100 + held, STRANGER)


def test_the_slots_of_sources_are_counted_right(tmp_path: Path) -> None:
    """Of hosts inside and of /48s outside, while connections begin, are answered, end and take each other's slots."""
    slots, places = 16, 32
    program = with_sizes(tmp_path, FLOWS=slots, FLOW_SOURCES=places, FLOWS_OF_SOURCE=2)
    switch, rng, now = BorderSwitch(home=1, program=program), random.Random(9), 0.0
    switch.serve(2)
    peers = [f"2001:db8:{0xE00 + site:x}::{number}" for site in range(4) for number in range(1, 4)]
    for step in range(600):
        now += rng.choice((0.1, 1, 3, 20))
        peer, port = rng.choice(peers), rng.randrange(9, 12)
        if step % 7 == 0:
            switch.goes_out(now, tcp(rng.choice((HOST, IP_OF[2])), peer, "S", port, 443))
        elif step % 3:
            switch.goes_out(now, tcp(HOST, peer, "A", 80, port))
        else:
            switch.comes_in(now, rng.choice((1, 2)), tcp(peer, out_of(HOST, 2), rng.choice("SA"), port, 80))
    held = zip(
        switch.register("flow_holders"), switch.register("flow_seen"), switch.register("flow_states"), strict=True
    )
    expected = [0] * places
    for flow, seen, state in held:
        if seen and state >> 8 & 0xF != 1:
            inside = state >> 14 & 1
            source = flow >> 168 if inside else (flow >> 120 & (1 << 48) - 1) << 80
            expected[address_slot(source, places)] += 1
    assert switch.register("flow_sources") == expected and sum(expected) > 4


def test_two_connections_that_share_a_slot_have_one_each(tmp_path: Path) -> None:
    """The second one has its other slot; and when both are held, a third one has none."""
    slots = 64
    first, second = border_slots(value_of(HOST), value_of(FAR), 6, (80, 9), slots)
    program = with_sizes(tmp_path, FLOWS=slots)
    wanted: dict[tuple[int, ...], list[int]] = {}
    for sport in range(10, 65536):
        wanted.setdefault(border_slots(value_of(HOST), value_of(FAR), 6, (80, sport), slots), []).append(sport)
    free = next(slot for slot in range(slots) if slot not in (first, second))
    switch = BorderSwitch(home=1, program=program)
    established_by_2(switch)
    other, third = wanted[first, free][0], wanted[first, free][1]
    established_by_2(switch, 1, other)
    assert goes_on(switch, 2, 9) and goes_on(switch, 2, other)
    assert not comes_in_by_2(switch, 3, FAR, third)


def test_who_computes_crcs_keeps_no_connection_out() -> None:
    """The peer's connection has the same CRC as one that a stranger has opened before."""
    switch = BorderSwitch(home=1)
    peer, port = same_crc(9)
    established_by_2(switch, sport=port, peer=peer)
    assert comes_in_by_2(switch, 1, FAR)


def same_crc(port: int) -> tuple[str, int]:
    """Another peer's flow to the host that has the CRC of the far one's, as far as slots go."""

    def slot(peer: str, its_port: int) -> int:
        ports = (80).to_bytes(2) + its_port.to_bytes(2)
        return zlib.crc32(octets(HOST) + octets(peer) + b"\x06" + ports) % FLOWS

    wanted = slot(FAR, port)
    return next(
        (peer, other)
        for number in range(2, 40)
        for peer in (f"2001:db8:f00::{number:x}",)
        for other in range(1, 65536)
        if slot(peer, other) == wanted
    )


def strangers(sites: int) -> Iterator[str]:
    """Addresses outside, in so many /48s by turns."""
    for number in itertools.count(1):
        yield f"2001:db8:{0xF000 + number % sites:x}::{number:x}"


class Flood(NamedTuple):
    """Connections that a site's host accepts: so many a second for the slots that there are, from so many /48s."""

    rate: float
    sites: int
    alive: bool  # with a packet whenever the slot would be given to others; else they say nothing more


# A 512th of a real edge's slots, so a 512th of the rate does the same.
SCALE = 512


@pytest.mark.parametrize(
    ("flood", "refused"),
    [
        pytest.param(Flood(440 / SCALE, 1, False), 0.0, id="440 a second"),
        pytest.param(Flood(440 / SCALE, 1000, False), 0.0, id="440 a second from a thousand sites"),
        pytest.param(Flood(440 / SCALE, 1, True), 0.02, id="440 a second that stay alive"),
        pytest.param(Flood(440 / SCALE, 1000, True), 0.5, id="440 a second that stay alive from a thousand sites"),
    ],
)
def test_a_flood_of_connections_moves_none_that_lives_and_keeps_few_out(
    tmp_path: Path, flood: Flood, refused: float
) -> None:
    """Ten connections live and say something each 20 seconds; each second of the flood somebody's begins."""
    sizes = {"FLOWS": FLOWS // SCALE, "FLOWS_OF_SOURCE": FLOWS // SCALE // 64}
    switch = BorderSwitch(home=1, program=with_sizes(tmp_path, **sizes))
    live = [f"2001:db8:{number:x}::1" for number in range(0xE00, 0xE0A)]
    for number, peer in enumerate(live):
        established_by_2(switch, number, peer=peer)
    begins, ends, newcomers, rejected, moved = 60.0, 460.0, 0, 0, 0
    due = [(20.0, "live", peer, 0.0) for peer in live] + [(begins, "newcomer", "", 0.0)]
    flooding = strangers(flood.sites)
    due += [(begins + number / flood.rate, "flood", next(flooding), 0.0) for number in range(int(400 * flood.rate))]
    heapq.heapify(due)
    while due and due[0][0] < ends:
        now, kind, peer, since = heapq.heappop(due)
        if kind == "live":
            moved += not goes_on(switch, now, peer=peer)
            heapq.heappush(due, (now + 20, kind, peer, since))
        elif kind == "newcomer":
            newcomers += 1
            peer = f"2001:db8:{0xD00 + newcomers:x}::1"
            if comes_in_by_2(switch, now, peer):
                assert goes_on(switch, now, peer=peer)
            else:
                rejected += 1
            heapq.heappush(due, (now + 1, kind, "", 0.0))
        elif kind == "flood":
            if comes_in_by_2(switch, now, peer):
                established_by_2(switch, now, peer=peer)
                if flood.alive:
                    heapq.heappush(due, (now + 3.9, "alive", peer, now))
        elif goes_on(switch, now, peer=peer):
            heapq.heappush(due, (now + max(3.9, 0.95 * (now - since)), kind, peer, since))
    assert (newcomers, moved) == (400, 0) and rejected <= refused * newcomers
