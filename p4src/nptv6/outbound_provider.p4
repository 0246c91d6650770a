// By which provider a packet of a flow goes out: the one that the flow began by, if that works. The controller is told of flows
// whose provider failed, of sessions of hosts that began, and of established flows that the next switch would not know.

#ifndef WAYNAME_NPTV6_OUTBOUND_PROVIDER_P4
#define WAYNAME_NPTV6_OUTBOUND_PROVIDER_P4

#include "../common/ids.p4"
#include "../common/metadata.p4"
#include "../common/reasons.p4"
#include "../common/sizes.p4"
#include "../common/types.p4"
#include "flow_of_border.p4"
#include "flow_slots.p4"
#include "metadata.p4"
#include "provider_choice.p4"

// `home` and `current`: the provider that its bucket has, and the one that serves it now.
control OutboundProvider(inout metadata_t meta, in flow_packet_t packet, in bit<8> home, in bit<8> current,
                         inout flow_slot_t its) {
    ProviderStates() provider_states;

    @id(FLOW_EVENTS_METER_ID)
    @name("flow_event_meter")
    @brief("Digests of flows whose provider failed, by provider.")
    METERS(bit<8>, PROVIDERS, events_meter);

    @id(ESTABLISHED_FLOW_METER_ID)
    @name("established_flow_meter")
    @brief("Digests of established flows, by provider; who is not told of now is with its next packet.")
    METERS(bit<8>, PROVIDERS, established_meter);

    apply {
        bool goes_on = packet.of_tcp && !packet.begins;
        bool was_told = its.told;
        its.told = false;
        bit<8> by = current;
        if (its.known && !packet.begins) {
            by = its.provider;
        } else if (goes_on) {
            by = home;
        }
        if (by != current) {
            bit<8> works;
            provider_states.apply(by, works);
            if (works != PROVIDER_WORKS) {
                meta.flow_event.provider_from = by;
                if (goes_on && works == PROVIDER_HELD) {
                    DROP(DROP_FLOW_HELD);
                    if (!was_told) {
                        meta.flow_event.kind = FLOW_EVENT_HELD;
                    }
                    its.told = true;
                } else {
                    if (goes_on || its.known) {
                        meta.flow_event.kind = FLOW_EVENT_MOVED;
                        meta.flow_event.provider_to = current;
                    }
                    by = current;
                }
            }
        }
        meta.border.provider = by;
        if (by != its.provider) {
            its.reported = false;
        }
        if (packet.native && its.known) {
            its.told = was_told;
            if (!its.told && its.stage == FLOW_ESTABLISHED && meta.flow_event.kind == FLOW_EVENT_NONE) {
                meta.flow_event.kind = FLOW_EVENT_BEGAN;
                meta.flow_event.provider_from = by;
                meta.flow_event.provider_to = by;
                its.told = true;
            }
        }
        if (!packet.native && its.known && its.stage == FLOW_ESTABLISHED && !its.reported
            && meta.flow_event.kind == FLOW_EVENT_NONE) {
            meta.flow_event.kind = FLOW_EVENT_ESTABLISHED;
            meta.flow_event.provider_from = by;
            meta.flow_event.provider_to = by;
            its.reported = true;
        }
        if (packet.is_error) {
            meta.flow_event.kind = FLOW_EVENT_NONE;
        }
        if (meta.flow_event.kind != FLOW_EVENT_NONE) {
            colour_t colour;
            if (meta.flow_event.kind == FLOW_EVENT_ESTABLISHED) {
                METER(established_meter, meta.flow_event.provider_from, colour);
            } else {
                METER(events_meter, meta.flow_event.provider_from, colour);
            }
            if (colour == COLOUR_RED) {
                // With the next packet, then.
                its.told = its.told && meta.flow_event.kind != FLOW_EVENT_BEGAN;
                its.reported = its.reported && meta.flow_event.kind != FLOW_EVENT_ESTABLISHED;
                meta.flow_event.kind = FLOW_EVENT_NONE;
            }
        }
    }
}

#endif
