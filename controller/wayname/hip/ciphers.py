"""What hides parameters of HIP packets (RFC 7401, sections 5.2.8 and 5.2.18): AES in CBC mode, or nothing.

The data is the initialisation vector and what AES made of the parameters, which PKCS 5 fills up to whole blocks.
"""

from __future__ import annotations

import random
from enum import IntEnum

from cryptography.hazmat.primitives import padding
from cryptography.hazmat.primitives.ciphers import Cipher as Running
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import CBC

from wayname.hip.errors import ProofError

BLOCK_OCTETS = 16


class Cipher(IntEnum):
    """The ciphers by their numbers."""

    NULL = 1
    AES_128_CBC = 2
    AES_256_CBC = 4


_KEY_OCTETS = {Cipher.NULL: 0, Cipher.AES_128_CBC: 16, Cipher.AES_256_CBC: 32}
# NULL is never offered unless somebody asks for it.
PREFERRED = (Cipher.AES_256_CBC, Cipher.AES_128_CBC)


def key_octets(cipher: Cipher) -> int:
    """Return the size of a key."""
    return _KEY_OCTETS[cipher]


def encrypt(cipher: Cipher, key: bytes, plain: bytes, rng: random.Random) -> bytes:
    """Hide octets."""
    if cipher is Cipher.NULL:
        return plain
    vector = rng.randbytes(BLOCK_OCTETS)
    padder = padding.PKCS7(8 * BLOCK_OCTETS).padder()
    running = Running(AES(key), CBC(vector)).encryptor()
    return vector + running.update(padder.update(plain) + padder.finalize()) + running.finalize()


def decrypt(cipher: Cipher, key: bytes, data: bytes) -> bytes:
    """Return what was hidden; raise ProofError if it was not hidden so."""
    if cipher is Cipher.NULL:
        return data
    if len(data) % BLOCK_OCTETS or len(data) < 2 * BLOCK_OCTETS:
        raise ProofError(f"{len(data)} octets are no vector and whole blocks")
    running = Running(AES(key), CBC(data[:BLOCK_OCTETS])).decryptor()
    unpadder = padding.PKCS7(8 * BLOCK_OCTETS).unpadder()
    try:
        return unpadder.update(running.update(data[BLOCK_OCTETS:]) + running.finalize()) + unpadder.finalize()
    except ValueError:
        raise ProofError("what was encrypted cannot be read with this key") from None
