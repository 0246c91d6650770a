"""An edge while the other edge of its site is the router: it keeps its tables, and does nothing for hosts."""

from __future__ import annotations

from wayname.composition.edge import Edge
from wayname.config.model import LinkAddress
from wayname.edge.boundary import (
    CloseCapture,
    IdleEntry,
    Input,
    LearnedMac,
    OpenCapture,
    PacketIn,
    SwitchUp,
    WriteFailed,
)
from wayname.edge.links import ReceivedPacket
from wayname.p4_constants import Punt
from wayname.timers import Timed
from wayname.wire import discovery
from wayname.wire.discovery import NeighbourAdvertisement, NeighbourSolicitation

# What the active edge alone sees used, and says the end of.
_OF_ACTIVE = frozenset(("identities", "verified_segments", "established_flows"))
_HEARD = (LearnedMac, IdleEntry, OpenCapture, CloseCapture, WriteFailed)


class BackupEdge(Edge):
    """Has what sessions need on its switch as the active edge wrote it down, and knows the neighbours of its ports."""

    def _start(self, up: SwitchUp, now: float) -> None:
        self.neighbours.start(now)
        self.liveness.start(now)
        self.vrrp.start(now)
        for manager in self.managers:
            manager.become_backup(now)
        # So that packets for hosts with sessions wait for nobody when this edge takes over.
        for host in self._hosts_in_sessions():
            link = next((each.vlan for each in self.config.interfaces if each.is_on_link(host)), None)
            if link is not None:
                self.neighbours.seek(LinkAddress(link, host), now)

    def _receive(self, input: Input, now: float) -> None:
        is_of_active = isinstance(input, IdleEntry) and input.entry.table_id in _OF_ACTIVE
        if isinstance(input, _HEARD) and not is_of_active:
            super()._receive(input, now)

    def _providers_changed(self, now: float) -> None:
        """Sessions stay as the active edge wrote them down."""

    def _managers_with_timers(self) -> tuple[tuple[str, Timed], ...]:
        kept = (self.vrrp, self.liveness, self.fdb, self.bindings, self.neighbours)
        return tuple(each for each in super()._managers_with_timers() if any(each[1] is manager for manager in kept))

    def _take(self, packet: PacketIn, arrival: ReceivedPacket, now: float) -> None:
        if packet.reason == Punt.VRRP:
            self.vrrp.heard(arrival, now)
        elif packet.reason in (Punt.NEIGHBOUR_SOLICITATION, Punt.NEIGHBOUR_ADVERTISEMENT):
            match discovery.decode(arrival.packet):
                case NeighbourSolicitation() as asked:
                    self.neighbours.asked(arrival, asked.source_mac, now)
                    self.routers.solicited(arrival, asked, is_ours=False)
                case NeighbourAdvertisement() as said:
                    self.neighbours.advertised(arrival, said, now)
                    self.liveness.advertised(arrival, said, now)
