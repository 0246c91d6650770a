// Wayname's edge switch on v1model. The behaviour is in shared/, one concern a file; here is its order.
//
// A stage that settles what becomes of a packet leaves nothing for the later ones to do. What ingress decides stands in
// the metadata, and egress carries it out once.

#include "arch.p4"
#include "../shared/types.p4"
#include "../shared/sizes.p4"
#include "../shared/ids.p4"
#include "../shared/reasons.p4"
#include "../shared/routing_headers.p4"
#include "../shared/trace_headers.p4"
#include "../shared/shim6_headers.p4"
#include "../shared/ilnp_headers.p4"
#include "../shared/esp_headers.p4"
#include "../shared/headers.p4"
#include "../shared/packet_metadata.p4"
#include "../shared/encapsulation_metadata.p4"
#include "../shared/session_metadata.p4"
#include "../shared/ilnp_metadata.p4"
#include "../shared/schedule_metadata.p4"
#include "../shared/border_metadata.p4"
#include "../shared/metadata.p4"
#include "../shared/parser_options.p4"
#include "../shared/parser_routing.p4"
#include "../shared/parser_shim6.p4"
#include "../shared/parser_nonce.p4"
#include "../shared/parser_esp.p4"
#include "../shared/parser_hip.p4"
#include "../shared/parser_tcp.p4"
#include "../shared/parser_upper_layer.p4"
#include "../shared/parser.p4"
#include "../shared/packet_out.p4"
#include "../shared/check.p4"
#include "../shared/vlans.p4"
#include "../shared/interfaces.p4"
#include "../shared/bridging.p4"
#include "../shared/first_hop_security.p4"
#include "../shared/discovery.p4"
#include "../shared/tunnels.p4"
#include "../shared/segment_proofs.p4"
#include "../shared/segment_endpoints.p4"
#include "../shared/keyed_hash.p4"
#include "../shared/proxied.p4"
#include "../shared/mapped_hosts.p4"
#include "../shared/ilnp_nonces.p4"
#include "../shared/ilnp_flows.p4"
#include "../shared/hip_messages.p4"
#include "../shared/esp_sessions.p4"
#include "../shared/session_identities.p4"
#include "../shared/path_policies.p4"
#include "../shared/session_liveness.p4"
#include "../shared/delivery_times.p4"
#include "../shared/path_estimates.p4"
#include "../shared/schedule_flows.p4"
#include "../shared/schedule_flights.p4"
#include "../shared/schedule_patience.p4"
#include "../shared/schedule_places.p4"
#include "../shared/schedule_marks.p4"
#include "../shared/way_back.p4"
#include "../shared/schedules.p4"
#include "../shared/session_paths.p4"
#include "../shared/session_headers.p4"
#include "../shared/ilnp_sessions.p4"
#include "../shared/flow_initiators.p4"
#include "../shared/watched_pairs.p4"
#include "../shared/border_sides.p4"
#include "../shared/provider_choice.p4"
#include "../shared/translations.p4"
#include "../shared/translation.p4"
#include "../shared/border_flows.p4"
#include "../shared/sessions.p4"
#include "../shared/segment_policies.p4"
#include "../shared/source_route_loops.p4"
#include "../shared/source_routes.p4"
#include "../shared/locators.p4"
#include "../shared/traces.p4"
#include "../shared/trace_nodes.p4"
#include "../shared/direct_exports.p4"
#include "../shared/encapsulations.p4"
#include "../shared/outer.p4"
#include "../shared/provider_routes.p4"
#include "../shared/routing.p4"
#include "../shared/errors.p4"
#include "../shared/own_probes.p4"
#include "../shared/punt_classes.p4"
#include "../shared/punt_sources.p4"
#include "../shared/punts.p4"
#include "../shared/captures.p4"
#include "../shared/deparser.p4"
#include "standard.p4"

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    IngressBegin() begin;
    PacketOut() controller;
    Check() check;
    VlanOfPacket() vlan_of_packet;
    Interfaces() interfaces;
    HashKeys() hash_keys;
    ErrorAnswer() error_answer;
    Learning() learning;
    FirstHopSecurity() first_hop_security;
    Discovery() discovery;
    OwnProbes() own_probes;
    SegmentProofs() segment_proofs;
    SegmentEndpoints() segment_endpoints;
    HostTunnels() host_tunnels;
    SourceRouteHop() source_route_hop;
    MappedSources() mapped_sources;
    Sessions() sessions;
    Translation() translation;
    MappedDestinations() mapped_destinations;
    Encapsulations() encapsulations;
    ProviderRoutes() provider_routes;
    Routing() routing;
    TraceLoopback() trace_loopback;
    DirectExport() direct_export;
    Bridging() bridging;
    ErrorLimits() error_limits;
    PuntClasses() punt_classes;
    PuntLimits() punt_limits;
    CaptureIn() capture_in;
    IngressEnd() end;

    apply {
        begin.apply(meta, standard);
        controller.apply(hdr, meta);        // the controller's packets know their way
        check.apply(hdr, meta);             // malformed ones end here
        vlan_of_packet.apply(hdr, meta);
        interfaces.apply(meta);
        hash_keys.apply(meta);              // for slots that outsiders must not compute
        error_answer.apply(hdr, meta);      // second pass: an ICMPv6 error goes back
        learning.apply(hdr, meta);
        first_hop_security.apply(hdr, meta); // what a host may say of itself and of others
        discovery.apply(hdr, meta);         // neighbours and routers
        own_probes.apply(meta);             // what the router sent, and comes back
        segment_proofs.apply(hdr, meta);    // whether who put its segments on may
        segment_endpoints.apply(hdr, meta); // to a segment or a tunnel's end of this router
        host_tunnels.apply(meta);
        source_route_hop.apply(hdr, meta);
        mapped_sources.apply(hdr, meta);    // a host's identity for its address
        sessions.apply(hdr, meta);          // identities and locators
        translation.apply(hdr, meta);       // a provider's prefix for that of the inside
        mapped_destinations.apply(hdr, meta);
        encapsulations.apply(hdr, meta);    // what its destination's packets carry
        provider_routes.apply(hdr, meta);
        routing.apply(hdr, meta);           // what comes to the router's MAC
        trace_loopback.apply(hdr, meta);
        direct_export.apply(hdr, meta);
        bridging.apply(hdr, meta);          // all the rest
        error_limits.apply(hdr, meta);
        punt_classes.apply(hdr, meta);
        punt_limits.apply(hdr, meta);
        capture_in.apply(hdr, meta);        // a copy of what arrived
        end.apply(hdr, meta, standard);
    }
}

control egress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    EgressBegin() begin;
    PuntHeader() punt_header;
    FloodCopies() flood_copies;
    Rewriting() rewriting;
    TraceNode() trace_node;
    Outer() outer;
    VlanTags() vlan_tags;
    ErrorMessage() error_message;
    CaptureOut() capture_out;
    EgressEnd() end;

    apply {
        begin.apply(hdr, meta, standard);
        bool traced_copy = meta.egress.port == CPU_PORT && (meta.punt == PUNT_TRACE || meta.punt == PUNT_LOOPBACK);
        if (meta.egress.routed || traced_copy) {
            rewriting.apply(hdr, meta);
            trace_node.apply(hdr, meta);    // what this node says in a trace
            outer.apply(hdr, meta);
        }
        if (meta.egress.port == CPU_PORT) {
            punt_header.apply(hdr, meta);
        } else if (!meta.egress.as_it_is) {
            flood_copies.apply(meta);
            vlan_tags.apply(hdr, meta);
            error_message.apply(hdr, meta);
        }
        capture_out.apply(meta);            // a copy of what leaves
        end.apply(meta, standard);
    }
}

@pkginfo(name = "wayname", version = "0.1.0", organization = "Wayname", contact = "", url = "")
V1Switch(EdgePacket(), NoChecksums(), ingress(), egress(), ErrorChecksum(), EdgeDeparser()) main;
