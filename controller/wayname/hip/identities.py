"""Host identities: keys that sign, and the public keys that stand in HOST_ID (RFC 7401, section 5.2.9).

RSA: length of the exponent (8 bits, or 0 and 16 bits), exponent, modulus (RFC 3110); signatures are PSS with SHA-256
and a salt as long as the hash. ECDSA: curve (16 bits), x and y, or an octet 4
before them; signatures are r and s, each as long as the order
of the curve (RFC 4754), over SHA-384, the hash of the suite, whichever the curve. EdDSA: see edwards.py; signatures are
those of RFC 8032 over the octets themselves.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from ipaddress import IPv6Address

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature, encode_dss_signature

from wayname.hip.edwards import EdwardsPrivateKey, EdwardsPublicKey, edwards_key, edwards_octets
from wayname.hip.errors import MessageError, NoProposalError, ProofError
from wayname.hip.parameters import HostId
from wayname.hip.suites import Algorithm, hit_of
from wayname.identity.hits import Point
from wayname.identity.rsa_limits import check_rsa_numbers

LEAST_RSA_BITS = 2048
SEC1_UNCOMPRESSED = b"\4"
RSA_EXPONENT = 65537
RSA_HASH = hashes.SHA256()
ECDSA_HASH = hashes.SHA384()
PSS = padding.PSS(padding.MGF1(RSA_HASH), RSA_HASH.digest_size)

PrivateKey = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey | EdwardsPrivateKey
PublicKey = rsa.RSAPublicKey | ec.EllipticCurvePublicKey | EdwardsPublicKey


class CurveLabel(IntEnum):
    """The curves by their numbers."""

    P256 = 1
    P384 = 2


_CURVES: dict[CurveLabel, ec.EllipticCurve] = {CurveLabel.P256: ec.SECP256R1(), CurveLabel.P384: ec.SECP384R1()}


@dataclass(frozen=True, slots=True)
class Identity:
    """A host that this end speaks for."""

    key: PrivateKey = field(repr=False)
    host: HostId
    hit: IPv6Address

    def sign(self, data: bytes) -> bytes:
        """Return a signature over octets."""
        if isinstance(self.key, rsa.RSAPrivateKey):
            return self.key.sign(data, PSS, RSA_HASH)
        if isinstance(self.key, EdwardsPrivateKey):
            return self.key.sign(data)
        r, s = decode_dss_signature(self.key.sign(data, ec.ECDSA(ECDSA_HASH)))
        size = octets_of(self.key.curve)
        return r.to_bytes(size) + s.to_bytes(size)


def identity_of(key: PrivateKey, name: bytes = b"", point: Point = Point.XY) -> Identity:
    """Return the identity that a key makes; the name is a domain name as it stands in DNS messages."""
    algorithm, octets = _public_octets(key.public_key(), point)
    host = HostId(algorithm, octets, 1 if name else 0, name)
    return Identity(key, host, hit_of(host))


def generate(algorithm: Algorithm) -> PrivateKey:
    """Make a key."""
    if algorithm is Algorithm.RSA:
        return rsa.generate_private_key(RSA_EXPONENT, LEAST_RSA_BITS)
    if algorithm is Algorithm.ECDSA:
        return ec.generate_private_key(ec.SECP384R1())
    if algorithm is Algorithm.EDDSA:
        return Ed25519PrivateKey.generate()
    raise NoProposalError(f"keys of {algorithm.name} are not made here")


def verify(host: HostId, algorithm: int, signature: bytes, data: bytes) -> None:
    """Raise ProofError if a signature is not one of this host over these octets."""
    key = public_key(host)
    if algorithm != host.algorithm:
        raise ProofError(f"a signature of algorithm {algorithm} by a key of algorithm {host.algorithm}")
    try:
        if isinstance(key, rsa.RSAPublicKey):
            key.verify(signature, data, PSS, RSA_HASH)
            return
        if isinstance(key, EdwardsPublicKey):
            key.verify(signature, data)
            return
        size = octets_of(key.curve)
        if len(signature) != 2 * size:
            raise InvalidSignature
        numbers = int.from_bytes(signature[:size]), int.from_bytes(signature[size:])
        key.verify(encode_dss_signature(*numbers), data, ec.ECDSA(ECDSA_HASH))
    except InvalidSignature:
        raise ProofError(f"the signature is not one of {hit_of(host)}") from None


def public_key(host: HostId) -> PublicKey:
    """Return the key that a host's signatures are checked with."""
    try:
        if host.algorithm == Algorithm.RSA:
            return _rsa_key(host.key)
        if host.algorithm == Algorithm.ECDSA:
            return _ecdsa_key(host.key)
        if host.algorithm == Algorithm.EDDSA:
            return edwards_key(host.key)
    except ValueError as error:
        raise MessageError(f"the host identity holds no key: {error}") from None
    raise NoProposalError(f"signatures of algorithm {host.algorithm} are not checked here")


def octets_of(curve: ec.EllipticCurve) -> int:
    """Return how many octets a coordinate has, which are as many as the order has."""
    return (curve.key_size + 7) // 8


def point_octets(key: ec.EllipticCurvePublicKey) -> bytes:
    """Return x and y."""
    return key.public_bytes(serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint)[1:]


def point_key(curve: ec.EllipticCurve, octets: bytes) -> ec.EllipticCurvePublicKey:
    """Return the key of x and y; raise ValueError if that is no point of the curve."""
    return ec.EllipticCurvePublicKey.from_encoded_point(curve, b"\x04" + octets)


def _rsa_key(octets: bytes) -> rsa.RSAPublicKey:
    if len(octets) < 3:
        raise ValueError(f"{len(octets)} octets hold no exponent and modulus")
    length, first = (octets[0], 1) if octets[0] else (int.from_bytes(octets[1:3]), 3)
    exponent, modulus = (int.from_bytes(part) for part in (octets[first : first + length], octets[first + length :]))
    check_rsa_numbers(exponent, modulus, LEAST_RSA_BITS)
    return rsa.RSAPublicNumbers(exponent, modulus).public_key()


def _ecdsa_key(octets: bytes) -> ec.EllipticCurvePublicKey:
    label = int.from_bytes(octets[:2])
    if label not in tuple(CurveLabel):
        raise ValueError(f"curve {label} is not known")
    curve, point = _CURVES[CurveLabel(label)], octets[2:]
    # RFC 7401 has x and y, after RFC 4754; others write the octet of SEC 1 before them. The length tells which it is.
    if len(point) == 2 * octets_of(curve) + 1 and point.startswith(SEC1_UNCOMPRESSED):
        point = point[1:]
    return point_key(curve, point)


def _public_octets(key: PublicKey, point: Point) -> tuple[Algorithm, bytes]:
    if isinstance(key, rsa.RSAPublicKey):
        numbers = key.public_numbers()
        try:
            # A packet has 2048 octets at the most, and R1 holds key and signature: longer ones do not fit.
            check_rsa_numbers(numbers.e, numbers.n, LEAST_RSA_BITS)
        except ValueError as error:
            raise NoProposalError(f"RSA of {key.key_size} bits: {error}") from None
        exponent, modulus = (one.to_bytes((one.bit_length() + 7) // 8) for one in (numbers.e, numbers.n))
        length = bytes([len(exponent)]) if len(exponent) < 256 else b"\0" + len(exponent).to_bytes(2)
        return Algorithm.RSA, length + exponent + modulus
    if isinstance(key, EdwardsPublicKey):
        return Algorithm.EDDSA, edwards_octets(key)
    label = next((label for label, curve in _CURVES.items() if curve.name == key.curve.name), None)
    if label is None:
        raise NoProposalError(f"identities on curve {key.curve.name} are not known to HIP")
    before = SEC1_UNCOMPRESSED if point is Point.SEC1 else b""
    return Algorithm.ECDSA, label.to_bytes(2) + before + point_octets(key)
