"""Which of two edges is the site's router: VRRPv3 (RFC 9568, section 6), on all interfaces at once.

    backup --nothing heard for Active_Down_Interval, or after Skew_Time of who lets go--> active
    active --heard of a higher priority, or let go and heard of the other--> backup

Who is active stays so until it dies or lets go (Preempt_Mode is false): a change costs more than it brings. Who lets go
says priority 0 and forwards on. Once the other one is heard it forwards under its own MAC, so that bridges learn the
virtual one from the other alone; and when they have had time for that, it is the backup.
"""

from __future__ import annotations

from collections import Counter
from ipaddress import IPv6Address

from wayname.config.model import Config, device_mac
from wayname.edge.boundary import Severity, VrrpRole, VrrpRoleWanted
from wayname.edge.links import Links, ReceivedPacket
from wayname.edge.outputs import Outputs
from wayname.pipeline.entries import source_mac
from wayname.timers import Timers
from wayname.wire.errors import DecodeError
from wayname.wire.vrrp import CENTISECOND, RELEASED, VrrpAdvertisement

# Advertisements that are missed before their sender is taken for dead, and of how many priorities there are.
MISSED = 3
PRIORITIES = 256
# Who lets go says so as often, and forwards until the other one was heard so often on each link, but so long at most.
RELEASES = 50
HEARD = 3
MOST_INTERVALS = 20
# A turn that comes late may have advertisements behind it; after that much more nothing is waited for.
GRACE = 0.05

_ADVERTISE, _DOWN, _LEAVE = "Adver_Timer", "Active_Down_Timer", "leave"


class Vrrp:
    """Says that this edge is the router, or waits until the other one is not."""

    def __init__(self, config: Config, role: VrrpRole, links: Links, outputs: Outputs) -> None:
        self._config = config
        self._role = role
        self._links = links
        self._outputs = outputs
        self._timers: Timers[str] = Timers()
        self._interval = self._other_interval = config.vrrp.interval if config.vrrp else 0.0
        self._priority = config.vrrp.priority if config.vrrp else 0
        # How often it is said yet that this edge lets go.
        self._releases = 0
        # By VLAN, how often the other one was heard since.
        self._heard: Counter[int] = Counter()
        self._has_waited = False
        self._is_misconfigured = False

    def start(self, now: float) -> None:
        """The switch is there."""
        if self._config.vrrp is None:
            return
        if self._role is VrrpRole.ACTIVE:
            self._advertise(now)
        else:
            self._timers.set(_DOWN, now + self._down_interval)

    def stop(self) -> None:
        """Nothing can be said or heard while the switch is away."""
        for each in (_ADVERTISE, _DOWN, _LEAVE):
            self._timers.cancel(each)

    def let_go(self, now: float) -> None:
        """Have the other edge be the router, if there is one."""
        if self._role is VrrpRole.ACTIVE and not self._releases:
            self._releases = RELEASES
            self._advertise(now)

    def heard(self, arrival: ReceivedPacket, now: float) -> None:
        """Another router advertises on a link (sections 6.4.2 and 6.4.3)."""
        said = VrrpAdvertisement.decode(arrival.packet)
        vlan, source = arrival.interface.vlan, arrival.packet.source
        if self._config.vrrp is None or said.router != arrival.interface.virtual_router_id:
            raise DecodeError("of a virtual router that is not ours")
        if source == self._own_address(vlan):
            self._say_misconfigured(arrival, now)
        elif self._role is VrrpRole.BACKUP:
            self._heard_as_backup(said, now)
        else:
            self._heard_as_active(vlan, said, source > self._own_address(vlan), now)

    def _heard_as_backup(self, said: VrrpAdvertisement, now: float) -> None:
        due = self._timers.at(_DOWN)
        if said.priority == RELEASED:
            # It may be said more than once.
            self._timers.set(_DOWN, min(now + self._skew, now if due is None else due))
        else:
            self._has_waited = False
            self._other_interval = max(said.interval, 1) * CENTISECOND
            self._timers.set(_DOWN, now + self._down_interval)

    def _heard_as_active(self, vlan: int, said: VrrpAdvertisement, is_above: bool, now: float) -> None:
        if self._releases and said.priority != RELEASED:
            if not self._heard:
                self._timers.set(_LEAVE, now + MOST_INTERVALS * self._interval)
                for each in self._config.interfaces:
                    mac = device_mac(self._config.switch.device_id, each.vlan)
                    self._outputs.desired.put(source_mac(each.vlan, mac))
            self._heard[vlan] += 1
            if all(self._heard[each.vlan] >= HEARD for each in self._config.interfaces):
                self._timers.set(_LEAVE, now)
        elif (said.priority, is_above) > (self._priority, False):
            self._want(VrrpRole.BACKUP, f"another router has it, with priority {said.priority}")
        else:
            # So that the other one hears of this one, and bridges learn where it is.
            self._advertise(now)

    def next_timer(self) -> float | None:
        """Return when something has to be said, or was not heard."""
        return self._timers.next()

    def handle_timer(self, now: float, late: float) -> None:
        """Say it; or take over, in a late turn a moment later: advertisements may be there that nobody looked at."""
        for each in self._timers.due(now):
            if each == _ADVERTISE:
                self._advertise(now)
            elif each == _LEAVE:
                self._want(VrrpRole.BACKUP, "it was let go, and the other edge has it")
            elif late > self._interval and not self._has_waited:
                self._has_waited = True
                self._timers.set(_DOWN, now + GRACE)
            else:
                self._want(VrrpRole.ACTIVE, "no other router advertises it")
                # If it cannot be, for whatever reason, it is tried again.
                self._timers.set(_DOWN, now + self._down_interval)

    def _advertise(self, now: float) -> None:
        priority = RELEASED if self._releases else self._priority
        for interface in self._config.interfaces:
            if interface.virtual_router_id is None:
                continue
            addresses = (interface.link_local, *(own.ip for own in interface.global_addresses))
            hundredths = round(self._interval / CENTISECOND)
            said = VrrpAdvertisement(interface.virtual_router_id, priority, hundredths, addresses)
            self._links.send_to_group(interface, said.packet(self._own_address(interface.vlan)))
        self._timers.set(_ADVERTISE, now + self._interval)
        if self._releases and self._timers.at(_LEAVE) is None:
            self._releases -= 1
            if not self._releases:
                text = "no other edge takes the virtual router; this one goes on"
                self._outputs.event(now, "vrrp.kept", self._config.switch.address, text, Severity.WARNING)

    def _want(self, role: VrrpRole, why: str) -> None:
        self._outputs.want_role(VrrpRoleWanted(role, why))

    @property
    def _skew(self) -> float:
        return (PRIORITIES - self._priority) * self._other_interval / PRIORITIES

    @property
    def _down_interval(self) -> float:
        return MISSED * self._other_interval + self._skew

    def _own_address(self, vlan: int) -> IPv6Address:
        """Return this edge's own address on a link, whoever has the virtual router (section 5.1.2.1)."""
        return device_mac(self._config.switch.device_id, vlan).link_local()

    def _say_misconfigured(self, arrival: ReceivedPacket, now: float) -> None:
        if not self._is_misconfigured:
            self._is_misconfigured = True
            device = self._config.switch.device_id
            text = f"an edge behind port {arrival.port} has switch.device_id {device} too; give each edge its own"
            self._outputs.event(now, "vrrp.refused", arrival.packet.source, text, Severity.ERROR)
