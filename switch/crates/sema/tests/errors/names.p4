#include <core.p4>

header ethernet_t {
    bit<48> dstAddr;
    bit<48> srcAddr;
    bit<16> etherType;
}

struct headers_t {
    ethernet_t ethernet;
}

typedef bit<9> port_t;

control c(inout headers_t hdr, inout port_t port) {
    action drop() {
        prot = 511;
    }
    action drop() {}
    apply {
        hdr.ethernet.dstAdr = 0;
        hdr.ethrnet.etherType = 0x800;
        prt_t x = 1;
        drop = 1;
        undeclared(port);
    }
}
