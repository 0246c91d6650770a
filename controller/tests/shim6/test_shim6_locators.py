"""Proofs of locators: hash-based sets, signatures, and what must not be believed."""

from __future__ import annotations

import random
from dataclasses import replace
from ipaddress import IPv6Address, IPv6Network

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.hashes import SHA1
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from wayname.identity.errors import ParametersError, ProofError
from wayname.identity.generate import generate_cga, generate_hba
from wayname.identity.keys import RSA_ENCRYPTION
from wayname.identity.parameters import Parameters
from wayname.shim6.context import KnownPeer, LocalHost, option_of
from wayname.shim6.locators import MOST_LISTED, LocatorError, learn, tell
from wayname.wire.shim6.errors import ErrorCode
from wayname.wire.shim6.options import (
    CgaParameters,
    CgaSignature,
    Locator,
    LocatorList,
    LocatorPreferences,
    Option,
    OptionType,
    Preference,
    PreferenceFlag,
)

FIRST, SECOND = (IPv6Network(f"2001:db8:{number}::/64") for number in (1, 2))
ELSEWHERE = IPv6Address("2001:db8:3::7")


def find(tail: bytes, sec: int) -> bytes:
    """Take any modifier: with Sec 0 all will do."""
    return bytes(16)


def public(key: rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey) -> bytes:
    """Return a public key as CGA Parameters have it."""
    return key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)


def hba(key: bytes | None = None) -> tuple[list[IPv6Address], Parameters]:
    """Return the addresses of a set, and the parameters of the first."""
    made = generate_hba([FIRST, SECOND], key, 0, find, lambda _: False, random.Random(1))
    return [address for address, _ in made], made[0][1]


@pytest.fixture(scope="module")
def key() -> rsa.RSAPrivateKey:
    """Return a key that signs locators."""
    return rsa.generate_private_key(65537, 1024)


@pytest.fixture(scope="module")
def signed(key: rsa.RSAPrivateKey) -> LocalHost:
    """Return a host whose locators its key signs."""
    ulid, parameters = generate_cga(FIRST, public(key), 0, find, lambda _: False)
    return tell(ulid, parameters, [ulid, ELSEWHERE], 5, key)


def nothing_of(ulid: IPv6Address) -> KnownPeer:
    """Return what is known of a host before it says anything."""
    return KnownPeer(frozenset({ulid}))


def exchange(options: tuple[Option, ...], other: Option) -> tuple[Option, ...]:
    """Put another option in the place of the one of its kind."""
    return tuple(other if type(option) is type(other) else option for option in options)


def without(options: tuple[Option, ...], kind: type[Option]) -> tuple[Option, ...]:
    """Leave an option out."""
    return tuple(option for option in options if not isinstance(option, kind))


def list_of(host: LocalHost) -> LocatorList:
    """Return a host's list of locators."""
    listed = option_of(host.options, LocatorList)
    assert listed is not None
    return listed


def test_a_set_of_hash_based_addresses_proves_itself() -> None:
    (ulid, other), parameters = hba()
    host = tell(ulid, parameters, [ulid, other], 1)
    assert [locator.verification for locator in list_of(host).locators] == [1, 1]
    assert option_of(host.options, CgaSignature) is None
    assert learn(ulid, host.options, nothing_of(ulid)).locators == {ulid, other}


def test_a_signature_proves_any_locator(signed: LocalHost) -> None:
    known = learn(signed.ulid, signed.options, nothing_of(signed.ulid))
    assert known.locators == {signed.ulid, ELSEWHERE} == signed.locators


def test_the_signature_is_over_tag_generation_and_locators(signed: LocalHost, key: rsa.RSAPrivateKey) -> None:
    signature = option_of(signed.options, CgaSignature)
    assert signature is not None
    over = (
        bytes.fromhex("4a3056624858574b3655416f506a6d48") + bytes([0, 0, 0, 5]) + signed.ulid.packed + ELSEWHERE.packed
    )
    key.public_key().verify(signature.signature, over, PKCS1v15(), SHA1())


def test_a_set_with_a_key_takes_up_later_prefixes(key: rsa.RSAPrivateKey) -> None:
    (ulid, other), parameters = hba(public(key))
    host = tell(ulid, parameters, [other, ulid, ELSEWHERE], 1, key)
    assert [locator.verification for locator in list_of(host).locators] == [1, 1, 2]
    assert learn(ulid, host.options, nothing_of(ulid)).locators == {ulid, other, ELSEWHERE}


def test_without_a_key_there_are_no_other_locators() -> None:
    (ulid, _), parameters = hba()
    with pytest.raises(ProofError, match="a key must sign them"):
        tell(ulid, parameters, [ulid, ELSEWHERE], 1)


def test_parameters_need_be_told_once(signed: LocalHost) -> None:
    known = learn(signed.ulid, signed.options, nothing_of(signed.ulid))
    again = learn(signed.ulid, without(signed.options, CgaParameters), known)
    assert again == known
    with pytest.raises(ProofError, match="no parameters"):
        learn(signed.ulid, without(signed.options, CgaParameters), nothing_of(signed.ulid))


def test_parameters_of_somebody_else_are_refused(signed: LocalHost) -> None:
    with pytest.raises(ProofError, match="hash to"):
        learn(IPv6Address(int(signed.ulid) ^ 1), signed.options, nothing_of(signed.ulid))
    with pytest.raises(ProofError, match="hash to"):
        learn(IPv6Address(int(signed.ulid) ^ 1), without(signed.options, LocatorList), nothing_of(signed.ulid))
    with pytest.raises(ParametersError):
        learn(signed.ulid, (CgaParameters(b"none"),), nothing_of(signed.ulid))


def refused(options: tuple[Option, ...], ulid: IPv6Address, reason: str) -> LocatorError:
    """Check that options are refused for a reason; return the error."""
    with pytest.raises(LocatorError, match=reason) as caught:
        learn(ulid, options, nothing_of(ulid))
    return caught.value


def test_each_forgery_of_signed_locators_is_refused(signed: LocalHost) -> None:
    listed = list_of(signed)
    for forged in (
        replace(listed, generation=6),
        replace(listed, locators=listed.locators[::-1]),
        replace(listed, locators=(listed.locators[0], Locator(ELSEWHERE + 1, 2))),
        replace(listed, locators=listed.locators[:1]),
    ):
        error = refused(exchange(signed.options, forged), signed.ulid, "signature over the locators is wrong")
        assert (error.code, error.option, error.at) == (ErrorCode.VERIFICATION_METHOD, OptionType.LOCATOR_LIST, 9)
    refused(without(signed.options, CgaSignature), signed.ulid, "there is no signature")
    refused(exchange(signed.options, CgaSignature(bytes(128))), signed.ulid, "is wrong")


def test_the_error_points_to_the_method_that_does_not_hold(signed: LocalHost) -> None:
    listed = list_of(signed)
    for method, reason in ((0, "method 0"), (3, "method 3"), (1, "no Multi-Prefix")):
        changed = replace(listed, locators=(listed.locators[0], Locator(ELSEWHERE, method)))
        alone = replace(listed, locators=(Locator(ELSEWHERE, method),))
        assert refused(exchange(signed.options, alone), signed.ulid, reason).at == 9
        # The signature is over what says that it is signed, so that this one is wrong first.
        assert refused(exchange(signed.options, changed), signed.ulid, "is wrong").at == 9
    (ulid, other), parameters = hba()
    host = tell(ulid, parameters, [ulid, other], 1)
    forged = replace(list_of(host), locators=(Locator(ulid, 1), Locator(other + 1, 1)))
    assert refused(exchange(host.options, forged), ulid, "hash to").at == 10


def test_keys_that_are_none() -> None:
    (ulid, _), parameters = hba()
    options: tuple[Option, ...] = (
        LocatorList(1, (Locator(ELSEWHERE, 2),)),
        CgaParameters(parameters.encode()),
        CgaSignature(bytes(48)),
    )
    refused(options, ulid, "without a public key")
    curve = public(ec.generate_private_key(ec.SECP256R1()))
    no_key = b"\x30" + bytes([len(RSA_ENCRYPTION) + 3]) + RSA_ENCRYPTION + b"abc"
    for public_key, reason in ((curve, "none of RSA"), (b"\x30\x03abc", "none of RSA"), (no_key, "cannot be used")):
        ulid, parameters = generate_cga(FIRST, public_key, 0, find, lambda _: False)
        refused(exchange(options, CgaParameters(parameters.encode())), ulid, reason)


def test_preferences_are_for_one_list() -> None:
    (ulid, other), parameters = hba()
    broken = (Preference(PreferenceFlag.BROKEN), Preference(PreferenceFlag(0)))
    host = tell(ulid, parameters, [ulid, other], 7, preferences=LocatorPreferences(7, broken))
    known = learn(ulid, host.options, nothing_of(ulid))
    assert known.preferences == LocatorPreferences(7, broken)
    # Alone, they are for the list that is known.
    changed = LocatorPreferences(7, broken[::-1])
    assert learn(ulid, (changed,), known) == replace(known, preferences=changed)
    # A new list has none until they come.
    newer = tell(ulid, parameters, [ulid, other], 8)
    assert learn(ulid, newer.options, known).preferences is None
    for wrong, code, at in (
        (LocatorPreferences(8, broken), ErrorCode.GENERATION_OUT_OF_SYNC, 4),
        (LocatorPreferences(7, broken[:1]), ErrorCode.PREFERENCES_COUNT, 2),
    ):
        with pytest.raises(LocatorError) as caught:
            learn(ulid, (wrong,), known)
        error = caught.value
        assert (error.code, error.option, error.at) == (code, OptionType.LOCATOR_PREFERENCES, at)


def dear_key(exponent: int, bits: int) -> bytes:
    """Return an RSA key with any exponent and modulus."""
    return public_octets(rsa.RSAPublicNumbers(exponent, (1 << bits - 1) + 1).public_key())


def public_octets(key: rsa.RSAPublicKey) -> bytes:
    """Return a public key as CGA Parameters hold it."""
    return key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)


@pytest.mark.parametrize(
    ("exponent", "bits", "reason"),
    [((1 << 2047) - 1, 3072, "an exponent of 2047 bits"), (65537, 8192, "a modulus of 8192 bits")],
)
def test_keys_whose_signatures_are_dear_to_check_are_refused(exponent: int, bits: int, reason: str) -> None:
    ulid, parameters = generate_cga(FIRST, dear_key(exponent, bits), 0, find, lambda _: False)
    options = (
        LocatorList(1, (Locator(ELSEWHERE, 2),)),
        CgaParameters(parameters.encode()),
        CgaSignature(bytes(bits // 8)),
    )
    refused(options, ulid, reason)


def test_a_list_of_very_many_locators_is_not_looked_at() -> None:
    (ulid, other), parameters = hba()
    options = (LocatorList(1, (Locator(other, 1),) * (MOST_LISTED + 1)), CgaParameters(parameters.encode()))
    with pytest.raises(ProofError, match="33 locators"):
        learn(ulid, options, KnownPeer(frozenset({ulid})))
