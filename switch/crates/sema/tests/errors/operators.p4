control c(inout bit<8> x, inout bit<16> y, inout int<8> s, inout bool b) {
    apply {
        x = x + y;
        x = x + s;
        b = x && b;
        b = !x;
        x = ~1;
        x = x << s;
        x = x << 9;
        x = x >> -1;
        x = 1 << x;
        s = s / 2;
        x = x / 0;
        x = 1 ++ x;
        y = x ++ x;
        b = x == b;
        x = b ? x : y;
        x = y[7:8];
        x = y[16:9];
        x = y[9:3];
        x = y[x:0];
        b = "a" + "b" == "ab";
        x = x |+| 1;
        x[3:0] = 4w1 |+| 1;
        s = s >> 9;
    }
}
