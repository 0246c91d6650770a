"""Paths of which a peer reports nothing: dead ones, idle ones, and those of a peer that reports no more."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from closing_schedule import (
    CLOCK,
    CLOSING,
    INTERVAL,
    LENGTH,
    MILLISECOND,
    PATHS,
    SECOND,
    Make,
    kinds,
    lone,
)
from numbered_switch import NUMBER_OCTETS, NumberedSwitch, Peer, Report, read
from schedule_site import datagram


@pytest.fixture(params=["jit", "interpreter"])
def make(request: pytest.FixtureRequest) -> Make:
    return lambda schedule: NumberedSwitch(schedule, backend=request.param)


def silence(switch: NumberedSwitch, peer: Peer, until: int) -> dict[int, int]:
    """The second path works, the first one loses all; when each got its last packet that is no probe."""
    last: dict[int, int] = {}
    for time in range(0, until, 500):
        packet = read(switch.frames(time, datagram(LENGTH))[0])
        last[packet.slot] = time
        if packet.slot == 1:
            peer.hears(time + 30 * MILLISECOND, packet)
        if 1 in peer.slots and time % (10 * MILLISECOND) == 0:
            counts = peer.slots[1]
            if counts.arrived - CLOCK <= time + 30 * MILLISECOND:
                switch.reports(time, peer.report(1), 1 + time // 500)
    return last


def test_a_path_of_which_nothing_is_reported_while_others_are_is_closed(make: Make) -> None:
    switch, peer = make(CLOSING), Peer(CLOCK)
    last = silence(switch, peer, 400 * MILLISECOND)
    assert kinds(switch) == [("lost", 0)]
    assert last[0] < 200 * MILLISECOND
    assert last[1] > 390 * MILLISECOND


def test_a_path_that_was_idle_is_not_dead_while_reports_wait_behind_what_the_peer_sends(make: Make) -> None:
    """Those of the other path come all the time, and tell of what went long ago."""
    switch, peer = make(CLOSING), Peer(CLOCK)
    reports: list[tuple[int, Report]] = []
    slots = set()
    for step, time in enumerate(range(0, SECOND + 400 * MILLISECOND, INTERVAL)):
        for _ in range(60 if time == SECOND else 1):
            packet = read(switch.frames(time, datagram(LENGTH))[0])
            slots.add(packet.slot)
            peer.hears(time + PATHS[packet.slot].delay + LENGTH + NUMBER_OCTETS, packet)
            reports.append((time + 200 * MILLISECOND, peer.report(packet.slot)))
        come = {report.slot: report for due, report in reports if due <= time}
        for slot, report in come.items():
            switch.reports(time, report, 1 + 2 * step + slot)
        reports = [each for each in reports if each[0] > time]
        assert time >= SECOND or slots == {0}
    assert slots == {0, 1}
    assert kinds(switch) == []


def test_a_dead_path_is_probed_four_times_in_each_interval_since_that_costs_nothing(make: Make) -> None:
    switch, peer = make(CLOSING), Peer(CLOCK)
    silence(switch, peer, 400 * MILLISECOND)
    probed = []
    for time in range(400 * MILLISECOND, 8 * SECOND, 5 * MILLISECOND):
        itself, *probes = (read(frame) for frame in switch.frames(time, datagram(LENGTH)))
        assert itself.slot == 1
        probed += [time for probe in probes if (probe.slot, probe.packet) == (0, b"")]
        peer.hears(time + 30 * MILLISECOND, itself)
        switch.reports(time, peer.report(1), 1 + time // 500)
    assert len(probed) == 30
    assert {later - earlier for earlier, later in pairwise(probed)} == {SECOND // 4}


def test_a_peer_that_reports_nothing_closes_no_path(make: Make) -> None:
    switch = make(CLOSING)
    assert {switch.numbers(time * 500).slot for time in range(1, 4000)} == {0, 1}
    assert kinds(switch) == []


def reported(switch: NumberedSwitch, peer: Peer, begin: int, end: int) -> None:
    """All that is sent meanwhile comes, and is reported in time."""
    for time in range(begin, end, 100 * MILLISECOND):
        for packet in (read(frame) for frame in switch.frames(time, datagram(LENGTH))):
            peer.hears(time + PATHS[packet.slot].delay + LENGTH + NUMBER_OCTETS, packet)
            switch.reports(time + 60 * MILLISECOND, peer.report(packet.slot), 1 + time)


def test_a_path_is_open_again_though_the_peer_reports_no_more(make: Make) -> None:
    """Nobody tells of its probes."""
    switch, peer = make(CLOSING), Peer(CLOCK)
    silence(switch, peer, 400 * MILLISECOND)
    assert kinds(switch) == [("lost", 0)]
    for time in range(400 * MILLISECOND, 12 * SECOND, 20 * MILLISECOND):
        switch.frames(time, datagram(LENGTH))
    # The other path alone had packets, so it was closed too, before it was known that nobody reports.
    assert sorted(kinds(switch)) == [("lost", 1), ("unprobed", 0), ("unprobed", 1)]
    assert {switch.numbers(12 * SECOND + time * 500).slot for time in range(100)} == {0, 1}


def test_who_reports_again_may_have_another_clock(make: Make) -> None:
    switch, peer = make(CLOSING), Peer(CLOCK)
    reported(switch, peer, 0, SECOND)
    for time in range(SECOND, 3 * SECOND, 10 * MILLISECOND):
        switch.frames(time, datagram(LENGTH))
    peer.clock += 5 * SECOND
    assert kinds(switch) == [("lost", 0), ("lost", 1)]
    reported(switch, peer, 3 * SECOND, 4 * SECOND)
    assert kinds(switch) == [("opened", 0), ("opened", 1)]


@pytest.mark.parametrize("packets_a_second", [20, 100, 700])
def test_a_dead_path_is_found_by_what_is_sent_one_way_alone(make: Make, packets_a_second: int) -> None:
    """Two switches; the host behind the second one answers nothing."""
    near, far = make(replace(CLOSING, probe_interval=10 * SECOND)), make(CLOSING)
    cut, last = 2 * SECOND, 0
    to_far: list[tuple[int, bytes]] = []
    to_near: list[tuple[int, bytes]] = []
    for time in range(0, 3 * SECOND, SECOND // packets_a_second):
        for due, frame in sorted(each for each in to_far if each[0] <= time):
            to_near += [(due + 10 * MILLISECOND, out) for out in lone(far.crosses(due, frame))]
        for due, frame in sorted(each for each in to_near if each[0] <= time):
            near.crosses(due, frame)
        to_far, to_near = ([each for each in way if each[0] > time] for way in (to_far, to_near))
        (frame,) = near.frames(max(time, near.time), datagram(LENGTH))
        slot = read(frame).slot
        last = time if slot == 0 else last
        if slot == 1 or time < cut:
            to_far.append((time + (10 + 20 * slot) * MILLISECOND + LENGTH, frame))
    assert ("lost", 0) in kinds(near)
    assert last < cut + max(SECOND // 5, 8 * SECOND // packets_a_second)
