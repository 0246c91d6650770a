"""Cases of ILNP: nonces on and off, locators and checksums, what the controller gets (RFC 6740 to 6744)."""

from __future__ import annotations

import struct
from collections.abc import Callable

from carriers import hop_less, ipv6
from case import Case
from ilnp_site import (
    DATAGRAM,
    DESTINATION,
    HOSTS_SPEAK,
    ICMPV6,
    ILNP_SPOKEN,
    KINDS,
    LONG,
    NAIVE,
    PEERS_LONG,
    PEERS_SHORT,
    SEGMENT,
    TCP,
    UDP,
    came_by,
    entries,
    nonce_header,
    packet,
    sent_by,
    upper,
    with_nonce,
)
from scapy.layers.inet6 import ICMPv6PacketTooBig
from scapy.packet import Raw
from session_cases import CHAINS, FRAGMENT, LAST_PART, chained, hold
from session_site import (
    LOCAL,
    LOCAL_1,
    LOCAL_2,
    PORTS,
    REMOTE,
    REMOTE_1,
    REMOTE_2,
    between,
    endpoint_policy,
    from_host,
    in_by,
    out_by,
    to_host,
)

from small_site import HOST, OUT, error_about

WRONG = bytes.fromhex("000000000000000000000bad")
UNREACHABLE = struct.pack("!BBHI", 1, 4, 0, 0)
UPDATE = struct.pack("!BBHBBHQ", 156, 0, 0, 1, 1, 1, 0x20010DB80F01_0000) + bytes(8)


def request(control: int, octets_: int = 12) -> bytes:
    return struct.pack("!BBH", 160, 0, 0) + bytes(range(octets_)) + bytes(octets_) + bytes([control, 0, 0, 0])


def path_case(name: str, about: str, path: int) -> Case:
    case = Case(name, about)
    hold(case, entries(path))
    for kind, (number, data) in KINDS.items():
        case.say(f"{kind}: counted over identifiers only, ICMPv6 over whole addresses.")
        leaves = out_by(PORTS[path], hop_less(sent_by(path, number, data)))
        case.passes(1, from_host(packet(number, data)), PORTS[path], leaves)
    return case


def ilnp_long_nonce() -> Case:
    case = path_case("ilnp_long_nonce", "ILNP: what a host sends goes with a long nonce, wherever that belongs.", 0)

    case.say("Among other headers; the first fragment alone has a checksum.")
    for headers, at, said in CHAINS.values():
        sent = chained(LOCAL, REMOTE, *headers, upper=upper(UDP, DATAGRAM, LOCAL, REMOTE, False))
        leaves = chained(LOCAL, REMOTE, *headers, upper=upper(UDP, DATAGRAM, LOCAL, REMOTE, True))
        if headers and headers[-1] == (FRAGMENT, LAST_PART):
            leaves = sent
        case.passes(1, from_host(sent), 4, out_by(4, hop_less(with_nonce(leaves, LONG, at, said))))

    case.say("From the controller as it is.")
    submitted = bytes([OUT["PACKET_OUT_SUBMIT"]]) + (1).to_bytes(2) + bytes(2)
    asks = with_nonce(packet(ICMPV6, request(1), LOCAL, REMOTE), PEERS_LONG)
    case.passes(510, Raw(submitted + bytes(from_host(asks))), 4, out_by(4, hop_less(asks)))

    case.say("To somebody without a session nothing happens.")
    other = packet(TCP, SEGMENT, LOCAL, "2001:db8:f00::2")
    case.passes(1, from_host(other), 4, out_by(4, hop_less(other)))
    return case


def ilnp_short_nonce() -> Case:
    case = path_case("ilnp_short_nonce", "ILNP: locators change, and a short nonce is put on.", 1)

    case.say("Too big is what does not leave room for the nonce.")
    case.add("port_mtus", "set_port_mtu(bytes:1400)", port=4)
    fits = packet(UDP, DATAGRAM[:4] + (1352).to_bytes(2) + bytes(2 + 1344))
    leaves = sent_by(1, UDP, fits[40:46] + bytes(2) + fits[48:])
    case.passes(1, from_host(fits), 4, out_by(4, hop_less(leaves)))
    big = packet(UDP, DATAGRAM[:4] + (1353).to_bytes(2) + bytes(2 + 1345))
    case.drops(1, from_host(big), "DROP_PACKET_TOO_BIG")
    case.expect(1, error_about(from_host(big), ICMPv6PacketTooBig(mtu=1392), 1, HOST[1]))
    return case


def ilnp_without_nonce() -> Case:
    case = path_case("ilnp_without_nonce", "ILNP: locators change, the nonce is left off (RFC 6744, section 4).", 2)

    case.say("A UDP checksum of 0 stays.")
    bare = ipv6(UDP, DATAGRAM, LOCAL, REMOTE)
    case.passes(1, from_host(bare), 5, out_by(5, hop_less(between(bare, LOCAL_2, REMOTE_2))))

    case.say("An error that the host makes quotes what the peer knows.")
    quoted = packet(*KINDS["UDP"], REMOTE, LOCAL)
    leaves = packet(ICMPV6, UNREACHABLE + between(quoted, REMOTE_2, LOCAL_2), LOCAL_2, REMOTE_2)
    case.passes(1, from_host(packet(ICMPV6, UNREACHABLE + quoted)), 5, out_by(5, hop_less(leaves)))

    case.say("A nonce of the host's own stays, and none comes beside it.")
    own = with_nonce(packet(UDP, DATAGRAM), PEERS_LONG)
    leaves = with_nonce(packet(UDP, DATAGRAM, LOCAL_2, REMOTE_2, ilnp=True), PEERS_LONG)
    case.passes(1, from_host(own), 5, out_by(5, hop_less(leaves)))

    case.say("Room is kept for the longest nonce: the provider takes 1280 octets.")
    big = packet(UDP, DATAGRAM[:4] + (1225).to_bytes(2) + bytes(2 + 1217))
    case.drops(1, from_host(big), "DROP_PACKET_TOO_BIG")
    case.expect(1, error_about(from_host(big), ICMPv6PacketTooBig(mtu=1280), 1, HOST[1]))
    return case


def ilnp_admission() -> Case:
    case = Case("ilnp_admission", "ILNP: packets of peers, by nonce; of the session, of none, malformed.")
    hold(case, entries())
    reached = {kind: to_host(hop_less(packet(number, data, REMOTE, LOCAL))) for kind, (number, data) in KINDS.items()}

    for path, port in PORTS.items():
        for nonce in (PEERS_LONG, PEERS_SHORT, b""):
            if not nonce and path == 0:
                continue  # between the identities themselves: below
            case.say(f"From the locators of path {path}, with a nonce of {len(nonce)} octets.")
            for kind, (number, data) in KINDS.items():
                case.passes(port, in_by(port, came_by(path, number, data, nonce)), 1, reached[kind])

    case.say("From a new locator: the nonce proves it. Without a nonce it is no session's.")
    moved = packet(UDP, DATAGRAM, "2001:db8:bad::1", LOCAL_1, ilnp=True)
    case.passes(4, in_by(4, with_nonce(moved, PEERS_LONG)), 1, reached["UDP"])
    case.passes(
        4,
        in_by(4, between(moved, "2001:db8:bad::1", LOCAL)),
        1,
        to_host(hop_less(between(moved, "2001:db8:bad::1", LOCAL))),
    )

    case.say("Wherever the nonce stands, with padding on either side.")
    for headers, at, said in CHAINS.values():
        counted = not (headers and headers[-1] == (FRAGMENT, LAST_PART))
        came = chained(REMOTE, LOCAL, *headers, upper=upper(UDP, DATAGRAM, REMOTE, LOCAL, counted))
        leaves = chained(REMOTE, LOCAL, *headers, upper=upper(UDP, DATAGRAM, REMOTE, LOCAL, False))
        case.passes(4, in_by(4, with_nonce(came, PEERS_LONG, at, said)), 1, to_host(hop_less(leaves)))
    came = upper(UDP, DATAGRAM, REMOTE, LOCAL, True)
    for before, behind in ((b"\x01\x06" + bytes(6), b""), (b"\0\0", b"\x01\x04" + bytes(4)), (b"", bytes(8))):
        padded = ipv6(DESTINATION, nonce_header(PEERS_SHORT, UDP, before, behind) + came, REMOTE, LOCAL)
        case.passes(4, in_by(4, padded), 1, reached["UDP"])

    case.say("Another nonce, two, of a wrong length, beside another option.")
    case.drops(4, in_by(4, with_nonce(packet(UDP, DATAGRAM, REMOTE, LOCAL, ilnp=True), WRONG)), "DROP_NONCE_WRONG")
    twice = with_nonce(with_nonce(packet(UDP, DATAGRAM, REMOTE, LOCAL, ilnp=True), PEERS_LONG), PEERS_LONG)
    case.drops(4, in_by(4, twice), "DROP_NONCE_TWICE")
    for octets in (0, 3, 5, 8, 11, 13, 20):
        header = nonce_header(bytes(octets), UDP, behind=bytes(-(octets + 4) % 8))
        case.drops(4, in_by(4, ipv6(DESTINATION, header + came, REMOTE, LOCAL)), "DROP_NONCE_LENGTH")
    beside = nonce_header(PEERS_LONG, UDP, before=b"\xc9\x06" + bytes(6))
    case.drops(4, in_by(4, ipv6(DESTINATION, beside + came, REMOTE, LOCAL)), "DROP_NONCE_BESIDE")

    case.say("Cut off, and longer than what is looked at: options like any, by proven locators.")
    legacy = upper(UDP, DATAGRAM, REMOTE, LOCAL, False)
    cut_off = bytes([UDP, 0, 0x8B, 12, 1, 2, 3, 4])
    long = bytes([UDP, 4, 1, 20]) + bytes(20) + bytes([0x8B, 12]) + PEERS_LONG + bytes(2)
    for header in (cut_off, long):
        leaves = ipv6(DESTINATION, header + legacy, REMOTE, LOCAL)
        case.passes(4, in_by(4, ipv6(DESTINATION, header + came, REMOTE, LOCAL)), 1, to_host(hop_less(leaves)))

    case.say("Of nobody's session: the nonce comes off, and nothing stays.")
    for number, data in KINDS.values():
        for nonce in (WRONG, PEERS_LONG[:4]):
            stranger = with_nonce(packet(number, data, "2001:db8:f00::2", LOCAL, ilnp=True), nonce)
            case.passes(4, in_by(4, stranger), 1, to_host(hop_less(packet(number, data, "2001:db8:f00::2", LOCAL))))
    return case


def ilnp_messages() -> Case:
    case = Case("ilnp_messages", "ILNP: what the controller gets, and what must have a nonce.")
    hold(case, entries())
    hold(case, endpoint_policy(prefix="2001:db8:1:c::/64", protocols=ILNP_SPOKEN | NAIVE))
    hold(case, endpoint_policy(prefix="2001:db8:1:d::/64", protocols=ILNP_SPOKEN | HOSTS_SPEAK))
    hold(case, endpoint_policy(prefix="2001:db8:1:e::/64"))

    def message(data: bytes, nonce: bytes = WRONG, to: str = LOCAL, source: str = REMOTE) -> bytes:
        return with_nonce(packet(ICMPV6, data, source, to), nonce)

    case.say("Requests for a session, whatever their nonce, and Locator Updates.")
    for control in (1, 2, 3):
        for nonce in (WRONG, WRONG[8:], PEERS_LONG):
            known = "CLASS_SESSION" if nonce == PEERS_LONG else None
            asks = in_by(4, message(request(control, len(nonce)), nonce))
            case.punts_whole(4, asks, "PUNT_SESSION_REQUEST", 100, known)
    case.punts_whole(4, in_by(4, message(UPDATE)), "PUNT_LOCATOR_UPDATE", 100)
    case.punts_whole(4, in_by(4, message(UPDATE, PEERS_LONG)), "PUNT_LOCATOR_UPDATE", 100, "CLASS_SESSION")
    case.say("An extended echo request (RFC 8335) has no nonce and passes; an update without one proves nothing.")
    echo = message(request(1), b"")
    case.passes(4, in_by(4, echo), 1, to_host(hop_less(echo)))
    case.drops(4, in_by(4, message(UPDATE, b"")), "DROP_NONCE_MISSING")
    case.say("For hosts that speak themselves, or of whom only Shim6 is spoken: they pass.")
    for prefix, data in (("d", request(1)), ("e", request(1)), ("e", UPDATE)):
        passing = message(data, WRONG, f"2001:db8:1:{prefix}::12")
        case.passes(4, in_by(4, passing), 4, out_by(4, hop_less(passing)))
    case.say("But an update may be an acknowledgement of what their border told.")
    case.punts_whole(4, in_by(4, message(UPDATE, WRONG, "2001:db8:1:d::12")), "PUNT_LOCATOR_UPDATE", 100)

    case.say("Errors about what bore a nonce, and about what a session sent without one.")
    about = packet(UDP, DATAGRAM, LOCAL_1, REMOTE_1, ilnp=True)
    for quoted, known in ((with_nonce(about, PEERS_LONG), None), (about, "CLASS_SESSION")):
        error = packet(ICMPV6, UNREACHABLE + quoted, "2001:db8:a::99", LOCAL_1)
        case.punts_whole(4, in_by(4, error), "PUNT_ILNP_ERROR", 100, known)
    case.say("About others they pass; one of the session's peer needs a nonce (RFC 6741, section 11.1).")
    stranger = packet(ICMPV6, UNREACHABLE + packet(UDP, DATAGRAM, LOCAL, "2001:db8:f00::3"), "2001:db8:a::99", LOCAL)
    case.passes(4, in_by(4, stranger), 1, to_host(hop_less(stranger)))
    forged = packet(ICMPV6, UNREACHABLE + packet(UDP, DATAGRAM, LOCAL, "2001:db8:f00::3"), REMOTE, LOCAL)
    case.drops(4, in_by(4, forged), "DROP_NONCE_MISSING")
    proven = with_nonce(
        packet(ICMPV6, UNREACHABLE + packet(UDP, DATAGRAM, LOCAL, "2001:db8:f00::3"), REMOTE, LOCAL), PEERS_LONG
    )
    case.passes(4, in_by(4, proven), 1, to_host(hop_less(forged)))

    case.say("The naive policy wants a copy of what bears an unknown nonce.")
    naive = with_nonce(packet(UDP, DATAGRAM, REMOTE, "2001:db8:1:c::12", ilnp=True), WRONG)
    case.punts_whole(4, in_by(4, naive), "PUNT_NONCE_UNKNOWN", 100)
    case.expect(4, out_by(4, hop_less(packet(UDP, DATAGRAM, REMOTE, "2001:db8:1:c::12"))))
    return case


def ilnp_native() -> Case:
    case = Case("ilnp_native", "ILNP: hosts that speak it themselves, and an edge that only changes locators.")
    hold(case, entries(2, 0, legacy=False, protocols=ILNP_SPOKEN | HOSTS_SPEAK))
    for number, data in KINDS.values():
        sent = with_nonce(packet(number, data, ilnp=True), LONG)
        leaves = with_nonce(packet(number, data, LOCAL_2, REMOTE_2, ilnp=True), LONG)
        case.passes(1, from_host(sent), 5, out_by(5, hop_less(leaves)))
        came = with_nonce(packet(number, data, REMOTE_1, LOCAL_1, ilnp=True), PEERS_LONG)
        reached = with_nonce(packet(number, data, REMOTE, LOCAL, ilnp=True), PEERS_LONG)
        case.passes(4, in_by(4, came), 1, to_host(hop_less(reached)))
    return case


ALL: tuple[Callable[[], Case], ...] = (
    ilnp_long_nonce,
    ilnp_short_nonce,
    ilnp_without_nonce,
    ilnp_admission,
    ilnp_messages,
    ilnp_native,
)
