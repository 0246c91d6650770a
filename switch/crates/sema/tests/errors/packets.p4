#include <core.p4>

header fixed_t { bit<8> f; }
header varying_t { bit<8> f; varbit<32> v; }
header twice_t { varbit<8> v; varbit<32> w; }
header_union either_t { fixed_t a; varying_t b; }
struct headers_t { fixed_t f; varying_t v; twice_t t; either_t u; }

parser p(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.f);
        packet.extract(hdr.f, 8);
        packet.extract(hdr.v);
        packet.extract(hdr.v, 8);
        packet.extract(hdr.t, 8);
        packet.extract(hdr.u);
        packet.extract(hdr.u.a);
        packet.extract(hdr);
        hdr.f = packet.lookahead<fixed_t>();
        hdr.v = packet.lookahead<varying_t>();
        verify(hdr.f.f == 1, error.NoMatch);
        verify(hdr.f.f == 1, error.NoMach);
        transition start;
    }
}

control c(inout headers_t hdr) {
    apply {
        verify(hdr.f.f == 1, error.NoMatch);
        static_assert(1 == 2, "one is not two");
        static_assert(1 == 1);
    }
}
