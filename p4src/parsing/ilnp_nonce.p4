// A look at destination options for ILNP's nonce. They stay on the stack of extension headers, where they stand.
//
//   start -> the options, at most 30 octets of them -> pad or pad, or another option, or the nonce -> next
//
// Longer headers are not looked at: a packet with one bears no nonce here. The caller knows that the header is there.

#ifndef WAYNAME_PARSING_ILNP_NONCE_P4
#define WAYNAME_PARSING_ILNP_NONCE_P4

#include "../common/packet_metadata.p4"
#include "../common/types.p4"
#include "../ilnp/headers.p4"
#include "../ilnp/metadata.p4"
#include "../encapsulation/metadata.p4"

parser NonceParser(packet_in packet, inout chain_t chain, inout ilnp_t ilnp, in routing_t routing) {
    bit<256> window = 0;        // at the front what comes next
    bit<16> left;
    bit<16> size;
    bool others = false;        // options that are neither a nonce nor padding
    bool found = false;

    state start {
        left = chain.size - 2;
        transition select(chain.size) {
            8: eight;
            16: sixteen;
            24: twenty_four;
            32: thirty_two;
            default: accept;
        }
    }

    state eight {
        window = packet.lookahead<bit<64>>() ++ 192w0;
        transition begin;
    }

    state sixteen {
        window = packet.lookahead<bit<128>>() ++ 128w0;
        transition begin;
    }

    state twenty_four {
        window = packet.lookahead<bit<192>>() ++ 64w0;
        transition begin;
    }

    state thirty_two {
        window = packet.lookahead<bit<256>>();
        transition begin;
    }

    state begin {
        window = window << 16;
        transition option;
    }

    state option {
        transition select(left) {
            0: end;
            default: kind;
        }
    }

    state kind {
        transition select(window[255:248]) {
            OPTION_PAD_1: single_octet;
            default: with_length;
        }
    }

    state single_octet {
        size = 1;
        transition next;
    }

    // What is longer than its header is the receiver's to complain about.
    state with_length {
        size = (bit<16>)window[247:240] + 2;
        chain.crossed = size > left;
        transition select(chain.crossed, window[255:248], window[247:240]) {
            (true, _, _): end;
            (false, OPTION_NONCE, SHORT_NONCE): short_nonce;
            (false, OPTION_NONCE, LONG_NONCE): long_nonce;
            (false, OPTION_NONCE, _): wrong_length;
            (false, OPTION_PAD_N, _): next;
            default: other;
        }
    }

    state short_nonce {
        ilnp.nonce = (nonce_t)window[239:208];
        transition nonce;
    }

    state long_nonce {
        ilnp.nonce = window[239:144];
        transition nonce;
    }

    state nonce {
        ilnp.octets = window[247:240];
        transition select(ilnp.kind) {
            NONCE_NONE: first_nonce;
            default: second_nonce;
        }
    }

    state first_nonce {
        ilnp.kind = NONCE_HERE;
        found = true;
        transition next;
    }

    // Such a packet proves nothing (RFC 6744, section 2).
    state second_nonce {
        ilnp.kind = NONCE_TWICE;
        transition next;
    }

    state wrong_length {
        ilnp.kind = NONCE_LENGTH;
        transition next;
    }

    state other {
        others = true;
        transition next;
    }

    state next {
        window = window << (bit<8>)(size << 3);
        left = left - size;
        transition option;
    }

    state end {
        transition select(found) {
            true: place;
            false: accept;
        }
    }

    state place {
        ilnp.next_header = packet.lookahead<bit<8>>();
        ilnp.size = chain.size;
        ilnp.index = chain.count;
        ilnp.behind = routing.type != 0;
        ilnp.alone = !others;
        transition accept;
    }
}

#endif
