#include <v1model.p4>

struct m_t { bit<8> e; bit<8> t; }

control c(inout m_t m) {
    action a() {}
    table exact_only {
        key = { m.e : exact; }
        actions = { a; }
        entries = { priority = 1 : 1 : a(); }
    }
    table first_without {
        key = { m.t : ternary; }
        actions = { a; }
        entries = { 1 : a(); priority = 1 : 2 : a(); }
    }
    table below_zero {
        key = { m.t : ternary; }
        actions = { a; }
        largest_priority_wins = true;
        priority_delta = 10;
        entries = { priority = 12 : 1 : a(); 2 : a(); 3 : a(); }
    }
    table early {
        entries = { 1 : a(); }
        key = { m.t : ternary; }
        actions = { a; }
        priority_delta = 0;
    }
    table computed {
        key = { m.t + 1 : exact; m.t & 3 : exact; m.t[3:0] : exact; m.t ^ 1 : exact @name("x"); }
        actions = { a; }
    }
    apply {}
}
