struct box_t<T> { T value; bit<8> n; }
header head_t<T> { T value; }
struct loop_t<T> { loop_t<T> again; }
extern void sink<T>(in T x);
extern T source<T>();

T open<T>(in box_t<T> b) { return b.value; }
T nest<T>(in T x) { return nest(x); }

control c(inout bit<8> x, inout bit<16> y) {
    box_t<bit<8>> small;
    box_t<bit<16>> large;
    box_t bare;
    box_t<bit<8>, bit<8>> many;
    head_t<box_t<bit<8>>> deep;
    head_t<error> wrong;
    loop_t<bit<8>> endless;
    apply {
        x = open(small);
        y = open(large);
        x = open(large);
        small = large;
        small = { 1, 2 };
        x = source();
        source();
        sink({ x, y });
        sink(5);
        x = nest(x);
        x = source<bit<16>>();
    }
}
