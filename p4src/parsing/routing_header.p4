// The first routing header with segments (RFC 8754) or with a source route (RFC 6554), cut so that the address at hand is
// a header of its own:
//
//   fixed part | list before it | address that comes next | list behind it, TLVs
//
// The caller knows that the header is not longer than the payload. Where the numbers contradict each other, or no
// address is left, all of the list stays behind; `routing.wrong` says which.

#ifndef WAYNAME_PARSING_ROUTING_HEADER_P4
#define WAYNAME_PARSING_ROUTING_HEADER_P4

#include "../common/metadata.p4"
#include "../common/sizes.p4"
#include "../common/types.p4"
#include "headers.p4"
#include "../encapsulation/routing_headers.p4"

const bit<16> HMAC_TLV_OCTETS = 40;

// A list of segments and what stands behind it, for who looks at them without taking them out.
#define LAY_OUT_PROOF(state_name, bits, behind_bits)                                                                   \
    state state_name {                                                                                                 \
        bit<bits> all = packet.lookahead<bit<bits>>();                                                                 \
        meta.routing.segments = all[bits - 1:HMAC_TLV_BITS] ++ (bit<behind_bits>)0;                                    \
        meta.routing.first_tlv = all[HMAC_TLV_BITS - 1:0];                                                             \
        transition segment_at_hand;                                                                                    \
    }

// All addresses of a source route, for who looks at them without taking them out.
#define LAY_OUT(state_name, bits, behind_bits)                                                                         \
    state state_name {                                                                                                 \
        meta.routing.addresses = packet.lookahead<bit<bits>>() ++ (bit<behind_bits>)0;                                 \
        transition address_at_hand;                                                                                    \
    }

parser RoutingParser(packet_in packet, inout headers_t hdr, inout metadata_t meta) {
    bit<16> data;           // octets behind the fixed part
    bit<16> before = 0;
    bit<16> octets;         // of a segment list
    bit<16> last;           // octets of a source route's last address
    bit<16> each;           // and of its others

    state start {
        meta.routing.pointer = IPV6_BYTES + hdr.ipv6.payload_length - meta.chain.left + 3;
        meta.routing.index = meta.chain.count;
        meta.routing.size = meta.chain.size;
        data = meta.chain.size - 8;
        transition select(packet.lookahead<routing_start_t>().type) {
            ROUTING_SEGMENTS: segments;
            default: source_route;
        }
    }

    // The numbers are right if the last entry is in the header, and no more is left than it says and one: a reduced
    // header leaves out the first segment.
    state segments {
        packet.extract(hdr.segment_routing);
        meta.routing.type = ROUTING_SEGMENTS;
        meta.routing.left = hdr.segment_routing.segments_left;
        meta.routing.wrong = hdr.segment_routing.segments_left != 0
            && ((((bit<16>)hdr.segment_routing.last_entry + 1) << 4) > data
                || (bit<16>)hdr.segment_routing.segments_left > (bit<16>)hdr.segment_routing.last_entry + 1);
        meta.routing.last_entry = hdr.segment_routing.last_entry;
        octets = ((bit<16>)hdr.segment_routing.last_entry + 1) << 4;
        transition select(octets + HMAC_TLV_OCTETS <= data, hdr.segment_routing.last_entry) {
            (true, 0): proof_1;
            (true, 1): proof_2;
            (true, 2): proof_3;
            (true, 3): proof_4;
            (true, 4): proof_5;
            (true, 5): proof_6;
            (true, 6): proof_7;
            (true, 7): proof_8;
            (true, _): proof_unread;
            default: segment_at_hand;
        }
    }

    LAY_OUT_PROOF(proof_1, 448, 896)
    LAY_OUT_PROOF(proof_2, 576, 768)
    LAY_OUT_PROOF(proof_3, 704, 640)
    LAY_OUT_PROOF(proof_4, 832, 512)
    LAY_OUT_PROOF(proof_5, 960, 384)
    LAY_OUT_PROOF(proof_6, 1088, 256)
    LAY_OUT_PROOF(proof_7, 1216, 128)

    state proof_8 {
        bit<1344> all = packet.lookahead<bit<1344>>();
        meta.routing.segments = all[1343:HMAC_TLV_BITS];
        meta.routing.first_tlv = all[HMAC_TLV_BITS - 1:0];
        transition segment_at_hand;
    }

    state proof_unread {
        meta.routing.tlv_unread = true;
        transition segment_at_hand;
    }

    state segment_at_hand {
        transition select(meta.routing.wrong, hdr.segment_routing.segments_left) {
            (true, _): behind;
            (false, 0): behind;
            default: next_segment;
        }
    }

    state next_segment {
        before = ((bit<16>)hdr.segment_routing.segments_left - 1) << 4;
        meta.routing.octets = 16;
        transition parts;
    }

    state source_route {
        packet.extract(hdr.source_route);
        meta.routing.type = ROUTING_SOURCE_ROUTE;
        meta.routing.left = hdr.source_route.segments_left;
        last = 16 - (bit<16>)hdr.source_route.last_prefix_left_out;
        each = 16 - (bit<16>)hdr.source_route.prefix_left_out;
        before = data - (bit<16>)hdr.source_route.pad - last;
        meta.routing.wrong = hdr.source_route.segments_left != 0 && (bit<16>)hdr.source_route.pad + last > data;
        meta.routing.before_last = before;
        transition select(meta.routing.wrong, hdr.source_route.segments_left) {
            (true, _): behind;
            (false, 0): behind;
            default: all_addresses;
        }
    }

    state all_addresses {
        transition select(data) {
            8: addresses_1;
            16: addresses_2;
            24: addresses_3;
            32: addresses_4;
            40: addresses_5;
            48: addresses_6;
            56: addresses_7;
            64: addresses_8;
            72: addresses_9;
            80: addresses_10;
            88: addresses_11;
            96: addresses_12;
            104: addresses_13;
            112: addresses_14;
            120: addresses_15;
            128: addresses_16;
            136: addresses_17;
            144: addresses_18;
            152: addresses_19;
            default: long;
        }
    }

    LAY_OUT(addresses_1, 64, 1152)
    LAY_OUT(addresses_2, 128, 1088)
    LAY_OUT(addresses_3, 192, 1024)
    LAY_OUT(addresses_4, 256, 960)
    LAY_OUT(addresses_5, 320, 896)
    LAY_OUT(addresses_6, 384, 832)
    LAY_OUT(addresses_7, 448, 768)
    LAY_OUT(addresses_8, 512, 704)
    LAY_OUT(addresses_9, 576, 640)
    LAY_OUT(addresses_10, 640, 576)
    LAY_OUT(addresses_11, 704, 512)
    LAY_OUT(addresses_12, 768, 448)
    LAY_OUT(addresses_13, 832, 384)
    LAY_OUT(addresses_14, 896, 320)
    LAY_OUT(addresses_15, 960, 256)
    LAY_OUT(addresses_16, 1024, 192)
    LAY_OUT(addresses_17, 1088, 128)
    LAY_OUT(addresses_18, 1152, 64)

    state addresses_19 {
        meta.routing.addresses = packet.lookahead<bit<HOPS_CHECKED_BITS>>();
        transition address_at_hand;
    }

    state long {
        meta.routing.long = true;
        transition address_at_hand;
    }

    state address_at_hand {
        transition select(hdr.source_route.segments_left) {
            1: last_address;
            default: address;
        }
    }

    state last_address {
        meta.routing.octets = (bit<5>)last;
        meta.routing.left_out = hdr.source_route.last_prefix_left_out;
        transition parts;
    }

    state address {
        each = each * ((bit<16>)hdr.source_route.segments_left - 1);
        meta.routing.wrong = each > before;
        before = before - each;
        meta.routing.octets = 16 - (bit<5>)hdr.source_route.prefix_left_out;
        meta.routing.left_out = hdr.source_route.prefix_left_out;
        transition select(meta.routing.wrong) {
            true: behind;
            false: parts;
        }
    }

    state parts {
        packet.extract(hdr.routing_before, (bit<32>)before << 3);
        data = data - before - (bit<16>)meta.routing.octets;
        transition select(meta.routing.octets[4:4]) {
            1: octets_16;
            default: octets_8;
        }
    }

    state octets_16 {
        packet.extract(hdr.hop.octets_16);
        transition behind;
    }

    state octets_8 {
        transition select(meta.routing.octets[3:3]) {
            1: take_8;
            default: octets_4;
        }
    }

    state take_8 {
        packet.extract(hdr.hop.octets_8);
        transition octets_4;
    }

    state octets_4 {
        transition select(meta.routing.octets[2:2]) {
            1: take_4;
            default: octets_2;
        }
    }

    state take_4 {
        packet.extract(hdr.hop.octets_4);
        transition octets_2;
    }

    state octets_2 {
        transition select(meta.routing.octets[1:1]) {
            1: take_2;
            default: octets_1;
        }
    }

    state take_2 {
        packet.extract(hdr.hop.octets_2);
        transition octets_1;
    }

    state octets_1 {
        transition select(meta.routing.octets[0:0]) {
            1: take_1;
            default: behind;
        }
    }

    state take_1 {
        packet.extract(hdr.hop.octets_1);
        transition behind;
    }

    state behind {
        packet.extract(hdr.routing_behind, (bit<32>)data << 3);
        transition accept;
    }
}

#endif
