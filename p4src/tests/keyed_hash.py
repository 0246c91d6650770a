"""SipHash as the pipeline has it (Aumasson and Bernstein): over words, the last one with the length on top."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

WORD = (1 << 64) - 1
SECOND = 1_000_000
PERIOD_BITS = 26


class Keys(NamedTuple):
    """The secrets of a switch."""

    slots: int
    nonces: int


# What the switches of tests have.
KEYS = Keys(0x07060504030201000F0E0D0C0B0A0908, 0x9B45_1D6E_0F8A_4C33_A2D7_60E1_558C_F90B)
Slots = tuple[int, int]


def slot_hash(key: int, words: Sequence[int]) -> int:
    """SipHash-1-3 with 64 bits."""
    return siphash(key, words, rounds=(1, 3), long=False)


def secret(key: int, words: Sequence[int]) -> int:
    """SipHash-2-4 with 128 bits, the first half on top."""
    return siphash(key, words, rounds=(2, 4), long=True)


def of_addresses(local: int, remote: int) -> list[int]:
    """Two addresses as words."""
    return [part for address in (local, remote) for part in (address >> 64, address & WORD)]


def pair_slot(local: int, remote: int, slots: int, keys: Keys = KEYS) -> int:
    """The slot of a watched pair."""
    return (slot_hash(keys.slots, [*of_addresses(local, remote), 32 << 56]) & 0xFFFFFFFF) % slots


def address_slot(address: int, slots: int) -> int:
    """The place of what is kept by an address."""
    return (slot_hash(KEYS.slots, [address >> 64, address & WORD, 16 << 56]) & 0xFFFFFFFF) % slots


def border_slots(local: int, remote: int, next_header: int, ports: tuple[int, int], slots: int) -> Slots:
    """The two slots of a flow over a border; ports are the local and the remote one."""
    last = 37 << 56 | next_header << 32 | ports[0] << 16 | ports[1]
    hashed = slot_hash(KEYS.slots, [*of_addresses(local, remote), last])
    return (hashed & 0xFFFFFFFF) % slots, (hashed >> 32) % slots


def nonce(local: int, remote: int, microseconds: int, octets: int, keys: Keys = KEYS) -> bytes:
    """The nonce that a switch draws for a pair of addresses at a time of its clock."""
    drawn = secret(keys.nonces, [*of_addresses(local, remote), 38 << 56 | microseconds >> PERIOD_BITS])
    return (drawn & (1 << 8 * octets) - 1).to_bytes(octets)


def siphash(key: int, words: Sequence[int], rounds: tuple[int, int], long: bool) -> int:
    first, second = key >> 64, key & WORD
    state = [word ^ text for word, text in zip((first, second, first, second), _TEXT, strict=True)]
    if long:
        state[1] ^= 0xEE
    for word in words:
        state[3] ^= word
        _round(state, rounds[0])
        state[0] ^= word
    state[2] ^= 0xEE if long else 0xFF
    _round(state, rounds[1])
    result = _fold(state)
    if long:
        state[1] ^= 0xDD
        _round(state, rounds[1])
        result = result << 64 | _fold(state)
    return result


_TEXT = [int.from_bytes(b"somepseudorandomlygeneratedbytes"[at : at + 8]) for at in range(0, 32, 8)]


def _round(state: list[int], times: int) -> None:
    for _ in range(times):
        v0, v1, v2, v3 = state
        v0 = v0 + v1 & WORD
        v1 = _rotated(v1, 13) ^ v0
        v0 = _rotated(v0, 32)
        v2 = v2 + v3 & WORD
        v3 = _rotated(v3, 16) ^ v2
        v0 = v0 + v3 & WORD
        v3 = _rotated(v3, 21) ^ v0
        v2 = v2 + v1 & WORD
        v1 = _rotated(v1, 17) ^ v2
        v2 = _rotated(v2, 32)
        state[:] = v0, v1, v2, v3


def _rotated(word: int, by: int) -> int:
    return (word << by | word >> 64 - by) & WORD


def _fold(state: Sequence[int]) -> int:
    return state[0] ^ state[1] ^ state[2] ^ state[3]
