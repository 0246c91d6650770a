// Every kind of object that P4Info describes, each with what can be said of it.
#include <core.p4>
#include <v1model.p4>

#define LOW_BITS 0x0F

@p4runtime_translation("wayname.test/port", bit<32>)
type bit<9> port_t;
@p4runtime_translation("wayname.test/name", string)
@hint("translated")
type bit<16> name_t;
type bit<12> vlan_t;

enum bit<16> EtherType {
    IPV4 = 0x0800,
    IPV6 = 0x86dd
}

enum Colour {
    GREEN,
    RED
}

@controller_header("packet_in")
header packet_in_t {
    @id(3) port_t port;
    bit<7> padding;
    @rank(1) bit<16> reason;
}

@controller_header("packet_out")
header packet_out_t {
    bit<9> port;
    @hidden bit<7> padding;
}

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    EtherType type;
}

header option_t {
    bit<8> kind;
    varbit<32> value;
}

struct learn_t {
    bit<48> address;
    port_t port;
    vlan_t vlan;
    bool fresh;
}

struct cell_t {
    bit<32> count;
    int<8> delta;
    EtherType last;
}

struct choice_t {
    @match(ternary) @about("upper") bit<16> upper;
    @id(9) bit<8> lower;
}

struct headers_t {
    packet_in_t to_controller;
    packet_out_t from_controller;
    ethernet_t ethernet;
    option_t[2] options;
}

struct metadata_t {
    port_t port;
    name_t name;
    vlan_t vlan;
    bool flag;
    bit<4> class;
    bit<2> colour;
    bit<12> prefix;
    @name("given") bit<8> renamed;
}

parser Reader(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    @set_hint value_set<bit<16>>(4) types;
    @id(77) value_set<choice_t>(8) choices;
    value_set<bit<8>>(2) unused;

    state start {
        packet.extract(hdr.ethernet);
        transition select((bit<16>) hdr.ethernet.type) {
            types: chosen;
            default: accept;
        }
    }

    state chosen {
        transition select((bit<16>) hdr.ethernet.type, hdr.ethernet.src[7:0]) {
            choices: accept;
            default: reject;
        }
    }
}

control Verify(inout headers_t hdr, inout metadata_t meta) {
    apply {}
}

action count_only() {}

counter(16, CounterType.packets_and_bytes) everywhere;

control Inner(inout headers_t hdr, inout metadata_t meta)(bit<32> cells, bool on) {
    register<cell_t>(cells) store;
    direct_counter(CounterType.bytes) seen;

    action remember(bit<32> index) {
        store.write(index, { 1, 2, EtherType.IPV4 });
    }

    table inside {
        key = {
            hdr.ethernet.src & LOW_BITS: exact;
        }
        actions = {
            remember;
            count_only;
        }
        const default_action = remember(7);
        counters = seen;
    }

    table never {
        actions = {
            remember;
        }
    }

    apply {
        if (on) {
            inside.apply();
        } else {
            never.apply();
        }
    }
}

control Inbound(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    Inner(32w8, true) first;
    @name("second_one") Inner(32w9, true) second;

    @max_group_size(4) @selector_size_semantics("sum_of_members") @max_member_weight(3) @of("paths")
    action_selector(HashAlgorithm.crc16, 32w128, 32w14) paths;
    action_profile(64) hops;

    @brief("Bytes by port.") counter(512, CounterType.bytes) by_port;
    @description("How fast a class may send.") meter(16, MeterType.bytes) pace;
    direct_counter(CounterType.packets_and_bytes) hits;
    direct_meter<bit<2>>(MeterType.packets) rate;
    register<bit<48>>(32) stamps;
    register<tuple<bit<8>, bool>>(2) pairs;
    register<vlan_t>(1) last_vlan;

    @brief("Sends a packet on.") @description("To one port.") @cost[1, "two", true]
    action forward(@brief("Where to.") port_t port, @id(7) vlan_t vlan, @mark(0x1F, a - b) bit<8> rest) {
        standard.egress_spec = (bit<9>) port;
        meta.vlan = vlan;
        rate.read(meta.colour);
        meta.renamed = rest;
    }

    @id(0x01000005) action paint(Colour colour, EtherType type, name_t name) {
        hdr.ethernet.type = type;
        meta.name = name;
    }

    action learn() {
        digest<learn_t>(1, { hdr.ethernet.src, meta.port, meta.vlan, true });
        digest(2, { hdr.ethernet.dst, standard.ingress_port });
    }

    action set_class(inout bit<4> class, bit<4> value) {
        class = value;
    }

    action set_value(bit<4> value, bit<8> tag) {
        meta.class = value;
        meta.renamed = tag;
    }

    action called(in bit<9> port) {
        standard.egress_spec = port;
    }

    action unlisted() {}

    @name(".elsewhere") action moved() {}

    action bound(in bit<8> from, bit<8> to) {
        meta.renamed = from + to;
    }

    @brief("Looks up everything.") @room[slices=2, name="main"] @tag(a.b, "c d")
    table all_kinds {
        key = {
            hdr.ethernet.isValid(): exact;
            hdr.ethernet.dst: lpm;
            hdr.ethernet.src[15:8]: ternary @id(4) @brief("A part.");
            hdr.options[1].kind: range @name("kind");
            meta.vlan: optional @note("v");
            meta.renamed: exact;
            hdr.ethernet.type: exact;
            standard.parser_error: exact @name("error");
        }
        actions = {
            forward;
            @tableonly paint;
            @defaultonly @why("default") learn;
            bound(meta.renamed);
            moved;
        }
        size = 2048;
        default_action = learn;
        counters = hits;
        meters = rate;
        support_timeout = true;
    }

    @id(12) table balance {
        key = {
            meta.port: exact;
            hdr.ethernet.dst: selector;
            hdr.ethernet.src: selector;
        }
        actions = {
            forward;
            set_class(meta.class);
        }
        implementation = paths;
    }

    table indirect {
        key = {
            meta.name: exact;
        }
        actions = {
            forward;
            NoAction;
        }
        implementation = hops;
        size = 0;
    }

    table also_indirect {
        key = {
            meta.flag: ternary;
        }
        actions = {
            forward;
            NoAction;
        }
        implementation = hops;
        const default_action = NoAction;
    }

    table made_in_place {
        key = {
            meta.class: exact;
        }
        actions = {
            unlisted;
        }
        @name("own_profile") implementation = action_profile(8);
        default_action = unlisted;
    }

    table fixed {
        key = {
            hdr.ethernet.dst: ternary;
            meta.renamed: range;
            hdr.ethernet.src: optional;
        }
        actions = {
            set_value;
            learn;
        }
        const default_action = set_value(3, 4);
        const entries = {
            (48w5, 2 .. 7, _) : set_value(1, 2);
            (48w0x100 &&& 48w0xf00, 8w9, 48w1) : learn();
            (_, 0 .. 255, _) : set_value(15, 0xff);
        }
    }

    table started {
        key = {
            meta.prefix: lpm;
            hdr.ethernet.type: exact;
        }
        actions = {
            set_value;
            NoAction;
        }
        entries = {
            const (12w0x120 &&& 12w0xff0, EtherType.IPV6) : set_value(2, 3);
            (12w7, EtherType.IPV4) : NoAction();
        }
    }

    @hidden table out_of_sight {
        actions = {
            NoAction;
        }
    }

    table unused {
        key = {
            meta.flag: exact;
        }
        actions = {
            unlisted;
        }
    }

    apply {
        if (all_kinds.apply().hit) {
            called(3);
        }
        balance.apply();
        indirect.apply();
        also_indirect.apply();
        made_in_place.apply();
        fixed.apply();
        started.apply();
        out_of_sight.apply();
        first.apply(hdr, meta);
        second.apply(hdr, meta);
        by_port.count((bit<32>) standard.ingress_port);
        return;
        unused.apply();
    }
}

control Outbound(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    action forward() {}

    table all_kinds {
        actions = {
            forward;
            @defaultonly NoAction;
        }
    }

    apply {
        all_kinds.apply();
    }
}

control Compute(inout headers_t hdr, inout metadata_t meta) {
    apply {}
}

control Writer(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr);
    }
}

@pkginfo(name = "objects", version = "1.2", organization = "Wayname", contact = "nobody", url = "https://wayname.test")
@platform_property(multicast_group_table_size = 100, multicast_group_table_total_replicas = 200)
@brief("All objects.")
@extra("more")
V1Switch(Reader(), Verify(), Inbound(), Outbound(), Compute(), Writer()) main;
