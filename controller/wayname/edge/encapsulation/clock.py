"""When the switch's clock was 0, as POSIX: traces have the time of day, and a switch knows none.

By its own link with the switch the controller sends a packet that asks for direct export (RFC 9326) to an address of
the discard-only prefix (RFC 6666), whose neighbour is behind port 511, where everything ends. The digest that comes
back has the switch's time: the middle between question and answer is what the controller's clock said then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from ipaddress import IPv6Address, IPv6Network

import finsy as fy

from wayname.config.model import Config
from wayname.edge.boundary import DirectExport, Severity
from wayname.edge.inner_link import INNER_VLAN, router_mac, submitted
from wayname.edge.outputs import Outputs
from wayname.ioam.options import direct_export_option, hop_by_hop
from wayname.p4_constants import CPU_PORT, PORTS
from wayname.pipeline import encapsulation as builders
from wayname.pipeline import entries
from wayname.pipeline.entries import Entity
from wayname.wire import ipv6
from wayname.wire.mac import Mac

NO_NEXT_HEADER = 59
NOWHERE = PORTS - 1
NAMESPACE = 0xFFFF
QUESTIONER, ANSWERER = IPv6Address("100::1"), IPv6Address("100::2")

# Seconds. Clocks of one machine go alike; of two, some parts in a million apart.
ROUND = 60.0
BETWEEN = 0.02
PATIENCE = 1.0
QUESTIONS = 5
# Microseconds of difference between two rounds that are not worth new entries.
TOLERANCE = 1000


class SwitchClock:
    """Asks the switch for its time in rounds, and believes the quickest answer."""

    def __init__(self, config: Config, outputs: Outputs, changed: Callable[[int | None], None]) -> None:
        self._config = config
        self._outputs = outputs
        self._changed = changed
        self._epoch: int | None = None
        self._own_epoch = 0.0
        self._due: float | None = None
        self._sequence = 0
        self._asked: dict[int, float] = {}
        self._best: tuple[float, int] | None = None
        self._left = 0
        self._silent = False

    def entities(self) -> list[Entity]:
        """Return the entries of the link between controller and switch."""
        return [
            entries.port(CPU_PORT, INNER_VLAN),
            entries.vlan_member(CPU_PORT, INNER_VLAN),
            entries.interface(INNER_VLAN, router_mac(self._config.switch.device_id), QUESTIONER),
            entries.route_connected(IPv6Network(ANSWERER), INNER_VLAN),
            entries.neighbour(INNER_VLAN, ANSWERER, NOWHERE, Mac(0)),
            builders.nothing(IPv6Network(ANSWERER)),
            builders.export_rule(CPU_PORT, NAMESPACE, 0, 0, 0),
        ]

    def adopt(self, entities: Iterable[Entity], own_epoch: float) -> None:
        """Start with what an earlier controller found out; a switch that has nothing may have a new clock."""
        self._own_epoch = own_epoch
        found = next((epoch for entity in entities if (epoch := _epoch_in(entity)) is not None), None)
        self._take(found)

    def start(self, now: float) -> None:
        """Begin a round."""
        self._left, self._best = QUESTIONS, None
        self._due = now

    def stop(self) -> None:
        """Ask nothing while the switch is away, or no trace needs the time."""
        self._due = None
        self._asked.clear()

    def next_timer(self) -> float | None:
        """Return when the next question is due."""
        return self._due

    def handle_timer(self, now: float) -> None:
        """Ask, or close a round."""
        if self._due is None or self._due > now:
            return
        if self._left:
            self._left -= 1
            self._ask(now)
            self._due = now + (BETWEEN if self._left else PATIENCE)
        else:
            self._close(now)

    def answered(self, export: DirectExport, now: float) -> bool:
        """Whether an export is the answer to a question."""
        if (export.ingress_port, export.namespace) != (CPU_PORT, NAMESPACE):
            return False
        asked = self._asked.pop(export.sequence, None)
        if asked is not None:
            middle = int((self._own_epoch + (asked + now) / 2) * 1_000_000)
            answer = now - asked, middle - export.time
            self._best = min(self._best or answer, answer)
            if not self._left and not self._asked:
                self._close(now)
        return True

    def _ask(self, now: float) -> None:
        self._sequence = (self._sequence + 1) & 0xFFFFFFFF
        self._asked[self._sequence] = now
        options = hop_by_hop(NO_NEXT_HEADER, direct_export_option(NAMESPACE, 0, self._sequence))
        packet = ipv6.Packet(QUESTIONER, ANSWERER, ipv6.HOP_BY_HOP, options)
        self._outputs.packet(submitted(packet, self._config.switch.device_id))

    def _close(self, now: float) -> None:
        self._asked.clear()
        if self._best is None:
            if not self._silent:
                text = "the switch does not tell its time, so traces get no data of this node; it is asked again"
                self._outputs.event(now, "clock.silent", self._config.switch.address, text, Severity.WARNING)
            self._silent = True
            self.start(now)
            return
        self._silent = False
        if self._epoch is None or abs(self._best[1] - self._epoch) > TOLERANCE:
            self._take(self._best[1])
        self.start(now + ROUND)

    def _take(self, epoch: int | None) -> None:
        if epoch != self._epoch:
            self._epoch = epoch
            self._changed(epoch)


def _epoch_in(entity: Entity) -> int | None:
    if not isinstance(entity, fy.P4TableEntry) or not isinstance(entity.action, fy.P4TableAction):
        return None
    return entity.action.args.get("epoch") if entity.table_id == "ioam_namespaces" else None
