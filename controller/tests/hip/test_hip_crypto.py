"""Identities, signatures, MACs, keys and puzzles of HIP."""

from __future__ import annotations

import hashlib
import hmac
import random
from ipaddress import IPv6Address
from typing import get_args

import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from hip.keys import ecdsa, eddsa, eddsa448, rsa_identity
from hypothesis import given
from hypothesis import strategies as st

from wayname.hip import ciphers
from wayname.hip.admission_control import PuzzleDifficulty
from wayname.hip.ciphers import Cipher, decrypt, encrypt
from wayname.hip.cshake import kmac128
from wayname.hip.errors import MessageError, NoProposalError, ProofError
from wayname.hip.esp.keys import Keys, draw_keys
from wayname.hip.esp.suites import SUITES, SuiteId
from wayname.hip.groups import PREFERRED, Group, known_group, make_pair, prime_of
from wayname.hip.groups import KeyPair as Pair
from wayname.hip.identities import Identity, PublicKey, generate, public_key, verify
from wayname.hip.keymat import Keymat
from wayname.hip.messages import Kind, Message, covered, decode_parameters, with_checksum
from wayname.hip.parameters import (
    EchoRequestUnsigned,
    HipCipher,
    HipMac,
    HipMac2,
    HipSignature,
    HipSignature2,
    HostId,
    Puzzle,
    R1Counter,
    Seq,
)
from wayname.hip.proofs import check_mac, check_r1, check_signature, seal, sign, sign_r1
from wayname.hip.puzzles import LIFETIME, TRIES, Asked, Puzzles, is_solved, solve
from wayname.hip.rhash import CSHAKE_128, SHA_256, SHA_384, Rhash
from wayname.hip.suites import CONTEXT, Algorithm, hit_of, rhash_of, suite_of
from wayname.identity.hits import HITS, HitSuite, Point
from wayname.wire.checksum import upper_layer_checksum

A, B = IPv6Address("2001:db8::1"), IPv6Address("2001:db8::2")
ONE, TWO = ecdsa(1), ecdsa(2)
ASKED = Asked(ONE.hit, TWO.hit, A, B)


def identities() -> list[Identity]:
    """Return one identity of each kind."""
    return [ecdsa(1, ec.SECP256R1), ONE, rsa_identity(), eddsa(1), eddsa448(1)]


def test_tcp_over_hits_has_the_checksum_of_the_rfc() -> None:
    # RFC 7401, appendix C.3.
    segment = bytes.fromhex("ffdc001600000001000000005002ffff00000000")
    assert upper_layer_checksum(IPv6Address("2001:20::1"), IPv6Address("2001:20::2"), 6, segment) == 0x6FAA


@pytest.mark.parametrize("which", range(3))
def test_a_hit_is_prefix_suite_and_the_middle_of_a_hash(which: int) -> None:
    identity = identities()[which]
    name, suite = ("sha256", 1) if isinstance(identity.host, HostId) and which == 2 else ("sha384", 2)
    digest = hashlib.new(name, CONTEXT + identity.host.key).digest()
    middle = (len(digest) * 8 - 96) // 2
    expected = int.from_bytes(digest) >> len(digest) * 8 - middle - 96 & (1 << 96) - 1
    assert identity.hit == IPv6Address(0x2001002 << 100 | suite << 96 | expected)
    assert (identity.hit in HITS, suite_of(identity.hit)) == (True, HitSuite(suite))


def test_suites_that_cannot_sign_here_still_have_hits() -> None:
    low = hit_of(HostId(Algorithm.ECDSA_LOW, b"\0\1" + bytes(40)))
    middle = int.from_bytes(hashlib.sha1(CONTEXT + b"\0\1" + bytes(40)).digest()) >> 32 & (1 << 96) - 1
    assert low == IPv6Address(0x2001002 << 100 | 3 << 96 | middle)
    assert suite_of(hit_of(HostId(Algorithm.DSA, bytes(213)))) is HitSuite.RSA_DSA_SHA256
    for host in (HostId(Algorithm.ECDSA_LOW, b"\0\1" + bytes(40)), HostId(Algorithm.DSA, bytes(213))):
        with pytest.raises(NoProposalError, match="not checked here"):
            verify(host, host.algorithm, bytes(40), b"")


@pytest.mark.parametrize(
    ("address", "complaint"),
    [
        ("2001:db8::1", "is no HIT"),
        ("2001:20::1", "HIT suite 0"),
        ("2001:24::1", "HIT suite 4"),
        ("2001:30::5", "is no HIT"),
    ],
)
def test_what_is_no_hit_is_refused(address: str, complaint: str) -> None:
    with pytest.raises(NoProposalError, match=complaint):
        suite_of(IPv6Address(address))


def test_identities_of_unknown_algorithms_are_refused() -> None:
    with pytest.raises(NoProposalError, match="algorithm 11"):
        hit_of(HostId(11, bytes(34)))
    with pytest.raises(NoProposalError, match="ECDSA_LOW are not made here"):
        generate(Algorithm.ECDSA_LOW)


@pytest.mark.parametrize("which", range(5))
def test_a_signature_is_verified_by_the_key_of_the_host_identity(which: int) -> None:
    identity = identities()[which]
    assert isinstance(public_key(identity.host), get_args(PublicKey))
    signature = identity.sign(b"data")
    verify(identity.host, identity.host.algorithm, signature, b"data")
    for spoilt in ((signature, b"date"), (signature[:-1], b"data"), (bytes(len(signature)), b"data")):
        with pytest.raises(ProofError, match="not one of"):
            verify(identity.host, identity.host.algorithm, *spoilt)
    with pytest.raises(ProofError, match="algorithm 3 by a key of algorithm"):
        verify(identity.host, Algorithm.DSA, signature, b"data")


@pytest.mark.parametrize("curve", [ec.SECP256R1, ec.SECP384R1])
def test_a_point_is_read_in_both_forms_and_each_has_a_hit_of_its_own(curve: type[ec.EllipticCurve]) -> None:
    plain, sec1 = ecdsa(1, curve), ecdsa(1, curve, Point.SEC1)
    assert sec1.host.key == plain.host.key[:2] + b"\4" + plain.host.key[2:]
    assert public_key(sec1.host) == public_key(plain.host)
    assert (sec1.hit, suite_of(sec1.hit)) == (hit_of(sec1.host), HitSuite.ECDSA_SHA384)
    assert sec1.hit != plain.hit
    verify(sec1.host, Algorithm.ECDSA, sec1.sign(b"data"), b"data")


@pytest.mark.parametrize(
    "host",
    [
        HostId(Algorithm.ECDSA, ecdsa(1).host.key[:2] + b"\2" + ecdsa(1).host.key[2:]),
        HostId(Algorithm.ECDSA, ecdsa(1).host.key[:2] + b"\4\4" + ecdsa(1).host.key[2:]),
        HostId(Algorithm.ECDSA, ecdsa(1).host.key[:2] + b"\2" + ecdsa(1).host.key[2:50]),
        HostId(Algorithm.RSA, b"\3\1\0\1" + b"\xff" * 64),
        HostId(Algorithm.RSA, b"\3\1\0\1" + b"\xff" * 2000),
        HostId(Algorithm.RSA, b"\0"),
        HostId(Algorithm.ECDSA, b"\0\3" + bytes(64)),
        HostId(Algorithm.ECDSA, b"\0\1" + b"\1" * 64),
        HostId(Algorithm.ECDSA, b""),
        HostId(Algorithm.EDDSA, b""),
    ],
)
def test_keys_that_are_none_are_refused(host: HostId) -> None:
    with pytest.raises(MessageError, match="holds no key"):
        public_key(host)


@pytest.mark.parametrize("group", PREFERRED)
def test_both_halves_of_an_exchange_know_the_same(group: Group) -> None:
    rng = random.Random(group)
    one, two = make_pair(group, rng), make_pair(group, rng)
    shared = one.shared_with(two.public)
    assert shared == two.shared_with(one.public)
    size = 2 if group in (Group.P256, Group.P384, Group.P521) else 1
    assert len(shared) * size == len(one.public) == len(two.public)


def test_a_curve_exchanges_as_in_its_rfc() -> None:
    # RFC 5903, section 8.1.
    secret = 0xC88F01F510D9AC3F70A292DAA2316DE544E9AAB8AFE84049C62A9C57862D1433
    peer = bytes.fromhex(
        "d12dfb5289c8d4f81208b70270398c342296970a0bccb74c736fc7554494bf63"
        "56fbf3ca366cc23e8157854c13c58d6aac23f046ada30f8353e74f33039872ab"
    )
    shared = Pair(Group.P256, secret, b"").shared_with(peer)
    assert shared.hex() == "d6840f6b42f6edafd13116e0e12565202fef8e9ece7dce03812464d04b9442de"


@pytest.mark.parametrize("group", [Group.MODP_1536, Group.MODP_2048, Group.MODP_3072])
def test_primes_are_safe_and_begin_and_end_as_they_must(group: Group) -> None:
    prime = prime_of(group)
    octets = prime.to_bytes(prime.bit_length() // 8)
    assert octets[:16].hex() == "ffffffffffffffffc90fdaa22168c234"
    assert octets[-8:] == b"\xff" * 8
    assert pow(3, prime - 1, prime) == 1
    assert pow(3, (prime - 1) // 2 - 1, (prime - 1) // 2) == 1


@pytest.mark.parametrize("value", [0, 1, -1, 0x100**192])
def test_values_of_small_subgroups_are_refused(value: int) -> None:
    prime = prime_of(Group.MODP_1536)
    pair = make_pair(Group.MODP_1536, random.Random(1))
    with pytest.raises(MessageError, match="none of its group"):
        pair.shared_with((value if value >= 0 else prime + value).to_bytes(193).lstrip(b"\0"))


@pytest.mark.parametrize("octets", [b"", bytes(96), b"\1" * 96, bytes(64)])
def test_points_that_are_on_no_curve_are_refused(octets: bytes) -> None:
    with pytest.raises(MessageError, match="no point of secp384r1"):
        make_pair(Group.P384, random.Random(1)).shared_with(octets)


def test_unknown_groups_are_refused() -> None:
    with pytest.raises(NoProposalError, match="group 10"):
        known_group(10)


def test_key_material_is_hkdf_of_secret_puzzle_and_sorted_hits() -> None:
    greater, smaller = sorted((ONE.hit, TWO.hit), reverse=True)
    material = Keymat.of(b"secret", b"I" * 48 + b"J" * 48, (ONE.hit, TWO.hit), SHA_384)
    sorted_otherwise = Keymat.of(b"secret", b"I" * 48 + b"J" * 48, (TWO.hit, ONE.hit), SHA_384)
    assert material.ahead().draw(1000) == sorted_otherwise.draw(1000)
    # RFC 5869: extract, then expand.
    key = hmac.digest(b"I" * 48 + b"J" * 48, b"secret", "sha384")
    info, blocks, block = smaller.packed + greater.packed, b"", b""
    for number in range(1, 5):
        block = hmac.digest(key, block + info + bytes([number]), "sha384")
        blocks += block
    assert material.ahead().draw(len(blocks)) == blocks
    ours, theirs = material.draw_hip_keys(Cipher.AES_128_CBC, SHA_384, greater, smaller)
    assert ours == Keys(blocks[:16], blocks[16:64])
    assert theirs == Keys(blocks[64:80], blocks[80:128])
    # ESP goes on from there (RFC 7402, section 7).
    assert material.at == 128
    assert draw_keys(material.draw, SUITES[SuiteId.AES_128_CBC_HMAC_SHA_256], smaller, greater)[1] == Keys(
        blocks[128:144], blocks[144:176]
    )


def test_key_material_comes_to_an_end() -> None:
    material = Keymat.of(b"secret", b"salt", (ONE.hit, TWO.hit), SHA_384)
    assert len(material.ahead().draw(255 * 48)) == 255 * 48
    with pytest.raises(MessageError, match="used up"):
        material.draw(255 * 48 + 1)
    assert material.at == 0


@pytest.mark.parametrize(("rhash", "name"), [(SHA_256, hashes.SHA256()), (SHA_384, hashes.SHA384())])
def test_key_material_is_that_of_the_library(rhash: Rhash, name: hashes.HashAlgorithm) -> None:
    info = b"".join(sorted((ONE.hit.packed, TWO.hit.packed)))
    theirs = HKDF(name, 255 * rhash.size, b"salt", info).derive(b"secret")
    assert Keymat.of(b"secret", b"salt", (ONE.hit, TWO.hit), rhash).draw(255 * rhash.size) == theirs


def test_key_material_of_eddsa_is_hkdf_with_kmac() -> None:
    one, two = sorted((eddsa(1).hit, eddsa(2).hit))
    mac = kmac128(kmac128(b"IJ")(b"secret", 32))
    first = mac(one.packed + two.packed + b"\1", 32)
    second = mac(first + one.packed + two.packed + b"\2", 32)
    assert Keymat.of(b"secret", b"IJ", (two, one), CSHAKE_128).draw(64) == first + second


@given(st.binary(max_size=100), st.sampled_from(Cipher))
def test_what_is_encrypted_is_read_with_the_key_alone(plain: bytes, cipher: Cipher) -> None:
    key = bytes(range(ciphers.key_octets(cipher)))
    hidden = encrypt(cipher, key, plain, random.Random(1))
    assert decrypt(cipher, key, hidden) == plain
    if cipher is not Cipher.NULL:
        assert len(hidden) == 16 + (len(plain) // 16 + 1) * 16
        with pytest.raises(ProofError):
            decrypt(cipher, key, hidden[:-1])


def test_a_wrong_key_reads_nothing() -> None:
    hidden = encrypt(Cipher.AES_128_CBC, bytes(16), b"\0" * 15, random.Random(1))
    with pytest.raises(ProofError, match="cannot be read"):
        decrypt(Cipher.AES_128_CBC, b"k" * 16, hidden)


def received(octets: bytes) -> tuple[bytes, Message]:
    """Return what the peer has of a packet."""
    octets = with_checksum(octets, A, B)
    return octets, Message(Kind(octets[2]), ONE.hit, TWO.hit, decode_parameters(octets, 40))


@pytest.mark.parametrize("which", range(5))
def test_macs_and_signatures_are_made_and_checked(which: int) -> None:
    identity = identities()[which]
    message = Message(Kind.UPDATE, identity.hit, TWO.hit, (Seq(1), EchoRequestUnsigned(b"echo")))
    octets, read = received(seal(message, identity, b"key", SHA_384))
    assert read.need(HipMac).data == hmac.digest(b"key", covered(octets, HipMac.number), "sha384")
    check_mac(octets, read, identity.host, b"key", SHA_384)
    check_signature(octets, read, identity.host)
    with pytest.raises(ProofError, match="MAC of UPDATE"):
        check_mac(octets, read, identity.host, b"another key", SHA_384)
    spoilt = octets[:47] + bytes([octets[47] ^ 1]) + octets[48:]
    with pytest.raises(ProofError, match="MAC"):
        check_mac(spoilt, read, identity.host, b"key", SHA_384)
    with pytest.raises(ProofError, match="signature"):
        check_signature(spoilt, read, identity.host)


def test_what_stands_behind_the_signature_may_change() -> None:
    message = Message(Kind.UPDATE, ONE.hit, TWO.hit, (Seq(1), EchoRequestUnsigned(b"echo")))
    octets, read = received(seal(message, ONE, b"key", SHA_384))
    check_signature(octets[:-8] + b"\xf8\xad\0\4fake", read, ONE.host)


def test_the_mac_of_r2_covers_the_identity_of_its_sender() -> None:
    octets, read = received(seal(Message(Kind.R2, ONE.hit, TWO.hit), ONE, b"key", SHA_384))
    assert read.find(HipMac) is None
    check_mac(octets, read, ONE.host, b"key", SHA_384)
    head = bytearray(covered(octets, HipMac2.number))
    identity = b"\2\xc1" + len(ONE.host.contents()).to_bytes(2) + ONE.host.contents()
    identity += bytes(-len(identity) % 8)
    head[1] = (len(head) + len(identity)) // 8 - 1
    assert read.need(HipMac2).data == hmac.digest(b"key", bytes(head) + identity, "sha384")
    with pytest.raises(ProofError, match="MAC of R2"):
        check_mac(octets, read, TWO.host, b"key", SHA_384)


def test_an_r1_is_signed_once_for_all_initiators() -> None:
    r1 = Message(
        Kind.R1, ONE.hit, IPv6Address(0), (R1Counter(1), Puzzle(8, 38, bytes(2), bytes(48)), HipCipher((4,)), ONE.host)
    )
    octets = sign_r1(r1, ONE)
    made_out = octets[:24] + TWO.hit.packed + octets[40:64] + b"opaque" + octets[70:]
    read = Message(Kind.R1, ONE.hit, TWO.hit, decode_parameters(made_out, 40))
    check_r1(made_out, read, ONE.host)
    assert isinstance(read.parameters[-1], HipSignature2)
    harder = made_out[:60] + bytes([made_out[60] ^ 1]) + made_out[61:]
    with pytest.raises(ProofError, match="signature"):
        check_r1(harder, read, ONE.host)


def test_a_notification_is_signed_only() -> None:
    octets, read = received(sign(Message(Kind.NOTIFY, ONE.hit, TWO.hit), ONE))
    assert read.need(HipSignature).algorithm == Algorithm.ECDSA
    check_signature(octets, read, ONE.host)


def test_a_puzzle_is_solved_by_trying_and_checked_by_hashing_once() -> None:
    puzzles = Puzzles(random.Random(1))
    puzzle = puzzles.make(ASKED, 8, 1000.0)
    solution = solve(puzzle, ASKED, random.Random(2), 8)
    digest = hashlib.sha384(puzzle.random + ONE.hit.packed + TWO.hit.packed + solution.solution).digest()
    assert digest[-1] == 0
    puzzles.check(ASKED, solution, 1000.0)
    assert not is_solved(Asked(TWO.hit, ONE.hit, A, B), 8, puzzle.random, solution.solution)


@pytest.mark.parametrize(
    "other", [Asked(TWO.hit, TWO.hit, A, B), Asked(ONE.hit, ONE.hit, A, B), Asked(ONE.hit, TWO.hit, B, B)]
)
def test_a_puzzle_serves_nobody_else(other: Asked) -> None:
    puzzles = Puzzles(random.Random(1))
    solution = solve(puzzles.make(ASKED, 4, 0.0), ASKED, random.Random(2), 8)
    with pytest.raises(ProofError, match="not ours"):
        puzzles.check(other, solution, 0.0)


def test_a_puzzle_is_neither_made_easier_nor_kept_for_long() -> None:
    puzzles = Puzzles(random.Random(1))
    solution = solve(puzzles.make(ASKED, 4, 0.0), ASKED, random.Random(2), 8)
    easier = type(solution)(1, solution.opaque, solution.random, solution.solution)
    with pytest.raises(ProofError, match="not ours"):
        puzzles.check(ASKED, easier, 0.0)
    wrong = solution.solution
    while is_solved(ASKED, 4, solution.random, wrong):
        wrong = ((int.from_bytes(wrong) + 1) % (1 << 384)).to_bytes(48)
    with pytest.raises(ProofError, match="not solved"):
        puzzles.check(ASKED, type(solution)(4, solution.opaque, solution.random, wrong), 0.0)
    puzzles.check(ASKED, solution, LIFETIME * 1.9)
    with pytest.raises(ProofError, match="too old"):
        puzzles.check(ASKED, solution, LIFETIME * 2)


def test_a_solution_serves_a_few_times() -> None:
    puzzles = Puzzles(random.Random(1))
    solution = solve(puzzles.make(ASKED, 1, 0.0), ASKED, random.Random(2), 8)
    for _ in range(TRIES):
        puzzles.spend(solution, 0.0)
    with pytest.raises(ProofError, match="served already"):
        puzzles.spend(solution, 0.0)


def test_puzzles_that_take_too_long_are_refused() -> None:
    puzzle = Puzzles(random.Random(1)).make(ASKED, 30, 0.0)
    with pytest.raises(MessageError, match="difficulty 30; more than 16"):
        solve(puzzle, ASKED, random.Random(2), 16)
    with pytest.raises(MessageError, match="32 octets for a hash of 48"):
        solve(Puzzle(1, 38, bytes(2), bytes(32)), ASKED, random.Random(2), 16)
    assert rhash_of(ASKED.responder).size == 48


def test_difficulty_rises_with_work_that_waits_and_falls_again() -> None:
    difficulty = PuzzleDifficulty(least=8, most=12, exchanges_per_second=10)
    assert difficulty.now(0.0) == 8
    for _ in range(25):
        difficulty.note(0.0)
    assert [difficulty.now(at) for at in (0.0, 0.5, 1.0, 1.6, 2.5)] == [10, 10, 9, 8, 8]
    for _ in range(1000):
        difficulty.note(3.0)
    assert difficulty.now(3.0) == 12
