"""The messages of Shim6 (RFC 5533, section 5; RFC 5534, section 5), to octets and back.

     0                   1                   2                   3
    |  no next (59) | length        |0|     type    |type-specific|0|
    |            checksum           | ...

The length counts units of eight octets behind the first. The checksum runs over the message alone, without a pseudo
header, so that locators may change under it. Octets behind the message are ignored (RFC 8200, section 4.7).
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import IntEnum
from ipaddress import IPv6Address

from wayname.wire.checksum import internet_checksum
from wayname.wire.shim6.errors import AnsweredError, ErrorCode, MessageError
from wayname.wire.shim6.options import Option, OptionType, decode_options, encode_options, place_of

NO_NEXT_HEADER = 59
UNIT = 8
MOST_OCTETS = 256 * UNIT
TAG_BITS = 47
PROBE_OCTETS = 40
# The smallest IPv6 MTU less the IPv6 header: an Error message is no longer (section 5.14).
MOST_ERROR_OCTETS = 1280 - 40
MOST_PROBES = 15


class MessageType(IntEnum):
    """The messages by their numbers; from 64 on they make a host that has no such context answer with R1bis."""

    I1 = 1
    R1 = 2
    I2 = 3
    R2 = 4
    R1BIS = 5
    I2BIS = 6
    UPDATE_REQUEST = 64
    UPDATE_ACKNOWLEDGEMENT = 65
    KEEPALIVE = 66
    PROBE = 67
    ERROR = 68


@dataclass(frozen=True, slots=True)
class I1:
    """The initiator wants a context."""

    tag: int = field(repr=False)  # the initiator's
    initiator_nonce: int = field(repr=False)
    options: tuple[Option, ...] = ()


@dataclass(frozen=True, slots=True)
class R1:
    """The responder keeps nothing; its validator does."""

    initiator_nonce: int = field(repr=False)
    responder_nonce: int = field(repr=False)
    options: tuple[Option, ...] = ()


@dataclass(frozen=True, slots=True)
class I2:
    """The initiator shows that it got R1, and says who it is."""

    tag: int = field(repr=False)  # the initiator's
    initiator_nonce: int = field(repr=False)
    responder_nonce: int = field(repr=False)
    options: tuple[Option, ...] = ()


@dataclass(frozen=True, slots=True)
class R2:
    """The context stands."""

    tag: int = field(repr=False)  # the responder's
    initiator_nonce: int = field(repr=False)
    options: tuple[Option, ...] = ()


@dataclass(frozen=True, slots=True)
class R1bis:
    """A packet came for a context that is not here any more."""

    packet_tag: int = field(repr=False)  # of that packet
    responder_nonce: int = field(repr=False)
    options: tuple[Option, ...] = ()


@dataclass(frozen=True, slots=True)
class I2bis:
    """The initiator shows that it got R1bis, and sets up the context again."""

    tag: int = field(repr=False)  # the initiator's
    initiator_nonce: int = field(repr=False)
    responder_nonce: int = field(repr=False)
    packet_tag: int = field(repr=False)
    options: tuple[Option, ...] = ()


@dataclass(frozen=True, slots=True)
class UpdateRequest:
    """New locators or preferences, in place of the old ones."""

    tag: int = field(repr=False)  # the receiver's
    nonce: int = field(repr=False)
    options: tuple[Option, ...] = ()


@dataclass(frozen=True, slots=True)
class UpdateAcknowledgement:
    """An update arrived; nothing is said yet of its proofs."""

    tag: int = field(repr=False)  # the receiver's
    nonce: int = field(repr=False)
    options: tuple[Option, ...] = ()


@dataclass(frozen=True, slots=True)
class Keepalive:
    """Packets arrive, though none are sent."""

    tag: int = field(repr=False)  # the receiver's
    options: tuple[Option, ...] = ()


class ProbeState(IntEnum):
    """What the sender of a probe knows of the path."""

    OPERATIONAL = 0
    EXPLORING = 1
    INBOUND_OK = 2


@dataclass(frozen=True, slots=True)
class ProbeRecord:
    """A probe that was sent or received: source, destination (16 octets each), nonce, data (4 each)."""

    source: IPv6Address
    destination: IPv6Address
    nonce: int = field(repr=False)
    data: int = 0

    def encode(self) -> bytes:
        """Return its octets."""
        return self.source.packed + self.destination.packed + self.nonce.to_bytes(4) + self.data.to_bytes(4)

    @classmethod
    def of(cls, octets: bytes) -> "ProbeRecord":
        """Read its octets."""
        return cls(
            IPv6Address(octets[:16]),
            IPv6Address(octets[16:32]),
            int.from_bytes(octets[32:36]),
            int.from_bytes(octets[36:40]),
        )


@dataclass(frozen=True, slots=True)
class Probe:
    """Which pairs of locators work? The first record sent is of this message itself."""

    tag: int = field(repr=False)  # the receiver's
    state: ProbeState
    sent: tuple[ProbeRecord, ...]
    received: tuple[ProbeRecord, ...] = ()
    options: tuple[Option, ...] = ()


@dataclass(frozen=True, slots=True)
class Error:
    """A message that could not be processed: why, where in it, and as much of it as fits."""

    code: int
    pointer: int
    packet: bytes


Message = I1 | R1 | I2 | R2 | R1bis | I2bis | UpdateRequest | UpdateAcknowledgement | Keepalive | Probe | Error

_LOCATORS = frozenset(
    {
        OptionType.LOCATOR_LIST,
        OptionType.LOCATOR_PREFERENCES,
        OptionType.CGA_PARAMETERS,
        OptionType.CGA_SIGNATURE,
        OptionType.KEEPALIVE_TIMEOUT,
        OptionType.EXACT_KEEPALIVE_TIMEOUT,
        OptionType.PATH_REPORTS,
    }
)
_CONTEXT = frozenset({OptionType.ULID_PAIR, OptionType.FORKED_INSTANCE})
_VALIDATOR = frozenset({OptionType.RESPONDER_VALIDATOR})
_OPTIONS: dict[MessageType, frozenset[OptionType]] = {
    MessageType.I1: _CONTEXT,
    MessageType.R1: _VALIDATOR,
    MessageType.I2: _VALIDATOR | _CONTEXT | _LOCATORS,
    MessageType.R2: _LOCATORS,
    MessageType.R1BIS: _VALIDATOR,
    MessageType.I2BIS: _VALIDATOR | _CONTEXT | _LOCATORS,
    MessageType.UPDATE_REQUEST: _LOCATORS,
}
# Octets of a message without its options.
_FIXED_OCTETS: dict[MessageType, int] = {
    MessageType.I2: 24,
    MessageType.I2BIS: 32,
}
_USUAL_FIXED_OCTETS = 16


def encode(message: Message) -> bytes:
    """Return the octets of a message, its checksum among them."""
    match message:
        case I1():
            octets = _start(MessageType.I1) + _tag(message.tag) + _word(message.initiator_nonce)
        case R1():
            octets = _start(MessageType.R1) + bytes(2) + _word(message.initiator_nonce) + _word(message.responder_nonce)
        case I2():
            octets = _start(MessageType.I2) + _tag(message.tag)
            octets += _word(message.initiator_nonce) + _word(message.responder_nonce) + bytes(4)
        case R2():
            octets = _start(MessageType.R2) + _tag(message.tag) + _word(message.initiator_nonce)
        case R1bis():
            octets = _start(MessageType.R1BIS) + _tag(message.packet_tag) + _word(message.responder_nonce)
        case I2bis():
            octets = _start(MessageType.I2BIS) + _tag(message.tag)
            octets += _word(message.initiator_nonce) + _word(message.responder_nonce)
            octets += bytes(6) + _tag(message.packet_tag)
        case UpdateRequest():
            octets = _start(MessageType.UPDATE_REQUEST) + _tag(message.tag) + _word(message.nonce)
        case UpdateAcknowledgement():
            octets = _start(MessageType.UPDATE_ACKNOWLEDGEMENT) + _tag(message.tag) + _word(message.nonce)
        case Keepalive():
            octets = _start(MessageType.KEEPALIVE) + _tag(message.tag) + bytes(4)
        case Probe():
            octets = _start(MessageType.PROBE) + _tag(message.tag) + _probes(message)
        case Error():
            octets = _start(MessageType.ERROR, message.code) + message.pointer.to_bytes(2) + message.packet
            # Cut to what may be sent, and to whole units: the header's length can say nothing else.
            octets = octets[:MOST_ERROR_OCTETS]
            octets += bytes(max(-len(octets) % UNIT, _USUAL_FIXED_OCTETS - len(octets)))
    if not isinstance(message, Error):
        octets += encode_options(message.options)
    if len(octets) > MOST_OCTETS:
        raise MessageError(f"a message of {len(octets)} octets; the most is {MOST_OCTETS}")
    octets = octets[:1] + bytes([len(octets) // UNIT - 1]) + octets[2:]
    return octets[:4] + internet_checksum(octets).to_bytes(2) + octets[6:]


def decode(octets: bytes) -> Message:
    """Read a message from the octets of a Shim6 header."""
    octets = _check(octets)
    try:
        kind = MessageType(octets[2])
    except ValueError:
        raise AnsweredError(ErrorCode.UNKNOWN_MESSAGE, 2, f"there is no message of type {octets[2]}") from None
    first = _FIXED_OCTETS.get(kind, _USUAL_FIXED_OCTETS)
    if kind is MessageType.PROBE and len(octets) >= first:
        first += PROBE_OCTETS * ((octets[12] >> 4) + (octets[12] & 0xF))
    if len(octets) < first:
        raise MessageError(f"{kind.name} has at least {first} octets, not {len(octets)}")
    if kind is MessageType.ERROR:
        return Error(octets[3] >> 1, int.from_bytes(octets[6:8]), octets[8:])
    return _READERS[kind](octets, decode_options(octets, first, _OPTIONS.get(kind, frozenset())))


def kind_and_tag(octets: bytes) -> tuple[MessageType, int]:
    """Return the kind of a message and the tag that nearly all begin with, whatever is wrong with the rest of it."""
    if len(octets) < _USUAL_FIXED_OCTETS or octets[2] in (MessageType.R1, MessageType.ERROR):
        raise MessageError("a message without a tag")
    try:
        return MessageType(octets[2]), _tag_at(octets, 6)
    except ValueError:
        raise MessageError(f"there is no message of type {octets[2]}") from None


def place_in(octets: bytes, option: OptionType) -> int:
    """Return where an option begins in a message that has it and no probes."""
    return place_of(option, _check(octets), _FIXED_OCTETS.get(MessageType(octets[2]), _USUAL_FIXED_OCTETS))


def _check(octets: bytes) -> bytes:
    """Check what all messages have in common (RFC 5533, section 12.3); return it without what is behind it."""
    if len(octets) < UNIT:
        raise MessageError(f"{len(octets)} octets are too few for a message")
    if octets[0] != NO_NEXT_HEADER:
        raise MessageError(f"a control message has no next header, but this one has {octets[0]}")
    if len(octets) < (length := (octets[1] + 1) * UNIT):
        raise MessageError(f"the message says that it has {length} octets, but has {len(octets)}")
    if octets[2] & 0x80:
        raise MessageError("this is a payload header, not a control message")
    if octets[3] & 1:
        raise MessageError("this is a HIP message, not one of Shim6")
    if internet_checksum(octets[:length]) != 0:
        raise MessageError("the checksum is wrong")
    return octets[:length]


def _start(kind: MessageType, specific: int = 0) -> bytes:
    """Return the header up to the checksum; length and checksum are put in last."""
    return bytes([NO_NEXT_HEADER, 0, kind, specific << 1, 0, 0])


def _tag(tag: int) -> bytes:
    if tag >> TAG_BITS:
        raise MessageError(f"a context tag has {TAG_BITS} bits, {tag:#x} has more")
    return tag.to_bytes(6)


def _word(value: int) -> bytes:
    return value.to_bytes(4)


def _tag_at(octets: bytes, at: int) -> int:
    return int.from_bytes(octets[at : at + 6]) & (1 << TAG_BITS) - 1


def _word_at(octets: bytes, at: int) -> int:
    return int.from_bytes(octets[at : at + 4])


def _probes(message: Probe) -> bytes:
    """Return | received (4 bits) | sent (4) | state (2) | reserved (22) | records sent ... | records received ..."""
    if not 1 <= len(message.sent) <= MOST_PROBES or len(message.received) > MOST_PROBES:
        raise MessageError(f"{len(message.sent)} probes sent, {len(message.received)} received: 1 to 15, and 0 to 15")
    counts = bytes([len(message.received) << 4 | len(message.sent), message.state << 6, 0, 0])
    return counts + b"".join(record.encode() for record in (*message.sent, *message.received))


def _read_probe(octets: bytes, options: tuple[Option, ...]) -> Probe:
    received, sent = octets[12] >> 4, octets[12] & 0xF
    if sent == 0:
        raise MessageError("a probe tells nothing of itself")
    try:
        state = ProbeState(octets[13] >> 6)
    except ValueError:
        raise MessageError(f"a probe in state {octets[13] >> 6}, which is none") from None
    records = tuple(
        ProbeRecord.of(octets[16 + PROBE_OCTETS * index : 16 + PROBE_OCTETS * (index + 1)])
        for index in range(sent + received)
    )
    return Probe(_tag_at(octets, 6), state, records[:sent], records[sent:], options)


_READERS: dict[MessageType, Callable[[bytes, tuple[Option, ...]], Message]] = {
    MessageType.I1: lambda octets, options: I1(_tag_at(octets, 6), _word_at(octets, 12), options),
    MessageType.R1: lambda octets, options: R1(_word_at(octets, 8), _word_at(octets, 12), options),
    MessageType.I2: lambda octets, options: I2(_tag_at(octets, 6), _word_at(octets, 12), _word_at(octets, 16), options),
    MessageType.R2: lambda octets, options: R2(_tag_at(octets, 6), _word_at(octets, 12), options),
    MessageType.R1BIS: lambda octets, options: R1bis(_tag_at(octets, 6), _word_at(octets, 12), options),
    MessageType.I2BIS: lambda octets, options: I2bis(
        _tag_at(octets, 6), _word_at(octets, 12), _word_at(octets, 16), _tag_at(octets, 26), options
    ),
    MessageType.UPDATE_REQUEST: lambda octets, options: UpdateRequest(
        _tag_at(octets, 6), _word_at(octets, 12), options
    ),
    MessageType.UPDATE_ACKNOWLEDGEMENT: lambda octets, options: UpdateAcknowledgement(
        _tag_at(octets, 6), _word_at(octets, 12), options
    ),
    MessageType.KEEPALIVE: lambda octets, options: Keepalive(_tag_at(octets, 6), options),
    MessageType.PROBE: _read_probe,
}
