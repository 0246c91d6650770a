"""The hash and the MAC of a suite, RHASH (RFC 7401, sections 2.3 and 5.2.10): what puzzles, MACs and keys are made of.

cSHAKE128 gives as many octets as are asked for, and no RFC says how many these are to be. They are 32 here: with fewer
two messages of the same hash could be found with less work than its 128 bits promise.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable
from dataclasses import dataclass

from wayname.hip.cshake import cshake128, kmac128

CSHAKE_OCTETS = 32


@dataclass(frozen=True, slots=True)
class Rhash:
    """A hash and the MAC that goes with it; both have the same length, and so have keys of the MAC."""

    size: int
    digest: Callable[[bytes], bytes]
    # Of a key; what it returns makes MACs of data.
    keyed: Callable[[bytes], Callable[[bytes], bytes]]
    # Whether a MAC takes longer than to check a signature: then forgeries are better found by that.
    is_slow: bool = False

    def mac(self, key: bytes, data: bytes) -> bytes:
        """Return the MAC of octets with a key."""
        return self.keyed(key)(data)


def _sha(name: str) -> Rhash:
    return Rhash(
        hashlib.new(name).digest_size,
        lambda data: hashlib.new(name, data).digest(),
        lambda key: lambda data: hmac.digest(key, data, name),
    )


def _kmac(key: bytes) -> Callable[[bytes], bytes]:
    mac = kmac128(key)
    return lambda data: mac(data, CSHAKE_OCTETS)


SHA_1, SHA_256, SHA_384 = _sha("sha1"), _sha("sha256"), _sha("sha384")
# RFC 9374, table 7.
CSHAKE_128 = Rhash(CSHAKE_OCTETS, lambda data: cshake128(data, CSHAKE_OCTETS), _kmac, is_slow=True)
