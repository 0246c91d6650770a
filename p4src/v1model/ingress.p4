// Ingress: the stages, in order. One that decides what becomes of a packet leaves nothing for the later ones to do; what is
// decided stands in the metadata.

#ifndef WAYNAME_V1MODEL_INGRESS_P4
#define WAYNAME_V1MODEL_INGRESS_P4

#include "../bridging/fdb.p4"
#include "../bridging/vlans.p4"
#include "../common/keyed_hash.p4"
#include "../common/metadata.p4"
#include "../control/mirror.p4"
#include "../control/own_probes.p4"
#include "../control/packet_out.p4"
#include "../control/punt_classes.p4"
#include "../control/punts.p4"
#include "../encapsulation/encapsulations.p4"
#include "../encapsulation/rpl_source_routes.p4"
#include "../encapsulation/srv6_endpoints.p4"
#include "../encapsulation/srv6_hmac.p4"
#include "../first_hop_security/first_hop_security.p4"
#include "../nptv6/nptv6.p4"
#include "../nptv6/static_mapping.p4"
#include "../parsing/check.p4"
#include "../parsing/headers.p4"
#include "../routing/icmp_errors.p4"
#include "../routing/interfaces.p4"
#include "../routing/linux_interfaces.p4"
#include "../routing/neighbour_discovery.p4"
#include "../routing/routes.p4"
#include "../routing/source_policy_routes.p4"
#include "../sessions/sessions.p4"
#include "../telemetry/ioam_direct_export.p4"
#include "../telemetry/ioam_nodes.p4"
#include "standard.p4"

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    IngressBegin() begin;
    PacketOut() controller;
    Check() check;
    VlanOfPacket() vlan_of_packet;
    Interfaces() interfaces;
    LinuxInterfaces() linux_interfaces;
    HashKeys() hash_keys;
    IcmpErrorReply() icmp_error_reply;
    Learning() learning;
    LinuxSent() linux_sent;
    FirstHopSecurity() first_hop_security;
    Discovery() discovery;
    OwnProbes() own_probes;
    LinuxNotRouted() linux_not_routed;
    SegmentProofs() segment_proofs;
    SegmentEndpoints() segment_endpoints;
    HostTunnels() host_tunnels;
    SourceRouteHop() source_route_hop;
    StaticMappingSources() static_mapping_sources;
    Sessions() sessions;
    Nptv6() nptv6;
    StaticMappingDestinations() static_mapping_destinations;
    Encapsulations() encapsulations;
    SourcePolicyRoutes() source_policy_routes;
    Routing() routing;
    LinuxLocal() linux_local;
    TraceLoopback() trace_loopback;
    DirectExport() direct_export;
    Bridging() bridging;
    LinuxLimits() linux_limits;
    IcmpErrorLimits() icmp_error_limits;
    PuntClasses() punt_classes;
    PuntLimits() punt_limits;
    IngressMirror() mirror_ingress;
    IngressEnd() end;

    apply {
        begin.apply(meta, standard);
        controller.apply(hdr, meta);        // the controller's packets know their way
        check.apply(hdr, meta);             // malformed ones end here
        vlan_of_packet.apply(hdr, meta);
        interfaces.apply(meta);
        linux_interfaces.apply(meta);
        hash_keys.apply(meta.keys);         // for slots that outsiders must not compute
        icmp_error_reply.apply(hdr, meta);  // second pass: an ICMPv6 error goes back
        learning.apply(hdr, meta);
        linux_sent.apply(meta);             // what Linux sends is routed already
        first_hop_security.apply(hdr, meta); // what a host may say of itself and of others
        discovery.apply(hdr, meta);         // neighbours and routers
        own_probes.apply(meta);             // what the router sent, and comes back
        linux_not_routed.apply(hdr, meta);  // Linux's: IPv4, and what stays on the link
        segment_proofs.apply(hdr, meta);    // whether who put its segments on may
        segment_endpoints.apply(hdr, meta); // to a segment or a tunnel's end of this router
        host_tunnels.apply(meta);
        source_route_hop.apply(hdr, meta);
        static_mapping_sources.apply(hdr, meta);    // a host's identity for its address
        sessions.apply(hdr, meta);                  // identities and locators
        nptv6.apply(hdr, meta);                     // a provider's prefix for that of the inside
        static_mapping_destinations.apply(hdr, meta);
        encapsulations.apply(hdr, meta);    // what its destination's packets carry
        source_policy_routes.apply(hdr, meta);
        routing.apply(hdr, meta);           // what comes to the router's MAC
        linux_local.apply(meta);            // to the router's addresses
        trace_loopback.apply(hdr, meta);
        direct_export.apply(hdr, meta);
        bridging.apply(hdr, meta);          // all the rest
        linux_limits.apply(hdr, meta);      // how much of it Linux gets
        icmp_error_limits.apply(hdr, meta.icmp_error, meta.chain, meta.icmpv6, meta.ingress_port);
        punt_classes.apply(hdr, meta);
        punt_limits.apply(hdr, meta);
        mirror_ingress.apply(hdr, meta);    // a copy of what arrived
        end.apply(hdr, meta, standard);
    }
}

#endif
