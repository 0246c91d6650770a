"""Two edges' sessions with the packets between them, on a clock that the test moves; no switch."""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from ipaddress import IPv6Address, IPv6Network
from typing import Any, Generic, TypeVar

import finsy as fy

from wayname.composition.configuration import parse_config
from wayname.edge.boundary import Event, Json, Output, PacketIn, PairActive, Persist, SessionEvent
from wayname.edge.links import ReceivedPacket
from wayname.edge.nptv6.nptv6 import Nptv6Manager
from wayname.edge.outputs import Outputs
from wayname.edge.provider_reachability import ProviderReachability
from wayname.edge.providers import Providers
from wayname.edge.routes import Routes
from wayname.hip.edge.sessions import HipSessions
from wayname.hip.messages import Kind
from wayname.p4_constants import PacketOutKind, SessionEventKind
from wayname.session.context import SessionContext
from wayname.session.egress_selection import EgressSelection
from wayname.session.numbers import SessionNumbers
from wayname.session.preferences import PathPreferences
from wayname.session.scheduling.schedules import Schedules
from wayname.session.session import Session
from wayname.session.tables import want_source_policy_routes
from wayname.shim6.edge.sessions import Shim6Sessions
from wayname.wire.ethernet import TYPE_IPV6, Frame
from wayname.wire.ipv6 import HIP, ICMPV6, Packet
from wayname.wire.mac import Mac
from wayname.wire.shim6.messages import MessageType
from wayname_lab.identities import provable_address

DELAY = 0.01
MOST = 100
UPLINKS = ("p", "q")
TCP = 6


def prefixes_of(site: int, providers: int = len(UPLINKS)) -> list[str]:
    """Return the prefixes of a site's hosts, one of each provider."""
    return [f"2001:db8:{provider}0{site}:10::/64" for provider in range(1, providers + 1)]


def uplinks(site: int, providers: int = len(UPLINKS)) -> list[str]:
    """Return the lines of a site's configuration about its providers."""
    names = [*UPLINKS, *(f"p{number}" for number in range(len(UPLINKS) + 1, providers + 1))]
    lines = ["[[port]]", "number = 1", "vlan = 10", f"tagged = {list(range(20, 20 + providers))}"]
    lines += ["[[interface]]", "vlan = 10", f'addresses = ["2001:db8:10{site}:10::1/64"]']
    for number, name in enumerate(names, 1):
        lines += ["[[interface]]", f"vlan = {19 + number}", f'addresses = ["2001:db8:0:{number}::{site}/64"]']
        lines += ["[[provider]]", f'name = "{name}"', f'prefix = "2001:db8:{number}0{site}::/48"']
        lines += [f'via = ["2001:db8:0:{number}::9"]']
    return lines


def configuration(site: int, more: str = "", providers: int = len(UPLINKS)) -> tuple[str, IPv6Address]:
    """Return a site's configuration, and the address of its host."""
    prefixes = prefixes_of(site, providers)
    address, parameters = provable_address(f"h{site}", [IPv6Network(prefix) for prefix in prefixes])
    lines = uplinks(site, providers)
    lines += ["[[shim6]]", f"prefixes = {prefixes}".replace("'", '"'), more]
    lines += ["[[shim6.host]]", f'address = "{address}"', f'parameters = "{parameters.encode().hex()}"']
    return "\n".join(lines), address


S = TypeVar("S", Shim6Sessions, HipSessions)


class Ways(EgressSelection):
    """The ways out of an edge: providers may be closed, what is sent is kept."""

    def __init__(self, providers: Providers) -> None:
        self.submitted: list[PacketIn] = []
        self.delivered: list[Packet] = []
        self.closed: set[str] = set()
        self.one_way: set[str] = set()
        self.sent: list[Packet] = []
        self.within_switch: list[tuple[PacketOutKind, Packet]] = []
        self._providers = providers

    def is_open(self, address: IPv6Address) -> bool:
        """Whether its provider is there."""
        provider = self._providers.of(address)
        return provider is None or provider.name not in self.closed

    def is_one_way(self, address: IPv6Address) -> bool:
        """Whether its provider is closed, and yet packets arrive by it."""
        provider = self._providers.of(address)
        return provider is not None and provider.name in self.one_way

    def why_closed(self, address: IPv6Address) -> str:
        """Say which provider is not there."""
        provider = self._providers.of(address)
        return f"{provider.name} is down: closed by the test" if provider else ""

    def send(self, packet: Packet) -> None:
        """Keep a packet."""
        self.sent.append(packet)

    def deliver(self, packet: Packet) -> None:
        """Keep what a host gets."""
        self.delivered.append(packet)

    def submit(self, original: PacketIn) -> None:
        """Keep what goes through the switch again."""
        self.submitted.append(original)

    def within(self, kind: PacketOutKind, packet: Packet, host: IPv6Address | None = None) -> None:
        """Keep what the switch would get."""
        self.within_switch.append((kind, packet))


@dataclass
class SideOf(ABC, Generic[S]):
    """One edge; its controller may be killed."""

    site: int
    more: str = ""
    uplinks: int = len(UPLINKS)
    memory: dict[str, Json] = field(default_factory=dict)
    held: dict[str, fy.P4TableEntry] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)
    sessions: S | None = None
    seed: int = 0

    @abstractmethod
    def configuration(self) -> tuple[str, IPv6Address]:
        """Return the site's configuration, and the address of its host."""

    @abstractmethod
    def keep_sessions(self, means: SessionContext) -> S:
        """Return what keeps the sessions of this side."""

    @abstractmethod
    def receive(self, packet: Packet, now: float) -> None:
        """Take a packet for the host."""

    def __post_init__(self) -> None:
        text, self.host = self.configuration()
        self.config = parse_config(text)
        self.providers = Providers(self.config)

    def start(self, now: float) -> None:
        """Start a controller that knows what the last one wrote down."""
        self.seed += 1
        self.outputs = Outputs()
        self.ways = Ways(self.providers)
        rng = random.Random(1000 * self.site + self.seed)
        memory = dict(self.memory)
        numbers = SessionNumbers(MOST, memory, self.outputs)
        schedules = Schedules(self.config.schedules, memory, self.outputs)
        preferences = PathPreferences(self.config.path_policies, self.providers.of)
        reachability = ProviderReachability(self.config.providers, Routes(self.config, self.providers, Outputs()))
        translation = Nptv6Manager(self.config, reachability, Outputs())
        means = SessionContext(
            self.config,
            numbers,
            self.providers,
            self.ways,
            schedules,
            preferences,
            translation,
            self.outputs,
            rng,
            memory,
            {},
        )
        want_source_policy_routes(self.config, self.providers, self.outputs.desired)
        self.sessions = self.keep_sessions(means)
        self.outputs.desired.compare(self.held.values())
        self.outputs.connected = True
        self.sessions.start(now)

    def carry_out(self) -> None:
        """Do what the outputs say."""
        for output in self.outputs.take():
            if isinstance(output, Persist):
                self.memory.pop(output.key, None)
                if output.value is not None:
                    self.memory[output.key] = output.value
            elif isinstance(output, Event):
                self.events.append(output)
            else:
                self.take(output)
        self.held = {str(each): each for each in self.outputs.desired.wanted() if isinstance(each, fy.P4TableEntry)}

    def take(self, output: Output) -> None:
        """Take another output; most are for nobody here."""

    @property
    def only(self) -> Session:
        """The only session."""
        assert self.sessions is not None
        [session] = self.sessions
        return session

    def entries(self, table: str) -> list[dict[str, int]]:
        """Return keys and arguments of a table's entries."""
        found = [each for each in self.held.values() if each.table_id == table]
        return [{**(each.match or {}), **each.action.args} for each in found if isinstance(each.action, fy.Action)]

    def kinds(self) -> list[str]:
        """Return the kinds of all events."""
        return [event.kind for event in self.events]


class Side(SideOf[Shim6Sessions]):
    """One edge that speaks Shim6."""

    def configuration(self) -> tuple[str, IPv6Address]:
        """Return the site's configuration, and the address of its host."""
        return configuration(self.site, self.more, self.uplinks)

    def keep_sessions(self, means: SessionContext) -> Shim6Sessions:
        """Return what keeps the sessions of this side."""
        return Shim6Sessions(means)

    def receive(self, packet: Packet, now: float) -> None:
        """Take a packet for the host."""
        assert self.sessions is not None
        self.sessions.packet(packet, now)


One = TypeVar("One", bound=SideOf[Any])


class PairOf(Generic[One]):
    """Two sides, and the network between them."""

    def __init__(self, a: One, b: One) -> None:
        self.now = 100.0
        self.a, self.b = a, b
        self.under_way: list[tuple[float, Packet]] = []
        # Addresses of networks that nothing reaches.
        self.dead: set[str] = set()
        for side in (self.a, self.b):
            side.start(self.now)
            self.collect(side)

    def collect(self, side: One) -> None:
        """Carry out what a side says, and put its packets on their way."""
        side.carry_out()
        packets, side.ways.sent = side.ways.sent, []
        self.under_way += [(self.now + DELAY, packet) for packet in packets]

    def active(self, side: One, peer: IPv6Address) -> None:
        """Let a switch say that its host talks to an address."""
        assert side.sessions is not None
        side.sessions.pair_active(PairActive(side.host, peer, 2048, 1.0, True), self.now)
        self.collect(side)

    def talk(self, a: bool = True, b: bool = False) -> None:
        """Let the switches say that the hosts talk."""
        for side, other, does in ((self.a, self.b, a), (self.b, self.a, b)):
            if does:
                self.active(side, other.host)

    def tell(self, side: One, kind: SessionEventKind, path_from: int = 0, path_to: int = 0, age: float = 0.5) -> None:
        """Let a switch say something about its only session."""
        assert side.sessions is not None
        side.sessions.switch_event(SessionEvent(kind, side.only.number, path_from, path_to, age), self.now)
        self.collect(side)

    def kill(self, side: One) -> None:
        """End a controller without a word."""
        side.sessions = None

    def restart(self, side: One) -> None:
        """Kill a controller and start another one."""
        side.start(self.now)
        self.collect(side)

    def step(self) -> str | None:
        """Deliver a packet or let a timer run out, whatever is next; say what."""
        timers = [
            (at, side)
            for side in (self.a, self.b)
            if side.sessions is not None and (at := side.sessions.next_timer()) is not None
        ]
        first = min(timers, key=lambda timer: timer[0], default=None)
        if self.under_way and (first is None or self.under_way[0][0] <= first[0]):
            self.now, packet = self.under_way.pop(0)
            side = next(side for side in (self.a, self.b) if _is_at(side, packet.destination))
            lost = self.is_dead(packet.destination) or self.is_dead(packet.source)
            if side.sessions is not None and not lost:
                side.receive(packet, self.now)
                self.collect(side)
            return message_name(packet)
        if first is None:
            return None
        self.now, side = max(self.now, first[0]), first[1]
        assert side.sessions is not None
        side.sessions.handle_timer(self.now, 0.0)
        self.collect(side)
        return "timer"

    def drive(self, seconds: float = 30.0) -> list[str]:
        """Go on for some time, or until nothing happens any more; return what happened."""
        end, happened = self.now + seconds, []
        while self.now < end and (what := self.step()) is not None:
            happened.append(what)
        return happened

    def is_dead(self, address: IPv6Address) -> bool:
        """Whether an address is in a network that nothing reaches."""
        return any(address in IPv6Network(f"{network}/48") for network in self.dead)

    def agrees(self) -> bool:
        """Whether each side has one session, and what one switch puts on packets the other one takes."""
        return all(_would_arrive(*way) for way in ((self.a, self.b), (self.b, self.a)))


class Pair(PairOf[Side]):
    """Two edges that speak Shim6."""

    def __init__(self, more: str = "", providers: int = len(UPLINKS)) -> None:
        super().__init__(Side(1, more, providers), Side(2, more, providers))


def keep_copy(pair: Pair, side: Side, text: bytes, next_header: int = TCP) -> PacketIn:
    """Give an edge the copy of a packet that got no answer yet."""
    assert side.sessions is not None
    packet = Packet(*side.only.name[:2], next_header, b"")
    copy = PacketIn(text, 15, 1, 10)
    frame = Frame(Mac(2), Mac(4), TYPE_IPV6, packet.encode())
    side.sessions.hold(ReceivedPacket(copy, frame, packet, side.config.interfaces[0]), pair.now)
    return copy


def message_name(packet: Packet) -> str:
    """Return what a packet is."""
    if packet.next_header == ICMPV6:
        return "ICMP"
    kinds: type[Kind | MessageType] = Kind if packet.next_header == HIP else MessageType
    return kinds(packet.payload[2] & 0x7F).name


def _is_at(side: SideOf[Any], address: IPv6Address) -> bool:
    return any(address in IPv6Network(prefix) for prefix in prefixes_of(side.site, side.uplinks))


def _would_arrive(side: SideOf[Any], other: SideOf[Any]) -> bool:
    """Whether every path of a side's session ends at the right identities, by the other's entries."""
    tags = {entry["tag"]: entry for entry in other.entries("context_tags")}
    pairs = {(entry["session"], entry["source"], entry["destination"]) for entry in other.entries("locator_pairs")}
    identities = {entry["session"] for entry in side.entries("identities")}
    with_header = [entry for entry in side.entries("paths") if "tag" in entry]
    return (
        len(identities) == 1
        and bool(with_header)
        and all(
            entry["tag"] in tags
            and entry["session"] in identities
            and (tags[entry["tag"]]["local"], tags[entry["tag"]]["remote"]) == (int(other.host), int(side.host))
            and (tags[entry["tag"]]["session"], entry["source"], entry["destination"]) in pairs
            for entry in with_header
        )
    )
