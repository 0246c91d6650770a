// How much every object holds. A target may hold more, never less.

#ifndef WAYNAME_COMMON_SIZES_P4
#define WAYNAME_COMMON_SIZES_P4

// Ports: all that nine bits can name, so that no port lies outside an array. VLANs: all twelve bits can name, and on
// each one router interface. A port carries eight VLANs on average where all are in use; an edge has far fewer ports.
#define PORTS               512
#define VLANS               4096
#define VLAN_MEMBERS        4096

// FDB: a site of some thousand hosts with a few addresses each. Every MAC stands once as learned source and once as
// destination, so both tables have one size.
#define FDB_ENTRIES            16384

// Routes: a site's own prefixes, and those that its providers announce by BGP; half of a full Internet table.
#define ROUTES              131072
// Next hops: every neighbour may be one. ECMP: flows spread over at most 16 next hops; 1024 groups of 8 on average. Routes
// of routing daemons share groups: those by the same next hops have one.
#define NEXTHOPS            4096
#define ECMP_GROUPS             1024
#define ECMP_MEMBERS      8192
#define ECMP_GROUP_MEMBERS_MOST 16
// Neighbours: each host has a link-local, a stable and some temporary addresses.
#define NEIGHBOURS          32768
// Bindings of sources: as many as neighbours. Prefixes of hosts: link-local and some others on each of a thousand interfaces.
#define SOURCE_BINDINGS     32768
#define HOST_PREFIXES       8192
// The router's addresses that neighbours may ask for: link-local and two prefixes on each of a thousand interfaces.
#define OWN_ADDRESSES       4096

// Reasons are eight-bit numbers, so no reason lies outside an array.
#define REASONS             256
// Punts by class and port: 64 classes on 512 ports. Sources of punts by hash: two that share a slot share its rate.
#define PUNT_CLASSES        64
#define PUNT_CELLS          32768
#define PUNT_SOURCES        65536
// Classes of packets to Linux on 512 ports.
#define LINUX_CELLS         4096
// What messages of protocols that P4 does not know look like: some rules for each of sixteen.
#define PROTOCOL_PUNTS      64

// Extension headers in one packet. RFC 8200 recommends an order of at most seven headers, and mobility, HIP and Shim6 come on
// top; ten hold any such packet in any order. Each may be as long as its length octet can say: 2048 bytes, of which
// the first two are fields of their own.
#define EXTENSION_HEADERS   10
#define EXTENSION_BITS      16368

// Options before a trace. Nodes may give up after eight (RFC 8504, section 5.3).
#define OPTIONS             8
#define OPTION_BITS         2056
// A routing header but for its first eight octets.
#define ROUTING_BITS        16320

// Segments of a policy: four in its own entry, four in each of eight lists. 36 are more than fit beside 1500 bytes of
// payload in most networks.
#define SEGMENTS_OF_POLICY  4
#define SEGMENT_LIST_EXTENSIONS       8
#define SR_POLICIES            4096
#define SIDS                4096
// Segment lists whose HMAC is verified: of up to eight segments, which is as much as one key of a table should hold.
#define VERIFIED_SEGMENTS   4096
#define PROVEN_LIST_BITS    1024
#define HMAC_TLV_BITS       320
#define VRF_ROUTES        4096
#define IPV4_VRF_ROUTES         4096
#define SOURCE_ROUTES       1024
// Addresses of a source route that are looked at for loops: as many as 16 in 19 times 8 octets, the most that this router
// puts on itself, and for each of them the router's own addresses.
#define HOPS_CHECKED        16
#define HOPS_CHECKED_OCTETS 152
#define HOPS_CHECKED_BITS   1216
// Traces: a kind for each class of traffic. Namespaces: for each on all ports of an edge.
#define IOAM_TRACES              256
#define IOAM_NAMESPACES          1024
#define ENCAPSULATIONS      8192
#define ILA_ADDRESSES       16384

// Prefixes whose hosts have sessions, by provider and by kind of speaker; prefixes that choose a provider.
#define ENDPOINT_POLICIES             1024
// Hosts with an address of their own that are known by another: as many as MACs in the FDB.
#define STATIC_MAPPINGS        16384
#define SOURCE_POLICY_ROUTES     1024
// Sessions: a million, with two proven pairs of locators and as many paths each on average; few flows are forked. A
// session's number is an index of registers too: those with higher numbers are not watched.
#define SESSIONS            1048576
#define WATCHED_SESSIONS    131072
#define SESSION_PATHS       2097152
#define FORKS               16384
// Flows that may take a path of their own, and the paths that they take in sessions that have one.
#define PATH_POLICIES       64
#define PREFERRED_PATHS     1048576
// SPIs of ESP: each session has one in either direction, two in a rekey, at each locator of the receiver.
#define SPIS                1048576
// Schedules: one for each far site, whose sessions share it. Eight subflow slots for the paths of each.
#define SCHEDULES           16384
#define SUBFLOW_SLOTS     131072
#define SLOTS_OF_SCHEDULE   8
// TCP connections that schedules learn from, by hash, and packets on their way.
#define SCHEDULE_FLOWS      65536
#define IN_FLIGHT_PACKETS    262144
// Sessions whose packets are numbered by path, and packets of theirs of which a report may come.
#define NUMBERED_SESSIONS   16384
#define SESSION_SLOTS       131072
#define NUMBERED_PACKETS    262144
// Packets of which it is remembered that they came, by session and order.
#define ORDERED_PACKETS     262144
// Octets of copies of what is under way, and of what waits for what was sent before it: 4 MiB of a path or session is 100 Mbit/s for
// 0.3 s, with 128 octets for each packet beside its own.
#define REINJECTION_OCTETS          67108864
#define REINJECTION_OCTETS_OF_PATH  4194304
#define RESEQUENCING_OCTETS         67108864
#define RESEQUENCING_OCTETS_OF_SESSION 4194304
#define EDGE_QUEUE_OCTETS           67108864
#define EDGE_QUEUE_OCTETS_OF_SESSION 4194304
#define EDGE_TURN_OCTETS_OF_SCHEDULE 4194304
// TCP flows on their way to a session, each in one of two slots: what may be half open in a round trip under a flood.
#define ILNP_FLOWS          131072
// Pairs of addresses without a session that are looked at, at once.
#define MONITORED_PAIRS       65536
// Cells of flows that were heard within a minute, each in two: at 1000 new flows a second one beginning in 24 looks like an answer.
#define HEARD_FLOWS         262144
// Borders: the prefixes of a site and what is its own, policies, and for each policy 256 buckets of flows. Flows are
// remembered where their bucket does not say by which provider they go.
#define BORDER_SIDES        4
#define SITE_PREFIXES       4096
#define FLOW_POLICIES       512
#define HASH_BUCKETS_OF_POLICY   256
#define HASH_BUCKETS        16384
#define PROVIDERS           256
#define NPTV6_SOURCES        1024
#define FLOWS               131072
// Of those, the ones that the controller knows, for a switch that comes after this one.
#define ESTABLISHED_FLOWS   16384
// Sources of remembered flows, by hash, and how many slots one may hold for long: a 64th.
#define FLOW_SOURCES        16384
#define FLOWS_OF_SOURCE     2048
// Simple security: what is remembered of flows from inside, four slots for each, and their sources by hash. One source may keep a 64th
// against others. A site that opens 800 connections a second, each quiet for four minutes at its end, has them all.
#define FILTER_RECORDS      262144
#define FILTER_SOURCES      16384
#define RECORDS_OF_SOURCE   4096
// Connections from outside that were refused a moment ago, and fragmented packets that were let in.
#define REFUSED_OPENS       16384
#define ADMITTED_FRAGMENTS  16384
#define PINHOLES            1024
// Hosts with an address of their own, which stands for an identity.
#define MAPPINGS            16384

// The part of a packet that an ICMPv6 error quotes: what a message of the least IPv6 MTU (1280) holds beside its IPv6
// and ICMPv6 headers (RFC 4443, section 2.4 c). In bits and in bytes.
#define QUOTE_BITS          9856
#define QUOTE_BYTES         1232

#endif
