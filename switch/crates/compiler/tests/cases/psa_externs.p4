// PSA's extern objects.

#include <core.p4>
#include <psa.p4>

header data_t {
    bit<8>  what;
    bit<8>  pad;
    bit<16> sum;    // The Internet checksum of the two fields behind it.
    bit<32> a;
    bit<32> b;
}

header answer_t {
    bit<32> value;
}

struct headers {
    data_t   d;
    answer_t answer;
}

struct learned_t {
    bit<32>  a;
    PortId_t port;
}

struct pair_t {
    bit<8>  high;
    bit<32> low;
}

struct metadata {}
struct empty {}

parser IP(packet_in p, out headers hdr, inout metadata meta, in psa_ingress_parser_input_metadata_t istd,
          in empty resubmit_meta, in empty recirculate_meta) {
    InternetChecksum() sum;
    state start {
        p.extract(hdr.d);
        sum.clear();
        sum.add({ hdr.d.a, hdr.d.b });
        verify(sum.get() == hdr.d.sum, error.NoMatch);
        transition accept;
    }
}

control I(inout headers hdr, inout metadata meta, in psa_ingress_input_metadata_t istd,
          inout psa_ingress_output_metadata_t ostd) {
    Counter<bit<32>, bit<8>>(16, PSA_CounterType_t.PACKETS) kinds;
    DirectCounter<bit<32>>(PSA_CounterType_t.PACKETS_AND_BYTES) hits;
    Meter<bit<8>>(4, PSA_MeterType_t.PACKETS) rate;
    Meter<bit<8>>(4, PSA_MeterType_t.PACKETS) limits;
    DirectMeter(PSA_MeterType_t.PACKETS) entry_rate;
    Register<bit<32>, bit<8>>(8) last;
    Register<pair_t, bit<8>>(8) pairs;
    Register<bit<32>, bit<8>>(8, 0xabcd) begun;
    Register<bit<136>, bit<8>>(8, 136w0x11 << 128 | 0x22) wide;
    Register<pair_t, bit<8>>(8, { 2, 0x1234 }) begun_pairs;
    Random<bit<16>>(7, 7) seven;
    Hash<bit<16>>(PSA_HashAlgorithm_t.CRC16) crc16;
    Hash<bit<32>>(PSA_HashAlgorithm_t.CRC32) crc32;
    Hash<bit<32>>(PSA_HashAlgorithm_t.IDENTITY) identity;
    Checksum<bit<32>>(PSA_HashAlgorithm_t.CRC32) digits32;
    Checksum<bit<16>>(PSA_HashAlgorithm_t.CRC16) digits16;
    Checksum<bit<32>>(PSA_HashAlgorithm_t.IDENTITY) low;
    Checksum<bit<64>>(PSA_HashAlgorithm_t.IDENTITY) first;
    ActionProfile(8) profile;
    ActionSelector(PSA_HashAlgorithm_t.CRC16, 8, 8) selector;

    action answer(bit<32> value) {
        hdr.answer.value = value;
        hits.count();
    }
    action tell(in PSA_MeterColor_t colour) {
        hdr.answer.value = colour == PSA_MeterColor_t.GREEN ? 32w1 : colour == PSA_MeterColor_t.YELLOW ? 32w2 : 32w3;
    }
    action metered() {
        tell(hdr.d.pad == 0 ? entry_rate.execute() : entry_rate.execute(PSA_MeterColor_t.YELLOW));
    }
    action nothing() {}
    action put(bit<32> value) { hdr.answer.value = value; }

    table counted {
        key = { hdr.d.a: exact; }
        actions = { answer; nothing; }
        default_action = nothing();
        psa_direct_counter = hits;
    }
    table limited {
        key = { hdr.d.a: ternary; }
        actions = { metered; nothing; }
        default_action = nothing();
        psa_direct_meter = entry_rate;
        const entries = {
            7 &&& 0xff: metered();
        }
    }
    table shared {
        key = { hdr.d.a: exact; }
        actions = { nothing; }
        psa_implementation = profile;
    }
    table spread {
        key = {
            hdr.d.a: exact;
            hdr.d.b: selector;
        }
        actions = { nothing; put; }
        psa_implementation = selector;
        const psa_empty_group_action = put(0xe0e0);
    }

    apply {
        if (istd.parser_error != error.NoError) {
            exit;   // Dropped: that is how ingress begins.
        }
        hdr.answer.setValid();
        hdr.answer.value = 0xffffffff;
        send_to_port(ostd, (PortId_t) 1);
        kinds.count(hdr.d.what);
        switch (hdr.d.what) {
            0: { counted.apply(); }
            1: {
                hdr.answer.value = last.read(hdr.d.pad);
                last.write(hdr.d.pad, hdr.d.a);
            }
            2: {
                pair_t pair = pairs.read(hdr.d.pad);
                hdr.answer.value = pair.low + (bit<32>) pair.high;
                pairs.write(hdr.d.pad, { 1, hdr.d.a });
            }
            3: { hdr.answer.value = (bit<32>) seven.read(); }
            4: { hdr.answer.value = (bit<32>) crc16.get_hash({ hdr.d.a, hdr.d.b }); }
            5: { hdr.answer.value = crc32.get_hash({ hdr.d.a, hdr.d.b }); }
            6: { hdr.answer.value = identity.get_hash(32w100, hdr.d.a, 32w16); }
            7: { hdr.answer.value = rate.execute(hdr.d.pad) == PSA_MeterColor_t.GREEN ? 32w1 : 32w0; }
            8: {
                PSA_MeterColor_t colour = rate.execute(hdr.d.pad, PSA_MeterColor_t.RED);
                hdr.answer.value = colour == PSA_MeterColor_t.RED ? 32w2 : 32w0;
            }
            9: { limited.apply(); }
            10: {
                shared.apply();
                spread.apply();
            }
            11: {
                hdr.answer.value = begun.read(hdr.d.pad);
                begun.write(hdr.d.pad, hdr.d.a);
            }
            12: {
                bit<136> cell = wide.read(hdr.d.pad);
                hdr.answer.value = cell[31:0] + (bit<32>) cell[135:128];
                wide.write(hdr.d.pad, 0);
            }
            13: {
                // Of the digits from 1 to 9, in parts that are shorter and longer than the CRC.
                digits32.update({ 8w0x31, 16w0x3233 });
                digits32.update(8w0x34);
                digits32.update(40w0x3536373839);
                hdr.answer.value = digits32.get();
            }
            14: {
                digits16.update(72w0x313233343536373839);
                digits16.clear();
                digits16.update(8w0x31);
                digits16.update({ 32w0x32333435, 8w0x36 });
                digits16.update(24w0x373839);
                hdr.answer.value = (bit<32>) digits16.get();
            }
            15: {
                low.update({ 16w0x1122, 8w0x33 });
                low.clear();
                low.update({ 8w0x44, 8w0x55 });
                low.update(8w0x66);
                hdr.answer.value = low.get();
            }
            16: {
                // Eight octets are kept, the first ones.
                first.update(48w0x010203040506);
                first.update({ hdr.d.what, 32w0x0708090a });
                first.update(8w0x0b);
                hdr.answer.value = first.get()[63:48] ++ first.get()[15:0];
            }
            17: {
                pair_t pair = begun_pairs.read(hdr.d.pad);
                hdr.answer.value = pair.low + (bit<32>) pair.high;
                begun_pairs.write(hdr.d.pad, { 0, 0 });
            }
            18: { tell(limits.execute(hdr.d.pad, PSA_MeterColor_t.YELLOW)); }
            19: { tell(limits.execute(hdr.d.pad, PSA_MeterColor_t.GREEN)); }
            default: {}
        }
    }
}

control ID(packet_out p, out empty clone_i2e_meta, out empty resubmit_meta, out empty normal_meta,
           inout headers hdr, in metadata meta, in psa_ingress_output_metadata_t istd) {
    Digest<learned_t>() learned;
    InternetChecksum() sum;
    apply {
        learned.pack({ hdr.d.a, istd.egress_port });
        // RFC 1624: the checksum of what is there now, out of what it was.
        sum.set_state(~hdr.d.sum);
        sum.subtract(hdr.d.a);
        hdr.d.a = hdr.d.a + 1;
        sum.add(hdr.d.a);
        hdr.d.sum = sum.get();
        p.emit(hdr);
    }
}

parser EP(packet_in p, out headers hdr, inout metadata meta, in psa_egress_parser_input_metadata_t istd,
          in empty normal_meta, in empty clone_i2e_meta, in empty clone_e2e_meta) {
    state start {
        p.extract(hdr.d);
        transition accept;
    }
}

control E(inout headers hdr, inout metadata meta, in psa_egress_input_metadata_t istd,
          inout psa_egress_output_metadata_t ostd) {
    Checksum<bit<16>>(PSA_HashAlgorithm_t.ONES_COMPLEMENT16) whole;
    apply {
        whole.update(hdr.d.a);
        whole.update(hdr.d.b);
        // Each packet begins afresh, so this holds for the second as for the first.
        if (whole.get() != hdr.d.sum) {
            egress_drop(ostd);
        }
    }
}

control ED(packet_out p, out empty clone_e2e_meta, out empty recirculate_meta, inout headers hdr, in metadata meta,
           in psa_egress_output_metadata_t istd, in psa_egress_deparser_input_metadata_t edstd) {
    apply {
        p.emit(hdr.d);
    }
}

IngressPipeline(IP(), I(), ID()) ip;
EgressPipeline(EP(), E(), ED()) ep;
PSA_Switch(ip, PacketReplicationEngine(), ep, BufferingQueueingEngine()) main;
