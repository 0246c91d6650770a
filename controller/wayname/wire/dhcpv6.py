"""DHCPv6 messages between clients and servers (RFC 8415, sections 8 and 21).

message: type (1), transaction (3), options
option:  code (2), length of the data (2), data
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum
from ipaddress import IPv6Address, IPv6Network

from wayname.wire.domains import decode_domains, encode_domains
from wayname.wire.errors import DecodeError

SERVER_PORT = 547
CLIENT_PORT = 546
INFINITY = 0xFFFFFFFF
ALL_SERVERS = IPv6Address("ff02::1:2")

HEADER_OCTETS = 4
LEAST_DUID, MOST_DUID = 3, 130  # a type of two octets, and up to 128 behind it (section 11.1)


class Kind(IntEnum):
    """What a message is; those between relays are not here."""

    SOLICIT = 1
    ADVERTISE = 2
    REQUEST = 3
    CONFIRM = 4
    RENEW = 5
    REBIND = 6
    REPLY = 7
    RELEASE = 8
    DECLINE = 9
    RECONFIGURE = 10
    INFORMATION_REQUEST = 11


class Code(IntEnum):
    """Why something is refused (section 21.13)."""

    SUCCESS = 0
    UNSPECIFIED = 1
    NO_ADDRESSES = 2
    NO_BINDING = 3
    NOT_ON_LINK = 4
    USE_MULTICAST = 5
    NO_PREFIXES = 6


class Option(IntEnum):
    """The options that are read or written here."""

    CLIENT = 1
    SERVER = 2
    IA_NA = 3
    IA_TA = 4
    ADDRESS = 5
    REQUESTED = 6
    PREFERENCE = 7
    ELAPSED = 8
    STATUS = 13
    RAPID_COMMIT = 14
    DNS_SERVERS = 23
    SEARCH_DOMAINS = 24
    IA_PD = 25
    PREFIX = 26
    SOL_MAX_RT = 82


_ONCE = frozenset(
    (
        Option.CLIENT,
        Option.SERVER,
        Option.REQUESTED,
        Option.PREFERENCE,
        Option.ELAPSED,
        Option.STATUS,
        Option.RAPID_COMMIT,
        Option.DNS_SERVERS,
        Option.SEARCH_DOMAINS,
        Option.SOL_MAX_RT,
    )
)


@dataclass(frozen=True, slots=True)
class Status:
    """How something went (section 21.13): code (2), text in UTF-8 for people."""

    code: Code
    text: str = ""

    def encode(self) -> bytes:
        """Return the option."""
        return _option(Option.STATUS, self.code.to_bytes(2) + self.text.encode())

    @classmethod
    def decode(cls, data: bytes) -> Status:
        """Read the option's data; a code that is not known is a failure like any other."""
        _expect(len(data) >= 2, "a status without its code")
        number = int.from_bytes(data[:2])
        known = Code(number) if number in set(Code) else Code.UNSPECIFIED
        return cls(known, data[2:].decode(errors="replace"))


@dataclass(frozen=True, slots=True)
class Lease:
    """An address of a client (section 21.6): address (16), preferred lifetime (4), valid lifetime (4), options."""

    address: IPv6Address
    preferred: int = 0
    valid: int = 0
    status: Status | None = None

    def encode(self) -> bytes:
        """Return the option."""
        lifetimes = self.preferred.to_bytes(4) + self.valid.to_bytes(4)
        return _option(Option.ADDRESS, self.address.packed + lifetimes + _status_option(self.status))

    @classmethod
    def decode(cls, data: bytes) -> Lease:
        """Read the option's data; lifetimes that contradict each other are the sender's mistake."""
        _expect(len(data) >= 24, "an address option of less than 24 octets")
        preferred, valid = int.from_bytes(data[16:20]), int.from_bytes(data[20:24])
        _expect(preferred <= valid, "an address that is preferred longer than valid")
        return cls(IPv6Address(data[:16]), preferred, valid, _status_of(dict(_options(data[24:]))))


@dataclass(frozen=True, slots=True)
class Association:
    """An identity association of addresses, IA_NA (section 21.4): IAID (4), T1 (4), T2 (4), options."""

    iaid: int
    leases: tuple[Lease, ...] = ()
    t1: int = 0
    t2: int = 0
    status: Status | None = None

    def encode(self) -> bytes:
        """Return the option."""
        head = self.iaid.to_bytes(4) + self.t1.to_bytes(4) + self.t2.to_bytes(4)
        return _option(
            Option.IA_NA, head + b"".join(lease.encode() for lease in self.leases) + _status_option(self.status)
        )

    @classmethod
    def decode(cls, data: bytes) -> Association:
        """Read the option's data."""
        _expect(len(data) >= 12, "an IA_NA of less than 12 octets")
        iaid, t1, t2 = (int.from_bytes(data[at : at + 4]) for at in (0, 4, 8))
        _expect(not t2 or t1 <= t2, "an IA_NA whose T1 is after its T2")
        options = list(_options(data[12:]))
        leases = tuple(Lease.decode(inner) for code, inner in options if code == Option.ADDRESS)
        return cls(iaid, leases, t1, t2, _status_of(dict(options)))


@dataclass(frozen=True, slots=True)
class PrefixLease:
    """A prefix of a client (section 21.22): preferred (4), valid (4), length (1), prefix (16), options."""

    network: IPv6Network
    preferred: int = 0
    valid: int = 0
    status: Status | None = None

    def encode(self) -> bytes:
        """Return the option."""
        lifetimes = self.preferred.to_bytes(4) + self.valid.to_bytes(4)
        prefix = bytes([self.network.prefixlen]) + self.network.network_address.packed
        return _option(Option.PREFIX, lifetimes + prefix + _status_option(self.status))

    @classmethod
    def decode(cls, data: bytes) -> PrefixLease:
        """Read the option's data; bits behind the prefix are ignored."""
        _expect(len(data) >= 25, "a prefix option of less than 25 octets")
        _expect(data[8] <= 128, f"a prefix of {data[8]} bits")
        preferred, valid = int.from_bytes(data[:4]), int.from_bytes(data[4:8])
        _expect(preferred <= valid, "a prefix that is preferred longer than valid")
        network = IPv6Network((data[9:25], data[8]), strict=False)
        return cls(network, preferred, valid, _status_of(dict(_options(data[25:]))))


@dataclass(frozen=True, slots=True)
class Delegation:
    """An identity association of prefixes, IA_PD (section 21.21): IAID (4), T1 (4), T2 (4), options."""

    iaid: int
    leases: tuple[PrefixLease, ...] = ()
    t1: int = 0
    t2: int = 0
    status: Status | None = None

    def encode(self) -> bytes:
        """Return the option."""
        head = self.iaid.to_bytes(4) + self.t1.to_bytes(4) + self.t2.to_bytes(4)
        leases = b"".join(lease.encode() for lease in self.leases)
        return _option(Option.IA_PD, head + leases + _status_option(self.status))

    @classmethod
    def decode(cls, data: bytes) -> Delegation:
        """Read the option's data."""
        _expect(len(data) >= 12, "an IA_PD of less than 12 octets")
        iaid, t1, t2 = (int.from_bytes(data[at : at + 4]) for at in (0, 4, 8))
        _expect(not t2 or t1 <= t2, "an IA_PD whose T1 is after its T2")
        options = list(_options(data[12:]))
        leases = tuple(PrefixLease.decode(inner) for code, inner in options if code == Option.PREFIX)
        return cls(iaid, leases, t1, t2, _status_of(dict(options)))


@dataclass(frozen=True, slots=True)
class Refused:
    """An association of temporary addresses, IA_TA: only its IAID matters, and what is said of it."""

    iaid: int
    status: Status | None = None

    def encode(self) -> bytes:
        """Return the option."""
        return _option(Option.IA_TA, self.iaid.to_bytes(4) + _status_option(self.status))

    @classmethod
    def decode(cls, data: bytes) -> Refused:
        """Read the option's data."""
        _expect(len(data) >= 4, "an association without its IAID")
        return cls(int.from_bytes(data[:4]))


@dataclass(frozen=True, slots=True)
class Message:
    """A message; `client` and `server` are DUIDs."""

    kind: Kind
    transaction: int
    client: bytes | None = None
    server: bytes | None = None
    associations: tuple[Association, ...] = ()
    others: tuple[Refused, ...] = ()
    rapid_commit: bool = False
    preference: int | None = None
    status: Status | None = None
    delegations: tuple[Delegation, ...] = ()
    # In hundredths of a second since the client began to ask.
    elapsed: int | None = None
    requested: tuple[int, ...] = ()
    dns_servers: tuple[IPv6Address, ...] = ()
    search_domains: tuple[str, ...] = ()
    # The longest time between two Solicits, in seconds (section 21.24).
    sol_max_rt: int | None = None

    def encode(self) -> bytes:
        """Return the message's octets."""
        octets = bytes([self.kind]) + self.transaction.to_bytes(3)
        for option, duid in ((Option.CLIENT, self.client), (Option.SERVER, self.server)):
            if duid is not None:
                octets += _option(option, duid)
        octets += b"".join(each.encode() for each in self.associations)
        octets += b"".join(each.encode() for each in self.others)
        octets += b"".join(each.encode() for each in self.delegations)
        if self.elapsed is not None:
            octets += _option(Option.ELAPSED, self.elapsed.to_bytes(2))
        if self.requested:
            octets += _option(Option.REQUESTED, b"".join(code.to_bytes(2) for code in self.requested))
        if self.dns_servers:
            octets += _option(Option.DNS_SERVERS, b"".join(server.packed for server in self.dns_servers))
        if self.search_domains:
            octets += _option(Option.SEARCH_DOMAINS, encode_domains(self.search_domains))
        if self.sol_max_rt is not None:
            octets += _option(Option.SOL_MAX_RT, self.sol_max_rt.to_bytes(4))
        if self.preference is not None:
            octets += _option(Option.PREFERENCE, bytes([self.preference]))
        if self.rapid_commit:
            octets += _option(Option.RAPID_COMMIT, b"")
        return octets + _status_option(self.status)

    @classmethod
    def decode(cls, octets: bytes) -> Message:
        """Read a message; options that are not known are left unread."""
        _expect(len(octets) >= HEADER_OCTETS, f"a DHCPv6 message has at least 4 octets, not {len(octets)}")
        if octets[0] not in set(Kind):
            raise DecodeError(f"DHCPv6 message {octets[0]} is none between client and server")
        once: dict[int, bytes] = {}
        associations: list[Association] = []
        others: list[Refused] = []
        delegations: list[Delegation] = []
        for code, data in _options(octets[HEADER_OCTETS:]):
            if code == Option.IA_NA:
                associations.append(Association.decode(data))
            elif code == Option.IA_TA:
                others.append(Refused.decode(data))
            elif code == Option.IA_PD:
                delegations.append(Delegation.decode(data))
            elif code in _ONCE:
                # Which of two would count, nobody knows.
                _expect(code not in once, f"option {code} stands twice")
                once[code] = data
        for name, iaids in (
            ("IA_NA", [each.iaid for each in associations]),
            ("IA_PD", [each.iaid for each in delegations]),
        ):
            _expect(len(set(iaids)) == len(iaids), f"two {name} with one IAID")
        servers, requested = once.get(Option.DNS_SERVERS, b""), once.get(Option.REQUESTED, b"")
        _expect(len(servers) % 16 == 0, f"name servers in {len(servers)} octets")
        _expect(len(requested) % 2 == 0, f"numbers of options in {len(requested)} octets")
        return cls(
            kind=Kind(octets[0]),
            transaction=int.from_bytes(octets[1:4]),
            client=_duid(once.get(Option.CLIENT)),
            server=_duid(once.get(Option.SERVER)),
            associations=tuple(associations),
            others=tuple(others),
            rapid_commit=once.get(Option.RAPID_COMMIT) is not None,
            preference=_number(once, Option.PREFERENCE, 1),
            status=_status_of(once),
            delegations=tuple(delegations),
            elapsed=_number(once, Option.ELAPSED, 2),
            requested=tuple(int.from_bytes(requested[at : at + 2]) for at in range(0, len(requested), 2)),
            dns_servers=tuple(IPv6Address(servers[at : at + 16]) for at in range(0, len(servers), 16)),
            search_domains=decode_domains(once.get(Option.SEARCH_DOMAINS, b"")),
            sol_max_rt=_number(once, Option.SOL_MAX_RT, 4),
        )


def _duid(data: bytes | None) -> bytes | None:
    _expect(data is None or LEAST_DUID <= len(data) <= MOST_DUID, "a DUID has 3 to 130 octets")
    return data


def _number(options: Mapping[int, bytes], option: Option, size: int) -> int | None:
    data = options.get(option)
    _expect(data is None or len(data) == size, f"option {option} has {size} octets")
    return None if data is None else int.from_bytes(data)


def _status_of(options: Mapping[int, bytes]) -> Status | None:
    data = options.get(Option.STATUS)
    return None if data is None else Status.decode(data)


def _status_option(status: Status | None) -> bytes:
    return status.encode() if status else b""


def _option(code: int, data: bytes) -> bytes:
    return code.to_bytes(2) + len(data).to_bytes(2) + data


def _options(octets: bytes) -> Iterator[tuple[int, bytes]]:
    while octets:
        _expect(len(octets) >= 4, "the message ends inside an option's head")
        end = 4 + int.from_bytes(octets[2:4])
        _expect(end <= len(octets), "an option is longer than what is left")
        yield int.from_bytes(octets[:2]), octets[4:end]
        octets = octets[end:]


def _expect(holds: bool, otherwise: str) -> None:
    if not holds:
        raise DecodeError(otherwise)
