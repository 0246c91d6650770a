"""Two edges of a fleet whose directory is a dictionary here: contexts without an exchange, and when there is one."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from ipaddress import IPv6Address

import pytest
from fuzz.mutation import mutated
from sessions.pair import PairOf, Side, configuration

from wayname.edge.boundary import FindHost, HostFound, Output, PublishHost
from wayname.session.keys import Pair as LocatorPair
from wayname.shim6.edge import fleet_contexts
from wayname.shim6.edge.fleet_contexts import FleetContexts
from wayname.shim6.host_record import KEY_OCTETS, ULID_OCTETS
from wayname.wire.ipv6 import SHIM6, Packet
from wayname.wire.shim6.messages import Keepalive, MessageType, encode
from wayname.wire.shim6.payload import PayloadHeader

FLEET = '\n[fleet]\nendpoints = ["127.0.0.1:2379"]\nsealing_key = "none.key"\nedge = "edge"\n'
SET_UP = {kind.name for kind in MessageType if kind < MessageType.UPDATE_REQUEST}
TCP = 6


@dataclass
class Member(Side):
    """An edge of a fleet, or of none."""

    directory: dict[IPv6Address, bytes] = field(default_factory=dict)
    is_member: bool = True
    questions: list[FindHost] = field(default_factory=list)

    def configuration(self) -> tuple[str, IPv6Address]:
        """Return the site's configuration, and the address of its host."""
        text, host = configuration(self.site, self.more, self.uplinks)
        return text + FLEET * self.is_member, host

    def take(self, output: Output) -> None:
        """Publish, and take note of questions."""
        match output:
            case PublishHost(address, None):
                self.directory.pop(address, None)
            case PublishHost(address, bytes() as octets):
                self.directory[address] = octets
            case FindHost():
                self.questions.append(output)

    @property
    def fleet(self) -> FleetContexts:
        """Its part in the fleet."""
        assert self.sessions is not None and self.sessions.fleet is not None
        return self.sessions.fleet


class FleetPair(PairOf[Member]):
    """Two edges, the directory of their fleet, and what a test makes of its answers."""

    def __init__(self, more: str = "", *, b_is_member: bool = True) -> None:
        self.directory: dict[IPv6Address, bytes] = {}
        self.answers: Callable[[FindHost], HostFound | None] = self.found
        super().__init__(
            Member(1, more, directory=self.directory),
            Member(2, more, directory=self.directory, is_member=b_is_member),
        )

    def found(self, question: FindHost) -> HostFound:
        """Return what the directory has."""
        octets = self.directory.get(question.address)
        return HostFound(question, octets, "" if octets else "absent")

    def collect(self, side: Member) -> None:
        """Carry out what a side says, and answer what it asks."""
        super().collect(side)
        while side.questions:
            answer = self.answers(side.questions.pop(0))
            if answer is not None and side.sessions is not None:
                side.sessions.host_found(answer, self.now)
                super().collect(side)

    def messages_of_set_up(self, seconds: float = 5.0) -> list[str]:
        """Go on for some time; return the messages of the set-up of contexts that passed."""
        return [what for what in self.drive(seconds) if what in SET_UP]

    def say_of_b(self, octets: bytes) -> None:
        """Have the directory say something else at the addresses of b's host."""
        for address, before in self.directory.items():
            if before[KEY_OCTETS:].startswith(self.b.host.packed):
                self.directory[address] = octets


def counts(side: Member) -> dict[str, int]:
    """Return what came of a side's questions."""
    return dict(side.fleet.results)


@pytest.mark.parametrize("b", [False, True])
def test_hosts_of_a_fleet_get_a_session_without_an_exchange(b: bool) -> None:
    pair = FleetPair()
    assert len(pair.directory) == 4
    pair.talk(a=True, b=b)
    assert pair.messages_of_set_up() == []
    assert pair.agrees()
    assert pair.a.kinds().count("session.up") == pair.b.kinds().count("session.up") == 1
    assert (pair.a.only.tag, pair.a.only.peer_tag) == (pair.b.only.peer_tag, pair.b.only.tag)
    assert pair.a.only.tag != pair.b.only.tag
    assert set(pair.a.only.paths.values()) == {LocatorPair(*reversed(each)) for each in pair.b.only.paths.values()}
    assert counts(pair.a) == counts(pair.b) == {"agreed": 1}


def test_a_restarted_controller_derives_other_tags() -> None:
    pair = FleetPair()
    pair.talk()
    pair.drive()
    first = pair.a.only.tag
    for side in (pair.a, pair.b):
        side.memory.clear()
        side.held.clear()
    pair.under_way.clear()
    for side in (pair.a, pair.b):
        pair.restart(side)
    pair.talk()
    assert pair.messages_of_set_up() == []
    assert pair.agrees() and pair.a.only.tag != first


def test_a_peer_of_no_fleet_is_asked_by_messages() -> None:
    pair = FleetPair(b_is_member=False)
    pair.talk()
    assert pair.messages_of_set_up()[:4] == ["I1", "R1", "I2", "R2"]
    assert pair.agrees()
    assert counts(pair.a) == {"absent": 1}


@pytest.mark.parametrize("why", ["no answer", "unpublished", "newer", "too long"])
def test_without_an_answer_of_use_there_is_an_exchange(why: str) -> None:
    pair = FleetPair()
    line = "wayname/directory/20 in etcd has form 2" if why == "newer" else ""
    pair.answers = lambda question: HostFound(question, None, why, line)
    pair.talk()
    assert pair.messages_of_set_up()[:4] == ["I1", "R1", "I2", "R2"]
    assert pair.agrees()
    assert counts(pair.a)[why] == 1
    told = [event.text for event in pair.a.events if event.kind == "directory.refused"]
    assert told == ([line] if line else [])


def test_where_the_peer_alone_has_no_directory_it_asks_who_sends() -> None:
    pair = FleetPair()
    pair.answers = lambda question: (
        pair.found(question) if question.asked_for == pair.a.host else HostFound(question, None, "no answer")
    )
    pair.talk()
    assert pair.messages_of_set_up()[:3] == ["R1BIS", "I2BIS", "R2"]
    assert pair.agrees()
    assert counts(pair.a) == {"agreed": 1}


def test_edges_that_read_different_records_find_out() -> None:
    pair = FleetPair()
    old = dict(pair.directory)
    pair.restart(pair.a)
    # Edge b reads what a's controller before this one told.
    pair.answers = lambda question: (
        pair.found(question) if question.asked_for == pair.a.host else HostFound(question, old[question.address])
    )
    pair.talk()
    assert pair.messages_of_set_up()[:3] == ["R1BIS", "I2BIS", "R2"]
    assert pair.agrees()
    assert counts(pair.b)["other tag"] == 1


def test_who_publishes_anothers_host_gets_none_of_its_packets() -> None:
    """Another edge says that b's host is at an address of its own, with b's proof or with none."""
    pair = FleetPair()
    stolen, theirs = pair.b.host, IPv6Address("2001:db8:666:10::1")
    genuine = pair.directory[stolen]
    own_locator = genuine.replace(max(pair.directory.keys() - {stolen}).packed, theirs.packed)
    assert own_locator != genuine
    for forged in (
        own_locator,
        genuine[: KEY_OCTETS + ULID_OCTETS],
        genuine[:20],
        bytes(KEY_OCTETS) + genuine[KEY_OCTETS:],
    ):
        pair = FleetPair()
        pair.say_of_b(forged)
        pair.talk()
        assert pair.messages_of_set_up()[:4] == ["I1", "R1", "I2", "R2"]
        assert pair.agrees()
        assert counts(pair.a)["unproven"] >= 1
        assert "directory.refused" in pair.a.kinds()
        assert theirs not in {each.peer for each in pair.a.only.paths.values()}


def test_who_publishes_anothers_host_under_a_key_of_its_own_has_no_session_with_it() -> None:
    """The locators are proved, and the key is not the edge's: packets go to the host, whose edge knows better."""
    pair, thief = FleetPair(), FleetPair()
    pair.say_of_b(thief.a.fleet._tags.public_key + pair.directory[pair.b.host][KEY_OCTETS:])
    pair.talk()
    assert pair.messages_of_set_up()[:3] == ["R1BIS", "I2BIS", "R2"]
    assert pair.agrees()


def test_whatever_the_directory_says_nobody_else_gets_packets() -> None:
    rng = random.Random(21)
    genuine = FleetPair()
    locators = {at for at, octets in genuine.directory.items() if octets[KEY_OCTETS:].startswith(genuine.b.host.packed)}
    records = list(genuine.directory.values())
    for _ in range(60):
        pair = FleetPair()
        pair.say_of_b(mutated(records, rng))
        pair.talk()
        assert all(each.peer in locators for session in pair.a.sessions or () for each in session.paths.values())
    assert len(locators) == 2


def test_a_record_of_somebody_else_at_an_address_is_refused() -> None:
    pair = FleetPair()
    pair.directory[pair.b.host] = pair.directory[pair.a.host]
    pair.talk()
    assert pair.messages_of_set_up()[:4] == ["I1", "R1", "I2", "R2"]
    assert counts(pair.a)["unproven"] == 1


def test_tags_of_strangers_are_answered_as_ever() -> None:
    pair = FleetPair()
    assert pair.b.sessions is not None
    for octets in (encode(Keepalive(7)), PayloadHeader(TCP, 7).encode() + bytes(20)):
        pair.b.sessions.packet(Packet(pair.a.host, pair.b.host, SHIM6, octets), pair.now)
        pair.collect(pair.b)
        assert [what for what in pair.drive() if what in SET_UP] == ["R1BIS"]
        assert not list(pair.b.sessions)
    assert counts(pair.b) == {"other tag": 2}


def test_strangers_make_no_more_questions_than_there_is_room_for() -> None:
    pair = FleetPair()
    pair.answers = lambda question: None
    sessions = pair.b.sessions
    assert sessions is not None
    for number in range(2 * fleet_contexts.MOST_QUESTIONS):
        # Each from a site of its own, so that the limit of all counts.
        source = IPv6Address(0x20010DB8_0000 + number << 80 | 1)
        for _ in range(2 * fleet_contexts.MOST_WAITING):
            sessions.packet(Packet(source, pair.b.host, SHIM6, encode(Keepalive(number))), pair.now)
    waiting = pair.b.fleet._waiting
    assert len(waiting) <= fleet_contexts.MOST_QUESTIONS
    assert max(map(len, waiting.values())) == fleet_contexts.MOST_WAITING
    assert counts(pair.b)["too many"] > 0
    # A peer for which there is no room is asked by messages.
    pair.collect(pair.b)
    pair.under_way.clear()
    pair.talk(a=False, b=True)
    assert pair.messages_of_set_up()[:1] == ["I1"]


def test_without_security_nothing_is_published() -> None:
    pair = FleetPair('security = "none"')
    assert pair.directory == {}
    pair.talk()
    assert pair.messages_of_set_up()[:4] == ["I1", "R1", "I2", "R2"]


def test_a_controller_that_ends_while_it_asks_leaves_the_session_to_the_next() -> None:
    pair = FleetPair()
    pair.answers = lambda question: None
    pair.talk()
    pair.kill(pair.a)
    pair.answers = pair.found
    pair.restart(pair.a)
    assert pair.messages_of_set_up() == []
    assert pair.agrees()
