"""A site of a lab, and somebody at its provider who sees what comes, keeps it, and sends what he likes."""

from __future__ import annotations

from collections.abc import Callable

from wayname.wire.ethernet import TYPE_IPV6, Frame
from wayname.wire.ipv6 import Packet
from wayname.wire.mac import Mac
from wayname_lab.virtual.lab import VirtualLab

STRANGER = Mac.parse("02:00:00:00:77:77")


class AttackedSite:
    """What passes between a provider and a site is kept, and more may come to the site the same way."""

    def __init__(self, lab: VirtualLab, site: str, provider: str) -> None:
        self.lab, self.site, self._provider = lab, site, provider
        self.heard: list[bytes] = []  # by the site
        self.sent: list[bytes] = []
        link = lab.links[f"{site}-{provider}"]
        self._take = link.receivers[site]
        for end, kept in ((site, self.heard), (provider, self.sent)):
            link.connect(end, keeping(kept, link.receivers[end]))

    def send(self, packet: Packet) -> None:
        """Let a packet come to the site."""
        edge = self.lab.controllers[self.site].edge
        assert edge is not None
        interface = edge.config.interface(self.lab.plan.routers[self.site].port_to(self._provider).vlan)
        assert interface is not None
        self.again(Frame(interface.mac, STRANGER, TYPE_IPV6, packet.encode()).encode())

    def flood_for(self, made: Callable[[int], Packet], rate: int, seconds: float) -> None:
        """Let so many packets a second come to the site, made by their numbers, while all else goes on."""
        edge = self.lab.controllers[self.site].edge
        assert edge is not None
        interface = edge.config.interface(self.lab.plan.routers[self.site].port_to(self._provider).vlan)
        assert interface is not None
        for number in range(round(rate * seconds)):
            self._take(Frame(interface.mac, STRANGER, TYPE_IPV6, made(number).encode()).encode())
            self.lab.run_for(1 / rate)

    def again(self, frame: bytes) -> None:
        """Let a frame come, as it passed before or as it never did."""
        self._take(frame)
        self.lab.run_for(0.001)


def keeping(kept: list[bytes], take: Callable[[bytes], None]) -> Callable[[bytes], None]:
    """Return what takes frames and keeps them."""

    def take_and_keep(frame: bytes) -> None:
        kept.append(frame)
        take(frame)

    return take_and_keep
