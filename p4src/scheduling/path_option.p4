// The path option on the wire: destination options right before what shows a session to its peer, Shim6's payload header or ESP. It is
// of the experimental types of RFC 4727; who does not know it skips it, and nobody changes it on the way.
//
//   | next header | length | 0x1E | option length | version (4) | counted (1) | slot (3) | sequence (24) |
//   | order (32) | copies (8) | microseconds that it may be waited for what was sent before (24) |            of version 2
//   | slot (8) | newest sequence (24) | when that came, by the receiver's clock (32) |                        of a report
//   | packets that came (24) | marked (16) | which of the 24 before the newest one came (24) |
//
// Version 2 is of a packet that wants to come in the order in which its session sent it, by whatever path, or that goes in several
// copies, of which one is wanted. The order of a session's packets is one number for all paths, and only of such packets.
//
// A report is of the packets that came the other way by one path, whose sender numbered them.

#ifndef WAYNAME_SCHEDULING_PATH_OPTION_P4
#define WAYNAME_SCHEDULING_PATH_OPTION_P4

#include "../common/packet_metadata.p4"

const bit<8> OPTION_PATH         = 0x1E;
const bit<4> PATH_OPTION_VERSION = 1;
const bit<4> PATH_ORDER_VERSION  = 2;
// Octets behind the option's length, without a report and with one; and of the whole header.
const bit<8>  PATH_OPTION_LENGTH       = 4;
const bit<8>  PATH_REPORT_LENGTH       = 20;
const bit<8>  PATH_ORDER_LENGTH        = 12;
const bit<8>  PATH_ORDER_REPORT_LENGTH = 28;
const bit<16> PATH_OPTION_BYTES        = 8;
const bit<16> PATH_REPORT_BYTES        = 16;
const bit<16> PATH_ORDER_BYTES         = 8;

header path_option_h {
    bit<8> next_header;
    bit<8> length;
    bit<8> type;
    bit<8> octets;
    bit<4> version;
    bit<1> counted;             // 0: nobody counts it, and it has no number of its own
    bit<3> slot;                // of the sender's schedule
    bit<24> sequence;
}

header path_order_h {
    bit<32> order;
    bit<8> copies;              // in which it was sent at once; 0: in one
    bit<24> wait;               // microseconds
}

header path_report_h {
    bit<8> slot;                // of the receiver's schedule
    bit<24> newest;
    bit<32> arrived;            // microseconds
    bit<24> received;
    bit<16> marked;             // with "congestion experienced"
    bit<24> came;               // of the 24 before the newest one: a bit for each, the lowest for the last of them
}

// Looked ahead at.
struct path_option_start_t {
    bit<8> next_header;
    bit<8> length;
    bit<8> type;
    bit<8> octets;
    bit<4> version;
    bit<1> counted;
    bit<3> slot;
    bit<24> sequence;
}

struct path_option_and_order_t {
    bit<64> start;
    bit<32> order;
    bit<8> copies;
    bit<24> wait;
}

struct path_option_order_and_report_t {
    bit<128> start;
    bit<8> slot;
    bit<24> newest;
    bit<32> arrived;
    bit<24> received;
    bit<16> marked;
    bit<24> came;
}

struct path_option_and_report_t {
    bit<64> start;
    bit<8> slot;
    bit<24> newest;
    bit<32> arrived;
    bit<24> received;
    bit<16> marked;
    bit<24> came;
}

// What a report says.
struct path_report_t {
    bit<8> slot;
    bit<24> newest;
    bit<32> arrived;
    bit<24> received;
    bit<16> marked;
    bit<24> came;
}

// The first path option of a packet, and the one that it gets.
struct path_option_t {
    bool here;
    bool counted;
    bit<3> slot;
    bit<24> sequence;
    bool ordered;
    bit<32> order;
    bit<8> copies;
    bit<24> wait;
    bool reports;
    path_report_t report;
    bit<8> next_header;         // of the header that it stands in
    bit<16> size;
    bit<8> index;               // extension headers before it
    bool behind;                // the routing header
    bool of_session;            // it stands where its session's peer puts it, in a packet that the session proves
    bool alone;                 // the packet has nothing but a report in it
    bool may_report;            // it may have one, of what came last
    @field_list(FIELDS_OF_CLONE) bool lone_due;    // such a one is to be made
    bool to_put;
    bit<1> put_counted;
    bit<3> put_slot;
    bit<24> put_sequence;
    bool put_ordered;
    @field_list(FIELDS_OF_CLONE, FIELDS_OF_COPY) bit<32> put_order;
    bit<8> put_copies;
    bit<24> put_wait;
    bool to_report;
    path_report_t put_report;
}

// Of a packet that is sent.
bit<16> option_bytes(in bool numbered, in bool ordered, in bool reports) {
    bit<16> bytes = 0;
    if (numbered || reports) {
        bytes = PATH_OPTION_BYTES;
    }
    if (ordered) {
        bytes = bytes + PATH_ORDER_BYTES;
    }
    if (reports) {
        bytes = bytes + PATH_REPORT_BYTES;
    }
    return bytes;
}

#endif
