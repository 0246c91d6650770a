"""Flows that take a path of their own in their hosts' session, and leave the session where it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from carriers import ipv6
from session_cases import DATAGRAM
from session_site import FOLLOW, HOLD, LOCAL, REMOTE, REPORT, SEND_TIMEOUT, SESSION, Session
from session_switch import FOLLOWED, HEARD, INWARD, LEFT_PATH, OUTWARD, WATCH, SessionEvent, SessionSwitch

from small_site import CPU, Entry
from wayname.p4_constants import SessionMode

PREFER = SessionMode.PREFER
EXPEDITED = 46  # RFC 3246
BACKUP = Session().backup(0, 1)
Make = Callable[..., "PolicedSwitch"]


def marked(packet: bytes, dscp: int = EXPEDITED) -> bytes:
    """The packet with a DSCP: the first six bits of the traffic class, behind the version."""
    word = int.from_bytes(packet[:4]) & ~(0x3F << 22) | dscp << 22
    return word.to_bytes(4) + packet[4:]


def between_ports(source: int, destination: int, outward: bool = True) -> bytes:
    datagram = source.to_bytes(2) + destination.to_bytes(2) + DATAGRAM[4:]
    return ipv6(17, datagram, *((LOCAL, REMOTE) if outward else (REMOTE, LOCAL)))


class PolicedSwitch(SessionSwitch):
    """A session whose flows of policy 1 prefer path 2; policies are added by tests."""

    def __init__(self, session: Session, *more: Entry, backend: str) -> None:
        preferred = Entry("preferred_paths", {"session": session.number, "policy": 1}, "prefer_path", {"path": 2})
        super().__init__(session, preferred, *more, backend=backend)


@pytest.fixture(params=["jit", "interpreter"])
def make(request: pytest.FixtureRequest) -> Make:
    return lambda session, *more: PolicedSwitch(session, *more, backend=request.param)


def event(kind: int, path_from: int = 0, path_to: int | None = None, age: int = 0) -> SessionEvent:
    return SessionEvent(kind, SESSION, path_from, path_from if path_to is None else path_to, age)


@pytest.mark.parametrize(
    ("match", "packet"),
    [
        ({"dscp": EXPEDITED}, marked(OUTWARD)),
        ({"local_port": (1000, 1001)}, between_ports(1001, 2000)),
        ({"remote_port": (53, 53)}, between_ports(1000, 53)),
        ({"next_header": (17, 0xFF)}, OUTWARD),
        ({"local": f"{LOCAL}/128"}, OUTWARD),
        ({"remote": f"{REMOTE}/64", "dscp": EXPEDITED}, marked(OUTWARD)),
    ],
    ids=["DSCP", "our ports", "its port", "protocol", "host", "peer and DSCP"],
)
def test_a_flow_takes_its_own_path(make: Make, match: dict[str, Any], packet: bytes) -> None:
    switch = make(Session(mode=PREFER))
    switch.police(**match)
    assert switch.sends(1, packet) == 2


@pytest.mark.parametrize(
    ("match", "packet"),
    [
        ({"dscp": EXPEDITED}, OUTWARD),
        ({"dscp": EXPEDITED}, marked(OUTWARD, EXPEDITED ^ 1)),
        ({"local_port": (1001, 1001)}, between_ports(1000, 1001)),
        ({"next_header": (6, 0xFF)}, OUTWARD),
        ({"remote": f"{LOCAL}/128"}, OUTWARD),
    ],
    ids=["no DSCP", "another DSCP", "another port", "another protocol", "another peer"],
)
def test_others_take_that_of_the_session(make: Make, match: dict[str, Any], packet: bytes) -> None:
    switch = make(Session(mode=PREFER))
    switch.police(**match)
    assert switch.sends(1, packet) == 0


def test_both_paths_are_taken_at_once(make: Make) -> None:
    switch = make(Session(mode=PREFER), BACKUP)
    switch.police(dscp=EXPEDITED)
    sent = [switch.sends(time, packet) for time in range(1, 9, 2) for packet in (OUTWARD, marked(OUTWARD))]
    assert sent == [0, 2] * 4


def test_the_first_policy_that_matches_counts(make: Make) -> None:
    switch = make(Session(mode=PREFER))
    switch.police(dscp=EXPEDITED)
    switch.police(number=2, priority=11, remote_port=(2000, 2000))
    assert switch.sends(1, marked(OUTWARD)) == 0
    assert switch.sends(2, marked(between_ports(1000, 2001))) == 2


def test_a_session_without_the_mode_has_none(make: Make) -> None:
    switch = make(Session())
    switch.police(dscp=EXPEDITED)
    assert switch.sends(1, marked(OUTWARD)) == 0


def test_a_high_number_is_no_hindrance(make: Make) -> None:
    switch = make(Session(number=200_000, mode=PREFER))
    switch.police(dscp=EXPEDITED)
    assert [switch.sends(1, OUTWARD), switch.sends(2, marked(OUTWARD))] == [0, 2]


def test_what_it_sends_in_vain_is_not_said_of_the_sessions_path(make: Make) -> None:
    switch = make(Session(mode=PREFER | HOLD), BACKUP)
    switch.police(dscp=EXPEDITED)
    for time in range(1, 3 * SEND_TIMEOUT, SEND_TIMEOUT // 7):
        outputs = switch.at(time, 1, bytes.fromhex("02990000000a 020000000001 86dd") + marked(OUTWARD))
        assert CPU not in dict(outputs)
    assert switch.sends(4 * SEND_TIMEOUT) == 0
    assert LEFT_PATH not in {each.kind for each in switch.session_events()}


def test_there_is_traffic_though_nothing_else_is_sent(make: Make) -> None:
    switch = make(Session(mode=PREFER), BACKUP)
    switch.police(dscp=EXPEDITED)
    for time in range(1, 4 * SEND_TIMEOUT, SEND_TIMEOUT // 7):
        assert switch.sends(time, marked(OUTWARD)) == 2
    assert switch.session_events() == [event(WATCH, 0)] * 2
    switch.checks(4 * SEND_TIMEOUT)
    switch.sends(1 + 4 * SEND_TIMEOUT, marked(OUTWARD))
    assert switch.session_events() == [event(WATCH, 0)]


def test_a_host_that_sends_it_is_not_silent(make: Make) -> None:
    switch = make(Session(mode=PREFER))
    switch.police(dscp=EXPEDITED)
    switch.hears(1)
    switch.sends(2, marked(OUTWARD))
    assert switch.keeps(SEND_TIMEOUT, 5) == []


def test_nobody_is_followed_by_it(make: Make) -> None:
    switch = make(Session(mode=PREFER | FOLLOW))
    switch.police(dscp=EXPEDITED)
    for time in range(1, 3 * SEND_TIMEOUT, SEND_TIMEOUT // 3):
        switch.hears(time, 0)
        switch.hears(time + 1, 2, marked(INWARD))
    assert FOLLOWED not in {each.kind for each in switch.session_events()}
    assert switch.sends(4 * SEND_TIMEOUT) == 0
    # The session itself is, as ever.
    switch.hears(5 * SEND_TIMEOUT, 1)
    assert event(FOLLOWED, 0, 1, age=SEND_TIMEOUT) in switch.session_events()


def test_the_peers_ports_are_the_other_way_round(make: Make) -> None:
    switch = make(Session(mode=PREFER | FOLLOW))
    switch.police(local_port=(1000, 1000), remote_port=(53, 53))
    for time in range(1, 3 * SEND_TIMEOUT, SEND_TIMEOUT // 3):
        switch.hears(time, 0)
        switch.hears(time + 1, 2, between_ports(53, 1000, outward=False))
    assert FOLLOWED not in {each.kind for each in switch.session_events()}


def test_nobody_is_followed_by_it_either_where_it_has_no_path_of_its_own_here(make: Make) -> None:
    switch = make(Session(mode=PREFER | FOLLOW))
    switch.police(number=2, dscp=EXPEDITED)
    switch.hears(1, 0)
    switch.hears(2 * SEND_TIMEOUT, 2, marked(INWARD))
    assert FOLLOWED not in {each.kind for each in switch.session_events()}
    assert switch.sends(3 * SEND_TIMEOUT, marked(OUTWARD)) == 0


def test_a_flow_that_goes_as_its_session_does_is_watched_as_it(make: Make) -> None:
    switch = make(Session(path=2, mode=PREFER), Session().backup(2, 1))
    switch.police(dscp=EXPEDITED)
    assert switch.sends(1, marked(OUTWARD)) == 2
    switch.sends(1 + SEND_TIMEOUT, marked(OUTWARD))
    assert event(LEFT_PATH, 2, 1, SEND_TIMEOUT) in switch.session_events()


def test_what_is_heard_by_it_is_an_answer_and_reported_seldom(make: Make) -> None:
    switch = make(Session(mode=PREFER | REPORT), BACKUP)
    switch.police(dscp=EXPEDITED)
    switch.sends(1)
    for time in range(2, 2002, 10):
        switch.hears(time, 2, marked(INWARD))
    assert [each.kind for each in switch.session_events()].count(HEARD) == 1
    assert switch.sends(1 + SEND_TIMEOUT) == 0
