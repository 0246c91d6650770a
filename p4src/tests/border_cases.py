"""Cases of a site's border: one provider's prefix or the other's, by flow."""

from collections.abc import Callable

from border_site import border_interfaces, bucket_of, entries, out_of
from carriers import hop_less
from case import Case, number
from scapy.layers.inet import TCP, UDP
from scapy.layers.inet6 import ICMPv6PacketTooBig, IPv6
from scapy.packet import Packet, Raw
from session_site import from_host, in_by, out_by, to_host

from small_site import FAR, IP_OF
from wayname.p4_constants import HASH_BUCKETS_OF_POLICY

HOST = IP_OF[1]
PORT_OF = {1: 4, 2: 5}


def tcp(source: str, destination: str, flags: str, sport: int, dport: int) -> Packet:
    return IPv6(src=source, dst=destination) / TCP(sport=sport, dport=dport, flags=flags)


def borders() -> Case:
    case = Case(
        "borders", "A provider for each flow, its prefix for that of the inside, and back.", border_interfaces()
    )
    homes = {each: 1 + each % 2 for each in range(HASH_BUCKETS_OF_POLICY)}
    for entry in entries(homes):
        parameters = ",".join(f"{name}:{number(value)}" for name, value in entry.parameters.items())
        case.add(entry.table, f"{entry.action}({parameters})", **{k: number(v) for k, v in entry.keys.items()})

    def crosses(provider: int, leaves: Packet, sent: Packet) -> None:
        out = out_by(PORT_OF[provider], hop_less(bytes(leaves)))
        case.passes(1, from_host(bytes(sent)), PORT_OF[provider], out)

    def comes(provider: int, came: Packet, arrives: Packet) -> None:
        case.passes(PORT_OF[provider], in_by(PORT_OF[provider], bytes(came)), 1, to_host(hop_less(bytes(arrives))))

    case.say("Connections begin and go on by their bucket's provider, and come back.")
    for port in range(5000, 5006):
        provider = homes[bucket_of(HOST, FAR, 6, port, 80)]
        outside = out_of(HOST, provider)
        for flags in ("S", "A"):
            crosses(provider, tcp(outside, FAR, flags, port, 80), tcp(HOST, FAR, flags, port, 80))
        comes(provider, tcp(FAR, outside, "SA", 80, port), tcp(FAR, HOST, "SA", 80, port))

    case.say("What comes in by the other provider is answered by it.")
    for port in range(6000, 6006):
        provider = 3 - homes[bucket_of(HOST, FAR, 6, 80, port)]
        outside = out_of(HOST, provider)
        comes(provider, tcp(FAR, outside, "S", port, 80), tcp(FAR, HOST, "S", port, 80))
        crosses(provider, tcp(outside, FAR, "SA", 80, port), tcp(HOST, FAR, "SA", 80, port))

    case.say("An error has the host's own address in its quote.")
    for provider in PORT_OF:
        seen, own = (tcp(source, FAR, "A", 5000, 80) for source in (out_of(HOST, provider), HOST))
        router = "2001:db8:f00:9::1"
        error = IPv6(src=router, dst=out_of(HOST, provider)) / ICMPv6PacketTooBig(mtu=1400) / Raw(bytes(seen))
        comes(provider, error, IPv6(src=router, dst=HOST) / ICMPv6PacketTooBig(mtu=1400) / Raw(bytes(own)))

    case.say("Sources that cannot come from there.")
    datagram = UDP(sport=1, dport=2) / Raw(b"forged")
    case.drops(4, in_by(4, bytes(IPv6(src=IP_OF[2], dst=out_of(HOST, 1)) / datagram)), "DROP_BORDER_SOURCE")
    case.drops(1, from_host(bytes(IPv6(src="2001:db8:77::1", dst=FAR) / datagram)), "DROP_BORDER_SOURCE")
    return case


ALL: tuple[Callable[[], Case], ...] = (borders,)
