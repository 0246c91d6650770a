#include <v1model.p4>

struct h_t {}
struct m_t {}
struct other_t {}

parser p(packet_in b, out h_t h, inout m_t m, inout standard_metadata_t s) {
    state start { transition accept; }
}
control sub(inout m_t m)(bit<8> n) { apply {} }
control easy(inout m_t m) { apply {} }
control verify_it(inout h_t h, inout m_t m) { apply {} }
control ingress(inout h_t h, inout m_t m, inout standard_metadata_t s) {
    sub() one;
    sub(1) two;
    sub(m) three;
    sub(1, 2) four;
    ingress() me;
    p() wrong;
    register(1) r;
    register<bit<8>, bit<8>, bit<8>>(1) t;
    action a() { easy() e; easy.apply(m); }
    apply {
        easy.apply(m);
        easy.apply();
        two.apply(m);
        sub.apply(m);
        two.aply(m);
        two(m);
    }
}
control egress(inout h_t h, inout m_t m, inout standard_metadata_t s) { apply {} }
control compute(inout h_t h, inout other_t m) { apply {} }
control deparser(packet_out b, in h_t h) { apply {} }

V1Switch(p(), verify_it(), ingress(), egress(), compute()) five;
V1Switch(p(), verify_it(), ingress(), egress(), compute(), deparser()) six;
V1Switch(p(), verify_it(), ingress, p(), verify_it(), deparser()) seven;
V1Switch(p(), verify_it(), ingress(), egress(), verify_it(), deparser()) main;
