"""The messages that ask for a session, ICMPv6 type 160, code 0, to a body and back.

|  source nonce (4 or 12 octets)                               |
|  destination nonce (as long; zero while it is not known)     |
|  control      |  reserved (24 bits, zero)                    |

The published description names these fields in this order and does not say how long they are: docs/ilnp.md tells what
was chosen. The type is shared with RFC 8335 (extended echo request): a message of ours is one whose packet bears the
nonce option, and there the source nonce once more.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum

from wayname.ilnp.errors import MessageError
from wayname.ilnp.nonce import NONCE_LENGTHS

SESSION_REQUEST = 160
CONTROL_OCTETS = 4


class Control(IntEnum):
    """What a message is for."""

    REQUEST = 1
    REQUEST_AND_ACKNOWLEDGE = 2
    ACKNOWLEDGE = 3


@dataclass(frozen=True, slots=True)
class Handshake:
    """One of the three messages; the destination nonce is None while it is not known."""

    control: Control
    source_nonce: bytes = field(repr=False)
    destination_nonce: bytes | None = field(default=None, repr=False)

    def encode(self) -> bytes:
        """Return what follows the checksum."""
        size = len(self.source_nonce)
        if size not in NONCE_LENGTHS:
            raise MessageError(f"a nonce has 4 or 12 octets, not {size}")
        destination = self.destination_nonce
        if destination is None:
            destination = bytes(size)
        elif len(destination) != size or not any(destination):
            raise MessageError("both nonces of a session are equally long, and none is zero")
        if not any(self.source_nonce):
            raise MessageError("a nonce of zero stands for none")
        return self.source_nonce + destination + bytes([self.control, 0, 0, 0])

    @classmethod
    def decode(cls, code: int, body: bytes) -> Handshake:
        """Read what follows the checksum."""
        if code != 0:
            raise MessageError(f"a request for a session with code {code}; only 0 is known")
        size, odd = divmod(len(body) - CONTROL_OCTETS, 2)
        if odd or size not in NONCE_LENGTHS:
            raise MessageError(f"{len(body)} octets hold no two nonces of 4 or 12 octets and a control")
        try:
            control = Control(body[2 * size])
        except ValueError:
            raise MessageError(f"a request for a session has no control {body[2 * size]}") from None
        source, destination = body[:size], body[size : 2 * size]
        if not any(source):
            raise MessageError("a request for a session without a source nonce")
        known = any(destination)
        if not known and control is not Control.REQUEST:
            raise MessageError(f"{control.name} without a destination nonce")
        return cls(control, source, destination if known else None)
