// Types and numbers of the wire that every file may use.

#ifndef WAYNAME_COMMON_TYPES_P4
#define WAYNAME_COMMON_TYPES_P4

typedef bit<9>   port_t;
typedef bit<16>  group_t;           // a multicast group
typedef bit<12>  vlan_id_t;         // a VLAN, and the router interface on it
typedef bit<48>  mac_address_t;
typedef bit<128> ipv6_address_t;
typedef bit<32>  ipv4_address_t;
typedef bit<16>  nexthop_id_t;
typedef bit<16>  ecmp_group_id_t;   // several next hops that share a route's flows
typedef bit<16>  vrf_id_t;          // routes beside the main ones, which are 0
typedef bit<16>  policy_id_t;       // a list of segments; 0 is none
typedef bit<16>  trace_id_t;        // a trace that packets get; 0 is none
typedef bit<16>  source_route_id_t; // a list of RPL hops; 0 is none
typedef bit<32>  session_id_t;      // also an index of registers; 0 is none
typedef bit<14>  schedule_id_t;     // also an index of registers
typedef bit<64>  fine_time_t;       // 2^-16 microseconds, by the clock of the switch
typedef bit<4>   path_t;            // of a session: a pair of locators and a way out
typedef bit<47>  context_tag_t;     // names a session to whoever receives it (RFC 5533)
typedef bit<64>  identifier_t;      // the last half of an address (RFC 6741)
typedef bit<96>  nonce_t;           // of a session between identifiers (RFC 6744); 0 is none
typedef bit<8>   drop_reason_t;
typedef bit<8>   punt_reason_t;
typedef bit<8>   punt_class_t;      // also an index of meters, with the port: below 64
typedef bit<3>   linux_class_t;     // also an index of meters, with the port
typedef bit<2>   colour_t;

const colour_t COLOUR_RED = 2;

const bit<16> ETHERTYPE_VLAN = 0x8100;
const bit<16> ETHERTYPE_IPV6 = 0x86DD;
const bit<16> ETHERTYPE_IPV4 = 0x0800;
const bit<16> ETHERTYPE_ARP  = 0x0806;
// Tags that are payload here, and the least number that is a type and not the length of an LLC frame (IEEE 802.3).
const bit<16> ETHERTYPE_SERVICE_VLAN     = 0x88A8;
const bit<16> ETHERTYPE_OLD_SERVICE_VLAN = 0x9100;
const bit<16> ETHERTYPE_LEAST            = 0x0600;

// Groups by MAC: what no bridge passes on (IEEE 802.1Q, 8.6.3), and IPv4's of one link, 224.0.0.0/24. IPv6's of one link (RFC 4291).
const bit<44> RESERVED_GROUPS  = 0x0180C200000;
const bit<40> LINK_GROUPS_IPV4 = 0x01005E0000;
const bit<16> LINK_GROUPS      = 0xFF02;

// Next header values: the registered extension headers, and the upper layers that begin with two ports.
const bit<8> NEXT_HOP_BY_HOP     = 0;
const bit<8> NEXT_IPV4           = 4;
const bit<8> NEXT_TCP            = 6;
const bit<8> NEXT_UDP            = 17;
const bit<8> NEXT_DCCP           = 33;
const bit<8> NEXT_IPV6           = 41;
const bit<8> NEXT_ROUTING        = 43;
const bit<8> NEXT_FRAGMENT       = 44;
const bit<8> NEXT_ESP            = 50;
const bit<8> NEXT_AUTHENTICATION = 51;
const bit<8> NEXT_ICMPV6         = 58;
const bit<8> NEXT_NONE           = 59;
const bit<8> NEXT_DESTINATION    = 60;
const bit<8> NEXT_VRRP           = 112;
const bit<8> NEXT_SCTP           = 132;
const bit<8> NEXT_MOBILITY       = 135;
const bit<8> NEXT_UDP_LITE       = 136;
const bit<8> NEXT_HIP            = 139;
const bit<8> NEXT_SHIM6          = 140;
const bit<8> NEXT_ETHERNET       = 143;
// Not assigned as this is written, and the two for experiments: an extension header if it has the form of one.
#define NEXT_UNKNOWN 148 .. 254

const bit<8> ICMPV6_UNREACHABLE            = 1;
const bit<8> ICMPV6_PACKET_TOO_BIG         = 2;
const bit<8> ICMPV6_TIME_EXCEEDED          = 3;
const bit<8> ICMPV6_PARAMETER_PROBLEM      = 4;
const bit<8> ICMPV6_ECHO_REQUEST           = 128;
const bit<8> ICMPV6_ECHO_REPLY             = 129;
const bit<8> ICMPV6_ROUTER_SOLICITATION    = 133;
const bit<8> ICMPV6_ROUTER_ADVERTISEMENT   = 134;
const bit<8> ICMPV6_NEIGHBOUR_SOLICITATION = 135;
const bit<8> ICMPV6_NEIGHBOUR_ADVERTISEMENT = 136;
const bit<8> ICMPV6_REDIRECT               = 137;

const bit<10> LINK_LOCAL_PREFIX = 0x3FA;    // fe80::/10

// Codes of "destination unreachable".
const bit<8> UNREACHABLE_NO_ROUTE     = 0;
const bit<8> UNREACHABLE_PROHIBITED   = 1;
const bit<8> UNREACHABLE_BEYOND_SCOPE = 2;

// Codes of "parameter problem": a field is wrong (RFC 4443), and nothing here takes the upper layer (RFC 8754).
const bit<8> PARAMETER_FIELD       = 0;
const bit<8> PARAMETER_UPPER_LAYER = 4;

// TCP's flags.
const bit<8> TCP_FIN = 0x01;
const bit<8> TCP_SYN = 0x02;
const bit<8> TCP_RST = 0x04;
const bit<8> TCP_ACK = 0x10;

// Types of routing headers.
const bit<8> ROUTING_DEPRECATED   = 0;
const bit<8> ROUTING_HOME_ADDRESS = 2;
const bit<8> ROUTING_SOURCE_ROUTE = 3;
const bit<8> ROUTING_SEGMENTS     = 4;

const bit<8> SEGMENT_TLV_HMAC = 5;

// Hop-by-hop options, and what of in-situ OAM they hold.
const bit<8> OPTION_PAD_1         = 0;
const bit<8> OPTION_IOAM_CHANGING = 0x31;
const bit<8> OPTION_IOAM_FIXED    = 0x11;
const bit<8> IOAM_TRACE           = 0;
const bit<8> IOAM_DIRECT_EXPORT   = 4;

const bit<16> ETHERNET_BYTES = 14;
const bit<16> VLAN_BYTES     = 4;
const bit<16> IPV6_BYTES     = 40;
const bit<16> IPV4_BYTES     = 20;
const bit<16> IPV6_LEAST_MTU = 1280;
const bit<16> IPV6_SOURCE_OFFSET = 8;     // where the source stands
const bit<16> ICMPV6_BYTES   = 8;
const bit<16> TCP_BYTES      = 20;
const bit<16> ECHO_BYTES     = 16;        // with its mark
const bit<16> PROBE_NONCE_BYTES = 16;     // the mark is the first half of it

// Hop limit of packets that the switch makes, and of discovery, which no router may have passed on (RFC 4861).
const bit<8> HOP_LIMIT_OWN       = 64;
const bit<8> HOP_LIMIT_DISCOVERY = 255;

// All DHCPv6 relays and servers, where they listen, and where clients do (RFC 8415, section 7).
const ipv6_address_t DHCPV6_SERVERS   = 128w0xFF02_0000_0000_0000_0000_0000_0001_0002;
const bit<16> PORT_DHCPV6_SERVER      = 547;
const bit<16> PORT_DHCPV6_CLIENT      = 546;

const bit<16> PORT_BGP = 179;
const bit<16> PORT_QUIC = 443;

// All virtual routers of a link; no router may have passed on what says so (RFC 9568, section 5.1.2).
const ipv6_address_t VRRP_ROUTERS = 128w0xFF02_0000_0000_0000_0000_0000_0000_0012;
const bit<8> HOP_LIMIT_VRRP       = 255;
#define IS_VRRP(hdr) (hdr.ipv6.isValid() && hdr.ipv6.next_header == NEXT_VRRP && hdr.ipv6.destination == VRRP_ROUTERS)

// Neighbour and router discovery, and multicast listener discovery (RFC 4861, RFC 9777).
#define IS_DISCOVERY(type) ((type >= 130 && type <= ICMPV6_REDIRECT) || type == 143)

#endif
