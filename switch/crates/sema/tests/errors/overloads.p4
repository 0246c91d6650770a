extern e_t {
    e_t();
    e_t(bit<8> x);
    e_t(bit<16> x);
    void f(in bit<8> a);
    void f(in bit<8> a, in bit<8> b);
    void f(in bit<16> a);
    abstract void g();
}
extern bool ask(in bit<8> a);
extern bool ask(in bit<16> a);
extern plain_t { plain_t(); void f(in bit<8> a); void f(in bit<8> a, @optional in bit<8> b); }

bit<8> pick(@optional in bit<8> a) { return a; }
bit<8> later(in bit<8> a = 3, bit<8> b = 4) { return a + b; }

control c(inout bit<8> x)(@optional bit<8> n) {
    e_t() e;
    plain_t() p;
    apply {
        p.f(x);
        p.f(x, x);
        p.f(b = x, a = x);
        p.f(x, b = x);
        p.f();
        x = later();
        x = later(b = 5);
        x = later(5, x);
    }
}
