// Loops in source routes of RPL (RFC 6554, section 4.2): a router drops what has two of its own addresses with another's
// between them.
//
// The parser lays all addresses of the header out in `routing.addresses`, as they are compressed. Here each one is cut off
// the front, made whole, and looked up. A table is applied once, so there is one for each address, all with the same
// entries. What has more addresses than tables cannot be looked at, and is dropped.

#ifndef WAYNAME_ENCAPSULATION_RPL_LOOPS_P4
#define WAYNAME_ENCAPSULATION_RPL_LOOPS_P4

#include "../common/ids.p4"
#include "../common/metadata.p4"
#include "../common/reasons.p4"
#include "../common/sizes.p4"
#include "../common/types.p4"
#include "../parsing/headers.p4"

#define OWN_HOPS_TABLE(table_name, table_id)                                                                           \
    @id(table_id)                                                                                                      \
    @name(#table_name)                                                                                                 \
    @brief("Addresses and hops of this router, for one address of a source route.")                                    \
    table table_name {                                                                                                 \
        key = { address : lpm @id(1) @name("address"); }                                                               \
        actions = { own_hop; @defaultonly other_hop; }                                                                 \
        const default_action = other_hop;                                                                              \
        size = OWN_ADDRESSES;                                                                                          \
    }

// One of the addresses before the last.
#define LOOK_AT_HOP(table_name)                                                                                        \
        if (left >= each) {                                                                                            \
            address = shared | (ipv6_address_t)(rest[HOPS_CHECKED_BITS - 1:HOPS_CHECKED_BITS - 128] >> shared_bits);   \
            table_name.apply();                                                                                        \
            rest = rest << ((bit<8>)each << 3);                                                                        \
            left = left - each;                                                                                        \
        }

control SourceRouteLoop(in headers_t hdr, inout metadata_t meta) {
    bit<HOPS_CHECKED_BITS> rest = meta.routing.addresses;
    bit<16> left = meta.routing.before_last;
    bit<16> each = 16 - (bit<16>)hdr.source_route.prefix_left_out;
    bit<8> shared_bits = (bit<8>)hdr.source_route.prefix_left_out << 3;
    ipv6_address_t shared = 0;
    ipv6_address_t address = 0;
    bool here = false;          // one of the addresses so far is this router's,
    bool away = false;          // another's stands behind it,
    bool back = false;          // and behind that is this router's again

    @id(OWN_HOP_ACTION_ID)
    @name("own_hop")
    action own_hop() {
        back = back || away;
        here = true;
    }

    @id(OTHER_HOP_ACTION_ID)
    @name("other_hop")
    action other_hop() {
        away = here;
    }

    OWN_HOPS_TABLE(own_hops_1, OWN_HOPS_1_TABLE_ID)
    OWN_HOPS_TABLE(own_hops_2, OWN_HOPS_2_TABLE_ID)
    OWN_HOPS_TABLE(own_hops_3, OWN_HOPS_3_TABLE_ID)
    OWN_HOPS_TABLE(own_hops_4, OWN_HOPS_4_TABLE_ID)
    OWN_HOPS_TABLE(own_hops_5, OWN_HOPS_5_TABLE_ID)
    OWN_HOPS_TABLE(own_hops_6, OWN_HOPS_6_TABLE_ID)
    OWN_HOPS_TABLE(own_hops_7, OWN_HOPS_7_TABLE_ID)
    OWN_HOPS_TABLE(own_hops_8, OWN_HOPS_8_TABLE_ID)
    OWN_HOPS_TABLE(own_hops_9, OWN_HOPS_9_TABLE_ID)
    OWN_HOPS_TABLE(own_hops_10, OWN_HOPS_10_TABLE_ID)
    OWN_HOPS_TABLE(own_hops_11, OWN_HOPS_11_TABLE_ID)
    OWN_HOPS_TABLE(own_hops_12, OWN_HOPS_12_TABLE_ID)
    OWN_HOPS_TABLE(own_hops_13, OWN_HOPS_13_TABLE_ID)
    OWN_HOPS_TABLE(own_hops_14, OWN_HOPS_14_TABLE_ID)
    OWN_HOPS_TABLE(own_hops_15, OWN_HOPS_15_TABLE_ID)
    OWN_HOPS_TABLE(own_hops_16, OWN_HOPS_16_TABLE_ID)

    apply {
        // What is left out stands in the destination. No more bits are shifted out than there are.
        shared = hdr.ipv6.destination >> (128 - shared_bits) << (128 - shared_bits);
        LOOK_AT_HOP(own_hops_1)
        LOOK_AT_HOP(own_hops_2)
        LOOK_AT_HOP(own_hops_3)
        LOOK_AT_HOP(own_hops_4)
        LOOK_AT_HOP(own_hops_5)
        LOOK_AT_HOP(own_hops_6)
        LOOK_AT_HOP(own_hops_7)
        LOOK_AT_HOP(own_hops_8)
        LOOK_AT_HOP(own_hops_9)
        LOOK_AT_HOP(own_hops_10)
        LOOK_AT_HOP(own_hops_11)
        LOOK_AT_HOP(own_hops_12)
        LOOK_AT_HOP(own_hops_13)
        LOOK_AT_HOP(own_hops_14)
        LOOK_AT_HOP(own_hops_15)
        if (meta.routing.long || left >= each) {
            DROP_WITH_ERROR(DROP_SOURCE_ROUTE_LONG, ICMPV6_PARAMETER_PROBLEM, PARAMETER_FIELD);
            meta.icmp_error.parameter = meta.routing.pointer - 2;
        } else {
            // Octets that are no whole address stand before the last one.
            rest = rest << ((bit<8>)left << 3);
            shared_bits = (bit<8>)hdr.source_route.last_prefix_left_out << 3;
            shared = hdr.ipv6.destination >> (128 - shared_bits) << (128 - shared_bits);
            address = shared | (ipv6_address_t)(rest[HOPS_CHECKED_BITS - 1:HOPS_CHECKED_BITS - 128] >> shared_bits);
            own_hops_16.apply();
            if (back) {
                DROP_WITH_ERROR(DROP_SOURCE_ROUTE_LOOP, ICMPV6_PARAMETER_PROBLEM, PARAMETER_FIELD);
                meta.icmp_error.parameter = meta.routing.pointer;
            }
        }
    }
}

#endif
