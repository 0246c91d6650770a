// Pairs of addresses without a session, and whether they exchange enough to be worth one: so many bytes, or for so long.
// The controller is told once; it says no more by making a session, or by leaving things as they are.
//
// A pair has a slot by hash, from the first packet that begins something, or that shows that the peer is there. Another one gets it
// when the first was quiet for a minute; till then it goes unwatched. Pairs of which hosts here only answer have none.

#ifndef WAYNAME_WATCHED_PAIRS_P4
#define WAYNAME_WATCHED_PAIRS_P4

const bit<48> PAIR_QUIET = 60000000;        // microseconds
const bit<32> PAIR_TOLD  = 0xFFFFFFFF;      // instead of a number of bytes

control WatchedPairs(in headers_t hdr, inout metadata_t meta) {
    @id(PAIR_ADDRESSES_REGISTER_ID)
    @name("pair_addresses")
    REGISTERS(bit<32>, bit<256>, WATCHED_PAIRS, addresses);

    @id(PAIR_BEGAN_REGISTER_ID)
    @name("pair_began")
    REGISTERS(bit<32>, bit<48>, WATCHED_PAIRS, began);

    @id(PAIR_SEEN_REGISTER_ID)
    @name("pair_seen")
    REGISTERS(bit<32>, bit<48>, WATCHED_PAIRS, seen);

    @id(PAIR_BYTES_REGISTER_ID)
    @name("pair_bytes")
    REGISTERS(bit<32>, bit<32>, WATCHED_PAIRS, bytes);

    // Whether a host here began.
    @id(PAIR_INITIATORS_REGISTER_ID)
    @name("pair_initiators")
    REGISTERS(bit<32>, bit<8>, WATCHED_PAIRS, initiators);

    apply {
        bit<48> now = meta.arrived;
        bit<256> pair = hdr.ipv6.source ++ hdr.ipv6.destination;
        bit<32> slot;
        HASH_OF_2(slot, (bit<32>)WATCHED_PAIRS, hdr.ipv6.source, hdr.ipv6.destination);

        bit<256> holder;
        bit<48> last;
        addresses.read(holder, slot);
        seen.read(last, slot);
        bool quiet = last == 0 || now - last >= PAIR_QUIET;
        if (quiet ? meta.pair.begins || meta.pair.proven : holder == pair) {
            bit<48> since;
            bit<32> sum;
            bit<8> opened_here;
            began.read(since, slot);
            bytes.read(sum, slot);
            initiators.read(opened_here, slot);
            if (quiet) {
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
            if (sum != PAIR_TOLD) {
                sum = sum + (bit<32>)(hdr.ipv6.payload_length |+| IPV6_BYTES);
                if ((meta.session.enough_bytes != 0 && sum >= meta.session.enough_bytes)
                    || (meta.session.enough_time != 0 && now - since >= (bit<48>)meta.session.enough_time)) {
                    meta.pair.active = true;
                    meta.pair.source = hdr.ipv6.source;
                    meta.pair.destination = hdr.ipv6.destination;
                    meta.pair.bytes = sum;
                    meta.pair.age = now - since;
                    meta.pair.opened_here = opened_here;
                    sum = PAIR_TOLD;
                }
                bytes.write(slot, sum);
            }
        }
    }
}

#endif
