"""Cases of hosts that keep their own address and are known by an identity."""

from collections.abc import Callable

from case import Case, number
from mapped_packets import HOST_ADDRESS, IDENTITY, all_kinds, all_ones, entries, interfaces
from scapy.layers.inet import UDP
from scapy.layers.inet6 import ICMPv6EchoRequest, IPv6
from scapy.layers.l2 import Ether
from scapy.packet import Raw

from small_site import ADDRESS, FAR, HOST, IP_OF, PROVIDER, ROUTER, from_host, out_first, routed, to_router, udp


def mapped_hosts() -> Case:
    about = "A host's own address outside, its identity outside, and checksums that fit both."
    case = Case("mapped_hosts", about, interfaces())
    for entry in entries():
        parameters = ",".join(f"{name}:{number(value)}" for name, value in entry.parameters.items())
        case.add(entry.table, f"{entry.action}({parameters})", **{k: number(v) for k, v in entry.keys.items()})

    case.say("Out: all that the host sends bears its identity.")
    for sent, leaves in zip(all_kinds(HOST_ADDRESS, FAR), all_kinds(IDENTITY, FAR), strict=True):
        case.passes(1, to_router(sent), 4, out_first(to_router(leaves)))
    data = Raw(all_ones(IDENTITY))
    sent, leaves = (IPv6(src=source, dst=FAR) / UDP(sport=1, dport=2) / data for source in (HOST_ADDRESS, IDENTITY))
    case.passes(1, to_router(sent), 4, out_first(to_router(leaves)))

    case.say("In: what is for the identity is for the host.")
    for sent, comes in zip(all_kinds(FAR, IDENTITY), all_kinds(FAR, HOST_ADDRESS), strict=True):
        came = Ether(src=PROVIDER[4], dst=ROUTER[100]) / sent
        case.passes(4, came, 1, routed(Ether(src=PROVIDER[4], dst=ROUTER[100]) / comes, 1, HOST[1]))

    case.say("Of others nothing is touched, nor of what does not go through the router.")
    other = to_router(IPv6(src=IDENTITY, dst=IP_OF[2]) / UDP(sport=1000, dport=2000) / Raw(b"wayname"))
    case.passes(1, to_router(udp(to=IP_OF[2])), 2, routed(other, 1, HOST[2]))
    case.passes(2, to_router(udp(2), 2), 4, out_first(to_router(udp(2), 2)))
    case.passes(1, from_host(udp(to=IP_OF[2]), HOST[2]), 2)

    case.say("Nor of what comes by a link whose hosts are not mapped.")
    elsewhere = Ether(src=PROVIDER[4], dst=ROUTER[100]) / IPv6(src=HOST_ADDRESS, dst=IP_OF[2]) / UDP() / Raw(b"wayname")
    case.passes(4, elsewhere, 2, routed(elsewhere, 1, HOST[2]))

    case.say("The controller hears the host.")
    echo = to_router(IPv6(src=HOST_ADDRESS, dst=ADDRESS[1]) / ICMPv6EchoRequest(data=b"?"))
    case.punts_whole(1, echo, "PUNT_LOCAL", 1)
    return case


ALL: tuple[Callable[[], Case], ...] = (mapped_hosts,)
