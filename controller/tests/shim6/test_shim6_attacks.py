"""Attacks on an endpoint that must fail; those on single messages stand beside what they attack.

Forged and stolen locators: test_shim6_proofs.py, test_shim6_locators.py. Replayed I2: test_shim6_strangers.py. A flood
that is to be reflected: reap/test_reap_reflection.py. Forged signs of failures: reap/test_reap_states.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import fields, is_dataclass, replace
from functools import partial
from ipaddress import IPv6Address, IPv6Network
from random import Random

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from shim6.network import A1, A2, B1, B2, A, B, Network, host
from shim6.test_shim6_hostile import sealed
from shim6.test_shim6_setup import assert_joined, context, established, i2_of, shim6

from wayname.identity.errors import ProofError
from wayname.identity.generate import generate_cga, generate_hba
from wayname.identity.parameters import Parameters, sec_of
from wayname.session.keys import Pair, SessionKey
from wayname.shim6.context import KnownPeer
from wayname.shim6.limits import PROOFS
from wayname.shim6.locators import learn, tell
from wayname.shim6.machine import r1_question
from wayname.shim6.outputs import Dropped, Ready, Send
from wayname.shim6.states import State
from wayname.shim6.validators import VALIDATOR_MIN_LIFETIME
from wayname.wire import icmpv6
from wayname.wire.ipv6 import Packet
from wayname.wire.shim6.messages import (
    I1,
    I2,
    R1,
    R2,
    Keepalive,
    Probe,
    ProbeRecord,
    ProbeState,
    UpdateRequest,
    decode,
    encode,
)
from wayname.wire.shim6.options import Locator, LocatorList, Option, ResponderValidator
from wayname.wire.shim6.payload import PayloadHeader

EVIL = IPv6Address("2001:db8:bad::1")
ONE, TWO = IPv6Network("2001:db8:1::/64"), IPv6Network("2001:db8:2::/64")


def state_size(thing: object) -> int:
    """Return of how many things something consists, all the way down."""
    match thing:
        case Random() | str() | bytes() | IPv6Address():
            return 1
        case Mapping():
            return 1 + sum(state_size(key) + state_size(value) for key, value in thing.items())
        case Sequence() | Set():
            return 1 + sum(map(state_size, thing))
    if is_dataclass(thing):
        return 1 + sum(state_size(getattr(thing, field.name)) for field in fields(thing))
    if type(thing).__module__.startswith("wayname.") and hasattr(thing, "__dict__"):
        return 1 + sum(map(state_size, vars(thing).values()))
    return 1


def i1_from(number: int) -> Packet:
    """Return an I1 from one of many peers."""
    return shim6(IPv6Address(int(EVIL) + number), B1, encode(I1(number, number)))


def test_a_flood_of_i1_leaves_nothing_behind() -> None:
    network = Network()
    network.b.endpoint.receive(i1_from(0), network.now)
    network.b.endpoint.take_outputs()
    before = state_size(network.b.endpoint)
    # 1000 a second for four seconds, in which the secret of the validators stays the same.
    came = left = 0
    for number in range(1, 4001):
        i1 = i1_from(number)
        network.b.endpoint.receive(i1, network.now + number / 1000)
        came += len(i1.payload)
        left += sum(len(one.packet.payload) for one in network.b.endpoint.take_outputs() if isinstance(one, Send))
    assert state_size(network.b.endpoint) == before
    # R1 is longer than I1, but of a flood out of one prefix less goes back than came.
    assert 0 < left < came
    assert network.b.endpoint.next_timer() is None


def test_a_flood_of_bad_i2_leaves_nothing_behind_and_is_not_answered() -> None:
    network = Network()
    i2 = decode(i2_of(network).payload)
    assert isinstance(i2, I2)
    before = state_size(network.b.endpoint)
    for number in range(2000):
        forged = replace(i2, options=(ResponderValidator(number.to_bytes(16)),), responder_nonce=i2.responder_nonce)
        network.b.endpoint.receive(shim6(A1, B1, encode(forged)), network.now + number / 1000)
        assert network.b.endpoint.take_outputs() == [Dropped("the validator is not ours, or too old")]
    assert state_size(network.b.endpoint) == before


def test_i2s_with_good_validators_and_bad_proofs_leave_nothing_behind() -> None:
    """A thousand hosts that are where they say they are, and claim what is not theirs."""

    def nobody(ulid: IPv6Address, options: tuple[Option, ...], known: KnownPeer) -> KnownPeer:
        raise ProofError(f"nothing proves the locators of {ulid}")

    network = Network(learn=nobody)
    endpoint = network.b.endpoint
    before = state_size(endpoint)
    for number in range(1000):
        network.now += 0.025
        packet = i1_from(number)
        endpoint.receive(packet, network.now)
        network.collect()
        r1 = decode(network.under_way.pop()[1].payload)
        assert isinstance(r1, R1)
        i2 = I2(number, number, r1.responder_nonce, (*r1.options, LocatorList(1, (Locator(A1, 1),))))
        endpoint.receive(shim6(packet.source, B1, encode(i2)), network.now)
        assert [type(output) for output in endpoint.take_outputs()] == [Dropped]
    assert len(endpoint.contexts) == 0
    # What was spent is forgotten when no secret knows it any more.
    network.now += 3 * VALIDATOR_MIN_LIFETIME
    endpoint.receive(i1_from(0), network.now)
    endpoint.take_outputs()
    assert state_size(endpoint) - before < 10


def test_a_validator_serves_for_one_look_at_proofs() -> None:
    """I2s with one validator, each with other proofs: a signature is dear, and a validator costs a message."""
    looked_at: list[int] = []

    def nobody(ulid: IPv6Address, options: tuple[Option, ...], known: KnownPeer) -> KnownPeer:
        looked_at.append(1)
        raise ProofError(f"nothing proves the locators of {ulid}")

    network = Network(learn=nobody)
    i2 = decode(i2_of(network).payload)
    assert isinstance(i2, I2)
    looked_at.clear()
    for number in range(300):
        forged = replace(i2, options=(*i2.options[:1], LocatorList(number, (Locator(A1, 1),))))
        network.b.endpoint.receive(shim6(A1, B1, encode(forged)), network.now)
    assert len(looked_at) == 1


def test_proofs_of_one_prefix_are_looked_at_at_a_rate() -> None:
    looked_at: list[int] = []

    def nobody(ulid: IPv6Address, options: tuple[Option, ...], known: KnownPeer) -> KnownPeer:
        looked_at.append(1)
        raise ProofError(f"nothing proves the locators of {ulid}")

    network = Network(learn=nobody)
    validators = network.b.endpoint._machine.validators
    for number in range(1000):
        source = IPv6Address(int(EVIL) + number)
        question = r1_question(Pair(B1, source), 7, SessionKey(B1, source))
        nonce, validator = validators.make(question, network.now)
        i2 = I2(7, number, nonce, (ResponderValidator(validator),))
        network.b.endpoint.receive(shim6(source, B1, encode(i2)), network.now)
    assert len(looked_at) == PROOFS.burst


def test_an_i1_in_a_peers_name_has_it_flooded_by_no_more_than_is_rationed() -> None:
    network = Network()
    network.establish(network.a, A)
    network.under_way.clear()
    left = 0
    i1 = shim6(B1, A1, encode(I1(77, 88)))
    for _ in range(5000):
        network.a.endpoint.receive(i1, network.now)
        left += sum(len(one.packet.payload) for one in network.a.endpoint.take_outputs() if isinstance(one, Send))
    assert 0 < left < 5000 * len(i1.payload)


def test_errors_about_what_anybody_sends_are_rationed() -> None:
    network = Network()
    packet = shim6(IPv6Address(int(EVIL)), B1, sealed(bytes([59, 0, 63, 0]) + bytes(1000)))
    left = 0
    for _ in range(1000):
        network.b.endpoint.receive(packet, network.now)
        left += sum(len(one.packet.payload) for one in network.b.endpoint.take_outputs() if isinstance(one, Send))
    assert 0 < left < 1000 * len(packet.payload)


def test_a_replayed_r2_changes_nothing() -> None:
    network = Network()
    network.establish(network.a, A)
    for _ in range(3):
        network.step()
    r2 = network.under_way[-1][1]
    assert isinstance(decode(r2.payload), R2)
    network.drive()
    assert_joined(network)
    network.a.take()
    # Within the context, and in a later set-up of the same one.
    network.a.endpoint.receive(r2, network.now)
    network.collect()
    assert network.a.take() == []
    assert_joined(network)
    network.a.endpoint.discard(A, network.now)
    network.collect()
    network.a.take()
    network.establish(network.a, A)
    network.a.endpoint.receive(r2, network.now)
    network.collect()
    assert network.a.take() == [Dropped("an answer to nothing that was asked")]
    assert context(network.a, A).state is State.I1_SENT


@pytest.mark.parametrize("source", [EVIL, B1])
def test_an_update_off_path_changes_nothing(source: IPv6Address) -> None:
    """Without the tag, from anywhere; the peer is asked who that was, and knows nothing of it."""
    network = established()
    known = context(network.b, B).known
    tag = context(network.b, B).tag
    for guess in range(500):
        assert guess != tag
        update = UpdateRequest(guess, guess, host(EVIL).options)
        network.b.endpoint.receive(shim6(A1 if source == B1 else source, B1, encode(update)), network.now)
    network.collect()
    assert all(decode(packet.payload).__class__.__name__ == "R1bis" for _, packet in network.under_way)
    network.under_way.clear()
    assert context(network.b, B).known == known
    assert_joined(network)


@pytest.mark.parametrize(
    "octets",
    [
        lambda tag: encode(UpdateRequest(tag, 1, host(EVIL).options)),
        lambda tag: encode(Keepalive(tag)),
        lambda tag: encode(Probe(tag, ProbeState.EXPLORING, (ProbeRecord(EVIL, B1, 1),))),
        lambda tag: PayloadHeader(17, tag).encode(),
    ],
    ids=["update", "keepalive", "probe", "payload"],
)
def test_a_stolen_tag_is_of_no_use_elsewhere(octets: object) -> None:
    network = established()
    assert callable(octets)
    network.b.endpoint.receive(shim6(EVIL, B1, octets(context(network.b, B).tag)), network.now)
    network.collect()
    assert network.b.take() == []
    (answer,) = (decode(packet.payload) for _, packet in network.under_way)
    assert type(answer).__name__ == "R1bis"
    network.under_way.clear()
    assert context(network.b, B).known.locators == {A1, A2}
    assert context(network.b, B).pair == (B1, A1)


@pytest.mark.parametrize("kind", [1, 2, 3, 4])
def test_forged_icmp_errors_about_a_context_that_stands_do_nothing(kind: int) -> None:
    network = established()
    tag = context(network.a, A).peer_tag
    assert tag is not None
    quoted = shim6(A1, B1, PayloadHeader(6, tag).encode() + bytes(40))
    error = icmpv6.Message(kind, 1, bytes(4) + quoted.encode())
    for source in (B1, B2, EVIL):
        network.a.endpoint.receive(error.packet(source, A1), network.now)
    network.collect()
    assert {type(output) for output in network.a.take()} == {Dropped}
    assert not network.under_way
    assert_joined(network)


KEY = rsa.generate_private_key(65537, 1024)
PUBLIC = KEY.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)


def nothing_of(ulid: IPv6Address) -> KnownPeer:
    """Return what is known of a host before it says anything."""
    return KnownPeer(frozenset({ulid}))


def weak() -> tuple[IPv6Address, Parameters]:
    """Return a host with Sec 0."""
    return generate_cga(ONE, PUBLIC, 0, lambda tail, sec: bytes(16), lambda _: False)


def test_parameters_that_cost_nothing_do_not_prove_an_address_with_sec() -> None:
    """Hash1 does not run over Sec: the same parameters, and an address that claims more than they cost."""
    ulid, parameters = weak()
    strong = IPv6Address(int(ulid) | 1 << 61)
    assert (sec_of(ulid), sec_of(strong)) == (0, 1)
    options = tell(ulid, parameters, [ulid, TWO[7]], 1, KEY).options
    with pytest.raises(ProofError, match="claims Sec 1, but Hash2 does not begin with 16 zeros"):
        learn(strong, options, nothing_of(strong))


def test_an_identity_with_less_sec_than_is_asked_for_is_refused() -> None:
    ulid, parameters = weak()
    options = tell(ulid, parameters, [ulid, TWO[7]], 1, KEY).options
    assert TWO[7] in learn(ulid, options, nothing_of(ulid)).locators
    with pytest.raises(ProofError, match="has Sec 0, but at least 1 is asked for"):
        learn(ulid, options, nothing_of(ulid), min_sec=1)
    network = Network(1, partial(learn, min_sec=1), (tell(ulid, parameters, [ulid], 1, KEY), host(B1, B2)))
    network.establish(network.a, A._replace(local=ulid))
    network.drive(3)
    assert not any(isinstance(output, Ready) for output in network.b.take())
    assert len(network.b.endpoint.contexts) == 0


def test_a_locator_of_a_set_must_not_claim_less_sec_than_the_identity() -> None:
    made = generate_hba([ONE, TWO], None, 0, lambda tail, sec: bytes(16), lambda _: False, Random(3))
    (ulid, parameters), (other, _) = made
    strong = IPv6Address(int(ulid) | 1 << 61)
    listed = LocatorList(1, (Locator(other, 1),))
    known = replace(nothing_of(strong), parameters=parameters)
    with pytest.raises(ProofError, match=f"it has Sec 0, less than the 1 of the identity {strong}"):
        learn(strong, (listed,), known)
