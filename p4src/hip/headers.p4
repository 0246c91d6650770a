// What is in the clear of an ESP packet (RFC 4303, section 2), and what is known of it.
//
//   SPI (32 bits), sequence number (32 bits), then what only its receiver can read

#ifndef WAYNAME_HIP_HEADERS_P4
#define WAYNAME_HIP_HEADERS_P4

#include "../common/types.p4"

typedef bit<32> spi_t;

const bit<16> ESP_BYTES = 8;

struct esp_start_t {
    spi_t spi;
    bit<32> sequence;
}

// Of a packet that is made here; no packet of a host has the sequence number 0 (RFC 4303, section 3.3.3).
header esp_h {
    spi_t spi;
    bit<32> sequence;
}

// HIP's own messages (RFC 7401, section 5.1): between whom they are.
const bit<16> HIP_BYTES = 40;

struct hip_start_t {
    bit<64> start;
    ipv6_address_t sender;          // a HIT
    ipv6_address_t receiver;        // the same
}

const bit<8> ESP_NONE  = 0;
const bit<8> ESP_WHOLE = 1;
const bit<8> ESP_SHORT = 2;         // less than its header

// The packet's ESP header, if it is not in a fragment: later fragments have none, and all shall go the same way.
struct hip_t {
    bit<8> esp;                     // ESP_*
    spi_t spi;
    bool admitted;                  // the SPI is a session's
    bool to_peer;                   // it goes by a path of such a session,
    spi_t peer_spi;                 // whose peer chose this SPI
    ipv6_address_t sender;          // of a message: the HITs, 0 where the packet is none
    ipv6_address_t receiver;
    session_id_t session;           // of the association that they have
}

#endif
