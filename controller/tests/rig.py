"""An `Edge` with the real switch in process, on a clock that the test moves."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from ipaddress import IPv6Address

import finsy as fy
import wayname_switch
from finsy import P4Schema
from finsy.p4entity import decode_stream, encode_entities
from finsy.proto import p4r

from wayname.adapter.digests import told
from wayname.composition.configuration import parse_config
from wayname.composition.edge import Edge
from wayname.composition.protocols import PROTOCOLS
from wayname.config.model import SwitchConfig
from wayname.edge.boundary import (
    Event,
    FindModifier,
    IdleEntry,
    Input,
    Json,
    LearnedFromProviders,
    ModifierFound,
    PacketIn,
    PacketOut,
    Persist,
    SwitchDown,
    SwitchUp,
    UpdateKind,
    Write,
    WriteFailed,
)
from wayname.edge.desired_state import key_of, value_of
from wayname.edge.provider_prefixes.manager import learned_before
from wayname.identity.search import find_modifier
from wayname.pipeline.entries import Entity, everything
from wayname.pipeline.program import load_program
from wayname.pipeline.read_back import decode_entities
from wayname.session.protocol import Protocol
from wayname.wire import discovery, icmpv6, ipv6
from wayname.wire.discovery import HOP_LIMIT, NeighbourAdvertisement, NeighbourSolicitation
from wayname.wire.ethernet import TYPE_IPV6, Frame, Tag
from wayname.wire.mac import Mac, group_mac
from wayname_lab.virtual.edge_key import load_key

TYPES = {
    UpdateKind.INSERT: p4r.Update.INSERT,
    UpdateKind.MODIFY: p4r.Update.MODIFY,
    UpdateKind.DELETE: p4r.Update.DELETE,
}


@cache
def program_of(switch: SwitchConfig) -> P4Schema:
    """Load a program once for all tests: that takes long beside what most of them do."""
    return load_program(switch)


class Rig:
    """A switch and its controller; hosts are what the test sends and what it finds in `sent`."""

    def __init__(self, config: str, seed: int = 1, protocols: Sequence[Protocol] = PROTOCOLS) -> None:
        self.protocols = protocols
        self.config = parse_config(config, protocols=protocols)
        self.schema = program_of(self.config.switch)
        self.seed = seed
        self.now = 1.0
        self.sent: list[tuple[int, Frame]] = []
        self.events: list[Event] = []
        self.writes: list[Write] = []
        self.remembered: dict[str, Json] = {}
        self.searches: list[FindModifier] = []
        self.answers: Callable[[int, Frame], list[tuple[int, Frame]]] = lambda port, frame: []
        self._learned: LearnedFromProviders | None = None
        # What waits while the switch takes no packets of the controller, or the controller does not read its answers.
        self.unsent: list[PacketOut] | None = None
        self.unread: list[PacketIn] | None = None
        self.switch = self._new_switch()
        self.edge = self._new_edge()
        self.edge.receive(SwitchUp(self.read()), self.now)
        self.settle()

    def _new_switch(self) -> wayname_switch.Switch:
        return wayname_switch.Switch(self.schema.p4blob.decode(), cpu_port=510, seed=self.seed)

    def _new_edge(self, before: Edge | None = None) -> Edge:
        key = load_key() if self.config.identities else None
        # Each controller has chances of its own.
        self.seed += 1
        rng, remembered = random.Random(self.seed), dict(self.remembered)
        return Edge(self.config, self.schema, rng, remembered, key, {}, self.protocols, before)

    def _renumber(self, learned: LearnedFromProviders) -> None:
        """Go on by the configuration with what providers say, as adapters do."""
        assert self.config.again is not None
        self.config = self.config.again(learned.learned)
        self.edge = self._new_edge(self.edge)
        self.edge.receive(SwitchUp(self.read(), resumed=True), self.now)

    def go_on(self) -> None:
        """Let what waits go through, in its order."""
        unsent, self.unsent = self.unsent or [], None
        for output in unsent:
            self._carry_out(output)
        unread, self.unread = self.unread or [], None
        for arrived in unread:
            self.edge.receive(arrived, self.now)
        self.settle()

    def restart_switch(self) -> None:
        """Let the switch lose all it knew."""
        self.edge.receive(SwitchDown("killed"), self.now)
        self.settle()
        self.switch = self._new_switch()
        self.edge.receive(SwitchUp(self.read()), self.now)
        self.settle()

    def restart_controller(self, *known: Input) -> None:
        """Let the controller lose all it knew; something it hears before it finds the switch."""
        if self.config.again is not None:
            self.config = self.config.again(learned_before(self.config, self.remembered, self.now))
        self.edge = self._new_edge()
        for input in known:
            self.edge.receive(input, self.now)
        self.edge.receive(SwitchUp(self.read()), self.now)
        self.settle()

    def receive(self, input: Input) -> None:
        """Give the controller an input, and carry out what comes of it."""
        self.edge.receive(input, self.now)
        self.settle()

    def inject(self, port: int, frame: Frame) -> list[tuple[int, Frame]]:
        """Let a frame arrive; return what left by ports, the controller's packets among them."""
        before = len(self.sent)
        self._leave(self.switch.inject(port, frame.encode(), self._ns()))
        self.settle()
        return self.sent[before:]

    def advance(self, seconds: float) -> None:
        """Let time pass, timers and timeouts at their time."""
        end = self.now + seconds
        while True:
            due = self.edge.next_timer()
            self.now = min(end, max(self.now, due) if due is not None else end, self.now + 5)
            if due is not None and due <= self.now:
                self.edge.handle_timer(self.now)
            for text in self.switch.idle_timeouts(self._ns()):
                entry = p4r.TableEntry.FromString(text)
                self.edge.receive(IdleEntry(fy.P4TableEntry.decode_entry(entry, self.schema)), self.now)
            self.settle()
            if self.now >= end:
                return

    def settle(self) -> None:
        """Carry messages between switch and controller until there are none."""
        while True:
            busy = False
            for output in self.edge.take_outputs():
                busy = True
                self._carry_out(output)
            for text in self.switch.digests(self._ns() + 2_000_000):
                busy = True
                digests = decode_stream(p4r.StreamMessageResponse(digest=p4r.DigestList.FromString(text)), self.schema)
                self.switch.acknowledge(digests.ack().encode_update(self.schema).digest_ack.SerializeToString())
                for input in told(digests):
                    self.edge.receive(input, self.now)
            for text in self.switch.packets_in():
                busy = True
                message = p4r.StreamMessageResponse(packet=p4r.PacketIn.FromString(text))
                packet = decode_stream(message, self.schema)
                arrived = PacketIn(
                    packet.payload, packet["reason"], packet["ingress_port"], packet["vlan"], packet["punt_class"]
                )
                if self.unread is not None:
                    self.unread.append(arrived)
                else:
                    self.edge.receive(arrived, self.now)
            learned, self._learned = self._learned, None
            if learned is not None:
                self._renumber(learned)
            elif not busy:
                return

    def _carry_out(self, output: object) -> None:
        if isinstance(output, LearnedFromProviders):
            self._learned = output
        elif isinstance(output, Event):
            self.events.append(output)
        elif isinstance(output, Persist):
            self.remembered[output.key] = output.value
            if output.value is None:
                del self.remembered[output.key]
        elif isinstance(output, FindModifier):
            self.searches.append(output)
        elif isinstance(output, PacketOut) and self.unsent is not None:
            self.unsent.append(output)
        elif isinstance(output, PacketOut):
            out = fy.P4PacketOut(output.payload, kind=output.kind, port=output.port, vlan=output.vlan)
            packet = out.encode_update(self.schema).packet
            self._leave(self.switch.packet_out(packet.SerializeToString(), self._ns()))
        elif isinstance(output, Write):
            self.writes.append(output)
            for update, (code, text) in zip(output.updates, self._write(output), strict=True):
                if code:
                    self.edge.receive(WriteFailed(update, code, text), self.now)

    def _write(self, write: Write) -> list[tuple[int, str]]:
        updates = [p4r.Update(type=TYPES[kind], entity=entity.encode(self.schema)) for kind, entity in write.updates]
        return self.switch.write(p4r.WriteRequest(updates=updates).SerializeToString(), self._ns())

    def _leave(self, outputs: list[wayname_switch.Output]) -> None:
        for output in outputs:
            frame = Frame.decode(output.packet)
            self.sent.append((output.port, frame))
            for port, answer in self.answers(output.port, frame):
                self._leave(self.switch.inject(port, answer.encode(), self._ns()))

    def _ns(self) -> int:
        return int(self.now * 1e9)

    def read(self, wanted: Iterable[Entity] = tuple(everything())) -> list[Entity]:
        """Return what is wanted: all that the switch holds of what the controller writes, unless it is said."""
        request = p4r.ReadRequest(entities=encode_entities(wanted, self.schema))
        reply = p4r.ReadResponse.FromString(self.switch.read(request.SerializeToString(), self._ns()))
        return decode_entities(reply.entities, self.schema)

    def tables(self) -> dict[object, object]:
        """Return the same in a form that compares equal; without keys, which a switch has anew whenever it begins."""
        return {key_of(each): value_of(each) for each in self.read() if key_of(each)[0] != "hash_keys"}

    def entries(self, table: str) -> list[dict[str, object]]:
        """Return keys and arguments of a table's entries."""
        found = [each for each in self.read([fy.P4TableEntry(table)]) if isinstance(each, fy.P4TableEntry)]
        return [
            {**(each.match or {}), **(each.action.args if isinstance(each.action, fy.P4TableAction) else {})}
            for each in found
        ]

    def members(self, group: int) -> dict[int, int]:
        """Return the members of an ECMP group, with their weights."""
        found = [each for each in self.read([fy.P4ActionProfileGroup()]) if isinstance(each, fy.P4ActionProfileGroup)]
        [members] = [each.members or () for each in found if each.group_id == group]
        weights = ((each.member_id, each.weight) for each in members)
        return {member: weight for member, weight in weights if isinstance(weight, int)}

    def search(self) -> None:
        """Do the first search that the controller asked for."""
        search = self.searches.pop(0)
        modifier = find_modifier(search.tail, search.sec, search.start, 1, lambda _: True)
        assert modifier is not None
        self.receive(ModifierFound(search.tail, search.sec, modifier))

    def restart_both(self, config: str | None = None) -> None:
        """Let controller and switch lose all they knew; the file has other settings now."""
        self.config = parse_config(config, protocols=self.protocols) if config else self.config
        self.switch = self._new_switch()
        self.restart_controller()

    def kinds(self) -> list[str]:
        """Return the kinds of all events so far."""
        return [event.kind for event in self.events]


class Host:
    """A host that answers solicitations, and sends packets."""

    def __init__(self, rig: Rig, port: int, vlan: int, mac: str, *addresses: str, tagged: bool = False) -> None:
        interface = rig.config.interface(vlan)
        assert interface is not None
        self.rig, self.port, self.vlan, self.mac = rig, port, vlan, Mac.parse(mac)
        self.addresses = [self.mac.link_local(), *map(IPv6Address, addresses)]
        self.router = interface
        self.tag = Tag(vlan) if tagged else None
        self.silent = False
        self.forwards = False
        before = rig.answers
        rig.answers = lambda port, frame: [*before(port, frame), *self.answer(port, frame)]

    def answer(self, port: int, frame: Frame) -> list[tuple[int, Frame]]:
        """Return what the host says to a frame."""
        if port != self.port or self.silent or frame.type != TYPE_IPV6 or frame.tag != self.tag:
            return []
        packet = ipv6.Packet.decode(frame.payload)
        if self.forwards and frame.destination == self.mac and self.router.owns(packet.destination):
            back = ipv6.Packet(
                packet.source, packet.destination, packet.next_header, packet.payload, packet.hop_limit - 1
            )
            return [(self.port, self.frame(self.router.mac, back))]
        if (packet.next_header, packet.payload[:1]) != (ipv6.ICMPV6, bytes([icmpv6.NEIGHBOUR_SOLICITATION])):
            return []
        asked = discovery.decode(packet)
        if not isinstance(asked, NeighbourSolicitation) or asked.target not in self.addresses:
            return []
        said = NeighbourAdvertisement(asked.target, self.mac, solicited=True, override=True).message()
        return [(self.port, self.frame(frame.source, said.packet(asked.target, packet.source, HOP_LIMIT)))]

    def frame(self, destination: Mac, packet: ipv6.Packet) -> Frame:
        """Return a packet in a frame of the host."""
        return Frame(destination, self.mac, TYPE_IPV6, packet.encode(), self.tag)

    def send(self, packet: ipv6.Packet) -> list[tuple[int, Frame]]:
        """Send a packet to the router."""
        return self.rig.inject(self.port, self.frame(self.router.mac, packet))

    def multicast(self, packet: ipv6.Packet) -> list[tuple[int, Frame]]:
        """Send a packet to its group."""
        return self.rig.inject(self.port, self.frame(group_mac(packet.destination), packet))

    def ping(self, destination: str | IPv6Address, source: int = -1, data: bytes = b"ping") -> list[tuple[int, Frame]]:
        """Send an echo request."""
        request = icmpv6.Message(icmpv6.ECHO_REQUEST, 0, b"\0\1\0\1" + data)
        return self.send(request.packet(self.addresses[source], IPv6Address(destination)))

    def heard(self, sent: list[tuple[int, Frame]]) -> list[ipv6.Packet]:
        """Return the packets among what was sent that are for this host's MAC."""
        return [
            ipv6.Packet.decode(frame.payload)
            for port, frame in sent
            if port == self.port and frame.destination == self.mac and frame.tag == self.tag
        ]


def messages(packets: list[ipv6.Packet]) -> list[icmpv6.Message]:
    """Return the ICMPv6 messages of packets."""
    return [icmpv6.Message.decode(packet) for packet in packets]
