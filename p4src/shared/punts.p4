// The way to the controller: a meter before it, a header before the packet.

#ifndef WAYNAME_PUNTS_P4
#define WAYNAME_PUNTS_P4

// Ingress.
control PuntLimits(inout metadata_t meta) {
    @id(PUNT_METER_ID)
    @name("punt_meter")
    @brief("Packets to the controller, by reason.")
    METERS(punt_reason_t, REASONS, punt_meter);

    @id(PUNTS_COUNTER_ID)
    @name("punts")
    @brief("Packets that went to the controller, by reason.")
    COUNTERS(punt_reason_t, REASONS, punts);

    apply {
        if (meta.punt != PUNT_NONE) {
            colour_t colour;
            METER(punt_meter, meta.punt, colour);
            if (colour != COLOUR_RED) {
                punts.count(meta.punt);
            } else {
                meta.punt = PUNT_NONE;
                if (!meta.punt_copy) {
                    drop(meta, DROP_PUNT_RATE);
                }
                meta.punt_copy = false;
            }
        }
    }
}

// Egress. The packet itself is as it arrived, or as it leaves.
control PuntHeader(inout headers_t hdr, inout metadata_t meta) {
    apply {
        hdr.packet_in.setValid();
        hdr.packet_in.reason = meta.punt;
        hdr.packet_in.ingress_port = (bit<16>)meta.ingress_port;
        hdr.packet_in.vlan = (bit<16>)meta.vlan;
        if (meta.egress.cut != 0) {
            meta.egress.cut = meta.egress.cut + PACKET_IN_BYTES;
        }
    }
}

#endif
