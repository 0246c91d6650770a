"""What keeps contexts few and cheap: rules about setting them up, signing in advance."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from ipaddress import IPv6Address, IPv6Network

from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from shim6.network import A1, A2, A3, B1

from wayname.identity.generate import generate_cga
from wayname.shim6.context import Known, LocalHost
from wayname.shim6.heuristics import AtMost, Candidate, Rule, WithoutShim6, has_no_eui64, never_initiate, objection
from wayname.shim6.locators import learn, tell
from wayname.shim6.prepared import PreparedHost

MAC_BASED = IPv6Address("2001:db8::211:22ff:fe33:4455")


def test_an_address_made_of_a_mac_address_is_not_asked() -> None:
    assert has_no_eui64(Candidate(A1, MAC_BASED, 0), 0.0) is not None
    assert has_no_eui64(Candidate(MAC_BASED, A1, 0), 0.0) is None
    assert has_no_eui64(Candidate(A1, IPv6Address("2001:db8:ff:fe00::1"), 0), 0.0) is None


def test_the_first_rule_that_objects_is_heard() -> None:
    rules: list[Rule] = [AtMost(5), has_no_eui64]
    assert objection(rules, Candidate(A1, B1, 4), 0.0) is None
    assert objection(rules, Candidate(A1, MAC_BASED, 5), 0.0) == "there are 5 contexts already"
    reason = objection(rules, Candidate(A1, MAC_BASED, 4), 0.0)
    assert reason is not None
    assert "MAC address" in reason
    assert objection([*rules, never_initiate], Candidate(A1, B1, 0), 0.0) == "contexts are left to the peers to begin"
    assert objection([], Candidate(A1, MAC_BASED, 99), 0.0) is None


def test_peers_without_shim6_are_remembered_for_an_hour() -> None:
    without = WithoutShim6()
    without.add(B1, 100.0)
    assert without(Candidate(A1, B1, 0), 3699.0) == f"{B1} had no Shim6 when it was asked last"
    assert without(Candidate(A1, A2, 0), 3699.0) is None
    assert without(Candidate(A1, B1, 0), 3700.0) is None
    assert len(without) == 0
    without.add(B1, 100.0)
    without.remove(B1)
    assert without(Candidate(A1, B1, 0), 101.0) is None


def test_not_more_peers_are_remembered_than_fit() -> None:
    without = WithoutShim6(most=3)
    for number in range(10):
        without.add(B1 + number, float(number))
        # The one that is asked again and again stays.
        without.add(B1, float(number))
    assert len(without) == 3
    assert without(Candidate(A1, B1, 0), 10.0) is not None
    assert without(Candidate(A1, B1 + 9, 0), 10.0) is not None
    assert without(Candidate(A1, B1 + 7, 0), 10.0) is None


def test_no_signature_is_made_when_a_provider_fails() -> None:
    key = rsa.generate_private_key(65537, 1024)
    public = key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    prefix = IPv6Network("2001:db8:1::/64")
    ulid, parameters = generate_cga(prefix, public, 0, lambda tail, sec: bytes(16), lambda _: False)
    made: list[Sequence[IPv6Address]] = []

    def sign(locators: Sequence[IPv6Address], generation: int) -> LocalHost:
        made.append(locators)
        return tell(ulid, parameters, locators, generation, key)

    prepared = PreparedHost(sign, 1)
    prepared.prepare([ulid, A2, A3])
    assert len(made) == 4
    for locators in ([ulid, A2, A3], [ulid, A3], [ulid, A2], [A2, A3]):
        host = prepared.with_locators(locators)
        assert host.locators == set(locators)
        assert learn(ulid, host.options, Known(frozenset({ulid}))).locators == set(locators)
    assert len(made) == 4
    assert prepared.with_locators([ulid, A2, A3]) is prepared.with_locators([ulid, A2, A3])


def test_lists_that_are_not_used_make_room() -> None:
    generations: list[int] = []

    def make(locators: Sequence[IPv6Address], generation: int) -> LocalHost:
        generations.append(generation)
        return LocalHost(locators[0])

    prepared = PreparedHost(partial(make), 7, most=2)
    for locators in ([A1], [A2], [A1], [A3], [A1], [A2]):
        prepared.with_locators(locators)
    assert len(prepared) == 2
    assert generations == [7, 8, 9, 10]
