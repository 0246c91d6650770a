"""What a session of Shim6 is to schedules: which of its paths may be used all at once, and what its entry asks for."""

from __future__ import annotations

from ipaddress import IPv6Network

import pytest
from sessions.pair import UPLINKS, Pair, Side, configuration, keep_copy

from wayname.composition.configuration import parse_config
from wayname.p4_constants import PATH_BITS, SessionEventKind, SessionMode

SCHEDULE = '\n[[schedule]]\nname = "s"\n'
PATH = '[[schedule.path]]\nprovider = "{name}"\nbandwidth = 1e6\ndelay = 0.01\n'


def talking(more: str = "") -> Pair:
    """Return two edges with schedules over both providers, when their session has proven its paths."""
    pair = Pair()
    for side in (pair.a, pair.b):
        paths = "".join(PATH.format(name=name) for name in UPLINKS)
        side.config = parse_config(configuration(side.site)[0] + SCHEDULE + more + paths)
        pair.restart(side)
    pair.talk()
    pair.drive(3.0)
    return pair


def is_scheduled(side: Side) -> bool:
    """Whether a side's session has a schedule, and is asked to have one."""
    [identities] = side.entries("identities")
    modes = identities["mode"] & (SessionMode.SCHEDULE | SessionMode.FOLLOW)
    assert modes == (SessionMode.SCHEDULE if side.entries("session_schedules") else SessionMode.FOLLOW)
    return modes == SessionMode.SCHEDULE


def test_a_session_is_scheduled_when_two_paths_are_proven() -> None:
    pair = talking()
    assert is_scheduled(pair.a)
    assert is_scheduled(pair.b)
    [entry] = pair.a.entries("schedules")
    [shared] = pair.a.entries("session_schedules")
    used = [pair.a.only.paths[shared["paths"] >> PATH_BITS * slot & 15] for slot in range(entry["paths"])]
    assert [str(each.local)[:12] for each in used] == ["2001:db8:101", "2001:db8:201"]
    assert len({each.peer for each in used}) == 2


def test_a_path_that_is_not_answered_any_more_is_left() -> None:
    pair = talking()
    pair.dead.add("2001:db8:201::")
    for _ in range(10):
        # Paths are probed as long as somebody talks.
        pair.tell(pair.a, SessionEventKind.WATCH)
        pair.drive(20.0)
    assert not is_scheduled(pair.a)


def test_a_provider_that_is_down_takes_its_path_out_at_once() -> None:
    pair = talking()
    for closed, scheduled in (({"q"}, False), (set(), True)):
        pair.a.ways.closed = closed
        assert pair.a.sessions is not None
        pair.a.sessions.next_hops_changed(pair.now)
        pair.collect(pair.a)
        assert is_scheduled(pair.a) is scheduled
        pair.drive(3.0)


@pytest.mark.parametrize(("provider", "other"), [("p", "2001:db8:201::/48"), ("q", "2001:db8:101::/48")])
@pytest.mark.parametrize("source", ["marks", "feedback"])
def test_a_path_that_brings_nothing_back_stays_for_sessions_whose_peer_reports(
    source: str, provider: str, other: str
) -> None:
    pair = talking(f'source = "{source}"\n')
    assert pair.a.only.numbered is (source == "feedback")
    assert pair.a.sessions is not None
    before = pair.a.entries("session_schedules")
    for one_way, scheduled in (({provider}, source == "feedback"), (set(), False)):
        pair.a.ways.closed, pair.a.ways.one_way = {provider}, one_way
        pair.a.sessions.next_hops_changed(pair.now)
        pair.collect(pair.a)
        pair.drive(3.0)
        assert is_scheduled(pair.a) is scheduled
        assert pair.a.entries("session_schedules") == (before if scheduled else [])
        # Nobody goes there who needs an answer.
        assert pair.a.only.pair.local in IPv6Network(other)


def test_a_session_that_looks_for_a_way_keeps_the_paths_that_did_not_fail() -> None:
    pair = talking()
    pair.tell(pair.a, SessionEventKind.UNANSWERED, age=15.0)
    assert pair.a.only.exploring
    assert is_scheduled(pair.a)
    pair.drive(10.0)
    assert is_scheduled(pair.a)


def test_what_other_paths_brought_long_ago_does_not_go_again() -> None:
    """A scheduled session that looks for a way is answered all the same: only what was sent just now may be lost."""
    pair = talking()
    pair.tell(pair.a, SessionEventKind.UNANSWERED, age=15.0)
    keep_copy(pair, pair.a, b"acknowledged long ago")
    pair.now += 2 * pair.a.only.send_timeout
    lately = keep_copy(pair, pair.a, b"just sent")
    assert pair.a.only.exploring
    assert is_scheduled(pair.a)
    assert pair.a.sessions is not None
    pair.a.sessions.move(pair.a.only.number, 1, pair.now)
    assert pair.a.ways.submitted == [lately]


def test_another_controller_wants_what_the_last_one_did() -> None:
    pair = talking()
    before = [pair.a.entries(table) for table in ("session_schedules", "schedules", "identities")]
    assert before[0]
    pair.kill(pair.a)
    pair.restart(pair.a)
    assert [pair.a.entries(table) for table in ("session_schedules", "schedules", "identities")] == before


def test_a_session_that_ends_leaves_nothing() -> None:
    pair = talking()
    [identities] = [each for each in pair.a.held.values() if each.table_id == "identities"]
    assert pair.a.sessions is not None
    pair.a.sessions.idle(identities, pair.now)
    pair.collect(pair.a)
    assert pair.a.entries("session_schedules") == pair.a.entries("schedules") == []
