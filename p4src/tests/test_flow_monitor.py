"""Pairs of addresses without a session: which are worth one (RFC 5533, section 13), and who began."""

from __future__ import annotations

import itertools
import struct
import zlib
from collections.abc import Callable
from ipaddress import IPv6Address
from pathlib import Path

import pytest
from carriers import ipv6
from finsy.proto import p4r
from ilnp_flows import ACK, RESET, SYN, segment
from keyed_hash import pair_slot
from session_site import HOSTS_PREFIX, LOCAL, REMOTE, Session, from_host, in_by
from session_switch import SessionSwitch
from site_switch import value_of, with_sizes

SECOND = 1_000_000
PEER = "2001:db8:f00::99"
TCP, UDP, FRAGMENT, ICMPV6, SCTP = 6, 17, 44, 58, 132
Make = Callable[..., SessionSwitch]


@pytest.fixture(params=["jit", "interpreter"])
def make(request: pytest.FixtureRequest) -> Make:
    return lambda session, *more: SessionSwitch(session, *more, backend=request.param)


@pytest.mark.parametrize(
    ("octets", "seconds", "enough"),
    [
        pytest.param(2048, 0, (7, 6, 7 * 320), id="2048 octets: the seventh of 320"),
        pytest.param(0, 60, (61, 60, 61 * 320), id="60 seconds"),
        pytest.param(3200, 5, (6, 5, 6 * 320), id="whichever comes first"),
    ],
)
def test_a_pair_that_exchanges_enough_is_told_once(
    make: Make, octets: int, seconds: int, enough: tuple[int, int, int]
) -> None:
    switch = make(Session())
    for table, key in (("endpoint_policy_sources", "source"), ("endpoint_policy_destinations", "destination")):
        switch.add(
            table,
            "proxy",
            {key: HOSTS_PREFIX},
            {"bytes": octets, "time": seconds * SECOND, "protocols": 1},
            p4r.Update.MODIFY,
        )
    peer = PEER
    packet = ipv6(17, bytes(280), LOCAL, peer)
    told = {}
    for number in range(1, 100):
        assert len(switch.at(number * SECOND, 1, bytes(from_host(packet)))) == 1
        assert len(switch.at(number * SECOND, 4, bytes(in_by(4, ipv6(17, bytes(900), peer, LOCAL))))) == 1
        if pairs := switch.pairs():
            told[number] = pairs
    (number, age, sum_) = enough
    assert told == {number: [[value_of(LOCAL), value_of(peer), sum_, age * SECOND, 1]]}
    assert len(switch.at(160 * SECOND, 1, bytes(from_host(packet)))) == 1
    switch.pairs()
    assert len(switch.at(165 * SECOND, 1, bytes(from_host(packet)))) == 1
    assert len(switch.pairs()) == (octets == 3200), "after a quiet minute it begins anew"


def test_pairs_with_a_session_and_those_of_others_are_not_watched(make: Make) -> None:
    switch = make(Session())
    for table, key in (("endpoint_policy_sources", "source"), ("endpoint_policy_destinations", "destination")):
        switch.add(table, "proxy", {key: HOSTS_PREFIX}, {"bytes": 1, "time": 1, "protocols": 1}, p4r.Update.MODIFY)
    switch.sends(1)
    switch.at(2, 1, bytes(from_host(ipv6(17, bytes(280), "2001:db8:99::1", REMOTE))))
    switch.at(3, 1, bytes(from_host(ipv6(17, bytes(280), LOCAL, "2001:db8:1::12"))))
    assert switch.pairs() == []
    switch.at(4, 1, bytes(from_host(ipv6(17, bytes(280), LOCAL, "2001:db8:f00::99"))))
    assert len(switch.pairs()) == 1


def watching(make: Make, octets: int = 1) -> SessionSwitch:
    """Return a switch that tells of a pair with so many octets."""
    switch = make(Session())
    for table, key in (("endpoint_policy_sources", "source"), ("endpoint_policy_destinations", "destination")):
        switch.add(table, "proxy", {key: HOSTS_PREFIX}, {"bytes": octets, "time": 0, "protocols": 1}, p4r.Update.MODIFY)
    return switch


def datagram(source: int, destination: int, length: int = 32) -> bytes:
    """Return UDP, its checksum left out."""
    return struct.pack("!HHHH", source, destination, 8 + length, 0) + bytes(length)


def part(next_header: int, data: bytes, first: bool) -> bytes:
    """Return a part of a packet: its fragment header, and some of the data."""
    return struct.pack("!BBHI", next_header, 0, 1 if first else 8, 7) + data


def message(kind: int) -> bytes:
    """Return an ICMPv6 message, its checksum left out."""
    return bytes([kind, 0, 0, 0]) + bytes(60)


QUESTION, ANSWER = (UDP, datagram(4000, 5001)), (UDP, datagram(5001, 4000, 1200))
ANSWERS = {
    "an echo reply": ((ICMPV6, message(128)), (ICMPV6, message(129))),
    "port unreachable": (QUESTION, (ICMPV6, message(1))),
    "parameter problem": (QUESTION, (ICMPV6, message(4))),
    "a UDP server": (QUESTION, ANSWER),
    "a UDP server, in parts": (QUESTION, (FRAGMENT, part(UDP, ANSWER[1][:64], first=True))),
    "a UDP server, the second part": (QUESTION, (FRAGMENT, part(UDP, bytes(64), first=False))),
    "a UDP server that was asked in parts": ((FRAGMENT, part(UDP, QUESTION[1], first=True)), ANSWER),
    "an open port": ((TCP, segment(SYN, 1)), (TCP, segment(SYN | ACK, 7, 2, mine=True))),
    "a closed port": ((TCP, segment(SYN, 1)), (TCP, segment(RESET | ACK, 0, 2, mine=True))),
    "a reset with data": ((TCP, segment(ACK, 1)), (TCP, segment(RESET, 0, 2, mine=True) + b"no such connection")),
    "a segment out of order": ((TCP, segment(ACK, 1)), (TCP, segment(ACK, 7, 2, mine=True))),
    "another protocol": ((SCTP, datagram(4000, 5001)), (SCTP, datagram(5001, 4000))),
}


@pytest.mark.parametrize("answer", ANSWERS)
def test_hosts_that_answer_begin_nothing(make: Make, answer: str) -> None:
    switch = watching(make)
    (asked, question), (answered, data) = ANSWERS[answer]
    for second in range(0, 100, 20):
        switch.at(second * SECOND, 4, bytes(in_by(4, ipv6(asked, question, PEER, LOCAL))))
        for late in (0, 1, 3, 19):
            answers = ipv6(answered, data, LOCAL, PEER)
            assert len(switch.at((second + late) * SECOND + 1, 1, bytes(from_host(answers)))) == 1
            assert switch.pairs() == []


@pytest.mark.parametrize(
    ("next_header", "data", "opened_here"),
    [
        pytest.param(UDP, datagram(5001, 4000), 1, id="UDP"),
        pytest.param(SCTP, datagram(5001, 4000), 1, id="another protocol"),
        pytest.param(ICMPV6, message(128), 1, id="an echo request"),
        pytest.param(TCP, segment(SYN, 1, mine=True), 1, id="a SYN"),
        pytest.param(TCP, segment(ACK, 1, 1, mine=True) + b"data", 0, id="data, by who has the peer's numbers"),
    ],
)
def test_hosts_that_begin_are_told(make: Make, next_header: int, data: bytes, opened_here: int) -> None:
    switch = watching(make)
    # Others, and other flows of the same two, may have come before.
    switch.at(1, 4, bytes(in_by(4, ipv6(UDP, datagram(4000, 5002), PEER, LOCAL))))
    switch.at(2, 4, bytes(in_by(4, ipv6(UDP, datagram(4000, 5001), REMOTE, LOCAL))))
    packet = ipv6(next_header, data, LOCAL, PEER)
    switch.at(SECOND, 1, bytes(from_host(packet)))
    assert switch.pairs() == [[value_of(LOCAL), value_of(PEER), len(packet), 0, opened_here]]


def test_a_pair_counts_all_that_its_host_sends_once_it_has_begun(make: Make) -> None:
    switch = watching(make)
    for table, key in (("endpoint_policy_sources", "source"), ("endpoint_policy_destinations", "destination")):
        switch.add(table, "proxy", {key: HOSTS_PREFIX}, {"bytes": 200, "time": 0, "protocols": 1}, p4r.Update.MODIFY)
    bare = from_host(ipv6(TCP, segment(ACK, 1, 1, mine=True), LOCAL, PEER))
    data = from_host(ipv6(TCP, segment(ACK, 1, 1, mine=True) + b"data", LOCAL, PEER))
    syn = from_host(ipv6(TCP, segment(SYN, 1, mine=True), LOCAL, PEER))
    sent = [bare, bare, bare, data, bare, syn, bare]
    for number, packet in enumerate(sent):
        assert switch.pairs() == []
        switch.at(number + 1, 1, bytes(packet))
    assert switch.pairs() == [[value_of(LOCAL), value_of(PEER), 64 + 3 * 60 + 0, 3, 1]]


def test_an_answer_is_one_for_a_minute_after_the_last_of_its_flow(make: Make) -> None:
    switch = watching(make)
    answers = bytes(from_host(ipv6(*ANSWER, LOCAL, PEER)))
    switch.at(SECOND, 4, bytes(in_by(4, ipv6(*QUESTION, PEER, LOCAL))))
    switch.at(60 * SECOND, 1, answers)
    switch.at(119 * SECOND, 1, answers)
    assert switch.pairs() == []
    switch.at(180 * SECOND, 1, answers)
    assert len(switch.pairs()) == 1


def test_no_flood_makes_an_answer_a_beginning() -> None:
    switch = watching(lambda session: SessionSwitch(session, backend="jit"))
    switch.at(1, 4, bytes(in_by(4, ipv6(*QUESTION, PEER, LOCAL))))
    forged = bytearray(bytes(in_by(4, ipv6(*QUESTION, "2001:db8:f00::", LOCAL))))
    for number in range(1, 50_000):
        forged[26:30] = number.to_bytes(4)
        switch.at(1 + number, 4, bytes(forged))
    switch.at(SECOND, 1, bytes(from_host(ipv6(*ANSWER, LOCAL, PEER))))
    assert switch.pairs() == []
    # One that begins is seen all the same, but for one in 24.
    begins = [datagram(port, 5001) for port in range(10_000, 10_040)]
    for number, data in enumerate(begins):
        switch.at(SECOND + number + 1, 1, bytes(from_host(ipv6(UDP, data, LOCAL, f"2001:db8:f01::{number + 1:x}"))))
    assert len(switch.pairs()) >= 34


VICTIM = PEER
MONITORED_PAIRS = 65536
NO_NEXT_HEADER = 59


def sends(switch: SessionSwitch, time: int, peer: str | int, octets: int) -> list[list[int]]:
    """The host sends a packet of so many octets; which pairs were told of."""
    packet = ipv6(NO_NEXT_HEADER, bytes(octets - 40), LOCAL, str(IPv6Address(peer)))
    assert len(switch.at(time, 1, bytes(from_host(packet)))) == 1
    return switch.pairs()


def strangers() -> itertools.count[int]:
    """Addresses of a /64 outside that somebody may send pings from, so that the host answers to them."""
    return itertools.count(value_of("2001:db8:f00:bad::1"))


def test_who_computes_crcs_keeps_no_pair_from_being_watched(make: Make) -> None:
    """A packet of 40 octets each 50 seconds, to an address whose pair has the same CRC as the victim's."""
    slot = zlib.crc32(IPv6Address(LOCAL).packed + IPv6Address(VICTIM).packed) % MONITORED_PAIRS
    collides = next(
        each
        for each in strangers()
        if zlib.crc32(IPv6Address(LOCAL).packed + IPv6Address(each).packed) % MONITORED_PAIRS == slot
    )
    switch = watching(make, octets=2048)
    told = []
    for second in range(1, 200):
        if second % 50 == 1:
            told += sends(switch, second * SECOND, collides, 40)
        told += sends(switch, second * SECOND, VICTIM, 320)
    # Once more after two minutes.
    assert [pair[1] for pair in told] == [value_of(VICTIM)] * 2


def test_a_pair_that_goes_on_is_told_again_for_a_controller_that_was_away(make: Make) -> None:
    switch = watching(make, octets=2048)
    told = [second for second in range(1, 300) if sends(switch, second * SECOND, PEER, 320)]
    # The seventh packet of 320 octets makes 2048; two minutes after it began it counts anew.
    assert told == [7, 127, 247]


@pytest.mark.parametrize(("others", "theirs", "is_told"), [(1, 40, True), (9, 40, True), (9, 320, False)])
def test_of_pairs_in_one_slot_the_one_that_sends_most_is_watched(
    make: Make, others: int, theirs: int, is_told: bool
) -> None:
    """Whose slot it is nobody outside can know; here the key is known. The victim's packets have 400 octets."""
    slot = pair_slot(value_of(LOCAL), value_of(VICTIM), MONITORED_PAIRS)
    colliding = (each for each in strangers() if pair_slot(value_of(LOCAL), each, MONITORED_PAIRS) == slot)
    (other,) = itertools.islice(colliding, 1)
    switch = watching(make, octets=4000)
    told = []
    for second in range(1, 60):
        for part in range(others):
            told += sends(switch, second * SECOND + part, other, theirs)
        told += sends(switch, second * SECOND + others, VICTIM, 400)
    assert (value_of(VICTIM) in [pair[1] for pair in told]) == is_told


def test_a_pair_gives_its_slot_up_though_it_has_sent_much(make: Make) -> None:
    """Its lead is bounded, so who sends more is watched after 64 KB at the latest."""
    slot = pair_slot(value_of(LOCAL), value_of(VICTIM), MONITORED_PAIRS)
    other = next(each for each in strangers() if pair_slot(value_of(LOCAL), each, MONITORED_PAIRS) == slot)
    switch = watching(make, octets=10_000)
    for number in range(1, 500):
        sends(switch, number, other, 1400)
    told = [number for number in range(1, 100) if sends(switch, 1000 + number, VICTIM, 1400)]
    assert told == [65536 // 1400 + 1 + 10_000 // 1400]


def test_a_flood_to_many_addresses_starves_no_pair_that_sends_more_into_its_slot(tmp_path: Path) -> None:
    """64 slots; between two packets of the victims the flood sends three into each of them, of 40 octets."""
    program = with_sizes(tmp_path, MONITORED_PAIRS=64)
    switch = watching(lambda session: SessionSwitch(session, program=program), octets=4000)
    victims = [value_of(VICTIM) + number for number in range(4)]
    flood, told = strangers(), set()
    for second in range(1, 60):
        for part, other in zip(range(3 * 64), flood, strict=False):
            sends(switch, second * SECOND + part, other, 40)
        for victim in victims:
            told |= {pair[1] for pair in sends(switch, second * SECOND + 1000, victim, 400)}
    assert told == set(victims)
