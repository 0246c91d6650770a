"""Keys out of a Diffie-Hellman secret (RFC 7401, section 6.5).

HKDF (RFC 5869), which is the function of every group here, with the MAC of RHASH in HMAC's place; the salt is I and J,
the info is the smaller HIT and the greater one. Keys are drawn one after the other: encryption and integrity of the
host with the greater HIT, then of the other, and behind them those of ESP.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from ipaddress import IPv6Address

from wayname.hip.ciphers import Cipher, key_octets
from wayname.hip.errors import MessageError
from wayname.hip.esp.keys import Keys
from wayname.hip.rhash import Rhash

MOST_BLOCKS = 255


@dataclass(slots=True)
class _Material:
    """Key material as far as it was wanted."""

    blocks: Iterator[bytes]
    size: int  # of all that there can be
    octets: bytes = field(default=b"", repr=False)

    def upto(self, size: int) -> bytes:
        """Return so much of it."""
        while len(self.octets) < size:
            block = next(self.blocks, None)
            if block is None:
                raise MessageError("the key material is used up; a new Diffie-Hellman value is needed")
            self.octets += block
        return self.octets[:size]


@dataclass(slots=True)
class Keymat:
    """Key material, and from where the next key is drawn; it is made as far as keys are drawn."""

    material: _Material = field(repr=False)
    at: int = 0

    @classmethod
    def of(cls, secret: bytes, salt: bytes, hits: Iterable[IPv6Address], rhash: Rhash) -> Keymat:
        """Derive it from what both ends know."""
        info = b"".join(hit.packed for hit in sorted(hits))
        blocks = _expanded(rhash.keyed(rhash.mac(salt, secret)), info)
        return cls(_Material(blocks, MOST_BLOCKS * rhash.size))

    @property
    def size(self) -> int:
        """How many octets there can be."""
        return self.material.size

    def ahead(self) -> Keymat:
        """Return the same material to draw keys from that may not come to be."""
        return Keymat(self.material, self.at)

    def draw(self, size: int) -> bytes:
        """Return the next octets."""
        octets = self.material.upto(self.at + size)[self.at :]
        self.at += size
        return octets

    def draw_hip_keys(self, cipher: Cipher, rhash: Rhash, local: IPv6Address, peer: IPv6Address) -> tuple[Keys, Keys]:
        """Return the keys for what leaves and for what comes."""
        greater, lesser = (Keys(self.draw(key_octets(cipher)), self.draw(rhash.size)) for _ in range(2))
        return (greater, lesser) if local > peer else (lesser, greater)


def _expanded(mac: Callable[[bytes], bytes], info: bytes) -> Iterator[bytes]:
    """Expand (RFC 5869, section 2.3)."""
    block = b""
    for number in range(1, MOST_BLOCKS + 1):
        block = mac(block + info + bytes([number]))
        yield block
