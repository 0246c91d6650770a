"""Sessions of ESP are watched, moved and scheduled as any: by what passes, though nobody here can read it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from carriers import hop_less, ipv6
from esp_site import (
    ESP_SESSION,
    INWARD,
    LOCATORS,
    OUR_HIT,
    OUTWARD,
    PEERS_HIT,
    PORTS,
    EspSession,
    came_by,
    esp,
    sent_by,
)
from schedule_site import SCHEDULE, PathOf, Schedule
from session_site import FOLLOW, HOLD, LOCAL, REPORT, SEND_TIMEOUT, from_host, in_by, out_by, to_host
from session_switch import FOLLOWED, HEARD, LEFT_PATH, UNANSWERED, WATCH, SessionEvent, SessionSwitch
from shim6_layers import NO_NEXT_HEADER

from small_site import CPU, PACKET_IN_BYTES, PUNT


class EspSwitch(SessionSwitch):
    """The embedded switch with one session of a host that encrypts."""

    def sends(self, time: int, packet: bytes = OUTWARD) -> int:
        (sent,) = [output for output in self.at(time, 1, bytes(from_host(packet))) if output[0] != CPU]
        left = {(PORTS[path], bytes(out_by(PORTS[path], hop_less(sent_by(path, packet))))): path for path in LOCATORS}
        return left[sent]

    def comes(self, time: int, path: int = 0) -> None:
        came = came_by(path, INWARD)
        outputs = self.at(time, PORTS[path], bytes(in_by(PORTS[path], came)))
        assert outputs == [(1, bytes(to_host(hop_less(came))))]

    def asked(self, time: int) -> None:
        assert self.asks(time, "CHECK", ipv6(NO_NEXT_HEADER, b"", OUR_HIT, PEERS_HIT)) == []


Make = Callable[..., EspSwitch]
WATCHED = EspSession(send_timeout=SEND_TIMEOUT)
BACKUP = WATCHED.backup()


@pytest.fixture(params=["jit", "interpreter"])
def make(request: pytest.FixtureRequest) -> Make:
    return lambda session, *more: EspSwitch(session, *more, backend=request.param)


def event(kind: int, path_from: int = 0, path_to: int | None = None, age: int = 0) -> SessionEvent:
    return SessionEvent(kind, ESP_SESSION, path_from, path_from if path_to is None else path_to, age)


def test_the_packet_that_finds_the_path_failed_leaves_by_the_backup(make: Make) -> None:
    switch = make(WATCHED, BACKUP)
    assert switch.sends(1) == 0
    assert switch.session_events() == [event(WATCH)]
    assert switch.sends(SEND_TIMEOUT) == 0
    assert switch.sends(1 + SEND_TIMEOUT) == 1
    assert switch.session_events() == [event(LEFT_PATH, 0, 1, SEND_TIMEOUT)]
    switch.comes(2 + SEND_TIMEOUT, 1)
    assert switch.sends(3 + SEND_TIMEOUT) == 1


def test_what_comes_answers(make: Make) -> None:
    switch = make(WATCHED, BACKUP)
    for time in range(0, 10 * SEND_TIMEOUT, SEND_TIMEOUT // 2):
        assert switch.sends(time) == 0
        switch.comes(time + 1)


def test_strangers_do_not_answer(make: Make) -> None:
    switch = make(WATCHED, BACKUP)
    switch.sends(1)
    forged = esp("2001:db8:bad::1", LOCAL, int.from_bytes(INWARD[40:44]))
    assert switch.at(2, 4, bytes(in_by(4, forged))) == []
    assert switch.sends(1 + SEND_TIMEOUT) == 1


def test_a_check_between_the_hits_moves_it_too(make: Make) -> None:
    switch = make(WATCHED, BACKUP)
    switch.sends(1)
    switch.session_events()
    switch.asked(1 + SEND_TIMEOUT)
    assert switch.session_events() == [event(LEFT_PATH, 0, 1, SEND_TIMEOUT)]
    assert switch.sends(2 + SEND_TIMEOUT) == 1


def test_without_a_backup_the_controller_is_told(make: Make) -> None:
    switch = make(WATCHED)
    switch.sends(1)
    switch.session_events()
    assert switch.sends(1 + SEND_TIMEOUT) == 0
    assert switch.session_events() == [event(UNANSWERED, age=SEND_TIMEOUT)]


def test_it_follows_the_peer(make: Make) -> None:
    switch = make(EspSession(send_timeout=SEND_TIMEOUT, mode=FOLLOW | REPORT))
    assert switch.sends(1) == 0
    switch.comes(2)
    assert switch.session_events() == [event(WATCH), event(HEARD)]
    switch.comes(SEND_TIMEOUT * 2, 1)
    assert switch.session_events() == [event(FOLLOWED, 0, 1)]
    assert switch.sends(SEND_TIMEOUT * 2 + 1) == 1


def test_what_is_unanswered_is_held_as_the_host_sent_it(make: Make) -> None:
    switch = make(EspSession(send_timeout=SEND_TIMEOUT, mode=HOLD))
    switch.sends(1)
    outputs = switch.at(1 + SEND_TIMEOUT // 2, 1, bytes(from_host(OUTWARD)))
    (held,) = [frame for port, frame in outputs if port == CPU]
    assert held[0] == PUNT["PUNT_SESSION_HELD"]
    assert held[PACKET_IN_BYTES:] == bytes(from_host(OUTWARD))


def test_flows_are_spread_by_their_labels(make: Make) -> None:
    switch = make(EspSession(ecmp_paths=2))
    labelled = [OUTWARD[:2] + label.to_bytes(2) + OUTWARD[4:] for label in range(64)]
    paths = [switch.sends(1, packet) for packet in labelled]
    assert paths == [switch.sends(2, packet) for packet in labelled]
    assert 16 < sum(paths) < 48


def test_packets_are_scheduled_over_both_paths(make: Make) -> None:
    schedule = Schedule([PathOf(1000, 1 << 24)] * 2, policy="weighted_round_robin", session=ESP_SESSION)
    switch = make(EspSession(mode=SCHEDULE), *schedule.entries())
    assert [switch.sends(time) for time in range(6)] == [0, 1, 0, 1, 0, 1]


def test_a_packet_takes_the_path_that_delivers_it_first(make: Make) -> None:
    # The second path is later by what eight packets wait for on the first one.
    octets = len(OUTWARD)
    paths = [PathOf(0, 1 << 24), PathOf(8 * octets, 1 << 24)]
    switch = make(EspSession(mode=SCHEDULE), *Schedule(paths, session=ESP_SESSION).entries())
    sent = [switch.sends(0) for _ in range(12)]
    assert sent[:8] == [0] * 8
    assert set(sent[8:]) == {0, 1}
