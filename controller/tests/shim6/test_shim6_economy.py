"""What keeps contexts few and cheap: rules about setting them up, signing in advance."""

from __future__ import annotations

from ipaddress import IPv6Address, IPv6Network

from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from shim6.network import A1, A2, B1, Network, host

from wayname.identity.generate import generate_cga
from wayname.session.keys import SessionKey
from wayname.shim6.context import option_of
from wayname.shim6.heuristics import (
    Candidate,
    ContextLimit,
    PeersWithoutShim6,
    Rule,
    has_no_eui64,
    never_initiate,
    objection,
)
from wayname.shim6.locators import tell
from wayname.wire.shim6.messages import I2, decode
from wayname.wire.shim6.options import CgaSignature

MAC_BASED = IPv6Address("2001:db8::211:22ff:fe33:4455")


def test_an_address_made_of_a_mac_address_is_not_asked() -> None:
    assert has_no_eui64(Candidate(A1, MAC_BASED, 0), 0.0) is not None
    assert has_no_eui64(Candidate(MAC_BASED, A1, 0), 0.0) is None
    assert has_no_eui64(Candidate(A1, IPv6Address("2001:db8:ff:fe00::1"), 0), 0.0) is None


def test_the_first_rule_that_objects_is_heard() -> None:
    rules: list[Rule] = [ContextLimit(5), has_no_eui64]
    assert objection(rules, Candidate(A1, B1, 4), 0.0) is None
    assert objection(rules, Candidate(A1, MAC_BASED, 5), 0.0) == "there are 5 contexts already"
    reason = objection(rules, Candidate(A1, MAC_BASED, 4), 0.0)
    assert reason is not None
    assert "MAC address" in reason
    assert objection([*rules, never_initiate], Candidate(A1, B1, 0), 0.0) == "contexts are left to the peers to begin"
    assert objection([], Candidate(A1, MAC_BASED, 99), 0.0) is None


def test_peers_without_shim6_are_remembered_for_an_hour() -> None:
    without = PeersWithoutShim6()
    without.add(B1, 100.0)
    assert without(Candidate(A1, B1, 0), 3699.0) == f"{B1} had no Shim6 when it was asked last"
    assert without(Candidate(A1, A2, 0), 3699.0) is None
    assert without(Candidate(A1, B1, 0), 3700.0) is None
    assert len(without) == 0
    without.add(B1, 100.0)
    without.remove(B1)
    assert without(Candidate(A1, B1, 0), 101.0) is None


def test_not_more_peers_are_remembered_than_fit() -> None:
    without = PeersWithoutShim6(most=3)
    for number in range(10):
        without.add(B1 + number, float(number))
        # The one that is asked again and again stays.
        without.add(B1, float(number))
    assert len(without) == 3
    assert without(Candidate(A1, B1, 0), 10.0) is not None
    assert without(Candidate(A1, B1 + 9, 0), 10.0) is not None
    assert without(Candidate(A1, B1 + 7, 0), 10.0) is None


def test_a_host_signs_once_for_all_its_peers() -> None:
    """What it tells is the same in every I2, R2 and update, so the signature is made when its locators change."""
    key = rsa.generate_private_key(65537, 1024)
    public = key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    ulid, parameters = generate_cga(
        IPv6Network("2001:db8:1::/64"), public, 0, lambda tail, sec: bytes(16), lambda _: False
    )
    signed = tell(ulid, parameters, [ulid, A2], 1, key)
    signature = option_of(signed.options, CgaSignature)
    network = Network(hosts=(signed, host(B1)))
    names = [SessionKey(ulid, B1, instance) for instance in range(20)]
    for name in names:
        network.establish(network.a, name)
    signatures = set()
    while network.under_way:
        message = decode(network.under_way[0][1].payload)
        if isinstance(message, I2):
            signatures.add(option_of(message.options, CgaSignature))
        network.step()
    assert signatures == {signature}
    assert len(network.b.endpoint.contexts) == 20
