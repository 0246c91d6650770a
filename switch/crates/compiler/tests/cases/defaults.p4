// Tables that leave things out, constants of new types, actions that several tables share with one table's meter.
#include <core.p4>
#include <v1model.p4>

@p4runtime_translation("", string)
type bit<10> group_t;
const group_t NO_GROUP = 0;
const group_t ALL = 0x3ff;

header data_t { bit<8> kind; bit<8> hits; bit<8> colour; bit<8> half; bit<8> rest; }
struct headers_t { data_t data; }
struct two_t { bit<8> first; bit<8> second; }
struct meta_t { group_t group; bit<2> colour; }
parser P(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    state start { packet.extract(hdr.data); meta.group = NO_GROUP; transition accept; }
}
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    direct_meter<bit<2>>(MeterType.packets) colours;
    action join() { meta.group = ALL; colours.read(meta.colour); }
    table metered {
        key = { hdr.data.kind : exact; }
        actions = { join; }
        const entries = { 1 : join(); }
        meters = colours;
    }
    table unmetered {
        key = { hdr.data.kind : exact; }
        actions = { join; NoAction; }
        const entries = { 2 : join(); }
    }
    action add(in two_t two, in bool valid) { hdr.data.hits = hdr.data.hits + two.first * two.second; }
    table bound {
        key = { hdr.data.kind : exact; }
        actions = { add({ 32, 1 + hdr.data.kind }, hdr.data.isValid()); }
        const default_action = add({ 32, 1 + hdr.data.kind }, hdr.data.isValid());
    }
    table nothing { actions = { } }
    table one {
        key = { hdr.data.kind : exact; }
        actions = { NoAction; }
        implementation = action_profile(4);
    }
    table two {
        key = { hdr.data.kind : exact; }
        actions = { NoAction; }
        implementation = action_profile(4);
    }
    apply {
        standard.egress_spec = 1;
        meta.colour = 3;
        if (metered.apply().hit) { hdr.data.hits = hdr.data.hits + 1; }
        switch (unmetered.apply().action_run) {
            join: { hdr.data.hits = hdr.data.hits + 2; }
            NoAction: { hdr.data.hits = hdr.data.hits + 4; }
        }
        if (nothing.apply().miss && !one.apply().hit && two.apply().miss) { hdr.data.hits = hdr.data.hits + 8; }
        if (meta.group == ALL) { hdr.data.hits = hdr.data.hits + 16; }
        bound.apply();
        hdr.data.colour = (bit<8>)meta.colour;
        hdr.data.half = hdr.data.rest / 2;
        hdr.data.rest = hdr.data.rest % 4;
    }
}
control V(inout headers_t hdr, inout meta_t meta) { apply { } }
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) { apply { } }
control C(inout headers_t hdr, inout meta_t meta) { apply { } }
control D(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
