// Mirrors: copies of what arrives by a port, and of what leaves by it, for the controller. What becomes of the packet
// itself stays as it is; what is dropped on the way in is mirrored all the same.
//
// A packet is copied once in ingress. One whose copy, or which itself, goes to the controller for a reason of its own is
// copied again when it leaves for there: first it comes as punted, then as mirrored.

#ifndef WAYNAME_CONTROL_MIRROR_P4
#define WAYNAME_CONTROL_MIRROR_P4

#include "../common/ids.p4"
#include "../common/metadata.p4"
#include "../common/reasons.p4"
#include "../common/sizes.p4"
#include "../common/types.p4"
#include "../parsing/headers.p4"

// Ingress, when all is decided.
control IngressMirror(in headers_t hdr, inout metadata_t meta) {
    @id(INGRESS_MIRROR_COUNTER_ID) TABLE_COUNTER(ingress_mirror_counter);

    @id(INGRESS_MIRROR_METER_ID)
    @name("ingress_mirror_meter")
    @brief("Copies of what arrives, by port.")
    METERS(port_t, PORTS, ingress_mirror_meter);

    @id(MIRROR_INGRESS_ACTION_ID)
    @name("mirror_ingress")
    action mirror_ingress() {
    }

    @id(NO_INGRESS_MIRROR_ACTION_ID)
    @name("no_ingress_mirror")
    action no_ingress_mirror() {
    }

    @id(INGRESS_MIRROR_TABLE_ID)
    @name("ingress_mirror")
    @admits_packets
    @brief("Ports whose arriving packets the controller gets copies of.")
    table ingress_mirror {
        key = {
            meta.ingress_port : exact @id(1) @name("port");
        }
        actions = {
            mirror_ingress;
            @defaultonly no_ingress_mirror;
        }
        const default_action = no_ingress_mirror;
        counters = ingress_mirror_counter;
        size = PORTS;
    }

    apply {
        // What the controller submits was mirrored when it arrived, and so was what starts again to become an error, or a probe, or out of
        // a buffer. Of one that goes in several copies the last one is.
        if (!meta.from_controller && !hdr.quote.isValid() && !meta.copy.out_of_buffer && !meta.probe.copy
            && !meta.replication.due && ingress_mirror.apply().hit) {
            colour_t colour;
            METER(ingress_mirror_meter, meta.ingress_port, colour);
            if (colour != COLOUR_RED) {
                if (meta.punt == PUNT_NONE) {
                    COPY_TO_CONTROLLER(PUNT_INGRESS_MIRROR);
                } else {
                    meta.mirrored = true;
                }
            }
        }
    }
}

// Egress, when all is done.
control EgressMirror(inout metadata_t meta) {
    @id(EGRESS_MIRROR_COUNTER_ID) TABLE_COUNTER(egress_mirror_counter);

    @id(EGRESS_MIRROR_METER_ID)
    @name("egress_mirror_meter")
    @brief("Copies of what leaves, by port.")
    METERS(port_t, PORTS, egress_mirror_meter);

    @id(MIRROR_EGRESS_ACTION_ID)
    @name("mirror_egress")
    action mirror_egress() {
    }

    @id(NO_EGRESS_MIRROR_ACTION_ID)
    @name("no_egress_mirror")
    action no_egress_mirror() {
    }

    @id(EGRESS_MIRROR_TABLE_ID)
    @name("egress_mirror")
    @admits_packets
    @brief("Ports whose leaving packets the controller gets copies of.")
    table egress_mirror {
        key = {
            meta.egress.port : exact @id(1) @name("port");
        }
        actions = {
            mirror_egress;
            @defaultonly no_egress_mirror;
        }
        const default_action = no_egress_mirror;
        counters = egress_mirror_counter;
        size = PORTS;
    }

    apply {
        if (meta.egress.port == CPU_PORT) {
            if (meta.mirrored) {
                meta.mirrored = false;
                meta.punt = PUNT_INGRESS_MIRROR;
                meta.punt_class = PUNT_INGRESS_MIRROR;
                meta.egress.copy = true;
            }
        } else if (meta.drop == DROP_NONE && egress_mirror.apply().hit) {
            colour_t colour;
            METER(egress_mirror_meter, meta.egress.port, colour);
            if (colour != COLOUR_RED) {
                meta.ingress_port = meta.egress.port;
                meta.vlan = meta.egress.vlan;
                meta.punt = PUNT_EGRESS_MIRROR;
                meta.punt_class = PUNT_EGRESS_MIRROR;
                meta.egress.copy = true;
            }
        }
    }
}

#endif
