"""Whether sessions number their packets by path: only where both sides tell each other that they count and report."""

from __future__ import annotations

from ipaddress import IPv6Network

import pytest
from shim6.network import A1, host

from wayname.config.schedules import Schedule, Source
from wayname.shim6.context import KnownPeer
from wayname.shim6.locators import learn
from wayname.shim6.path_reports import VERSION, numbers_packets, orders_packets, takes_copies, tell_path_reports
from wayname.wire.shim6.options import PathReports

FEEDBACK = Schedule.model_construct(name="sites", source=Source.FEEDBACK)


@pytest.mark.parametrize("source", [Source.FIXED, Source.MARKS, Source.IOAM])
def test_who_has_no_schedule_that_goes_by_feedback_says_nothing_of_it(source: Source) -> None:
    other = Schedule.model_construct(name="others", source=source)
    elsewhere = FEEDBACK.model_copy(update={"local": (IPv6Network("2001:db8:ffff::/48"),)})
    assert tell_path_reports(host(A1), [other, elsewhere], buffers=True) == host(A1)


def test_who_has_one_says_which_version_it_counts() -> None:
    told = tell_path_reports(host(A1), [FEEDBACK], buffers=False)
    assert told.options == (*host(A1).options, PathReports(VERSION, eliminates=True))


def test_packets_are_numbered_where_both_say_so_in_the_same_version() -> None:
    ours, nobody = tell_path_reports(host(A1), [FEEDBACK], buffers=True), KnownPeer(frozenset({A1}))
    told, other = (learn(A1, (PathReports(version),), nobody) for version in (VERSION, VERSION + 1))
    assert numbers_packets(ours, told)
    assert not numbers_packets(ours, nobody)
    assert not numbers_packets(ours, other)
    assert not numbers_packets(host(A1), told)


def test_who_does_not_say_it_again_takes_it_back() -> None:
    told = learn(A1, (PathReports(VERSION),), KnownPeer(frozenset({A1})))
    assert learn(A1, (), told).path_reports is None


@pytest.mark.parametrize(
    ("buffers", "reinjection", "peer", "ordered"),
    [(True, True, True, True), (False, True, True, False), (True, False, True, False), (True, True, False, False)],
)
def test_packets_have_an_order_where_both_switches_buffer(
    buffers: bool, reinjection: bool, peer: bool, ordered: bool
) -> None:
    schedule = FEEDBACK.model_copy(update={"reinjection": reinjection})
    ours = tell_path_reports(host(A1), [schedule], buffers=buffers)
    told = learn(A1, (PathReports(VERSION, puts_in_order=peer),), KnownPeer(frozenset({A1})))
    assert numbers_packets(ours, told)
    assert orders_packets(ours, told) == ordered


@pytest.mark.parametrize(
    ("version", "eliminates", "takes"), [(VERSION, True, True), (VERSION, False, False), (VERSION + 1, True, False)]
)
def test_packets_go_in_several_copies_to_who_drops_all_but_one(version: int, eliminates: bool, takes: bool) -> None:
    ours = tell_path_reports(host(A1), [FEEDBACK], buffers=False)
    told = learn(A1, (PathReports(version, eliminates=eliminates),), KnownPeer(frozenset({A1})))
    assert takes_copies(ours, told) == takes
    assert not takes_copies(host(A1), told), "without a schedule that goes by feedback packets have no numbers"
