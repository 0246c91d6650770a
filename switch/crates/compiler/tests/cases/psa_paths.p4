// Every way of a packet through the Portable Switch Architecture, with the metadata that goes along.

#include <core.p4>
#include <psa.p4>

header what_t {
    bit<8>  what;   // What ingress does with the packet.
    bit<8>  path;   // How it came to egress.
    bit<16> told;   // What went along.
    bit<16> copy;   // Which copy it is.
}

struct headers {
    what_t h;
}

struct metadata {
    bit<16> told;
    bool    again;
}

struct empty {}

struct told_t {
    bit<16> told;
}

const bit<8> UNICAST = 0;
const bit<8> DROP = 1;
const bit<8> MULTICAST = 2;
const bit<8> CLONE_I2E = 3;
const bit<8> RESUBMIT = 4;
const bit<8> CLONE_E2E = 5;
const bit<8> RECIRCULATE = 6;
const bit<8> CLONE_AND_DROP = 7;
const bit<8> FOREVER = 8;

parser IP(packet_in p, out headers hdr, inout metadata meta, in psa_ingress_parser_input_metadata_t istd,
          in told_t resubmit_meta, in told_t recirculate_meta) {
    state start {
        meta.told = 0;
        meta.again = true;
        transition select(istd.packet_path) {
            PSA_PacketPath_t.RESUBMIT: resubmitted;
            PSA_PacketPath_t.RECIRCULATE: recirculated;
            default: first;
        }
    }
    state resubmitted {
        meta.told = resubmit_meta.told;
        transition what;
    }
    state recirculated {
        meta.told = recirculate_meta.told;
        transition what;
    }
    state first {
        meta.again = false;
        transition what;
    }
    state what {
        p.extract(hdr.h);
        transition accept;
    }
}

control I(inout headers hdr, inout metadata meta, in psa_ingress_input_metadata_t istd,
          inout psa_ingress_output_metadata_t ostd) {
    apply {
        if (istd.parser_error != error.NoError) {
            // What is too short goes out by port 9, if the error is the one it should be.
            if (istd.parser_error == error.PacketTooShort) {
                send_to_port(ostd, (PortId_t) 9);
            }
            exit;
        }
        send_to_port(ostd, (PortId_t) (meta.again ? 32w3 : 32w2));
        switch (hdr.h.what) {
            DROP: { ingress_drop(ostd); }
            MULTICAST: { multicast(ostd, (MulticastGroup_t) 7); }
            CLONE_I2E: {
                ostd.clone = true;
                ostd.clone_session_id = (CloneSessionId_t) 5;
            }
            CLONE_AND_DROP: {
                ostd.clone = true;
                ostd.clone_session_id = (CloneSessionId_t) 5;
                ingress_drop(ostd);
            }
            RESUBMIT: { ostd.resubmit = !meta.again; }
            RECIRCULATE: {
                if (!meta.again) {
                    send_to_port(ostd, PSA_PORT_RECIRCULATE);
                }
            }
            FOREVER: { send_to_port(ostd, PSA_PORT_RECIRCULATE); }
            default: {}
        }
    }
}

control ID(packet_out p, out told_t clone_i2e_meta, out told_t resubmit_meta, out told_t normal_meta,
           inout headers hdr, in metadata meta, in psa_ingress_output_metadata_t istd) {
    apply {
        if (psa_clone_i2e(istd)) {
            clone_i2e_meta.told = 0xC1C1;
        }
        if (psa_resubmit(istd)) {
            resubmit_meta.told = 0x5E5E;
        }
        if (psa_normal(istd)) {
            normal_meta.told = meta.told + 1;
        }
        // Only what goes on sees this: clones of ingress and resubmitted packets are as they came in.
        hdr.h.path = 0xFF;
        p.emit(hdr.h);
    }
}

parser EP(packet_in p, out headers hdr, inout metadata meta, in psa_egress_parser_input_metadata_t istd,
          in told_t normal_meta, in told_t clone_i2e_meta, in told_t clone_e2e_meta) {
    state start {
        transition select(istd.packet_path) {
            PSA_PacketPath_t.CLONE_I2E: from_ingress;
            PSA_PacketPath_t.CLONE_E2E: from_egress;
            default: normal;
        }
    }
    state from_ingress {
        meta.told = clone_i2e_meta.told;
        transition what;
    }
    state from_egress {
        meta.told = clone_e2e_meta.told;
        transition what;
    }
    state normal {
        meta.told = normal_meta.told;
        transition what;
    }
    state what {
        p.extract(hdr.h);
        transition accept;
    }
}

control E(inout headers hdr, inout metadata meta, in psa_egress_input_metadata_t istd,
          inout psa_egress_output_metadata_t ostd) {
    apply {
        hdr.h.told = meta.told;
        hdr.h.copy = (bit<16>) (EgressInstanceUint_t) istd.instance;
        if (istd.packet_path == PSA_PacketPath_t.NORMAL_UNICAST) {
            hdr.h.path = 1;
            if (hdr.h.what == CLONE_E2E) {
                ostd.clone = true;
                ostd.clone_session_id = (CloneSessionId_t) 5;
                egress_drop(ostd);
            }
        } else if (istd.packet_path == PSA_PacketPath_t.NORMAL_MULTICAST) {
            hdr.h.path = 2;
        } else if (istd.packet_path == PSA_PacketPath_t.CLONE_I2E) {
            // As it came in, so without the mark of the ingress deparser.
            hdr.h.path = 0x30 + hdr.h.path;
        } else if (istd.packet_path == PSA_PacketPath_t.CLONE_E2E) {
            // As it left, with the path of then.
            hdr.h.path = 0x40 + hdr.h.path;
        }
    }
}

control ED(packet_out p, out told_t clone_e2e_meta, out told_t recirculate_meta, inout headers hdr, in metadata meta,
           in psa_egress_output_metadata_t istd, in psa_egress_deparser_input_metadata_t edstd) {
    apply {
        if (psa_clone_e2e(istd)) {
            clone_e2e_meta.told = 0xC2C2;
        }
        if (psa_recirculate(istd, edstd)) {
            recirculate_meta.told = 0x4E4E;
        }
        p.emit(hdr.h);
    }
}

IngressPipeline(IP(), I(), ID()) ip;
EgressPipeline(EP(), E(), ED()) ep;
PSA_Switch(ip, PacketReplicationEngine(), ep, BufferingQueueingEngine()) main;
