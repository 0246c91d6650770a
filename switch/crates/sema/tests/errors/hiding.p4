#include <v1model.p4>

struct m_t { bit<8> a; bit<16> b; }

bit<8> f(in bit<8> x) {
    { bit<8> x = 1; }
    return x;
}

control c(inout m_t m, in bit<8> n)(bit<8> size) {
    bit<16> n = 1;
    bit<8> free = 0;
    action set(bit<8> v) { bit<8> v = 1; m.a = v; }
    action hides(bit<8> m) {}
    apply {
        m_t m = m;
        bit<8> free = 1;
        const bit<8> size = 2;
        bit<8> n = 3;
        for (bit<8> m = 0; m < 3; m = m + 1) {}
    }
}
