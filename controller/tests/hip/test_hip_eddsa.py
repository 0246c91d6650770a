"""Identities of EdDSA (RFC 9374, section 3.4): HITs, HOST_ID, signatures of RFC 8032, and keys that are none."""

from __future__ import annotations

import hashlib
from ipaddress import IPv6Address

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hip.keys import ecdsa, eddsa, eddsa448
from hypothesis import given
from hypothesis import strategies as st

from wayname.hip.edwards import ED448, ED25519, edwards_key
from wayname.hip.errors import MessageError, ProofError
from wayname.hip.identities import Identity, generate, identity_of, public_key, verify
from wayname.hip.parameters import HostId
from wayname.hip.suites import CONTEXT, Algorithm, hit_of, rhash_of, suite_of
from wayname.identity.hits import HitSuite

HEAD_25519, HEAD_448 = b"\0\1\0\0", b"\0\3\0\0"
# RFC 8032, section 7.1: secret key, public key, message, signature. The second has a message of one octet.
VECTORS = [
    (
        "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        "",
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46b"
        "d25bf5f0595bbe24655141438e7a100b",
    ),
    (
        "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
        "72",
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c"
        "387b2eaeb4302aeeb00d291612bb0c00",
    ),
    (
        "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
        "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
        "af82",
        "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc659"
        "4a7c15e9716ed28dc027beceea1ec40a",
    ),
]


@pytest.mark.parametrize(("secret", "public", "message", "signature"), VECTORS)
def test_signatures_are_those_of_the_rfc(secret: str, public: str, message: str, signature: str) -> None:
    identity = identity_of(Ed25519PrivateKey.from_private_bytes(bytes.fromhex(secret)))
    assert identity.host == HostId(13, HEAD_25519 + bytes.fromhex(public))
    assert identity.sign(bytes.fromhex(message)).hex() == signature
    verify(identity.host, 13, bytes.fromhex(signature), bytes.fromhex(message))


@pytest.mark.parametrize(("identity", "head", "size"), [(eddsa(1), HEAD_25519, 32), (eddsa448(1), HEAD_448, 57)])
def test_a_hit_is_96_bits_of_the_hash_of_context_and_host_identity(identity: Identity, head: bytes, size: int) -> None:
    assert (identity.host.algorithm, identity.host.key[:4], len(identity.host.key)) == (13, head, 4 + size)
    # Without name and customisation cSHAKE128 is SHAKE128 (SP 800-185, section 3.3).
    digest = hashlib.shake_128(CONTEXT + identity.host.key).digest(12)
    assert identity.hit == IPv6Address(0x20010025 << 96 | int.from_bytes(digest))
    assert (suite_of(identity.hit), rhash_of(identity.hit).size) == (HitSuite.EDDSA_CSHAKE128, 32)


def test_a_key_is_made() -> None:
    assert suite_of(identity_of(generate(Algorithm.EDDSA)).hit) is HitSuite.EDDSA_CSHAKE128


@pytest.mark.parametrize(
    ("octets", "complaint"),
    [
        (b"", "curve 0 of EdDSA"),
        (b"\0\1", "0 octets on a curve whose keys have 32"),
        (b"\0\0\0\0" + b"\x66" * 32, "curve 0 of EdDSA"),
        (b"\0\2\0\0" + b"\x66" * 32, "curve 2 of EdDSA"),
        (b"\0\4\0\0" + b"\x66" * 57, "curve 4 of EdDSA"),
        (b"\1\0\0\0" + b"\x66" * 32, "curve 256 of EdDSA"),
        (HEAD_25519 + b"\x66" * 31, "31 octets on a curve whose keys have 32"),
        (HEAD_25519 + b"\x66" * 33, "33 octets"),
        (HEAD_448 + b"\x66" * 32, "32 octets on a curve whose keys have 57"),
        (HEAD_25519 + b"\x66" * 57, "57 octets"),
        (b"\0\1\0\1" + b"\x66" * 32, "stands something"),
        (b"\0\1" + b"\x66" * 32, "stands something"),
    ],
)
def test_host_identities_that_hold_no_key_are_refused(octets: bytes, complaint: str) -> None:
    with pytest.raises(MessageError, match=complaint):
        public_key(HostId(Algorithm.EDDSA, octets))


def times_two(x: int, y: int) -> tuple[int, int]:
    """Return a point of edwards25519 added to itself (RFC 8032, section 5.1.4)."""
    p = ED25519.prime
    d = -121665 * pow(121666, -1, p)
    both = d * x * x * y * y % p
    return 2 * x * y * pow(1 + both, -1, p) % p, (y * y + x * x) * pow(1 - both, -1, p) % p


def test_points_of_small_order_are_what_they_are_called() -> None:
    p = ED25519.prime
    d = -121665 * pow(121666, -1, p)
    for y in ED25519.weak:
        square = (y * y - 1) * pow(d * y * y + 1, -1, p) % p
        x = pow(square, (p + 3) // 8, p)
        x = x if x * x % p == square else x * pow(2, (p - 1) // 4, p) % p
        assert x * x % p == square
        for _ in range(3):
            x, y = times_two(x, y)
        assert (x, y) == (0, 1)
    # 4 points have order 8, with two values of y; 2 have order 4, with one; then there are -1 and 1.
    assert len(ED25519.weak) == 5


@pytest.mark.parametrize("sign", [0, 1])
@pytest.mark.parametrize("y", sorted(ED25519.weak))
def test_points_of_small_order_are_no_keys(y: int, sign: int) -> None:
    with pytest.raises(MessageError, match="anybody can sign"):
        public_key(HostId(Algorithm.EDDSA, HEAD_25519 + (y | sign << 255).to_bytes(32, "little")))


@pytest.mark.parametrize("y", sorted(ED448.weak))
def test_points_of_small_order_on_the_other_curve_are_no_keys(y: int) -> None:
    with pytest.raises(MessageError, match="anybody can sign"):
        public_key(HostId(Algorithm.EDDSA, HEAD_448 + y.to_bytes(57, "little")))


def test_a_key_of_small_order_would_sign_for_anybody() -> None:
    # The library takes such keys: 0 + h * 0 is 0, whatever is signed.
    neutral = (1).to_bytes(32, "little")
    ED25519.key.from_public_bytes(neutral).verify(neutral + bytes(32), b"anything")


@pytest.mark.parametrize(
    "octets",
    [HEAD_25519 + (ED25519.prime + 3).to_bytes(32, "little"), HEAD_25519 + b"\xff" * 32, HEAD_448 + b"\xff" * 57],
)
def test_numbers_that_are_no_coordinates_are_no_keys(octets: bytes) -> None:
    with pytest.raises(MessageError, match="smaller than the prime"):
        public_key(HostId(Algorithm.EDDSA, octets))


def test_a_key_that_is_on_no_curve_verifies_nothing() -> None:
    host = HostId(Algorithm.EDDSA, HEAD_25519 + (2).to_bytes(32, "little"))
    with pytest.raises(ProofError, match="not one of"):
        verify(host, Algorithm.EDDSA, eddsa(1).sign(b""), b"")


@pytest.mark.parametrize("identity", [eddsa(1), eddsa448(1)])
def test_signatures_of_another_length_or_key_are_none(identity: Identity) -> None:
    signature = identity.sign(b"data")
    for spoilt in (b"", signature[:-1], signature + b"\0", signature[:32], bytes(len(signature)), b"\xff" * 64):
        with pytest.raises(ProofError, match="not one of"):
            verify(identity.host, Algorithm.EDDSA, spoilt, b"data")
    for other in (eddsa(2), eddsa448(2)):
        with pytest.raises(ProofError, match="not one of"):
            verify(other.host, Algorithm.EDDSA, signature, b"data")


def test_a_signature_made_longer_by_the_order_is_none() -> None:
    # RFC 8032, section 5.1.7: s is smaller than the order, or signatures could be changed by anybody.
    signature = eddsa(1).sign(b"data")
    order = (1 << 252) + 27742317777372353535851937790883648493
    longer = signature[:32] + (int.from_bytes(signature[32:], "little") + order).to_bytes(32, "little")
    with pytest.raises(ProofError, match="not one of"):
        verify(eddsa(1).host, Algorithm.EDDSA, longer, b"data")


def test_a_signature_tells_the_algorithm_of_its_key() -> None:
    signature = eddsa(1).sign(b"data")
    for host, algorithm in ((eddsa(1).host, Algorithm.ECDSA), (ecdsa(1).host, Algorithm.EDDSA)):
        with pytest.raises(ProofError, match="by a key of algorithm"):
            verify(host, algorithm, signature, b"data")


@given(st.binary(max_size=70), st.binary(max_size=120))
def test_whatever_stands_in_a_host_identity_is_a_key_or_is_refused(key: bytes, signature: bytes) -> None:
    host = HostId(Algorithm.EDDSA, key)
    assert suite_of(hit_of(host)) is HitSuite.EDDSA_CSHAKE128
    with pytest.raises(MessageError):
        verify(host, Algorithm.EDDSA, signature, b"data")


@given(st.binary(min_size=32, max_size=32))
def test_any_secret_makes_an_identity_whose_signatures_are_its_own(secret: bytes) -> None:
    identity = identity_of(Ed25519PrivateKey.from_private_bytes(secret))
    assert edwards_key(identity.host.key) == identity.key.public_key()
    verify(identity.host, Algorithm.EDDSA, identity.sign(secret), secret)
    with pytest.raises(ProofError):
        verify(identity.host, Algorithm.EDDSA, identity.sign(secret), secret + b"\0")
