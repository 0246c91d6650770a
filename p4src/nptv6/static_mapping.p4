// Hosts that keep an address of their own, and are known elsewhere by an identity that their edge can prove: one to one.
//
//   static_mapping_sources        what a host sends bears its identity, before anything of sessions looks at it
//   static_mapping_destinations   what is for an identity is for its host, after sessions have done their work
//
// Only what comes by an interface that says so is looked up: elsewhere this costs a look at one byte.
//
// Checksums of TCP, UDP, UDP-Lite, DCCP and ICMPv6 cover addresses: an entry says what the other address adds to them.
// An ICMPv6 error has the address once more, in the packet that it quotes; the quoted packet's own checksum stays, since
// nobody can check it.

#ifndef WAYNAME_NPTV6_STATIC_MAPPING_P4
#define WAYNAME_NPTV6_STATIC_MAPPING_P4

#include "../common/ids.p4"
#include "../common/metadata.p4"
#include "../common/packet_metadata.p4"
#include "../common/sizes.p4"
#include "../common/types.p4"
#include "../parsing/headers.p4"
#include "../encapsulation/tunnels.p4"

// `difference`: the ones' complement sum of the new address less that of the old one.
control AdjustChecksums(inout headers_t hdr, in bit<16> difference) {
    apply {
        if (hdr.tcp.isValid()) {
            hdr.tcp.checksum = adjusted(hdr.tcp.checksum, 0, difference);
        } else if (hdr.datagram.isValid() && hdr.datagram.checksum != 0) {
            hdr.datagram.checksum = adjusted(hdr.datagram.checksum, 0, difference);
            if (hdr.datagram.checksum == 0) {
                hdr.datagram.checksum = 0xFFFF;
            }
        } else if (hdr.message.isValid()) {
            hdr.message.checksum = adjusted(hdr.message.checksum, 0, difference);
        }
    }
}

control StaticMappingSources(inout headers_t hdr, inout metadata_t meta) {
    @id(STATIC_MAPPING_SOURCES_COUNTER_ID) TABLE_COUNTER(static_mapping_sources_counter);
    AdjustChecksums() adjust_checksums;

    ipv6_address_t source = 0;
    bit<16> change = 0;

    @id(MAP_SOURCE_ACTION_ID)
    @name("map_source")
    @brief("The host's identity, and its sum less the sum of the host's address.")
    action map_source(@id(1) @refers_to(static_mapping_destinations, destination) ipv6_address_t identity,
                      @id(2) bit<16> difference) {
        source = identity;
        change = difference;
    }

    @id(KEEP_SOURCE_ACTION_ID)
    @name("keep_source")
    action keep_source() {
    }

    @id(STATIC_MAPPING_SOURCES_TABLE_ID)
    @name("static_mapping_sources")
    @brief("By which identity a host is known.")
    table static_mapping_sources {
        key = {
            hdr.ipv6.source : exact @id(1) @name("source");
        }
        actions = {
            map_source;
            @defaultonly keep_source;
        }
        const default_action = keep_source;
        counters = static_mapping_sources_counter;
        size = STATIC_MAPPINGS;
    }

    apply {
        if (!meta.decided && meta.interface.maps & MAPS_SOURCES != 0 && TO_ROUTER(hdr, meta) && !meta.out_of_tunnel
            && static_mapping_sources.apply().hit) {
            adjust_checksums.apply(hdr, change);
            if (hdr.quoted.isValid() && hdr.quoted.destination == hdr.ipv6.source) {
                hdr.quoted.destination = source;
                adjust_checksums.apply(hdr, change);
            }
            hdr.ipv6.source = source;
        }
    }
}

control StaticMappingDestinations(inout headers_t hdr, inout metadata_t meta) {
    @id(STATIC_MAPPING_DESTINATIONS_COUNTER_ID) TABLE_COUNTER(static_mapping_destinations_counter);
    AdjustChecksums() adjust_checksums;

    ipv6_address_t destination = 0;
    bit<16> change = 0;

    @id(MAP_DESTINATION_ACTION_ID)
    @name("map_destination")
    @brief("The host's own address, and its sum less the sum of the identity.")
    action map_destination(@id(1) ipv6_address_t host, @id(2) bit<16> difference) {
        destination = host;
        change = difference;
    }

    @id(KEEP_DESTINATION_ACTION_ID)
    @name("keep_destination")
    action keep_destination() {
    }

    @id(STATIC_MAPPING_DESTINATIONS_TABLE_ID)
    @name("static_mapping_destinations")
    @brief("Which host is known by an identity.")
    table static_mapping_destinations {
        key = {
            hdr.ipv6.destination : exact @id(1) @name("destination");
        }
        actions = {
            map_destination;
            @defaultonly keep_destination;
        }
        const default_action = keep_destination;
        counters = static_mapping_destinations_counter;
        size = STATIC_MAPPINGS;
    }

    apply {
        if (!meta.decided && meta.interface.maps & MAPS_DESTINATIONS != 0 && TO_ROUTER(hdr, meta) && !meta.out_of_tunnel
            && static_mapping_destinations.apply().hit) {
            adjust_checksums.apply(hdr, change);
            if (hdr.quoted.isValid() && hdr.quoted.source == hdr.ipv6.destination) {
                hdr.quoted.source = destination;
                adjust_checksums.apply(hdr, change);
            }
            hdr.ipv6.destination = destination;
        }
    }
}

#endif
