"""Files of private keys: made when they are first wanted, and only for their owner to read."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
)

from wayname.identity.keys import PUBLIC_EXPONENT
from wayname.private_files import make_private, read_private

# RSA below 1024 bits, which RFC 3971 still allows, can be broken at home: the library makes no such keys.
LEAST_KEY_BITS = 1024
MOST_KEY_BITS = 2048


class KeyFileError(Exception):
    """A key file that cannot be used, in one line."""


def make_key(path: Path, bits: int) -> RSAPrivateKey:
    """Make a key, and its file, which must not be there yet."""
    key = rsa.generate_private_key(PUBLIC_EXPONENT, bits)
    write_key(path, key)
    return key


def write_key(path: Path, key: PrivateKeyTypes) -> None:
    """Make the file of a key, which must not be there yet; a crash leaves the whole key or none."""
    unfinished = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        with open(unfinished, "xb", opener=make_private) as file:
            file.write(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
            file.flush()
            os.fsync(file.fileno())
        try:
            # Unlike a renaming, it fails if somebody else made the file meanwhile.
            path.hardlink_to(unfinished)
        finally:
            unfinished.unlink()
    except OSError as error:
        raise KeyFileError(f"{path}: {error.strerror}; name a key file that can be read or made") from None


def read_key(path: Path) -> PrivateKeyTypes:
    """Read a key that nobody but its owner can read."""
    try:
        pem, wrong = read_private(path)
    except OSError as error:
        raise KeyFileError(f"{path}: {error.strerror}; name a key file that can be read or made") from None
    if wrong:
        raise KeyFileError(f"{path}: {wrong}")
    try:
        return load_pem_private_key(pem, None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        mend = "restore it, or remove it and a new one is made"
        raise KeyFileError(f"{path}: is no private key in PEM without a password; {mend}") from None


def edge_key(path: Path, bits: int) -> RSAPrivateKey:
    """Return the key of an edge: made at the first start, and never replaced, whatever bits are wanted later."""
    if not path.exists():
        make_folder(path.parent)
        return make_key(path, bits)
    key = read_key(path)
    if not isinstance(key, RSAPrivateKey):
        raise KeyFileError(f"{path}: is no RSA key, which Shim6 signs with; name another file")
    return key


def make_folder(folder: Path) -> None:
    """Make the folder of a key, unless it is there."""
    try:
        folder.mkdir(mode=stat.S_IRWXU, exist_ok=True)
    except OSError as error:
        raise KeyFileError(f"{folder}: {error.strerror}; name a folder that is there or can be made") from None


def public_half(key: PrivateKeyTypes) -> bytes:
    """Return the public key as CGA Parameters have it."""
    return key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
