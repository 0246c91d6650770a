#include <v1model.p4>

header h_t { bit<8> f; }
struct digest_t { bit<8> a; }

bit<8> twice(in bit<8> x) { return x << 1; }
T same<T>(in T x) { return x; }
T first<T, U>(in T x, in U y) { return x; }

control c(inout h_t h, inout bit<8> x, inout standard_metadata_t meta) {
    register<bit<8>>(16) r;
    counter(16, CounterType.packets) k;
    action set(in bit<8> a, bit<8> b) { x = a; }
    apply {
        x = twice();
        x = twice(1, 2);
        x = twice(y = 1);
        x = twice(x = 1);
        x = same(x);
        x = same<bit<16>>(x);
        x = first<bit<8>>(x, x);
        x = same(1);
        x = twice<bit<8>>(1);
        r.read(x);
        r.read(1, 0);
        r.red(x, 0);
        r.read(x, 0);
        r.write(0, meta.ingress_port);
        k.count(x);
        k.count((bit<32>) x);
        set(1);
        set(1, 2);
        h.isValid(1);
        h.setValid(true);
        x.setValid();
        mark_to_drop(meta);
        mark_to_drop(meta, 1);
        mark_to_drop(h);
        random(x, 0, 255);
        digest(1, { x, 5 });
        hash(x, HashAlgorithm.crc16, 8w0, { x }, 8w10);
        clone_preserving_field_list(CloneType.I2E, 5, x);
        x();
        h_t();
    }
}
