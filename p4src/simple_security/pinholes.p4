// What the operator lets in: hosts, an upper layer, ports. What a pinhole covers needs no record in either direction, so a flood at it
// makes none.

#ifndef WAYNAME_SIMPLE_SECURITY_PINHOLES_P4
#define WAYNAME_SIMPLE_SECURITY_PINHOLES_P4

#include "../common/ids.p4"
#include "../common/sizes.p4"
#include "metadata.p4"

control Pinholes(in filtered_flow_t flow, out bool open) {
    @id(PINHOLES_COUNTER_ID) TABLE_COUNTER(pinholes_counter);

    @id(OPEN_PINHOLE_ACTION_ID)
    @name("open_pinhole")
    @brief("Anybody outside may begin these flows.")
    action open_pinhole() {
        open = true;
    }

    @id(NO_PINHOLE_ACTION_ID)
    @name("no_pinhole")
    action no_pinhole() {
    }

    @id(PINHOLES_TABLE_ID)
    @name("pinholes")
    @brief("Flows to hosts inside that may begin outside.")
    table pinholes {
        key = {
            flow.local       : ternary @id(1) @name("local");
            flow.next_header : ternary @id(2) @name("next_header");
            flow.local_port  : range   @id(3) @name("local_port");
        }
        actions = {
            open_pinhole;
            @defaultonly no_pinhole;
        }
        const default_action = no_pinhole;
        counters = pinholes_counter;
        size = PINHOLES;
    }

    apply {
        open = false;
        pinholes.apply();
    }
}

#endif
