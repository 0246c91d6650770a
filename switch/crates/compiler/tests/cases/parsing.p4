// Sub-parsers, lookahead, varbits, value sets and verify.
#include <core.p4>
#include <v1model.p4>

header tag_t { bit<8> kind; }
header fixed_t { bit<4> high; bit<4> low; bit<8> rest; }
header options_t { bit<8> length; varbit<32> data; }
header seen_t { bit<8> first; bit<8> second; bit<8> failed; }
struct odd_t { bit<3> a; bit<7> b; }
struct headers_t { tag_t tag; fixed_t fixed; options_t options; fixed_t inner; seen_t seen; }
struct meta_t { bit<8> first; bit<8> second; }
error { BadRest }
parser Sub(packet_in packet, out fixed_t fixed, in bit<8> limit) {
    state start {
        packet.extract(fixed);
        verify(fixed.rest < limit, error.BadRest);
        transition select(fixed.high, fixed.low) {
            (1 .. 3, _): accept;
            (4, 0x8 &&& 0x8): accept;
            (_, 0): reject;
        }
    }
}
parser P(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    Sub() sub;
    value_set<bit<8>>(4) kinds;
    state start {
        packet.extract(hdr.tag);
        transition select(hdr.tag.kind) {
            kinds: look;
            1: with_sub;
            2: with_options;
            3: look;
            4: skip;
            default: accept;
        }
    }
    state with_sub {
        sub.apply(packet, hdr.fixed, 0x80);
        sub.apply(packet, hdr.inner, 0x40);
        transition accept;
    }
    state with_options {
        bit<8> length = packet.lookahead<bit<8>>();
        packet.extract(hdr.options, (bit<32>)(length << 3));
        transition accept;
    }
    state look {
        odd_t odd = packet.lookahead<odd_t>();
        meta.first = (bit<8>)odd.a;
        meta.second = (bit<8>)odd.b;
        transition accept;
    }
    state skip {
        packet.advance(16);
        meta.first = packet.lookahead<tag_t>().kind;
        transition accept;
    }
}
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    apply {
        standard.egress_spec = 1;
        hdr.seen = { meta.first, meta.second, 0 };
        if (standard.parser_error == error.BadRest) { hdr.seen.failed = 1; }
        if (standard.parser_error == error.NoMatch) { hdr.seen.failed = 2; }
        if (standard.parser_error == error.PacketTooShort) { hdr.seen.failed = 3; }
        if (standard.parser_error == error.HeaderTooShort) { hdr.seen.failed = 4; }
    }
}
control V(inout headers_t hdr, inout meta_t meta) { apply { } }
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) { apply { } }
control C(inout headers_t hdr, inout meta_t meta) { apply { } }
control D(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
