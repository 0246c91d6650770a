// NPTv6 outbound: what a provider makes of the prefix of the inside.

#ifndef WAYNAME_NPTV6_SOURCES_P4
#define WAYNAME_NPTV6_SOURCES_P4

#include "../common/ids.p4"
#include "../common/metadata.p4"
#include "../common/reasons.p4"
#include "../common/sizes.p4"
#include "../common/types.p4"

control Nptv6Sources(inout metadata_t meta) {
    @id(NPTV6_SOURCES_COUNTER_ID) TABLE_COUNTER(nptv6_sources_counter);

    @id(NPTV6_OUTBOUND_ACTION_ID)
    @name("nptv6_outbound")
    @brief("The prefix inside (`mask` says how much), what takes its place, and their difference. In the subnet's word: for prefixes of up to 48 bits.")
    action nptv6_outbound(@id(1) ipv6_address_t old, @id(2) ipv6_address_t new, @id(3) ipv6_address_t mask,
                         @id(4) bit<16> difference, @id(5) bit<1> in_subnet) {
        meta.border.source.wanted = true;
        meta.border.source.old = old;
        meta.border.source.new = new;
        meta.border.source.mask = mask;
        meta.border.source.difference = difference;
        meta.border.source.in_subnet = in_subnet;
    }

    @id(UNTRANSLATED_OUTBOUND_ACTION_ID)
    @name("untranslated_outbound")
    @brief("The inside has this provider's addresses.")
    action untranslated_outbound() {
    }

    @id(NO_NPTV6_PREFIX_ACTION_ID)
    @name("no_nptv6_prefix")
    action no_nptv6_prefix() {
        DROP(DROP_NO_PROVIDER);
    }

    @id(NPTV6_SOURCES_TABLE_ID)
    @name("nptv6_sources")
    @brief("NPTv6 outbound: what sources bear on their way out by a provider.")
    table nptv6_sources {
        key = {
            meta.border.site     : exact @id(1) @name("site");
            meta.border.provider : exact @id(2) @name("provider");
        }
        actions = {
            nptv6_outbound;
            untranslated_outbound;
            @defaultonly no_nptv6_prefix;
        }
        const default_action = no_nptv6_prefix;
        counters = nptv6_sources_counter;
        size = NPTV6_SOURCES;
    }

    apply {
        nptv6_sources.apply();
    }
}

#endif
