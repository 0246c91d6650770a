// The border of a site: which packets cross it, and which bear a source that they may not have: uRPF in the feasible form
// (RFC 3704, section 2.3), as BCP 38 asks (RFC 2827).
//
//   from inside    a prefix that is translated?    no -> it leaves as it is, if it is the site's at all
//                  to outside -> out;   to an address that a provider gave to the inside -> hairpin (RFC 6296, section 2)
//   from outside   a source of the site: forged, but for probes of the router's own, which come back as they went;
//                  to an address that a provider gave to the inside -> in

#ifndef WAYNAME_NPTV6_URPF_P4
#define WAYNAME_NPTV6_URPF_P4

#include "../common/ids.p4"
#include "../common/metadata.p4"
#include "../common/reasons.p4"
#include "../common/sizes.p4"
#include "../common/types.p4"
#include "../parsing/headers.p4"
#include "metadata.p4"

control BorderSides(in headers_t hdr, inout metadata_t meta) {
    @id(URPF_SOURCES_COUNTER_ID) TABLE_COUNTER(urpf_sources_counter);
    @id(NPTV6_DESTINATIONS_COUNTER_ID) TABLE_COUNTER(nptv6_destinations_counter);

    bit<16> source_site = 0;
    bit<8> provider = 0;
    bool outside = false;
    bool inside = false;

    @id(FROM_SITE_ACTION_ID)
    @name("from_site")
    @brief("An address inside that is translated on its way out.")
    action from_site(@id(1) @refers_to(flow_policies, site) bit<16> site) {
        source_site = site;
    }

    @id(OWN_SOURCE_ACTION_ID)
    @name("own_source")
    @brief("An address of ours that leaves as it is.")
    action own_source() {
    }

    @id(FOREIGN_SOURCE_ACTION_ID)
    @name("foreign_source")
    action foreign_source() {
    }

    @id(URPF_SOURCES_TABLE_ID)
    @name("urpf_sources")
    @admits_packets
    @brief("uRPF: addresses of the site, as sources: none of them comes from outside, and no others come from inside.")
    table urpf_sources {
        key = {
            hdr.ipv6.source : lpm @id(1) @name("source");
        }
        actions = {
            from_site;
            own_source;
            @defaultonly foreign_source;
        }
        const default_action = foreign_source;
        counters = urpf_sources_counter;
        size = SITE_PREFIXES;
    }

    @id(STAY_IN_SITE_ACTION_ID)
    @name("stay_in_site")
    @brief("An address of the router's, or of the link.")
    action stay_in_site() {
    }

    @id(INSIDE_NETWORK_ACTION_ID)
    @name("inside_network")
    @brief("Hosts inside, as they are known inside.")
    action inside_network() {
        inside = true;
    }

    @id(NPTV6_INBOUND_ACTION_ID)
    @name("nptv6_inbound")
    @brief("An address that a provider gave to the inside: its prefix (`mask` says how much), what takes its place, and their difference.")
    action nptv6_inbound(@id(1) @refers_to(flow_policies, site) bit<16> site, @id(2) bit<8> by, @id(3) ipv6_address_t old,
                         @id(4) ipv6_address_t new, @id(5) ipv6_address_t mask, @id(6) bit<16> difference,
                         @id(7) bit<1> in_subnet) {
        meta.border.site = site;
        provider = by;
        meta.border.destination.wanted = true;
        meta.border.destination.old = old;
        meta.border.destination.new = new;
        meta.border.destination.mask = mask;
        meta.border.destination.difference = difference;
        meta.border.destination.in_subnet = in_subnet;
    }

    @id(UNTRANSLATED_INBOUND_ACTION_ID)
    @name("untranslated_inbound")
    @brief("An address inside that is a provider's as it is.")
    action untranslated_inbound(@id(1) @refers_to(flow_policies, site) bit<16> site, @id(2) bit<8> by) {
        meta.border.site = site;
        provider = by;
    }

    @id(OUT_OF_SITE_ACTION_ID)
    @name("out_of_site")
    action out_of_site() {
        outside = true;
    }

    @id(NPTV6_DESTINATIONS_TABLE_ID)
    @name("nptv6_destinations")
    @admits_packets
    @brief("NPTv6 inbound: addresses of the site, as destinations, and by which provider others reach them.")
    table nptv6_destinations {
        key = {
            hdr.ipv6.destination : lpm @id(1) @name("destination");
        }
        actions = {
            stay_in_site;
            inside_network;
            nptv6_inbound;
            untranslated_inbound;
            @defaultonly out_of_site;
        }
        const default_action = out_of_site;
        counters = nptv6_destinations_counter;
        size = SITE_PREFIXES;
    }

    apply {
        bool of_site = urpf_sources.apply().hit;
        nptv6_destinations.apply();
        if (meta.border.side == SIDE_OUTSIDE) {
            if (of_site && !meta.own_probe) {
                DROP(DROP_BORDER_SOURCE);
            } else if (provider != 0) {
                meta.border.way = BORDER_IN;
            }
        } else if (source_site != 0) {
            if (outside) {
                meta.border.way = BORDER_OUT;
                meta.border.site = source_site;
            } else if (meta.border.destination.wanted) {
                meta.border.way = BORDER_HAIRPIN;
                meta.border.site = source_site;
            }
        } else if (meta.border.side == SIDE_INSIDE && !of_site && outside && hdr.ipv6.source[127:118] != LINK_LOCAL_PREFIX) {
            DROP(DROP_BORDER_SOURCE);
        }
        meta.border.provider = provider;
        meta.border.enters = meta.border.side == SIDE_OUTSIDE && (provider != 0 || inside);
        meta.border.leaves = meta.border.side == SIDE_INSIDE && outside;
    }
}

#endif
