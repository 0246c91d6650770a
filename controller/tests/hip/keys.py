"""Keys of tests: always the same, so that what they make is."""

from __future__ import annotations

from functools import cache

from cryptography.hazmat.primitives.asymmetric import ec, ed448, ed25519, rsa

from wayname.hip.identities import Identity, identity_of
from wayname.identity.hits import Point


@cache
def ecdsa(number: int, curve: type[ec.EllipticCurve] = ec.SECP384R1, point: Point = Point.XY) -> Identity:
    """Return an identity on a curve."""
    return identity_of(ec.derive_private_key(0xC0FFEE + number, curve()), point=point)


@cache
def eddsa(number: int) -> Identity:
    """Return an identity on Ed25519."""
    return identity_of(ed25519.Ed25519PrivateKey.from_private_bytes(number.to_bytes(32)))


@cache
def eddsa448(number: int) -> Identity:
    """Return an identity on Ed448."""
    return identity_of(ed448.Ed448PrivateKey.from_private_bytes(number.to_bytes(57)))


@cache
def rsa_identity() -> Identity:
    """Return an RSA identity; this one is made anew, since all that is looked at has the same length."""
    return identity_of(rsa.generate_private_key(65537, 2048), b"\4site\7example\0")
