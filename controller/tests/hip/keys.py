"""Keys of tests: always the same, so that what they make is."""

from __future__ import annotations

from functools import cache

from cryptography.hazmat.primitives.asymmetric import ec, rsa

from wayname.hip.identities import Identity, identity_of


@cache
def ecdsa(number: int, curve: type[ec.EllipticCurve] = ec.SECP384R1) -> Identity:
    """Return an identity on a curve."""
    return identity_of(ec.derive_private_key(0xC0FFEE + number, curve()))


@cache
def rsa_identity() -> Identity:
    """Return an RSA identity; this one is made anew, since all that is looked at has the same length."""
    return identity_of(rsa.generate_private_key(65537, 2048), b"\4site\7example\0")
