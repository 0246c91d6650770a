"""Packets in all shapes: the cases of extension headers, and of the errors that answer packets."""

import random

from case import Case
from scapy.layers.inet import TCP, UDP
from scapy.layers.inet6 import (
    ICMPv6DestUnreach,
    ICMPv6EchoRequest,
    ICMPv6PacketTooBig,
    ICMPv6TimeExceeded,
    IPv6,
    IPv6ExtHdrDestOpt,
    IPv6ExtHdrFragment,
    IPv6ExtHdrHopByHop,
    IPv6ExtHdrRouting,
)
from scapy.layers.l2 import Dot1Q, Ether
from scapy.packet import Packet, Raw

from small_site import (
    FAR,
    FAR_SMALL,
    HOST,
    IP_OF,
    PROVIDER,
    ROUTER,
    authentication,
    error_about,
    fragment,
    from_host,
    in_chain,
    options,
    out_first,
    routed,
    to_router,
    udp,
)


def extensions() -> Case:
    case = Case("extensions", "IPv6 extension headers: every kind, any order, up to ten; what is malformed.")

    def passes(packet: Packet) -> None:
        case.passes(1, packet, 4, out_first(packet))

    case.say(
        "Each kind alone: hop-by-hop, routing, fragment (atomic), destination, authentication, mobility, HIP, Shim6."
    )
    for kind in (0, 43, 60, 135, 139, 140, 253, 254):
        passes(in_chain((kind, options())))
    passes(in_chain((44, fragment(0, 0))))
    passes(in_chain((51, authentication(24))))
    passes(in_chain((50, b""), upper=0, payload=bytes(32)))
    passes(to_router(IPv6(src=IP_OF[1], dst=FAR, nh=59)))

    case.say("As scapy writes them.")
    passes(
        to_router(
            IPv6(src=IP_OF[1], dst=FAR)
            / IPv6ExtHdrHopByHop()
            / IPv6ExtHdrDestOpt()
            / IPv6ExtHdrRouting(addresses=["2001:db8:f00::2"], segleft=1)
            / IPv6ExtHdrFragment(m=0)
            / IPv6ExtHdrDestOpt()
            / TCP(sport=1, dport=2, flags="S")
        )
    )

    case.say("Any order, any number up to ten, any length.")
    dice = random.Random(8200)

    def long() -> bytes:
        return options(8 * dice.randint(1, 12))

    for count in (2, 3, 5, 8, 10):
        kinds = [dice.choice((43, 44, 51, 60, 135, 139, 140)) for _ in range(count)]
        body = {44: lambda: fragment(0, 0), 51: lambda: authentication(dice.choice((16, 24, 40)))}
        passes(in_chain(*((kind, body.get(kind, long)()) for kind in kinds)))
    passes(in_chain((0, options(64)), *[(60, options(16))] * 9))
    passes(in_chain((60, options(1024))))
    longest = from_host(in_chain((60, options(2048)), (60, options(2048)))[IPv6], HOST[2])
    case.passes(1, longest, 2)

    case.say("What is not known is skipped by its length; where that makes no sense, it is an upper layer.")
    passes(in_chain((200, options(24)), (60, options())))
    passes(in_chain((60, options()), upper=200, payload=b"\x00\xff" + bytes(30)))
    passes(in_chain(upper=150, payload=b"\x3c\x00abc"))
    passes(in_chain(upper=150, payload=b"\x3c\x00abcdef" + b"\x00\x09abcdef"))
    passes(in_chain(upper=150, payload=b"\x00\x00abcdef" + bytes(8)))
    passes(in_chain(upper=89, payload=bytes(24)))

    case.say("Fragments: the first with its headers, others with anything.")
    passes(in_chain((44, fragment(0, 1))))
    passes(in_chain((60, options()), (44, fragment(100, 1)), upper=60, payload=b"\xff" * 40))
    passes(in_chain((44, fragment(185, 0)), upper=17, payload=b"end"))

    case.say("Malformed.")
    drops = case.drops
    drops(1, in_chain((60, options()), (0, options())), "DROP_HOP_BY_HOP_NOT_FIRST")
    drops(1, in_chain((0, options()), (0, options())), "DROP_HOP_BY_HOP_NOT_FIRST")
    drops(1, in_chain(*[(60, options())] * 11), "DROP_TOO_MANY_EXTENSIONS")
    drops(1, in_chain((60, bytes([40]) + bytes(6))), "DROP_EXTENSION_PAST_END")
    drops(1, in_chain((0, bytes([255]) + bytes(6))), "DROP_EXTENSION_PAST_END")
    drops(1, in_chain(upper=43, payload=b"\x3b\x00\x00\x00"), "DROP_EXTENSION_PAST_END")
    drops(1, in_chain(upper=60, payload=b""), "DROP_EXTENSION_PAST_END")
    drops(1, in_chain(upper=51, payload=b"\x3b\x01" + bytes(6)), "DROP_EXTENSION_PAST_END")
    drops(1, in_chain((51, bytes([0]) + bytes(6)), upper=59, payload=bytes(16)), "DROP_AUTHENTICATION_LENGTH")
    drops(1, in_chain((44, fragment(0, 1)), upper=60, payload=b"\x11\x02" + bytes(6)), "DROP_FIRST_FRAGMENT_SHORT")
    drops(1, in_chain((44, fragment(0, 1)), upper=6, payload=bytes(4)), "DROP_FIRST_FRAGMENT_SHORT")
    drops(1, in_chain((44, fragment(0, 1)), upper=58, payload=bytes(4)), "DROP_FIRST_FRAGMENT_SHORT")
    drops(1, in_chain(plen=200), "DROP_PAYLOAD_LENGTH")
    drops(1, in_chain((60, bytes([20]) + bytes(6)), plen=300), "DROP_PAYLOAD_LENGTH")
    drops(1, to_router(IPv6(src=IP_OF[1], dst=FAR, version=5) / UDP()), "DROP_VERSION")
    drops(1, bytes(to_router(udp()))[:40], "DROP_TRUNCATED")
    drops(1, bytes(to_router(udp()))[:9], "DROP_TRUNCATED")
    drops(1, bytes(Ether(src=HOST[1], dst=HOST[2]) / Dot1Q(vlan=1))[:16], "DROP_TRUNCATED")

    case.say("Also where the packet is only bridged.")
    drops(1, from_host(in_chain(*[(60, options())] * 11)[IPv6], HOST[2]), "DROP_TOO_MANY_EXTENSIONS")
    return case


def errors() -> Case:
    case = Case("errors", "ICMPv6 errors, made by the switch: which, about what, how often (RFC 4443).")

    def refused(packet: Packet, message: Packet, reason: str, **how: int) -> None:
        case.drops(1, packet, reason)
        case.expect(1, error_about(packet, message, 1, HOST[1], **how))

    case.say("Hop limit, no route, prohibited, a source that may not leave its link.")
    refused(to_router(udp(hlim=1)), ICMPv6TimeExceeded(code=0), "DROP_HOP_LIMIT")
    refused(to_router(udp(hlim=0)), ICMPv6TimeExceeded(code=0), "DROP_HOP_LIMIT")
    refused(to_router(udp(to="fd00::1")), ICMPv6DestUnreach(code=0), "DROP_NO_ROUTE")
    refused(to_router(udp(to="2001:db8:911::1")), ICMPv6DestUnreach(code=1), "DROP_PROHIBITED")
    refused(to_router(IPv6(src="fe80::11", dst=FAR) / UDP()), ICMPv6DestUnreach(code=2), "DROP_LINK_LOCAL")
    refused(
        to_router(IPv6(src=IP_OF[1], dst=FAR, hlim=1) / ICMPv6EchoRequest(data=b"odd")),
        ICMPv6TimeExceeded(code=0),
        "DROP_HOP_LIMIT",
    )

    case.say("Too big for the second provider's port, not for the first; the quote ends where the least MTU does.")
    fits = to_router(IPv6(src=IP_OF[1], dst=FAR_SMALL) / UDP() / Raw(bytes(1280 - 48)))
    case.passes(1, fits, 5, routed(fits, 200, PROVIDER[5]))
    big = IPv6(src=IP_OF[1], dst=FAR_SMALL) / UDP() / Raw(bytes(range(256)) * 5)
    refused(to_router(big), ICMPv6PacketTooBig(mtu=1280), "DROP_PACKET_TOO_BIG")
    largest = to_router(IPv6(src=IP_OF[1], dst=FAR) / UDP() / Raw(bytes(1500 - 48)))
    case.passes(1, largest, 4, out_first(largest))
    refused(
        to_router(IPv6(src=IP_OF[1], dst=FAR) / UDP() / Raw(b"\xff" * (1501 - 48))),
        ICMPv6PacketTooBig(mtu=1500),
        "DROP_PACKET_TOO_BIG",
    )

    case.say("Quotes just below, at and just above their limit, of even and odd length.")
    for length in (1231, 1232, 1233):
        packet = to_router(
            IPv6(src=IP_OF[1], dst=FAR, hlim=1) / UDP() / Raw(bytes(i % 251 for i in range(length - 48)))
        )
        refused(packet, ICMPv6TimeExceeded(code=0), "DROP_HOP_LIMIT")

    case.say("With extension headers, with a tag, without Ethernet's padding.")
    refused(in_chain((0, options(16)), (60, options(48)), hlim=1), ICMPv6TimeExceeded(code=0), "DROP_HOP_LIMIT")
    tagged = Ether(src=HOST[3], dst=ROUTER[1]) / Dot1Q(vlan=1) / udp(3, hlim=1)
    case.drops(3, tagged, "DROP_HOP_LIMIT")
    case.expect(3, error_about(tagged, ICMPv6TimeExceeded(code=0), 1, HOST[3], tag=1, at=18))
    bare = to_router(IPv6(src=IP_OF[1], dst=FAR, nh=59, hlim=1, plen=0))
    case.drops(1, Raw(bytes(bare) + bytes(6)), "DROP_HOP_LIMIT")
    case.expect(1, error_about(bare, ICMPv6TimeExceeded(code=0), 1, HOST[1]))

    case.say("From the provider's side the error has the provider's side's address.")
    packet = Ether(src=PROVIDER[4], dst=ROUTER[100]) / IPv6(src=FAR, dst=IP_OF[1], hlim=1) / UDP()
    case.drops(4, packet, "DROP_HOP_LIMIT")
    case.expect(4, error_about(packet, ICMPv6TimeExceeded(code=0), 100, PROVIDER[4]))
    case.counts("errors_sent", 1, 3)
    case.counts("errors_sent", 2, 2)

    case.say("Never about an error, a redirect, or a part of a packet that may be one.")
    case.drops(1, to_router(IPv6(src=IP_OF[1], dst=FAR, hlim=1) / ICMPv6TimeExceeded() / udp()), "DROP_HOP_LIMIT")
    case.drops(1, to_router(IPv6(src=IP_OF[1], dst="fd00::1") / ICMPv6DestUnreach() / udp()), "DROP_NO_ROUTE")
    case.drops(
        1,
        to_router(IPv6(src=IP_OF[1], dst=FAR, hlim=1) / IPv6ExtHdrDestOpt() / ICMPv6PacketTooBig() / udp()),
        "DROP_HOP_LIMIT",
    )
    case.drops(1, in_chain((44, fragment(8, 0)), upper=58, payload=bytes(16), hlim=1), "DROP_HOP_LIMIT")

    case.say("Two from the second host's port and no more; the drops are counted all the same.")
    case.meter("error_meter", 2, 2)
    for n in range(4):
        packet = from_host(udp(2, hlim=1), ROUTER[1], 2)
        case.drops(2, packet, "DROP_HOP_LIMIT")
        if n < 2:
            case.expect(2, error_about(packet, ICMPv6TimeExceeded(code=0), 1, HOST[2]))
    case.counts("errors_held_back", 3, 3 + 2)
    case.counts("errors_held_back", 1, 1)
    return case


ALL = (extensions, errors)
