// Entries of every kind, bound arguments, hits in conditions, and what a switch on the action sees.
#include <core.p4>
#include <v1model.p4>

header data_t { bit<8> kind; bit<8> key; bit<8> mask; bit<8> out1; bit<8> out2; }
struct headers_t { data_t data; }
struct meta_t { bit<8> unused; }
parser P(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    state start { packet.extract(hdr.data); transition accept; }
}
control Twice(inout bit<8> x, in bit<8> key) {
    action add(inout bit<8> to, bit<8> amount) { to = to + amount; }
    table t { key = { key : exact; } actions = { add(x); } const entries = { 5 : add(3); } default_action = add(x, 1); }
    apply { t.apply(); t.apply(); }
}
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    Twice() twice;
    action set(bit<8> value) { hdr.data.out1 = value; }
    action leave(bit<8> value) { hdr.data.out1 = value; exit; }
    action keep() { }
    table prefix {
        key = { hdr.data.key : lpm; }
        actions = { set; keep; }
        const entries = { 0x80 &&& 0x80 : set(1); 0xc0 &&& 0xf0 : set(2); 0xc5 : set(3); }
        default_action = keep();
    }
    table ranked {
        key = { hdr.data.key & hdr.data.mask : ternary @name("masked"); hdr.data.kind : range; hdr.data.isValid() : exact; }
        actions = { set; leave; keep; }
        const entries = {
            (_, 9 .. 20, true) : set(0x11);
            (0x0f &&& 0x0f, 0 .. 3, true) : set(0x22);
            (0x01, _, true) : leave(0x33);
            (_, 1, true) : set(0x44);
        }
        default_action = keep();
    }
    table none { actions = { set; } default_action = set(0x77); }
    apply {
        standard.egress_spec = 1;
        if (hdr.data.kind == 0) {
            if (prefix.apply().hit) { hdr.data.out2 = 1; } else { hdr.data.out2 = 2; }
        } else if (hdr.data.kind == 0x80) {
            twice.apply(hdr.data.out1, hdr.data.key);
        } else if (hdr.data.kind == 0x81) {
            none.apply();
        } else {
            switch (ranked.apply().action_run) {
                set: { hdr.data.out2 = 0xa; }
                keep: { hdr.data.out2 = 0xb; }
                default: { hdr.data.out2 = 0xc; }
            }
        }
    }
}
control V(inout headers_t hdr, inout meta_t meta) { apply { } }
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) { apply { } }
control C(inout headers_t hdr, inout meta_t meta) { apply { } }
control D(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
