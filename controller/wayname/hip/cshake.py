"""cSHAKE128 and KMAC128 (NIST SP 800-185) on Keccak-f[1600] (FIPS 202): hash and MAC of the suite of EdDSA.

hashlib and cryptography have SHAKE128 alone. That is cSHAKE128 as long as it has neither name nor customisation; all
else differs in its last bits, so the permutation is needed too. It is for what a few packets need: no MAC of data.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from functools import lru_cache

RATE = 168  # octets of the state that take part; the other 32 are what makes it hard to go back
LANES = 25
LANE_MASK = (1 << 64) - 1
ROUNDS = 24
SHAKE, CSHAKE = 0x1F, 0x04  # bits between message and padding, with the padding's first
LAST_OF_PADDING = 0x80
EMPTY = (0,) * LANES
MOST_BEGUN = 8


def cshake128(data: bytes, size: int, name: bytes = b"", customisation: bytes = b"") -> bytes:
    """Return so many octets of the hash of octets (SP 800-185, section 3)."""
    if not name and not customisation:
        return hashlib.shake_128(data).digest(size)
    return sponge(data, CSHAKE, size, _begun(name, customisation))


def kmac128(key: bytes, customisation: bytes = b"") -> Callable[[bytes, int], bytes]:
    """Return what makes MACs with a key: of octets, and so long (SP 800-185, section 4).

    The length counts: one of another length is another MAC throughout.
    """
    keyed = absorbed(_padded(_string(key)), _begun(b"KMAC", customisation))

    def mac(data: bytes, size: int) -> bytes:
        bits = _number(8 * size)
        return sponge(data + bits + bytes([len(bits)]), CSHAKE, size, keyed)

    return mac


def sponge(data: bytes, domain: int, size: int, begun: Sequence[int] = EMPTY) -> bytes:
    """Take octets in, block by block, and give so many out (FIPS 202, section 4)."""
    padded = bytearray(data + bytes([domain]))
    padded += bytes(-len(padded) % RATE)
    padded[-1] |= LAST_OF_PADDING
    state = absorbed(bytes(padded), begun)
    octets = b""
    while True:
        octets += b"".join(lane.to_bytes(8, "little") for lane in state[: RATE // 8])
        if len(octets) >= size:
            return octets[:size]
        state = permute(state)


def absorbed(blocks: bytes, begun: Sequence[int]) -> Sequence[int]:
    """Return the state after whole blocks went in."""
    state = list(begun)
    for start in range(0, len(blocks), RATE):
        for lane in range(RATE // 8):
            at = start + 8 * lane
            state[lane] ^= int.from_bytes(blocks[at : at + 8], "little")
        state = permute(state)
    return state


def permute(state: Sequence[int]) -> list[int]:
    """Return the state after Keccak-f[1600] (FIPS 202, section 3); lane x + 5 y is that of column x in row y."""
    lanes = list(state)
    for constant in _CONSTANTS:
        columns = [lanes[x] ^ lanes[x + 5] ^ lanes[x + 10] ^ lanes[x + 15] ^ lanes[x + 20] for x in range(5)]
        beside = [columns[x - 1] ^ _rotated(columns[(x + 1) % 5], 1) for x in range(5)]
        moved = [_rotated(lanes[at] ^ beside[at % 5], by) for at, by in _MOVES]
        lanes = [lane ^ ~moved[one] & moved[two] for lane, (one, two) in zip(moved, _ROW_MATES, strict=True)]
        lanes[0] ^= constant
    return lanes


@lru_cache(MOST_BEGUN)
def _begun(name: bytes, customisation: bytes) -> Sequence[int]:
    """Return the state that all hashes of a kind begin with."""
    return absorbed(_padded(_string(name) + _string(customisation)), EMPTY)


def _rotated(lane: int, by: int) -> int:
    return (lane << by | lane >> 64 - by) & LANE_MASK


def _moves() -> list[tuple[int, int]]:
    """Return for each place which lane comes there, and by how many bits it is turned (steps rho and pi)."""
    moves = {0: (0, 0)}
    x, y = 1, 0
    for step in range(LANES - 1):
        following = y, (2 * x + 3 * y) % 5
        moves[following[0] + 5 * following[1]] = x + 5 * y, (step + 1) * (step + 2) // 2 % 64
        x, y = following
    return [moves[place] for place in range(LANES)]


def _constants() -> list[int]:
    """Return what each round adds: bits of a shift register at places 2^j - 1 (step iota)."""
    constants, register = [], 1
    for _ in range(ROUNDS):
        constant = 0
        for j in range(7):
            constant |= (register & 1) << (1 << j) - 1
            register = register << 1 ^ (0x171 if register & 0x80 else 0)
        constants.append(constant)
    return constants


def _number(number: int) -> bytes:
    return number.to_bytes(max(1, (number.bit_length() + 7) // 8))


def _before(number: int) -> bytes:
    """Return a number behind its length (left_encode)."""
    octets = _number(number)
    return bytes([len(octets)]) + octets


def _string(octets: bytes) -> bytes:
    """Return octets behind their length in bits (encode_string)."""
    return _before(8 * len(octets)) + octets


def _padded(octets: bytes) -> bytes:
    """Return octets as whole blocks (bytepad)."""
    whole = _before(RATE) + octets
    return whole + bytes(-len(whole) % RATE)


_MOVES = _moves()
# The two lanes that follow each in its row (step chi).
_ROW_MATES = [(row + (x + 1) % 5, row + (x + 2) % 5) for row in range(0, LANES, 5) for x in range(5)]
_CONSTANTS = _constants()
