// Simple security at a site's border (RFC 6092): from outside comes in what answers the inside, what a pinhole lets in, and what
// belongs to a session. docs/simple-security.md says which recommendation is kept where.
//
//   from inside    makes a record of its flow, unless it is an answer or a pinhole covers it
//   from outside   a session's, IPsec, HIP, IKE -> in (REC-21 to REC-26, REC-47)
//                  a pinhole, a record          -> in; of errors, that of the packet that they quote
//                  all else                     -> dropped, and a stranger leaves no record
//                  with segments left           -> dropped: the packet's ports are not those of who gets it in the end. Segments of
//                                                  this router are done by then
//
// Where filtering is endpoint-independent, a second record has the endpoint of a connection alone (REC-33). Hosts that
// speak ILNP themselves have one by identifiers: their peers' locators change.

#ifndef WAYNAME_SIMPLE_SECURITY_SIMPLE_SECURITY_P4
#define WAYNAME_SIMPLE_SECURITY_SIMPLE_SECURITY_P4

#include "../common/ids.p4"
#include "../common/metadata.p4"
#include "../common/reasons.p4"
#include "../common/sizes.p4"
#include "../common/types.p4"
#include "../ilnp/headers.p4"
#include "../nptv6/metadata.p4"
#include "../parsing/headers.p4"
#include "../sessions/metadata.p4"
#include "admitted_fragments.p4"
#include "filtered_flow.p4"
#include "metadata.p4"
#include "pinholes.p4"
#include "records.p4"
#include "refused_opens.p4"

const bit<16> PORT_IKE = 500;

const bit<16> KIND_FLOW        = 2;
const bit<16> KIND_ENDPOINT    = 3;
const bit<16> KIND_IDENTIFIERS = 6;

// The second record of a flow is refreshed once in 2^26 microseconds, 67 seconds.
const bit<8> ENDPOINT_PERIOD = 26;

// What IPsec and HIP check themselves; and errors about a packet whose upper layer is behind what their quote shows.
bool passes_unasked(in chain_t chain, in bit<8> next_header, in bool error_about) {
    return chain.guards_itself || next_header == NEXT_ESP
        || (error_about && (next_header == NEXT_AUTHENTICATION || next_header == NEXT_HOP_BY_HOP || next_header == NEXT_ROUTING
                            || next_header == NEXT_DESTINATION || next_header == NEXT_FRAGMENT || next_header == NEXT_HIP
                            || next_header == NEXT_MOBILITY || next_header == NEXT_SHIM6));
}

control SimpleSecurity(in headers_t hdr, inout metadata_t meta) {
    @id(SIMPLE_SECURITY_COUNTER_ID) TABLE_COUNTER(simple_security_counter);
    FilteredFlow() filtered_flow;
    Pinholes() pinholes;
    FlowRecords() flow_records;
    RefusedOpens() refused_opens;
    AdmittedFragments() admitted_fragments;

    bool address_dependent = false;

    @id(FILTER_INBOUND_ACTION_ID)
    @name("filter_inbound")
    @brief("Only what answers comes in. 0: to an endpoint inside that sent, from anybody; 1: from whom it sent to.")
    action filter_inbound(@id(1) bit<1> of_address) {
        address_dependent = of_address == 1;
    }

    @id(ADMIT_ALL_ACTION_ID)
    @name("admit_all")
    action admit_all() {
    }

    @id(SIMPLE_SECURITY_TABLE_ID)
    @name("simple_security")
    @brief("Whether inbound packets are filtered, by the side that a packet comes from.")
    table simple_security {
        key = {
            meta.border.side : exact @id(1) @name("side");
        }
        actions = {
            filter_inbound;
            @defaultonly admit_all;
        }
        const default_action = admit_all;
        counters = simple_security_counter;
        size = BORDER_SIDES;
    }

    apply {
        bool filtered = false;
        bool enters = meta.border.enters;
        if (!meta.decided && (enters || meta.border.leaves)) {
            filtered = simple_security.apply().hit;
        }
        // The edge admits its own: what a session's peer sends, its probes, what the controller has looked at, and what somebody
        // sends who has a key for segments (RFC 8754, section 2.1.2).
        if (enters && (meta.session.number != 0 || meta.own_probe || meta.from_controller || meta.routing.verified)) {
            filtered = false;
        }

        bool later_fragment = meta.fragmented && !meta.first_fragment;
        bool admitted = true;
        bool full = false;
        bool source_route_left = hdr.source_route.isValid() && hdr.source_route.segments_left != 0;
        bool segments_left = meta.chain.goes_on || (hdr.segment_routing.isValid() && hdr.segment_routing.segments_left != 0);
        filtered_flow_t flow;
        if (filtered) {
            filtered_flow.apply(hdr, meta, address_dependent, flow);
        }
        if (filtered && meta.chain.routing_0) {
            DROP(DROP_ROUTING_HEADER_0);
        } else if (filtered && (source_route_left || (enters && segments_left))) {
            DROP(DROP_SEGMENTS_AT_BORDER);    // RFC 8754, section 5.1; RFC 6554, section 5.1: in neither direction
        } else if (filtered && !later_fragment) {
            bool open;
            pinholes.apply(flow, open);
            bool to_ike = enters && !flow.quoted && flow.next_header == NEXT_UDP && flow.local_port == PORT_IKE;
            bool unreadable = flow.quoted && !hdr.quoted.isValid();
            admitted = !unreadable && (open || to_ike || passes_unasked(meta.chain, flow.next_header, flow.quoted));
            if (!admitted && !unreadable) {
                bit<48> last;
                flow_records.apply(meta.keys.slots, meta.arrived, flow, KIND_FLOW, !enters, admitted, full, last);
                bool native = meta.ilnp.kind == NONCE_HERE
                    && (meta.session.source_protocols | meta.session.destination_protocols) & PROTOCOL_HOSTS != 0;
                bool asks = enters && !admitted;
                bool refreshes = !enters && !full && flow.first != RECORD_NONE && !flow.quoted
                    && (native || last == 0 || last >> ENDPOINT_PERIOD != meta.arrived >> ENDPOINT_PERIOD);
                if ((asks || refreshes) && (native || (flow.connection && !address_dependent))) {
                    filtered_flow_t endpoint = flow;
                    bit<16> kind = KIND_ENDPOINT;
                    endpoint.connection = false;
                    endpoint.first = RECORD_ENDPOINT;
                    endpoint.remote = 0;
                    endpoint.remote_port = 0;
                    if (native) {
                        kind = KIND_IDENTIFIERS;
                        endpoint.remote = 64w0 ++ flow.remote[63:0];
                        endpoint.next_header = NEXT_NONE;
                        endpoint.local_port = 0;
                    }
                    bool ignored;
                    flow_records.apply(meta.keys.slots, meta.arrived, endpoint, kind, !enters, admitted, ignored, last);
                }
            }
        }

        if (!filtered || meta.decided) {
            // Not its business.
        } else if (enters && meta.fragmented && (admitted || later_fragment)) {
            admitted_fragments.apply(meta.keys.slots, meta.arrived, flow.local, hdr.ipv6.source, meta.chain.fragment,
                                     meta.first_fragment, admitted);
            if (!admitted) {
                DROP(DROP_UNSOLICITED_FRAGMENT);
            }
        } else if (enters && !admitted) {
            if (flow.quoted) {
                DROP(DROP_UNSOLICITED_ERROR);
            } else if (hdr.message.isValid() && hdr.message.type == ICMPV6_ECHO_REQUEST) {
                DROP(DROP_UNSOLICITED_ECHO);
            } else if ((flow.next_header == NEXT_TCP && flow.opens && flow.first != RECORD_NONE) || flow.next_header == NEXT_SCTP) {
                bool told;
                refused_opens.apply(meta.keys.slots, meta.arrived, flow, told);
                if (told) {
                    DROP_WITH_ERROR(DROP_UNSOLICITED_OPEN, ICMPV6_UNREACHABLE, UNREACHABLE_PROHIBITED);
                } else {
                    DROP(DROP_UNSOLICITED_OPEN);
                }
            } else {
                DROP(DROP_UNSOLICITED);
            }
        } else if (!enters && full && meta.session.number == 0) {
            DROP_WITH_ERROR(DROP_RECORDS_FULL, ICMPV6_UNREACHABLE, UNREACHABLE_PROHIBITED);
        }
    }
}

#endif
