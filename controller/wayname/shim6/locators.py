"""Locators that prove to be their host's, and how a host tells its own (RFC 5533, sections 5.15.5 and 7.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from ipaddress import IPv6Address

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.hashes import SHA1

from wayname.identity.errors import ParametersError, ProofError
from wayname.identity.keys import rsa_key
from wayname.identity.parameters import Parameters, Prover, prover_of, sec_of
from wayname.shim6.context import KnownPeer, LocalHost, option_of
from wayname.wire.shim6.errors import ErrorCode
from wayname.wire.shim6.options import (
    HEADER_OCTETS,
    CgaParameters,
    CgaSignature,
    ExactKeepaliveTimeout,
    KeepaliveTimeout,
    Locator,
    LocatorList,
    LocatorPreferences,
    Option,
    OptionType,
    PathReports,
    Verification,
)

# What a signature is for, so that it serves for nothing else (RFC 3972, section 6).
SHIM6_TAG = bytes.fromhex("4a30 5662 4858 574b 3655 416f 506a 6d48")
GENERATION_OCTETS = 4
# Each costs up to two hashes over all parameters; a path of a session has four bits, and hosts have a few prefixes.
MOST_LISTED = 32


class LocatorError(ProofError):
    """An option that is answered with an Error message: the code, the option, and the octet in it to point to."""

    def __init__(self, code: ErrorCode, option: OptionType, at: int, text: str) -> None:
        super().__init__(text)
        self.code = code
        self.option = option
        self.at = at


def learn(ulid: IPv6Address, options: tuple[Option, ...], known: KnownPeer, min_sec: int = 0) -> KnownPeer:
    """Add to what is known what options prove; nothing is learnt from options that do not prove all they say.

    Sec is part of the address, so a host cannot be impersonated with less than its own; `min_sec` refuses hosts that
    chose to be easier to impersonate.
    """
    told = option_of(options, CgaParameters)
    prover = prover_of(told.parameters) if told is not None else None
    if prover is None and known.parameters is not None:
        prover = Prover(known.parameters)
    if told is not None and prover is not None:
        if sec_of(ulid) < min_sec:
            raise ProofError(f"{ulid} has Sec {sec_of(ulid)}, but at least {min_sec} is asked for")
        prover.prove(ulid)
    listed = option_of(options, LocatorList)
    locators, preferences = known.locators, known.preferences
    if listed is not None:
        if prover is None:
            raise ProofError(f"a list of locators of {ulid}, but no parameters that prove any")
        _prove_list(ulid, listed, prover, option_of(options, CgaSignature))
        locators = frozenset(locator.address for locator in listed.locators)
        if known.listed is None or known.listed.generation != listed.generation:
            preferences = None
    else:
        listed = known.listed
    asked = option_of(options, LocatorPreferences)
    if asked is not None:
        _check_preferences(asked, listed)
        preferences = asked
    proved = prover.parameters if prover else None
    return KnownPeer(locators, listed, preferences, proved, *_beside_locators(options, known))


def believe(options: tuple[Option, ...], known: KnownPeer) -> KnownPeer:
    """Take a peer's list of locators at its word, whatever it is proved by: there is no security."""
    listed = option_of(options, LocatorList)
    if listed is not None:
        locators = frozenset(one.address for one in listed.locators)
        known = replace(known, locators=locators, listed=listed, preferences=None, parameters=None)
    asked = option_of(options, LocatorPreferences)
    if asked is not None:
        _check_preferences(asked, known.listed)
    asked = asked or known.preferences
    return KnownPeer(known.locators, known.listed, asked, known.parameters, *_beside_locators(options, known))


def _beside_locators(
    options: tuple[Option, ...], known: KnownPeer
) -> tuple[KeepaliveTimeout | None, ExactKeepaliveTimeout | None, PathReports | None]:
    """Return what a peer says of its silence and of path reports; what it does not say again stays, but the latter."""
    return (
        option_of(options, KeepaliveTimeout) or known.keepalive_timeout,
        option_of(options, ExactKeepaliveTimeout) or known.exact_keepalive_timeout,
        option_of(options, PathReports),
    )


def claim(ulid: IPv6Address, locators: Sequence[IPv6Address], generation: int) -> LocalHost:
    """Make the list of a host's locators without anything that proves them."""
    return LocalHost(ulid, (LocatorList(generation, tuple(Locator(one, Verification.CGA) for one in locators)),))


def tell(
    ulid: IPv6Address,
    parameters: Parameters,
    locators: Sequence[IPv6Address],
    generation: int,
    key: RSAPrivateKey | None = None,
    preferences: LocatorPreferences | None = None,
) -> LocalHost:
    """Make the options that prove a host's locators: those of a hash-based set by themselves, others by a signature."""
    listed = LocatorList(generation, tuple(Locator(one, _method(one, parameters)) for one in locators))
    options: tuple[Option, ...] = (listed, CgaParameters(parameters.encode()))
    if any(locator.verification == Verification.CGA for locator in listed.locators):
        if key is None:
            raise ProofError(f"locators of {ulid} are not all of its hash-based set, so a key must sign them")
        options += (CgaSignature(key.sign(_signed(listed), PKCS1v15(), SHA1())),)
    if preferences is not None:
        options += (preferences,)
    return LocalHost(ulid, options)


def _method(locator: IPv6Address, parameters: Parameters) -> Verification:
    try:
        parameters.prove_member(locator)
    except ProofError:
        return Verification.CGA
    return Verification.HBA


def _signed(listed: LocatorList) -> bytes:
    """Return what a signature is over: the tag, the generation, and the locators that have no other proof."""
    locators = (one.address.packed for one in listed.locators if one.verification == Verification.CGA)
    return SHIM6_TAG + listed.generation.to_bytes(GENERATION_OCTETS) + b"".join(locators)


def _prove_list(ulid: IPv6Address, listed: LocatorList, prover: Prover, signature: CgaSignature | None) -> None:
    """Raise unless every locator of a list is proved by the method that it names."""
    if len(listed.locators) > MOST_LISTED:
        raise ProofError(f"{len(listed.locators)} locators of {ulid}; no more than {MOST_LISTED} are looked at")
    signed = False
    min_sec = sec_of(ulid)
    for index, locator in enumerate(listed.locators):
        try:
            match locator.verification:
                case Verification.HBA:
                    # Less costs less to forge.
                    if (sec := sec_of(locator.address)) < min_sec:
                        raise ProofError(f"it has Sec {sec}, less than the {min_sec} of the identity {ulid}")
                    prover.prove_member(locator.address)
                case Verification.CGA:
                    # One signature is over all of them.
                    if not signed:
                        _prove_signature(listed, prover.parameters, signature)
                        signed = True
                case unknown:
                    raise ProofError(f"verification method {unknown} is not known")
        except ProofError as error:
            at = HEADER_OCTETS + GENERATION_OCTETS + 1 + index
            raise LocatorError(
                ErrorCode.VERIFICATION_METHOD, OptionType.LOCATOR_LIST, at, f"{locator.address}: {error}"
            ) from error


def _prove_signature(listed: LocatorList, parameters: Parameters, signature: CgaSignature | None) -> None:
    if signature is None:
        raise ProofError("there is no signature over the locators")
    multi_prefix = parameters.multi_prefix
    if multi_prefix is not None and not multi_prefix.has_public_key:
        raise ProofError("the parameters are those of hash-based addresses without a public key")
    try:
        key = rsa_key(parameters.public_key)
    except ParametersError as error:
        raise ProofError(str(error)) from None
    try:
        key.verify(signature.signature, _signed(listed), PKCS1v15(), SHA1())
    except InvalidSignature as error:
        raise ProofError("the signature over the locators is wrong") from error


def _check_preferences(preferences: LocatorPreferences, listed: LocatorList | None) -> None:
    """Raise unless preferences are those of a list (section 10.4)."""
    if listed is None or preferences.generation != listed.generation:
        raise LocatorError(
            ErrorCode.GENERATION_OUT_OF_SYNC,
            OptionType.LOCATOR_PREFERENCES,
            HEADER_OCTETS,
            f"preferences for generation {preferences.generation} of locators, which is not the one that is known",
        )
    if len(preferences.preferences) != len(listed.locators):
        raise LocatorError(
            ErrorCode.PREFERENCES_COUNT,
            OptionType.LOCATOR_PREFERENCES,
            2,
            f"{len(preferences.preferences)} preferences for {len(listed.locators)} locators",
        )
