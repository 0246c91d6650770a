// Loops of every kind, with break and continue, in a function, a control and a parser without end.
#include <core.p4>
#include <v1model.p4>

header numbers_t { bit<8> count; bit<8> sum; bit<8> odd; bit<8> pairs; bit<8> last; bit<8> each; bit<8> list; }
header item_t { bit<8> value; }
struct headers_t { numbers_t numbers; item_t[3] items; }
struct meta_t { bit<8> unused; }
bit<8> sum_to(in bit<8> limit) {
    bit<8> total = 0;
    for (bit<8> i in 1 .. limit) {
        if (i == 6) { return total; }
        total = total + i;
        i = 200;
    }
    return total;
}
parser P(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.numbers);
        transition select(hdr.numbers.count) { 0xff: forever; default: items; }
    }
    state items {
        packet.extract(hdr.items.next);
        packet.extract(hdr.items.next);
        packet.extract(hdr.items.next);
        transition accept;
    }
    state forever { transition forever; }
}
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    apply {
        standard.egress_spec = 1;
        if (standard.parser_error == error.ParserTimeout) {
            hdr.numbers.sum = 0xee;
            exit;
        }
        hdr.numbers.sum = sum_to(hdr.numbers.count);
        for (bit<8> i = 0; i < hdr.numbers.count; i = i + 1) {
            if (i & 1 == 0) { continue; }
            if (i > 5) { break; }
            hdr.numbers.odd = hdr.numbers.odd + i;
        }
        for (bit<8> i = 0; i < 3; i = i + 1) {
            for (bit<8> j in i .. 2) {
                if (j == 2) { break; }
                hdr.numbers.pairs = hdr.numbers.pairs + 1;
            }
        }
        for (bit<8> k in 250 .. 255) { hdr.numbers.last = k; }
        for (bit<8> v in (list<bit<8>>) { 1, hdr.numbers.count, hdr.numbers.list, 0x40 }) {
            if (v == 0x40) { break; }
            hdr.numbers.list = hdr.numbers.list + v;
        }
        for (item_t item in hdr.items) { hdr.numbers.each = hdr.numbers.each + item.value; }
    }
}
control V(inout headers_t hdr, inout meta_t meta) { apply { } }
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) { apply { } }
control C(inout headers_t hdr, inout meta_t meta) { apply { } }
control D(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
