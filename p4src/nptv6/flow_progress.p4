// What a packet adds to what is remembered of its flow. What goes by its bucket's home needs no memory.

#ifndef WAYNAME_NPTV6_FLOW_PROGRESS_P4
#define WAYNAME_NPTV6_FLOW_PROGRESS_P4

#include "../common/metadata.p4"
#include "../common/reasons.p4"
#include "../common/types.p4"
#include "../sessions/metadata.p4"
#include "flow_of_border.p4"
#include "flow_slots.p4"
#include "metadata.p4"

control FlowProgress(inout metadata_t meta, in flow_packet_t packet, in bit<8> home, in bit<8> current, inout flow_slot_t its,
                     out bool write) {
    apply {
        bit<8> provider = meta.border.provider;
        write = false;
        if (provider == 0 || packet.is_error) {
            // Nothing to remember.
        } else if (meta.border.way == BORDER_OUT) {
            write = its.has_slot
                || (its.free && (its.known || provider != home || (its.translated && meta.session.source_speaker == SPEAKER_EDGE)));
            if (!its.known || its.stage == FLOW_HEARD) {
                its.stage = FLOW_ANSWERED;
            }
        } else if (meta.border.way == BORDER_IN && !meta.decided) {
            bool elsewhere = provider != home || provider != current;
            bool new_address = meta.border.destination.wanted;
            write = its.has_slot
                || (its.free && (its.known || elsewhere || (new_address && meta.session.destination_speaker == SPEAKER_EDGE)));
            if (its.known && provider == its.provider) {
                if (its.stage == FLOW_ANSWERED) {
                    its.stage = FLOW_ESTABLISHED;
                }
            } else if (its.known && its.stage == FLOW_ESTABLISHED
                       && (!its.has_slot || meta.arrived - its.last < FLOW_ANSWER_TIME || (packet.of_tcp && !packet.begins))) {
                provider = its.provider;        // nobody else moves it while it lives
            } else {
                its.stage = FLOW_HEARD;
                its.translated = new_address;
                its.told = false;
                its.reported = false;
            }
            if (!write && !its.known && elsewhere && !packet.native) {
                DROP(DROP_FLOWS_FULL);    // its answer would leave under another address
            }
        }
        its.provider = provider;
    }
}

#endif
