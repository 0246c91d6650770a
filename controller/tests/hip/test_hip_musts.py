"""What RFC 7401 says that an end must do, where no other test has it; each test names the section."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hip.keys import ecdsa, eddsa
from hip.network import A1, ALICE, B1, BOB, Network, message_of
from hip.test_hip_exchange import EXCHANGE

from wayname.hip.errors import MessageError
from wayname.hip.identities import Identity
from wayname.hip.messages import Kind, Message, decode, encode, with_checksum
from wayname.hip.parameters import DhGroupList, R1Counter
from wayname.hip.puzzles import TRIES_A_SECOND, Asked, Puzzles, solve
from wayname.hip.states import State

ASKED = Asked(ALICE.hit, BOB.hit, A1, B1)


def test_an_i2_of_a_suite_that_is_not_known_is_dropped_without_a_word(monkeypatch: pytest.MonkeyPatch) -> None:
    # Section 6.9, step 3. A word would be signed, once for each time that a solved puzzle comes again.
    network = Network(identities=(eddsa(1), BOB))
    network.connect(network.a)
    network.drive(0.0)
    monkeypatch.setattr("wayname.hip.exchange.KNOWN_SUITES", (1, 2))
    network.drive(0.9)
    assert len(network.b.endpoint.associations) == 0
    assert "the suite of" in network.b.events()[0]
    assert network.a.events() == []


def test_no_puzzle_is_tried_for_longer_than_it_lives() -> None:
    # Section 6.8, step 12.
    made = Puzzles(random.Random(1)).make(ASKED, 16, 0.0)
    for lifetime in (0, 16, 24):
        with pytest.raises(MessageError, match="not solved as long as it lives"):
            solve(replace(made, lifetime=lifetime), ASKED, random.Random(2), 18)
    assert TRIES_A_SECOND << 3 > 1 << 18
    for lifetime in (38, 255):
        assert solve(replace(made, lifetime=lifetime), ASKED, random.Random(2), 18).difficulty == 16


def test_a_puzzle_that_was_not_solved_is_asked_for_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    # Section 6.8, step 12: then I1 is sent again.
    network = Network()
    monkeypatch.setattr("wayname.hip.puzzles.LIFETIME_ON_THE_WIRE", 0)
    monkeypatch.setattr("wayname.hip.r1_pool.LIFETIME_ON_THE_WIRE", 0)
    network.connect(network.a)
    network.drive(0.9)
    assert network.association(network.a).state is State.I1_SENT
    monkeypatch.undo()
    network.restart(network.b)
    assert network.drive(1.0) == EXCHANGE
    assert network.association(network.a).state is State.ESTABLISHED


@pytest.mark.parametrize(("place", "bits"), [(2, 0x80), (3, 0x0E), (3, 0x01), (6, 0xFF), (7, 0xFE)])
def test_bits_that_are_reserved_are_not_looked_at(place: int, bits: int) -> None:
    # Sections 5.1 and 5.1.2; the fixed bits are those that Shim6 has, whose packets have a number of their own.
    sent = Message(Kind.I1, ALICE.hit, BOB.hit, (DhGroupList((9, 8)),))
    octets = bytearray(encode(sent))
    octets[place] ^= bits
    assert decode(with_checksum(bytes(octets), A1, B1), A1, B1) == sent


def test_the_counter_of_r1_comes_back_as_it_was() -> None:
    # Section 5.2.3: what is reserved too.
    contents = bytes.fromhex("0badcafe0000000000000007")
    assert R1Counter.of(contents).contents() == contents
    network = Network()
    network.connect(network.a)
    network.step()
    r1 = message_of(network.under_way[0][1])
    network.step()
    assert message_of(network.under_way[0][1]).need(R1Counter) == r1.need(R1Counter)


@pytest.mark.parametrize("responder", [ecdsa(2), eddsa(2)])
def test_no_number_of_a_puzzle_can_be_guessed_or_chosen(responder: Identity) -> None:
    # Section 4.1.1: neither by whoever asked before, nor by one who asks as somebody else or from elsewhere.
    asked = [
        Asked(ALICE.hit, responder.hit, A1, B1),
        Asked(ecdsa(3).hit, responder.hit, A1, B1),
        Asked(ALICE.hit, responder.hit, B1, B1),
    ]
    one, two = Puzzles(random.Random(1)), Puzzles(random.Random(2))
    numbers = [puzzles.make(each, bits, 0.0).random for puzzles in (one, two) for each in asked for bits in (1, 2)]
    assert len(set(numbers)) == len(numbers)
    # Nor by whoever asks once more, at once or under another secret.
    assert len({numbers[0], one.make(asked[0], 1, 0.0).random, one.make(asked[0], 1, 1000.0).random}) == 3
