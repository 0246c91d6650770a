"""The two messages: who knows the key of a pair of hosts offers a session, and who knows it as well accepts.

    | kind (1) | nonce of the offer (16) | HMAC-SHA256 over kind, both addresses, nonce (32) |

in a UDP datagram from host to host. An accept proves that the key is known by what only an offer's nonce can lead to.
"""

from __future__ import annotations

import hmac
from dataclasses import dataclass
from enum import IntEnum
from hashlib import sha256

from wayname.session.keys import Pair
from wayname.wire.errors import DecodeError
from wayname.wire.ipv6 import Packet
from wayname.wire.udp import Datagram

PORT = 4747
NONCE_OCTETS = 16
OCTETS = 1 + NONCE_OCTETS + 32


class Kind(IntEnum):
    """What a message says."""

    OFFER = 1
    ACCEPT = 2


@dataclass(frozen=True, slots=True)
class Message:
    """A message from the local to the peer of a pair."""

    kind: Kind
    pair: Pair
    nonce: bytes

    def packet(self, key: bytes) -> Packet:
        """Return the packet that carries it."""
        octets = bytes([self.kind]) + self.nonce + self._code(key)
        return Datagram(PORT, PORT, octets).packet(*self.pair)

    @classmethod
    def read(cls, packet: Packet, key: bytes) -> Message:
        """Read a message of who knows the key; DecodeError is raised for all others."""
        octets = Datagram.decode(packet).data
        if len(octets) != OCTETS or octets[0] not in tuple(Kind):
            raise DecodeError("neither an offer nor an accept")
        message = cls(Kind(octets[0]), Pair(packet.source, packet.destination), octets[1 : 1 + NONCE_OCTETS])
        if not hmac.compare_digest(octets[1 + NONCE_OCTETS :], message._code(key)):
            raise DecodeError("a message of somebody who does not know the key")
        return message

    def _code(self, key: bytes) -> bytes:
        covered = bytes([self.kind]) + self.pair.local.packed + self.pair.peer.packed + self.nonce
        return hmac.digest(key, covered, sha256)
