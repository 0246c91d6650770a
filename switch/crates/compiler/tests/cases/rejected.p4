// A sub-parser that fails has copied its parameters out all the same; values it was given by halves.
#include <core.p4>
#include <v1model.p4>

header tag_t { bit<8> kind; }
header seen_t { bit<8> halves; bit<8> deep; bit<8> failed; }
struct headers_t { tag_t tag; tag_t inner; seen_t seen; }
struct meta_t { bit<8> halves; bit<8> deep; }
parser Deep(packet_in packet, inout bit<4> low) {
    state start {
        low = low + 1;
        transition select(packet.lookahead<bit<8>>()) {
            0 .. 0x7f: accept;
        }
    }
}
parser Sub(packet_in packet, out tag_t tag, out bit<4> high, inout bit<8> deep) {
    Deep() further;
    state start {
        high = 0xa;
        deep = 0x70;
        further.apply(packet, deep[3:0]);
        packet.extract(tag);
        high = 0xb;
        transition accept;
    }
}
parser P(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    Sub() sub;
    state start {
        packet.extract(hdr.tag);
        meta.halves = 0x11;
        sub.apply(packet, hdr.inner, meta.halves[7:4], meta.deep);
        transition accept;
    }
}
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    apply {
        standard.egress_spec = 1;
        hdr.seen = { meta.halves, meta.deep, (bit<8>)(bit<1>)(standard.parser_error != error.NoError) };
    }
}
control V(inout headers_t hdr, inout meta_t meta) { apply { } }
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) { apply { } }
control C(inout headers_t hdr, inout meta_t meta) { apply { } }
control D(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
