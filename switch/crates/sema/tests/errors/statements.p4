enum Color { Red, Green, Blue }

bit<8> loops(in bit<8> x) {
    bit<8> sum = 0;
    for (bit<8> i = 0; i < x; i = i + 1) {
        if (i == 3) { continue; }
        sum += i;
    }
    for (bit<8> i in 0 .. x) {
        sum += i;
        break;
    }
    for (bit<8> i in { 1, 2, x }) {
        sum |= i;
    }
    for (bool b in 0 .. 1) {}
    for (bit<8> i in true) {}
    for (bit<8> i = 0; i; i = i + 1) {}
    break;
    sum += true;
    return sum;
}

bit<8> again(in bit<8> x) {
    return again(x);
}

control c(inout bit<8> x, inout Color k) {
    apply {
        switch (x) {
            1: { x = 2; }
            2:
            3: { x = 3; }
            2: {}
            true: {}
            default: {}
        }
        switch (k) {
            Color.Red: {}
            Color.Gren: {}
        }
        switch ("x") {}
        {
            bit<8> inner = 1;
        }
        x = inner;
        continue;
        return 1;
        exit;
    }
}
