"""Setting up contexts: what strangers send, on the path and off it (RFC 5533, sections 7 and 16)."""

from __future__ import annotations

from dataclasses import replace
from ipaddress import IPv6Address

import pytest
from shim6.network import A1, A2, A3, B1, B2, B, Network
from shim6.test_shim6_setup import assert_joined, established, i2_of, shim6

from wayname.shim6.outputs import Dropped, Ready
from wayname.wire.shim6.messages import I1, I2, Error, R1bis, decode, encode
from wayname.wire.shim6.options import ForkedInstance, ResponderValidator, UlidPair


def test_an_i1_from_an_unknown_locator_does_not_learn_our_tag() -> None:
    network = Network()
    network.establish(network.b, B)
    network.under_way.clear()
    network.inject(shim6(A3, B1, encode(I1(5, 6, (UlidPair(A1, B1),)))))
    assert network.step() == "A3 --I1-> B1"
    assert network.lose() == "B1 --R1-x A3"


@pytest.mark.parametrize("source", [A1, A3])
def test_established_contexts_answer_i1_with_another_tag_by_r1(source: IPv6Address) -> None:
    network = established()
    network.inject(shim6(source, B1, encode(I1(5, 6, (UlidPair(A1, B1),)))))
    network.step()
    assert network.lose().startswith("B1 --R1-x")
    assert_joined(network)


def test_a_replayed_i2_makes_no_second_context() -> None:
    network = Network()
    i2 = i2_of(network)
    network.inject(i2)
    network.drive()
    assert_joined(network)
    # While the context stands, it may be that R2 was lost.
    network.inject(i2)
    assert network.drive() == ["A1 --I2-> B1", "B1 --R2-> A1"]
    network.b.endpoint.discard(B, network.now)
    network.collect()
    network.b.take()
    network.inject(i2)
    assert network.drive() == ["A1 --I2-> B1"]
    assert network.b.take() == [Dropped("the validator was used before")]
    assert len(network.b.endpoint.contexts) == 0


def test_a_validator_dies_of_age() -> None:
    for age, is_taken in ((29.9, True), (60.1, False)):
        network = Network()
        i2 = i2_of(network)
        network.b.endpoint.receive(i2, network.now + age)
        network.collect()
        assert isinstance(network.b.take()[0], Ready) is is_taken


def test_a_validator_is_for_what_was_asked() -> None:
    network = Network()
    packet = i2_of(network)
    i2 = decode(packet.payload)
    assert isinstance(i2, I2)
    (validator,) = (option for option in i2.options if isinstance(option, ResponderValidator))
    others = tuple(option for option in i2.options if option is not validator)
    changed = [
        replace(packet, source=A2, payload=encode(replace(i2, options=(*i2.options, UlidPair(A1, B1))))),
        replace(packet, destination=B2, payload=encode(replace(i2, options=(*i2.options, UlidPair(A1, B1))))),
        replace(packet, payload=encode(replace(i2, options=(*i2.options, UlidPair(A2, B1))))),
        replace(packet, payload=encode(replace(i2, options=(*i2.options, ForkedInstance(1))))),
        replace(packet, payload=encode(replace(i2, tag=i2.tag ^ 1))),
        replace(packet, payload=encode(replace(i2, responder_nonce=i2.responder_nonce ^ 1))),
        replace(packet, payload=encode(replace(i2, options=(ResponderValidator(bytes(16)), *others)))),
        replace(packet, payload=encode(replace(i2, options=others))),
    ]
    for one in changed:
        network.b.endpoint.receive(one, network.now)
        network.collect()
        assert [type(output) for output in network.b.take()] == [Dropped]
    assert len(network.b.endpoint.contexts) == 0
    assert not network.under_way
    network.inject(packet)
    network.drive()
    assert_joined(network)


def test_an_i2_from_where_nothing_proves_the_peer_to_be() -> None:
    network = Network()
    bad = IPv6Address("2001:db8:bad::1")
    network.inject(shim6(bad, B1, encode(I1(5, 6, (UlidPair(A1, B1),)))))
    network.step()
    r1 = decode(network.under_way.pop()[1].payload)
    assert not isinstance(r1, Error)
    assert hasattr(r1, "responder_nonce")
    i2 = I2(5, 6, r1.responder_nonce, (*r1.options, UlidPair(A1, B1)))
    network.inject(shim6(bad, B1, encode(i2)))
    network.step()
    assert network.b.take() == [Dropped(f"nothing proves that {A1} is at {bad}")]
    assert len(network.b.endpoint.contexts) == 0


def test_a_forged_r1bis_without_the_tag_does_nothing() -> None:
    network = established()
    network.inject(shim6(B1, A1, encode(R1bis(5, 6, (ResponderValidator(b"forged"),)))))
    network.step()
    assert network.a.take() == [Dropped("a message about a tag that is not on packets of ours")]
    assert_joined(network)
