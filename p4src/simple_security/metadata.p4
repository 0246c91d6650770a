// What simple security makes of a packet.

#ifndef WAYNAME_SIMPLE_SECURITY_METADATA_P4
#define WAYNAME_SIMPLE_SECURITY_METADATA_P4

#include "../common/types.p4"

// How long a record lives without a packet. What is remembered, and how far a connection has come.
typedef bit<8> record_stage_t;
const record_stage_t RECORD_NONE        = 0;
const record_stage_t RECORD_NAME_QUERY  = 1;  // UDP to port 53 (REC-15)
const record_stage_t RECORD_QUERY       = 2;  // ICMPv6
const record_stage_t RECORD_ENDPOINT    = 3;  // UDP and what has no connections (REC-12, REC-14)
const record_stage_t RECORD_OPENING     = 4;  // a connection: the inside alone has spoken
const record_stage_t RECORD_ANSWERED    = 5;  // and the outside
const record_stage_t RECORD_ESTABLISHED = 6;  // and the inside again (REC-35)
const record_stage_t RECORD_CLOSING     = 7;  // FIN or RST

const bit<48> NAME_QUERY_TIME  = 30000000;    // microseconds
const bit<48> QUERY_TIME       = 60000000;
const bit<48> ENDPOINT_TIME    = 300000000;
const bit<48> TRANSITORY_TIME  = 240000000;
const bit<48> ESTABLISHED_TIME = 7440000000;

// The flow of a packet, or of the one that an ICMPv6 error quotes, as the inside sees it.
struct filtered_flow_t {
    ipv6_address_t local;
    ipv6_address_t remote;
    bit<8> next_header;
    bit<16> local_port;         // of ICMPv6, the identifier of an echo
    bit<16> remote_port;
    bool connection;            // TCP, SCTP, DCCP
    bool opens;                 // SYN
    bool ends;                  // FIN, RST
    bool quoted;                // by an error
    record_stage_t first;       // what a packet from inside is remembered as; RECORD_NONE: it is an answer itself
}

#endif
