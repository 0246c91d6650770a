// The schedule of a packet's session: the path that it chooses, and what is known of paths.

#ifndef WAYNAME_SCHEDULING_METADATA_P4
#define WAYNAME_SCHEDULING_METADATA_P4

#include "../common/packet_metadata.p4"
#include "../common/types.p4"

// The first block of a selective acknowledgement (RFC 2018).
struct sack_t {
    bool here;
    bit<32> begins;
    bit<32> ends;
}

// How a schedule chooses.
const bit<8> POLICY_NONE                 = 0;
const bit<8> POLICY_FASTEST_FIRST        = 1;
const bit<8> POLICY_WEIGHTED_ROUND_ROBIN = 2;
const bit<8> POLICY_PER_FLOW             = 3;
const bit<8> POLICY_BEST_PATH            = 4;

// What acknowledgements change: sums of these.
typedef bit<8> feedback_t;
const feedback_t FEEDBACK_FOLLOW = 1;  // what is known of a path
const feedback_t FEEDBACK_CLOSE  = 2;  // whether it is open
const feedback_t FEEDBACK_HOLD   = 4;  // none: duplicates are held back while what is missing may still come

// What an acknowledgement, or something sent again, says of the connection.
const bit<8> ANSWER_NONE       = 0;
const bit<8> ANSWER_REGULAR    = 1;     // nothing was missing
const bit<8> ANSWER_FILLED     = 2;     // what was missing has come
const bit<8> ANSWER_CUMULATIVE = 3;     // what was lost has come in its second or later attempt
const bit<8> ANSWER_LOST       = 4;     // a packet was lost
const bit<8> ANSWER_SELECTIVE  = 5;     // one has come out of order
const bit<8> ANSWER_TWICE      = 6;     // a packet has come, and its copy that probed a path

// And so of a path.
const bit<8> VERDICT_NONE     = 0;
const bit<8> VERDICT_MEASURED = 1;      // its mark is answered
const bit<8> VERDICT_COVERED  = 2;      // its mark has arrived; nobody knows when
const bit<8> VERDICT_LOST     = 3;      // it lost a packet

// What the controller is told of a path.
typedef bit<8> path_event_kind_t;
const path_event_kind_t PATH_EVENT_NONE      = 0;
const path_event_kind_t PATH_EVENT_LATE      = 1;  // closed: its mark came late
const path_event_kind_t PATH_EVENT_LOST      = 2;  // closed: a packet was lost
const path_event_kind_t PATH_EVENT_OPENED    = 3;  // a probe came in time
const path_event_kind_t PATH_EVENT_ESTIMATED = 4;  // something is known of it
const path_event_kind_t PATH_EVENT_UNPROBED  = 5;  // opened: nothing was there to probe it with

// The schedule of the packet's session.
struct schedule_t {
    bit<8> policy;                  // POLICY_*
    schedule_id_t number;
    bit<8> generation;
    bit<4> paths;
    bit<32> path_of_slots;          // the session's path at each slot, four bits each
    bit<8> slots;                   // those that the session may take, a bit for each
    bit<4> copies;                  // in which each packet goes, by a path each; 0: by one path
    bit<8> framing;                 // octets that links add to each packet
    bit<8> feedback;                // FEEDBACK_*
    bit<32> tolerance;              // microseconds that a marked packet may be late
    bit<32> probe_interval;         // microseconds
    bit<32> hold;                   // microseconds that a sender does not hear of a packet that is missing
    bit<32> flow;                   // slot of the TCP connection
    bit<32> sequence;               // the first octet that is sent, or the one that is wanted
    bit<32> ends;                   // the one behind what is sent
    bit<32> advance;                // octets that were not acknowledged before
    bit<32> arrived;                // the first octet of the packet that has just come
    bit<32> length;                 // its octets, if it was that one alone
    bool holes;                     // the receiver may have held what is acknowledged
    bool fresh;                     // data that was not sent before
    bool again;                     // it was sent before
    bool before_known;              // by the path in this slot
    bit<32> before_slot;
    bool pure_ack;                  // an acknowledgement without data: nobody acknowledges it
    bit<8> answer;                  // ANSWER_*
    bit<8> verdict;                 // VERDICT_*
    bit<32> slot;                   // of the path that it is about, or that was chosen
    bool chosen;                    // the packet's path is chosen, and it has data that was not sent before
    bool probe;                     // it is, or answers, the packet that a closed path gets
    bool ahead;                     // it may have come before what was sent before it
    bool busy;                      // something else waited for the path
    fine_time_t delivery;           // when it should be delivered
    fine_time_t work;               // what the path had been given to do by then, as its entry says
    bool hold_duplicates;           // its sender should not hear yet of what is missing
    bit<8> duplicates;              // heard since the last acknowledgement that advanced
    bit<32> outstanding;            // octets that are not acknowledged
    bool missing;                   // what is known of the first of them: its packet's octets, its path, was it a probe, when it is due, the path's work
    bit<32> missing_length;
    bit<32> missing_slot;
    bool missing_probe;
    bit<32> missing_due;            // microseconds
    bool missing_silent;            // its path is closed by a loss, and nothing came by it since
    fine_time_t missing_work;
    bool certain;                   // it is lost
    fine_time_t after;              // how long after it was sent it should be delivered; of a numbered one without the time of its octets
    bool reported;                  // by the peer: of the newest packet that came by the path in `slot`,
    bit<24> under_way;              // how many were sent after it,
    bit<24> reported_packets;       // and of those sent since the last report, how many
    bit<24> reported_lost;          // were lost
    bit<16> reported_marked;        // or marked
    bit<32> reverse_delay;          // microseconds that its acknowledgement took
    bit<32> reverse_slot;           // the path that it came by; any of them, where that is not known
    bool reverse_known;             // it is that one
    bit<32> reverse_inverse_rate;
    bit<32> reverse_least;          // microseconds that it took at least, and at most
    bit<32> reverse_most;
}

// What becomes of copies of packets that are under way.
const bit<8> COPY_KEEP    = 1;
const bit<8> COPY_RELEASE = 2;

// A copy of a packet that went by a path and may be lost there.
struct copy_t {
    bool out_of_buffer;             // the packet is one, or was held for what was sent before it
    bit<8> order;                   // COPY_*
    @field_list(FIELDS_OF_COPY) bit<3> slot;
    @field_list(FIELDS_OF_COPY) bit<24> sequence;
    @field_list(FIELDS_OF_COPY) bit<48> sent;       // the first time
    @field_list(FIELDS_OF_COPY) bit<32> silence;    // microseconds for which its path may tell nothing
    @field_list(FIELDS_OF_COPY) bit<8> times_again; // that it was sent again
    @field_list(FIELDS_OF_COPY) bool queued;        // it has not been sent: it waited at the edge, since `sent`
    @field_list(FIELDS_OF_COPY) bit<32> queue_number;   // of its session's packets there
    @field_list(FIELDS_OF_COPY) bool took_turn;     // it waits among the first ones of sessions
    @field_list(FIELDS_OF_COPY) bit<32> turn;       // its number there
}

// A copy of a packet that goes by an open path: it probes a closed one (path_probes.p4).
struct path_probe_t {
    @field_list(FIELDS_OF_CLONE) bool due;          // one is to be made
    @field_list(FIELDS_OF_CLONE) bit<3> slot;       // of the path that it probes
    @field_list(FIELDS_OF_CLONE) bit<32> beside;    // when the packet itself is due by the other path, in microseconds
    bool copy;                                      // the packet is one
}

// A packet that goes in several copies at once (replication.p4).
struct replication_t {
    @field_list(FIELDS_OF_CLONE) bool due;          // another one is to be made
    @field_list(FIELDS_OF_CLONE) bit<8> taken;      // a bit for each slot whose path had one
    @field_list(FIELDS_OF_CLONE) bit<4> made;       // how many had
    bool copy;                                      // the packet is one, and not the first
}

// What the controller is told of a path.
struct path_event_t {
    bit<8> kind;                    // PATH_EVENT_*
    bit<8> slot;
    path_t path;
    bit<32> late;                   // microseconds, in two's complement
    bit<32> delay;                  // microseconds, as it is now
    bit<32> inverse_rate;           // 2^-24 microseconds, as it is now
    bit<32> queue;                  // microseconds that what fits into its queue takes, 0 if nobody knows
    bit<24> packets;                // that reports told of since the last event
    bit<24> lost;                   // of them
    bit<24> marked;
}

// What became of a path, for the controller.
@name("path_events")
struct path_event_digest_t {
    bit<8> kind;                    // PATH_EVENT_*
    schedule_id_t schedule;
    session_id_t session;           // that it was seen by
    bit<8> slot;
    path_t path;                    // of that session
    bit<32> late;
    bit<32> delay;
    bit<32> inverse_rate;
    bit<32> queue;
    bit<24> packets;
    bit<24> lost;
    bit<24> marked;
}

#endif
