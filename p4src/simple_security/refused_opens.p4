// Who tries to connect from outside, and may not, hears nothing for six seconds (REC-34): in a simultaneous open the inside's own SYN
// may be on its way. Who tries again later is told. A SYN that nobody repeats is nothing but a time here, and pushes out another's.

#ifndef WAYNAME_SIMPLE_SECURITY_REFUSED_OPENS_P4
#define WAYNAME_SIMPLE_SECURITY_REFUSED_OPENS_P4

#include "../common/ids.p4"
#include "../common/keyed_hash.p4"
#include "../common/sizes.p4"
#include "metadata.p4"

const bit<48> REFUSAL_WAIT   = 6000000;
const bit<48> REFUSAL_MEMORY = 240000000;
const bit<16> KIND_REFUSED   = 4;

control RefusedOpens(in bit<128> key, in bit<48> now, in filtered_flow_t flow, out bool told) {
    @id(REFUSED_OPENS_REGISTER_ID)
    @name("refused_opens")
    REGISTERS(bit<32>, bit<112>, REFUSED_OPENS, refused);

    apply {
        bit<64> hashed = slot_hash_of_flow(key, flow.local, flow.remote,
                                           8w39 ++ KIND_REFUSED ++ flow.next_header ++ flow.local_port ++ flow.remote_port);
        bit<32> place = SLOT(hashed[31:0], REFUSED_OPENS);
        bit<112> seen;
        refused.read(seen, place);
        bit<48> ago = now - seen[47:0];
        bool again = seen[111:48] == hashed && ago < REFUSAL_MEMORY;
        told = again && ago >= REFUSAL_WAIT;
        if (!again) {
            refused.write(place, hashed ++ now);
        }
    }
}

#endif
