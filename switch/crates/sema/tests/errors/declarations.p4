struct s_t { bit<8> a; bit<16> a; }
header inner_t { bit<8> f; }
header bad_t { inner_t i; error e; bit<8> ok; }
header_union u_t { inner_t i; bit<8> b; }
enum e_t { A, B, A }
enum bool f_t { A = true }
enum bit<4> g_t { A = 1, B, C = 20 }
enum h_t { A = 1 }
type s_t new_t;
error { Once, Once }
typedef undefined_t alias_t;
const int W = 8;
const bit<W> EIGHT = 1 << 3;
const bit<(W * 2)> SIXTEEN = EIGHT ++ EIGHT;
const bit<(W - 9)> NEGATIVE = 1;
const bool SAME = EIGHT == 8;
const bit<8> VALUE = EIGHT + true;
const int HUGE = 1 << 100000;
const bit<8> AGAIN = VALUE + 1;
struct i_t { int i; string s; }

control c(in bit<8> x)(bit<8> w, bit<8> w) {
    const bit<8> y = x;
    int n = 3;
    bit<x> z;
    s_t[0] none;
    tuple<bit<8>, bool> t = { 1, true };
    bit<8> first = t[0];
    bit<8> third = t[2];
    bit<8> any = t[x];
    bit<8> first = 1;
    inner_t[2] stack;
    apply {
        stack[2].f = 1;
        stack.f = 1;
        stack[x].f = 1;
        stack.push_front(x);
        stack.push_front(1);
        stack.size = 1;
    }
}
