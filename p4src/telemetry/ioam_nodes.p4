// What this node writes into traces (RFC 9197, section 4.4.2), into those it puts on and into those that pass it.
//
// A namespace is known on the ports where packets with its traces are taken from, and for traces that begin here on the
// controller's port: so no host can ask for what it should not know. Times are POSIX's, in seconds and microseconds
// (section 5.3). A trace that is full is marked so, and one that makes no sense is left alone.

#ifndef WAYNAME_TELEMETRY_IOAM_NODES_P4
#define WAYNAME_TELEMETRY_IOAM_NODES_P4

#include "../common/ids.p4"
#include "../common/metadata.p4"
#include "../common/reasons.p4"
#include "../common/sizes.p4"
#include "../common/types.p4"
#include "../parsing/headers.p4"
#include "../encapsulation/metadata.p4"
#include "ioam_headers.p4"

const bit<32> NOT_POPULATED = 0xFFFFFFFF;
const bit<24> NO_SCHEMA     = 0xFFFFFF;

// Microseconds to seconds without a division: times 2^71 / 10^6, rounded up, which is exact below 2^51 microseconds.
const bit<128> SECONDS_OF_MICROSECONDS = 2361183241434823;

struct namespace_t {
    bit<24> node;
    bit<56> node_wide;
    bit<32> data;
    bit<64> data_wide;
    bit<24> schema;
    bit<64> snapshot;
    bit<64> epoch;
}

// Which words a node's data has.
control NodeData(inout node_data_t node, in bit<24> type, in bit<5> unknown, in bit<8> hop_limit,
                 in namespace_t namespace, in metadata_t meta) {
    apply {
        if (type[23:23] == 1) {
            node.node.setValid();
            node.node.hop_limit = hop_limit;
            node.node.id = namespace.node;
        }
        if (type[22:22] == 1) {
            node.interfaces.setValid();
            node.interfaces.ingress = (bit<16>)meta.ingress_port;
            node.interfaces.egress = (bit<16>)meta.egress.port;
        }
        if (type[21:20] != 0) {
            bit<64> time = namespace.epoch + (bit<64>)meta.arrived;
            bit<64> seconds = (bit<64>)((bit<128>)time * SECONDS_OF_MICROSECONDS >> 71);
            if (type[21:21] == 1) {
                node.seconds.setValid();
                node.seconds.data = seconds[31:0];
            }
            if (type[20:20] == 1) {
                node.fraction.setValid();
                node.fraction.data = (bit<32>)(time - seconds * 1000000);
            }
        }
        if (type[19:19] == 1) {
            bit<64> delay = (bit<64>)(meta.departed - meta.arrived) * 1000;
            node.delay.setValid();
            if (delay >= 0x80000000) {
                delay = 0x80000000;
            }
            node.delay.data = delay[31:0];
        }
        if (type[18:18] == 1) {
            node.data.setValid();
            node.data.data = namespace.data;
        }
        if (type[17:17] == 1) {
            node.queue.setValid();
            node.queue.data = meta.queue;
        }
        if (type[16:16] == 1) {
            node.checksum.setValid();       // no checksum covers options of IPv6
            node.checksum.data = NOT_POPULATED;
        }
        if (type[15:15] == 1) {
            node.node_wide.setValid();
            node.node_wide.hop_limit = hop_limit;
            node.node_wide.id = namespace.node_wide;
        }
        if (type[14:14] == 1) {
            node.interfaces_wide.setValid();
            node.interfaces_wide.ingress = (bit<32>)meta.ingress_port;
            node.interfaces_wide.egress = (bit<32>)meta.egress.port;
        }
        if (type[13:13] == 1) {
            node.data_wide.setValid();
            node.data_wide.data = namespace.data_wide;
        }
        if (type[12:12] == 1) {
            node.buffers.setValid();        // queues share none that could be told
            node.buffers.data = NOT_POPULATED;
        }
        if (unknown[0:0] == 1) {
            node.unknown_1.setValid();
            node.unknown_1.data = NOT_POPULATED;
        }
        if (unknown[1:1] == 1) {
            node.unknown_2.setValid();
            node.unknown_2.data = (bit<64>)(-1);
        }
        if (unknown[2:2] == 1) {
            node.unknown_4.setValid();
            node.unknown_4.data = (bit<128>)(-1);
        }
        if (unknown[3:3] == 1) {
            node.unknown_8 = { (bit<128>)(-1), (bit<128>)(-1) };
        }
        if (type[1:1] == 1) {
            node.snapshot.setValid();
            node.snapshot.length = 0;
            node.snapshot.schema = namespace.schema;
            if (namespace.schema != NO_SCHEMA) {
                node.snapshot.length = 2;
                node.snapshot_data.setValid();
                node.snapshot_data.data = namespace.snapshot;
            }
        }
    }
}

// Free words of a new trace: each bit of their number is one header.
control FreeWords(inout free_words_t free, in bit<7> words) {
    apply {
        if (words[5:5] == 1) {
            free.words_32 = { 0, 0, 0, 0, 0, 0, 0, 0 };
        }
        if (words[4:4] == 1) {
            free.words_16 = { 0, 0, 0, 0 };
        }
        if (words[3:3] == 1) {
            free.words_8 = { 0, 0 };
        }
        if (words[2:2] == 1) {
            free.words_4 = { 0 };
        }
        if (words[1:1] == 1) {
            free.words_2 = { 0 };
        }
        if (words[0:0] == 1) {
            free.words_1 = { 0 };
        }
    }
}

control IoamTraceNode(inout headers_t hdr, inout metadata_t meta) {
    @id(IOAM_NAMESPACES_COUNTER_ID) TABLE_COUNTER(ioam_namespaces_counter);

    namespace_t known = { 0, 0, 0, 0, 0, 0, 0 };
    bit<16> namespace = 0;
    port_t from = CPU_PORT;
    bit<24> type = 0;
    bit<5> node_length = 0;
    bit<8> hop_limit = 0;

    FreeWords() free_words;
    NodeData() first_data;
    NodeData() data_here;

    @id(SET_NAMESPACE_ACTION_ID)
    @name("set_namespace")
    @brief("What this node says of itself: ids short and wide, data short and wide, a snapshot with its schema (0xFFFFFF for none), and the POSIX time in microseconds at which the clock of the switch was 0.")
    action set_namespace(@id(1) bit<24> node, @id(2) bit<56> node_wide, @id(3) bit<32> data, @id(4) bit<64> data_wide,
                         @id(5) bit<24> schema, @id(6) bit<64> snapshot, @id(7) bit<64> epoch) {
        known = { node, node_wide, data, data_wide, schema, snapshot, epoch };
    }

    @id(FOREIGN_NAMESPACE_ACTION_ID)
    @name("foreign_namespace")
    action foreign_namespace() {
    }

    @id(IOAM_NAMESPACES_TABLE_ID)
    @name("ioam_namespaces")
    @brief("Namespaces in which this node writes, by the port that the packet came in by; the controller's port is for traces that begin here.")
    table ioam_namespaces {
        key = {
            from      : exact @id(1) @name("port");
            namespace : exact @id(2) @name("namespace");
        }
        actions = {
            set_namespace;
            @defaultonly foreign_namespace;
        }
        const default_action = foreign_namespace;
        counters = ioam_namespaces_counter;
        size = IOAM_NAMESPACES;
    }

    apply {
        bool begins = hdr.new_trace.isValid();
        if (begins || hdr.trace.isValid()) {
            if (begins) {
                namespace = hdr.new_trace.namespace;
                type = hdr.new_trace.type;
                node_length = hdr.new_trace.node_length;
            } else {
                from = meta.ingress_port;
                namespace = hdr.trace.namespace;
                type = hdr.trace.type;
                node_length = hdr.trace.node_length;
            }
            hop_limit = hdr.ipv6.hop_limit;
            if (begins && meta.encapsulation.mode != ENCAPSULATE_INLINE) {
                hop_limit = HOP_LIMIT_OWN;
            }

            bool known_here = ioam_namespaces.apply().hit;
            bit<5> defined = (bit<5>)type[23:23] + (bit<5>)type[22:22] + (bit<5>)type[21:21] + (bit<5>)type[20:20]
                + (bit<5>)type[19:19] + (bit<5>)type[18:18] + (bit<5>)type[17:17] + (bit<5>)type[16:16]
                + ((bit<5>)type[15:15] + (bit<5>)type[14:14] + (bit<5>)type[13:13] << 1) + (bit<5>)type[12:12];
            bit<5> unknown = (bit<5>)type[11:11] + (bit<5>)type[10:10] + (bit<5>)type[9:9] + (bit<5>)type[8:8]
                + (bit<5>)type[7:7] + (bit<5>)type[6:6] + (bit<5>)type[5:5] + (bit<5>)type[4:4] + (bit<5>)type[3:3]
                + (bit<5>)type[2:2];
            bool snapshot_with_data = type[1:1] == 1 && known.schema != NO_SCHEMA;
            bit<7> words = (bit<7>)node_length + (bit<7>)type[1:1];

            if (defined + unknown != node_length) {
                known_here = false;
            }
            if (snapshot_with_data) {
                words = words + 2;
            }

            if (begins) {
                if (known_here) {
                    if (words > hdr.new_trace.words_left) {
                        hdr.new_trace.overflow = 1;
                    } else {
                        first_data.apply(hdr.new_node, type, unknown, hop_limit, known, meta);
                        hdr.new_trace.words_left = hdr.new_trace.words_left - words;
                    }
                }
                free_words.apply(hdr.free_words, hdr.new_trace.words_left);
            } else if (known_here && hdr.trace.overflow == 0) {
                if (meta.trace.slot && (!snapshot_with_data || hdr.trace_spare.isValid())) {
                    data_here.apply(hdr.node, type, unknown, hop_limit, known, meta);
                    hdr.trace.words_left = hdr.trace.words_left - words;
                    hdr.trace_slot.setInvalid();
                    if (snapshot_with_data) {
                        hdr.trace_spare.setInvalid();
                    }
                } else if (meta.trace.slot || meta.trace.full) {
                    hdr.trace.overflow = 1;
                }
            }
            if (!known_here && meta.egress.port == CPU_PORT) {
                DROP(DROP_TRACE_FOREIGN);
            }
        }
    }
}

// Ingress: a copy of each packet that asks for it goes back to where its trace began (RFC 9322, section 4). The controller
// sends it, so that its rate is bounded. With more than one word for each node it would grow too much: then no copy.
control TraceLoopback(in headers_t hdr, inout metadata_t meta) {
    apply {
        if (meta.egress.routed && meta.drop == DROP_NONE && meta.punt == PUNT_NONE && hdr.trace.isValid()
            && hdr.trace.loopback == 1 && hdr.trace.type == 0x800000) {
            COPY_TO_CONTROLLER(PUNT_LOOPBACK);
        }
    }
}

#endif
