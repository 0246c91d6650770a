// Arguments are evaluated in order, copied in, and copied out in order, also when the callee exits.
#include <core.p4>
#include <v1model.p4>

header data_t { bit<8> mode; bit<8> a; bit<8> b; bit<8> c; bit<8> d; }
struct headers_t { data_t data; }
struct meta_t { bit<8> trail; }
parser P(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    state start { packet.extract(hdr.data); transition accept; }
}
bit<8> step(inout bit<8> x) { x = x + 1; return x; }
bit<8> mix(in bit<8> before, inout bit<8> x, in bit<8> after) { x = x * 2; return before ++ after == 0x0102 ? 8w0xaa : 8w0xbb; }
void both(inout bit<8> x, inout bit<8> y) { x = 0x10; y = y + 1; }
control Inner(inout bit<8> x, out bit<8> y, in bit<8> z) {
    apply {
        y = z;
        x = x + y;
        if (z == 9) { exit; }
        x = x + 0x40;
    }
}
control Same(inout data_t one, inout data_t two) {
    apply { one.a = 0x71; two.b = 0x72; one.c = two.a; }
}
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    Inner() inner;
    Same() same;
    action twice(inout bit<8> x) { x = 0x33; hdr.data.b = x + hdr.data.a; }
    apply {
        standard.egress_spec = 1;
        if (hdr.data.mode == 0) {
            // The first argument is 1, the copy of a doubled is 4, the last is 2.
            hdr.data.b = mix(step(hdr.data.a), hdr.data.d, step(hdr.data.a));
            // Both parameters stand for c: the second is copied out last, from the value c had before.
            both(hdr.data.c, hdr.data.c);
        } else if (hdr.data.mode == 1) {
            inner.apply(hdr.data.a, hdr.data.b, hdr.data.c);
            hdr.data.d = 0xdd;
        } else if (hdr.data.mode == 2) {
            twice(hdr.data.a);
        } else if (hdr.data.mode == 3) {
            same.apply(hdr.data, hdr.data);
        } else {
            bool both_seen = step(hdr.data.a) == 5 && step(hdr.data.b) == 6;
            bool one_seen = step(hdr.data.c) == 7 || step(hdr.data.d) == 8;
            hdr.data.mode = (both_seen ? 8w0x10 : 0) + (one_seen ? 8w1 : 0);
        }
    }
}
control V(inout headers_t hdr, inout meta_t meta) { apply { } }
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) { apply { } }
control C(inout headers_t hdr, inout meta_t meta) { apply { } }
control D(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
