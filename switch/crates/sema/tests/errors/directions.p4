const bit<8> LIMIT = 8;

void swap(inout bit<8> a, out bit<8> b) {
    bit<8> t = a;
    a = b;
    b = t;
}

control c(in bit<8> x, inout bit<8> y, bit<8> z)(bit<8> w) {
    action a(in bit<8> i, bit<8> j) {
        i = 1;
        j = 1;
    }
    action late(bit<8> i, in bit<8> j) {}
    apply {
        x = 1;
        x[3:0] = 1;
        z = 1;
        w = 1;
        LIMIT = 9;
        swap(y, x);
        swap(y + 1, y);
        swap(y, _);
        swap(_, y);
    }
}
