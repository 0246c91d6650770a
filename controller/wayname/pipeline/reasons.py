"""The numbered reasons of p4src/common/reasons.p4, in words."""

from __future__ import annotations

from enum import IntEnum


class Punt(IntEnum):
    """Why a packet came to the controller."""

    LOCAL = 1
    NEIGHBOUR_UNKNOWN = 2
    ROUTER_SOLICITATION = 3
    ROUTER_ADVERTISEMENT = 4
    NEIGHBOUR_SOLICITATION = 5
    NEIGHBOUR_ADVERTISEMENT = 6
    INGRESS_MIRROR = 7
    EGRESS_MIRROR = 8
    TRACE = 9
    LOOPBACK = 10
    SHIM6 = 11
    SHIM6_VERIFY = 12
    SHIM6_UNKNOWN_TAG = 13
    SESSION_ERROR = 14
    SESSION_HELD = 15
    SESSION_REQUEST = 16
    LOCATOR_UPDATE = 17
    NONCE_UNKNOWN = 18
    ILNP_ERROR = 19
    DHCPV6 = 20
    HIP = 25
    HIP_VERIFY = 26
    HIP_SEEN = 27
    SEGMENT_HMAC = 28
    SOURCE_UNKNOWN = 40
    SOURCE_ELSEWHERE = 41
    PROTOCOL = 48


# Copies have meters of their own, by port.
CAPTURES = (Punt.INGRESS_MIRROR, Punt.EGRESS_MIRROR)


class PuntClass(IntEnum):
    """What the tables know of a packet for the controller; the class of all others is their reason."""

    PROBE = 35
    NEIGHBOUR = 36
    SESSION = 37
    HELD = 38


CLASS_WORDS = {
    PuntClass.PROBE: "own probe",
    PuntClass.NEIGHBOUR: "discovery of a known neighbour",
    PuntClass.SESSION: "of a session that stands",
    PuntClass.HELD: "session held",
}


class Drop(IntEnum):
    """Why a packet was dropped."""

    TRUNCATED = 1
    VERSION = 2
    PAYLOAD_LENGTH = 3
    HOP_BY_HOP_NOT_FIRST = 4
    EXTENSION_PAST_END = 5
    TOO_MANY_EXTENSIONS = 6
    FIRST_FRAGMENT_SHORT = 7
    DISCOVERY_INVALID = 8
    AUTHENTICATION_LENGTH = 9
    PORT_UNKNOWN = 20
    VLAN_INGRESS = 21
    VLAN_EGRESS = 22
    SOURCE_MAC = 23
    RESERVED_GROUP = 24
    NO_FLOOD_GROUP = 25
    SAME_PORT = 26
    NOT_ROUTED = 27
    PACKET_OUT = 28
    FLOOD_COPY = 29
    MAC_LIMIT = 30
    MAC_MOVE = 31
    RA_GUARD = 32
    DHCPV6_GUARD = 33
    DISCOVERY_FRAGMENT = 34
    HIDDEN_HEADERS = 35
    SOURCE_PREFIX = 36
    SOURCE_BINDING = 37
    SOURCE_LIMIT = 38
    HOST_TUNNEL = 39
    SOURCE_ADDRESS = 40
    DESTINATION_ADDRESS = 41
    LINK_LOCAL = 42
    NO_ROUTE = 43
    PROHIBITED = 44
    DISCARD = 45
    HOP_LIMIT = 46
    NO_NEXTHOP = 47
    PACKET_TOO_BIG = 48
    INTERFACE_UNKNOWN = 49
    PUNT_RATE = 60
    ERROR_NO_SOURCE = 61
    PUNT_SOURCE_RATE = 62
    PUNT_PORT_RATE = 63
    PUNT_TOTAL_RATE = 64
    OPTION_PAST_END = 70
    SEGMENTS_WRONG = 71
    SEGMENTS_LEFT = 72
    UPPER_LAYER = 73
    INNER_LENGTH = 74
    INNER_VERSION = 75
    INNER_CONGESTION = 76
    POLICY_UNKNOWN = 77
    SOURCE_ROUTE_GROUP = 78
    INNER_HEADER = 79
    TRACE_FOREIGN = 80
    SOURCE_ROUTE_LOOP = 81
    SOURCE_ROUTE_LONG = 82
    SEGMENT_HMAC = 83
    LOCATORS_UNPROVEN = 90
    PAYLOAD_HEADER = 91
    KEEPALIVE_CHECKSUM = 92
    PATH_UNKNOWN = 93
    SESSION_UNKNOWN = 94
    KEEPALIVE_HEARD = 95
    KEEPALIVE_NOT_DUE = 96
    CHECKED = 97
    NONCE_WRONG = 100
    NONCE_LENGTH = 101
    NONCE_TWICE = 102
    NONCE_MISSING = 103
    NONCE_BESIDE = 104
    ILNP_FLOWS_FULL = 105
    ESP_LOCATORS = 115
    ESP_SHORT = 116
    FLOW_HELD = 110
    BORDER_SOURCE = 111
    NO_PROVIDER = 112
    FLOWS_FULL = 113
    UNTRANSLATABLE = 114
    DUPLICATE_HELD = 120


DROP_WORDS = {
    Drop.TRUNCATED: "ends inside a header",
    Drop.VERSION: "Ethernet says IPv6, the packet another version",
    Drop.PAYLOAD_LENGTH: "the payload is longer than the packet",
    Drop.HOP_BY_HOP_NOT_FIRST: "hop-by-hop options behind another header",
    Drop.EXTENSION_PAST_END: "an extension header is longer than the payload",
    Drop.TOO_MANY_EXTENSIONS: "too many extension headers",
    Drop.FIRST_FRAGMENT_SHORT: "a first fragment without all headers",
    Drop.DISCOVERY_INVALID: "invalid neighbour or router discovery",
    Drop.AUTHENTICATION_LENGTH: "an authentication header that is too short",
    Drop.PORT_UNKNOWN: "the port has no VLAN",
    Drop.VLAN_INGRESS: "the port it came by is not in its VLAN",
    Drop.VLAN_EGRESS: "the port it would leave by is not in its VLAN",
    Drop.SOURCE_MAC: "the source MAC is a group or the router's",
    Drop.RESERVED_GROUP: "for the bridge next door only",
    Drop.NO_FLOOD_GROUP: "the VLAN has nowhere to flood to",
    Drop.SAME_PORT: "its station is where it came from",
    Drop.NOT_ROUTED: "to the router's MAC, but nothing that it routes",
    Drop.PACKET_OUT: "a packet of the controller that cannot be",
    Drop.FLOOD_COPY: "a flood's copy for where it came from (no loss)",
    Drop.MAC_LIMIT: "a new station behind a port that has as many as it may have",
    Drop.MAC_MOVE: "its station lives behind another port",
    Drop.RA_GUARD: "a router advertisement or redirect of a host",
    Drop.DHCPV6_GUARD: "a message of a DHCPv6 server or relay, from a host",
    Drop.DISCOVERY_FRAGMENT: "neighbour or router discovery of a host, in fragments",
    Drop.HIDDEN_HEADERS: "of a host, behind a second tag or LLC",
    Drop.SOURCE_PREFIX: "a source address that no host of its VLAN can have",
    Drop.SOURCE_BINDING: "a source address, or one that it advertises, that is another's",
    Drop.SOURCE_LIMIT: "a new source address behind a port that has enough, or gets them too fast",
    Drop.HOST_TUNNEL: "out of a tunnel that a host began",
    Drop.SOURCE_ADDRESS: "a source address that is nobody's",
    Drop.DESTINATION_ADDRESS: "a destination that the router cannot have",
    Drop.LINK_LOCAL: "a link-local address would leave its link",
    Drop.NO_ROUTE: "no route",
    Drop.PROHIBITED: "the route is prohibited",
    Drop.DISCARD: "the route discards",
    Drop.HOP_LIMIT: "the hop limit was used up",
    Drop.NO_NEXTHOP: "the route's next hop is not there",
    Drop.PACKET_TOO_BIG: "longer than the MTU",
    Drop.INTERFACE_UNKNOWN: "no router interface where it would leave",
    Drop.PUNT_RATE: "too many for the controller, of its kind by its port",
    Drop.ERROR_NO_SOURCE: "an ICMPv6 error from an interface that is gone",
    Drop.PUNT_SOURCE_RATE: "too many for the controller, from one source or of one session",
    Drop.PUNT_PORT_RATE: "too many for the controller, by its port",
    Drop.PUNT_TOTAL_RATE: "too many for the controller, by all ports",
    Drop.OPTION_PAST_END: "a hop-by-hop option is longer than its header",
    Drop.SEGMENTS_WRONG: "a segment list that contradicts itself",
    Drop.SEGMENTS_LEFT: "a tunnel ends here, but its segments do not",
    Drop.UPPER_LAYER: "to a segment of ours, with nothing inside that it takes",
    Drop.INNER_LENGTH: "the packet in the tunnel is longer than the tunnel's payload",
    Drop.INNER_VERSION: "the packet in the tunnel is of another IP version than it says",
    Drop.INNER_CONGESTION: "the tunnel met congestion, its packet cannot say so",
    Drop.POLICY_UNKNOWN: "a policy or source route that is not there",
    Drop.SOURCE_ROUTE_GROUP: "a source route with a group in it",
    Drop.INNER_HEADER: "an IPv4 header in the tunnel that makes no sense",
    Drop.TRACE_FOREIGN: "the controller's copy of a trace that is not ours (no loss)",
    Drop.SOURCE_ROUTE_LOOP: "a source route that comes back to this router",
    Drop.SOURCE_ROUTE_LONG: "a source route with more addresses than are looked at for loops",
    Drop.SEGMENT_HMAC: "a segment list without the HMAC that is asked for, or with one of another segment",
    Drop.LOCATORS_UNPROVEN: "a session's tag, with locators that are not proven for it",
    Drop.PAYLOAD_HEADER: "a Shim6 payload header of a wrong length",
    Drop.KEEPALIVE_CHECKSUM: "a keepalive with a wrong checksum",
    Drop.PATH_UNKNOWN: "its session is on a path that is not there",
    Drop.SESSION_UNKNOWN: "the controller asks about what is no session",
    Drop.KEEPALIVE_HEARD: "a peer's keepalive, which ends here (no loss)",
    Drop.KEEPALIVE_NOT_DUE: "a keepalive of ours that was not needed (no loss)",
    Drop.CHECKED: "a question of the controller (no loss)",
    Drop.NONCE_WRONG: "a session's identities, with a nonce that is not its own",
    Drop.NONCE_LENGTH: "a nonce that has neither 4 nor 12 octets",
    Drop.NONCE_TWICE: "two nonces",
    Drop.NONCE_MISSING: "without the nonce that would prove it",
    Drop.NONCE_BESIDE: "a nonce beside other options",
    Drop.ILNP_FLOWS_FULL: "no place for another TCP flow with a nonce",
    Drop.ESP_LOCATORS: "a session's ESP, with locators that are not proven for it",
    Drop.ESP_SHORT: "ESP of or for a HIP host that is less than its header",
    Drop.FLOW_HELD: "its connection waits for a provider that failed a moment ago",
    Drop.BORDER_SOURCE: "a source that cannot come from that side of the site's border",
    Drop.NO_PROVIDER: "no provider that its policy allows works",
    Drop.FLOWS_FULL: "by a provider that could not be remembered for the answer",
    Drop.UNTRANSLATABLE: "its address has no counterpart under the other prefix",
    Drop.DUPLICATE_HELD: "a duplicate acknowledgement, for what may still come (no loss)",
}


def drop_words(reason: int) -> str:
    """Return a drop reason in words; a number that this controller does not know stays one."""
    return DROP_WORDS[Drop(reason)] if reason in set(Drop) else f"reason {reason}"


def punt_words(reason: int) -> str:
    """Return a punt reason in words."""
    return Punt(reason).name.lower().replace("_", " ") if reason in set(Punt) else f"reason {reason}"


def class_words(punt_class: int) -> str:
    """Return a class of punts in words; 0 is a digest."""
    if not punt_class:
        return "digest"
    return CLASS_WORDS[PuntClass(punt_class)] if punt_class in set(PuntClass) else punt_words(punt_class)
