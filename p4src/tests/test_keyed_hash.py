"""The model of the pipeline's keyed hashes against the vectors that SipHash's authors published."""

from keyed_hash import WORD, secret, siphash, slot_hash


def words_of(message: bytes) -> list[int]:
    """A message padded as SipHash has it."""
    padded = message + bytes(-(len(message) + 1) % 8) + bytes([len(message) % 256])
    return [int.from_bytes(padded[at : at + 8], "little") for at in range(0, len(padded), 8)]


KEY = int.from_bytes(bytes(range(8)), "little") << 64 | int.from_bytes(bytes(range(8, 16)), "little")


def test_the_vectors() -> None:
    """SipHash-2-4 of 00 01 ... 0e, in its paper; the 128 bits of nothing and of 00, in its reference code."""
    hashed = siphash(KEY, words_of(bytes(range(15))), rounds=(2, 4), long=False)
    assert hashed == 0xA129CA6149BE45E5
    empty = secret(KEY, words_of(b""))
    assert (empty >> 64).to_bytes(8, "little").hex() == "a3817f04ba25a8e6"
    assert (empty & WORD).to_bytes(8, "little").hex() == "6df67214c7550293"
    one = secret(KEY, words_of(b"\0"))
    assert (one >> 64).to_bytes(8, "little").hex() + (one & WORD).to_bytes(8, "little").hex() == (
        "da87c1d86b99af44347659119b22fc45"
    )


def test_any_bit_of_a_message_and_of_a_key_reaches_half_of_the_hash() -> None:
    words = [0x0123456789ABCDEF, 0, 0xFEDCBA9876543210, 1, 32 << 56]
    hashed = slot_hash(KEY, words)
    changes = []
    for bit in range(64 * len(words)):
        other = list(words)
        other[bit // 64] ^= 1 << bit % 64
        changes.append((hashed ^ slot_hash(KEY, other)).bit_count())
    changes += [(hashed ^ slot_hash(KEY ^ 1 << bit, words)).bit_count() for bit in range(128)]
    assert min(changes) >= 12 and 30 < sum(changes) / len(changes) < 34
