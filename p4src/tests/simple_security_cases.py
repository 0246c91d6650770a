"""Cases of simple security at a site's border (RFC 6092): packets that come in, and that do not."""

from collections.abc import Callable, Iterator

from border_site import INSIDE, INSIDE_SIDE, OUTSIDE_SIDE, border_interfaces, entries, out_of
from carriers import ROUTING, hop_less, ipv6, segment_header, source_route
from case import Case, number
from scapy.layers.inet import TCP, UDP
from scapy.layers.inet6 import ICMPv6EchoReply, ICMPv6EchoRequest, ICMPv6PacketTooBig, ICMPv6TimeExceeded, IPv6
from scapy.packet import Packet, Raw
from session_site import from_host, in_by, out_by, to_host

from small_site import FAR, IP_OF, Entry
from wayname.p4_constants import HASH_BUCKETS_OF_POLICY

HOST, SERVER = IP_OF[1], IP_OF[1]
STRANGER = "2001:db8:bad::1"
OUTSIDE = out_of(HOST, 1)
DATA = Raw(b"data")


def _border(address_dependent: bool) -> Iterator[Entry]:
    for entry in entries(dict.fromkeys(range(HASH_BUCKETS_OF_POLICY), 1)):
        if entry.keys == {"destination": str(INSIDE)} and entry.action == "stay_in_site":
            yield entry._replace(action="inside_network")
        else:
            yield entry
    for side in (INSIDE_SIDE, OUTSIDE_SIDE):
        yield Entry("simple_security", {"side": side}, "filter_inbound", {"of_address": int(address_dependent)})


class FilteredCase(Case):
    """The first host, and provider 1 on port 4."""

    def __init__(self, name: str, about: str, address_dependent: bool) -> None:
        super().__init__(name, about, border_interfaces())
        for entry in _border(address_dependent):
            parameters = ",".join(f"{name}:{number(value)}" for name, value in entry.parameters.items())
            self.add(entry.table, f"{entry.action}({parameters})", **{k: number(v) for k, v in entry.keys.items()})

    def goes(self, packet: Packet) -> None:
        leaves = packet.copy()
        leaves.src = OUTSIDE
        self.passes(1, from_host(bytes(packet)), 4, out_by(4, hop_less(bytes(leaves))))

    def comes(self, packet: Packet) -> None:
        arrives = packet.copy()
        arrives.dst = HOST
        self.passes(4, in_by(4, bytes(packet)), 1, to_host(hop_less(bytes(arrives))))

    def stays_out(self, packet: Packet, reason: str) -> None:
        self.drops(4, in_by(4, bytes(packet)), reason)


def tcp(inbound: bool, flags: str, local: int = 5000, remote: int = 80, of: str = FAR) -> Packet:
    if inbound:
        return IPv6(src=of, dst=OUTSIDE) / TCP(sport=remote, dport=local, flags=flags)
    return IPv6(src=HOST, dst=of) / TCP(sport=local, dport=remote, flags=flags)


def udp(inbound: bool, local: int = 5000, remote: int = 80, of: str = FAR) -> Packet:
    if inbound:
        return IPv6(src=of, dst=OUTSIDE) / UDP(sport=remote, dport=local) / DATA
    return IPv6(src=HOST, dst=of) / UDP(sport=local, dport=remote) / DATA


def _filtered(name: str, about: str, address_dependent: bool) -> FilteredCase:
    case = FilteredCase(name, about, address_dependent)

    case.say("What began outside stays there: a connection, a datagram, a question, an error, another protocol.")
    case.stays_out(tcp(True, "S"), "DROP_UNSOLICITED_OPEN")
    case.stays_out(tcp(True, "A"), "DROP_UNSOLICITED")
    case.stays_out(udp(True), "DROP_UNSOLICITED")
    case.stays_out(IPv6(src=FAR, dst=OUTSIDE) / ICMPv6EchoRequest(id=7), "DROP_UNSOLICITED_ECHO")
    seen = udp(False)
    seen.src = OUTSIDE
    too_big = IPv6(src="2001:db8:f00:9::1", dst=OUTSIDE) / ICMPv6PacketTooBig(mtu=1400) / Raw(bytes(seen))
    case.stays_out(too_big, "DROP_UNSOLICITED_ERROR")
    case.stays_out(IPv6(src=FAR, dst=OUTSIDE, nh=47) / DATA, "DROP_UNSOLICITED")

    case.say("What answers the inside comes in.")
    case.goes(tcp(False, "S"))
    case.comes(tcp(True, "SA"))
    case.goes(udp(False))
    case.comes(udp(True))
    case.goes(IPv6(src=HOST, dst=FAR) / ICMPv6EchoRequest(id=7))
    case.comes(IPv6(src=FAR, dst=OUTSIDE) / ICMPv6EchoReply(id=7))

    case.say("Not with segments left: they may go on from the host.")
    datagram = bytes(udp(True))[40:]
    for header in (segment_header(17, [IP_OF[2]], 1), source_route(17, [IP_OF[2]], 1, 0, 0)):
        case.stays_out(IPv6(ipv6(ROUTING, header + datagram, FAR, OUTSIDE)), "DROP_SEGMENTS_AT_BORDER")
    case.comes(IPv6(ipv6(ROUTING, segment_header(17, [IP_OF[2]], 0) + datagram, FAR, OUTSIDE)))

    case.say("Errors about what went out come in; they have the host's own address in their quote.")
    for kind in (ICMPv6PacketTooBig, ICMPv6TimeExceeded):
        came, arrives = (
            IPv6(src="2001:db8:f00:9::1", dst=address) / kind() / Raw(bytes(IPv6(src=address, dst=FAR) / seen.payload))
            for address in (OUTSIDE, HOST)
        )
        # The difference of the two addresses is none: the outer checksum stays.
        case.passes(4, in_by(4, bytes(came)), 1, to_host(hop_less(bytes(arrives))))
    return case


def endpoint_independent() -> Case:
    case = _filtered("simple_security", "Only what answers the inside comes in, to an endpoint from anybody.", False)
    case.say("To an endpoint that sent, anybody may send.")
    case.comes(udp(True, of=STRANGER))
    case.comes(tcp(True, "S", of=STRANGER))
    return case


def address_dependent() -> Case:
    case = _filtered("simple_security_by_address", "Only what answers the inside comes in, from whom was asked.", True)
    case.say("Another address may not send to it, another port of the same may.")
    case.stays_out(udp(True, of=STRANGER), "DROP_UNSOLICITED")
    case.stays_out(tcp(True, "S", of=STRANGER), "DROP_UNSOLICITED_OPEN")
    case.comes(udp(True, remote=81))
    return case


def pinholes() -> Case:
    case = FilteredCase("pinholes", "What a pinhole covers comes in unasked.", True)
    case.add_ternary("pinholes", 1, "open_pinhole()", local=number(HOST), next_header="6", local_port="443->443")
    case.comes(tcp(True, "S", 443, 4000))
    case.goes(tcp(False, "SA", 443, 4000))
    case.stays_out(tcp(True, "S", 444, 4000), "DROP_UNSOLICITED_OPEN")
    case.stays_out(udp(True, 443, 4000), "DROP_UNSOLICITED")
    return case


ALL: tuple[Callable[[], Case], ...] = (endpoint_independent, address_dependent, pinholes)
