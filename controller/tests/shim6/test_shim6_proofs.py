"""Whole exchanges between hosts whose addresses prove themselves."""

from __future__ import annotations

import random
from dataclasses import replace
from ipaddress import IPv6Address, IPv6Network

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from shim6.network import Network

from wayname.identity.generate import generate_cga, generate_hba
from wayname.identity.parameters import Parameters
from wayname.session.keys import SessionKey
from wayname.shim6.context import Context, LocalHost
from wayname.shim6.locators import learn, tell
from wayname.shim6.outputs import Dropped, PeerError, Ready
from wayname.wire import ipv6
from wayname.wire.ipv6 import Packet
from wayname.wire.shim6.errors import ErrorCode
from wayname.wire.shim6.messages import I2, UpdateRequest, decode, encode
from wayname.wire.shim6.options import (
    CgaSignature,
    Locator,
    LocatorList,
    LocatorPreferences,
    Option,
    Preference,
    PreferenceFlag,
)

KEY = rsa.generate_private_key(65537, 1024)
ONE, TWO, THREE, FOUR = (IPv6Network(f"2001:db8:{number}::/64") for number in range(1, 5))


def signing() -> tuple[IPv6Address, Parameters]:
    """Return a host that signs its locators, A."""
    public = KEY.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    return generate_cga(ONE, public, 0, lambda tail, sec: bytes(16), lambda _: False)


def hash_based() -> LocalHost:
    """Return a host whose locators are a set, B."""
    (ulid, parameters), (other, _) = generate_hba(
        [THREE, FOUR], None, 0, lambda tail, sec: bytes(16), lambda _: False, random.Random(3)
    )
    return tell(ulid, parameters, [ulid, other], 1)


def networked() -> tuple[Network, SessionKey, SessionKey]:
    """Return A and B, and the names that they have for a context."""
    ulid, parameters = signing()
    hosts = tell(ulid, parameters, [ulid, TWO[7]], 1, KEY), hash_based()
    network = Network(1, learn, hosts)
    return network, SessionKey(hosts[0].ulid, hosts[1].ulid), SessionKey(hosts[1].ulid, hosts[0].ulid)


def context(network: Network, name: SessionKey) -> Context:
    """Return B's context."""
    found = network.b.endpoint.contexts.named(name)
    assert found is not None
    return found


def test_signed_and_hash_based_hosts_prove_themselves_to_each_other() -> None:
    network, a, b = networked()
    network.establish(network.a, a)
    assert len(network.drive()) == 4
    assert (network.a.take(), network.b.take()) == ([Ready(a)], [Ready(b)])
    found = network.a.endpoint.contexts.named(a)
    assert found is not None
    assert (found.known.locators, context(network, b).known.locators) == (
        network.b.host.locators,
        network.a.host.locators,
    )
    # A new provider: a new list, signed anew.
    ulid, parameters = signing()
    network.move(network.a, tell(ulid, parameters, [ulid, TWO[7], FOUR[9]], 2, KEY))
    assert len(network.drive()) == 2
    assert context(network, b).known.locators == {ulid, TWO[7], FOUR[9]}


def test_a_stolen_locator_is_refused_where_it_stands_in_i2() -> None:
    network, a, _ = networked()
    network.establish(network.a, a)
    network.step()
    network.step()
    at, packet = network.under_way.pop()
    i2 = decode(packet.payload)
    assert isinstance(i2, I2)
    stolen: tuple[Option, ...] = tuple(
        LocatorList(1, (Locator(a.local, 2), Locator(FOUR[1], 1))) if isinstance(option, LocatorList) else option
        for option in i2.options
        if not isinstance(option, CgaSignature)
    )
    stolen += (CgaSignature(bytes(128)),)
    network.under_way.append((at, replace(packet, payload=encode(replace(i2, options=stolen)))))
    network.step()
    assert [type(output) for output in network.b.take()] == [Dropped]
    assert len(network.b.endpoint.contexts) == 0
    network.step()
    # IPv6 header, I2, validator; then the list's head, generation and count.
    assert network.a.take() == [PeerError(a, ErrorCode.VERIFICATION_METHOD, 40 + 24 + 24 + 4 + 5)]


def test_an_update_without_a_valid_signature_changes_nothing() -> None:
    network, a, b = networked()
    network.establish(network.a, a)
    network.drive()
    known = context(network, b).known
    ulid, parameters = signing()
    network.move(network.a, tell(ulid, parameters, [ulid, FOUR[9]], 2, KEY))
    at, packet = network.under_way.pop()
    request = decode(packet.payload)
    assert isinstance(request, UpdateRequest)
    forged = tuple(
        replace(option, generation=3) if isinstance(option, LocatorList) else option for option in request.options
    )
    network.under_way.append((at, replace(packet, payload=encode(replace(request, options=forged)))))
    network.a.take()
    network.step()
    network.step()
    assert network.a.take() == [PeerError(a, ErrorCode.VERIFICATION_METHOD, 40 + 16 + 4 + 5)]
    assert context(network, b).known == known
    # The true one is repeated, and taken.
    network.drive()
    assert context(network, b).known.locators == {ulid, FOUR[9]}


@pytest.mark.parametrize(
    ("generation", "count", "code", "pointer"),
    [(9, 2, ErrorCode.GENERATION_OUT_OF_SYNC, 40 + 16 + 4), (1, 3, ErrorCode.PREFERENCES_COUNT, 40 + 16 + 2)],
)
def test_preferences_that_fit_no_list_are_answered(generation: int, count: int, code: ErrorCode, pointer: int) -> None:
    network, a, b = networked()
    network.establish(network.a, a)
    network.drive()
    network.a.take()
    known = context(network, b).known
    found = network.a.endpoint.contexts.named(a)
    assert found is not None
    assert found.peer_tag is not None
    preferences = LocatorPreferences(generation, (Preference(PreferenceFlag.BROKEN),) * count)
    request = UpdateRequest(found.peer_tag, 5, (preferences,))
    network.inject(Packet(a.local, a.peer, ipv6.SHIM6, encode(request)))
    network.drive()
    assert network.a.take() == [PeerError(a, code, pointer)]
    assert context(network, b).known == known
    # With the right generation and number they are taken.
    preferences = LocatorPreferences(1, (Preference(PreferenceFlag.BROKEN), Preference(PreferenceFlag(0))))
    network.inject(Packet(a.local, a.peer, ipv6.SHIM6, encode(replace(request, options=(preferences,)))))
    network.drive()
    assert context(network, b).known == replace(known, preferences=preferences)
