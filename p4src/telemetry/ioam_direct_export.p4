// Direct export (RFC 9326): a packet asks, and each node tells the controller what a trace would hold, by digest. The packet
// stays as it is. When it leaves is not known yet: delay and queue are what traces are for.

#ifndef WAYNAME_TELEMETRY_IOAM_DIRECT_EXPORT_P4
#define WAYNAME_TELEMETRY_IOAM_DIRECT_EXPORT_P4

#include "../common/ids.p4"
#include "../common/metadata.p4"
#include "../common/reasons.p4"
#include "../common/sizes.p4"
#include "../common/types.p4"
#include "../parsing/headers.p4"

// Ingress, when the packet's way is known.
control DirectExport(in headers_t hdr, inout metadata_t meta) {
    @id(EXPORT_RULES_COUNTER_ID) TABLE_COUNTER(export_rules_counter);

    @id(EXPORT_METER_ID)
    @name("export_meter")
    @brief("Direct exports, by port.")
    METERS(port_t, PORTS, export_meter);

    @id(EXPORT_DIRECTLY_ACTION_ID)
    @name("export_directly")
    @brief("What this node says of itself, and the POSIX time in microseconds at which the clock of the switch was 0.")
    action export_directly(@id(1) bit<24> node, @id(2) bit<32> data, @id(3) bit<64> epoch) {
        meta.export.wanted = true;
        meta.export.node = node;
        meta.export.data = data;
        meta.export.time = epoch + (bit<64>)meta.arrived;
    }

    @id(NOT_EXPORTED_ACTION_ID)
    @name("not_exported")
    action not_exported() {
    }

    @id(EXPORT_RULES_TABLE_ID)
    @name("export_rules")
    @brief("Namespaces in which this node exports, by the port that the packet came in by.")
    table export_rules {
        key = {
            meta.ingress_port     : exact @id(1) @name("port");
            meta.export.namespace : exact @id(2) @name("namespace");
        }
        actions = {
            export_directly;
            @defaultonly not_exported;
        }
        const default_action = not_exported;
        counters = export_rules_counter;
        size = IOAM_NAMESPACES;
    }

    apply {
        if (meta.egress.routed && meta.drop == DROP_NONE && meta.export.asked && hdr.ipv6.isValid()
            && export_rules.apply().hit) {
            colour_t colour;
            METER(export_meter, meta.ingress_port, colour);
            meta.export.wanted = colour != COLOUR_RED;
        }
    }
}

#endif
