// Signed, saturating and wide numbers, shifts and slices.
#include <core.p4>
#include <v1model.p4>

header in_t { bit<8> mode; int<8> a; int<8> b; bit<8> n; bit<32> word; }
header wide_t { bit<200> x; bit<200> y; }
struct headers_t { in_t data; wide_t wide; }
struct meta_t { bit<8> unused; }
parser P(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.data);
        transition select(hdr.data.mode) { 0x10 .. 0x1f: more; default: accept; }
    }
    state more { packet.extract(hdr.wide); transition accept; }
}
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    apply {
        standard.egress_spec = 1;
        switch (hdr.data.mode) {
            0: { hdr.data.word = (bit<8>)(hdr.data.a |+| hdr.data.b) ++ (bit<8>)(hdr.data.a |-| hdr.data.b)
                    ++ (bit<8>)(hdr.data.a >> hdr.data.n) ++ (bit<8>)(hdr.data.a << 1); }
            1: { hdr.data.word = (bit<32>)(int<32>)hdr.data.a;
                 hdr.data.n = (hdr.data.a < hdr.data.b ? 8w1 : 0) + (hdr.data.a >= hdr.data.b ? 8w2 : 0); }
            2: { hdr.data.word[15:8][3:0] = 0xa; hdr.data.word[31:28] = hdr.data.n[3:0]; }
            3: { hdr.data.n = hdr.data.n |-| 0x20; hdr.data.word = hdr.data.word |+| 0x80000000; }
            0x10: { hdr.wide.x = hdr.wide.x + hdr.wide.y; hdr.data.n = hdr.wide.x > hdr.wide.y ? 8w1 : 0; }
            0x11: { hdr.wide.x = hdr.wide.x << hdr.data.n; hdr.data.word = hdr.wide.y[199:168]; }
            0x12: { hdr.wide.x[131:100] = hdr.data.word; hdr.wide.y = hdr.wide.x[99:0] ++ hdr.wide.x[199:100]; }
            0x13: { hdr.wide.x = (hdr.wide.x ^ hdr.wide.y) * 3; hdr.wide.y = -hdr.wide.y; }
            default: { hdr.data.mode = 0xff; }
        }
    }
}
control V(inout headers_t hdr, inout meta_t meta) { apply { } }
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) { apply { } }
control C(inout headers_t hdr, inout meta_t meta) { apply { } }
control D(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
