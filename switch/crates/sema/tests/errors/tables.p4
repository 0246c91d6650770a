#include <v1model.p4>

struct m_t { bit<8> a; bit<16> b; }

control c(inout m_t m) {
    action set(bit<8> v) { m.a = v; }
    action copy(in bit<16> from, bit<16> mask) { m.b = from & mask; }
    action other() {}
    table no_actions {
        key = { m.a : exact; }
    }
    table keys {
        key = {
            m.a : exat;
            m : exact;
            1 : exact;
            m.c : lpm;
        }
        actions = { set; set; unknown; m; copy; copy(m.b, 1); }
        default_action = other();
        size = m.b;
        support_timeout = 1;
    }
    table defaults {
        actions = { set; copy(m.b); }
        default_action = set();
    }
    table bound {
        actions = { copy(m.b); }
        default_action = copy(m.b, 7);
    }
    table rebound {
        actions = { copy(m.b); }
        default_action = copy(m.b + 1, 7);
    }
    apply {
        if (keys.apply()) {}
        if (keys.apply().hot) {}
        if (keys.hit) {}
        switch (bound.apply().action_run) {
            copy: {}
            other: {}
            copy: {}
        }
        switch (bound.apply().action_run) {
            default: {}
            copy: {}
        }
        keys();
        set.apply();
    }
}
