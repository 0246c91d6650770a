"""Keys out of a Diffie-Hellman secret (RFC 7401, section 6.5).

HKDF with RHASH; the salt is I and J, the info is the smaller HIT and the greater one. Keys are drawn one after the
other: encryption and integrity of the host with the greater HIT, then of the other, and behind them those of ESP.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv6Address

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from wayname.hip.ciphers import Cipher, key_octets
from wayname.hip.errors import MessageError
from wayname.hip.esp.keys import Keys

MOST_BLOCKS = 255


@dataclass(slots=True)
class Keymat:
    """As much key material as there can be, and from where the next key is drawn."""

    material: bytes
    at: int = 0

    @classmethod
    def of(cls, secret: bytes, salt: bytes, hits: Iterable[IPv6Address], rhash: hashes.HashAlgorithm) -> Keymat:
        """Derive it from what both ends know."""
        info = b"".join(hit.packed for hit in sorted(hits))
        return cls(HKDF(rhash, MOST_BLOCKS * rhash.digest_size, salt, info).derive(secret))

    def draw(self, size: int) -> bytes:
        """Return the next octets."""
        if self.at + size > len(self.material):
            raise MessageError("the key material is used up; a new Diffie-Hellman value is needed")
        self.at += size
        return self.material[self.at - size : self.at]

    def draw_hip_keys(
        self, cipher: Cipher, rhash: hashes.HashAlgorithm, local: IPv6Address, peer: IPv6Address
    ) -> tuple[Keys, Keys]:
        """Return the keys for what leaves and for what comes."""
        greater, lesser = (Keys(self.draw(key_octets(cipher)), self.draw(rhash.digest_size)) for _ in range(2))
        return (greater, lesser) if local > peer else (lesser, greater)
