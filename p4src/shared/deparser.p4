// Puts a packet together again. Only headers that are valid are written.

#ifndef WAYNAME_DEPARSER_P4
#define WAYNAME_DEPARSER_P4

control EdgeDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.packet_in);
        packet.emit(hdr.ethernet);
        packet.emit(hdr.vlan);
        packet.emit(hdr.ipv6);
        packet.emit(hdr.extensions);
        packet.emit(hdr.icmpv6_error);
        packet.emit(hdr.quote);
    }
}

#endif
