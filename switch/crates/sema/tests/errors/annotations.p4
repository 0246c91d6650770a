@tag[1] @tag[2]
struct s_t { bit<8> a; }

@name(4)
control c(inout bit<8> x) {
    @rank[first = 1, first = 2] @unknown[value = x]
    action a() {}
    @anything(goes {here} 1 +)
    action b() {}
    apply {}
}
