"""Cases of sessions: locators for identities and back, the payload header, Shim6's own messages (RFC 5533)."""

from collections.abc import Callable, Iterable
from typing import Any

from carriers import HOP_BY_HOP, ROUTING, hop_less, ipv6, segment_header
from case import Case, number
from scapy.layers.inet import UDP
from scapy.layers.inet6 import ICMPv6PacketTooBig, ICMPv6TimeExceeded, IPv6
from scapy.packet import Raw
from session_site import (
    LOCAL,
    LOCAL_1,
    LOCAL_2,
    OUR_TAG,
    PEERS_TAG,
    PORTS,
    REMOTE,
    REMOTE_1,
    REMOTE_2,
    SESSION,
    Session,
    between,
    came_by,
    endpoint_policy,
    from_host,
    in_by,
    out_by,
    sent_by,
    to_host,
    with_header,
)
from shim6_layers import NO_NEXT_HEADER, SHIM6, Shim6Keepalive, control

from small_site import FAR_SMALL, HOST, IP_OF, OUT, Entry, error_about

DESTINATION, FRAGMENT = 60, 44
DATAGRAM = bytes(UDP(sport=1000, dport=2000, len=15, chksum=0x1234)) + b"wayname"
OUTWARD = ipv6(17, DATAGRAM, LOCAL, REMOTE)
INWARD = ipv6(17, DATAGRAM, REMOTE, LOCAL)


def hold(case: Case, entries: Iterable[Entry]) -> None:
    for table, keys, action, parameters in entries:
        values = ",".join(f"{name}:{number(value)}" for name, value in parameters.items())
        case.add(table, f"{action}({values})", **{name: number(value) for name, value in keys.items()})


def chained(source: str, destination: str, *headers: tuple[int, bytes], upper: bytes = DATAGRAM) -> bytes:
    """A packet with extension headers, each as (own number, all but the first octet)."""
    numbers = [each for each, _ in headers] + [17]
    chain = b"".join(bytes([after]) + rest for (_, rest), after in zip(headers, numbers[1:], strict=True))
    return ipv6(numbers[0], chain + upper, source, destination)


PLAIN_OPTIONS = bytes([0]) + b"\x01\x04" + bytes(4)
FIRST_PART = b"\0" + (0 << 3 | 1).to_bytes(2) + b"\0\xc0\xff\xee"
LAST_PART = b"\0" + (2 << 3 | 0).to_bytes(2) + b"\0\xc0\xff\xee"
TRAVELLED = segment_header(0, [LOCAL, REMOTE], 0)[1:]
UNTRAVELLED = segment_header(0, [REMOTE, "2001:db8:f09::9"], 1)[1:]

# The extension headers of a packet, and where the payload header goes: the octet, and the one that says what follows.
CHAINS: dict[str, tuple[tuple[tuple[int, bytes], ...], int, int]] = {
    "none": ((), 40, 6),
    "hop-by-hop options": (((HOP_BY_HOP, PLAIN_OPTIONS),), 48, 40),
    "a routing header": (((ROUTING, TRAVELLED),), 80, 40),
    "options and a routing header": (((HOP_BY_HOP, PLAIN_OPTIONS), (ROUTING, TRAVELLED)), 88, 48),
    "destination options": (((DESTINATION, PLAIN_OPTIONS),), 40, 6),
    "a first fragment": (((FRAGMENT, FIRST_PART),), 40, 6),
    "a last fragment": (((FRAGMENT, LAST_PART),), 40, 6),
    "all": (
        ((HOP_BY_HOP, PLAIN_OPTIONS), (ROUTING, TRAVELLED), (FRAGMENT, FIRST_PART), (DESTINATION, PLAIN_OPTIONS)),
        88,
        48,
    ),
}


def session_paths() -> Case:
    case = Case("session_paths", "Sessions: a host's packets on plain paths and on paths with a payload header.")
    hold(case, Session(path=1, watched=False).entries())

    case.say("With locators and the header, whatever the packet has.")
    for headers, at, said in CHAINS.values():
        packet = chained(LOCAL, REMOTE, *headers)
        case.passes(1, from_host(packet), 4, out_by(4, hop_less(sent_by(1, packet, at, said))))

    case.say("Segments to go to: the peer is not the next one to get it, so it is no session's.")
    packet = chained(LOCAL, REMOTE, (ROUTING, UNTRAVELLED))
    case.passes(1, from_host(packet), 4, out_by(4, hop_less(packet)))

    case.say("Its own Shim6 header: the host speaks itself.")
    packet = with_header(OUTWARD, 0x99)
    case.passes(1, from_host(packet), 4, out_by(4, hop_less(packet)))

    case.say("Another pair of addresses, and what only passes.")
    for source, destination in ((IP_OF[2], REMOTE), (LOCAL, REMOTE_1), ("2001:db8:99::1", REMOTE)):
        packet = ipv6(17, DATAGRAM, source, destination)
        case.passes(1, from_host(packet), 4, out_by(4, hop_less(packet)))
    return case


def session_choices() -> Case:
    case = Case("session_choices", "Sessions: the plain path, one that does not exist, forks, the way out, the MTU.")
    hold(case, Session(watched=False).entries())
    case.say("The plain path: as it is.")
    case.passes(1, from_host(OUTWARD), 4, out_by(4, hop_less(OUTWARD)))

    case.say("A flow with a session of its own.")
    hold(
        case,
        [
            Entry(
                "forks",
                {"session": SESSION, "next_header": 17, "source_port": 1000, "destination_port": 4000},
                "fork_to",
                {"session": 8, "path": 3, "generation": 1},
            ),
            Entry(
                "paths",
                {"session": 8, "path": 3},
                "send_shim6",
                {"source": LOCAL_2, "destination": REMOTE_1, "tag": 5, "vrf": 3},
            ),
            Entry(
                "vrf_routes",
                {"vrf": 3, "destination": "2001:db8:f01::/48"},
                "route_nexthop",
                {"nexthop": 2},
            ),
        ],
    )
    forked = ipv6(17, b"\x03\xe8\x0f\xa0" + DATAGRAM[4:], LOCAL, REMOTE)
    bears = with_header(between(forked, LOCAL_2, REMOTE_1), 5)
    case.passes(1, from_host(forked), 5, out_by(5, hop_less(bears)))

    case.say("A fork to a path that is not there.")
    lost: dict[str, int | str] = {"session": SESSION, "next_header": 17, "source_port": 1000, "destination_port": 4001}
    hold(case, [Entry("forks", lost, "fork_to", {"session": 11, "path": 4, "generation": 1})])
    case.drops(1, from_host(ipv6(17, b"\x03\xe8\x0f\xa1" + DATAGRAM[4:], LOCAL, REMOTE)), "DROP_PATH_UNKNOWN")

    case.say("What does not fit is told the MTU without the header; what just fits passes.")
    big: dict[str, int | str] = {"session": SESSION, "next_header": 17, "source_port": 1000, "destination_port": 4002}
    way: dict[str, int | str] = {"source": LOCAL_2, "destination": REMOTE_2, "tag": PEERS_TAG, "vrf": 0}
    hold(
        case,
        [
            Entry("forks", big, "fork_to", {"session": 9, "path": 0, "generation": 1}),
            Entry("paths", {"session": 9, "path": 0}, "send_shim6", way),
        ],
    )
    case.add("port_mtus", "set_port_mtu(bytes:1400)", port=4)
    plain_big = ipv6(17, b"\x03\xe8\x0f\xa2" + DATAGRAM[4:8] + bytes(1280 - 48), LOCAL, REMOTE)
    case.drops(1, from_host(plain_big), "DROP_PACKET_TOO_BIG")
    case.expect(1, error_about(from_host(plain_big), ICMPv6PacketTooBig(mtu=1280), 1, HOST[1]))
    fits = ipv6(17, b"\x03\xe8\x0f\xa2" + DATAGRAM[4:8] + bytes(1280 - 56), LOCAL, REMOTE)
    case.passes(1, from_host(fits), 5, out_by(5, hop_less(sent_by(2, fits))))
    way = {"source": LOCAL_1, "destination": REMOTE_1, "tag": PEERS_TAG, "vrf": 0}
    hold(
        case,
        [
            Entry("forks", big | {"destination_port": 4003}, "fork_to", {"session": 10, "path": 0, "generation": 1}),
            Entry("paths", {"session": 10, "path": 0}, "send_shim6", way),
        ],
    )
    bigger = ipv6(17, b"\x03\xe8\x0f\xa3" + DATAGRAM[4:8] + bytes(1393 - 48), LOCAL, REMOTE)
    case.drops(1, from_host(bigger), "DROP_PACKET_TOO_BIG")
    case.expect(1, error_about(from_host(bigger), ICMPv6PacketTooBig(mtu=1392), 1, HOST[1]))
    return case


def session_admission() -> Case:
    case = Case(
        "session_admission", "Sessions: the peer's packets get their identities back, if their locators are proven."
    )
    hold(case, Session(path=1, watched=False).entries())

    case.say("Wherever the header stands.")
    for headers, at, said in CHAINS.values():
        packet = chained(REMOTE, LOCAL, *headers)
        for path in (1, 2):
            case.passes(PORTS[path], in_by(PORTS[path], came_by(path, packet, at, said)), 1, to_host(hop_less(packet)))
    behind = chained(REMOTE, LOCAL, (DESTINATION, PLAIN_OPTIONS), (DESTINATION, PLAIN_OPTIONS))
    case.passes(4, in_by(4, came_by(1, behind, 48, 40)), 1, to_host(hop_less(behind)))
    case.passes(4, in_by(4, came_by(1, behind, 56, 48)), 1, to_host(hop_less(behind)))
    routed = chained(REMOTE, LOCAL, (ROUTING, TRAVELLED), (DESTINATION, PLAIN_OPTIONS))
    case.passes(4, in_by(4, came_by(1, routed, 88, 80)), 1, to_host(hop_less(routed)))

    case.say("Without header, by the identities.")
    case.passes(4, in_by(4, INWARD), 1, to_host(hop_less(INWARD)))

    case.say("A stolen tag; a proven locator to another one of ours.")
    for source, destination in (
        ("2001:db8:bad::1", LOCAL_1),
        (REMOTE_1, LOCAL_2),
        (REMOTE_2, LOCAL_1),
        (REMOTE, LOCAL_1),
    ):
        case.drops(4, in_by(4, with_header(between(INWARD, source, destination), OUR_TAG)), "DROP_LOCATORS_UNPROVEN")

    case.say("A tag that nobody knows, and a header that is too long.")
    unknown = in_by(4, came_by(1, INWARD, tag=0x99))
    case.punts_whole(4, unknown, "PUNT_SHIM6_UNKNOWN_TAG", 100)
    long = ipv6(SHIM6, b"\x11\x01\x80" + OUR_TAG.to_bytes(6)[1:] + bytes(8) + DATAGRAM, REMOTE_1, LOCAL_1)
    case.drops(4, in_by(4, long), "DROP_PAYLOAD_HEADER")

    case.say("Cut short, and longer than the payload.")
    case.drops(4, in_by(4, ipv6(SHIM6, b"\x11\0\x80\0", REMOTE_1, LOCAL_1)), "DROP_EXTENSION_PAST_END")
    case.drops(4, in_by(4, came_by(1, INWARD)[:44]), "DROP_PAYLOAD_LENGTH")
    overlong = ipv6(SHIM6, b"\x11\x05\x80" + bytes(5), REMOTE_1, LOCAL_1)
    case.drops(4, in_by(4, overlong), "DROP_EXTENSION_PAST_END")

    case.say("To somebody else's locator: it passes.")
    transit = with_header(ipv6(17, DATAGRAM, "2001:db8:99::1", FAR_SMALL), OUR_TAG)
    case.passes(4, in_by(4, transit), 5, out_by(5, hop_less(transit)))

    case.say("An error about such a packet quotes it as it came.")
    dying = came_by(1, ipv6(17, DATAGRAM, REMOTE, LOCAL, hop_limit=1))
    case.drops(4, in_by(4, dying), "DROP_HOP_LIMIT")
    case.expect(4, error_about(in_by(4, dying), ICMPv6TimeExceeded(code=0), 100, in_by(4, dying).src))
    return case


def numbered(packet: bytes) -> bytes:
    """The packet with a path option right before its payload header."""
    put = bytes([SHIM6, 0, 0x1E, 4, 0x18, 0, 0, 7])
    return packet[:4] + (len(packet) - 40 + len(put)).to_bytes(2) + bytes([60]) + packet[7:40] + put + packet[40:]


def session_messages() -> Case:
    case = Case("session_messages", "Sessions: Shim6's own messages, keepalives, errors about what sessions sent.")
    hold(case, Session(path=1, watched=False).entries())
    hold(case, endpoint_policy("verify", "2001:db8:c::/48"))
    hold(case, endpoint_policy("transparent", "2001:db8:d::/48"))

    def message(source: str, destination: str, body: bytes) -> bytes:
        return ipv6(SHIM6, body, source, destination)

    case.say("For a host that the edge speaks for: the controller's. Of the host itself: it passes.")
    for type_ in (1, 2, 3, 4, 5, 6, 64, 65, 67, 68, 127):
        case.punts_whole(4, in_by(4, message(REMOTE_1, LOCAL_1, control(type_, 40))), "PUNT_SHIM6", 100)

    case.say(
        "Those that presuppose a context and bear the tag of one are of a session that stands. Others may be of any."
    )

    def tagged(type_: int, tag: int) -> bytes:
        body = control(type_, 40)
        return message(REMOTE_1, LOCAL_1, body[:6] + tag.to_bytes(6) + body[12:])

    for type_ in (64, 65, 66, 67):
        case.punts_whole(4, in_by(4, tagged(type_, OUR_TAG)), "PUNT_SHIM6", 100, "CLASS_SESSION")
        case.punts_whole(4, in_by(4, tagged(type_, OUR_TAG + 1)), "PUNT_SHIM6", 100)
    for type_ in (1, 3, 68):
        case.punts_whole(4, in_by(4, tagged(type_, OUR_TAG)), "PUNT_SHIM6", 100)

    packet = message(LOCAL, REMOTE, control(1, 40))
    case.passes(1, from_host(packet), 4, out_by(4, hop_less(packet)))

    case.say("To be looked at, both ways; what the controller submits has been.")
    for source, destination in (("2001:db8:c::1", REMOTE), (REMOTE, "2001:db8:c::1"), ("2001:db8:c::1", LOCAL)):
        packet = message(source, destination, control(3, 48))
        case.punts_whole(1, from_host(packet), "PUNT_SHIM6_VERIFY", 1)
        if destination == REMOTE:
            out = bytes([OUT["PACKET_OUT_SUBMIT"]]) + (1).to_bytes(2) + bytes(2)
            case.passes(510, Raw(out + bytes(from_host(packet))), 4, out_by(4, hop_less(packet)))
    case.say("Their payload passes, and so does all of those that speak for themselves.")
    for source in ("2001:db8:c::1", "2001:db8:d::1"):
        packet = with_header(ipv6(17, DATAGRAM, source, REMOTE), 5)
        case.passes(1, from_host(packet), 4, out_by(4, hop_less(packet)))
    packet = message("2001:db8:d::1", REMOTE, control(3, 48))
    case.passes(1, from_host(packet), 4, out_by(4, hop_less(packet)))

    case.say("Keepalives: of the session; of none; by unproven locators; wrong; with options; short.")

    def alive(tag: int, source: str = REMOTE_1, destination: str = LOCAL_1, **fields: Any) -> bytes:
        return message(source, destination, bytes(Shim6Keepalive(tag=tag, **fields)))

    case.drops(4, in_by(4, alive(OUR_TAG)), "DROP_KEEPALIVE_HEARD")
    case.drops(
        5, in_by(5, alive(OUR_TAG, REMOTE_2, LOCAL_2, reserved=0x55, r=1, reserved2=0xDEADBEEF)), "DROP_KEEPALIVE_HEARD"
    )
    case.drops(4, in_by(4, alive(OUR_TAG, REMOTE, LOCAL)), "DROP_KEEPALIVE_HEARD")
    case.punts_whole(4, in_by(4, alive(0x99)), "PUNT_SHIM6", 100)
    case.punts_whole(4, in_by(4, alive(OUR_TAG, "2001:db8:bad::1")), "PUNT_SHIM6", 100, "CLASS_SESSION")
    case.drops(4, in_by(4, alive(OUR_TAG, chksum=1)), "DROP_KEEPALIVE_CHECKSUM")
    case.punts_whole(4, in_by(4, message(REMOTE_1, LOCAL_1, control(66, 24))), "PUNT_SHIM6", 100)
    case.punts_whole(4, in_by(4, message(REMOTE_1, LOCAL_1, control(66, 8))), "PUNT_SHIM6", 100)

    case.say("Errors about packets of sessions are the controller's; about others they pass.")
    error = bytes(IPv6(src=REMOTE, dst=LOCAL_1) / ICMPv6PacketTooBig(mtu=1300) / Raw(sent_by(1, OUTWARD)))
    case.punts_whole(4, in_by(4, error), "PUNT_SESSION_ERROR", 100)
    error = bytes(IPv6(src=REMOTE, dst=LOCAL_1) / ICMPv6PacketTooBig(mtu=1300) / Raw(numbered(sent_by(1, OUTWARD))))
    case.punts_whole(4, in_by(4, error), "PUNT_SESSION_ERROR", 100)
    error = bytes(IPv6(src=REMOTE, dst=LOCAL) / ICMPv6PacketTooBig(mtu=1300) / Raw(OUTWARD))
    case.passes(4, in_by(4, error), 1, to_host(hop_less(error)))

    case.say("The controller's keepalives and questions about what is no session.")
    for kind in ("PACKET_OUT_KEEPALIVE", "PACKET_OUT_CHECK"):
        ask = from_host(ipv6(NO_NEXT_HEADER, b"", LOCAL, REMOTE_2))
        case.drops(510, Raw(bytes([OUT[kind]]) + (1).to_bytes(2) + bytes(2) + bytes(ask)), "DROP_SESSION_UNKNOWN")
    ask = from_host(ipv6(NO_NEXT_HEADER, b"", LOCAL, REMOTE))
    case.drops(510, Raw(bytes([OUT["PACKET_OUT_CHECK"]]) + (1).to_bytes(2) + bytes(2) + bytes(ask)), "DROP_CHECKED")
    return case


ALL: tuple[Callable[[], Case], ...] = (session_paths, session_choices, session_admission, session_messages)
