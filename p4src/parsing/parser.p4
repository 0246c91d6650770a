// Takes a packet apart as far as the upper layer.
//
//   Ethernet -> [VLAN] -> IPv6 -> extension headers, in any order -> a look at ports or ICMPv6
//                    \
//                     `-> anything else stays as it is
//
// Extension headers go onto a stack, as (next header, length, data); so their order is kept without knowing it. Hop-by-hop
// options and the first routing header are cut finer, by parsers of their own; what follows a routing header goes onto a
// second stack.
// What is wrong with a packet is written into `fault`; the packet still goes on, to be counted and dropped by ingress.
//
// A packet on its second pass, for the ICMPv6 error that answers it, is cut another way: all from the IPv6 header on
// becomes the quote.

#ifndef WAYNAME_PARSING_PARSER_P4
#define WAYNAME_PARSING_PARSER_P4

#include "../common/metadata.p4"
#include "../common/reasons.p4"
#include "../common/sizes.p4"
#include "../common/types.p4"
#include "headers.p4"
#include "hip.p4"
#include "ilnp_nonce.p4"
#include "options.p4"
#include "path_option.p4"
#include "routing_header.p4"
#include "shim6.p4"
#include "upper_layer.p4"
#include "../sessions/shim6_headers.p4"
#include "../encapsulation/routing_headers.p4"

parser EdgeParser(packet_in packet, out headers_t hdr, inout metadata_t meta) {
    OptionsParser() options_parser;
    RoutingParser() routing_parser;
    Shim6Parser() shim6_parser;
    NonceParser() nonce_parser;
    PathOptionParser() path_option_parser;
    HipParser() hip_parser;
    UpperLayerParser() upper_layer_parser;

    state start {
        transition select(meta.from_controller) {
            true: controller;
            false: ethernet;
        }
    }

    state controller {
        packet.extract(hdr.packet_out);
        transition ethernet;
    }

    state ethernet {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.type) {
            ETHERTYPE_VLAN: vlan;
            ETHERTYPE_IPV6: network;
            default: accept;
        }
    }

    state vlan {
        packet.extract(hdr.vlan);
        transition select(hdr.vlan.type) {
            ETHERTYPE_IPV6: network;
            default: accept;
        }
    }

    state network {
        transition select(meta.icmp_error.type) {
            0: version;
            default: quote;
        }
    }

    // The quote of an ICMPv6 error: the packet as it arrived, without what Ethernet may have padded it with.

    // A packet that came out of a tunnel here is quoted without the tunnel's headers.
    state quote {
        packet.advance((bit<32>)meta.icmp_error.skipped << 3);
        ipv6_h quoted = packet.lookahead<ipv6_h>();
        meta.icmp_error.receiver = quoted.source;
        meta.icmp_error.quote_bytes = quoted.payload_length |+| IPV6_BYTES;
        meta.chain.crossed = meta.icmp_error.quote_bytes > QUOTE_BYTES;
        transition select(meta.chain.crossed) {
            true: quote_beginning;
            false: quote_all;
        }
    }

    state quote_beginning {
        meta.icmp_error.quote_bytes = QUOTE_BYTES;
        packet.extract(hdr.quote, QUOTE_BITS);
        transition accept;
    }

    state quote_all {
        packet.extract(hdr.quote, (bit<32>)meta.icmp_error.quote_bytes << 3);
        transition accept;
    }

    // The packet itself. The version is looked at first: a header of another version has another form.

    state version {
        transition select(packet.lookahead<bit<4>>()) {
            6: ipv6;
            default: other_version;
        }
    }

    state other_version {
        meta.fault = DROP_VERSION;
        transition accept;
    }

    state ipv6 {
        packet.extract(hdr.ipv6);
        meta.chain.next_header = hdr.ipv6.next_header;
        meta.chain.left = hdr.ipv6.payload_length;
        transition select(hdr.ipv6.next_header) {
            NEXT_HOP_BY_HOP: hop_by_hop;
            default: chain;
        }
    }

    state hop_by_hop {
        meta.chain.crossed = meta.chain.left < 8;
        transition select(meta.chain.crossed) {
            true: past_end;
            false: hop_by_hop_size;
        }
    }

    state hop_by_hop_size {
        extension_start_t begin = packet.lookahead<extension_start_t>();
        meta.chain.size = ((bit<16>)begin.length + 1) << 3;
        meta.chain.crossed = meta.chain.size > meta.chain.left;
        transition select(meta.chain.crossed) {
            true: past_end;
            false: options;
        }
    }

    state options {
        options_parser.apply(packet, hdr, meta);
        meta.chain.next_header = hdr.hop_by_hop.next_header;
        meta.chain.left = meta.chain.left - meta.chain.size;
        meta.chain.count = 1;
        transition select(meta.fault) {
            DROP_NONE: chain;
            default: accept;
        }
    }

    // One turn of this loop for each extension header. RFC 8200 recommends an order; any must be accepted, but that
    // hop-by-hop options stand first.
    state chain {
        transition select(meta.chain.next_header) {
            NEXT_HOP_BY_HOP: hop_by_hop_not_first;
            NEXT_ROUTING: routing;
            NEXT_DESTINATION: destination;
            NEXT_MOBILITY: extension;
            NEXT_HIP: hip;
            NEXT_SHIM6: shim6;
            NEXT_UNKNOWN: unknown;
            NEXT_FRAGMENT: fragment;
            NEXT_AUTHENTICATION: authentication;
            default: upper_layer;   // with ESP and "no next header", of which no more can be read
        }
    }

    // The form of RFC 6564: the length counts eights of octets beyond the first eight.
    state extension {
        meta.chain.crossed = meta.chain.left < 8;
        transition select(meta.chain.crossed) {
            true: past_end;
            false: extension_size;
        }
    }

    state extension_size {
        extension_start_t begin = packet.lookahead<extension_start_t>();
        meta.chain.size = ((bit<16>)begin.length + 1) << 3;
        transition take;
    }

    state hip {
        meta.chain.guards_itself = true;
        hip_parser.apply(packet, meta.chain, meta.fragmented, meta.hip);
        transition extension;
    }

    // The first one of a kind that is known here is the one that a router acts on.
    state routing {
        meta.chain.crossed = meta.chain.left < 8;
        transition select(meta.chain.crossed, meta.routing.type) {
            (true, _): past_end;
            (false, 0): first_routing;
            default: other_routing;
        }
    }

    state first_routing {
        routing_start_t begin = packet.lookahead<routing_start_t>();
        meta.chain.size = ((bit<16>)begin.length + 1) << 3;
        meta.chain.crossed = meta.chain.size > meta.chain.left;
        transition select(begin.type, meta.chain.crossed, meta.chain.count) {
            (_, true, _): past_end;
            (_, false, EXTENSION_HEADERS): too_many;
            (ROUTING_SEGMENTS, _, _): routing_parts;
            (ROUTING_SOURCE_ROUTE, _, _): routing_parts;
            default: other_routing;
        }
    }

    // With type 2 a host sends a packet to an address of its own, and nowhere else (RFC 6275, section 6.4).
    state other_routing {
        routing_start_t begin = packet.lookahead<routing_start_t>();
        meta.chain.routing_0 = meta.chain.routing_0 || begin.type == ROUTING_DEPRECATED;
        meta.chain.goes_on = meta.chain.goes_on || (begin.type != ROUTING_HOME_ADDRESS && begin.segments_left != 0);
        transition extension_size;
    }

    state routing_parts {
        meta.chain.next_header = packet.lookahead<bit<8>>();
        routing_parser.apply(packet, hdr, meta);
        meta.chain.left = meta.chain.left - meta.chain.size;
        meta.chain.count = meta.chain.count + 1;
        transition chain;
    }

    // Nobody knows whether this is an extension header. It is taken for one while what it says of its length, and what
    // follows it, makes sense; where it ceases to, the packet is not to blame.
    state unknown {
        meta.chain.unknown = true;
        transition extension;
    }

    // Its length counts fours of octets beyond the first eight; twelve octets are fixed (RFC 4302).
    state authentication {
        meta.chain.crossed = meta.chain.left < 12;
        transition select(meta.chain.crossed) {
            true: past_end;
            false: authentication_size;
        }
    }

    state authentication_size {
        extension_start_t begin = packet.lookahead<extension_start_t>();
        meta.chain.size = ((bit<16>)begin.length + 2) << 2;
        meta.chain.guards_itself = true;
        transition select(begin.length) {
            0: authentication_short;
            default: take;
        }
    }

    state authentication_short {
        meta.fault = DROP_AUTHENTICATION_LENGTH;
        transition malformed;
    }

    state fragment {
        meta.chain.crossed = meta.chain.left < 8;
        transition select(meta.chain.crossed) {
            true: past_end;
            false: fragment_kind;
        }
    }

    state fragment_kind {
        fragment_t begin = packet.lookahead<fragment_t>();
        meta.chain.size = 8;
        meta.chain.next_header = begin.next_header;
        meta.chain.fragment = begin.identification;
        transition select(begin.offset, begin.more) {
            (0, 0): take;           // a packet in one fragment (RFC 6946) is a whole packet
            (0, 1): first_fragment;
            default: later_fragment;
        }
    }

    state first_fragment {
        meta.fragmented = true;
        meta.first_fragment = true;
        transition take;
    }

    state later_fragment {
        meta.fragmented = true;
        transition accept;          // what follows is the middle of something
    }

    state take {
        meta.chain.crossed = meta.chain.size > meta.chain.left;
        transition select(meta.chain.crossed, meta.chain.count) {
            (true, _): past_end;
            (false, EXTENSION_HEADERS): too_many;
            default: take_where;
        }
    }

    state take_where {
        transition select(meta.routing.type) {
            0: take_it;
            default: take_behind;
        }
    }

    state take_behind {
        packet.extract(hdr.extensions_behind.next, (bit<32>)(meta.chain.size - 2) << 3);
        meta.chain.next_header = hdr.extensions_behind.last.next_header;
        meta.chain.left = meta.chain.left - meta.chain.size;
        meta.chain.count = meta.chain.count + 1;
        transition chain;
    }

    state take_it {
        packet.extract(hdr.extensions.next, (bit<32>)(meta.chain.size - 2) << 3);
        meta.chain.next_header = hdr.extensions.last.next_header;
        meta.chain.left = meta.chain.left - meta.chain.size;
        meta.chain.count = meta.chain.count + 1;
        transition chain;
    }

    state upper_layer {
        upper_layer_parser.apply(packet, hdr, meta);
        transition select(meta.fault) {
            DROP_NONE: accept;
            default: malformed;
        }
    }

    // Shim6 control messages have the form of an extension header too.
    state shim6 {
        meta.chain.crossed = meta.chain.left < 8;
        transition select(meta.chain.crossed, meta.fragmented, meta.shim6.kind, meta.chain.count) {
            (true, _, _, _): past_end;
            (false, _, _, EXTENSION_HEADERS): extension_size;      // one too many
            (false, false, SHIM6_NONE, _): first_shim6;
            default: extension_size;
        }
    }

    state first_shim6 {
        shim6_parser.apply(packet, meta.shim6, meta.chain, meta.routing);
        transition extension_size;
    }

    // In front of a fragment header every fragment has the nonce.
    state destination {
        meta.chain.crossed = meta.chain.left < 8;
        transition select(meta.chain.crossed, meta.fragmented, meta.chain.count) {
            (true, _, _): past_end;
            (false, false, 0 .. 9): destination_size;
            default: extension_size;
        }
    }

    state destination_size {
        extension_start_t begin = packet.lookahead<extension_start_t>();
        meta.chain.size = ((bit<16>)begin.length + 1) << 3;
        meta.chain.crossed = meta.chain.size > meta.chain.left;
        transition select(meta.chain.crossed) {
            true: past_end;
            false: destination_options;
        }
    }

    state destination_options {
        nonce_parser.apply(packet, meta.chain, meta.ilnp, meta.routing);
        path_option_parser.apply(packet, meta.chain, meta.path_option, meta.routing);
        transition take;
    }

    // What is wrong.

    state hop_by_hop_not_first {
        meta.fault = DROP_HOP_BY_HOP_NOT_FIRST;
        transition malformed;
    }

    state past_end {
        transition select(meta.first_fragment) {
            true: first_fragment_short;
            false: extension_past_end;
        }
    }

    state extension_past_end {
        meta.fault = DROP_EXTENSION_PAST_END;
        transition malformed;
    }

    state first_fragment_short {
        meta.fault = DROP_FIRST_FRAGMENT_SHORT;
        transition malformed;
    }

    state too_many {
        meta.fault = DROP_TOO_MANY_EXTENSIONS;
        transition malformed;
    }

    state malformed {
        transition select(meta.chain.unknown) {
            true: not_an_extension;
            false: accept;
        }
    }

    state not_an_extension {
        meta.fault = DROP_NONE;
        transition accept;
    }
}

#endif
