// Hop-by-hop options, as far as the first trace or direct export.
//
//   start -> options of no interest, at most eight -> trace: free words, this node's slot, what nodes have filled -> rest
//
// The caller knows that the header is not longer than the payload. A trace that has no room for this node's data, or
// whose lengths contradict each other, is not cut into parts; `trace.slot` says whether it is.

#ifndef WAYNAME_PARSING_OPTIONS_P4
#define WAYNAME_PARSING_OPTIONS_P4

#include "../common/metadata.p4"
#include "../common/reasons.p4"
#include "../common/sizes.p4"
#include "../common/types.p4"
#include "headers.p4"
#include "../telemetry/ioam_headers.p4"

parser OptionsParser(packet_in packet, inout headers_t hdr, inout metadata_t meta) {
    bit<16> left;
    bit<16> size;
    bit<16> data;           // octets of the node data list
    bit<16> free;           // of it not filled
    bit<16> slot;           // of it this node's, but for a snapshot's data
    bit<4> count = 0;

    state start {
        packet.extract(hdr.hop_by_hop);
        left = (((bit<16>)hdr.hop_by_hop.length + 1) << 3) - 2;
        transition option;
    }

    state option {
        transition select(left) {
            0: accept;
            default: kind;
        }
    }

    state kind {
        transition select(packet.lookahead<bit<8>>()) {
            OPTION_PAD_1: single_octet;
            default: with_length;
        }
    }

    state single_octet {
        size = 1;
        transition take;
    }

    state with_length {
        transition select(left) {
            1: past_end;
            default: length;
        }
    }

    state length {
        option_start_t begin = packet.lookahead<option_start_t>();
        size = (bit<16>)begin.length + 2;
        meta.chain.crossed = size > left;
        transition select(meta.chain.crossed, begin.type, begin.length) {
            (true, _, _): past_end;
            (false, OPTION_IOAM_CHANGING, 10 .. 255): ioam_changing;
            (false, OPTION_IOAM_FIXED, 10 .. 255): ioam_fixed;
            default: take;
        }
    }

    state past_end {
        meta.fault = DROP_OPTION_PAST_END;
        transition accept;
    }

    state take {
        transition select(count) {
            OPTIONS: rest;
            default: take_it;
        }
    }

    state take_it {
        packet.extract(hdr.options.next, (bit<32>)size << 3);
        left = left - size;
        count = count + 1;
        transition option;
    }

    state ioam_fixed {
        transition select(packet.lookahead<bit<32>>()[7:0]) {
            IOAM_DIRECT_EXPORT: direct_export;
            default: take;
        }
    }

    // Flow and sequence number stay with what follows: they are only looked at.
    state direct_export {
        packet.extract(hdr.direct_export);
        left = left - 12;
        meta.export.asked = true;
        meta.export.namespace = hdr.direct_export.namespace;
        meta.export.type = hdr.direct_export.type;
        transition select(hdr.direct_export.extension_flags[7:6], hdr.direct_export.option_length) {
            (2, 14 .. 255): flow;
            (1, 14 .. 255): sequence;
            (3, 18 .. 255): flow_and_sequence;
            default: rest;
        }
    }

    state flow {
        meta.export.flow = packet.lookahead<bit<32>>();
        transition rest;
    }

    state sequence {
        meta.export.sequence = packet.lookahead<bit<32>>();
        transition rest;
    }

    state flow_and_sequence {
        bit<64> both = packet.lookahead<bit<64>>();
        meta.export.flow = both[63:32];
        meta.export.sequence = both[31:0];
        transition rest;
    }

    state ioam_changing {
        transition select(packet.lookahead<bit<32>>()[7:0]) {
            IOAM_TRACE: trace;
            default: take;
        }
    }

    state trace {
        packet.extract(hdr.trace);
        left = left - size;
        data = size - 12;
        free = (bit<16>)hdr.trace.words_left << 2;
        slot = (bit<16>)hdr.trace.node_length << 2;
        transition select(hdr.trace.type[1:1]) {
            1: with_snapshot;
            default: room;
        }
    }

    state with_snapshot {
        slot = slot + 4;
        transition room;
    }

    state room {
        meta.chain.crossed = free > data || data[1:0] != 0;
        meta.trace.full = slot > free;
        transition select(meta.chain.crossed, meta.trace.full, hdr.trace.type[1:1]) {
            (true, _, _): whole;
            (false, true, _): whole;
            (false, false, 1): snapshot;
            default: parts;
        }
    }

    state whole {
        meta.trace.full = meta.trace.full && !meta.chain.crossed;
        packet.extract(hdr.trace_filled, (bit<32>)data << 3);
        transition rest;
    }

    // A snapshot may have eight octets of data: they stand apart, if they are there.
    state snapshot {
        meta.chain.crossed = slot + 8 > free;
        transition select(meta.chain.crossed) {
            true: parts;
            false: parts_with_spare;
        }
    }

    state parts_with_spare {
        packet.extract(hdr.trace_free, (bit<32>)(free - slot - 8) << 3);
        packet.extract(hdr.trace_spare);
        transition slot_and_filled;
    }

    state parts {
        packet.extract(hdr.trace_free, (bit<32>)(free - slot) << 3);
        transition slot_and_filled;
    }

    state slot_and_filled {
        meta.trace.slot = true;
        packet.extract(hdr.trace_slot, (bit<32>)slot << 3);
        packet.extract(hdr.trace_filled, (bit<32>)(data - free) << 3);
        transition rest;
    }

    state rest {
        packet.extract(hdr.options_rest, (bit<32>)left << 3);
        transition accept;
    }
}

#endif
