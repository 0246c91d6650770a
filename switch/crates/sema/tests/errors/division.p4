#include <v1model.p4>

struct m_t { bit<8> a; bit<8> b; }

control c(inout m_t m)(bit<8> size) {
    apply {
        m.a = m.a / m.b;
        m.a = m.a % 3;
        m.a %= m.b;
        m.a = m.a / 4 + m.b % 8 + 0 / m.a + 100 / 7;
        m.b = size / 3;
        m.b = 10 / 0;
    }
}
