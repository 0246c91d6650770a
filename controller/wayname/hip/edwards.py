"""Keys of EdDSA (RFC 8032) as they stand in HOST_ID (RFC 9374, section 3.4.1.1).

| curve (16 bits) | 0 (16) | key, as RFC 8032 encodes it ... |

The curves that hash a message before they sign it (EdDSA25519ph, EdDSA448ph) are not used here.
"""

from __future__ import annotations

from dataclasses import dataclass

from cryptography.hazmat.primitives.asymmetric.ed448 import Ed448PrivateKey, Ed448PublicKey
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

EdwardsPrivateKey = Ed25519PrivateKey | Ed448PrivateKey
EdwardsPublicKey = Ed25519PublicKey | Ed448PublicKey

LABEL_OCTETS = 2
HEAD_OCTETS = 4


@dataclass(frozen=True, slots=True)
class Curve:
    """A curve that signs."""

    label: int
    key: type[Ed25519PublicKey] | type[Ed448PublicKey]
    octets: int
    prime: int
    # The y of all points of small order: whoever has one for a key has signatures that anybody can make.
    weak: frozenset[int]


_P25519 = (1 << 255) - 19
_P448 = (1 << 448) - (1 << 224) - 1
# Of order 8 on edwards25519: doubled it has y = 0, so 2 y^2 = 1 - d y^4.
_Y8 = 0x05FC536D880238B13933C6D305ACDFD5F098EFF289F4C345B027B2C28F95E826

ED25519 = Curve(1, Ed25519PublicKey, 32, _P25519, frozenset({0, 1, _P25519 - 1, _Y8, _P25519 - _Y8}))
ED448 = Curve(3, Ed448PublicKey, 57, _P448, frozenset({0, 1, _P448 - 1}))
_CURVES = {curve.label: curve for curve in (ED25519, ED448)}


def edwards_octets(key: EdwardsPublicKey) -> bytes:
    """Return a public key as it stands in HOST_ID."""
    label = ED25519.label if isinstance(key, Ed25519PublicKey) else ED448.label
    return label.to_bytes(LABEL_OCTETS) + bytes(HEAD_OCTETS - LABEL_OCTETS) + key.public_bytes_raw()


def edwards_key(octets: bytes) -> EdwardsPublicKey:
    """Return the public key out of HOST_ID; raise ValueError if it is none, or one that anybody can sign with."""
    head, key = octets[:HEAD_OCTETS], octets[HEAD_OCTETS:]
    curve = _CURVES.get(int.from_bytes(head[:LABEL_OCTETS]))
    if curve is None:
        raise ValueError(f"curve {int.from_bytes(head[:LABEL_OCTETS])} of EdDSA is not known")
    if any(head[LABEL_OCTETS:]):
        raise ValueError("between curve and key of EdDSA stands something")
    if len(key) != curve.octets:
        raise ValueError(f"a key of {len(key)} octets on a curve whose keys have {curve.octets}")
    # The highest bit is the sign of x; the rest is y (RFC 8032, sections 5.1.3 and 5.2.3).
    y = int.from_bytes(key, "little") & (1 << 8 * curve.octets - 1) - 1
    if y >= curve.prime:
        raise ValueError("y is not smaller than the prime of the curve")
    if y in curve.weak:
        raise ValueError("a point of small order, with which anybody can sign")
    return curve.key.from_public_bytes(key)


def edwards_octets_of_length(key: bytes) -> bytes | None:
    """Return a key that stands alone, as in the DNS, as it stands in HOST_ID; None if no curve has such a key."""
    curve = next((curve for curve in _CURVES.values() if curve.octets == len(key)), None)
    return None if curve is None else curve.label.to_bytes(LABEL_OCTETS) + bytes(HEAD_OCTETS - LABEL_OCTETS) + key
