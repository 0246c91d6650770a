"""Suites of identities (RFC 7401, sections 5.2.9 and 5.2.10), and the tags of identities that they make (RFC 7343).

A HIT is | 2001:20::/28 (28 bits) | suite (4) | the middle of a hash of context and key (96) |; the suite of EdDSA asks
its hash for 96 bits, and needs no middle (RFC 9374, section 3.5.2.1). The suite says which hash the responder's
puzzles, MACs and keys are made with: RHASH.
"""

from __future__ import annotations

from enum import IntEnum
from ipaddress import IPv6Address

from wayname.hip.cshake import cshake128
from wayname.hip.errors import NoProposalError
from wayname.hip.parameters import HostId
from wayname.hip.rhash import CSHAKE_128, SHA_1, SHA_256, SHA_384, Rhash
from wayname.identity.hits import HITS, HitSuite, UnknownHitError, hit_suite

CONTEXT = bytes.fromhex("f0eff02fbff43d0fe7930c3c6e6174ea")
HASH_OCTETS = 12
UNKNOWN_PEER = IPv6Address(0)


# The suite that all implementations have.
REQUIRED = HitSuite.RSA_DSA_SHA256


class Algorithm(IntEnum):
    """What a public key is for."""

    DSA = 3
    RSA = 5
    ECDSA = 7
    ECDSA_LOW = 9
    EDDSA = 13


_SUITES = {
    Algorithm.DSA: HitSuite.RSA_DSA_SHA256,
    Algorithm.RSA: HitSuite.RSA_DSA_SHA256,
    Algorithm.ECDSA: HitSuite.ECDSA_SHA384,
    Algorithm.ECDSA_LOW: HitSuite.ECDSA_LOW_SHA1,
    Algorithm.EDDSA: HitSuite.EDDSA_CSHAKE128,
}
_HASHES = {
    HitSuite.RSA_DSA_SHA256: SHA_256,
    HitSuite.ECDSA_SHA384: SHA_384,
    HitSuite.ECDSA_LOW_SHA1: SHA_1,
    HitSuite.EDDSA_CSHAKE128: CSHAKE_128,
}


def suite_of(hit: IPv6Address) -> HitSuite:
    """Return the suite that a HIT is of."""
    try:
        return hit_suite(hit)
    except UnknownHitError as error:
        raise NoProposalError(str(error)) from None


def rhash_of(responder: IPv6Address) -> Rhash:
    """Return the hash that an exchange with a responder uses."""
    return _HASHES[suite_of(responder)]


def hit_of(host: HostId) -> IPv6Address:
    """Return the tag of an identity (RFC 7401, section 3.2)."""
    if host.algorithm not in tuple(Algorithm):
        raise NoProposalError(f"identities of algorithm {host.algorithm} are not known here")
    suite = _SUITES[Algorithm(host.algorithm)]
    prefix = int(HITS.network_address) | suite << 96
    return IPv6Address(prefix | int.from_bytes(_hash96(suite, CONTEXT + host.key)))


def _hash96(suite: HitSuite, data: bytes) -> bytes:
    if suite is HitSuite.EDDSA_CSHAKE128:
        return cshake128(data, HASH_OCTETS)
    digest = _HASHES[suite].digest(data)
    first = (len(digest) - HASH_OCTETS) // 2
    return digest[first : first + HASH_OCTETS]
