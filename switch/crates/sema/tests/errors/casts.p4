type bit<8> small_t;
struct pair_t { bit<8> a; bit<8> b; }
enum Color { Red, Green }

control c(inout bit<8> x, inout bit<16> y, inout int<8> s, inout bool b, inout small_t t) {
    apply {
        x = (bit<8>) y;
        x = (bit<8>) s;
        y = (bit<16>) s;
        y = (bit<16>)(int<16>) s;
        b = (bool) x;
        b = (bool) x[0:0];
        b = (bool) 2;
        b = (bool) 1;
        x = (bit<8>) b;
        x = (bit<8>) t;
        y = (bit<16>) t;
        t = (small_t) y;
        x = (bit<8>) Color.Red;
        pair_t p = (pair_t) { 1, 2 };
        p = (pair_t) x;
        p = (pair_t) { 1, b };
    }
}
