// Later parts of a packet have no ports: they come in after a first part that did. What comes before it is dropped.

#ifndef WAYNAME_SIMPLE_SECURITY_ADMITTED_FRAGMENTS_P4
#define WAYNAME_SIMPLE_SECURITY_ADMITTED_FRAGMENTS_P4

#include "../common/ids.p4"
#include "../common/keyed_hash.p4"
#include "../common/sizes.p4"
#include "../common/types.p4"

const bit<48> REASSEMBLY_TIME = 60000000;   // RFC 8200, section 4.5
const bit<16> KIND_FRAGMENTS  = 5;

control AdmittedFragments(in bit<128> key, in bit<48> now, in ipv6_address_t local, in ipv6_address_t remote,
                          in bit<32> identification, in bool first, out bool admitted) {
    @id(ADMITTED_FRAGMENTS_REGISTER_ID)
    @name("admitted_fragments")
    REGISTERS(bit<32>, bit<112>, ADMITTED_FRAGMENTS, packets);

    apply {
        bit<64> hashed = slot_hash_of_flow(key, local, remote, 8w39 ++ KIND_FRAGMENTS ++ NEXT_FRAGMENT ++ identification);
        bit<32> place = SLOT(hashed[31:0], ADMITTED_FRAGMENTS);
        bit<112> seen;
        packets.read(seen, place);
        admitted = first || (seen[111:48] == hashed && now - seen[47:0] < REASSEMBLY_TIME);
        if (first) {
            packets.write(place, hashed ++ now);
        }
    }
}

#endif
