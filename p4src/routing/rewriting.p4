// Egress, of a routed packet: the MACs that routing found, and one hop less.

#ifndef WAYNAME_ROUTING_REWRITING_P4
#define WAYNAME_ROUTING_REWRITING_P4

#include "../common/ids.p4"
#include "../common/metadata.p4"
#include "../common/reasons.p4"
#include "../common/sizes.p4"
#include "../common/types.p4"
#include "../encapsulation/tunnels.p4"
#include "../parsing/headers.p4"

control Rewriting(inout headers_t hdr, inout metadata_t meta) {
    @id(SOURCE_MACS_COUNTER_ID) TABLE_COUNTER(source_macs_counter);

    @id(SET_SOURCE_MAC_ACTION_ID)
    @name("set_source_mac")
    action set_source_mac(@id(1) mac_address_t mac) {
        hdr.ethernet.source = mac;
    }

    @id(NO_SOURCE_MAC_ACTION_ID)
    @name("no_source_mac")
    action no_source_mac() {
        DROP(DROP_INTERFACE_UNKNOWN);
    }

    @id(SOURCE_MACS_TABLE_ID)
    @name("source_macs")
    @brief("The router's MAC on the VLAN by which a packet leaves.")
    table source_macs {
        key = {
            meta.egress.vlan : exact @id(1) @name("vlan");
        }
        actions = {
            set_source_mac;
            @defaultonly no_source_mac;
        }
        const default_action = no_source_mac;
        counters = source_macs_counter;
        size = VLANS;
    }

    apply {
        if (meta.egress.routed) {
            hdr.ethernet.destination = meta.egress.destination;
            if (hdr.ipv6.isValid()) {
                // A frame stays as it is inside its tunnel.
                if (!hdr.frame.isValid()) {
                    hdr.ipv6.hop_limit = hdr.ipv6.hop_limit - 1;
                }
            } else {
                hdr.inner_ipv4.checksum = adjusted(hdr.inner_ipv4.checksum,
                    hdr.inner_ipv4.ttl ++ hdr.inner_ipv4.protocol,
                    (hdr.inner_ipv4.ttl - 1) ++ hdr.inner_ipv4.protocol);
                hdr.inner_ipv4.ttl = hdr.inner_ipv4.ttl - 1;
            }
            source_macs.apply();
        }
    }
}

#endif
