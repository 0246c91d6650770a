// TCP flows on their way to a session: it is wanted when SYN, SYN-ACK and ACK have passed, with numbers that fit and
// nonces, and the controller is told once, unless it makes no session of that. Till then, and while it decides, the flow lives here, with its nonces.
//
//   SYN with a nonce       the flow gets a slot. Any later SYN may take it
//   SYN-ACK                of who was asked: the slot is the flow's alone while it is half open
//   ACK                    of who opened it, with the number that only who got the SYN-ACK knows: digest
//
// An edge draws its hosts' nonces: with a SYN to who is known to take one, and with a SYN-ACK. They are a keyed hash of the two
// addresses and the time, so nothing is remembered of them, and who has seen any number of them knows no other.
//
// So a flood of SYNs takes nothing that lasts, and pushes a flow out only between its SYN and the host's SYN-ACK, which is a
// round trip inside the site. docs/ilnp-tables.md says how likely that is.

#ifndef WAYNAME_ILNP_TCP_FLOWS_P4
#define WAYNAME_ILNP_TCP_FLOWS_P4

#include "../common/ids.p4"
#include "../common/keyed_hash.p4"
#include "../common/metadata.p4"
#include "../common/reasons.p4"
#include "../common/sizes.p4"
#include "../common/types.p4"
#include "../parsing/headers.p4"
#include "../sessions/metadata.p4"
#include "headers.p4"

const bit<8> FLOW_NEW          = 0;
const bit<8> FLOW_SYN_SEEN     = 1;
const bit<8> FLOW_SYN_ACK_SEEN = 2;
const bit<8> FLOW_ADMITTED     = 3;

const bit<48> FLOW_HALF_OPEN = 4000000;     // microseconds: a second SYN-ACK comes before they are over (RFC 6298)
const bit<48> FLOW_QUIET     = 60000000;
const bit<48> FLOW_UNHEARD   = 5000000;     // there is no session yet: the controller was away, or refused it

// Nonces change every 2^26 microseconds, 67 seconds.
const bit<8> NONCE_PERIOD = 26;

// What a first segment may hold beside a SYN, or behind it.
const bit<32> FLOW_WINDOW = 65536;

control IlnpFlows(in headers_t hdr, inout metadata_t meta) {
    // Local and remote address, local and remote port.
    @id(ILNP_FLOWS_REGISTER_ID)
    @name("ilnp_flows")
    REGISTERS(bit<32>, bit<288>, ILNP_FLOWS, flows);

    // FLOW_*, whether a host here opened it, the octets of its nonces, when it was seen last in microseconds.
    @id(ILNP_FLOW_STATES_REGISTER_ID)
    @name("ilnp_flow_states")
    REGISTERS(bit<32>, bit<64>, ILNP_FLOWS, states);

    // Of a SYN its sequence number; then those that the ACK must have: its own, and the one that it acknowledges; then when
    // the controller was told, in microseconds.
    @id(ILNP_FLOW_NUMBERS_REGISTER_ID)
    @name("ilnp_flow_numbers")
    REGISTERS(bit<32>, bit<64>, ILNP_FLOWS, numbers);

    // To the peer, and from it.
    @id(ILNP_FLOW_NONCES_REGISTER_ID)
    @name("ilnp_flow_nonces")
    REGISTERS(bit<32>, bit<192>, ILNP_FLOWS, nonces);

    @id(ILNP_FLOW_METER_ID)
    @name("ilnp_flow_meter")
    @brief("Flows that the controller is told of, by port.")
    METERS(port_t, PORTS, ilnp_flow_meter);

    apply {
        bit<48> now = meta.arrived;
        bit<32> sequence = hdr.tcp.start[95:64];
        bit<32> acknowledged = hdr.tcp.start[63:32];
        bool syn = hdr.tcp.start[17:17] == 1;
        bool ack = hdr.tcp.start[20:20] == 1;
        bool reset = hdr.tcp.start[18:18] == 1;
        bool sent = meta.session.direction == SESSION_OUTBOUND;

        bit<288> flow = meta.session.local ++ meta.session.remote ++ meta.flow.source_port ++ meta.flow.destination_port;
        nonce_t borne = 0;
        bit<8> octets = meta.ilnp.opens_with;
        if (!sent) {
            flow[31:0] = meta.flow.destination_port ++ meta.flow.source_port;
            borne = meta.ilnp.nonce;
            octets = meta.ilnp.octets;
        }

        // A flow stands in one of two slots, so that one which is held leaves the other. An admitted flow is held against others no
        // longer than a half open one: by then its session stands.
        bit<64> hashed = slot_hash_of_flow(meta.keys.slots, meta.session.local, meta.session.remote, 8w36 ++ 24w0 ++ flow[31:0]);
        bit<32> slot = SLOT(hashed[31:0], ILNP_FLOWS);
        bit<32> other_slot = SLOT(hashed[63:32], ILNP_FLOWS);
        bit<288> holder;
        bit<64> state;
        flows.read(holder, slot);
        states.read(state, slot);
        bool here = holder == flow;
        bool taken = !here && state[63:60] != (bit<4>)FLOW_SYN_SEEN && state[47:0] != 0 && now - state[47:0] < FLOW_HALF_OPEN;
        if (!here) {
            bit<288> other_holder;
            bit<64> other_state;
            flows.read(other_holder, other_slot);
            states.read(other_state, other_slot);
            here = other_holder == flow;
            if (here || taken) {
                slot = other_slot;
                state = other_state;
                taken = !here && state[63:60] != (bit<4>)FLOW_SYN_SEEN && state[47:0] != 0 && now - state[47:0] < FLOW_HALF_OPEN;
            }
        }

        bit<8> stage = 4w0 ++ state[63:60];
        bool opened_here = state[59:59] == 1;
        bit<8> nonce_octets = 4w0 ++ state[55:52];
        bit<48> quiet = now - state[47:0];
        if (!here || state[47:0] == 0 || (stage == FLOW_ADMITTED && quiet >= FLOW_QUIET)
            || (stage != FLOW_ADMITTED && quiet >= FLOW_HALF_OPEN)) {
            stage = FLOW_NEW;
        }
        bit<8> before = stage;
        bool draws = false;
        bit<64> expected;
        bit<192> both;
        numbers.read(expected, slot);
        nonces.read(both, slot);

        if (reset) {
            // The next SYN begins anew.
        } else if (syn && !ack) {
            if (octets == 0 || meta.ilnp.doubtful || stage == FLOW_SYN_ACK_SEEN
                || (stage == FLOW_ADMITTED && !sent && borne == both[95:0])) {
                // Of no session, or once more.
            } else if (taken) {
                // A host here goes on without a nonce: to be asked for later.
                if (!sent) {
                    DROP(DROP_ILNP_FLOWS_FULL);
                }
            } else {
                draws = sent && !(stage == FLOW_SYN_SEEN && opened_here);
                stage = FLOW_SYN_SEEN;
                opened_here = sent;
                nonce_octets = octets;
                flows.write(slot, flow);
                numbers.write(slot, sequence ++ 32w0);
                if (!sent) {
                    both[95:0] = borne;
                    nonces.write(slot, both);
                }
            }
        } else if (syn) {
            if (stage == FLOW_SYN_SEEN && sent != opened_here && acknowledged - expected[63:32] - 1 < FLOW_WINDOW
                && (sent || octets == nonce_octets)) {
                stage = FLOW_SYN_ACK_SEEN;
                numbers.write(slot, acknowledged ++ (sequence + 1));
                draws = sent;
                if (!sent) {
                    both[95:0] = borne;
                    nonces.write(slot, both);
                }
            }
        } else if (ack && stage == FLOW_SYN_ACK_SEEN && sent == opened_here && acknowledged == expected[31:0]
                   && sequence - expected[63:32] < FLOW_WINDOW
                   && (sent || (borne == both[95:0] && !meta.ilnp.doubtful))) {
            stage = FLOW_ADMITTED;
            meta.ilnp.admitted = true;
        } else if (stage == FLOW_ADMITTED && !meta.ilnp.doubtful && (sent || borne == both[95:0])
                   && now - expected[47:0] >= FLOW_UNHEARD) {
            meta.ilnp.admitted = true;
        }
        if (meta.ilnp.admitted) {
            numbers.write(slot, 16w0 ++ now);
            // A flow that is not told of now is told of in five seconds.
            colour_t colour;
            METER(ilnp_flow_meter, meta.ingress_port, colour);
            meta.ilnp.admitted = colour != COLOUR_RED;
            meta.ilnp.opened_here = opened_here ? 8w1 : 8w0;
            meta.ilnp.nonce_to_peer = both[191:96];
            meta.ilnp.nonce_from_peer = both[95:0];
            meta.ilnp.octets = nonce_octets;
        }

        if (draws) {
            // The first flow to be admitted makes the session of all that begin side by side, so they get the same nonce.
            bit<128> secret = secret_of_flow(meta.keys.nonces, meta.session.local, meta.session.remote, 8w38 ++ 8w0 ++ (now >> NONCE_PERIOD));
            both[191:96] = secret[95:0];
            if (both[127:96] == 0) {
                both[127:96] = 1;                   // a nonce is never 0, and a short one is its last 32 bits
            }
            if (nonce_octets == SHORT_NONCE) {
                both[191:128] = 0;
            }
            nonces.write(slot, both);
        }

        // Half open it ends by itself, unless the SYN-ACK comes once more; then it lives while the peer shows its nonce.
        bool lives = stage != before || (stage == FLOW_SYN_ACK_SEEN && syn && ack)
            || (stage == FLOW_ADMITTED && !sent && !meta.ilnp.doubtful && borne == both[95:0]);
        if (lives && stage != FLOW_NEW) {
            states.write(slot, stage[3:0] ++ (opened_here ? 1w1 : 1w0) ++ 3w0 ++ nonce_octets[3:0] ++ 4w0 ++ now);
        }

        // Flows that begin side by side are of one session: of those that come later, what is under way passes.
        meta.ilnp.of_flow = (!syn || ack) && (stage == FLOW_SYN_ACK_SEEN || stage == FLOW_ADMITTED) && borne == both[95:0];

        // What the host here sends bears the nonce that was drawn for it: a first SYN, and all once the peer has one.
        if (sent && (stage == FLOW_SYN_ACK_SEEN || stage == FLOW_ADMITTED
                     || (stage == FLOW_SYN_SEEN && opened_here && syn && !ack && octets != 0))) {
            meta.ilnp.opening = draws || before == FLOW_SYN_ACK_SEEN;
            meta.ilnp.rewritten = true;
            meta.ilnp.source = hdr.ipv6.source;
            meta.ilnp.destination = hdr.ipv6.destination;
            CHECKSUM_OF_2(meta.ilnp.difference, hdr.ipv6.source[127:64], hdr.ipv6.destination[127:64]);
            meta.ilnp.to_put = true;
            meta.ilnp.octets_to_put = nonce_octets;
            meta.ilnp.nonce_to_put = both[191:96];
        }
    }
}

#endif
