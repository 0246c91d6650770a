#include <core.p4>
#include <v1model.p4>

header Both {
    bit<8> which;
    bit<8> value;
}

struct Headers {
    Both both;
}

struct Meta {
}

parser P(packet_in packet, out Headers headers, inout Meta meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(headers.both);
        transition accept;
    }
}

control Verify(inout Headers headers, inout Meta meta) {
    apply { }
}

control In(inout Headers headers, inout Meta meta, inout standard_metadata_t standard) {
    action forward(bit<9> port) {
        standard.egress_spec = port;
    }

    // As many as p4c says: 1024.
    table of_size_0 {
        key = {
            headers.both.which: exact;
        }
        actions = {
            forward;
            NoAction;
        }
        size = 0;
    }

    apply {
        standard.egress_spec = 2;
        if (headers.both.which == 1) {
            // The longer one after the shorter one cuts nothing off, and gives nothing back.
            truncate(4);
            truncate(6);
        } else if (headers.both.which == 2) {
            headers.both.value = 0xff;
            // Without end: the packet is dropped, and does not leave half done.
            for (bit<32> turn = 0; turn < 10; turn = turn) {
                headers.both.value = headers.both.value - 1;
            }
            standard.egress_spec = 3;
        } else {
            of_size_0.apply();
        }
    }
}

control Out(inout Headers headers, inout Meta meta, inout standard_metadata_t standard) {
    apply { }
}

control Compute(inout Headers headers, inout Meta meta) {
    apply { }
}

control Deparse(packet_out packet, in Headers headers) {
    apply {
        packet.emit(headers.both);
    }
}

V1Switch(P(), Verify(), In(), Out(), Compute(), Deparse()) main;
