#include <v1model.p4>

extern E {
    void E();
}

control c(inout bit<8> a) {
    action set(bit<8> v) { a = v; }
    table early {
        key = { a : exact; }
        default_action = set(1);
        actions = { set; }
    }
    apply { early.apply(); }
}
