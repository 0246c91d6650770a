"""Seals what etcd is to keep and not to know: state and secrets of sessions, by a key that only controllers have.

    form (1)  key (4)  salt (16)  nonce (12)  AES-256-GCM of the value, bound to where it stands

The salt makes a key of its own for each leader, so that nonces can be random however much is written (SP 800-38D, 8.3).
"""

from __future__ import annotations

import hmac
import os
import re
from dataclasses import dataclass, field
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from wayname.private_files import read_private

# The form of sealed values, and of what is in them. A controller refuses those of a newer one.
FORM = 1
KEY_OCTETS = 32
_ID_OCTETS, _SALT_OCTETS, _NONCE_OCTETS = 4, 16, 12
_NAME_OCTETS = 16
_HEAD = 1 + _ID_OCTETS + _SALT_OCTETS + _NONCE_OCTETS
_MEND = "`wayname fleet key` prints one; all controllers of the fleet have the same file"


class SealError(Exception):
    """A key or a value that cannot be used, in one line."""


def new_key() -> str:
    """Return a new line for the file of keys."""
    return os.urandom(KEY_OCTETS).hex()


@dataclass(frozen=True, slots=True)
class _Key:
    octets: bytes = field(repr=False)

    @property
    def id(self) -> bytes:
        """What names it beside a value."""
        return hmac.digest(self.octets, b"wayname fleet: id", "sha256")[:_ID_OCTETS]

    def derived(self, salt: bytes) -> AESGCM:
        """Return the cipher of a leader."""
        return AESGCM(HKDF(SHA256(), KEY_OCTETS, salt, b"wayname fleet: values").derive(self.octets))


class Seal:
    """Seals by the first key of a file, and opens by any of them."""

    def __init__(self, keys: list[bytes]) -> None:
        self._keys = {key.id: key for key in map(_Key, keys)}
        self._first = next(iter(self._keys.values()))
        self._salt = os.urandom(_SALT_OCTETS)
        self._cipher = self._first.derived(self._salt)
        # By key and salt: a leader's values are opened by one derivation.
        self._opened: dict[bytes, AESGCM] = {}

    @classmethod
    def read(cls, path: Path) -> Seal:
        """Read a file of keys, a line for each."""
        try:
            octets, wrong = read_private(path)
        except OSError as error:
            raise SealError(f"{path}: cannot be read ({error.strerror}); {_MEND}") from None
        if wrong:
            raise SealError(f"{path}: {wrong}")
        lines = [line for line in octets.decode("ascii", "replace").split("\n") if line.strip()]
        if not lines or not all(re.fullmatch(rf"[0-9a-f]{{{2 * KEY_OCTETS}}}", line.strip()) for line in lines):
            raise SealError(f"{path}: is no list of keys of {2 * KEY_OCTETS} hexadecimal digits; {_MEND}")
        return cls([bytes.fromhex(line) for line in lines])

    def name(self, text: str) -> str:
        """Return what stands in etcd in place of a name, which may say who talks to whom."""
        return hmac.digest(self._first.octets, f"name {text}".encode(), "sha256")[:_NAME_OCTETS].hex()

    def close(self, where: bytes, value: bytes) -> bytes:
        """Seal a value for the place where it is to stand."""
        nonce = os.urandom(_NONCE_OCTETS)
        head = bytes([FORM]) + self._first.id + self._salt + nonce
        return head + self._cipher.encrypt(nonce, value, head + where)

    @property
    def names(self) -> list[str]:
        """What names each key, the one that seals first; a name says nothing of its key."""
        return [each.hex() for each in self._keys]

    def is_by_first(self, sealed: bytes) -> bool:
        """Whether no older key is needed to open it."""
        return sealed[: 1 + _ID_OCTETS] == bytes([FORM]) + self._first.id

    def open(self, where: bytes, sealed: bytes) -> bytes:
        """Open what stands somewhere; raise `SealError` if it is of no use here."""
        place = where.decode("utf-8", "replace")
        if sealed[:1] != bytes([FORM]):
            raise SealError(refusal(place, sealed[0] if sealed else 0))
        head, salt_of_key = sealed[:_HEAD], sealed[1 : _HEAD - _NONCE_OCTETS]
        key = self._keys.get(head[1 : 1 + _ID_OCTETS])
        if key is None:
            raise SealError(f"{place} in etcd is sealed by a key that fleet.sealing_key has not; add its line there")
        cipher = self._opened.get(salt_of_key)
        if cipher is None:
            cipher = self._opened[salt_of_key] = key.derived(salt_of_key[_ID_OCTETS:])
        try:
            return cipher.decrypt(head[-_NONCE_OCTETS:], sealed[_HEAD:], head + where)
        except InvalidTag:
            raise SealError(f"{place} in etcd was changed by somebody who has not the key; delete it there") from None


def refusal(place: str, form: int, known: int = FORM) -> str:
    """Say why a value of another form is not read."""
    return f"{place} in etcd has form {form}, and this wayname reads {known}: upgrade this controller"
