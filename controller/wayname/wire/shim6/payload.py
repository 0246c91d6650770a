"""The Payload Extension header of Shim6, before packets whose addresses are not the identities (RFC 5533, section 5.2).

 0                   1                   2                   3
|  next header  |       0       |1|                            |
|                   tag of the receiver's context              |
"""

from dataclasses import dataclass, field

from wayname.wire import ipv6
from wayname.wire.shim6.errors import MessageError
from wayname.wire.shim6.messages import TAG_BITS

OCTETS = 8
# Extension headers that may stand before one of protocol 140.
BEFORE_SHIM6 = ipv6.EXTENSIONS - {ipv6.SHIM6}


@dataclass(frozen=True, slots=True)
class PayloadHeader:
    """What is behind it, and the context that puts the identities back."""

    next_header: int
    tag: int = field(repr=False)

    def encode(self) -> bytes:
        """Return its octets."""
        return bytes([self.next_header, 0]) + (1 << TAG_BITS | self.tag).to_bytes(6)

    @classmethod
    def decode(cls, octets: bytes) -> "PayloadHeader":
        """Read the header at the beginning of octets."""
        if not is_payload(octets) or len(octets) < OCTETS or octets[1]:
            raise MessageError("this is no payload header")
        return cls(octets[0], int.from_bytes(octets[2:8]) & (1 << TAG_BITS) - 1)


def is_payload(octets: bytes) -> bool:
    """Tell whether octets of protocol 140 are a payload header, not a control message."""
    return len(octets) > 2 and bool(octets[2] & 0x80)
