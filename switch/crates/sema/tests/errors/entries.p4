#include <v1model.p4>

struct m_t { bit<8> e; bit<8> t; bit<8> l; bit<8> r; bit<8> o; }

control c(inout m_t m) {
    action a() {}
    action b(bit<8> v) { m.e = v; }
    table good {
        key = { m.e : exact; m.t : ternary; m.l : lpm; m.r : range; m.o : optional; }
        actions = { a; b; }
        const entries = {
            (1, 2 &&& 3, 0xf0 &&& 0xf0, 1 .. 5, _) : a();
            (1, _, 0x12, _, 7) : b(5);
        }
    }
    table bad {
        key = { m.e : exact; m.t : ternary; m.l : lpm; m.r : range; m.o : optional; }
        actions = { a; @defaultonly b; }
        const entries = {
            (1, 2) : a();
            (_, 1, 1, 1, 1) : a();
            (1, 1 .. 2, 1, 1, 1) : a();
            (1, 1, 0x0f &&& 0x0f, 1, 1) : a();
            (1, 1, 1, 1 &&& 1, 1) : a();
            (1, 1, 1, 5 .. 1, 1) : a();
            (1, 1, 1, 1, 1 &&& 1) : a();
            (1, true, 1, 1, 1) : a();
            (1, 1, 1, 1, 1) : b(1);
            (1, 1, 1, 1, m.o) : a();
            (1, 1, 1, 1, 2) : a(1);
            priority = 3 : (1, 1, 1, 1, 3) : a();
        }
    }
    table keyless {
        actions = { a; }
        const entries = { 1 : a(); }
    }
    apply {}
}
