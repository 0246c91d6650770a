// Between v1model's standard metadata and ours: what it tells at the beginning of each block, and how it does at the
// end what the folders beside this one decided.

#ifndef WAYNAME_V1MODEL_STANDARD_P4
#define WAYNAME_V1MODEL_STANDARD_P4

#include "../common/ids.p4"
#include "../common/metadata.p4"
#include "../common/packet_metadata.p4"
#include "../common/reasons.p4"
#include "../common/sizes.p4"
#include "../common/types.p4"
#include "../encapsulation/metadata.p4"
#include "../ilnp/metadata.p4"
#include "../nptv6/metadata.p4"
#include "../parsing/headers.p4"
#include "../parsing/parser.p4"
#include "../scheduling/metadata.p4"
#include "../sessions/metadata.p4"

// The clone session that leads to the controller; the controller sets it up.
const bit<32> CPU_SESSION = 1;

// `standard.instance_type` of a packet that ingress had start again.
const bit<32> RESUBMITTED = 6;

// Of a copy that ingress made, and of a packet that egress had start again.
const bit<32> INGRESS_CLONE = 1;
const bit<32> RECIRCULATED  = 4;

parser EdgePacket(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    EdgeParser() edge;

    // A packet that starts again has no port of its own; it brings the metadata it needs.
    state start {
        transition select(standard.instance_type, standard.ingress_port) {
            (RESUBMITTED, _): parse;
            (RECIRCULATED, _): clone;
#ifdef WITH_PACKET_BUFFERS
            (INSTANCE_TYPE_KEPT, _): out_of_buffer;
#endif
            (_, CPU_PORT): from_controller;
            default: from_port;
        }
    }

    // A report, a probe or a copy goes on as if it had come where the packet came that it was made of.
    state clone {
        meta.from_controller = false;
        meta.icmp_error.type = 0;
        meta.path_option.alone = meta.path_option.lone_due;
        meta.path_option.lone_due = false;
        meta.probe.copy = meta.probe.due;
        meta.probe.due = false;
        meta.replication.copy = meta.replication.due;
        meta.replication.due = false;
        meta.copy.out_of_buffer = false;
        transition parse;
    }

#ifdef WITH_PACKET_BUFFERS
    state out_of_buffer {
        meta.from_controller = false;
        meta.icmp_error.type = 0;
        meta.copy.out_of_buffer = true;
        transition parse;
    }
#endif

    state from_controller {
        meta.from_controller = true;
        transition first_pass;
    }

    // A copy for the controller is taken apart anew. BMv2 does that with metadata that an earlier packet left behind.
    state from_port {
        meta.from_controller = false;
        transition first_pass;
    }

    state first_pass {
        meta.ingress_port = standard.ingress_port;
        meta.icmp_error.type = 0;
        meta.copy.out_of_buffer = false;
        transition parse;
    }

    state parse {
        edge.apply(packet, hdr, meta);
        transition accept;
    }
}

control IngressBegin(inout metadata_t meta, in standard_metadata_t standard) {
    @id(PORT_RECEIVED_COUNTER_ID)
    @name("port_received")
    @brief("Packets received, by port.")
    COUNTERS(port_t, PORTS, port_received);

    apply {
        meta.length = standard.packet_length;
        // BMv2 has no time of what starts again.
        if (standard.instance_type != RECIRCULATED) {
            meta.arrived = standard.ingress_global_timestamp;
        }
        if (standard.parser_error != error.NoError && meta.fault == DROP_NONE) {
            meta.fault = DROP_TRUNCATED;
        }
        if (standard.instance_type != RESUBMITTED && standard.instance_type != RECIRCULATED && !meta.copy.out_of_buffer) {
            port_received.count(meta.ingress_port);
        }
    }
}

control IngressEnd(in headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    @id(INGRESS_DROPS_COUNTER_ID)
    @name("ingress_drops")
    @brief("Packets dropped in ingress, by reason.")
    COUNTERS(drop_reason_t, REASONS, ingress_drops);

    apply {
        if (meta.learn) {
            digest<learn_t>(1, { meta.ingress_port, meta.vlan, hdr.ethernet.source });
        }
        if (meta.export.wanted) {
            digest<direct_export_t>(1, {
                meta.export.namespace, meta.export.type, meta.export.flow, meta.export.sequence,
                meta.export.node, hdr.ipv6.hop_limit - 1, meta.ingress_port, meta.egress.port, meta.export.time,
                meta.export.data
            });
        }
        if (meta.session_event.kind != SESSION_EVENT_NONE) {
            digest<session_event_digest_t>(1, {
                meta.session_event.kind, meta.session.number, meta.session_event.path_from, meta.session_event.path_to, meta.session_event.age
            });
        }
        if (meta.path_event.kind != PATH_EVENT_NONE) {
            digest<path_event_digest_t>(1, {
                meta.path_event.kind, meta.schedule.number, meta.session.number, meta.path_event.slot, meta.path_event.path,
                meta.path_event.late, meta.path_event.delay, meta.path_event.inverse_rate, meta.path_event.queue,
                meta.path_event.packets, meta.path_event.lost, meta.path_event.marked
            });
        }
        if (meta.pair.active) {
            digest<pair_active_t>(1, {
                meta.pair.source, meta.pair.destination, meta.pair.bytes, meta.pair.age, meta.pair.opened_here
            });
        }
        if (meta.ilnp.admitted) {
            digest<ilnp_flow_t>(1, {
                meta.session.local, meta.session.remote, meta.ilnp.nonce_to_peer, meta.ilnp.nonce_from_peer,
                meta.ilnp.octets, meta.ilnp.opened_here
            });
        }
        if (meta.flow_event.kind != FLOW_EVENT_NONE) {
            digest<flow_event_digest_t>(1, {
                meta.flow_event.kind, meta.flow_event.provider_from, meta.flow_event.provider_to, meta.border.site,
                meta.border.local, meta.border.remote, meta.border.next_header, meta.border.local_port,
                meta.border.remote_port, meta.flow_event.nonce_octets, meta.ilnp.nonce
            });
        }
        // A copy of the packet as it arrived, whatever has become of it here.
        if (meta.punt != PUNT_NONE) {
            clone_preserving_field_list(CloneType.I2E, CPU_SESSION, FIELDS_OF_PUNT);
        } else if (meta.path_option.lone_due || meta.probe.due || meta.replication.due) {
            clone_preserving_field_list(CloneType.I2E, CPU_SESSION, FIELDS_OF_CLONE);
        }
        if (meta.drop != DROP_NONE) {
            ingress_drops.count(meta.drop);
            if (meta.icmp_error.type != 0 && !hdr.quote.isValid()) {
                resubmit_preserving_field_list(FIELDS_OF_ERROR);
            }
            mark_to_drop(standard);
        } else if (meta.punt != PUNT_NONE && !meta.punt_copy) {
            mark_to_drop(standard);
        } else {
            standard.egress_spec = meta.egress.port;
            standard.mcast_grp = meta.egress.group;
        }
    }
}

control EgressBegin(inout headers_t hdr, inout metadata_t meta, in standard_metadata_t standard) {
    apply {
        meta.egress.port = standard.egress_port;
        meta.departed = standard.egress_global_timestamp;
        meta.queue = (bit<32>)standard.deq_qdepth;
        hdr.packet_out.setInvalid();
    }
}

// Has the copy that becomes a report or a probe, or goes beside its packet, start again; it leaves by no port.
control EgressAgain(in metadata_t meta, in standard_metadata_t standard, out bool again) {
    apply {
        again = standard.instance_type == INGRESS_CLONE
            && (meta.path_option.lone_due || meta.probe.due || meta.replication.due);
        if (again) {
            recirculate_preserving_field_list(FIELDS_OF_CLONE);
        }
    }
}

control EgressEnd(in metadata_t meta, inout standard_metadata_t standard) {
    @id(PORT_SENT_COUNTER_ID)
    @name("port_sent")
    @brief("Packets sent, by port.")
    COUNTERS(port_t, PORTS, port_sent);

    @id(EGRESS_DROPS_COUNTER_ID)
    @name("egress_drops")
    @brief("Packets dropped in egress, by reason.")
    COUNTERS(drop_reason_t, REASONS, egress_drops);

    apply {
        if (meta.drop != DROP_NONE) {
            egress_drops.count(meta.drop);
            mark_to_drop(standard);
        } else {
            port_sent.count(meta.egress.port);
            if (meta.egress.cut != 0) {
                truncate((bit<32>)meta.egress.cut);
            }
        }
        if (meta.egress.copy) {
            clone_preserving_field_list(CloneType.E2E, CPU_SESSION, FIELDS_OF_PUNT);
        }
    }
}

// A corrupt checksum is the receiver's to find: transports have their own, and IPv6 has none.
control NoChecksums(inout headers_t hdr, inout metadata_t meta) {
    apply {
    }
}

control ErrorChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply {
        update_checksum(
            hdr.icmpv6_error.isValid(),
            {
                hdr.ipv6.source, hdr.ipv6.destination, 16w0, hdr.ipv6.payload_length, 24w0, hdr.ipv6.next_header,
                hdr.icmpv6_error.type, hdr.icmpv6_error.code, hdr.icmpv6_error.parameter, hdr.quote.data
            },
            hdr.icmpv6_error.checksum,
            HashAlgorithm.csum16);
    }
}

#endif
