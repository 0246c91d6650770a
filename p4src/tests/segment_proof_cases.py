"""Cases of HMACs of segment lists: asked for, verified, not verified, of another segment (RFC 8754, section 2.1.2)."""

from collections.abc import Callable, Sequence

from carriers import ROUTING, hop_less, ipv6, ipv6_of, octets, out_by_first, segment_header, tunnel
from case import Case, number
from scapy.layers.inet6 import ICMPv6ParamProblem
from segment_cases import END, NEXT, SOURCE, arrives

from small_site import FAR, PROVIDER, error_about, to_router, udp

# What a segment list that is verified may have at the most.
MOST_SEGMENTS = 8
DATAGRAM = bytes(udp())[40:]


def hmac_tlv(flags: int = 0, key: int = 8, hmac: bytes = bytes(range(32))) -> bytes:
    """RFC 8754, section 2.1.2."""
    return bytes([5, 38]) + flags.to_bytes(2) + key.to_bytes(4) + hmac


def proven(path: Sequence[str], left: int, tlv: bytes, here: str = END, flags: int = 0) -> bytes:
    """A packet along a path whose current segment is here."""
    return ipv6(ROUTING, segment_header(17, path, left, tlvs=tlv, flags=flags) + DATAGRAM, FAR, here)


def verify(case: Case, path: Sequence[str], tlv: bytes, flags: int = 0, last_entry: int | None = None) -> None:
    """What the controller puts when it has verified the first packet of a list."""
    segments = b"".join(octets(sid) for sid in reversed(path)).ljust(16 * MOST_SEGMENTS, b"\0")
    case.add(
        "verified_segments",
        "verified()",
        source=number(FAR),
        last_entry=len(path) - 1 if last_entry is None else last_entry,
        flags=flags,
        segments=f"0x{segments.hex()}",
        proof=f"0x{tlv.hex()}",
    )


def segment_proofs() -> Case:
    case = Case("segment_proofs", "HMACs of segment lists: asked for, verified, of another segment.")
    checking, requiring = END, "fd00:1::9"
    for sid in (checking, requiring):
        case.add("sids", "end(flavours:0)", destination=number(sid) + "/128")
    case.add("routes", "route_nexthop(nexthop:1)", destination=number("fd00:99::") + "/32")
    case.add("hmac_rules", "check_hmac()", destination=number(checking) + "/128")
    case.add("hmac_rules", "require_hmac()", destination=number(requiring) + "/128")

    def goes_on(path: Sequence[str], left: int, tlv: bytes, here: str, flags: int = 0) -> None:
        header = segment_header(17, path, left - 1, tlvs=tlv, flags=flags)
        sent = ipv6(ROUTING, header + DATAGRAM, FAR, path[len(path) - left], 63)
        case.passes(4, arrives(proven(path, left, tlv, here, flags)), 4, out_by_first(sent))

    case.say("Without an HMAC: taken where none is required.")
    goes_on([checking, NEXT], 1, b"", checking)
    case.drops(4, arrives(proven([requiring, NEXT], 1, b"", requiring)), "DROP_SEGMENT_HMAC")

    case.say("With one that nobody verified: to the controller.")
    tlv = hmac_tlv()
    for sid in (checking, requiring):
        case.punts_whole(4, arrives(proven([sid, NEXT], 1, tlv, sid)), "PUNT_SEGMENT_HMAC", 100)

    case.say("Verified: lists of each length, and what differs from them in anything.")
    for count in range(2, MOST_SEGMENTS + 1):
        path = [requiring, *(f"fd00:99::{n:x}" for n in range(count - 1))]
        verify(case, path, tlv)
        goes_on(path, count - 1, tlv, requiring)
    path = [requiring, "fd00:99::0"]
    for others in (
        proven([requiring, NEXT], 1, tlv, requiring),
        proven(path, 1, hmac_tlv(key=9), requiring),
        proven(path, 1, hmac_tlv(flags=1), requiring),
        proven(path, 1, hmac_tlv(hmac=bytes(32)), requiring),
        proven(path, 1, tlv, requiring, flags=1),
    ):
        case.punts_whole(4, arrives(others), "PUNT_SEGMENT_HMAC", 100)
    other_source = ipv6(ROUTING, segment_header(17, path, 1, tlvs=tlv) + DATAGRAM, "2001:db8:ffff::9", requiring)
    case.punts_whole(4, arrives(other_source), "PUNT_SEGMENT_HMAC", 100)

    case.say(
        "The destination is another segment of the list, or none of it; a reduced list says that it leaves one out."
    )
    path = [NEXT, requiring, NEXT]
    for left in (0, 2):
        packet = arrives(proven(path, left, tlv, requiring))
        case.drops(4, packet, "DROP_SEGMENT_HMAC")
        case.expect(4, error_about(packet, ICMPv6ParamProblem(code=0, ptr=40 + 8 + 48), 100, PROVIDER[4]))
    reduced = hmac_tlv(flags=0x8000)
    verify(case, [NEXT], reduced)
    came = ipv6(ROUTING, segment_header(17, [NEXT], 1, tlvs=reduced) + DATAGRAM, FAR, requiring)
    sent = ipv6(ROUTING, segment_header(17, [NEXT], 0, tlvs=reduced) + DATAGRAM, FAR, NEXT, 63)
    case.passes(4, arrives(came), 4, out_by_first(sent))
    packet = arrives(ipv6(ROUTING, segment_header(17, [NEXT], 1, tlvs=tlv) + DATAGRAM, FAR, requiring))
    case.drops(4, packet, "DROP_SEGMENT_HMAC")
    case.expect(4, error_about(packet, ICMPv6ParamProblem(code=0, ptr=40 + 8 + 16), 100, PROVIDER[4]))

    case.say("Put on for Linux, which looks for a flag of an earlier draft.")
    put = f"push_segments_1(source:{number(SOURCE)},extensions:0,hmac:1,first:{number(NEXT)})"
    case.add("sr_policies", put, policy=1)
    case.add("hmacs", f"push_linux_hmac(key:8,hmac:0x{tlv[8:].hex()})", policy=1)
    case.add("encapsulations", "encapsulate_segments(mode:2,policy:1,trace:0)", destination=number("fd00:77::") + "/32")
    inside = to_router(udp(to="fd00:77::1"))
    outside = tunnel(hop_less(ipv6_of(inside)), [NEXT], SOURCE, tlvs=tlv)
    case.passes(1, inside, 4, out_by_first(outside[:45] + b"\x08" + outside[46:]))

    case.say("A list that is too long to be looked at, with something behind it.")
    path = [requiring, *[NEXT] * MOST_SEGMENTS]
    case.drops(4, arrives(proven(path, MOST_SEGMENTS, tlv, requiring)), "DROP_SEGMENT_HMAC")
    path = [checking, *[NEXT] * MOST_SEGMENTS]
    case.drops(4, arrives(proven(path, MOST_SEGMENTS, tlv, checking)), "DROP_SEGMENT_HMAC")
    goes_on(path, MOST_SEGMENTS, b"", checking)
    return case


ALL: tuple[Callable[[], Case], ...] = (segment_proofs,)
