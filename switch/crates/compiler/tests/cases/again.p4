// Registers of structures, and the metadata that a packet keeps when it goes round again.
#include <core.p4>
#include <v1model.p4>

header data_t { bit<8> mode; bit<8> a; bit<16> b; bit<8> turns; }
struct record_t { bit<8> a; bit<16> b; bool seen; }
struct inner_t { @field_list(2) bit<8> kept; bit<8> lost; }
struct headers_t { data_t data; }
struct meta_t { @field_list(1, 2) bit<8> turns; inner_t inner; @field_list(1) inner_t whole; }
parser P(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    state start { packet.extract(hdr.data); transition accept; }
}
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    register<record_t>(4) records;
    register<bit<200>>(1) wide;
    apply {
        standard.egress_spec = 1;
        record_t record;
        bit<200> big;
        if (hdr.data.mode == 0) {
            records.write(2, { hdr.data.a, hdr.data.b, true });
            wide.write(0, 200w1 << 190);
        } else if (hdr.data.mode == 1) {
            records.read(record, 2);
            hdr.data.a = record.a;
            hdr.data.b = record.b;
            wide.read(big, 0);
            hdr.data.turns = (record.seen ? 8w1 : 0) + (bit<8>)(big >> 189);
        } else if (hdr.data.mode == 2 || hdr.data.mode == 3) {
            if (meta.turns == 2) {
                hdr.data.turns = meta.turns;
                hdr.data.a = meta.inner.kept + meta.inner.lost;
                hdr.data.b = meta.whole.kept ++ meta.whole.lost;
            } else {
                meta.turns = meta.turns + 1;
                meta.inner.kept = 0x10;
                meta.inner.lost = 0x01;
                meta.whole = { 0x20, 0x02 };
                if (hdr.data.mode == 2) { resubmit_preserving_field_list(2); } else { resubmit_preserving_field_list(1); }
            }
        }
    }
}
control V(inout headers_t hdr, inout meta_t meta) { apply { } }
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) { apply { } }
control C(inout headers_t hdr, inout meta_t meta) { apply { } }
control D(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
