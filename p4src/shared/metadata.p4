// What is known about a packet beside its headers. Ingress decides and writes it down here; egress carries it out.

#ifndef WAYNAME_METADATA_P4
#define WAYNAME_METADATA_P4

// Lists of fields that live on when the architecture starts a packet again: for the second pass of a packet that an
// ICMPv6 error answers, and for a copy to the controller.
#define FIELDS_OF_ERROR 1
#define FIELDS_OF_PUNT  2

// The parser's way along the extension headers.
struct chain_t {
    bit<8> next_header;     // of what comes next; in the end, of the upper layer
    bit<8> count;           // extension headers so far
    bit<16> left;           // bytes of payload not yet walked
    bit<16> size;           // of the header at hand
    bool crossed;           // the comparison at hand
    bool unknown;           // an unknown header was skipped: what follows is a guess
}

// What tells flows apart; 0 where the packet does not say.
struct flow_t {
    bit<8> next_header;
    bit<16> source_port;
    bit<16> destination_port;
}

// The ICMPv6 message in the packet, if the whole packet is here.
struct icmpv6_t {
    bit<8> type;
    bit<8> code;
    ipv6_address_t target;
    bit<8> quoted_next_header;  // of an error, of the packet that it is about
    bit<64> quoted_upper_layer; // and what stands behind its IPv6 header
}

// The router interface on the packet's VLAN; an address of 0 says that there is none.
struct interface_t {
    mac_address_t mac;
    ipv6_address_t address;
}

// Where a routed packet goes next.
struct next_t {
    nexthop_id_t nexthop;
    spread_id_t spread;
    vlan_id_t vlan;
    ipv6_address_t address;
    route_table_t route_table;      // to look the destination up in
    ipv6_address_t destination;     // of the outermost header that it will have
}

// The ICMPv6 error that answers the packet; a type of 0 is none.
struct refusal_t {
    @field_list(FIELDS_OF_ERROR) bit<8> type;
    @field_list(FIELDS_OF_ERROR) bit<8> code;
    @field_list(FIELDS_OF_ERROR) bit<16> parameter;     // an MTU, or where in the packet the problem is
    @field_list(FIELDS_OF_ERROR) bit<16> skipped;       // octets of a tunnel's headers, which the sender does not know
    ipv6_address_t receiver;
    bit<16> quote_bytes;
}

// For egress.
struct egress_t {
    port_t port;                // in egress, of this copy
    group_t group;              // 0: to the port
    vlan_id_t vlan;             // that it leaves in
    bool flood;                 // to the VLAN's group
    bool as_it_is;              // leave tag and addresses alone
    bool routed;                // new addresses below IPv6, one hop less
    mac_address_t destination;
    @field_list(FIELDS_OF_PUNT) bit<16> cut;    // to this many bytes; 0: not
    bool copy;                  // a copy of it as it leaves goes to the controller
}

// The trace in the packet's hop-by-hop options.
struct trace_t {
    @field_list(FIELDS_OF_PUNT) bool slot;      // room for this node
    @field_list(FIELDS_OF_PUNT) bool full;      // it is sound, and has none
}

// What a packet with a direct export option has exported (RFC 9326).
struct export_t {
    bool asked;             // also where the tunnel that asked has ended
    bool wanted;
    bit<16> namespace;
    bit<24> type;
    bit<32> flow;           // 0 where the option has none
    bit<32> sequence;
    bit<24> node;
    bit<32> data;
    bit<64> time;           // of arrival: POSIX, in microseconds
}

// The first routing header with segments or a source route; its type is 0 if there is none.
struct routing_t {
    bit<8> type;
    bit<8> index;           // extension headers before it
    bit<16> size;
    bit<8> left;            // segments
    bool wrong;             // its numbers contradict each other
    bit<16> pointer;        // where in the packet `segments left` stands
    bool hop;               // the packet is at a hop of a source route
    bit<5> octets;          // of the address that comes next on the wire
    bit<4> left_out;        // and before them, as the destination has them
}

// The packet's first Shim6 header, if it is not in a fragment.
struct shim6_t {
    bit<8> kind;            // SHIM6_*
    bit<8> next_header;
    bit<8> length;
    bit<8> place;           // extension headers before it
    bool behind;            // the routing header
    bool sound;             // a keepalive with the right checksum
    context_tag_t tag;
}

// The nonce in a packet's destination options, and what is to become of it.
struct ilnp_t {
    bit<8> kind;                // NONCE_*
    bit<8> octets;
    nonce_t nonce;
    bit<8> next_header;         // of the header that it stands in
    bit<16> size;
    bit<8> place;               // extension headers before it
    bool behind;                // the routing header
    bool alone;                 // but for padding
    bool quoted;                // an ICMPv6 error is about a packet with one
    bool known;                 // it is that of a session
    bool to_take;               // it is to be taken off
    bool to_put;                // one is to be put on
    bit<8> octets_to_put;
    nonce_t nonce_to_put;
    bool rewritten;             // other addresses, or another checksum
    ipv6_address_t source;
    ipv6_address_t destination;
    bit<16> difference;         // that this makes to the checksums of transports
    bool to_admit;              // a TCP flow is of no session yet
    bool admitted;              // it has shown that both ends are there
    bit<8> opened_here;
    nonce_t nonce_to_peer;
    nonce_t nonce_from_peer;
}

// Who speaks for the hosts of a prefix.
const bit<8> SPEAKER_NONE    = 0;
const bit<8> SPEAKER_EDGE    = 1;       // this edge
const bit<8> SPEAKER_HOST    = 2;       // the host itself
const bit<8> SPEAKER_CHECKED = 3;       // the host itself, and the controller looks at what it says

// What an edge speaks for hosts: sums of these.
const bit<8> PROTOCOL_SHIM6 = 1;
const bit<8> PROTOCOL_ILNP  = 2;
const bit<8> PROTOCOL_NAIVE = 4;        // packets with a nonce that is not known are copied to the controller
const bit<8> PROTOCOL_HOSTS = 8;        // the hosts speak ILNP themselves: nonces and messages are theirs

// Which way a session's packet goes.
const bit<8> SESSION_NONE = 0;
const bit<8> SESSION_SENT = 1;          // to the peer
const bit<8> SESSION_HEARD = 2;         // from the peer

// What else becomes of a session's packets: sums of these.
const bit<8> MODE_REPORT = 1;           // those of the peer are told to the controller
const bit<8> MODE_FOLLOW = 2;           // the session moves as the peer moves
const bit<8> MODE_HOLD   = 4;           // what may get lost is copied to the controller
const bit<8> MODE_SCHEDULE = 8;         // each packet's path is chosen for itself
const bit<8> MODE_ILNP   = 16;          // the peer has a nonce: one of others is forged, and so are errors without
const bit<8> MODE_OPEN   = 32;          // TCP flows of hosts here are to be admitted

// What the controller is told of a session.
const bit<8> NEWS_NONE       = 0;
const bit<8> NEWS_WATCH      = 1;       // a packet is not answered yet: look again when it should be
const bit<8> NEWS_SILENT     = 2;       // a packet was heard and nothing sent since: a keepalive may be due
const bit<8> NEWS_LEFT_PATH  = 3;       // not answered in time, and moved to a backup
const bit<8> NEWS_UNANSWERED = 4;       // not answered in time, and there is no backup
const bit<8> NEWS_FOLLOWED   = 5;       // moved as the peer moved
const bit<8> NEWS_HEARD      = 6;       // something came by a path

// The session that a packet belongs to.
struct session_t {
    bit<8> source_speaker;          // SPEAKER_*
    bit<8> destination_speaker;
    bit<8> source_protocols;        // PROTOCOL_*
    bit<8> destination_protocols;
    bit<8> direction;               // SESSION_*
    bit<8> request;                 // of the controller: PACKET_OUT_KEEPALIVE or PACKET_OUT_CHECK
    session_id_t number;
    ipv6_address_t local;           // identities: what hosts and transports see
    ipv6_address_t remote;
    bool forked;                    // from the peer, in a forked session
    path_t choice;                  // the controller's
    path_t path;                    // that it goes by, or came by
    bool path_known;
    bit<8> generation;              // of the controller's choice of a path
    bit<4> spread;                  // flows go over so many paths; 0: all by one
    bit<32> send_timeout;           // microseconds; 0: nobody waits for an answer
    bit<32> keepalive;              // microseconds; 0: no keepalives
    bit<8> mode;                    // MODE_*
    route_table_t route_table;      // the path's way out
    bool with_header;               // goes with a payload header
    context_tag_t tag;              // in it
    bit<32> enough_bytes;           // for the sender to be worth a session
    bit<32> enough_time;            // microseconds
    bit<16> added;                  // octets of that header, put on
    bit<16> taken;                  // or taken off
    bit<16> reserved;               // that another path would put on
}

// How a schedule chooses.
const bit<8> POLICY_NONE                 = 0;
const bit<8> POLICY_FASTEST_FIRST        = 1;
const bit<8> POLICY_WEIGHTED_ROUND_ROBIN = 2;
const bit<8> POLICY_PER_FLOW             = 3;

// What acknowledgements change: sums of these.
const bit<8> FEEDBACK_FOLLOW = 1;       // what is known of a path
const bit<8> FEEDBACK_CLOSE  = 2;       // whether it is open

// What an acknowledgement, or something sent again, says of the connection.
const bit<8> ANSWER_NONE       = 0;
const bit<8> ANSWER_REGULAR    = 1;     // nothing was missing
const bit<8> ANSWER_FILLED     = 2;     // what was missing has come
const bit<8> ANSWER_CUMULATIVE = 3;     // what was lost has come in its second or later attempt
const bit<8> ANSWER_LOST       = 4;     // a packet was lost

// And so of a path.
const bit<8> VERDICT_NONE     = 0;
const bit<8> VERDICT_MEASURED = 1;      // its mark is answered
const bit<8> VERDICT_COVERED  = 2;      // its mark has arrived; nobody knows when
const bit<8> VERDICT_LOST     = 3;      // it lost a packet

// What the controller is told of a path.
const bit<8> PATH_NEWS_NONE      = 0;
const bit<8> PATH_NEWS_LATE      = 1;   // closed: its mark came late
const bit<8> PATH_NEWS_LOST      = 2;   // closed: a packet was lost
const bit<8> PATH_NEWS_OPENED    = 3;
const bit<8> PATH_NEWS_ESTIMATED = 4;   // something is known of it

// The schedule of the packet's session.
struct schedule_t {
    bit<8> policy;                  // POLICY_*
    schedule_id_t number;
    bit<8> generation;
    bit<4> paths;
    bit<8> framing;                 // octets that links add to each packet
    bit<8> feedback;                // FEEDBACK_*
    bit<32> tolerance;              // microseconds that a marked packet may be late
    bit<32> probe_interval;         // microseconds
    bit<32> flow;                   // slot of the TCP connection
    bit<32> sequence;               // the first octet that is sent, or the one that is wanted
    bit<32> ends;                   // the one behind what is sent
    bit<32> advance;                // octets that were not acknowledged before
    bool holes;                     // the receiver may have held what is acknowledged
    bool fresh;                     // data that was not sent before
    bit<8> answer;                  // ANSWER_*
    bit<8> verdict;                 // VERDICT_*
    bit<32> place;                  // of the path that it is about, or that was chosen
    bool probe;                     // it is, or answers, the packet that a closed path gets
    bool ahead;                     // it may have come before what was sent before it
    bool busy;                      // something else waited for the path
    fine_time_t delivery;           // when it should be delivered
    fine_time_t work;               // what the path had been given to do until then
}

// What the controller is told of a path.
struct path_news_t {
    bit<8> kind;                    // PATH_NEWS_*
    bit<8> place;
    path_t path;
    bit<32> late;                   // microseconds, in two's complement
    bit<32> delay;                  // microseconds, as it is now
    bit<32> octet_time;             // 2^-24 microseconds, as it is now
}

// What the controller is told.
struct news_t {
    bit<8> kind;                    // NEWS_*
    path_t path_from;
    path_t path_to;
    bit<48> age;                    // microseconds
}

// Two addresses without a session that are worth one, for the controller.
struct pair_t {
    bool active;
    ipv6_address_t source;
    ipv6_address_t destination;
    bit<32> bytes;
    bit<48> age;                    // microseconds
}

// Where a packet came from, on the border of a site.
const bit<8> SIDE_NONE    = 0;          // no border here
const bit<8> SIDE_INSIDE  = 1;
const bit<8> SIDE_OUTSIDE = 2;

// Which way it crosses.
const bit<8> BORDER_STAYS   = 0;
const bit<8> BORDER_OUT     = 1;
const bit<8> BORDER_IN      = 2;
const bit<8> BORDER_HAIRPIN = 3;        // from inside to an address that a provider gave to the inside

// Whether a provider works.
const bit<8> PROVIDER_WORKS  = 0;
const bit<8> PROVIDER_HELD   = 1;       // failed a moment ago: connections over it wait
const bit<8> PROVIDER_FAILED = 2;       // connections over it are lost

// How a prefix becomes another one of its length (RFC 6296).
struct prefix_change_t {
    bool wanted;
    ipv6_address_t old;
    ipv6_address_t new;
    ipv6_address_t mask;        // of the bits that change
    bit<16> difference;         // what one word takes up
    bit<1> in_subnet;           // the fourth; else one of the interface identifier
}

// A packet that crosses a site's border.
struct border_t {
    bit<8> side;                // SIDE_*
    bit<8> way;                 // BORDER_*
    bit<16> site;
    bit<8> provider;            // by which it goes, or came
    ipv6_address_t local;       // its flow, as hosts inside see it
    ipv6_address_t remote;
    bit<8> next_header;
    bit<16> local_port;
    bit<16> remote_port;
    prefix_change_t source;
    prefix_change_t destination;
    ipv6_address_t inside;      // what the destination becomes
    ipv6_address_t quoted_source;
}

// What becomes of flows whose provider failed.
const bit<8> FLOW_NEWS_NONE = 0;
const bit<8> FLOW_NEWS_HELD = 1;        // what its host sends is dropped for now
const bit<8> FLOW_NEWS_MOVED = 2;       // it goes by another provider, so with another address

struct flow_news_of_packet_t {
    bit<8> kind;                // FLOW_NEWS_*
    bit<8> provider_from;
    bit<8> provider_to;
}

const bit<8> ENCAPSULATE_NONE           = 0;
const bit<8> ENCAPSULATE_INLINE         = 1;
const bit<8> ENCAPSULATE_TUNNEL         = 2;
const bit<8> ENCAPSULATE_AUTO           = 3;    // inline into the router's own packets, a tunnel for all others
const bit<8> ENCAPSULATE_TUNNEL_REDUCED = 4;
const bit<8> ENCAPSULATE_FRAME          = 5;    // a tunnel for the frame as it came in
const bit<8> ENCAPSULATE_FRAME_REDUCED  = 6;
const bit<8> TRANSLATE_LOCATOR          = 7;

// What this router puts before a packet, or into it.
struct encapsulation_t {
    bit<8> mode;                        // ENCAPSULATE_*
    policy_id_t policy;
    trace_id_t trace;
    source_route_id_t source_route;
    bit<16> size;                       // octets that it adds
    bool reduced;                       // leaves the first segment out of the list
    bit<64> locator;
    bit<1> neutral;
    ipv6_address_t source;
    ipv6_address_t destination;
}

struct metadata_t {
    @field_list(FIELDS_OF_ERROR, FIELDS_OF_PUNT) port_t ingress_port;
    @field_list(FIELDS_OF_PUNT) vlan_id_t vlan;
    @field_list(FIELDS_OF_PUNT) punt_reason_t punt;
    bool punt_copy;             // the controller gets a copy, the packet goes on
    @field_list(FIELDS_OF_PUNT) bool captured;  // another copy is due when it leaves for the controller
    drop_reason_t fault;        // found by the parser
    drop_reason_t drop;
    @field_list(FIELDS_OF_ERROR) bool from_controller;  // a packet_out header stands before the packet
    @field_list(FIELDS_OF_PUNT) bit<48> arrived;    // in microseconds, by the clock of the switch
    bit<48> departed;
    bit<32> queue;              // packets that waited when it departed
    bool settled;               // dropped, or the controller's: no later stage need look at it
    bool out_of_tunnel;         // `ipv6` is the header of the packet that was inside
    bool learn;                 // its station is new here
    bit<32> length;             // bytes received, a packet_out header among them
    bool fragmented;            // a part of a packet
    bool first_fragment;
    chain_t chain;
    flow_t flow;
    icmpv6_t icmpv6;
    bit<8> inner_icmpv6_type;   // of a message in a tunnel
    trace_t trace;
    export_t export;
    routing_t routing;
    shim6_t shim6;
    ilnp_t ilnp;
    hip_t hip;
    session_t session;
    schedule_t schedule;
    path_news_t path_news;
    news_t news;
    pair_t pair;
    border_t border;
    flow_news_of_packet_t flow_news;
    encapsulation_t encapsulation;
    interface_t interface;
    next_t next;
    refusal_t refusal;
    egress_t egress;
}

// Where a station was seen, for the controller. A digest takes no @id: its id comes of its name.
@name("learn")
struct learn_t {
    port_t port;
    vlan_id_t vlan;
    mac_address_t source;
}

// What a node exports of a packet, for the controller.
@name("direct_export")
struct direct_export_t {
    bit<16> namespace;
    bit<24> type;
    bit<32> flow;
    bit<32> sequence;
    bit<24> node;
    bit<8> hop_limit;
    port_t ingress_port;
    port_t egress_port;
    bit<64> time;
    bit<32> data;
}

// What became of a session, for the controller.
@name("session_news")
struct session_news_t {
    bit<8> kind;                    // NEWS_*
    session_id_t session;
    path_t path_from;
    path_t path_to;
    bit<48> age;                    // microseconds since the first packet that was not answered
}

// What became of a path, for the controller.
@name("schedule_news")
struct schedule_news_t {
    bit<8> kind;                    // PATH_NEWS_*
    schedule_id_t schedule;
    session_id_t session;           // that it was seen by
    bit<8> place;
    path_t path;                    // of that session
    bit<32> late;
    bit<32> delay;
    bit<32> octet_time;
}

// Two addresses that exchange enough to be worth a session, for the controller.
@name("pair_active")
struct pair_active_t {
    ipv6_address_t source;
    ipv6_address_t destination;
    bit<32> bytes;
    bit<48> age;                    // microseconds
}

// A TCP flow whose ends have shown that they are there, for the controller.
@name("ilnp_flow")
struct ilnp_flow_t {
    ipv6_address_t local;
    ipv6_address_t remote;
    nonce_t nonce_to_peer;
    nonce_t nonce_from_peer;
    bit<8> nonce_octets;
    bit<8> opened_here;             // 1: by the host here
}

// A flow whose provider failed, for the controller.
@name("flow_news")
struct flow_news_t {
    bit<8> kind;                    // FLOW_NEWS_*
    bit<8> provider_from;
    bit<8> provider_to;
    bit<16> site;
    ipv6_address_t local;
    ipv6_address_t remote;
    bit<8> next_header;
    bit<16> local_port;
    bit<16> remote_port;
}

// The packet ends here.
void drop(inout metadata_t meta, in drop_reason_t reason) {
    meta.settled = true;
    meta.drop = reason;
}

// The packet ends here, and its sender is told.
void refuse(inout metadata_t meta, in drop_reason_t reason, in bit<8> type, in bit<8> code) {
    drop(meta, reason);
    meta.refusal.type = type;
    meta.refusal.code = code;
}

// The controller gets the packet.
void trap(inout metadata_t meta, in punt_reason_t reason) {
    meta.settled = true;
    meta.punt = reason;
    meta.punt_copy = false;
}

// The controller gets a copy.
void mirror(inout metadata_t meta, in punt_reason_t reason) {
    meta.punt_copy = true;
    meta.punt = reason;
}

#endif
