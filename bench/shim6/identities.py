"""Hosts whose locators prove themselves, one kind for each bar of the paper's figures."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from ipaddress import IPv6Network

from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from wayname.identity.generate import generate_cga, generate_hba, move_cga
from wayname.identity.parameters import MODIFIER_OCTETS
from wayname.shim6.context import LocalHost
from wayname.shim6.locators import claim, tell

PREFIXES = tuple(IPv6Network(f"2001:db8:{number:x}::/64") for number in range(1, 41))
GENERATION = 1
PUBLIC_EXPONENT = 65537


@dataclass(frozen=True, slots=True)
class Identity:
    """A host with its proofs, and how it tells its locators anew: signed once more, if they are signed."""

    host: LocalHost
    tell: Callable[[], LocalHost]


@cache
def key_pair(bits: int, owner: str = "") -> RSAPrivateKey:
    """Return a key pair, the same one for the same owner."""
    return rsa.generate_private_key(PUBLIC_EXPONENT, bits)


def public_key(bits: int, owner: str = "") -> bytes:
    """Return the public half as CGA Parameters hold it."""
    return key_pair(bits, owner).public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)


def any_modifier(rng: random.Random, _tail: bytes, _sec: int) -> bytes:
    """Find a modifier for Sec 0, where any will do."""
    return rng.randbytes(MODIFIER_OCTETS)


def unproved(prefixes: tuple[IPv6Network, ...], rng: random.Random) -> Identity:
    """Return a host with locators that nothing proves."""
    addresses = [prefix[rng.getrandbits(64)] for prefix in prefixes]
    return _telling(lambda: claim(addresses[0], addresses, GENERATION))


def hash_based(prefixes: tuple[IPv6Network, ...], rng: random.Random, key: bytes | None = None) -> Identity:
    """Return a host whose locators are a set; with a key they could be signed as well."""
    made = generate_hba(prefixes, key, 0, lambda tail, sec: any_modifier(rng, tail, sec), lambda _: False, rng)
    ulid, parameters = made[0]
    return _telling(lambda: tell(ulid, parameters, [address for address, _ in made], GENERATION))


def signed(prefixes: tuple[IPv6Network, ...], rng: random.Random, bits: int, owner: str = "") -> Identity:
    """Return a host that signs its locators."""
    ulid, parameters = generate_cga(
        prefixes[0], public_key(bits, owner), 0, lambda tail, sec: any_modifier(rng, tail, sec), lambda _: False
    )
    others = [move_cga(parameters, prefix, 0, lambda _: False)[0] for prefix in prefixes[1:]]
    key = key_pair(bits, owner)
    return _telling(lambda: tell(ulid, parameters, [ulid, *others], GENERATION, key))


def _telling(telling: Callable[[], LocalHost]) -> Identity:
    return Identity(telling(), telling)
