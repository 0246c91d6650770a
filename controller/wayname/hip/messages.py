"""HIP packets (RFC 7401, section 5.1).

 0                   1                   2                   3
|  next header  | header length |0| packet type |version| res.|1|
|           checksum            |           controls            |
|                    HIT of the sender (128)                    |
|                   HIT of the receiver (128)                   |
|                       parameters ...
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum
from ipaddress import IPv6Address
from typing import TypeVar

from wayname.hip import locator_set, parameters, path_reports, transports
from wayname.hip.errors import CriticalError, MessageError, TooLongError
from wayname.hip.framing import HEADER_OCTETS as PARAMETER_HEADER
from wayname.hip.framing import UNIT, frame, is_critical, places
from wayname.hip.parameters import (
    EchoRequestSigned,
    EchoRequestUnsigned,
    EchoResponseSigned,
    EchoResponseUnsigned,
    Parameter,
    Puzzle,
    Reader,
    Solution,
)
from wayname.wire.checksum import upper_layer_checksum
from wayname.wire.ipv6 import HIP

HEADER_OCTETS = 40
MOST_OCTETS = 256 * UNIT
NO_NEXT_HEADER = 59
VERSION = 2
KIND_MASK = 0x7F  # the bit before is Shim6's, whose packets have a number of their own
VERSION_AT = 3
SENDER_AT, RECEIVER_AT = 8, 24
ANONYMOUS = 1

READERS: dict[int, Reader] = parameters.READERS | transports.READERS | locator_set.READERS | path_reports.READERS

One = TypeVar("One", bound=Parameter)


class Kind(IntEnum):
    """The packets by their numbers (section 5.3)."""

    I1 = 1
    R1 = 2
    I2 = 3
    R2 = 4
    UPDATE = 16
    NOTIFY = 17
    CLOSE = 18
    CLOSE_ACK = 19


@dataclass(frozen=True, slots=True)
class Message:
    """A packet; parameters that are unknown and not critical are left out."""

    kind: Kind
    sender: IPv6Address
    receiver: IPv6Address
    parameters: tuple[Parameter, ...] = ()
    controls: int = 0

    def find(self, kind: type[One]) -> One | None:
        """Return the first parameter of a kind."""
        return next((one for one in self.parameters if type(one) is kind), None)

    def need(self, kind: type[One]) -> One:
        """Return the parameter of a kind, which the packet must have."""
        one = self.find(kind)
        if one is None:
            raise MessageError(f"{self.kind.name} without {kind.__name__}")
        return one

    def all(self, kind: type[One]) -> tuple[One, ...]:
        """Return all parameters of a kind."""
        return tuple(one for one in self.parameters if type(one) is kind)

    def echoes(self) -> tuple[Parameter, ...]:
        """Return what an answer sends back: the signed part, then what middleboxes may have asked for."""
        return (
            *(EchoResponseSigned(one.data) for one in self.all(EchoRequestSigned)),
            *(EchoResponseUnsigned(one.data) for one in self.all(EchoRequestUnsigned)),
        )


def encode(message: Message) -> bytes:
    """Return a packet's octets, its checksum not made yet; parameters are put in order."""
    octets = (
        bytes([NO_NEXT_HEADER, 0, message.kind, VERSION << 4 | 1, 0, 0])
        + message.controls.to_bytes(2)
        + message.sender.packed
        + message.receiver.packed
        + encode_parameters(message.parameters)
    )
    return with_length(octets)


def encode_parameters(several: Iterable[Parameter]) -> bytes:
    """Return parameters one behind the other, in order."""
    return b"".join(frame(one.number, one.contents()) for one in sorted(several, key=lambda one: one.number))


def with_unsigned(octets: bytes, added: Parameter) -> bytes:
    """Return a packet with a parameter behind its signature, where whoever it passes may put one (section 5.2).

    It stands there in the order of types, in place of one of its own type; the checksum is not made yet.
    """
    begins = [*places(octets, HEADER_OCTETS)]
    ends = [*(each.at for each in begins[1:]), len(octets)]
    there = ((each.number, octets[each.at : end]) for each, end in zip(begins, ends, strict=True))
    several = [each for each in there if each[0] != added.number]
    several.append((added.number, frame(added.number, added.contents())))
    return with_length(octets[:HEADER_OCTETS] + b"".join(each for _, each in sorted(several, key=lambda one: one[0])))


def with_length(octets: bytes) -> bytes:
    """Return a packet whose header tells how long it is, its checksum not made yet."""
    if len(octets) > MOST_OCTETS:
        raise TooLongError(f"a HIP packet has {MOST_OCTETS} octets at most, not {len(octets)}")
    return octets[:1] + bytes([len(octets) // UNIT - 1]) + octets[2:4] + bytes(2) + octets[6:]


def with_checksum(octets: bytes, source: IPv6Address, destination: IPv6Address) -> bytes:
    """Return a packet as it goes between two addresses (section 5.1.1)."""
    octets = octets[:4] + bytes(2) + octets[6:]
    return octets[:4] + upper_layer_checksum(source, destination, HIP, octets).to_bytes(2) + octets[6:]


def own_octets(data: bytes) -> bytes:
    """Return a packet without what follows it: nothing is defined to (section 5.1; RFC 8200, section 4.7)."""
    octets = data[: (data[1] + 1) * UNIT] if len(data) >= HEADER_OCTETS else data
    if len(octets) < HEADER_OCTETS:
        raise MessageError(f"a HIP packet has at least {HEADER_OCTETS} octets, not {len(octets)}")
    return octets


def decode(octets: bytes, source: IPv6Address, destination: IPv6Address) -> Message:
    """Read what came between two addresses; MACs and signatures are for others to check, on the octets."""
    octets = own_octets(octets)
    if (length := (octets[1] + 1) * UNIT) != len(octets):
        raise MessageError(f"a HIP packet of {len(octets)} octets says that it has {length}")
    if upper_layer_checksum(source, destination, HIP, octets):
        raise MessageError("the checksum is wrong")
    if (version := octets[VERSION_AT] >> 4) != VERSION:
        raise MessageError(f"HIP version {version}, not {VERSION}", pointer=VERSION_AT)
    if (kind := octets[2] & KIND_MASK) not in tuple(Kind):
        raise MessageError(f"HIP packets of type {kind} are not known here")
    return Message(
        Kind(kind),
        IPv6Address(octets[8:24]),
        IPv6Address(octets[24:40]),
        decode_parameters(octets, HEADER_OCTETS),
        int.from_bytes(octets[6:8]) & ANONYMOUS,
    )


def decode_parameters(octets: bytes, first: int = 0) -> tuple[Parameter, ...]:
    """Read the parameters from an octet on."""
    read: list[Parameter] = []
    last = None
    for number, at, end in places(octets, first):
        if number == last and number not in parameters.REPEATED:
            raise MessageError(f"parameter {number} stands twice")
        last = number
        if number in READERS:
            read.append(READERS[number](octets[at + PARAMETER_HEADER : end]))
        elif is_critical(number):
            raise CriticalError(number)
    return tuple(read)


def solution_at(octets: bytes) -> int:
    """Return where J of a SOLUTION begins: behind K, reserved, the opaque octets and I."""
    _, at, end = next(place for place in places(octets, HEADER_OCTETS) if place.number == Solution.number)
    return at + PARAMETER_HEADER + 4 + (end - at - PARAMETER_HEADER - 4) // 2


def covered(octets: bytes, number: int) -> bytes:
    """Return what a MAC or a signature covers: all before parameters of this number, as if that were the packet."""
    ends = (at for kind, at, _ in places(octets, HEADER_OCTETS) if kind >= number)
    return with_length(octets[: next(ends, len(octets))])


def without_initiator(octets: bytes) -> bytes:
    """Return an R1 as it is signed, for whomever it goes to (section 5.2.15)."""
    octets = octets[:24] + bytes(16) + octets[HEADER_OCTETS:]
    for number, at, end in places(octets, HEADER_OCTETS):
        if number == Puzzle.number:
            opaque = at + PARAMETER_HEADER + 2
            return octets[:opaque] + bytes(end - opaque) + octets[end:]
    return octets
