"""cSHAKE128 and KMAC128, against hashlib and against NIST's samples (SP 800-185, "cSHAKE_samples", "KMAC_samples")."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wayname.hip.cshake import RATE, SHAKE, cshake128, kmac128, permute, sponge

KEY = bytes(range(0x40, 0x60))
SHORT, LONG = bytes(range(4)), bytes(range(200))


def test_the_permutation_of_nothing_begins_as_its_designers_say() -> None:
    assert permute([0] * 25)[0] == 0xF1258F7940E1DDE7
    assert permute(permute([0] * 25))[0] == 0x2D5C954DF96ECB3C


@pytest.mark.parametrize("size", [0, 1, RATE - 2, RATE - 1, RATE, RATE + 1, 2 * RATE])
def test_the_sponge_is_that_of_hashlib_at_the_ends_of_blocks(size: int) -> None:
    data = bytes(range(256))[:size] + bytes(max(0, size - 256))
    assert sponge(data, SHAKE, size) == hashlib.shake_128(data).digest(size)


@given(st.binary(max_size=400), st.integers(0, 400))
def test_the_sponge_is_that_of_hashlib(data: bytes, size: int) -> None:
    assert sponge(data, SHAKE, size) == hashlib.shake_128(data).digest(size)
    assert cshake128(data, size) == hashlib.shake_128(data).digest(size)


@pytest.mark.parametrize(
    ("data", "digest"),
    [
        (SHORT, "c1c36925b6409a04f1b504fcbca9d82b4017277cb5ed2b2065fc1d3814d5aaf5"),
        (LONG, "c5221d50e4f822d96a2e8881a961420f294b7b24fe3d2094baed2c6524cc166b"),
    ],
)
def test_cshake_is_that_of_the_samples(data: bytes, digest: str) -> None:
    assert cshake128(data, 32, b"", b"Email Signature").hex() == digest


@pytest.mark.parametrize(
    ("data", "customisation", "mac"),
    [
        (SHORT, b"", "e5780b0d3ea6f7d3a429c5706aa43a00fadbd7d49628839e3187243f456ee14e"),
        (SHORT, b"My Tagged Application", "3b1fba963cd8b0b59e8c1a6d71888b7143651af8ba0a7070c0979e2811324aa5"),
        (LONG, b"My Tagged Application", "1f5b4e6cca02209e0dcb5ca635b89a15e271ecc760071dfd805faa38f9729230"),
    ],
)
def test_kmac_is_that_of_the_samples(data: bytes, customisation: bytes, mac: str) -> None:
    assert kmac128(KEY, customisation)(data, 32).hex() == mac


def test_each_part_counts_and_none_runs_into_the_next() -> None:
    hashes = {
        cshake128(b"c", 32, b"a", b"b"),
        cshake128(b"c", 32, b"ab", b""),
        cshake128(b"c", 32, b"", b"ab"),
        cshake128(b"bc", 32, b"a", b""),
        cshake128(b"", 32, b"a", b"bc"),
        kmac128(b"a", b"b")(b"c", 32),
        kmac128(b"ac", b"b")(b"", 32),
        kmac128(b"a", b"b")(b"c", 64)[:32],
    }
    assert len(hashes) == 8
