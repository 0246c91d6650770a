// Pairs of addresses without a session, and whether they exchange enough to be worth one: so many bytes, or for so long.
// The controller is told once; it says no more by making a session, or by leaving things as they are.
//
// A pair has a slot by a keyed hash, so nobody can choose whom a pair shares it with, from the first packet that begins something, or that
// shows that the peer is there. Of several pairs in a slot the one that sends most gets it (a majority vote, Boyer and
// Moore): what the holder sends adds to its lead, what others send takes from it, and who uses it up is the next holder. So a flood of small
// packets to many addresses keeps no pair unwatched that sends more than the flood does into one slot. Pairs of which hosts here
// only answer have none.

#ifndef WAYNAME_SESSIONS_FLOW_MONITOR_P4
#define WAYNAME_SESSIONS_FLOW_MONITOR_P4

#include "../common/ids.p4"
#include "../common/keyed_hash.p4"
#include "../common/metadata.p4"
#include "../common/sizes.p4"
#include "../common/types.p4"
#include "../parsing/headers.p4"

const bit<48> PAIR_QUIET    = 60000000;     // microseconds
const bit<48> PAIR_AGAIN    = 120000000;    // microseconds
const bit<32> PAIR_REPORTED = 0xFFFFFFFF;   // instead of a number of bytes
const bit<32> PAIR_LEAD     = 65536;        // bytes; nobody has more, however long it has sent

control FlowMonitor(in headers_t hdr, inout metadata_t meta) {
    @id(PAIR_ADDRESSES_REGISTER_ID)
    @name("pair_addresses")
    REGISTERS(bit<32>, bit<256>, MONITORED_PAIRS, addresses);

    @id(PAIR_BEGAN_REGISTER_ID)
    @name("pair_began")
    REGISTERS(bit<32>, bit<48>, MONITORED_PAIRS, began);

    @id(PAIR_SEEN_REGISTER_ID)
    @name("pair_seen")
    REGISTERS(bit<32>, bit<48>, MONITORED_PAIRS, seen);

    @id(PAIR_BYTES_REGISTER_ID)
    @name("pair_bytes")
    REGISTERS(bit<32>, bit<32>, MONITORED_PAIRS, bytes);

    // Whether a host here began.
    @id(PAIR_INITIATORS_REGISTER_ID)
    @name("pair_initiators")
    REGISTERS(bit<32>, bit<8>, MONITORED_PAIRS, initiators);

    @id(PAIR_LEAD_REGISTER_ID)
    @name("pair_lead")
    REGISTERS(bit<32>, bit<32>, MONITORED_PAIRS, leads);

    @id(PAIR_METER_ID)
    @name("pair_meter")
    @brief("Pairs that the controller is told of, by port.")
    METERS(port_t, PORTS, pair_meter);

    apply {
        bit<48> now = meta.arrived;
        bit<256> pair = hdr.ipv6.source ++ hdr.ipv6.destination;
        bit<64> hashed = slot_hash_of_flow(meta.keys.slots, hdr.ipv6.source, hdr.ipv6.destination, 64w32 << 56);
        bit<32> slot = SLOT(hashed[31:0], MONITORED_PAIRS);
        bit<32> size = (bit<32>)(hdr.ipv6.payload_length |+| IPV6_BYTES);

        bit<256> holder;
        bit<48> last;
        addresses.read(holder, slot);
        seen.read(last, slot);
        bit<32> lead;
        leads.read(lead, slot);
        bool quiet = last == 0 || now - last >= PAIR_QUIET;
        bool opens = meta.pair.begins || meta.pair.proven;
        bool takes = opens && (quiet || (holder != pair && lead <= size));
        if (takes) {
            lead = 0;
        }
        if (takes || (!quiet && holder == pair)) {
            lead = lead + size;
            if (lead > PAIR_LEAD) {
                lead = PAIR_LEAD;
            }
            leads.write(slot, lead);
            bit<48> since;
            bit<32> sum;
            bit<8> opened_here;
            began.read(since, slot);
            bytes.read(sum, slot);
            initiators.read(opened_here, slot);
            if (takes) {
                addresses.write(slot, pair);
                began.write(slot, now);
                since = now;
                sum = 0;
                opened_here = 0;
            }
            if (meta.pair.begins) {
                opened_here = 1;
            }
            initiators.write(slot, opened_here);
            seen.write(slot, now);
            if (sum == PAIR_REPORTED && now - since >= PAIR_AGAIN) {
                // A controller that was away has not heard of it.
                began.write(slot, now);
                since = now;
                sum = 0;
            }
            if (sum != PAIR_REPORTED) {
                sum = sum + size;
                if ((meta.session.threshold_bytes != 0 && sum >= meta.session.threshold_bytes)
                    || (meta.session.threshold_time != 0 && now - since >= (bit<48>)meta.session.threshold_time)) {
                    // What is above the rate is told with one of the pair's next packets.
                    colour_t colour;
                    METER(pair_meter, meta.ingress_port, colour);
                    if (colour != COLOUR_RED) {
                        meta.pair.active = true;
                        meta.pair.source = hdr.ipv6.source;
                        meta.pair.destination = hdr.ipv6.destination;
                        meta.pair.bytes = sum;
                        meta.pair.age = now - since;
                        meta.pair.opened_here = opened_here;
                        sum = PAIR_REPORTED;
                    }
                }
                bytes.write(slot, sum);
            }
        } else if (opens && !quiet) {
            leads.write(slot, lead - size);
        }
    }
}

#endif
