// Puts a packet together again. Only headers that are valid are written.

#ifndef WAYNAME_PARSING_DEPARSER_P4
#define WAYNAME_PARSING_DEPARSER_P4

#include "headers.p4"

control EdgeDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.packet_in);
        packet.emit(hdr.ethernet);
        packet.emit(hdr.vlan);
        packet.emit(hdr.outer);
        packet.emit(hdr.new_options);
        packet.emit(hdr.new_padding);
        packet.emit(hdr.new_direct_export);
        packet.emit(hdr.new_export_flow);
        packet.emit(hdr.new_trace);
        packet.emit(hdr.free_words);
        packet.emit(hdr.new_node);
        packet.emit(hdr.new_end);
        packet.emit(hdr.steering);
        packet.emit(hdr.original_destination);
        packet.emit(hdr.segment_list_extensions);
        packet.emit(hdr.segments);
        packet.emit(hdr.hmac);
        packet.emit(hdr.frame);
        packet.emit(hdr.frame_vlan);
        packet.emit(hdr.ipv6);
        packet.emit(hdr.hop_by_hop);
        packet.emit(hdr.options);
        packet.emit(hdr.direct_export);
        packet.emit(hdr.trace);
        packet.emit(hdr.trace_free);
        packet.emit(hdr.trace_spare);
        packet.emit(hdr.node);
        packet.emit(hdr.trace_slot);
        packet.emit(hdr.trace_filled);
        packet.emit(hdr.options_rest);
        packet.emit(hdr.new_source_route);
        packet.emit(hdr.middle_hops);
        packet.emit(hdr.last_hop);
        packet.emit(hdr.path_option);
        packet.emit(hdr.path_order);
        packet.emit(hdr.path_report);
        packet.emit(hdr.payload_header);
        packet.emit(hdr.nonce_option);
        packet.emit(hdr.nonce_rest);
        packet.emit(hdr.extensions);
        packet.emit(hdr.segment_routing);
        packet.emit(hdr.source_route);
        packet.emit(hdr.routing_before);
        packet.emit(hdr.hop);
        packet.emit(hdr.routing_behind);
        packet.emit(hdr.path_option_behind);
        packet.emit(hdr.path_order_behind);
        packet.emit(hdr.path_report_behind);
        packet.emit(hdr.payload_header_behind);
        packet.emit(hdr.nonce_option_behind);
        packet.emit(hdr.nonce_rest_behind);
        packet.emit(hdr.extensions_behind);
        packet.emit(hdr.esp_path_option);
        packet.emit(hdr.esp_path_order);
        packet.emit(hdr.esp_path_report);
        packet.emit(hdr.lone_esp);
        packet.emit(hdr.tcp);
        packet.emit(hdr.datagram);
        packet.emit(hdr.message);
        packet.emit(hdr.quoted);
        packet.emit(hdr.inner_ipv6);
        packet.emit(hdr.inner_ipv4);
        packet.emit(hdr.inner_frame);
        packet.emit(hdr.icmpv6_error);
        packet.emit(hdr.quote);
    }
}

#endif
