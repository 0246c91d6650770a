"""The embedded switch with a site's border and simple security on it."""

from __future__ import annotations

from pathlib import Path

import finsy as fy
from border_site import INSIDE, INSIDE_SIDE, OUTSIDE_SIDE, PORT_OF, out_of
from border_switch import BorderSwitch
from filter_model import ICMPV6, SCTP, TCP, UDP, UDP_LITE, Sent
from finsy.proto import p4r
from scapy.layers.inet import TCP as TcpHeader
from scapy.layers.inet import UDP as UdpHeader
from scapy.layers.inet6 import ICMPv6EchoReply, ICMPv6EchoRequest, ICMPv6PacketTooBig, IPv6
from scapy.packet import Packet, Raw
from session_site import in_by
from site_switch import MAIN

from small_site import DROP, IP_OF, Entry

HOST = IP_OF[1]
NO_NEXT_HEADER = 59  # behind a HIP message


class FilterSwitch(BorderSwitch):
    """Provider 1 serves all flows."""

    def __init__(
        self, address_dependent: bool = False, backend: str = "jit", program: Path = MAIN, enabled: bool = True
    ) -> None:
        super().__init__(backend=backend, program=program)
        self.modify(Entry("nptv6_destinations", {"destination": str(INSIDE)}, "inside_network", {}))
        for side in (INSIDE_SIDE, OUTSIDE_SIDE) if enabled else ():
            self.add("simple_security", "filter_inbound", {"side": side}, {"of_address": int(address_dependent)})

    def open_pinhole(self, local: str, next_header: int | None = None, ports: tuple[int, int] | None = None) -> None:
        match: dict[str, object] = {"local": local}
        if next_header is not None:
            match["next_header"] = next_header
        if ports is not None:
            match["local_port"] = ports
        entry = fy.P4TableEntry("pinholes", match=fy.Match(**match), action=fy.Action("open_pinhole"), priority=10)
        self.write(p4r.Update(type=p4r.Update.INSERT, entity=entry.encode(self.schema)))

    def crosses(self, time: float, sent: Sent) -> bool:
        """Whether a packet gets to the other side."""
        packet = packet_of(sent)
        if sent.outbound:
            return self.goes_out(time, packet) is not None
        # By the port that it came by goes the error about it, if any.
        outputs = self.at(time, PORT_OF[1], bytes(in_by(PORT_OF[1], bytes(packet))))
        return [port for port, _ in outputs if port != PORT_OF[1]] == [1]

    def dropped(self, reason: str) -> int:
        return self.counted("ingress_drops", DROP[reason])


def packet_of(sent: Sent) -> Packet:
    """A packet as it stands on the wire on the side that it comes from."""
    local = HOST if sent.outbound else out_of(HOST, 1)
    there = (local, sent.remote) if sent.outbound else (sent.remote, local)
    ports = (sent.local_port, sent.remote_port) if sent.outbound else (sent.remote_port, sent.local_port)
    header = IPv6(src=there[0], dst=there[1])
    if sent.about is not None:
        quoted = packet_of(sent.about)
        quoted.src = out_of(HOST, 1)
        header = IPv6(src="2001:db8:f00:9::1", dst=local)
        return header / ICMPv6PacketTooBig(mtu=1400) / Raw(bytes(quoted))
    if sent.protocol == TCP:
        return header / TcpHeader(sport=ports[0], dport=ports[1], flags=sent.flags)
    if sent.protocol == UDP:
        return header / UdpHeader(sport=ports[0], dport=ports[1]) / Raw(b"data")
    if sent.protocol == ICMPV6:
        echo = ICMPv6EchoRequest if sent.icmp_type == 128 else ICMPv6EchoReply
        return header / echo(id=sent.local_port, seq=1, data=b"x")
    header.nh = sent.protocol
    if sent.protocol in (SCTP, UDP_LITE):
        return header / Raw(ports[0].to_bytes(2) + ports[1].to_bytes(2) + bytes(20))
    return header / Raw(bytes([NO_NEXT_HEADER, 4]) + bytes(38))
