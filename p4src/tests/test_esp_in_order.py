"""What a dead path held of an ESP session goes by the others, in order, or in two copies from the beginning."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from carriers import hop_less
from esp_site import ESP_SESSION, OUR_SPI, esp
from numbered_esp_switch import (
    OrderedEspSwitch,
    before_esp,
    host_got,
    lone,
    ordered_before_esp,
    peer_got,
    read_order,
    sealed,
)
from numbered_switch import Report
from schedule_site import CLOSE, PathOf, Schedule, locator
from session_site import REMOTE_1

from wayname.p4_constants import Drop

MILLISECOND, SECOND = 1_000, 1_000_000
OCTET = 1 << 24  # a microsecond an octet
PATHS = [PathOf(10 * MILLISECOND, OCTET), PathOf(15 * MILLISECOND, OCTET)]
CLOSING = Schedule(PATHS, feedback=CLOSE, tolerance=50 * MILLISECOND, probe_interval=10 * SECOND, session=ESP_SESSION)
HOLD = 60 * MILLISECOND  # of the first packets: their delivery, the slowest path's delay, and 20 ms for a report
BEGUN = 40 * MILLISECOND
Make = Callable[[Schedule], OrderedEspSwitch]


@pytest.fixture(params=["jit", "interpreter"])
def make(request: pytest.FixtureRequest) -> Make:
    return lambda schedule: OrderedEspSwitch(schedule, backend=request.param)


def told(switch: OrderedEspSwitch, time: int, slot: int, newest: int) -> None:
    """The peer's edge reports of a path, by itself."""
    report = Report(slot, newest, time, newest)
    assert switch.comes(time, slot, before_esp(slot, 0, report, counted=0), lone(OUR_SPI, slot)) == []


def test_what_a_path_held_that_tells_nothing_goes_by_the_other(make: Make) -> None:
    switch = make(CLOSING)
    begun = {each.slot: each for each in [switch.orders(0, number, 3000) for number in range(4)]}
    for slot in (0, 1):
        told(switch, BEGUN - 1, slot, begun[slot].sequence)
    sent = [switch.orders(BEGUN + number, number) for number in range(10, 18)]
    assert [each.order for each in sent] == [(sent[0].order + each) % 2**32 for each in range(len(sent))]
    lost = [each for each in sent if each.slot == 0]
    for each in sent:
        if each.slot == 1:
            told(switch, BEGUN + 30 * MILLISECOND, 1, each.sequence)
    assert lost
    left = [read_order(frame) for frame in peer_got(switch.passes(BEGUN + 2 * HOLD))]
    assert [(each.slot, each.order, each.packet) for each in left] == [(1, each.order, each.packet) for each in lost]


def test_esp_out_of_order_reaches_the_host_in_order_and_once(make: Make) -> None:
    switch = make(CLOSING)
    packets = {order: esp(REMOTE_1, locator(0), OUR_SPI, order) for order in range(1, 5)}
    got = []
    for time, order in enumerate([1, 3, 4, 3, 2]):
        put = ordered_before_esp(0, time, order, 100 * MILLISECOND)
        got.append(host_got(switch.comes(time, 0, put, packets[order])))
    assert got == [[hop_less(packets[1])], [], [], [], [hop_less(packets[each]) for each in (2, 3, 4)]]
    assert switch.counted("ingress_drops", Drop.CAME_TWICE) == 1


def test_of_two_copies_the_host_gets_the_first(make: Make) -> None:
    near, far = make(replace(CLOSING, copies=2)), make(replace(CLOSING, copies=2))
    frames = near.frames(0, sealed(1))
    copies = [read_order(frame) for frame in frames]
    assert [each.slot for each in copies] == [0, 1]
    assert {(each.order, each.copies, each.packet) for each in copies} == {(copies[0].order, 2, sealed(1)[40:])}
    assert [len(host_got(far.crosses(time, frame))) for time, frame in enumerate(frames)] == [1, 0]
    assert far.counted("ingress_drops", Drop.ELIMINATED) == 1
