// How much every object holds. A target may hold more, never less.

#ifndef WAYNAME_SIZES_P4
#define WAYNAME_SIZES_P4

// Ports: all that nine bits can name, so that no port lies outside an array. VLANs: all twelve bits can name, and on
// each one router interface. A port carries eight VLANs on average where all are in use; an edge has far fewer ports.
#define PORTS               512
#define VLANS               4096
#define VLAN_MEMBERS        4096

// Stations: a site of some thousand hosts with a few addresses each. Every station stands once as source and once as
// destination, so both tables have one size.
#define STATIONS            16384

// Routes: a site's own prefixes, those of its providers, and policies; not a full Internet table.
#define ROUTES              32768
// Next hops: every neighbour may be one. Flows spread over at most 16 next hops; 256 spreads of 8 on average.
#define NEXTHOPS            4096
#define SPREADS             256
#define SPREAD_MEMBERS      2048
#define SPREAD_MEMBERS_MOST 16
// Neighbours: each host has a link-local, a stable and some temporary addresses.
#define NEIGHBOURS          32768
// The router's addresses that neighbours may ask for: link-local and two prefixes on each of a thousand interfaces.
#define OWN_ADDRESSES       4096

// Reasons are eight-bit numbers, so no reason lies outside an array.
#define REASONS             256

// Extension headers in one packet. RFC 8200 recommends an order of at most seven headers, and mobility, HIP and Shim6 come on
// top; ten hold any such packet in any order. Each may be as long as its length octet can say: 2048 bytes, of which
// the first two are fields of their own.
#define EXTENSION_HEADERS   10
#define EXTENSION_BITS      16368

// The part of a packet that an ICMPv6 error quotes: what a message of the least IPv6 MTU (1280) holds beside its IPv6
// and ICMPv6 headers (RFC 4443, section 2.4 c). In bits and in bytes.
#define QUOTE_BITS          9856
#define QUOTE_BYTES         1232

#endif
