#include <core.p4>
#include <v1model.p4>

enum bit<8> Kept {
    FIRST = 1,
    SECOND = 2
}

const bit<8> THIRD = 3;

header Both {
    bit<8> which;
    bit<8> value;
}

struct Headers {
    Both both;
}

struct Meta {
    @field_list(Kept.FIRST) bit<8> by_member;
    @field_list((bit<8>) Kept.SECOND, THIRD) bit<8> by_cast_and_constant;
    @field_list((bit<8>) 3, Kept.FIRST) bit<8> by_number_and_member;
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
    apply {
        if (standard.instance_type == 0) {
            meta = { 1, 2, 4 };
            if (headers.both.which == 1) {
                resubmit_preserving_field_list((bit<8>) Kept.FIRST);
            } else if (headers.both.which == 2) {
                resubmit_preserving_field_list((bit<8>) Kept.SECOND);
            } else {
                resubmit_preserving_field_list(THIRD);
            }
        } else {
            headers.both.value = meta.by_member | meta.by_cast_and_constant | meta.by_number_and_member;
            standard.egress_spec = 2;
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
