"""Associations of hosts with identities of EdDSA, among themselves and with others, on a virtual clock."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hip.keys import ecdsa, eddsa, eddsa448, rsa_identity
from hip.network import A2, Network, anybody, message_of
from hip.test_hip_exchange import EXCHANGE, up

from wayname.hip.association import Esp, Names, Secured, Tags
from wayname.hip.cshake import kmac128
from wayname.hip.identities import Identity
from wayname.hip.messages import Kind, covered, with_checksum
from wayname.hip.parameters import HipMac, HipSignature, HipSignature2, HitSuiteList, HostId, Puzzle
from wayname.hip.proofs import check_mac, check_signature
from wayname.hip.rhash import CSHAKE_128, SHA_256, SHA_384, Rhash
from wayname.hip.settings import Settings
from wayname.hip.states import State
from wayname.hip.suites import hit_of
from wayname.hip.transports import EspTransform
from wayname.wire.ipv6 import Packet

EASY = Settings(least_difficulty=1)
ENCRYPTING = Settings(least_difficulty=1, formats=(EspTransform.number,))
# Who asks, who answers, and the hash of the one who answers.
PAIRS = [
    (eddsa(1), eddsa(2), CSHAKE_128),
    (eddsa(1), eddsa448(2), CSHAKE_128),
    (eddsa448(1), eddsa(2), CSHAKE_128),
    (eddsa(1), ecdsa(2), SHA_384),
    (ecdsa(1), eddsa(2), CSHAKE_128),
    (eddsa(1), rsa_identity(), SHA_256),
    (rsa_identity(), eddsa448(2), CSHAKE_128),
]


def secured(network: Network) -> Secured:
    """Return what A agreed on."""
    agreed = network.association(network.a).secured
    assert agreed is not None
    return agreed


@pytest.mark.parametrize(("one", "two", "rhash"), PAIRS)
def test_keys_are_made_with_the_hash_of_who_answers(one: Identity, two: Identity, rhash: Rhash) -> None:
    network = Network(identities=(one, two))
    network.connect(network.a)
    assert network.drive(1.0) == EXCHANGE
    assert isinstance(up(network.a.take()).standing.transport, Tags)
    assert isinstance(up(network.b.take()).standing.transport, Tags)
    assert secured(network).rhash is rhash
    assert (len(secured(network).outgoing.integrity), len(secured(network).salt)) == (rhash.size, 2 * rhash.size)


@pytest.mark.parametrize(("one", "two", "rhash"), PAIRS)
def test_associations_move_and_get_new_keys_and_end(one: Identity, two: Identity, rhash: Rhash) -> None:
    network = Network(ENCRYPTING, identities=(one, two)).established()
    network.move(network.a, A2)
    assert network.drive(5.0)[0] == "A2 --UPDATE-> B1"
    assert network.association(network.b).peer.current == A2
    before = network.association(network.a).transport
    network.a.endpoint.rekey(network.names, network.now)
    network.collect()
    network.drive(5.0)
    after, theirs = network.association(network.a).transport, network.association(network.b).transport
    assert isinstance(before, Esp) and isinstance(after, Esp) and isinstance(theirs, Esp)
    assert before.outgoing != after.outgoing == theirs.incoming
    assert secured(network).rhash is rhash
    network.a.endpoint.disconnect(network.names, network.now)
    network.collect()
    assert network.drive(5.0)[:2] == ["A2 --CLOSE-> B1", "B1 --CLOSE_ACK-> A2"]
    assert network.a.events() == network.b.events() == []


def message_number(network: Network, number: int) -> Packet:
    """Return the message of this number of an exchange that A begins, before it arrives."""
    network.connect(network.a)
    for _ in range(number):
        network.step()
    [(_, packet)] = network.under_way
    return packet


def test_what_stands_in_the_messages() -> None:
    r1 = message_of(message_number(Network(identities=(eddsa(1), eddsa448(2))), 1))
    assert (r1.kind, r1.need(HostId).algorithm, r1.need(HipSignature2).algorithm) == (Kind.R1, 13, 13)
    assert 5 in r1.need(HitSuiteList).suites and b"\x50" in r1.need(HitSuiteList).contents()
    assert (len(r1.need(Puzzle).random), len(r1.need(HipSignature2).signature)) == (32, 114)
    network = Network(Settings(least_difficulty=1, hides_identity=False), identities=(eddsa(1), eddsa(2)))
    packet = message_number(network, 2)
    i2 = message_of(packet)
    assert (i2.need(HostId), len(i2.need(HipSignature).signature)) == (eddsa(1).host, 64)
    data = covered(packet.payload, HipMac.number)
    assert i2.need(HipMac).data == kmac128(secured(network).outgoing.integrity)(data, 32)


@pytest.mark.parametrize("asks", [True, False])
def test_an_identity_that_anybody_can_sign_for_gets_no_association(asks: bool) -> None:
    weak = HostId(13, b"\0\1\0\0" + (1).to_bytes(32, "little"))
    network = Network(identities=(Identity(eddsa(1).key, weak, hit_of(weak)), eddsa(2)))
    network.connect(network.a if asks else network.b)
    network.drive(1.0)
    [event] = network.b.events()
    assert "a point of small order, with which anybody can sign" in event
    assert [one.state for one in network.b.endpoint.associations] == ([] if asks else [State.I1_SENT])


def test_a_responder_that_does_not_know_the_suite_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    # As one does that is no newer than RFC 7401.
    monkeypatch.setattr("wayname.hip.r1_pool.KNOWN_SUITES", (2, 1))
    network = Network(identities=(eddsa(1), ecdsa(2)))
    network.connect(network.a)
    assert network.drive(1.0) == EXCHANGE[:2]
    assert network.association(network.a).state is State.I1_SENT
    assert f"{ecdsa(2).hit} does not know the suite of {eddsa(1).hit}" in network.a.events()[0]


@pytest.mark.parametrize(("responder", "checked"), [(ecdsa(2), "check_mac"), (eddsa(2), "check_signature")])
def test_a_forgery_is_found_by_what_is_cheaper(
    responder: Identity, checked: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    network = Network(identities=(eddsa(1), responder)).established()
    network.move(network.a, A2)
    [(_, packet)] = network.under_way
    at = 48  # in the locator that is told
    octets = packet.payload[:at] + bytes([packet.payload[at] ^ 1]) + packet.payload[at + 1 :]
    called: list[str] = []

    def counting(check: Callable[..., None]) -> Callable[..., None]:
        def count(*arguments: Any) -> None:
            called.append(check.__name__)
            check(*arguments)

        return count

    monkeypatch.setattr("wayname.hip.endpoint.check_mac", counting(check_mac))
    monkeypatch.setattr("wayname.hip.endpoint.check_signature", counting(check_signature))
    network.deliver(replace(packet, payload=with_checksum(octets, packet.source, packet.destination)))
    assert called == [checked]
    network.drive(5.0)
    assert set(called) == {"check_mac", "check_signature"}
    assert network.association(network.b).peer.current == A2


@pytest.mark.parametrize("responder", [eddsa(2), eddsa448(2)])
def test_a_refusal_is_signed_and_read(responder: Identity) -> None:
    def nobody(names: Names, *_: object) -> str:
        return f"{names.peer} is not wanted"

    network = Network(identities=(ecdsa(1), responder), policies=(anybody, nobody))
    network.connect(network.a)
    assert network.drive(0.9) == [*EXCHANGE[:3], "B1 --NOTIFY-> A1"]
    assert network.a.events() == [f"{responder.hit} says BLOCKED_BY_POLICY"]
    assert len(network.b.endpoint.associations) == 0
