"""The controller of one switch: gives inputs, punted packets and time to the managers that they are for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from wayname.composition import neighbour_discovery
from wayname.composition.managers import Managers
from wayname.edge.boundary import (
    CloseCapture,
    DirectExport,
    DnsResponse,
    FlowEvent,
    IdleEntry,
    ImportPathEstimates,
    Input,
    KernelChanges,
    LearnedMac,
    LetGo,
    ModifierFound,
    OpenCapture,
    Output,
    PacketIn,
    PacketOut,
    PathEvent,
    SeekNeighbour,
    SetEncapsulation,
    SetNptv6,
    SetPinhole,
    SetPolicy,
    Severity,
    SubmitPacket,
    SwitchDown,
    SwitchUp,
    WriteFailed,
)
from wayname.edge.desired_state import key_of
from wayname.edge.links import ReceivedPacket
from wayname.p4_constants import PacketOutKind, Punt
from wayname.pipeline.entries import has_secrets
from wayname.pipeline.reasons import CAPTURES, punt_words
from wayname.timers import Timed, earliest
from wayname.wire import icmpv6
from wayname.wire.errors import DecodeError
from wayname.wire.ipv6 import ICMPV6, UDP
from wayname.wire.mac import Mac

_RESOURCE_EXHAUSTED = 8
_DISCOVERY = frozenset(
    (Punt.ROUTER_SOLICITATION, Punt.ROUTER_ADVERTISEMENT, Punt.NEIGHBOUR_SOLICITATION, Punt.NEIGHBOUR_ADVERTISEMENT)
)
# Copies of packets as they leave; what their sender wrote may be changed in them.
_AS_IT_LEFT = frozenset((Punt.TRACE, Punt.LOOPBACK))


class Edge(Managers):
    """Takes inputs and gives outputs as `boundary` says; its managers may be looked at between calls."""

    # When managers are due, as they said last, until something happens.
    _times: list[tuple[float | None, str, Timed]] | None = None

    @property
    def connected(self) -> bool:
        """Whether the switch is there."""
        return self._outputs.connected

    @property
    def entries_by_table(self) -> Mapping[str, int]:
        """How many entries it wants in each table of the switch."""
        return self._outputs.desired.entries_by_table

    def receive(self, input: Input, now: float) -> None:
        """Take note of something that happened; a mistake in handling it ends nothing else."""
        self._times = None
        match input:
            # Without a session with the switch nothing works: whoever starts the edge again is told by its end.
            case SwitchUp():
                self._switch_up(input, now)
            case SwitchDown(reason):
                self._switch_down(reason, now)
            case PacketIn():
                try:
                    self._packet_in(input, now)
                except Exception as error:
                    self.faults.note(f"packet {punt_words(input.reason)}", error, now, input.payload)
            case DnsResponse():
                with self.faults.contained("DnsResponse", now, input.message):
                    self._receive(input, now)
            case _:
                with self.faults.contained(type(input).__name__, now):
                    self._receive(input, now)
        self._tell_schedules(now)

    def _tell_schedules(self, now: float) -> None:
        if self.schedules.changed:
            with self.faults.contained("schedules", now):
                self.schedules.tell(now)

    def _receive(self, input: Input, now: float) -> None:
        match input:
            case LearnedMac():
                self.fdb.learned(input, now)
            case FlowEvent() if not input.nonce:
                self.translation.switch_event(input, now)
            case LetGo():
                self.vrrp.let_go(now)
            case SetNptv6(rules):
                self.translation.change(rules, now)
            case SetPinhole(pinhole, opened):
                self.simple_security.set(pinhole, opened, now)
            case PathEvent():
                self.schedules.switch_event(input, now)
            case ImportPathEstimates(paths):
                self.figures.bring(paths)
            case SetPolicy(name, policy):
                self.schedules.set_policy(name, policy, now)
            case DirectExport():
                self.encapsulation.exported(input, now)
            case IdleEntry(entry) if entry.table_id == "identities":
                self._tell_managers(input, now)
            case IdleEntry(entry) if entry.table_id == "established_flows":
                self.translation.established.idle(entry, now)
            case IdleEntry(entry) if entry.table_id == "verified_segments":
                self.encapsulation.proofs.idle(entry)
            case IdleEntry(entry) if entry.table_id == "source_bindings":
                self.bindings.idle(entry, now)
            case IdleEntry(entry):
                self.fdb.idle(entry, now)
            case OpenCapture():
                self._captures.open(input)
            case SubmitPacket(payload, port):
                self._outputs.packet(PacketOut(payload, PacketOutKind.SUBMIT, port=port))
            case SeekNeighbour(at):
                self.neighbours.seek(at, now)
            case CloseCapture(number):
                self._captures.close(number)
            case SetEncapsulation(current):
                self.encapsulation.change(current, now)
            case WriteFailed():
                self._write_failed(input, now)
            case KernelChanges() if self.kernel:
                self.kernel.changed(input, now)
                self.liveness.follow(now)
            case ModifierFound() if self.identities:
                self.identities.found(input, now)
            case _:
                self._tell_managers(input, now)

    def _tell_managers(self, input: Input, now: float) -> None:
        for handlers in self._input_handlers:
            handle = handlers.get(type(input))
            if handle is not None:
                handle(input, now)

    def _is_taken(self, reason: int, arrival: ReceivedPacket, now: float) -> bool:
        """Ask the managers one after the other whether a packet is theirs."""
        asked = (handlers[reason] for handlers in self._punt_handlers if reason in handlers)
        return any(takes(arrival, now) for takes in asked)

    def next_timer(self) -> float | None:
        """Return when `handle_timer` has to be called at the latest."""
        times = self._times = [
            (self.faults.due(name, manager.next_timer()), name, manager) for name, manager in self._timed
        ]
        return earliest([at for at, _, _ in times])

    def handle_timer(self, now: float) -> None:
        """Do what is due; how late that is tells whether answers may have come that nobody looked at yet."""
        if self._times is None:
            self.next_timer()
        times, self._times = self._times or [], None
        due = [(at, name, manager) for at, name, manager in times if at is not None and at <= now]
        late = max((now - at for at, _, _ in due), default=0.0)
        for _, name, manager in due:
            with self.faults.contained_timer(name, now):
                manager.handle_timer(now, late)
        self._tell_schedules(now)

    def compare_some(self) -> bool:
        """Compare some of what the switch holds with what is wanted; return whether there may be more.

        `take_outputs` does what is left, in as long as that takes.
        """
        return self._outputs.desired.compare_some()

    def take_outputs(self) -> list[Output]:
        """Return what has to be carried out, in order."""
        return self._outputs.take()

    def _switch_up(self, up: SwitchUp, now: float) -> None:
        self.fdb.adopt(up.entities, now)
        self.bindings.adopt(up.entities)
        self.liveness.adopt(up.entities, now)
        self.neighbours.adopt(up.entities)
        self.encapsulation.adopt(up.entities, up.epoch)
        self.schedules.adopt(up.entities)
        self._hash_keys.adopt(up.entities)
        self._outputs.desired.compare(up.entities)
        self._outputs.connected = True
        if not up.resumed:
            self._outputs.event(now, "switch.up", self.config.switch.address, "the switch is there")
        self._start(up, now)

    def _start(self, up: SwitchUp, now: float) -> None:
        self.neighbours.start(now)
        self.liveness.start(now)
        self.tracking.start(now)
        self.provider_prefixes.start(now, up.epoch, up.resumed)
        self.routers.start(now)
        self.vrrp.start(now)
        self.encapsulation.start(now)
        if self.identities:
            self.identities.start(now)
        self.translation.start(now)
        self.figures.start(now)
        for manager in self.managers:
            manager.start(now)
        self._tell_deprecated(now)
        unfinished, self._unfinished = self._unfinished, []
        for begun in unfinished:
            self.receive(begun, now)

    def _switch_down(self, reason: str, now: float) -> None:
        self._outputs.connected = False
        self._outputs.event(now, "switch.down", self.config.switch.address, reason, Severity.WARNING)
        self.fdb.stop()
        self.bindings.stop()
        self.neighbours.stop()
        self.liveness.stop()
        self.tracking.stop()
        self.provider_prefixes.stop()
        self.routers.stop()
        self.vrrp.stop()
        self.encapsulation.stop()
        self.figures.stop()
        if self.identities:
            self.identities.stop()

    def _packet_in(self, packet: PacketIn, now: float) -> None:
        if packet.reason in CAPTURES:
            self._captures.packet(packet)
            return
        if packet.reason == Punt.LOCAL and self.liveness.came_back(packet, now):
            self.fdb.heard(packet.vlan, Mac.unpack(packet.payload[6:12]), packet.port, now)
            return
        try:
            arrival = self._links.read(packet)
            if packet.reason not in _AS_IT_LEFT:
                vlan, mac = arrival.interface.vlan, arrival.frame.source
                self.fdb.heard(vlan, mac, arrival.port, now)
                if packet.reason == Punt.SOURCE_ELSEWHERE:
                    self.bindings.elsewhere(arrival, now)
                    neighbour_discovery.claimed(self, arrival, now)
                    return
                if not self.bindings.heard(arrival, now):
                    return
            if packet.reason == Punt.SESSION_HELD and self.identities:
                # The copy is as the host sent it, before its identity took the place of its address.
                arrival = replace(arrival, packet=self.identities.as_known(arrival.packet))
            self._take(packet, arrival, now)
        except DecodeError:
            # Anybody can send such packets: they are counted, and no event.
            self.undecodable[packet.reason] += 1

    def _take(self, packet: PacketIn, arrival: ReceivedPacket, now: float) -> None:
        if packet.reason in _DISCOVERY:
            neighbour_discovery.message(self, arrival, now)
        elif packet.reason == Punt.NEIGHBOUR_UNKNOWN:
            if not self._is_taken(packet.reason, arrival, now):
                neighbour_discovery.neighbour_unknown(self, arrival, now)
        elif packet.reason == Punt.LOCAL:
            self._local(arrival, now)
        elif packet.reason == Punt.VRRP:
            self.vrrp.heard(arrival, now)
        elif packet.reason == Punt.DHCPV6 and self.identities:
            self.identities.datagram(arrival, now)
        elif packet.reason in (Punt.TRACE, Punt.LOOPBACK):
            self.encapsulation.traces.punted(arrival, now)
        elif packet.reason == Punt.SEGMENT_HMAC:
            self.encapsulation.proofs.packet(arrival, now)
        elif not self._is_taken(packet.reason, arrival, now) and packet.reason in self._passed_on:
            self._links.submit(packet)

    def _local(self, arrival: ReceivedPacket, now: float) -> None:
        if self.tracking.answered(arrival, now):
            return
        if self.figures.returned(arrival.packet, now) or self.encapsulation.traces.returned(arrival, now):
            return
        upper = arrival.packet.upper_layer()
        if upper.number == UDP and self.provider_prefixes.takes(arrival, now):
            return
        if upper.number != ICMPV6:
            if not (self.identities and self.identities.asked_directly(arrival, now)):
                self.routers.refuse(arrival, upper)
            return
        message = icmpv6.Message.decode(arrival.packet)
        if not self.liveness.returned(arrival, message, now):
            self.routers.echo(arrival, message)

    def _write_failed(self, failed: WriteFailed, now: float) -> None:
        if self._outputs.desired.refused(failed.update, failed.code):
            return
        kind, entity = failed.update
        if failed.code == _RESOURCE_EXHAUSTED:
            self.fdb.refused(entity, now)
            self.neighbours.refused(entity, now)
            self.bindings.refused(entity, now)
        subject, key = key_of(entity)
        # The switch quotes what it refuses.
        which = f"entry (gRPC code {failed.code})" if has_secrets(entity) else f"{key}: {failed.text}"
        text = f"the switch refuses to {kind.value} {subject} {which}"
        self._outputs.event(now, "write.failed", subject, text, Severity.ERROR)
