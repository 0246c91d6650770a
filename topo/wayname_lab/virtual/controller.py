"""A controller on the virtual clock: the other adapter of `wayname.edge`, beside the one over gRPC."""

import random
from collections.abc import Callable
from functools import partial
from typing import Any

from finsy import P4DigestList, P4PacketIn, P4PacketOut, P4Schema
from finsy.p4entity import decode_entity
from finsy.proto import p4r

from wayname.adapter.digests import told
from wayname.composition.edge import Edge
from wayname.config.model import Config
from wayname.edge import boundary
from wayname.edge.boundary import UpdateKind
from wayname.edge.provider_prefixes.manager import learned_before
from wayname.hip.edge.keys import Identities
from wayname.pipeline.read_back import decode_entities
from wayname_lab.dns_server import DnsServer
from wayname_lab.virtual.clock import MILLISECOND, SECOND, Alarm, Clock
from wayname_lab.virtual.edge_key import load_key
from wayname_lab.virtual.switch import VirtualSwitch

# From the switch to its controller or back: two processes on one machine.
LATENCY = MILLISECOND
# From a controller to the DNS server or back.
NAMES_LATENCY = 5 * MILLISECOND
# How soon a controller tries to reach its switch again.
RECONNECT = 100 * MILLISECOND
OPERATIONS = {
    UpdateKind.INSERT: p4r.Update.INSERT,
    UpdateKind.MODIFY: p4r.Update.MODIFY,
    UpdateKind.DELETE: p4r.Update.DELETE,
}


class VirtualController:
    """A controller that may be killed, and started again knowing its configuration and what it wrote down."""

    def __init__(
        self,
        clock: Clock,
        switch: VirtualSwitch,
        config: Config,
        schema: P4Schema,
        rng: random.Random,
        tell: Callable[[boundary.Event], None],
        names: DnsServer | None = None,
        identities: Identities | None = None,
    ) -> None:
        self._clock = clock
        self._switch = switch
        self._config = config
        self._schema = schema
        self._rng = rng
        self._tell = tell
        self._names = names
        self._identities = identities
        self._edge: Edge | None = None
        self._written: dict[str, boundary.Json] = {}
        self._connected = False
        self._timer = Alarm(clock, self._handle_timer)
        self._stalled_until = 0
        self._waiting: list[Callable[[], None]] = []

    def configure(self, config: Config) -> None:
        """Have another configuration from the next start on."""
        self._config = config

    def start(self) -> None:
        """Start, and look for the switch."""
        config = self._config
        if config.again and config.prefix_sources:
            config = config.again(learned_before(config, self._written, self._clock.now / SECOND))
        self._edge = self._make_edge(config)
        self._look_for_switch(self._edge)

    def _make_edge(self, config: Config) -> Edge:
        key = load_key() if config.identities else None
        keys = {"hip": self._identities}
        return Edge(config, self._schema, self._rng, dict(self._written), key, keys, before=self._edge)

    def _renumber(self, edge: Edge, learned: boundary.LearnedFromProviders) -> None:
        """Go on by the configuration with what providers say now, as the other adapter does."""
        if edge is not self._edge or edge.config.again is None or not self._connected:
            return
        self._edge = renumbered = self._make_edge(edge.config.again(learned.learned))
        self._connected = False
        self._switch.tell = None
        self._look_for_switch(renumbered, resumed=True)

    @property
    def edge(self) -> Edge | None:
        """What it knows; None while it is dead."""
        return self._edge

    def command(self, command: boundary.Command) -> None:
        """Let the controller do something."""
        self._receive(command)

    def stall(self, nanoseconds: int) -> None:
        """Get no processor for so long; then comes what was due first, and last what arrived meanwhile."""
        self._stalled_until = self._clock.now + nanoseconds
        self._clock.at(self._stalled_until, self._go_on)

    def kill(self) -> None:
        """End without a word; what is under way to it is lost."""
        self._edge = None
        self._waiting.clear()
        self._connected = False
        self._switch.tell = None
        self._timer.set(None)

    def _look_for_switch(self, edge: Edge, resumed: bool = False) -> None:
        if edge is not self._edge:
            return
        if self._switch.runs != self._connected:
            self._connected = self._switch.runs
            if self._connected:
                self._switch.tell = lambda kind, message: self._later(edge, lambda: self._hear(kind, message))
                self._receive(boundary.SwitchUp(self._read_back(), resumed=resumed))
            else:
                self._receive(boundary.SwitchDown("the connection was lost"))
        self._clock.at(self._clock.now + RECONNECT, lambda: self._look_for_switch(edge))

    def _later(self, edge: Edge, action: Callable[[], None]) -> None:
        """Let a message arrive after its way; it finds nobody if the controller was killed meanwhile."""
        self._clock.at(self._clock.now + LATENCY, lambda: self._unless_stalled(edge, action))

    def _unless_stalled(self, edge: Edge, action: Callable[[], None]) -> None:
        if edge is not self._edge:
            return
        if self._clock.now < self._stalled_until:
            self._waiting.append(action)
        else:
            action()

    def _go_on(self) -> None:
        if self._clock.now < self._stalled_until:
            return
        waiting, self._waiting = self._waiting, []
        self._handle_timer()
        for action in waiting:
            action()

    def _read_back(self) -> list[Any]:
        return decode_entities(self._switch.entities(), self._schema)

    def _hear(self, kind: str, message: bytes) -> None:
        """Take a message of the switch."""
        if kind == "packet":
            response = p4r.StreamMessageResponse(packet=p4r.PacketIn.FromString(message))
            packet = P4PacketIn.decode(response, self._schema)
            self._receive(
                boundary.PacketIn(
                    packet.payload, packet["reason"], packet["ingress_port"], packet["vlan"], packet["punt_class"]
                )
            )
        elif kind == "digest":
            digest = p4r.DigestList.FromString(message)
            self._switch.acknowledge(
                p4r.DigestListAck(digest_id=digest.digest_id, list_id=digest.list_id).SerializeToString()
            )
            for seen in told(P4DigestList.decode(p4r.StreamMessageResponse(digest=digest), self._schema)):
                self._receive(seen)
        else:
            entity = p4r.Entity(table_entry=p4r.TableEntry.FromString(message))
            self._receive(boundary.IdleEntry(decode_entity(entity, self._schema)))

    def _receive(self, message: boundary.Input) -> None:
        if self._edge is not None:
            self._edge.receive(message, self._clock.now / SECOND)
            self._carry_out(self._edge)

    def _handle_timer(self) -> None:
        if self._edge is not None and self._clock.now >= self._stalled_until:
            self._edge.handle_timer(self._clock.now / SECOND)
            self._carry_out(self._edge)

    def _carry_out(self, edge: Edge) -> None:
        # On a real network the edge goes on; here a mistake of the program is to be seen.
        assert not edge.faults.counts, f"the controller failed: {dict(edge.faults.counts)}"
        for output in edge.take_outputs():
            if isinstance(output, boundary.Event):
                self._tell(output)
            elif isinstance(output, boundary.DnsQuery):
                self._clock.at(self._clock.now + NAMES_LATENCY, partial(self._ask_names, edge, output))
            elif isinstance(output, boundary.LearnedFromProviders):
                # Behind what is under way to the switch.
                self._clock.at(self._clock.now + 2 * LATENCY, partial(self._renumber, edge, output))
            elif isinstance(output, boundary.Persist):
                self._remember(output)
            elif isinstance(output, boundary.Write | boundary.PacketOut):
                self._later(edge, partial(self._send, output))
        timer = edge.next_timer()
        # A nanosecond later, so that the seconds made of it are not before what was asked for.
        self._timer.set(None if timer is None else int(timer * SECOND) + 1)

    def _ask_names(self, edge: Edge, question: boundary.DnsQuery) -> None:
        answer = self._names.answer(question.message, question.transport) if self._names else None
        if answer is not None:
            self._clock.at(
                self._clock.now + NAMES_LATENCY,
                lambda: self._receive(boundary.DnsResponse(question, answer)) if edge is self._edge else None,
            )

    def _remember(self, output: boundary.Persist) -> None:
        if output.value is None:
            self._written.pop(output.key, None)
        else:
            self._written[output.key] = output.value

    def _send(self, output: boundary.Write | boundary.PacketOut) -> None:
        if not self._switch.runs:
            return
        if isinstance(output, boundary.PacketOut):
            packet = P4PacketOut(output.payload, kind=output.kind, port=output.port, vlan=output.vlan)
            self._switch.packet_out(packet.encode_update(self._schema).packet.SerializeToString())
            return
        updates = [
            p4r.Update(type=OPERATIONS[operation], entity=entity.encode(self._schema))
            for operation, entity in output.updates
        ]
        request = p4r.WriteRequest(device_id=1, updates=updates)
        for (code, text), update in zip(self._switch.write(request.SerializeToString()), output.updates, strict=True):
            if code != 0:
                self._receive(boundary.WriteFailed(update, code, text))
