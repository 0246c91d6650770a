"""What an edge tells the others of its fleet of a host, and the tags that two edges derive from that without a message.

    public key of the edge, X25519 (32)  identity of the host (16)  options, as I2 and R2 bear them

The secret that two edges have in common (RFC 7748, section 6.1) makes the tags of both directions (RFC 5869), bound to
the two records. So they are the same where both edges read the same records, and nobody else can guess them.
"""

from __future__ import annotations

import hashlib
import random
from collections import OrderedDict
from dataclasses import dataclass
from ipaddress import IPv6Address

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from wayname.shim6.context import LocalHost
from wayname.wire.errors import DecodeError
from wayname.wire.shim6.messages import TAG_BITS
from wayname.wire.shim6.options import Option, OptionType, decode_options

KEY_OCTETS = 32
ULID_OCTETS = 16
_FIXED_OCTETS = KEY_OCTETS + ULID_OCTETS
# Of edges whose secrets are kept: making one is the dear part.
MOST_SECRETS = 1024
_TAG_OCTETS = 6


@dataclass(frozen=True, slots=True)
class HostRecord:
    """A record, and its octets."""

    public_key: bytes
    ulid: IPv6Address
    options: tuple[Option, ...]
    octets: bytes

    @classmethod
    def of(cls, public_key: bytes, host: LocalHost) -> HostRecord:
        """Return the record of a host here."""
        return cls(public_key, host.ulid, host.options, public_key + host.ulid.packed + host.octets)

    @classmethod
    def decode(cls, octets: bytes) -> HostRecord:
        """Read a record; raise DecodeError if it is none."""
        if len(octets) < _FIXED_OCTETS:
            raise DecodeError(f"{len(octets)} octets are too few for the record of a host")
        options = decode_options(octets[_FIXED_OCTETS:], 0, tuple(OptionType))
        return cls(octets[:KEY_OCTETS], IPv6Address(octets[KEY_OCTETS:_FIXED_OCTETS]), options, octets)


class FleetTags:
    """Derives tags, by a key that lives as long as this does."""

    def __init__(self, rng: random.Random) -> None:
        self._key = X25519PrivateKey.from_private_bytes(rng.randbytes(KEY_OCTETS))
        self.public_key = self._key.public_key().public_bytes_raw()
        self._secrets: OrderedDict[bytes, bytes] = OrderedDict()

    def derive(self, ours: HostRecord, theirs: HostRecord) -> tuple[int, int]:
        """Return the tag of packets to our host, and that of packets to the peer; raise DecodeError for a bad key."""
        secret = self._secret(theirs.public_key)
        return _tag(secret, theirs, ours), _tag(secret, ours, theirs)

    def _secret(self, public_key: bytes) -> bytes:
        secret = self._secrets.get(public_key)
        if secret is None:
            try:
                secret = self._key.exchange(X25519PublicKey.from_public_bytes(public_key))
            except ValueError:
                raise DecodeError("the key of the record makes no secret") from None
            self._secrets[public_key] = secret
            if len(self._secrets) > MOST_SECRETS:
                self._secrets.popitem(last=False)
        self._secrets.move_to_end(public_key)
        return secret


def _tag(secret: bytes, sender: HostRecord, receiver: HostRecord) -> int:
    records = (hashlib.sha256(each.octets).digest() for each in (sender, receiver))
    info = b"wayname: tag of a Shim6 context" + b"".join(records)
    return int.from_bytes(HKDF(SHA256(), _TAG_OCTETS, None, info).derive(secret)) & (1 << TAG_BITS) - 1
