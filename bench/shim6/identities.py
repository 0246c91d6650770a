"""Hosts whose locators prove themselves, one kind for each bar of the paper's figures."""

from __future__ import annotations

import random
from functools import cache
from ipaddress import IPv6Address, IPv6Network

from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from wayname.identity.generate import generate_cga, generate_hba, move_cga
from wayname.identity.parameters import MODIFIER_OCTETS
from wayname.shim6.context import Known, LocalHost, option_of
from wayname.shim6.locators import tell
from wayname.shim6.options import Locator, LocatorList, Option, Verification

PREFIXES = tuple(IPv6Network(f"2001:db8:{number:x}::/64") for number in range(1, 41))
GENERATION = 1


@cache
def key_pair(bits: int, owner: str = "") -> RSAPrivateKey:
    """Return a key pair, the same one for the same owner."""
    return rsa.generate_private_key(65537, bits)


def public_key(bits: int, owner: str = "") -> bytes:
    """Return the public half as CGA Parameters hold it."""
    return key_pair(bits, owner).public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)


def any_modifier(rng: random.Random, _tail: bytes, _sec: int) -> bytes:
    """Find a modifier for Sec 0, where any will do."""
    return rng.randbytes(MODIFIER_OCTETS)


def unproved(prefixes: tuple[IPv6Network, ...], rng: random.Random) -> LocalHost:
    """Return a host with locators that nothing proves."""
    addresses = [prefix[rng.getrandbits(64)] for prefix in prefixes]
    listed = LocatorList(GENERATION, tuple(Locator(one, Verification.CGA) for one in addresses))
    return LocalHost(addresses[0], (listed,))


def hash_based(prefixes: tuple[IPv6Network, ...], rng: random.Random, key: bytes | None = None) -> LocalHost:
    """Return a host whose locators are a set; with a key they could be signed as well."""
    made = generate_hba(prefixes, key, 0, lambda tail, sec: any_modifier(rng, tail, sec), lambda _: False, rng)
    ulid, parameters = made[0]
    return tell(ulid, parameters, [address for address, _ in made], GENERATION)


def signed(prefixes: tuple[IPv6Network, ...], rng: random.Random, bits: int, owner: str = "") -> LocalHost:
    """Return a host that signs its locators."""
    ulid, parameters = generate_cga(
        prefixes[0], public_key(bits, owner), 0, lambda tail, sec: any_modifier(rng, tail, sec), lambda _: False
    )
    others = [move_cga(parameters, prefix, 0, lambda _: False)[0] for prefix in prefixes[1:]]
    return tell(ulid, parameters, [ulid, *others], GENERATION, key_pair(bits, owner))


def trusting(_ulid: IPv6Address, options: tuple[Option, ...], known: Known) -> Known:
    """Believe every list of locators: the paper's `no security`."""
    listed = option_of(options, LocatorList)
    return Known(frozenset(one.address for one in listed.locators), listed) if listed else known
