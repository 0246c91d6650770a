// Wayname's edge switch on v1model. The behaviour is in shared/, one concern a file; here is its order.
//
// A stage that settles what becomes of a packet leaves nothing for the later ones to do. What ingress decides stands in
// the metadata, and egress carries it out once.

#include "arch.p4"
#include "../shared/types.p4"
#include "../shared/sizes.p4"
#include "../shared/ids.p4"
#include "../shared/reasons.p4"
#include "../shared/headers.p4"
#include "../shared/metadata.p4"
#include "../shared/parser.p4"
#include "../shared/packet_out.p4"
#include "../shared/check.p4"
#include "../shared/vlans.p4"
#include "../shared/interfaces.p4"
#include "../shared/bridging.p4"
#include "../shared/discovery.p4"
#include "../shared/routing.p4"
#include "../shared/errors.p4"
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
    ErrorAnswer() error_answer;
    Learning() learning;
    Discovery() discovery;
    Routing() routing;
    Bridging() bridging;
    ErrorLimits() error_limits;
    PuntLimits() punt_limits;
    CaptureIn() capture_in;
    IngressEnd() end;

    apply {
        begin.apply(meta, standard);
        controller.apply(hdr, meta);        // the controller's packets know their way
        check.apply(hdr, meta);             // malformed ones end here
        vlan_of_packet.apply(hdr, meta);
        interfaces.apply(meta);
        error_answer.apply(hdr, meta);      // second pass: an ICMPv6 error goes back
        learning.apply(hdr, meta);
        discovery.apply(hdr, meta);         // neighbours and routers
        routing.apply(hdr, meta);           // what comes to the router's MAC
        bridging.apply(hdr, meta);          // all the rest
        error_limits.apply(hdr, meta);
        punt_limits.apply(meta);
        capture_in.apply(hdr, meta);        // a copy of what arrived
        end.apply(hdr, meta, standard);
    }
}

control egress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    EgressBegin() begin;
    PuntHeader() punt_header;
    FloodCopies() flood_copies;
    Rewriting() rewriting;
    VlanTags() vlan_tags;
    ErrorMessage() error_message;
    CaptureOut() capture_out;
    EgressEnd() end;

    apply {
        begin.apply(hdr, meta, standard);
        if (meta.egress.port == CPU_PORT) {
            punt_header.apply(hdr, meta);
        } else if (!meta.egress.as_it_is) {
            flood_copies.apply(meta);
            rewriting.apply(hdr, meta);
            vlan_tags.apply(hdr, meta);
            error_message.apply(hdr, meta);
        }
        capture_out.apply(meta);            // a copy of what leaves
        end.apply(meta, standard);
    }
}

@pkginfo(name = "wayname", version = "0.1.0", organization = "Wayname", contact = "", url = "")
V1Switch(EdgePacket(), NoChecksums(), ingress(), egress(), ErrorChecksum(), EdgeDeparser()) main;
