"""Cases of messages of protocols that P4 does not know: by next header, UDP port and ICMPv6 type."""

from collections.abc import Callable

from carriers import hop_less, ipv6
from case import Case, cell
from scapy.layers.inet import TCP, UDP
from scapy.layers.inet6 import ICMPv6Unknown, IPv6, IPv6ExtHdrFragment
from scapy.layers.l2 import Ether
from scapy.packet import Packet, Raw
from session_cases import hold
from session_site import LOCAL, REMOTE_1, SHIM6_SPOKEN, endpoint_policy, in_by, to_host

from small_site import HOST, IP_OF, OUT, PUNT, ROUTER

# A protocol of the tests: its bit in `protocols`, and where its messages are found.
SPOKEN = 32
REASON = PUNT["PUNT_PROTOCOL"]
NEXT_HEADER, PORT, TYPE = 253, 40123, 200


def from_peer(upper: Packet, to: str = LOCAL) -> bytes:
    """A packet of the peer, as it is on the wire."""
    return bytes(IPv6(src=REMOTE_1, dst=to) / upper)


MESSAGES = (
    ipv6(NEXT_HEADER, bytes([59, 0, *range(6)]), REMOTE_1, LOCAL),
    from_peer(UDP(sport=1, dport=PORT) / Raw(b"hello")),
    from_peer(ICMPv6Unknown(type=TYPE, code=0) / Raw(b"hello")),
)
# The same port of TCP, the port as source, the first fragment, and other numbers.
OTHERS = (
    from_peer(TCP(sport=1, dport=PORT)),
    from_peer(UDP(sport=PORT, dport=1) / Raw(b"hello")),
    from_peer(IPv6ExtHdrFragment(nh=17, m=1, id=1) / UDP(sport=1, dport=PORT, chksum=1, len=100) / Raw(bytes(8))),
    from_peer(ICMPv6Unknown(type=TYPE + 1, code=0) / Raw(b"hello")),
    ipv6(NEXT_HEADER + 1, bytes([59, 0, *range(6)]), REMOTE_1, LOCAL),
)


def protocol_punts() -> Case:
    case = Case("protocol_punts", "Messages of a protocol that P4 does not know, by what the controller says of them.")
    hold(case, endpoint_policy(protocols=SHIM6_SPOKEN | SPOKEN))
    hold(case, endpoint_policy(prefix=f"{IP_OF[2]}/128"))
    has_bit = "0b**1*****"  # 32
    message = f"punt_message(reason:{REASON},class:{REASON})"
    case.add_ternary("protocol_punts", 1, message, next_header=NEXT_HEADER, protocols=has_bit)
    case.add_ternary("protocol_punts", 1, message, udp_port=PORT, protocols=has_bit)
    case.add_ternary("protocol_punts", 1, message, icmpv6_type=TYPE, protocols=has_bit)

    case.say("To a host whose prefix has the protocol's bit: the controller's.")
    for packet in MESSAGES:
        case.punts_whole(4, in_by(4, packet), "PUNT_PROTOCOL", 100)
    case.say("To one whose prefix has another protocol's, and whatever looks otherwise: it passes.")
    out = bytes([OUT["PACKET_OUT_SUBMIT"]]) + (4).to_bytes(2) + bytes(2)
    for packet in OTHERS:
        case.passes(4, in_by(4, packet), 1, to_host(hop_less(packet)))
    other = from_peer(UDP(sport=1, dport=PORT) / Raw(b"hello"), IP_OF[2])
    case.passes(4, in_by(4, other), 2, Ether(src=ROUTER[1], dst=HOST[2], type=0x86DD) / Raw(hop_less(other)))
    case.say("What the controller submits, it has seen.")
    for packet in MESSAGES:
        case.passes(510, Raw(out + bytes(in_by(4, packet))), 1, to_host(hop_less(packet)))

    case.say("Its class has a rate at each port, as any other.")
    case.meter("punt_class_meter", cell(REASON, 4), 1)
    case.punts_whole(4, in_by(4, MESSAGES[0]), "PUNT_PROTOCOL", 100)
    case.drops(4, in_by(4, MESSAGES[0]), "DROP_PUNT_RATE")
    case.counts("punts_held_back", cell(REASON, 4), 1)
    return case


ALL: tuple[Callable[[], Case], ...] = (protocol_punts,)
