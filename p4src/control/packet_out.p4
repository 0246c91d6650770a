// Packets of the controller: each says itself where it goes.

#ifndef WAYNAME_CONTROL_PACKET_OUT_P4
#define WAYNAME_CONTROL_PACKET_OUT_P4

#include "../common/metadata.p4"
#include "../common/reasons.p4"
#include "../common/types.p4"
#include "../parsing/headers.p4"

control PacketOut(in headers_t hdr, inout metadata_t meta) {
    apply {
        if (hdr.packet_out.isValid()) {
            port_t port = (port_t)hdr.packet_out.port;
            if (hdr.packet_out.port[15:9] != 0 || hdr.packet_out.vlan[15:12] != 0) {
                DROP(DROP_PACKET_OUT);
            } else if (hdr.packet_out.kind == PACKET_OUT_SEND) {
                meta.egress.port = port;
                meta.egress.as_it_is = true;
                meta.decided = true;
            } else if (hdr.packet_out.kind == PACKET_OUT_FLOOD) {
                meta.vlan = (vlan_id_t)hdr.packet_out.vlan;
                meta.egress.vlan = meta.vlan;
                meta.egress.flood = true;
                meta.decided = true;
            } else if (hdr.packet_out.kind == PACKET_OUT_SUBMIT) {
                meta.ingress_port = port;
            } else if (hdr.packet_out.kind == PACKET_OUT_KEEPALIVE || hdr.packet_out.kind == PACKET_OUT_CHECK) {
                meta.ingress_port = port;
                meta.session.request = hdr.packet_out.kind;
            } else {
                DROP(DROP_PACKET_OUT);
            }
        }
    }
}

#endif
