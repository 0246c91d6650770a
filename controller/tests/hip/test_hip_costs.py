"""What nobody proved yet costs little: keys that are dear, I2s by the hundred, answers longer than questions."""

from __future__ import annotations

from dataclasses import replace
from ipaddress import IPv6Address

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from hip.keys import ecdsa, rsa_identity
from hip.network import A1, ALICE, B1, BOB, Network, anybody, message_of
from hip.test_hip_attacks import at_i2, place, spoilt

from wayname.hip.admission_control import CHECKS, LONGER, TRIES, TRIES_IN_ALL
from wayname.hip.association import Names
from wayname.hip.errors import MessageError, NoProposalError
from wayname.hip.groups import KeyPair
from wayname.hip.identities import identity_of, public_key
from wayname.hip.messages import Kind, Message, encode, with_checksum
from wayname.hip.outputs import Send
from wayname.hip.parameters import DhGroupList, HostId, Solution
from wayname.hip.puzzles import LIFETIME, MOST_SPENT, Asked, is_solved
from wayname.hip.puzzles import TRIES as TRIES_OF_PUZZLE
from wayname.hip.suites import Algorithm
from wayname.identity.rsa_limits import MOST_BITS, MOST_EXPONENT
from wayname.session.keys import Pair
from wayname.wire.ipv6 import HIP, Packet

ELSEWHERE = IPv6Address("2001:db8:77::1")


def rsa_host(exponent: int, modulus: int) -> HostId:
    """Return an identity with any numbers for its key."""
    e, n = (one.to_bytes((one.bit_length() + 7) // 8) for one in (exponent, modulus))
    length = bytes([len(e)]) if len(e) < 256 else b"\0" + len(e).to_bytes(2)
    return HostId(Algorithm.RSA, length + e + n)


@pytest.mark.parametrize("exponent", [3, 17, 65537])
def test_keys_of_the_usual_exponents_are_taken(exponent: int) -> None:
    public_key(rsa_host(exponent, (1 << 2047) + 1))


@pytest.mark.parametrize(
    ("exponent", "modulus", "why"),
    [
        ((1 << 3071) + 1, (1 << 3071) + 1, "an exponent of 3072 bits"),
        (MOST_EXPONENT + 2, (1 << 2047) + 1, "an exponent of 17 bits"),
        (65536, (1 << 2047) + 1, "an exponent of 17 bits"),
        (1, (1 << 2047) + 1, "an exponent of 1 bits"),
        (65537, (1 << MOST_BITS) + 1, "a modulus of 4097 bits"),
        (65537, 1 << 2047, "a modulus of 2048 bits"),
        (65537, (1 << 2046) + 1, "a modulus of 2047 bits"),
    ],
)
def test_keys_whose_signatures_are_dear_to_check_are_refused_before_any_arithmetic(
    exponent: int, modulus: int, why: str
) -> None:
    with pytest.raises(MessageError, match=why):
        public_key(rsa_host(exponent, modulus))


@pytest.mark.parametrize("octets", [b"", b"\0", b"\3", b"\0\1", b"\1\3", b"\0\0\1\3"])
def test_keys_without_numbers_are_refused(octets: bytes) -> None:
    with pytest.raises(MessageError):
        public_key(HostId(Algorithm.RSA, octets))


def test_nobody_gets_an_identity_that_peers_would_refuse() -> None:
    key = rsa_identity().key
    assert isinstance(key, rsa.RSAPrivateKey)
    with pytest.raises(NoProposalError, match="an exponent of 32 bits"):
        identity_of(with_exponent(key, (1 << 32) - 5))


def with_exponent(key: rsa.RSAPrivateKey, exponent: int) -> rsa.RSAPrivateKey:
    """Return a key of the same modulus with another exponent."""
    numbers = key.private_numbers()
    p, q = numbers.p, numbers.q
    d = pow(exponent, -1, (p - 1) * (q - 1))
    public = rsa.RSAPublicNumbers(exponent, numbers.public_numbers.n)
    by_factor = rsa.rsa_crt_dmp1(d, p), rsa.rsa_crt_dmq1(d, q)
    return rsa.RSAPrivateNumbers(p, q, d, *by_factor, numbers.iqmp, public).private_key()


def count_dear(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list that grows with each Diffie-Hellman value that is computed."""
    dear: list[int] = []
    shared_with = KeyPair.shared_with

    def counted(self: KeyPair, public: bytes) -> bytes:
        dear.append(1)
        return shared_with(self, public)

    monkeypatch.setattr(KeyPair, "shared_with", counted)
    return dear


def with_solution(packet: Packet, solution: bytes) -> Packet:
    """Return an I2 with another J."""
    old = message_of(packet).need(Solution)
    at = place(packet, Solution.number) + 4 + len(old.random)
    octets = packet.payload[:at] + solution + packet.payload[at + len(solution) :]
    return replace(packet, payload=with_checksum(octets, packet.source, packet.destination))


def test_a_puzzle_with_many_solutions_buys_no_more_tries_than_one(monkeypatch: pytest.MonkeyPatch) -> None:
    network = Network()
    i2 = at_i2(network)
    asked, was = Asked(ALICE.hit, BOB.hit, A1, B1), message_of(i2).need(Solution)
    solved = [
        octets
        for octets in (number.to_bytes(len(was.random)) for number in range(300))
        if is_solved(asked, was.difficulty, was.random, octets)
    ]
    assert len(solved) > 50
    dear = count_dear(monkeypatch)
    for octets in solved:
        network.b.endpoint.receive(with_solution(i2, octets), network.now)
    assert len(dear) == 4


def solved_i2(network: Network, template: Packet, source: IPv6Address) -> Packet:
    """Return an I2 from an address that solved a puzzle of its own; nothing else in it is right."""
    asked = Asked(ALICE.hit, BOB.hit, source, B1)
    puzzle = network.b.endpoint._exchange._puzzles.make(asked, 1, network.now)
    number = next(n for n in range(100) if is_solved(asked, 1, puzzle.random, n.to_bytes(48)))
    solution = Solution(1, puzzle.opaque, puzzle.random, number.to_bytes(48))
    message = message_of(template)
    parameters = (solution if isinstance(one, Solution) else one for one in message.parameters)
    octets = encode(replace(message, parameters=tuple(parameters)))
    return Packet(source, B1, HIP, with_checksum(octets, source, B1))


def test_i2s_of_one_prefix_are_looked_at_at_a_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    network = Network()
    template = at_i2(network)
    dear = count_dear(monkeypatch)
    for number in range(100):
        i2 = solved_i2(network, template, IPv6Address(int(ELSEWHERE) + number))
        for _ in range(2):
            network.b.endpoint.receive(i2, network.now)
    assert len(dear) == TRIES.burst
    # Others are looked at all the same.
    network.drive(1.0)
    assert network.association(network.b).transport is not None


def test_i2s_of_all_prefixes_are_looked_at_at_a_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    network = Network(policies=(anybody, only_alice))
    template = at_i2(network)
    dear = count_dear(monkeypatch)
    for number in range(250):
        i2 = solved_i2(network, template, IPv6Address(int(ELSEWHERE) + (number << 80)))
        network.b.endpoint.receive(i2, network.now)
    assert len(dear) == TRIES_IN_ALL.burst
    # Strangers take nothing from a peer that is wanted.
    network.drive(1.0)
    assert network.association(network.b).transport is not None


def only_alice(names: Names, pair: Pair) -> str | None:
    """Want one peer alone."""
    return None if (names.peer, pair.peer) == (ALICE.hit, A1) else "nobody knows it"


def test_strangers_leave_the_rations_of_wanted_peers_alone() -> None:
    network = Network(policies=(anybody, only_alice))
    stranger = IPv6Address(int(A1) + 5)
    for number in range(2000):
        i1 = encode(Message(Kind.I1, IPv6Address(int(ecdsa(3).hit) ^ number), BOB.hit, (DhGroupList((8,)),)))
        network.b.endpoint.receive(Packet(stranger, B1, HIP, with_checksum(i1, stranger, B1)), network.now)
    sent = sum(len(one.packet.payload) for one in network.b.endpoint.take_outputs() if isinstance(one, Send))
    assert sent < 2 * LONGER.burst
    # Under load less goes out than came in.
    assert sent < 2000 * len(i1)
    network.connect(network.a)
    network.drive(0.5)
    assert network.association(network.b).transport is not None


def test_forged_r1s_are_read_at_a_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    network = Network()
    network.connect(network.a)
    network.step()
    r1 = network.under_way.pop()[1]
    read: list[int] = []
    monkeypatch.setattr("wayname.hip.exchange.Exchange.check_r1", lambda *_: read.append(1))
    monkeypatch.setattr("wayname.hip.exchange.Exchange.i2", _refuse)
    for _ in range(500):
        network.a.endpoint.receive(spoilt(r1, place(r1, DhGroupList.number)), network.now)
    assert len(read) == CHECKS.burst


def _refuse(*_: object) -> None:
    raise MessageError("not this one")


def test_what_all_may_try_fits_into_what_is_remembered_of_puzzles() -> None:
    classes, periods = 2, 2
    exchanges = classes * (TRIES_IN_ALL.per_second * periods * LIFETIME + TRIES_IN_ALL.burst)
    assert exchanges * TRIES_OF_PUZZLE <= MOST_SPENT
