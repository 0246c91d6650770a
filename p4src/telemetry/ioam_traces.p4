// Traces that packets get here (RFC 9197, RFC 9486): which, how long, and every how many packets.
//
// Ingress lays the option's headers out, so that routing knows how long the packet becomes; the node's own data is
// written in egress, where the times are known. A packet that has a trace, or
// asks for direct export, gets no other.

#ifndef WAYNAME_TELEMETRY_IOAM_TRACES_P4
#define WAYNAME_TELEMETRY_IOAM_TRACES_P4

#include "../common/ids.p4"
#include "../common/sizes.p4"
#include "../common/types.p4"
#include "../parsing/headers.p4"
#include "../encapsulation/metadata.p4"

control IoamTraces(inout headers_t hdr, inout encapsulation_t encapsulation) {
    @id(IOAM_TRACES_COUNTER_ID) TABLE_COUNTER(ioam_traces_counter);

    // Packets since the last round of each trace began.
    @id(TRACE_TURNS_REGISTER_ID)
    @name("trace_turns")
    REGISTERS(trace_id_t, bit<16>, IOAM_TRACES, turns);

    // Packets of each flow that asked for direct export.
    @id(EXPORT_SEQUENCES_REGISTER_ID)
    @name("export_sequences")
    REGISTERS(trace_id_t, bit<32>, IOAM_TRACES, sequences);

    bit<16> share = 0;      // of a round, those that get the trace
    bit<16> round = 0;

    @id(PUSH_TRACE_ACTION_ID)
    @name("push_trace")
    @brief("Node length: the words (of 32 bits) that the type asks each node for. Words: room for all nodes, at most 61. Flags: 4 loopback, 2 active. Of so many packets so many get it.")
    action push_trace(@id(1) @refers_to(ioam_namespaces, namespace) bit<16> namespace, @id(2) bit<24> type,
                      @id(3) bit<5> node_length, @id(4) bit<7> words, @id(5) bit<4> flags, @id(6) bit<16> packets,
                      @id(7) bit<16> of) {
        hdr.new_trace.setValid();
        hdr.new_trace.namespace = namespace;
        hdr.new_trace.type = type;
        hdr.new_trace.node_length = node_length;
        hdr.new_trace.words_left = words;
        hdr.new_trace.overflow = 0;
        hdr.new_trace.loopback = flags[2:2];
        hdr.new_trace.active = flags[1:1];
        hdr.new_trace.flag = 0;
        share = packets;
        round = of;
    }

    @id(PUSH_DIRECT_EXPORT_ACTION_ID)
    @name("push_direct_export")
    @brief("No room for data: each node exports it (RFC 9326). The flow's number tells its packets from others'. Of so many packets so many get it.")
    action push_direct_export(@id(1) bit<16> namespace, @id(2) bit<24> type, @id(3) bit<32> flow, @id(4) bit<16> packets,
                             @id(5) bit<16> of) {
        hdr.new_direct_export.setValid();
        hdr.new_direct_export.namespace = namespace;
        hdr.new_direct_export.type = type;
        hdr.new_export_flow.setValid();
        hdr.new_export_flow.flow = flow;
        share = packets;
        round = of;
    }

    @id(NO_TRACE_ACTION_ID)
    @name("no_trace")
    action no_trace() {
    }

    @id(IOAM_TRACES_TABLE_ID)
    @name("ioam_traces")
    @brief("IOAM traces that packets get.")
    table ioam_traces {
        key = {
            encapsulation.trace : exact @id(1) @name("trace");
        }
        actions = {
            push_trace;
            push_direct_export;
            @defaultonly no_trace;
        }
        const default_action = no_trace;
        counters = ioam_traces_counter;
        size = IOAM_TRACES;
    }

    apply {
        bool traced = false;
        if (encapsulation.trace != 0 && !hdr.trace.isValid() && !hdr.direct_export.isValid()
            && (encapsulation.mode == ENCAPSULATE_INLINE
                || encapsulation.destination != 0 || encapsulation.policy != 0)) {
            if (ioam_traces.apply().hit) {
                traced = true;
                if (round > 1) {
                    bit<16> turn;
                    turns.read(turn, encapsulation.trace);
                    traced = turn < share;
                    turn = turn + 1;
                    if (turn >= round) {
                        turn = 0;
                    }
                    turns.write(encapsulation.trace, turn);
                }
            }
        }
        if (traced && hdr.new_direct_export.isValid()) {
            hdr.new_options.setValid();
            hdr.new_options.length = 2;
            hdr.new_padding.setValid();
            hdr.new_padding.option = 0x0100;
            hdr.new_direct_export.option = OPTION_IOAM_FIXED;
            hdr.new_direct_export.option_length = 18;
            hdr.new_direct_export.reserved = 0;
            hdr.new_direct_export.kind = IOAM_DIRECT_EXPORT;
            hdr.new_direct_export.flags = 0;
            hdr.new_direct_export.extension_flags = 0xC0;   // flow, sequence
            hdr.new_direct_export.reserved_too = 0;
            bit<32> sequence;
            sequences.read(sequence, encapsulation.trace);
            hdr.new_export_flow.sequence = sequence;
            sequences.write(encapsulation.trace, sequence + 1);
            encapsulation.size = encapsulation.size + 24;
        } else if (traced) {
            bit<16> data = (bit<16>)hdr.new_trace.words_left << 2;
            hdr.new_options.setValid();
            hdr.new_options.length = (bit<8>)((data + 12) >> 3);    // rounded up, less the first eight octets
            hdr.new_padding.setValid();
            hdr.new_padding.option = 0x0100;
            hdr.new_trace.option = OPTION_IOAM_CHANGING;
            hdr.new_trace.option_length = (bit<8>)data + 10;
            hdr.new_trace.reserved = 0;
            hdr.new_trace.kind = IOAM_TRACE;
            hdr.new_trace.reserved_too = 0;
            if (hdr.new_trace.words_left[0:0] == 1) {
                hdr.new_end.setValid();
                hdr.new_end.option = 0x01020000;
            }
            encapsulation.size = encapsulation.size + ((bit<16>)hdr.new_options.length + 1 << 3);
        } else {
            hdr.new_trace.setInvalid();
            hdr.new_direct_export.setInvalid();
            hdr.new_export_flow.setInvalid();
        }
        if (!traced && encapsulation.policy | encapsulation.source_route == 0) {
            encapsulation.mode = ENCAPSULATE_NONE;
        }
    }
}

#endif
