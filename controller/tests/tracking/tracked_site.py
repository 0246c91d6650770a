"""A site with two providers, and targets beyond them that answer as a test says."""

from __future__ import annotations

from collections.abc import Callable
from ipaddress import IPv6Address

import dns.message
import dns.rcode
from nptv6_site import INSIDE, SITE
from rig import Host, Rig

from wayname.edge.boundary import Event
from wayname.wire import icmpv6, ipv6, tcp, udp
from wayname.wire.ethernet import TYPE_IPV6, Frame
from wayname.wire.ipv6 import Packet

T1, T2 = "2001:db8:f:1::1", "2001:db8:f:2::2"
STRANGER = "2001:db8:e::66"
ECHO = f'track = ["{T1}"]'
P_LINK = (2, 100)
Reply = Callable[[Packet], Packet | None]


def site(track_p: str = ECHO, track_q: str = ECHO, translates: bool = True) -> str:
    """Return the configuration of the site."""
    before, q = SITE.split('[[provider]]\nname = "q"')
    text = f'{before}{track_p}\n[[provider]]\nname = "q"{q}{track_q}\n'
    return f"{text}[[nptv6]]\n{INSIDE}" if translates else text


def genuine(packet: Packet) -> Packet | None:
    """Return what a target that works answers to a probe."""
    match packet.next_header:
        case ipv6.ICMPV6:
            request = icmpv6.Message.decode(packet)
            if request.type == icmpv6.ECHO_REQUEST:
                return icmpv6.echo_reply(request).packet(packet.destination, packet.source)
        case ipv6.TCP:
            syn = tcp.Segment.decode(packet)
            if syn.flags == tcp.SYN:
                return accepting(syn).packet(packet.destination, packet.source)
        case ipv6.UDP:
            return answering(packet)
    return None


def accepting(syn: tcp.Segment, flags: int = tcp.SYN | tcp.ACK) -> tcp.Segment:
    """Return what answers a SYN."""
    return tcp.Segment(syn.destination_port, syn.source_port, 77, (syn.sequence + 1) % 2**32, flags)


def answering(packet: Packet, code: dns.rcode.Rcode = dns.rcode.NOERROR) -> Packet:
    """Return what a DNS server answers to a query."""
    asked = udp.Datagram.decode(packet)
    response = dns.message.make_response(dns.message.from_wire(asked.data))
    response.set_rcode(code)
    answer = udp.Datagram(asked.destination_port, asked.source_port, response.to_wire())
    return answer.packet(packet.destination, packet.source)


class TrackedSite:
    """An edge whose providers forward; who is beyond them answers until a test cuts it off."""

    def __init__(self, config: str, seed: int = 1) -> None:
        self.rig = Rig(config, seed=seed)
        self.hosts = {
            "p": Host(self.rig, 2, 100, "02:00:00:00:99:01", "2001:db8:0:1::2"),
            "q": Host(self.rig, 3, 200, "02:00:00:00:99:02", "2001:db8:0:2::2"),
        }
        for host in self.hosts.values():
            host.forwards = True
        # By provider and target, what answers there; nobody unless it says so.
        self.beyond: dict[tuple[str, str], Reply] = {
            (name, target): genuine for name in self.hosts for target in (T1, T2)
        }
        self.probes: list[tuple[str, Packet]] = []
        before = self.rig.answers
        self.rig.answers = lambda port, frame: [*before(port, frame), *self._answer(port, frame)]

    def _answer(self, port: int, frame: Frame) -> list[tuple[int, Frame]]:
        name = {2: "p", 3: "q"}.get(port)
        if name is None or frame.type != TYPE_IPV6 or self.hosts[name].silent:
            return []
        packet = Packet.decode(frame.payload)
        reply = self.beyond.get((name, str(packet.destination)))
        if reply is None or frame.destination != self.hosts[name].mac:
            return []
        self.probes.append((name, packet))
        answer = reply(packet)
        return [(port, self.arriving(name, answer))] if answer is not None else []

    def arriving(self, name: str, packet: Packet) -> Frame:
        """Return a frame by which a provider delivers a packet."""
        host = self.hosts[name]
        return host.frame(host.router.mac, packet)

    def cut(self, name: str, *targets: str) -> None:
        """Let nothing of a provider reach its targets, though its next hop is there."""
        for target in targets or (T1, T2):
            self.beyond[name, target] = lambda packet: None

    def mend(self, name: str) -> None:
        """Let targets answer again."""
        for target in (T1, T2):
            self.beyond[name, target] = genuine

    def is_open(self, name: str) -> bool:
        """Whether the edge uses a provider."""
        provider = next(each for each in self.rig.config.providers if each.name == name)
        return self.rig.edge.reachability.is_open(provider)

    def told(self, kind: str) -> list[Event]:
        """Return the events of a kind."""
        return [event for event in self.rig.events if event.kind == kind]

    def last_probe(self, name: str, target: str = T1) -> Packet:
        """Return the last probe that a target got."""
        return next(
            packet for by, packet in reversed(self.probes) if by == name and packet.destination == IPv6Address(target)
        )
