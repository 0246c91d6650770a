"""What P4 and Python both say, from the text of p4src.

Written by p4src/tests/write_constants.py: change it there.
"""

from __future__ import annotations

from enum import IntEnum, IntFlag
from typing import Self


class _InWords(IntEnum):
    """Numbers that people read as words."""

    words: str

    def __new__(cls, number: int, words: str = "") -> Self:
        member = int.__new__(cls, number)
        member._value_ = number
        member.words = words
        return member


CPU_PORT = 510
CPU_SESSION = 1
PORTS = 512
FDB_ENTRIES = 16384
ESTABLISHED_FLOWS = 16384
HASH_BUCKETS = 16384
SOURCE_BINDINGS = 32768
ECMP_GROUP_MEMBERS_MOST = 16
PUNT_CLASSES = 64
WATCHED_SESSIONS = 131072
MONITORED_PAIRS = 65536
SCHEDULES = 16384
NUMBERED_SESSIONS = 16384
SLOTS_OF_SCHEDULE = 8
LONGEST_BEHIND = 45000
SR_POLICIES = 4096
SEGMENTS_OF_POLICY = 4
SEGMENT_LIST_EXTENSIONS = 8
VERIFIED_SEGMENTS = 4096
PROVEN_LIST_BITS = 1024
IOAM_TRACES = 256
SOURCE_ROUTES = 1024
HOPS_CHECKED = 16
NO_SCHEMA = 16777215
HASH_BUCKETS_OF_POLICY = 256
PATH_BITS = 4


class Punt(IntEnum):
    """Why a packet came to the controller."""

    LOCAL = 1  # to an address of the router
    NEIGHBOUR_UNKNOWN = 2  # the next hop's MAC is not known
    ROUTER_SOLICITATION = 3  # a host asks for routers (RFC 4861)
    ROUTER_ADVERTISEMENT = 4  # another router says what it offers
    NEIGHBOUR_SOLICITATION = 5  # for an address of the router
    NEIGHBOUR_ADVERTISEMENT = 6  # a neighbour says where it is
    INGRESS_MIRROR = 7  # a copy of what arrived by the port
    EGRESS_MIRROR = 8  # a copy of what leaves by the port
    TRACE = 9  # a copy of a packet whose trace ends here
    LOOPBACK = 10  # a copy of a packet whose trace is to go back (RFC 9322)
    SHIM6 = 11  # a control message for a host that the edge speaks for
    SHIM6_VERIFY = 12  # one from or for a host that speaks itself, to be looked at
    SHIM6_UNKNOWN_TAG = 13  # payload of a session that is not known here
    SESSION_ERROR = 14  # an ICMPv6 error about a packet of a session
    SESSION_HELD = 15  # a copy of what a session sent, and what may be lost
    SESSION_REQUEST = 16  # ICMPv6 type 160 with a nonce, for a host that the edge speaks for
    LOCATOR_UPDATE = 17  # ICMPv6 type 156, the same
    NONCE_UNKNOWN = 18  # a copy of a packet whose nonce is that of no session, if it is wanted
    ILNP_ERROR = 19  # an ICMPv6 error about a packet that bore a nonce, or locators
    DHCPV6 = 20  # from a client to all servers
    HIP = 25  # a HIP message for a host that the edge speaks for
    HIP_VERIFY = 26  # one from or for a host that speaks itself, to be looked at
    HIP_SEEN = 27  # a copy of one from or for a host that speaks itself
    SEGMENT_HMAC = 28  # a segment list with an HMAC that is not verified yet
    VRRP = 29  # a copy of what another router of a virtual router advertises (RFC 9568)
    SOURCE_UNKNOWN = 40  # a copy of what a host sends from an address that is bound to nobody
    SOURCE_ELSEWHERE = 41  # a copy of what it sends, advertises or asks of one bound to another
    PROTOCOL = 48  # a message of such a protocol


class PuntClass(_InWords):
    """What the tables know of a packet for the controller; the class of all others is their reason."""

    PROBE = 35, "own probe"
    NEIGHBOUR = 36, "discovery of a known neighbour"
    SESSION = 37, "of a session that stands"
    HELD = 38, "session held"


class Drop(_InWords):
    """Why a packet was dropped."""

    TRUNCATED = 1, "ends inside a header"
    VERSION = 2, "Ethernet says IPv6, the packet another version"
    PAYLOAD_LENGTH = 3, "the payload is longer than the packet"
    HOP_BY_HOP_NOT_FIRST = 4, "hop-by-hop options behind another header"
    EXTENSION_PAST_END = 5, "an extension header is longer than the payload"
    TOO_MANY_EXTENSIONS = 6, "too many extension headers"
    FIRST_FRAGMENT_SHORT = 7, "a first fragment without all headers (RFC 7112)"
    DISCOVERY_INVALID = 8, "invalid neighbour or router discovery"
    AUTHENTICATION_LENGTH = 9, "an authentication header that is too short"
    PORT_UNKNOWN = 20, "the port has no VLAN"
    VLAN_INGRESS = 21, "the port it came by is not in its VLAN"
    VLAN_EGRESS = 22, "the port it would leave by is not in its VLAN"
    SOURCE_MAC = 23, "the source MAC is a group or the router's"
    RESERVED_GROUP = 24, "for the bridge next door only (IEEE 802.1Q, 8.6.3)"
    NO_FLOOD_GROUP = 25, "the VLAN has nowhere to flood to"
    SAME_PORT = 26, "its station is where it came from"
    NOT_ROUTED = 27, "to the router's MAC, but nothing that it routes"
    PACKET_OUT = 28, "a packet of the controller that cannot be"
    FLOOD_COPY = 29, "a flood's copy for where it came from (no loss)"
    MAC_LIMIT = 30, "a new station behind a port that has as many as it may have"
    MAC_MOVE = 31, "its station lives behind another port"
    RA_GUARD = 32, "a router advertisement or redirect of a host"
    DHCPV6_GUARD = 33, "a message of a DHCPv6 server or relay, from a host"
    DISCOVERY_FRAGMENT = 34, "neighbour or router discovery of a host, in fragments (RFC 6980)"
    HIDDEN_HEADERS = 35, "of a host, behind a second tag or LLC"
    SOURCE_PREFIX = 36, "a source address that no host of its VLAN can have"
    SOURCE_BINDING = 37, "a source address, or one that it advertises, that is another's"
    SOURCE_LIMIT = 38, "a new source address behind a port that has enough, or gets them too fast"
    HOST_TUNNEL = 39, "out of a tunnel that a host began"
    SOURCE_ADDRESS = 40, "a source address that is nobody's"
    DESTINATION_ADDRESS = 41, "a destination that the router cannot have"
    LINK_LOCAL = 42, "a link-local address would leave its link"
    NO_ROUTE = 43, "no route"
    PROHIBITED = 44, "the route is prohibited"
    DISCARD = 45, "the route discards"
    HOP_LIMIT = 46, "the hop limit was used up"
    NO_NEXTHOP = 47, "the route's next hop is not there"
    PACKET_TOO_BIG = 48, "longer than the MTU"
    INTERFACE_UNKNOWN = 49, "no router interface where it would leave"
    PUNT_RATE = 60, "too many for the controller, of its kind by its port"
    ERROR_NO_SOURCE = 61, "an ICMPv6 error from an interface that is gone"
    PUNT_SOURCE_RATE = 62, "too many for the controller, from one source or of one session"
    PUNT_PORT_RATE = 63, "too many for the controller, by its port"
    PUNT_TOTAL_RATE = 64, "too many for the controller, by all ports"
    OPTION_PAST_END = 70, "a hop-by-hop option is longer than its header"
    SEGMENTS_WRONG = 71, "a segment list that contradicts itself"
    SEGMENTS_LEFT = 72, "a tunnel ends here, but its segments do not"
    UPPER_LAYER = 73, "to a segment of ours, with nothing inside that it takes"
    INNER_LENGTH = 74, "the packet in the tunnel is longer than the tunnel's payload"
    INNER_VERSION = 75, "the packet in the tunnel is of another IP version than it says"
    INNER_CONGESTION = 76, "the tunnel met congestion, its packet cannot say so (RFC 6040)"
    POLICY_UNKNOWN = 77, "a policy or source route that is not there"
    SOURCE_ROUTE_GROUP = 78, "a source route with a group in it (RFC 6554)"
    INNER_HEADER = 79, "an IPv4 header in the tunnel that makes no sense"
    TRACE_FOREIGN = 80, "the controller's copy of a trace that is not ours (no loss)"
    SOURCE_ROUTE_LOOP = 81, "a source route that comes back to this router (RFC 6554)"
    SOURCE_ROUTE_LONG = 82, "a source route with more addresses than are looked at for loops"
    SEGMENT_HMAC = 83, "a segment list without the HMAC that is asked for, or with one of another segment"
    LOCATORS_UNPROVEN = 90, "a session's tag, with locators that are not proven for it"
    PAYLOAD_HEADER = 91, "a Shim6 payload header of a wrong length"
    KEEPALIVE_CHECKSUM = 92, "a keepalive with a wrong checksum"
    PATH_UNKNOWN = 93, "its session is on a path that is not there"
    SESSION_UNKNOWN = 94, "the controller asks about what is no session"
    KEEPALIVE_HEARD = 95, "a peer's keepalive, which ends here (no loss)"
    KEEPALIVE_NOT_DUE = 96, "a keepalive of ours that was not needed (no loss)"
    CHECKED = 97, "a question of the controller (no loss)"
    NONCE_WRONG = 100, "a session's identities, with a nonce that is not its own"
    NONCE_LENGTH = 101, "a nonce that has neither 4 nor 12 octets"
    NONCE_TWICE = 102, "two nonces"
    NONCE_MISSING = 103, "without the nonce that would prove it (RFC 6741, section 11.1)"
    NONCE_BESIDE = 104, "a nonce beside other options"
    ILNP_FLOWS_FULL = 105, "no place for another TCP flow with a nonce"
    FLOW_HELD = 110, "its connection waits for a provider that failed a moment ago"
    BORDER_SOURCE = 111, "a source that cannot come from that side of the site's border"
    NO_PROVIDER = 112, "no provider that its policy allows works"
    FLOWS_FULL = 113, "by a provider that could not be remembered for the answer"
    UNTRANSLATABLE = 114, "its address has no counterpart under the other prefix"
    ESP_LOCATORS = 115, "a session's ESP, with locators that are not proven for it"
    ESP_SHORT = 116, "ESP of or for a HIP host that is less than its header"
    DUPLICATE_HELD = 120, "a duplicate acknowledgement, for what may still come (no loss)"
    REPORT_HEARD = 121, "a peer's report or probe of paths, which ends here (no loss)"
    REPORT_NEEDLESS = 122, "a report of ours that another packet took along (no loss)"
    COPY_NEEDLESS = 123, "a copy of a packet that need not be sent (no loss)"
    HELD_FOR_ORDER = 124, "in the buffer until what was sent before it has come (no loss)"
    CAME_TWICE = 125, "sent again by another path, and has come by the first (no loss)"
    ELIMINATED = 126, "one of several copies that were sent at once, and another has come (no loss)"
    QUEUED = 127, "waits at the edge until a path has room (no loss)"
    QUEUE_FULL = 128, "no room to wait at the edge, or for too long"
    LINUX_RATE = 130, "too many for Linux, of its class by its port"
    LINUX_COPY = 131, "a flood's copy that Linux has no use for (no loss)"
    UNSOLICITED_OPEN = 140, "a connection that begins outside, and no pinhole lets it in"
    UNSOLICITED = 141, "from outside, of no flow that began inside"
    UNSOLICITED_ERROR = 142, "an ICMPv6 error from outside, about no flow of the inside"
    UNSOLICITED_ECHO = 143, "an echo request from outside"
    UNSOLICITED_FRAGMENT = 144, "a fragment from outside whose first one was not let in, or comes later"
    RECORDS_FULL = 145, "no place to remember it, so nothing could answer it"
    ROUTING_HEADER_0 = 146, "a routing header of type 0 at the border (RFC 5095)"
    SEGMENTS_AT_BORDER = 147, "segments left in a routing header, for a host inside; or a source route that leaves"


class PacketOutKind(IntEnum):
    """What the switch does with a packet of the controller."""

    SEND = 0  # leaves by the port as it is
    FLOOD = 1  # goes to every port of the VLAN, tagged where the port wants it
    SUBMIT = 2  # goes through the pipeline as if it had arrived by the port
    KEEPALIVE = 3  # between identities: leaves by their session's path, if it is time for it
    CHECK = 4  # between identities: is their session answered? Leaves nothing


class SessionMode(IntFlag):
    """What a session's packets do beside going by a path."""

    REPORT = 1  # those of the peer are told to the controller
    FOLLOW = 2  # the session moves as the peer moves
    HOLD = 4  # what may get lost is copied to the controller
    SCHEDULE = 8  # each packet's path is chosen for itself
    ILNP = 16  # the peer has a nonce: one of others is forged, and so are errors without
    PREFER = 32  # some flows take a path of their own
    NUMBER = 64  # packets are numbered by path, each end reports what came; paths but ESP's bear the session's header
    ORDER = 128  # numbered packets that want to come in order say it, and are sent again if their path dies


class HostProtocols(IntFlag):
    """What an edge speaks for the hosts of a prefix."""

    SHIM6 = 1  # the edge speaks Shim6 for them
    ILNP = 2  # and ILNP
    NAIVE = 4  # packets with a nonce that is not known are copied to the controller
    HOSTS = 8  # the hosts speak ILNP themselves: nonces and messages are theirs
    OPEN = 16  # the hosts' TCP opens with a nonce, to who is known to take it


class SessionEventKind(IntEnum):
    """What the switch found out about a session."""

    WATCH = 1  # a packet is not answered yet: look again when it should be
    SILENT = 2  # a packet was heard and nothing sent since: a keepalive may be due
    LEFT_PATH = 3  # not answered in time, and moved to a backup
    UNANSWERED = 4  # not answered in time, and there is no backup
    FOLLOWED = 5  # moved as the peer moved
    HEARD = 6  # something came by a path


class PathEventKind(IntEnum):
    """What the switch found out about a path of a schedule."""

    LATE = 1  # closed: its mark came late
    LOST = 2  # closed: a packet was lost
    OPENED = 3  # a probe came in time
    ESTIMATED = 4  # something is known of it
    UNPROBED = 5  # opened: nothing was there to probe it with


class FlowEventKind(IntEnum):
    """What became of a flow whose provider does not work, or why it is looked after."""

    HELD = 1  # what its host sends is dropped for now
    MOVED = 2  # it goes by another provider, so with another address
    BEGAN = 3  # of a session of the host's own: both ends have spoken
    ESTABLISHED = 4  # both ends have spoken, and only its slot says by which provider it goes


class ScheduleFeedback(IntFlag):
    """What acknowledgements change."""

    FOLLOW = 1  # what is known of a path
    CLOSE = 2  # whether it is open
    HOLD = 4  # none: duplicates are held back while what is missing may still come


class ProviderHealth(IntEnum):
    """Whether a provider works."""

    WORKS = 0  # flows begin by it and go on
    HELD = 1  # failed a moment ago: connections over it wait
    FAILED = 2  # connections over it are lost


class BorderSide(IntEnum):
    """Which side of the border is behind an interface."""

    INSIDE = 1  # the site
    OUTSIDE = 2  # its providers


class Guard(IntFlag):
    """What is checked of a packet that comes by a port of hosts."""

    SOURCES = 1  # its source belongs to its sender
    NEIGHBOURS = 2  # so does what it advertises or is about to take
    ROUTERS = 4  # it is no router
    DHCPV6 = 8  # it is no DHCPv6 server
    SOURCES_FULL = 16  # the port has as many sources as it may have
    MACS_FULL = 32  # the port has as many stations as it may have


class Maps(IntFlag):
    """Which addresses of what comes by an interface may be mapped."""

    SOURCES = 1  # hosts behind it are mapped
    DESTINATIONS = 2  # identities of hosts are behind this edge


class LinuxClass(IntEnum):
    """What a packet to Linux is."""

    DISCOVERY = 0  # neighbour, router and listener discovery
    ARP = 1  # questions and answers of ARP
    LINK_GROUP = 2  # other groups of one link: routing protocols, VRRP, DHCPv6
    BGP = 3  # sessions of BGP (TCP port 179)
    UNICAST = 4  # other IPv6 to the router
    GROUP = 5  # other groups, and IPv4 to all
    OTHER = 6  # neither IP nor ARP


class EncapsulationMode(IntEnum):
    """How headers are put onto a packet."""

    INLINE = 1  # into the packet as it is
    TUNNEL = 2  # into a packet around it
    AUTO = 3  # inline into the router's own packets, a tunnel for all others
    TUNNEL_REDUCED = 4  # a tunnel whose list leaves the first segment out (RFC 8986)
    FRAME = 5  # a tunnel for the frame as it came in
    FRAME_REDUCED = 6  # the same, reduced
