// Why a packet was dropped or sent to the controller. The numbers are indices of counters and part of the contract with
// the controller: a number is never given to another reason. docs/pipeline.md lists them for people.

#ifndef WAYNAME_COMMON_REASONS_P4
#define WAYNAME_COMMON_REASONS_P4

#include "types.p4"

const drop_reason_t DROP_NONE = 0;

// Malformed. Next free: 10.
const drop_reason_t DROP_TRUNCATED             = 1;  // ends inside a header
const drop_reason_t DROP_VERSION               = 2;  // Ethernet says IPv6, the packet another version
const drop_reason_t DROP_PAYLOAD_LENGTH        = 3;  // the payload is longer than the packet
const drop_reason_t DROP_HOP_BY_HOP_NOT_FIRST  = 4;  // hop-by-hop options behind another header
const drop_reason_t DROP_EXTENSION_PAST_END    = 5;  // an extension header is longer than the payload
const drop_reason_t DROP_TOO_MANY_EXTENSIONS   = 6;  // too many extension headers
const drop_reason_t DROP_FIRST_FRAGMENT_SHORT  = 7;  // a first fragment without all headers (RFC 7112)
const drop_reason_t DROP_DISCOVERY_INVALID     = 8;  // invalid neighbour or router discovery
const drop_reason_t DROP_AUTHENTICATION_LENGTH = 9;  // an authentication header that is too short

// Bridging.
const drop_reason_t DROP_PORT_UNKNOWN   = 20;  // the port has no VLAN
const drop_reason_t DROP_VLAN_INGRESS   = 21;  // the port it came by is not in its VLAN
const drop_reason_t DROP_VLAN_EGRESS    = 22;  // the port it would leave by is not in its VLAN
const drop_reason_t DROP_SOURCE_MAC     = 23;  // the source MAC is a group or the router's
const drop_reason_t DROP_RESERVED_GROUP = 24;  // for the bridge next door only (IEEE 802.1Q, 8.6.3)
const drop_reason_t DROP_NO_FLOOD_GROUP = 25;  // the VLAN has nowhere to flood to
const drop_reason_t DROP_SAME_PORT      = 26;  // its station is where it came from
const drop_reason_t DROP_NOT_ROUTED     = 27;  // to the router's MAC, but nothing that it routes
const drop_reason_t DROP_PACKET_OUT     = 28;  // a packet of the controller that cannot be
const drop_reason_t DROP_FLOOD_COPY     = 29;  // a flood's copy for where it came from (no loss)

// First-hop security.
const drop_reason_t DROP_MAC_LIMIT          = 30;  // a new station behind a port that has as many as it may have
const drop_reason_t DROP_MAC_MOVE           = 31;  // its station lives behind another port
const drop_reason_t DROP_RA_GUARD           = 32;  // a router advertisement or redirect of a host
const drop_reason_t DROP_DHCPV6_GUARD       = 33;  // a message of a DHCPv6 server or relay, from a host
const drop_reason_t DROP_DISCOVERY_FRAGMENT = 34;  // neighbour or router discovery of a host, in fragments (RFC 6980)
const drop_reason_t DROP_HIDDEN_HEADERS     = 35;  // of a host, behind a second tag or LLC
const drop_reason_t DROP_SOURCE_PREFIX      = 36;  // a source address that no host of its VLAN can have
const drop_reason_t DROP_SOURCE_BINDING     = 37;  // a source address, or one that it advertises, that is another's
const drop_reason_t DROP_SOURCE_LIMIT       = 38;  // a new source address behind a port that has enough, or gets them too fast
const drop_reason_t DROP_HOST_TUNNEL        = 39;  // out of a tunnel that a host began

// Routing. Next free: 50.
const drop_reason_t DROP_SOURCE_ADDRESS      = 40;  // a source address that is nobody's
const drop_reason_t DROP_DESTINATION_ADDRESS = 41;  // a destination that the router cannot have
const drop_reason_t DROP_LINK_LOCAL          = 42;  // a link-local address would leave its link
const drop_reason_t DROP_NO_ROUTE            = 43;  // no route
const drop_reason_t DROP_PROHIBITED          = 44;  // the route is prohibited
const drop_reason_t DROP_DISCARD             = 45;  // the route discards
const drop_reason_t DROP_HOP_LIMIT           = 46;  // the hop limit was used up
const drop_reason_t DROP_NO_NEXTHOP          = 47;  // the route's next hop is not there
const drop_reason_t DROP_PACKET_TOO_BIG      = 48;  // longer than the MTU
const drop_reason_t DROP_INTERFACE_UNKNOWN   = 49;  // no router interface where it would leave

// Limits. Next free: 65.
const drop_reason_t DROP_PUNT_RATE        = 60;  // too many for the controller, of its kind by its port
const drop_reason_t DROP_ERROR_NO_SOURCE  = 61;  // an ICMPv6 error from an interface that is gone
const drop_reason_t DROP_PUNT_SOURCE_RATE = 62;  // too many for the controller, from one source or of one session
const drop_reason_t DROP_PUNT_PORT_RATE   = 63;  // too many for the controller, by its port
const drop_reason_t DROP_PUNT_TOTAL_RATE  = 64;  // too many for the controller, by all ports

// Encapsulation. Next free: 84.
const drop_reason_t DROP_OPTION_PAST_END    = 70;  // a hop-by-hop option is longer than its header
const drop_reason_t DROP_SEGMENTS_WRONG     = 71;  // a segment list that contradicts itself
const drop_reason_t DROP_SEGMENTS_LEFT      = 72;  // a tunnel ends here, but its segments do not
const drop_reason_t DROP_UPPER_LAYER        = 73;  // to a segment of ours, with nothing inside that it takes
const drop_reason_t DROP_INNER_LENGTH       = 74;  // the packet in the tunnel is longer than the tunnel's payload
const drop_reason_t DROP_INNER_VERSION      = 75;  // the packet in the tunnel is of another IP version than it says
const drop_reason_t DROP_INNER_CONGESTION   = 76;  // the tunnel met congestion, its packet cannot say so (RFC 6040)
const drop_reason_t DROP_POLICY_UNKNOWN     = 77;  // a policy or source route that is not there
const drop_reason_t DROP_SOURCE_ROUTE_GROUP = 78;  // a source route with a group in it (RFC 6554)
const drop_reason_t DROP_INNER_HEADER       = 79;  // an IPv4 header in the tunnel that makes no sense
const drop_reason_t DROP_TRACE_FOREIGN      = 80;  // the controller's copy of a trace that is not ours (no loss)
const drop_reason_t DROP_SOURCE_ROUTE_LOOP  = 81;  // a source route that comes back to this router (RFC 6554)
const drop_reason_t DROP_SOURCE_ROUTE_LONG  = 82;  // a source route with more addresses than are looked at for loops
const drop_reason_t DROP_SEGMENT_HMAC       = 83;  // a segment list without the HMAC that is asked for, or with one of another segment

// Sessions. Next free: 98.
const drop_reason_t DROP_LOCATORS_UNPROVEN  = 90;  // a session's tag, with locators that are not proven for it
const drop_reason_t DROP_PAYLOAD_HEADER     = 91;  // a Shim6 payload header of a wrong length
const drop_reason_t DROP_KEEPALIVE_CHECKSUM = 92;  // a keepalive with a wrong checksum
const drop_reason_t DROP_PATH_UNKNOWN       = 93;  // its session is on a path that is not there
const drop_reason_t DROP_SESSION_UNKNOWN    = 94;  // the controller asks about what is no session
const drop_reason_t DROP_KEEPALIVE_HEARD    = 95;  // a peer's keepalive, which ends here (no loss)
const drop_reason_t DROP_KEEPALIVE_NOT_DUE  = 96;  // a keepalive of ours that was not needed (no loss)
const drop_reason_t DROP_CHECKED            = 97;  // a question of the controller (no loss)

// ILNP. Next free: 106.
const drop_reason_t DROP_NONCE_WRONG     = 100;  // a session's identities, with a nonce that is not its own
const drop_reason_t DROP_NONCE_LENGTH    = 101;  // a nonce that has neither 4 nor 12 octets
const drop_reason_t DROP_NONCE_TWICE     = 102;  // two nonces
const drop_reason_t DROP_NONCE_MISSING   = 103;  // without the nonce that would prove it (RFC 6741, section 11.1)
const drop_reason_t DROP_NONCE_BESIDE    = 104;  // a nonce beside other options
const drop_reason_t DROP_ILNP_FLOWS_FULL = 105;  // no place for another TCP flow with a nonce

// Site borders: all numbers up to those of HIP.
const drop_reason_t DROP_FLOW_HELD      = 110;  // its connection waits for a provider that failed a moment ago
const drop_reason_t DROP_BORDER_SOURCE  = 111;  // a source that cannot come from that side of the site's border
const drop_reason_t DROP_NO_PROVIDER    = 112;  // no provider that its policy allows works
const drop_reason_t DROP_FLOWS_FULL     = 113;  // by a provider that could not be remembered for the answer
const drop_reason_t DROP_UNTRANSLATABLE = 114;  // its address has no counterpart under the other prefix

// HIP and ESP. Next free: 117.
const drop_reason_t DROP_ESP_LOCATORS = 115;  // a session's ESP, with locators that are not proven for it
const drop_reason_t DROP_ESP_SHORT    = 116;  // ESP of or for a HIP host that is less than its header

// Scheduling. Next free: 129.
const drop_reason_t DROP_DUPLICATE_HELD  = 120;  // a duplicate acknowledgement, for what may still come (no loss)
const drop_reason_t DROP_REPORT_HEARD    = 121;  // a peer's report or probe of paths, which ends here (no loss)
const drop_reason_t DROP_REPORT_NEEDLESS = 122;  // a report of ours that another packet took along (no loss)
const drop_reason_t DROP_COPY_NEEDLESS   = 123;  // a copy of a packet that need not be sent (no loss)
const drop_reason_t DROP_HELD_FOR_ORDER  = 124;  // in the buffer until what was sent before it has come (no loss)
const drop_reason_t DROP_CAME_TWICE      = 125;  // sent again by another path, and has come by the first (no loss)
const drop_reason_t DROP_ELIMINATED      = 126;  // one of several copies that were sent at once, and another has come (no loss)
const drop_reason_t DROP_QUEUED          = 127;  // waits at the edge until a path has room (no loss)
const drop_reason_t DROP_QUEUE_FULL      = 128;  // no room to wait at the edge, or for too long

// Linux. Next free: 132.
const drop_reason_t DROP_LINUX_RATE = 130;  // too many for Linux, of its class by its port
const drop_reason_t DROP_LINUX_COPY = 131;  // a flood's copy that Linux has no use for (no loss)

// What strangers send to Linux, each class with a meter at each port. IPv4 that Linux routes is in none. Next free: 7.
const linux_class_t LINUX_DISCOVERY  = 0;  // neighbour, router and listener discovery
const linux_class_t LINUX_ARP        = 1;  // questions and answers of ARP
const linux_class_t LINUX_LINK_GROUP = 2;  // other groups of one link: routing protocols, VRRP, DHCPv6
const linux_class_t LINUX_BGP        = 3;  // sessions of BGP (TCP port 179)
const linux_class_t LINUX_UNICAST    = 4;  // other IPv6 to the router
const linux_class_t LINUX_GROUP      = 5;  // other groups, and IPv4 to all
const linux_class_t LINUX_OTHER      = 6;  // neither IP nor ARP

// Simple security (RFC 6092). Next free: 148.
const drop_reason_t DROP_UNSOLICITED_OPEN     = 140;  // a connection that begins outside, and no pinhole lets it in
const drop_reason_t DROP_UNSOLICITED          = 141;  // from outside, of no flow that began inside
const drop_reason_t DROP_UNSOLICITED_ERROR    = 142;  // an ICMPv6 error from outside, about no flow of the inside
const drop_reason_t DROP_UNSOLICITED_ECHO     = 143;  // an echo request from outside
const drop_reason_t DROP_UNSOLICITED_FRAGMENT = 144;  // a fragment from outside whose first one was not let in, or comes later
const drop_reason_t DROP_RECORDS_FULL         = 145;  // no place to remember it, so nothing could answer it
const drop_reason_t DROP_ROUTING_HEADER_0     = 146;  // a routing header of type 0 at the border (RFC 5095)
const drop_reason_t DROP_SEGMENTS_AT_BORDER   = 147;  // segments left in a routing header, for a host inside; or a source route that leaves

const punt_reason_t PUNT_NONE = 0;

// Next free: 35.
const punt_reason_t PUNT_LOCAL                   = 1;   // to an address of the router
const punt_reason_t PUNT_NEIGHBOUR_UNKNOWN       = 2;   // the next hop's MAC is not known
const punt_reason_t PUNT_ROUTER_SOLICITATION     = 3;   // a host asks for routers (RFC 4861)
const punt_reason_t PUNT_ROUTER_ADVERTISEMENT    = 4;   // another router says what it offers
const punt_reason_t PUNT_NEIGHBOUR_SOLICITATION  = 5;   // for an address of the router
const punt_reason_t PUNT_NEIGHBOUR_ADVERTISEMENT = 6;   // a neighbour says where it is
const punt_reason_t PUNT_INGRESS_MIRROR          = 7;   // a copy of what arrived by the port
const punt_reason_t PUNT_EGRESS_MIRROR           = 8;   // a copy of what leaves by the port
const punt_reason_t PUNT_TRACE                   = 9;   // a copy of a packet whose trace ends here
const punt_reason_t PUNT_LOOPBACK                = 10;  // a copy of a packet whose trace is to go back (RFC 9322)
const punt_reason_t PUNT_SHIM6                   = 11;  // a control message for a host that the edge speaks for
const punt_reason_t PUNT_SHIM6_VERIFY            = 12;  // one from or for a host that speaks itself, to be looked at
const punt_reason_t PUNT_SHIM6_UNKNOWN_TAG       = 13;  // payload of a session that is not known here
const punt_reason_t PUNT_SESSION_ERROR           = 14;  // an ICMPv6 error about a packet of a session
const punt_reason_t PUNT_SESSION_HELD            = 15;  // a copy of what a session sent, and what may be lost
const punt_reason_t PUNT_SESSION_REQUEST         = 16;  // ICMPv6 type 160 with a nonce, for a host that the edge speaks for
const punt_reason_t PUNT_LOCATOR_UPDATE          = 17;  // ICMPv6 type 156, the same
const punt_reason_t PUNT_NONCE_UNKNOWN           = 18;  // a copy of a packet whose nonce is that of no session, if it is wanted
const punt_reason_t PUNT_ILNP_ERROR              = 19;  // an ICMPv6 error about a packet that bore a nonce, or locators
const punt_reason_t PUNT_DHCPV6                  = 20;  // from a client to all servers
const punt_reason_t PUNT_HIP                     = 25;  // a HIP message for a host that the edge speaks for
const punt_reason_t PUNT_HIP_VERIFY              = 26;  // one from or for a host that speaks itself, to be looked at
const punt_reason_t PUNT_HIP_SEEN                = 27;  // a copy of one from or for a host that speaks itself
const punt_reason_t PUNT_SEGMENT_HMAC            = 28;  // a segment list with an HMAC that is not verified yet
const punt_reason_t PUNT_VRRP                    = 29;  // a copy of what another router of a virtual router advertises (RFC 9568)
const punt_reason_t PUNT_SOURCE_UNKNOWN          = 40;  // a copy of what a host sends from an address that is bound to nobody
const punt_reason_t PUNT_SOURCE_ELSEWHERE        = 41;  // a copy of what it sends, advertises or asks of one bound to another
// 48 to 63 are the controller's to give to protocols that P4 does not know, as reasons and as classes (protocol_punts).
const punt_reason_t PUNT_PROTOCOL                = 48;  // a message of such a protocol

// A punt's class is its reason, unless the tables know more of the packet. No class has the number of another's reason, and
// all are below 64. Next free: 39.
const punt_class_t CLASS_PROBE     = 35;  // own probe
const punt_class_t CLASS_NEIGHBOUR = 36;  // discovery of a known neighbour
const punt_class_t CLASS_SESSION   = 37;  // of a session that stands
const punt_class_t CLASS_HELD      = 38;  // session held

#endif
