// Small bounds, and every way a packet can be copied, go round again or tell the control plane something.
#include <core.p4>
#include <v1model.p4>

@controller_header("packet_in")
header packet_in_t { bit<9> port; bit<7> reason; }
@controller_header("packet_out")
header packet_out_t { bit<9> port; bit<7> padding; }

header data_t { bit<8> what; bit<8> key; bit<16> number; bit<32> wide; bit<128> long; }
header option_t { bit<8> kind; bit<8> length; varbit<128> value; }
struct learn_t { bit<8> key; bit<16> number; }
struct headers_t { data_t data; option_t[3] options; }
struct metadata_t {
    @field_list(1) bit<8> turns;
    @field_list(1) bit<16> kept;
    bit<2> colour;
    bit<16> member;
}

parser Read(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    value_set<bit<8>>(2) kinds;
    state start {
        packet.extract(hdr.data);
        transition select(hdr.data.what[7:7]) {
            1: options;
            default: accept;
        }
    }
    state options {
        bit<8> kind = packet.lookahead<bit<8>>();
        transition select(kind) {
            0: accept;
            kinds: last;
            default: option;
        }
    }
    state option {
        packet.extract(hdr.options.next, (bit<32>) (packet.lookahead<bit<16>>()[7:0]) << 3);
        transition options;
    }
    state last {
        packet.extract(hdr.options.next, 16);
        transition accept;
    }
}

control Verify(inout headers_t hdr, inout metadata_t meta) {
    apply {
        verify_checksum(hdr.data.isValid(), { hdr.data.wide, hdr.data.long }, hdr.data.number, HashAlgorithm.csum16);
    }
}

control Inbound(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    action_selector(HashAlgorithm.crc16, 6, 16) paths;
    action_profile(3) hops;
    direct_counter(CounterType.packets_and_bytes) hits;
    direct_meter<bit<2>>(MeterType.packets) rate;
    counter(4, CounterType.bytes) seen;
    meter(4, MeterType.bytes) pace;
    register<bit<16>>(4) cells;
    register<bit<200>>(2) wide_cells;

    action drop() { mark_to_drop(std); }
    action forward(bit<9> port, bit<16> mark) { std.egress_spec = port; hdr.data.number = mark; }
    action metered(bit<9> port) { std.egress_spec = port; rate.read(meta.colour); }
    action spread(bit<16> group) { std.mcast_grp = group; }
    action copy(bit<32> session) { std.egress_spec = 3; clone_preserving_field_list(CloneType.I2E, session, 1); }
    action learn() { digest<learn_t>(1, { hdr.data.key, hdr.data.number }); std.egress_spec = 4; }
    action again() { meta.turns = meta.turns + 1; meta.kept = hdr.data.number; resubmit_preserving_field_list(1); }
    action settle(bit<8> value) { meta.turns = value; }

    table exactly {
        key = { hdr.data.key: exact; }
        actions = { forward; metered; drop; @defaultonly NoAction; }
        size = 4;
        default_action = NoAction;
        counters = hits;
        meters = rate;
        support_timeout = true;
    }
    table longest {
        key = { hdr.data.wide: lpm; hdr.data.key: exact; }
        actions = { forward; drop; }
        size = 3;
    }
    table ranked {
        key = { hdr.data.long: ternary; hdr.data.number: range; hdr.data.key: optional; std.ingress_port: ternary; }
        actions = { forward; spread; copy; learn; again; drop; }
        size = 5;
    }
    table chosen {
        key = { hdr.data.key: exact; hdr.data.long: selector; hdr.data.wide: selector; }
        actions = { forward; drop; }
        size = 4;
        implementation = paths;
    }
    table hop {
        key = { hdr.data.number: lpm; }
        actions = { forward; drop; }
        size = 4;
        implementation = hops;
    }
    table fixed {
        key = { hdr.data.key: ternary; }
        actions = { settle; NoAction; }
        const entries = { 1 &&& 3: settle(5); _: NoAction(); }
    }
    table keyless { actions = { settle; NoAction; } default_action = NoAction; }

    apply {
        std.egress_spec = 1;
        fixed.apply();
        keyless.apply();
        bit<3> way = hdr.data.what[2:0];
        if (way == 0) { exactly.apply(); }
        else if (way == 1) { if (longest.apply().miss) { std.egress_spec = 2; } }
        else if (way == 2) { ranked.apply(); }
        else if (way == 3) { chosen.apply(); hop.apply(); }
        else if (way == 4) {
            bit<16> value;
            bit<200> big;
            bit<32> at = hdr.data.wide & 7;
            cells.read(value, at);
            cells.write(at, value + hdr.data.number);
            wide_cells.read(big, at >> 1);
            wide_cells.write(at >> 1, (big << 3) | (bit<200>) hdr.data.long);
            seen.count(at);
            pace.execute_meter(at, meta.colour);
            hdr.data.number = meta.colour == 0 ? 16w1 : value;
            hdr.data.long = (bit<128>) big;
        } else if (way == 5) {
            if (meta.turns < 4) { again(); } else { std.egress_spec = 5; }
        } else if (way == 6) {
            hash(meta.member, HashAlgorithm.crc32, 16w0, { hdr.data.long, hdr.data.key }, 32w100);
            random(hdr.data.number, 16w3, 16w900);
            std.mcast_grp = hdr.data.wide[15:0];
            std.priority = hdr.data.key[2:0];
            hdr.data.wide = hdr.data.wide / 16 - (bit<32>) meta.member;
        } else {
            clone_preserving_field_list(CloneType.I2E, (bit<32>) hdr.data.key, 1);
            learn();
            truncate(hdr.data.wide & 63);
            assert(hdr.data.number != 7);
            log_msg("number {}", { hdr.data.number });
        }
    }
}

control Outbound(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        if (std.instance_type == 0 && hdr.data.what[6:6] == 1) {
            clone_preserving_field_list(CloneType.E2E, 1, 1);
        }
        if (hdr.data.what[5:5] == 1) {
            hdr.data.what[5:5] = 0;
            recirculate_preserving_field_list(1);
        }
        if (hdr.data.what[4:4] == 1) { hdr.options.push_front(1); hdr.options[0].setValid(); hdr.options[0].kind = 9; }
        if (hdr.data.what[3:3] == 1) { hdr.options.pop_front(2); }
        hdr.data.wide = std.egress_rid == 0 ? std.packet_length : (bit<32>) std.egress_rid;
    }
}

control Compute(inout headers_t hdr, inout metadata_t meta) {
    apply {
        update_checksum_with_payload(hdr.data.isValid(), { hdr.data.key, hdr.data.long, hdr.data.what },
            hdr.data.number, HashAlgorithm.csum16);
    }
}

control Write(packet_out packet, in headers_t hdr) {
    apply { packet.emit(hdr); }
}

V1Switch(Read(), Verify(), Inbound(), Outbound(), Compute(), Write()) main;
