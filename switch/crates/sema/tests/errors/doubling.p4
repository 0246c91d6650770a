struct s0_t { bit<8>[256] a; }
struct s1_t { s0_t[16] a; s0_t[16] b; }
struct s2_t { s1_t[4] a; s1_t[4] b; }
struct s3_t { s1_t[8] a; s1_t b; }
typedef tuple<s2_t, s2_t> t_t;

const string S0 = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
const string S1 = S0 ++ S0 ++ S0 ++ S0 ++ S0 ++ S0 ++ S0 ++ S0;
const string S2 = S1 ++ S1 ++ S1 ++ S1 ++ S1 ++ S1 ++ S1 ++ S1;
const string S3 = S2 ++ S2 ++ S2 ++ S2 ++ S2 ++ S2 ++ S2 ++ S2;
const string S4 = S3 ++ S3 ++ S3 ++ S3 ++ S3 ++ S3 ++ S3 ++ S3;

const int N = 1 << 65535;
const int M = N * N;
const bit<70000> WIDE = 1;

struct g0_t<T> { T a; }
void f0<T>(in T x) {}
control c(inout bit<8> x) { apply {} }
