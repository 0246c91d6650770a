// Stacks, unions and validity: run-time indices, pushing and popping, siblings, comparison, assignment.
#include <core.p4>
#include <v1model.p4>

header in_t { bit<8> mode; bit<8> i; bit<8> j; bit<8> result; }
header cell_t { bit<8> value; }
header pair_t { bit<8> x; bit<8> y; }
header_union one_t { cell_t cell; pair_t pair; }
struct headers_t { in_t data; cell_t[4] cells; one_t[2] ones; }
struct row_t { bit<8>[3] columns; }
struct meta_t { row_t[2] rows; }
parser P(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.data);
        transition select(hdr.data.mode) { 0x40 &&& 0xf0: unions; _: cells; }
    }
    state cells {
        packet.extract(hdr.cells.next);
        transition select(hdr.cells.lastIndex, hdr.cells.last.value) { (_, 0): accept; (_, _): cells; }
    }
    state unions {
        packet.extract(hdr.ones.next.pair);
        packet.extract(hdr.ones.next.cell);
        transition accept;
    }
}
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    apply {
        standard.egress_spec = 1;
        if (standard.parser_error == error.StackOutOfBounds) { hdr.data.result = 0xee; }
        if (hdr.data.mode == 0) { hdr.data.result = hdr.cells[hdr.data.i].value; }
        else if (hdr.data.mode == 1) { hdr.cells[hdr.data.i].value = hdr.cells[hdr.data.j].value + 1; }
        else if (hdr.data.mode == 2) { hdr.cells.push_front(1); hdr.cells[0] = { 0x99 }; }
        else if (hdr.data.mode == 3) { hdr.cells.pop_front(2); }
        else if (hdr.data.mode == 4) {
            meta.rows[hdr.data.i].columns[hdr.data.j] = 7;
            meta.rows[1].columns[2] = meta.rows[1].columns[2] + 1;
            hdr.data.result = meta.rows[hdr.data.i].columns[hdr.data.j];
        } else if (hdr.data.mode == 5) {
            cell_t same = { 2 };
            cell_t none;
            hdr.data.result = (hdr.cells[0] == same ? 8w1 : 0) + (hdr.cells[3] == none ? 8w2 : 0)
                + (hdr.cells[0] == none ? 8w4 : 0) + (hdr.cells[0] == hdr.cells[1] ? 8w8 : 0);
            hdr.cells[1] = none;
        } else if (hdr.data.mode == 6) { hdr.cells[hdr.data.i].setInvalid(); }
        else if (hdr.data.mode == 0x40) { hdr.ones[0].cell = hdr.ones[1].cell; hdr.ones[1].pair.setValid(); hdr.ones[1].pair = { 5, 6 }; }
        else if (hdr.data.mode == 0x41) {
            cell_t none;
            hdr.ones[0].cell = none;
            hdr.data.result = (hdr.ones[0].isValid() ? 8w1 : 0) + (hdr.ones[0].pair.isValid() ? 8w2 : 0);
            hdr.ones[1] = hdr.ones[0];
        }
    }
}
control V(inout headers_t hdr, inout meta_t meta) { apply { } }
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) { apply { } }
control C(inout headers_t hdr, inout meta_t meta) { apply { } }
control D(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
