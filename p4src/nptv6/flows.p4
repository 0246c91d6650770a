// By which provider a packet crosses the border of a site. A flow keeps the provider that it began by, in or out: its peer knows it
// by that provider's address.
//
//   a flow from inside begins      by the provider that serves its bucket now
//   a connection goes on           by the provider that is remembered of it, else by its bucket's home
//   a flow from outside begins     by the provider whose address it came to
//
//   what flow is it -> its slot, or what another switch had there -> its bucket's providers -> out: by which -> other address -> remember it
//
// So what goes by its bucket's home needs no memory; all else has a slot (flow_slots.p4).
// Pairs that a session may be made for are remembered too: a connection that began under another address stays out of it.

#ifndef WAYNAME_NPTV6_FLOWS_P4
#define WAYNAME_NPTV6_FLOWS_P4

#include "../common/keyed_hash.p4"
#include "../common/metadata.p4"
#include "../common/reasons.p4"
#include "../common/types.p4"
#include "../ilnp/headers.p4"
#include "../parsing/headers.p4"
#include "../sessions/metadata.p4"
#include "../sessions/shim6_headers.p4"
#include "established_flows.p4"
#include "flow_of_border.p4"
#include "flow_progress.p4"
#include "flow_slots.p4"
#include "metadata.p4"
#include "outbound_provider.p4"
#include "provider_choice.p4"
#include "sources.p4"

control BorderFlows(in headers_t hdr, inout metadata_t meta) {
    FlowOfBorder() flow_of_border;
    FlowSlots() flow_slots;
    EstablishedFlows() established_flows;
    ProviderChoice() provider_choice;
    OutboundProvider() outbound_provider;
    Nptv6Sources() nptv6_sources;
    FlowProgress() flow_progress;

    apply {
        flow_packet_t packet = { false, false, false, false, 0 };
        flow_slot_t its = { 0, 0, 0, false, false, false, 0, 0, 0, 0, 0, false, false, false };
        bit<8> home = 0;
        bit<8> current = 0;

        // A host that speaks for itself, and what its edge sends for it, has the addresses that it wants; unless it leaves
        // its locators to the border (RFC 6748): then its sessions go on under others, by any provider, at once.
        packet.native = meta.ilnp.kind == NONCE_HERE
            && (meta.session.source_protocols | meta.session.destination_protocols) & PROTOCOL_HOSTS != 0;
        if ((meta.border.way == BORDER_OUT
             && (meta.shim6.kind != SHIM6_NONE || (meta.ilnp.kind != NONCE_NONE && !packet.native)))
            || (meta.border.way == BORDER_IN && meta.session.number != 0)) {
            meta.border.way = BORDER_STAYS;
        }

        if (!meta.decided && (meta.border.way == BORDER_OUT || meta.border.way == BORDER_IN)) {
            flow_of_border.apply(hdr, meta.border, meta.flow, meta.icmpv6, meta.fragmented, packet);
            if (packet.native) {
                meta.flow_event.nonce_octets = meta.ilnp.octets;
            }
            bit<32> ports = meta.border.local_port ++ meta.border.remote_port;
            its.flow = meta.border.local ++ meta.border.remote ++ meta.border.next_header ++ ports;
            its.places = slot_hash_of_flow(meta.keys.slots, meta.border.local, meta.border.remote,
                                           8w37 ++ 16w0 ++ meta.border.next_header ++ ports);
            flow_slots.apply(meta.keys.slots, meta.arrived, false, false, its);
            established_flows.apply(meta.border, its);
            if (meta.session.number != 0 && meta.border.way == BORDER_OUT) {
                if (its.translated && !packet.begins && its.stage != FLOW_HEARD) {
                    meta.session.number = 0;    // it began without the session
                } else {
                    meta.border.way = BORDER_STAYS;
                }
            }
        }
        if (!meta.decided && (meta.border.way == BORDER_OUT || meta.border.way == BORDER_IN)) {
            provider_choice.apply(meta.border, packet.ports_hashed, home, current);
        }
        if (!meta.decided && meta.border.way == BORDER_OUT) {
            outbound_provider.apply(meta, packet, home, current, its);
        }
        if (!meta.decided && (meta.border.way == BORDER_OUT || meta.border.way == BORDER_HAIRPIN)) {
            if (meta.border.provider == 0) {
                DROP_WITH_ERROR(DROP_NO_PROVIDER, ICMPV6_UNREACHABLE, UNREACHABLE_NO_ROUTE);
            } else {
                nptv6_sources.apply(meta);
            }
            its.translated = meta.border.source.wanted;
        }
        bool write;
        flow_progress.apply(meta, packet, home, current, its, write);
        if (write) {
            flow_slots.apply(meta.keys.slots, meta.arrived, true, meta.border.way == BORDER_OUT, its);
        }
    }
}

#endif
