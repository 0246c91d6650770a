// Who sent first: whether what a host here sends begins an exchange, as a connected socket does, or answers one. An answer to
// whoever claims an address must not make the edge do anything towards that address.
//
//   TCP      a SYN begins. Data show that the peer knew the number in the SYN-ACK. SYN-ACK, RST and bare ACKs are answers
//   ICMPv6   an echo request begins, nothing else
//   others   what follows a packet from there within a minute, of the same flow, is an answer

#ifndef WAYNAME_SESSIONS_FLOW_INITIATORS_P4
#define WAYNAME_SESSIONS_FLOW_INITIATORS_P4

#include "../common/ids.p4"
#include "../common/keyed_hash.p4"
#include "../common/metadata.p4"
#include "../common/packet_metadata.p4"
#include "../common/sizes.p4"
#include "../common/types.p4"
#include "../parsing/headers.p4"
#include "metadata.p4"

// Units of 1024 microseconds.
const bit<32> HEARD_LIFETIME = 58594;       // a minute

// Flows that were heard of late, by a Bloom filter that forgets by age: a flow leaves the time in two cells, by a keyed hash, and was
// heard if both are young. So none is forgotten too early, however many others come.
control HeardFlows(in bit<48> arrived, in keys_t keys, in chain_t chain, in ipv6_address_t local, in ipv6_address_t remote,
                   in bit<32> ports, in bool hears,
                   out bool heard) {
    @id(HEARD_FLOWS_REGISTER_ID)
    @name("heard_flows")
    REGISTERS(bit<32>, bit<32>, HEARD_FLOWS, first_cells);

    @id(HEARD_FLOWS_AGAIN_REGISTER_ID)
    @name("heard_flows_again")
    REGISTERS(bit<32>, bit<32>, HEARD_FLOWS, second_cells);

    apply {
        bit<32> now = arrived[41:10] | 1;      // 0 is never
        bit<64> hashed = slot_hash_of_flow(keys.slots, local, remote, 8w37 ++ 16w1 ++ chain.next_header ++ ports);
        bit<32> first = SLOT(hashed[31:0], HEARD_FLOWS);
        bit<32> second = SLOT(hashed[63:32], HEARD_FLOWS);
        bit<32> first_time;
        bit<32> second_time;
        first_cells.read(first_time, first);
        second_cells.read(second_time, second);
        heard = hears || (first_time != 0 && now - first_time < HEARD_LIFETIME
                          && second_time != 0 && now - second_time < HEARD_LIFETIME);
        if (heard) {
            first_cells.write(first, now);
            second_cells.write(second, now);
        }
    }
}

control FlowInitiators(in headers_t hdr, inout metadata_t meta) {
    HeardFlows() heard_flows;

    apply {
        bool answers = true;
        if (hdr.tcp.isValid() && !meta.fragmented) {
            bit<16> octets = 10w0 ++ hdr.tcp.start[31:28] ++ 2w0;
            bit<8> flags = hdr.tcp.start[23:16];
            answers = flags & (TCP_SYN | TCP_ACK) != TCP_SYN;
            meta.pair.proven = flags & (TCP_SYN | TCP_RST) == 0 && meta.chain.left > octets;
        } else if (meta.chain.next_header == NEXT_ICMPV6) {
            answers = meta.fragmented || meta.icmpv6.type != ICMPV6_ECHO_REQUEST;
        } else if (meta.session.direction != SESSION_OUTBOUND) {
            ipv6_address_t local = hdr.ipv6.destination;
            if (meta.border.destination.wanted) {
                local = meta.border.inside;
            }
            bit<32> ports = meta.flow.destination_port ++ meta.flow.source_port;
            heard_flows.apply(meta.arrived, meta.keys, meta.chain, local, hdr.ipv6.source, ports, true, answers);
        } else if (!meta.fragmented) {
            bit<32> ports = meta.flow.source_port ++ meta.flow.destination_port;
            heard_flows.apply(meta.arrived, meta.keys, meta.chain, hdr.ipv6.source, hdr.ipv6.destination, ports, false, answers);
            if (!answers && ports != 0) {
                // Parts of a datagram have no ports; the answer to it has.
                heard_flows.apply(meta.arrived, meta.keys, meta.chain, hdr.ipv6.source, hdr.ipv6.destination, 0, false, answers);
            }
        }
        meta.pair.begins = !answers;
    }
}

#endif
