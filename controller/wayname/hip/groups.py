"""Diffie-Hellman groups (RFC 7401, section 5.2.7): those of numbers (RFC 3526) and those of curves (RFC 5903).

The groups of numbers are computed here, as what could do it elsewhere is given up there; who wants to be safe from
whoever can measure the time of that takes curves, which are preferred. SECP160R1 is not among them: its
80 bits are too few, and nothing here can compute it.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from enum import IntEnum

from cryptography.hazmat.primitives.asymmetric import ec

from wayname.hip.errors import MessageError, NoProposalError
from wayname.hip.identities import octets_of, point_key, point_octets

GENERATOR = 2
# Twice the strength of the strongest group of numbers here, and more (RFC 3526, section 8).
EXPONENT_BITS = 512


class Group(IntEnum):
    """The groups by their numbers."""

    MODP_1536 = 3
    MODP_3072 = 4
    P256 = 7
    P384 = 8
    P521 = 9
    MODP_2048 = 11


# As RFC 3526 makes them: 2^n - 2^(n-64) - 1 + 2^64 (floor(2^(n-130) pi) + c).
_MODP = {Group.MODP_1536: (1536, 741804), Group.MODP_2048: (2048, 124476), Group.MODP_3072: (3072, 1690314)}
_CURVES: dict[Group, ec.EllipticCurve] = {
    Group.P256: ec.SECP256R1(),
    Group.P384: ec.SECP384R1(),
    Group.P521: ec.SECP521R1(),
}
PREFERRED = (Group.P384, Group.P256, Group.P521, Group.MODP_3072, Group.MODP_2048, Group.MODP_1536)


@dataclass(frozen=True, slots=True)
class KeyPair:
    """Half of an exchange."""

    group: Group
    secret: int = field(repr=False)
    public: bytes
    # That of a curve, while it is needed: it takes more memory than the rest, and the secret makes it again.
    key: ec.EllipticCurvePrivateKey | None = field(default=None, repr=False, compare=False)

    def shared_with(self, public: bytes) -> bytes:
        """Return what both ends know, and nobody else; raise MessageError if the peer's half is none."""
        if self.group in _CURVES:
            curve = _CURVES[self.group]
            return _shared_point(curve, self.key or _key(curve, self.secret), public)
        prime, size = prime_of(self.group), len(self.public)
        value = int.from_bytes(public)
        # All these primes are safe ones, so only these values are of a small subgroup (RFC 2785, section 3.1).
        if len(public) > size or not 1 < value < prime - 1:
            raise MessageError("the Diffie-Hellman value is none of its group")
        return pow(value, self.secret, prime).to_bytes(size)


def make_pair(group: Group, rng: random.Random) -> KeyPair:
    """Make a half of an exchange."""
    if group in _CURVES:
        # One bit less than the order has is always below it; zero is not to be had.
        secret = rng.getrandbits(_CURVES[group].key_size - 1) or 1
        key = _key(_CURVES[group], secret)
        return KeyPair(group, secret, point_octets(key.public_key()), key)
    prime = prime_of(group)
    secret = rng.getrandbits(EXPONENT_BITS) | 1 << EXPONENT_BITS
    return KeyPair(group, secret, pow(GENERATOR, secret, prime).to_bytes((prime.bit_length() + 7) // 8))


def known_group(number: int) -> Group:
    """Return a group by its number."""
    if number not in tuple(Group):
        raise NoProposalError(f"Diffie-Hellman group {number} is not known here")
    return Group(number)


def prime_of(group: Group) -> int:
    """Return the prime of a group of numbers."""
    bits, constant = _MODP[group]
    return (1 << bits) - (1 << bits - 64) - 1 + ((_PI >> _PI_BITS - (bits - 130)) + constant << 64)


def _pi(bits: int) -> int:
    """Return pi times 2 to the power of `bits`, rounded down, by Machin's formula."""
    guard = 64

    def arctangent(of: int) -> int:
        term = total = (1 << bits + guard) // of
        divisor, sign = 3, -1
        while term:
            term //= of * of
            total += sign * (term // divisor)
            divisor, sign = divisor + 2, -sign
        return total

    return 4 * (4 * arctangent(5) - arctangent(239)) >> guard


def _key(curve: ec.EllipticCurve, secret: int) -> ec.EllipticCurvePrivateKey:
    return ec.derive_private_key(secret, curve)


def _shared_point(curve: ec.EllipticCurve, key: ec.EllipticCurvePrivateKey, public: bytes) -> bytes:
    try:
        peer = point_key(curve, public)
    except ValueError:
        raise MessageError(f"{len(public)} octets are no point of {curve.name}") from None
    shared = key.exchange(ec.ECDH(), peer)
    return shared.rjust(octets_of(curve), b"\0")


_PI_BITS = 3072
_PI = _pi(_PI_BITS)
