// Egress: carries out, once, what ingress decided.

#ifndef WAYNAME_V1MODEL_EGRESS_P4
#define WAYNAME_V1MODEL_EGRESS_P4

#include "../bridging/fdb.p4"
#include "../bridging/vlans.p4"
#include "../common/metadata.p4"
#include "../common/reasons.p4"
#include "../control/mirror.p4"
#include "../control/punts.p4"
#include "../encapsulation/outer.p4"
#include "../parsing/headers.p4"
#include "../routing/icmp_errors.p4"
#include "../routing/linux_interfaces.p4"
#include "../routing/rewriting.p4"
#include "../scheduling/lone_reports.p4"
#include "../telemetry/ioam_nodes.p4"
#include "standard.p4"

control egress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    EgressBegin() begin;
    EgressAgain() egress_again;
    LoneReport() lone_report;
    LoneReportEnd() lone_report_end;
    PuntHeader() punt_header;
    FloodCopies() flood_copies;
    LinuxCopies() linux_copies;
    Rewriting() rewriting;
    IoamTraceNode() ioam_trace_node;
    Outer() outer;
    VlanTags() vlan_tags;
    IcmpErrorMessage() icmp_error_message;
    EgressMirror() mirror_egress;
    EgressEnd() end;

    apply {
        begin.apply(hdr, meta, standard);
        bool again;
        egress_again.apply(meta, standard, again);
        if (again) {
            if (meta.path_option.lone_due) {
                lone_report.apply(hdr, meta);
            }
            return;
        }
        bool traced_copy = meta.egress.port == CPU_PORT && (meta.punt == PUNT_TRACE || meta.punt == PUNT_LOOPBACK);
        if (meta.egress.routed || traced_copy) {
            rewriting.apply(hdr, meta);
            ioam_trace_node.apply(hdr, meta);   // what this node says in a trace
            outer.apply(hdr, meta);
        }
        if (meta.egress.port == CPU_PORT) {
            punt_header.apply(hdr, meta);
        } else if (!meta.egress.as_it_is) {
            flood_copies.apply(meta);
            linux_copies.apply(meta);
            vlan_tags.apply(hdr, meta);
            icmp_error_message.apply(hdr, meta.interface, meta.icmp_error, meta.egress);
            lone_report_end.apply(hdr, meta);
        }
        mirror_egress.apply(meta);          // a copy of what leaves
        end.apply(meta, standard);
    }
}

#endif
