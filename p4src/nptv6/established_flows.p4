// Flows that are established, as another switch had them in their slots, or this one before it began anew: the controller was told
// of them (FLOW_EVENT_ESTABLISHED), and keeps them here. A flow whose slot is there goes by that; one that has none yet has
// come as far as an entry says, and gets a slot with its packet. Entries are told of when nothing of their flow passes any more.

#ifndef WAYNAME_NPTV6_ESTABLISHED_FLOWS_P4
#define WAYNAME_NPTV6_ESTABLISHED_FLOWS_P4

#include "../common/ids.p4"
#include "../common/sizes.p4"
#include "flow_slots.p4"
#include "metadata.p4"

control EstablishedFlows(in border_t border, inout flow_slot_t its) {
    @id(ESTABLISHED_FLOWS_COUNTER_ID) TABLE_COUNTER(established_flows_counter);

    bit<8> by = 0;
    bit<1> translates = 0;

    @id(USE_ESTABLISHED_FLOW_ACTION_ID)
    @name("use_established_flow")
    @brief("The flow goes by a provider, under another address than the inside's or not.")
    action use_established_flow(@id(1) bit<8> provider, @id(2) bit<1> translated) {
        by = provider;
        translates = translated;
    }

    @id(NO_ESTABLISHED_FLOW_ACTION_ID)
    @name("no_established_flow")
    action no_established_flow() {
    }

    @id(ESTABLISHED_FLOWS_TABLE_ID)
    @name("established_flows")
    @brief("Flows that are established, and their providers, for when their slots are lost.")
    table established_flows {
        key = {
            border.local       : exact @id(1) @name("local");
            border.remote      : exact @id(2) @name("remote");
            border.next_header : exact @id(3) @name("next_header");
            border.local_port  : exact @id(4) @name("local_port");
            border.remote_port : exact @id(5) @name("remote_port");
        }
        actions = {
            use_established_flow;
            @defaultonly no_established_flow;
        }
        const default_action = no_established_flow;
        counters = established_flows_counter;
        AGES
        size = ESTABLISHED_FLOWS;
    }

    apply {
        if (established_flows.apply().hit && !its.has_slot) {
            its.known = true;
            its.stage = FLOW_ESTABLISHED;
            its.provider = by;
            its.translated = translates == 1;
            its.reported = true;
        }
    }
}

#endif
