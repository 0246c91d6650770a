"""Cases of HIP's own messages (RFC 7401): for the controller, to be looked at, or let pass."""

from collections.abc import Callable

from carriers import hop_less, ipv6, octets
from case import Case, number
from scapy.packet import Raw
from session_cases import hold
from session_site import (
    LOCAL,
    LOCAL_1,
    REMOTE,
    REMOTE_1,
    SESSION,
    Session,
    endpoint_policy,
    from_host,
    in_by,
    out_by,
)

from small_site import OUT

HIP = 139


HITS = "2001:20::a", "2001:20::b"


def message(source: str, destination: str, kind: int, sender: str = "::", receiver: str = "::") -> bytes:
    """A HIP packet without parameters; nothing here looks at more than between whom it is."""
    body = bytes([59, 4, kind, 0x21, 0, 0, 0, 0]) + octets(sender) + octets(receiver)
    return ipv6(HIP, body, source, destination)


def hip_messages() -> Case:
    case = Case("hip_messages", "HIP's own messages: the controller's where the edge speaks for hosts.")
    hold(case, Session(path=1, watched=False).entries())
    hold(case, endpoint_policy("verify", "2001:db8:c::/48"))
    hold(case, endpoint_policy("transparent", "2001:db8:d::/48"))

    case.say("For a host that the edge speaks for: the controller's.")
    for kind in (1, 2, 3, 4, 16, 17, 18, 19, 127):
        case.punts_whole(4, in_by(4, message(REMOTE_1, LOCAL_1, kind)), "PUNT_HIP", 100)
    case.say("Of or for a host that is let be: it passes, and the controller gets a copy.")
    packet = message("2001:db8:d::1", REMOTE, 1)
    case.passes(1, from_host(packet), 4, out_by(4, hop_less(packet)))
    case.punted(from_host(packet), "PUNT_HIP_SEEN", 1, 1)
    out = bytes([OUT["PACKET_OUT_SUBMIT"]]) + (1).to_bytes(2) + bytes(2)
    case.passes(510, Raw(out + bytes(from_host(packet))), 4, out_by(4, hop_less(packet)))

    case.say("To be looked at, both ways; what the controller submits has been.")
    for source, destination in (("2001:db8:c::1", REMOTE), (REMOTE, "2001:db8:c::1"), ("2001:db8:c::1", LOCAL)):
        packet = message(source, destination, 3)
        case.punts_whole(1, from_host(packet), "PUNT_HIP_VERIFY", 1)
        if destination == REMOTE:
            case.passes(510, Raw(out + bytes(from_host(packet))), 4, out_by(4, hop_less(packet)))

    case.say("Of an association that stands: by its HITs and, from the peer, by locators that are proven for it.")
    ours, peers = HITS
    case.add("associations", f"of_association(session:{SESSION})", local=number(ours), remote=number(peers))
    update = message(REMOTE_1, LOCAL_1, 16, peers, ours)
    case.punts_whole(4, in_by(4, update), "PUNT_HIP", 100, "CLASS_SESSION")
    case.punts_whole(4, in_by(4, message("2001:db8:bad::1", LOCAL_1, 16, peers, ours)), "PUNT_HIP", 100)
    case.punts_whole(4, in_by(4, message(REMOTE_1, LOCAL_1, 16, "2001:20::c", ours)), "PUNT_HIP", 100)
    seen = message("2001:db8:c::1", REMOTE, 16, ours, peers)
    case.punts_whole(1, from_host(seen), "PUNT_HIP_VERIFY", 1, "CLASS_SESSION")
    seen = message("2001:db8:d::1", REMOTE, 16, ours, peers)
    case.passes(1, from_host(seen), 4, out_by(4, hop_less(seen)))
    case.punted(from_host(seen), "PUNT_HIP_SEEN", 1, 1, "CLASS_SESSION")
    return case


ALL: tuple[Callable[[], Case], ...] = (hip_messages,)
