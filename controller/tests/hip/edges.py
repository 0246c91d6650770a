"""Two edges that speak HIP for their hosts, with the packets between them, on a clock that the test moves."""

from __future__ import annotations

from ipaddress import IPv6Address

from hip.keys import ecdsa
from sessions.pair import PairOf, SideOf, prefixes_of, uplinks

from wayname.edge.boundary import AssociationAction, PacketIn
from wayname.edge.links import ReceivedPacket
from wayname.hip.config import SECTION
from wayname.hip.edge.sessions import HipSessions
from wayname.p4_constants import Punt
from wayname.session.context import SessionContext
from wayname.wire.ethernet import TYPE_IPV6, Frame
from wayname.wire.ipv6 import HIP, ICMPV6, Packet
from wayname.wire.mac import Mac

NOBODY = Mac(0)


def host_of(site: int) -> IPv6Address:
    """Return the address of a site's host."""
    return IPv6Address(f"2001:db8:10{site}:10::10")


class HipSide(SideOf[HipSessions]):
    """One edge that speaks HIP."""

    def configuration(self) -> tuple[str, IPv6Address]:
        """Return the site's configuration, and the address of its host."""
        address, other = host_of(self.site), 3 - self.site
        lines = [*uplinks(self.site), "[hip]", f"proxy = {prefixes_of(self.site)}".replace("'", '"')]
        lines += ["difficulty = 1", self.more, "[[hip.host]]", f'address = "{address}"', 'key = "is given"']
        lines += ["[[hip.peer]]", f'address = "{host_of(other)}"', f'hit = "{ecdsa(other).hit}"']
        return "\n".join(lines), address

    def keep_sessions(self, means: SessionContext) -> HipSessions:
        """Return what keeps the sessions of this side."""
        hip = SECTION.of(self.config)
        assert hip is not None
        return HipSessions(hip, {self.host: ecdsa(self.site)}, means)

    def receive(self, packet: Packet, now: float) -> None:
        """Take a packet for the host; probes of sessions are those of Shim6."""
        assert self.sessions is not None
        if packet.next_header == HIP:
            original = PacketIn(b"", Punt.HIP, 20, 20)
            frame = Frame(NOBODY, NOBODY, TYPE_IPV6, packet.encode())
            self.sessions.packet(ReceivedPacket(original, frame, packet, self.config.interfaces[0]), now)
        elif packet.next_header != ICMPV6:
            self.sessions.takes(packet, now)


class HipPair(PairOf[HipSide]):
    """Two edges that speak HIP."""

    def __init__(self, more: str = "") -> None:
        super().__init__(HipSide(1, more), HipSide(2, more))

    def renew(self, side: HipSide) -> None:
        """Let a side agree on new keys."""
        self._change(side, AssociationAction.RENEW)

    def close(self, side: HipSide) -> None:
        """Let a side end the association."""
        self._change(side, AssociationAction.CLOSE)

    def _change(self, side: HipSide, wish: AssociationAction) -> None:
        assert side.sessions is not None
        name = side.only.name
        side.sessions.change(name.local, name.peer, wish, self.now)
        self.collect(side)
