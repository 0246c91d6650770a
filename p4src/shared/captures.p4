// Captures: copies of what arrives by a port, and of what leaves by it, for the controller. What becomes of the packet
// itself stays as it is; what is dropped on the way in was captured all the same.
//
// A packet is copied once in ingress. One whose copy, or which itself, goes to the controller for a reason of its own is
// copied again when it leaves for there: first it comes as punted, then as captured.

#ifndef WAYNAME_CAPTURES_P4
#define WAYNAME_CAPTURES_P4

// Ingress, when all is decided.
control CaptureIn(in headers_t hdr, inout metadata_t meta) {
    @id(CAPTURES_IN_COUNTER_ID) TABLE_COUNTER(captures_in_counter);

    @id(CAPTURE_IN_METER_ID)
    @name("capture_in_meter")
    @brief("Copies of what arrives, by port.")
    METERS(port_t, PORTS, capture_in_meter);

    @id(CAPTURE_IN_ACTION_ID)
    @name("capture_in")
    action capture_in() {
    }

    @id(NOT_CAPTURED_IN_ACTION_ID)
    @name("not_captured_in")
    action not_captured_in() {
    }

    @id(CAPTURES_IN_TABLE_ID)
    @name("captures_in")
    @brief("Ports whose arriving packets the controller gets copies of.")
    table captures_in {
        key = {
            meta.ingress_port : exact @id(1) @name("port");
        }
        actions = {
            capture_in;
            @defaultonly not_captured_in;
        }
        const default_action = not_captured_in;
        counters = captures_in_counter;
        size = PORTS;
    }

    apply {
        // What the controller submits was captured when it arrived, and so was what starts again to become an error.
        if (!meta.from_controller && !hdr.quote.isValid() && captures_in.apply().hit) {
            colour_t colour;
            METER(capture_in_meter, meta.ingress_port, colour);
            if (colour != COLOUR_RED) {
                if (meta.punt == PUNT_NONE) {
                    mirror(meta, PUNT_CAPTURED_IN);
                } else {
                    meta.captured = true;
                }
            }
        }
    }
}

// Egress, when all is done.
control CaptureOut(inout metadata_t meta) {
    @id(CAPTURES_OUT_COUNTER_ID) TABLE_COUNTER(captures_out_counter);

    @id(CAPTURE_OUT_METER_ID)
    @name("capture_out_meter")
    @brief("Copies of what leaves, by port.")
    METERS(port_t, PORTS, capture_out_meter);

    @id(CAPTURE_OUT_ACTION_ID)
    @name("capture_out")
    action capture_out() {
    }

    @id(NOT_CAPTURED_OUT_ACTION_ID)
    @name("not_captured_out")
    action not_captured_out() {
    }

    @id(CAPTURES_OUT_TABLE_ID)
    @name("captures_out")
    @brief("Ports whose leaving packets the controller gets copies of.")
    table captures_out {
        key = {
            meta.egress.port : exact @id(1) @name("port");
        }
        actions = {
            capture_out;
            @defaultonly not_captured_out;
        }
        const default_action = not_captured_out;
        counters = captures_out_counter;
        size = PORTS;
    }

    apply {
        if (meta.egress.port == CPU_PORT) {
            if (meta.captured) {
                meta.captured = false;
                meta.punt = PUNT_CAPTURED_IN;
                meta.punt_class = PUNT_CAPTURED_IN;
                meta.egress.copy = true;
            }
        } else if (meta.drop == DROP_NONE && captures_out.apply().hit) {
            colour_t colour;
            METER(capture_out_meter, meta.egress.port, colour);
            if (colour != COLOUR_RED) {
                meta.ingress_port = meta.egress.port;
                meta.vlan = meta.egress.vlan;
                meta.punt = PUNT_CAPTURED_OUT;
                meta.punt_class = PUNT_CAPTURED_OUT;
                meta.egress.copy = true;
            }
        }
    }
}

#endif
