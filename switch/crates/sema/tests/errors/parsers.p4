#include <core.p4>

header h_t { bit<8> f; varbit<32> v; }
struct headers_t { h_t h; h_t[3] stack; }

parser no_start(packet_in p) {
    state begin { transition accept; }
}

parser q(packet_in p, out headers_t hdr) {
    value_set<bit<8>>(4) known;
    value_set<bit<16>>(4) wide;
    state start {
        p.extract(hdr.h);
        p.extract(hdr.h, 8);
        p.extract(hdr.stack.next, 8, 9);
        p.extract(hdr.stack[3]);
        p.extract(hdr.f);
        return;
        transition select(hdr.h.f, hdr.h.v) {
            (1, 2): more;
            (1): accept;
            default: accept;
        }
    }
    state more {
        exit;
        transition select(hdr.stack.last.f) {
            known: start;
            wide: start;
            1 .. 5: strat;
            300: accept;
            true: accept;
            8w3 &&& 4w1: accept;
        }
    }
    state more { transition accept; }
    state accept {}
}

control c(packet_out p, in headers_t hdr) {
    apply {
        p.emit(hdr);
        p.emit(hdr.stack.next);
        p.extract(hdr);
    }
}
