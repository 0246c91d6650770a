"""The options of Shim6 messages (RFC 5533, section 5.15; RFC 5534, section 5.3).

     0                   1                   2                   3
    |             type            |C|             length            |
    | contents, zeros up to a multiple of eight octets ...

The length counts the contents alone. An option that is unknown, or has no business in a message, is skipped, unless C
says that it is critical. An option that stands twice makes no message: the RFC gives it no meaning.
"""

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from enum import IntEnum, IntFlag
from ipaddress import IPv6Address

from wayname.wire.path_reports import PathReports as PathReports
from wayname.wire.shim6.errors import AnsweredError, ErrorCode, MessageError

HEADER_OCTETS = 4
UNIT = 8
ADDRESS_OCTETS = 16
ULID_PAIR_OCTETS = 4 + 2 * ADDRESS_OCTETS


class OptionType(IntEnum):
    """The options by their numbers."""

    RESPONDER_VALIDATOR = 1
    LOCATOR_LIST = 2
    LOCATOR_PREFERENCES = 3
    CGA_PARAMETERS = 4
    CGA_SIGNATURE = 5
    ULID_PAIR = 6
    FORKED_INSTANCE = 7
    KEEPALIVE_TIMEOUT = 10
    # Of the range for experiments (RFC 5533, section 17).
    EXACT_KEEPALIVE_TIMEOUT = 16384
    PATH_REPORTS = 16385


class Verification(IntEnum):
    """How a locator proves that it belongs to its host."""

    HBA = 1
    CGA = 2


class PreferenceFlag(IntFlag):
    """What the owner of a locator says of it."""

    BROKEN = 1
    TRANSIENT = 2


@dataclass(frozen=True, slots=True)
class ResponderValidator:
    """What lets a responder keep no state before I2."""

    validator: bytes = field(repr=False)

    def contents(self) -> bytes:
        """Return what stands behind type and length."""
        return self.validator

    @classmethod
    def of(cls, contents: bytes) -> "ResponderValidator":
        """Read the contents."""
        return cls(contents)


@dataclass(frozen=True, slots=True)
class Locator:
    """An address of a host, and how it is proved."""

    address: IPv6Address
    verification: int


@dataclass(frozen=True, slots=True)
class LocatorList:
    """All locators of the sender.

    |                      generation                               |
    |  count        | a verification method for each locator, zeros up to a multiple of eight octets
    | locators, 16 octets each ...
    """

    generation: int
    locators: tuple[Locator, ...]

    def contents(self) -> bytes:
        """Return what stands behind type and length."""
        methods = bytes(locator.verification for locator in self.locators)
        head = self.generation.to_bytes(4) + bytes([len(self.locators)]) + methods
        # The locators, not the option's contents, begin at a multiple of eight octets.
        head += bytes(-(HEADER_OCTETS + len(head)) % UNIT)
        return head + b"".join(locator.address.packed for locator in self.locators)

    @classmethod
    def of(cls, contents: bytes) -> "LocatorList":
        """Read the contents."""
        if len(contents) < 5:
            raise MessageError(f"a locator list of {len(contents)} octets has no number of locators")
        count = contents[4]
        first = 5 + count
        first += -(HEADER_OCTETS + first) % UNIT
        if len(contents) != first + count * ADDRESS_OCTETS:
            raise MessageError(f"a locator list of {len(contents)} octets does not hold {count} locators")
        return cls(
            int.from_bytes(contents[:4]),
            tuple(
                Locator(_address(contents, first + index * ADDRESS_OCTETS), contents[5 + index])
                for index in range(count)
            ),
        )


@dataclass(frozen=True, slots=True)
class Preference:
    """What the owner of a locator says of it: priority and weight are those of DNS SRV."""

    flags: PreferenceFlag
    priority: int | None = None
    weight: int | None = None


@dataclass(frozen=True, slots=True)
class LocatorPreferences:
    """A preference for each locator of the list with this generation.

    |                      generation                               |
    | element length | element 1 | element 2 ...
    An element is flags (1 octet); flags and priority (2); flags, priority and weight (3); or has more, unread.
    """

    generation: int
    preferences: tuple[Preference, ...]

    def contents(self) -> bytes:
        """Return what stands behind type and length."""
        length = max((_element_length(preference) for preference in self.preferences), default=1)
        elements = b"".join(_element(preference)[:length] for preference in self.preferences)
        return self.generation.to_bytes(4) + bytes([length]) + elements

    @classmethod
    def of(cls, contents: bytes) -> "LocatorPreferences":
        """Read the contents."""
        if len(contents) < 5:
            raise MessageError(f"locator preferences of {len(contents)} octets have no element length")
        length = contents[4]
        if length == 0 or (len(contents) - 5) % length:
            raise MessageError(f"{len(contents) - 5} octets are no whole preferences of {length} octets")
        return cls(
            int.from_bytes(contents[:4]),
            tuple(
                Preference(
                    PreferenceFlag(contents[at]),
                    contents[at + 1] if length > 1 else None,
                    contents[at + 2] if length > 2 else None,
                )
                for at in range(5, len(contents), length)
            ),
        )


@dataclass(frozen=True, slots=True)
class CgaParameters:
    """The CGA Parameters that prove the locators."""

    parameters: bytes

    def contents(self) -> bytes:
        """Return what stands behind type and length."""
        return self.parameters

    @classmethod
    def of(cls, contents: bytes) -> "CgaParameters":
        """Read the contents."""
        return cls(contents)


@dataclass(frozen=True, slots=True)
class CgaSignature:
    """A signature over the locators that only the owner of the key can prove."""

    signature: bytes

    def contents(self) -> bytes:
        """Return what stands behind type and length."""
        return self.signature

    @classmethod
    def of(cls, contents: bytes) -> "CgaSignature":
        """Read the contents."""
        return cls(contents)


@dataclass(frozen=True, slots=True)
class UlidPair:
    """The identities of a context, where the packet's addresses are others.

    | reserved (32 bits) | ULID of the sender | ULID of the receiver |
    """

    sender: IPv6Address
    receiver: IPv6Address

    def contents(self) -> bytes:
        """Return what stands behind type and length."""
        return bytes(4) + self.sender.packed + self.receiver.packed

    @classmethod
    def of(cls, contents: bytes) -> "UlidPair":
        """Read the contents."""
        if len(contents) != ULID_PAIR_OCTETS:
            raise MessageError(f"a ULID pair has {ULID_PAIR_OCTETS} octets, not {len(contents)}")
        return cls(_address(contents, 4), _address(contents, 4 + ADDRESS_OCTETS))


@dataclass(frozen=True, slots=True)
class ForkedInstance:
    """Which of several contexts with one ULID pair is meant; 0 is the first."""

    identifier: int

    def contents(self) -> bytes:
        """Return what stands behind type and length."""
        return self.identifier.to_bytes(4)

    @classmethod
    def of(cls, contents: bytes) -> "ForkedInstance":
        """Read the contents."""
        if len(contents) != 4:
            raise MessageError(f"a forked instance identifier has 4 octets, not {len(contents)}")
        return cls(int.from_bytes(contents))


@dataclass(frozen=True, slots=True)
class KeepaliveTimeout:
    """After how many seconds of silence the sender wants a keepalive: reserved (16 bits), seconds (16)."""

    seconds: int

    def contents(self) -> bytes:
        """Return what stands behind type and length."""
        return bytes(2) + self.seconds.to_bytes(2)

    @classmethod
    def of(cls, contents: bytes) -> "KeepaliveTimeout":
        """Read the contents."""
        if len(contents) != 4:
            raise MessageError(f"a keepalive timeout has 4 octets, not {len(contents)}")
        return cls(int.from_bytes(contents[2:]))


@dataclass(frozen=True, slots=True)
class ExactKeepaliveTimeout:
    """The same in microseconds (32 bits), for less than a second. Whoever sends it understands it; others skip it."""

    microseconds: int

    def contents(self) -> bytes:
        """Return what stands behind type and length."""
        return self.microseconds.to_bytes(4)

    @classmethod
    def of(cls, contents: bytes) -> "ExactKeepaliveTimeout":
        """Read the contents."""
        if len(contents) != 4:
            raise MessageError(f"an exact keepalive timeout has 4 octets, not {len(contents)}")
        return cls(int.from_bytes(contents))


Option = (
    ResponderValidator
    | LocatorList
    | LocatorPreferences
    | CgaParameters
    | CgaSignature
    | UlidPair
    | ForkedInstance
    | KeepaliveTimeout
    | ExactKeepaliveTimeout
    | PathReports
)

_READERS: dict[OptionType, Callable[[bytes], Option]] = {
    OptionType.RESPONDER_VALIDATOR: ResponderValidator.of,
    OptionType.LOCATOR_LIST: LocatorList.of,
    OptionType.LOCATOR_PREFERENCES: LocatorPreferences.of,
    OptionType.CGA_PARAMETERS: CgaParameters.of,
    OptionType.CGA_SIGNATURE: CgaSignature.of,
    OptionType.ULID_PAIR: UlidPair.of,
    OptionType.FORKED_INSTANCE: ForkedInstance.of,
    OptionType.KEEPALIVE_TIMEOUT: KeepaliveTimeout.of,
    OptionType.EXACT_KEEPALIVE_TIMEOUT: ExactKeepaliveTimeout.of,
    OptionType.PATH_REPORTS: PathReports.of,
}
_TYPES: dict[type[Option], OptionType] = {
    ResponderValidator: OptionType.RESPONDER_VALIDATOR,
    LocatorList: OptionType.LOCATOR_LIST,
    LocatorPreferences: OptionType.LOCATOR_PREFERENCES,
    CgaParameters: OptionType.CGA_PARAMETERS,
    CgaSignature: OptionType.CGA_SIGNATURE,
    UlidPair: OptionType.ULID_PAIR,
    ForkedInstance: OptionType.FORKED_INSTANCE,
    KeepaliveTimeout: OptionType.KEEPALIVE_TIMEOUT,
    ExactKeepaliveTimeout: OptionType.EXACT_KEEPALIVE_TIMEOUT,
    PathReports: OptionType.PATH_REPORTS,
}


def encode_options(options: Iterable[Option]) -> bytes:
    """Return options one behind the other, each padded; none is critical."""
    return b"".join(_encode(option) for option in options)


def decode_options(message: bytes, first: int, allowed: Collection[OptionType]) -> tuple[Option, ...]:
    """Read the options of a message from an octet on; only those that this kind of message may have."""
    options: dict[int, Option] = {}
    for at, end in _places(message, first):
        number, critical = _type_at(message, at), message[at + 1] & 1
        if number in options:
            raise MessageError(f"option {number} stands twice")
        if number in allowed:
            options[number] = _READERS[OptionType(number)](message[at + HEADER_OCTETS : end])
        elif critical:
            raise AnsweredError(ErrorCode.CRITICAL_OPTION, at, f"critical option {number} is not understood here")
    return tuple(options.values())


def place_of(kind: OptionType, message: bytes, first: int) -> int:
    """Return where an option of a message begins that has it."""
    return next(at for at, _ in _places(message, first) if _type_at(message, at) == kind)


def _type_at(message: bytes, at: int) -> int:
    return message[at] << 7 | message[at + 1] >> 1


def _places(message: bytes, first: int) -> Iterator[tuple[int, int]]:
    """Yield where each option begins, and where it ends without its padding."""
    at = first
    while at < len(message):
        if len(message) - at < HEADER_OCTETS:
            raise MessageError(f"{len(message) - at} octets at {at} are too few for an option")
        end = at + HEADER_OCTETS + int.from_bytes(message[at + 2 : at + 4])
        if end > len(message):
            raise MessageError(f"the option at {at} ends {end - len(message)} octets behind the message")
        yield at, end
        at = end + -(end - at) % UNIT


def _encode(option: Option) -> bytes:
    contents = option.contents()
    octets = (_TYPES[type(option)] << 1).to_bytes(2) + len(contents).to_bytes(2) + contents
    return octets + bytes(-len(octets) % UNIT)


def _element_length(preference: Preference) -> int:
    if preference.weight is not None:
        return 3
    return 1 if preference.priority is None else 2


def _element(preference: Preference) -> bytes:
    return bytes([preference.flags & 0xFF, preference.priority or 0, preference.weight or 0])


def _address(octets: bytes, at: int) -> IPv6Address:
    return IPv6Address(octets[at : at + ADDRESS_OCTETS])
