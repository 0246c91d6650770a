"""Whole edges that get packets of every reason, digests, answers, commands and times: nearly right, or not at all."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from ipaddress import IPv6Address

import finsy as fy
from encapsulating_site import CARRIED
from encapsulating_site import SITE as CARRYING_SITE
from hip.edges import host_of
from hip.keys import ecdsa
from hip.test_hip_modes import HIP_ROUTER
from identities.site import site
from identities.test_prefixes import UPLINKS
from nptv6_site import SITE as TRANSLATED_SITE
from rig import program_of
from sessions.pair import configuration, prefixes_of, uplinks
from sessions.test_modes import ROUTER

from fuzz import genuine
from fuzz.mutation import mutated
from wayname.composition.configuration import parse_config
from wayname.composition.edge import Edge
from wayname.config.names import Transport
from wayname.edge.boundary import (
    AssociationAction,
    ChangeAssociation,
    DirectExport,
    DnsQuery,
    DnsResponse,
    DrainProvider,
    Event,
    FlowAdmitted,
    FlowEvent,
    ForkSession,
    IdleEntry,
    Input,
    LearnedMac,
    ModifierFound,
    MoveSession,
    PacketIn,
    PacketOut,
    PairActive,
    PathEvent,
    SessionEvent,
    SwitchUp,
    UnforkSession,
    Write,
)
from wayname.hip.config import SECTION
from wayname.hip.edge.sessions import HipSessions
from wayname.hip.identities import Identity
from wayname.ilnp.edge.manager import IlnpSessions
from wayname.p4_constants import FlowEventKind, PathEventKind, Punt, SessionEventKind
from wayname.wire import ipv6
from wayname.wire.flow import Flow
from wayname_lab.virtual.edge_key import load_key

# A reason that the program may get one day, and this controller does not know.
UNKNOWN_REASON = 99
NAMES = '\n[{table}.names]\nserver = "::1"\nzone = "lab.test"\n'
NAMED = '[[{table}.names.peer]]\naddress = "{address}"\nname = "b.lab.test"\n'
BORDER = '[[nptv6]]\ninside = "fd12:3456:789a::/48"\n[ilnp]\n[[ilnp.site]]\n'
BORDER += 'prefixes = ["fd12:3456:789a:10::/64"]\nmode = "border"\n'
SCHEDULE = '\n[[schedule]]\nname = "s"\n' + "".join(
    f'[[schedule.path]]\nprovider = "{name}"\nbandwidth = 1e6\ndelay = 0.01\n' for name in ("p", "q")
)


@dataclass(frozen=True)
class Site:
    """A configuration, and addresses that mean something in it."""

    name: str
    text: str
    addresses: tuple[IPv6Address, ...]


def hip_proxy() -> str:
    """Return an edge that speaks HIP for a host."""
    prefixes = ", ".join(f'"{prefix}"' for prefix in prefixes_of(1))
    lines = [*uplinks(1), "[hip]", f"proxy = [{prefixes}]", "difficulty = 1"]
    lines += ["[[hip.host]]", f'address = "{host_of(1)}"', 'key = "is given"']
    lines += ["[[hip.peer]]", f'address = "{host_of(2)}"', f'hit = "{ecdsa(2).hit}"']
    return "\n".join(lines)


def ilnp_site() -> str:
    """Return an edge that speaks ILNP for hosts, and finds peers by the DNS."""
    prefixes = ", ".join(f'"{prefix}"' for prefix in prefixes_of(1))
    names = NAMES.format(table="ilnp") + NAMED.format(table="ilnp", address="2001:db8:102:10::2:11")
    return "\n".join([*uplinks(1), "[ilnp]", "[[ilnp.site]]", f"prefixes = [{prefixes}]"]) + names


def at(*texts: str) -> tuple[IPv6Address, ...]:
    """Return addresses."""
    return tuple(map(IPv6Address, texts))


@cache
def sites() -> tuple[Site, ...]:
    """Return edges of all kinds."""
    shim6, host = configuration(1)
    verify = '"2001:db8:1::/64", "2001:db8:2::/64"'
    return (
        Site("Shim6 for hosts", shim6 + SCHEDULE, (host, host_of(2), *at("2001:db8:101:10::1", "2001:db8:0:1::1"))),
        Site("Shim6 verified", ROUTER + 'mode = "verify"\n', at("2001:db8:1::a", "2001:db8:3::b", "2001:db8:1::ffff")),
        Site("HIP for hosts", hip_proxy(), (host_of(1), host_of(2), *at("2001:db8:101:10::1"))),
        Site("HIP verified", f"{HIP_ROUTER}verify = [{verify}]\n", at("2001:db8:1::a", "2001:db8:3::b")),
        Site("HIP transparent", f"{HIP_ROUTER}transparent = [{verify}]\n", at("2001:db8:1::a", "2001:db8:3::b")),
        Site("ILNP for hosts", ilnp_site(), at("2001:db8:101:10::1:11", "2001:db8:102:10::2:11", "2001:db8:201:10::5")),
        Site("a border", TRANSLATED_SITE + BORDER, at("2001:db8:101:10::1:11", "fd12:3456:789a:10::1:11")),
        Site("identities", site(UPLINKS), at("2001:db8:1:10::1", "2001:db8:2:10::77", "2001:db8:f:10::5", "fe80::1")),
        Site("encapsulation", CARRYING_SITE + CARRIED, at("2001:db8:1::1", "2001:db8:100::2", "2001:db8:100:a::1")),
    )


class FuzzedEdge:
    """An edge, and all that it may be told; what it wants is encoded, and no more."""

    def __init__(self, site: Site, seed: int) -> None:
        self.site = site
        config = parse_config(site.text)
        self.schema = program_of(config.switch)
        self.rng = random.Random(f"{site.name} {seed}")
        identities: dict[IPv6Address, Identity] = (
            {host_of(1): ecdsa(1)} if (hip := SECTION.of(config)) and hip.hosts else {}
        )
        key = load_key() if config.identities else None
        self.edge = Edge(config, self.schema, random.Random(seed), {}, key, {"hip": identities})
        self.now = 1.0
        self.vlans = [interface.vlan for interface in config.interfaces]
        self.ports = [port.number for port in config.ports]
        self.events: list[Event] = []
        self._frames = genuine.frames(genuine.all_packets())
        self._others: tuple[Callable[[], Input], ...] = (
            self._learned,
            self._session_event,
            self._pair_active,
            self._flow_event,
            self._flow_admitted,
            self._path_event,
            self._direct_export,
            self._names,
            self._command,
            self._idle,
        )
        self.edge.receive(SwitchUp([]), self.now)
        self.carry_out()

    def packet(self, reason: int) -> None:
        """Let a packet come for a reason."""
        octets = mutated(self._frames, self.rng) if self.rng.random() < 0.8 else self.rng.choice(self._frames)
        octets = self._addressed(octets)
        if self.rng.random() < 0.9:
            octets = genuine.sealed_frame(octets)
        vlan = self.rng.choice(self.vlans) if self.rng.random() < 0.95 else 4000
        self._receive(PacketIn(octets, reason, self.rng.choice(self.ports), vlan))

    def other(self) -> None:
        """Let something else happen."""
        self._receive(self.rng.choice(self._others)())

    def wait(self) -> None:
        """Let time pass; timers that are due are called as often as an adapter would."""
        end = self.now + self.rng.choice((0.01, 0.3, 2.0, 40.0))
        for _ in range(200):
            due = self.edge.next_timer()
            if due is None or due > end:
                break
            self.now = max(self.now, due)
            self.edge.handle_timer(self.now)
            self.carry_out()
        self.now = end

    def carry_out(self) -> None:
        """Take what the edge wants, and see that the switch could be told of it."""
        for output in self.edge.take_outputs():
            match output:
                case Event():
                    self.events.append(output)
                case Write(updates):
                    for _, entity in updates:
                        entity.encode(self.schema)
                case PacketOut(payload, kind, port, vlan):
                    fy.P4PacketOut(payload, kind=kind, port=port, vlan=vlan).encode_update(self.schema)

    def _receive(self, input: Input) -> None:
        self.now += self.rng.choice((0.0, 0.001, 0.2))
        self.edge.receive(input, self.now)
        self.carry_out()

    def _addressed(self, octets: bytes) -> bytes:
        """Return a frame between addresses that the edge knows something of, or those that it had."""
        head = 18 if octets[12:14] == b"\x81\0" else 14
        for begin in (head + 8, head + 24):
            if self.rng.random() < 0.6 and len(octets) >= head + ipv6.HEADER_BYTES:
                octets = octets[:begin] + self.rng.choice(self.site.addresses).packed + octets[begin + 16 :]
        return octets

    def _address(self) -> IPv6Address:
        if self.rng.random() < 0.7:
            return self.rng.choice(self.site.addresses)
        return IPv6Address(self.rng.getrandbits(128))

    def _number(self) -> int:
        return self.rng.choice((0, 1, 2, 3, self.rng.getrandbits(20)))

    def _learned(self) -> Input:
        return LearnedMac(self.rng.choice((*self.ports, 300)), self.rng.choice(self.vlans), self.rng.getrandbits(48))

    def _session_event(self) -> Input:
        kind = self.rng.choice(list(SessionEventKind))
        return SessionEvent(kind, self._number(), self._number() % 16, self._number() % 16, self.rng.random() * 9)

    def _pair_active(self) -> Input:
        addresses = self._address(), self._address()
        return PairActive(*addresses, self._number(), self.rng.random(), self.rng.random() < 0.5)

    def _flow(self) -> Flow:
        return Flow(self._address(), self._address(), self.rng.getrandbits(8), self._number() % 65536, 7)

    def _flow_event(self) -> Input:
        nonce = self.rng.randbytes(self.rng.choice((0, 4, 12)))
        return FlowEvent(self.rng.choice(list(FlowEventKind)), self._number(), self._number(), self._flow(), nonce)

    def _flow_admitted(self) -> Input:
        size = self.rng.choice((4, 12))
        nonces = self.rng.randbytes(size), self.rng.randbytes(size)
        return FlowAdmitted(self._address(), self._address(), *nonces, self.rng.random() < 0.5)

    def _path_event(self) -> Input:
        kind = self.rng.choice(list(PathEventKind))
        numbers = self._number(), self._number(), self._number() % 8, self._number() % 16
        return PathEvent(kind, *numbers, self.rng.random(), self.rng.random(), self.rng.random() * 1e9)

    def _direct_export(self) -> Input:
        numbers = [self.rng.getrandbits(bits) for bits in (16, 24, 32, 32, 24, 8, 9, 9, 48, 32)]
        return DirectExport(*numbers)

    def _names(self) -> Input:
        octets = mutated(genuine.answers(), self.rng)
        keepers = (self.edge.manager(IlnpSessions), self.edge.manager(HipSessions))
        directories = [keeper.directory for keeper in keepers if keeper and keeper.directory]
        asked = [each for directory in directories for each in directory._server._asked.items()]
        if not asked:
            return DnsResponse(DnsQuery(IPv6Address("::1"), 53, Transport.UDP, b""), octets)
        number, question = self.rng.choice(asked)
        return DnsResponse(question.question, number.to_bytes(2) + octets[2:])

    def _command(self) -> Input:
        number = self._number()
        return self.rng.choice(
            (
                MoveSession(number, self._number()),
                ForkSession(number, self._number(), self._number()),
                UnforkSession(number),
                DrainProvider("p", self.rng.random() < 0.5),
                ChangeAssociation(self._address(), self._address(), self.rng.choice(list(AssociationAction))),
                ModifierFound(self.rng.randbytes(20), 1, self.rng.randbytes(16)),
            )
        )

    def _idle(self) -> Input:
        if self.rng.random() < 0.5:
            match = fy.P4TableMatch(local=int(self._address()), remote=int(self._address()))
            return IdleEntry(fy.P4TableEntry("identities", match=match))
        match = fy.P4TableMatch(port=1, vlan=self.rng.choice(self.vlans), source=self.rng.getrandbits(48))
        return IdleEntry(fy.P4TableEntry("learned_macs", match=match))


def rounds_of(site: Site, count: int, seed: int) -> FuzzedEdge:
    """Give an edge so many packets of each reason, and things that happen between them."""
    fuzzed = FuzzedEdge(site, seed)
    reasons = [*Punt, UNKNOWN_REASON]
    for _ in range(count):
        fuzzed.rng.shuffle(reasons)
        for reason in reasons:
            fuzzed.packet(reason)
            if fuzzed.rng.random() < 0.3:
                fuzzed.other()
            if fuzzed.rng.random() < 0.05:
                fuzzed.wait()
    return fuzzed
