// The session that a packet belongs to, who speaks for its ends, and what the controller is told of it.

#ifndef WAYNAME_SESSIONS_METADATA_P4
#define WAYNAME_SESSIONS_METADATA_P4

#include "../common/packet_metadata.p4"
#include "../common/types.p4"

// Who speaks for the hosts of a prefix.
const bit<8> SPEAKER_NONE    = 0;
const bit<8> SPEAKER_EDGE    = 1;       // this edge
const bit<8> SPEAKER_HOST    = 2;       // the host itself
const bit<8> SPEAKER_CHECKED = 3;       // the host itself, and the controller looks at what it says

// What an edge speaks for hosts: sums of these.
typedef bit<8> host_protocols_t;
const host_protocols_t PROTOCOL_SHIM6 = 1;   // the edge speaks Shim6 for them
const host_protocols_t PROTOCOL_ILNP  = 2;   // and ILNP
const host_protocols_t PROTOCOL_NAIVE = 4;   // packets with a nonce that is not known are copied to the controller
const host_protocols_t PROTOCOL_HOSTS = 8;   // the hosts speak ILNP themselves: nonces and messages are theirs
const host_protocols_t PROTOCOL_OPEN  = 16;  // the hosts' TCP opens with a nonce, to who is known to take it

// The packet's first Shim6 header, if it is not in a fragment.
struct shim6_t {
    bit<8> kind;            // SHIM6_*
    bit<8> next_header;
    bit<8> length;
    bit<8> index;           // extension headers before it
    bool behind;            // the routing header
    bool sound;             // a keepalive with the right checksum
    bool of_context;        // a control message that names the receiver's context
    context_tag_t tag;
}

// Which way a session's packet goes.
const bit<8> SESSION_NONE     = 0;
const bit<8> SESSION_OUTBOUND = 1;      // to the peer
const bit<8> SESSION_INBOUND = 2;       // from the peer

// What else becomes of a session's packets: sums of these.
typedef bit<8> session_mode_t;
const session_mode_t MODE_REPORT   = 1;   // those of the peer are told to the controller
const session_mode_t MODE_FOLLOW   = 2;   // the session moves as the peer moves
const session_mode_t MODE_HOLD     = 4;   // what may get lost is copied to the controller
const session_mode_t MODE_SCHEDULE = 8;   // each packet's path is chosen for itself
const session_mode_t MODE_ILNP     = 16;  // the peer has a nonce: one of others is forged, and so are errors without
const session_mode_t MODE_PREFER   = 32;  // some flows take a path of their own
const session_mode_t MODE_ORDER    = 128; // numbered packets that want to come in order say it, and are sent again if their path dies
const session_mode_t MODE_NUMBER   = 64;  // packets are numbered by path, each end reports what came; paths but ESP's bear the session's header

// What the controller is told of a session.
typedef bit<8> session_event_kind_t;
const session_event_kind_t SESSION_EVENT_NONE       = 0;
const session_event_kind_t SESSION_EVENT_WATCH      = 1;  // a packet is not answered yet: look again when it should be
const session_event_kind_t SESSION_EVENT_SILENT     = 2;  // a packet was heard and nothing sent since: a keepalive may be due
const session_event_kind_t SESSION_EVENT_LEFT_PATH  = 3;  // not answered in time, and moved to a backup
const session_event_kind_t SESSION_EVENT_UNANSWERED = 4;  // not answered in time, and there is no backup
const session_event_kind_t SESSION_EVENT_FOLLOWED   = 5;  // moved as the peer moved
const session_event_kind_t SESSION_EVENT_HEARD      = 6;  // something came by a path

// The session that a packet belongs to.
struct session_t {
    bit<8> source_speaker;          // SPEAKER_*
    bit<8> destination_speaker;
    bit<8> source_protocols;        // PROTOCOL_*
    bit<8> destination_protocols;
    bit<8> direction;               // SESSION_*
    bit<8> request;                 // of the controller: PACKET_OUT_KEEPALIVE or PACKET_OUT_CHECK
    session_id_t number;
    @field_list(FIELDS_OF_CLONE) ipv6_address_t local;     // identities: what hosts and transports see
    @field_list(FIELDS_OF_CLONE) ipv6_address_t remote;
    bool forked;                    // from the peer, in a forked session
    path_t choice;                  // the controller's
    path_t path;                    // that it goes by, or came by
    bool path_known;
    bit<8> generation;              // of the controller's choice of a path
    bool policed;                   // its flow may have a path of its own, in either direction
    bool preferred;                 // and has one to the peer
    path_t preferred_path;
    bit<4> copies;                  // in which the packets of its flow go, by a path each; 0: as its schedule says
    bit<4> ecmp_paths;              // flows go over so many paths; 0: all by one
    bit<32> send_timeout;           // microseconds; 0: nobody waits for an answer
    bit<32> keepalive;              // microseconds; 0: no keepalives
    bit<8> mode;                    // MODE_*
    vrf_id_t vrf;                   // the path's way out
    bool with_header;               // goes with a payload header
    context_tag_t tag;              // in it
    bit<32> threshold_bytes;        // for the sender to be worth a session
    bit<32> threshold_time;         // microseconds
    bit<16> added;                  // octets of that header, put on
    bit<16> taken;                  // or taken off
    bit<16> reserved;               // that another path would put on
}

// What the controller is told.
struct session_event_t {
    bit<8> kind;                    // SESSION_EVENT_*
    path_t path_from;
    path_t path_to;
    bit<48> age;                    // microseconds
}

// Two addresses without a session that are worth one, for the controller.
struct pair_t {
    bool begins;                    // the packet: it answers nothing
    bool proven;                    // or the peer has shown that it is there
    bool active;
    bit<8> opened_here;             // 1: by a packet that began
    ipv6_address_t source;
    ipv6_address_t destination;
    bit<32> bytes;
    bit<48> age;                    // microseconds
}

// What became of a session, for the controller.
@name("session_events")
struct session_event_digest_t {
    bit<8> kind;                    // SESSION_EVENT_*
    session_id_t session;
    path_t path_from;
    path_t path_to;
    bit<48> age;                    // microseconds since the first packet that was not answered
}

// Two addresses that exchange enough to be worth a session, for the controller.
@name("pair_active")
struct pair_active_t {
    ipv6_address_t source;
    ipv6_address_t destination;
    bit<32> bytes;
    bit<48> age;                    // microseconds
    bit<8> opened_here;             // 1: a host here began; 0: the peer did, by TCP, and is there
}

#endif
