// A report that no packet to the peer takes along, since none goes there: the switch makes one of its own.
//
//   first pass, ingress    a numbered packet of the peer comes, and a report has waited for too long (path_reports.p4): a copy is made
//   first pass, egress     `LoneReport` makes the copy a packet between the session's identities with nothing in it, and starts it again
//   second pass            it goes to the peer as a host's packet does, unnumbered, with the report; of a session of ESP with an ESP
//                          header behind that (hip/path_option.p4)
//   second pass, egress    `LoneReportEnd` cuts off what was in the packet that it was made of

#ifndef WAYNAME_SCHEDULING_LONE_REPORTS_P4
#define WAYNAME_SCHEDULING_LONE_REPORTS_P4

#include "../common/metadata.p4"
#include "../common/types.p4"
#include "../parsing/headers.p4"

control LoneReport(inout headers_t hdr, in metadata_t meta) {
    apply {
        hdr.ipv6.traffic_class = 0;
        hdr.ipv6.flow_label = 0;
        hdr.ipv6.payload_length = 0;
        hdr.ipv6.next_header = NEXT_NONE;
        hdr.ipv6.hop_limit = HOP_LIMIT_OWN + 1;     // the second pass is a hop
        hdr.ipv6.source = meta.session.local;
        hdr.ipv6.destination = meta.session.remote;
    }
}

control LoneReportEnd(in headers_t hdr, inout metadata_t meta) {
    apply {
        if (meta.path_option.alone && hdr.ipv6.isValid()) {
            meta.egress.cut = ETHERNET_BYTES + IPV6_BYTES + hdr.ipv6.payload_length;
            if (hdr.outer.isValid()) {
                meta.egress.cut = ETHERNET_BYTES + IPV6_BYTES + hdr.outer.payload_length;
            }
            if (hdr.vlan.isValid()) {
                meta.egress.cut = meta.egress.cut + VLAN_BYTES;
            }
        }
    }
}

#endif
