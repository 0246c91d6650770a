enum Color { Red, Green }
enum bit<8> Proto { Tcp = 6, Udp = 17 }
struct pair_t { bit<8> a; bool b; }
type bit<9> port_t;

bit<16> widen(in bit<8> x) {
    return x;
}

void nothing() {
    return 1;
}

bit<8> sometimes(in bool b) {
    if (b) { return 1; }
}

control c(inout bit<8> x, inout bit<16> y, inout bool b, inout port_t p) {
    apply {
        x = y;
        b = x;
        x = Color.Red;
        x = Proto.Tcp;
        Proto q = 8w6;
        q = (Proto) 8w6;
        p = 9w1;
        p = (port_t) 1;
        y = p;
        pair_t s = { 1, true, 3 };
        s = { a = 1 };
        s = { a = 1, b = true, c = 2 };
        s = { a = 1, ... };
        if (x) {}
        Color k = Color.Blue;
        x = 300;
    }
}
