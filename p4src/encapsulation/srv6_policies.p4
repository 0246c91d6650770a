// Lists of segments that packets are put onto (RFC 8754, RFC 8986 section 5).
//
//   policies -> one to four segments -> [segment_list_extension_1 .. 8: four more each]
//
// A list is told in the order in which a packet visits it, and written the other way round. So a policy of up to four
// segments costs one lookup, and one of 36 nine. Ingress lays the list out; `Outer` writes the headers around it.

#ifndef WAYNAME_ENCAPSULATION_SRV6_POLICIES_P4
#define WAYNAME_ENCAPSULATION_SRV6_POLICIES_P4

#include "../common/ids.p4"
#include "../common/metadata.p4"
#include "../common/reasons.p4"
#include "../common/sizes.p4"
#include "../common/types.p4"
#include "../parsing/headers.p4"
#include "metadata.p4"

// A table for each four segments beyond the policy's own: a table is applied once.
#define SEGMENT_LIST_EXTENSION_TABLE(number, table_name, table_id, action_name, action_id, counter_name, counter_id)   \
    @id(counter_id) TABLE_COUNTER(counter_name);                                                                       \
    @id(action_id)                                                                                                     \
    @name(#action_name)                                                                                                \
    action action_name(@id(1) ipv6_address_t first, @id(2) ipv6_address_t second, @id(3) ipv6_address_t third,         \
                       @id(4) ipv6_address_t fourth) {                                                                 \
        hdr.segment_list_extensions[SEGMENT_LIST_EXTENSIONS - number].setValid();                                      \
        hdr.segment_list_extensions[SEGMENT_LIST_EXTENSIONS - number].first = first;                                   \
        hdr.segment_list_extensions[SEGMENT_LIST_EXTENSIONS - number].second = second;                                 \
        hdr.segment_list_extensions[SEGMENT_LIST_EXTENSIONS - number].third = third;                                   \
        hdr.segment_list_extensions[SEGMENT_LIST_EXTENSIONS - number].fourth = fourth;                                 \
    }                                                                                                                  \
    @id(table_id)                                                                                                      \
    @name(#table_name)                                                                                                 \
    @brief("Four more segments of a policy, in the order of the path.")                                                \
    table table_name {                                                                                                 \
        key = { meta.encapsulation.policy : exact @id(1) @name("policy"); }                                            \
        actions = { action_name; @defaultonly no_policy; }                                                             \
        const default_action = no_policy;                                                                              \
        counters = counter_name;                                                                                       \
        size = SR_POLICIES;                                                                                            \
    }

#define PUSH_SEGMENT(index, segment)                                                                                   \
    hdr.segments[SEGMENTS_OF_POLICY - 1 - index].setValid();                                                           \
    hdr.segments[SEGMENTS_OF_POLICY - 1 - index].address = segment;

control SegmentPolicies(inout headers_t hdr, inout metadata_t meta) {
    @id(SR_POLICIES_COUNTER_ID) TABLE_COUNTER(sr_policies_counter);
    @id(HMACS_COUNTER_ID) TABLE_COUNTER(hmacs_counter);

    bit<8> own = 0;             // segments of the policy's entry
    bit<8> lists = 0;           // lists of four beside them
    bool with_hmac = false;

    action push(in bit<8> count, in bit<8> extensions, in bit<1> hmac, in ipv6_address_t source, in ipv6_address_t first) {
        own = count;
        lists = extensions;
        with_hmac = hmac == 1;
        meta.encapsulation.source = source;
        meta.encapsulation.destination = first;
        PUSH_SEGMENT(0, first)
    }

    @id(PUSH_SEGMENTS_1_ACTION_ID)
    @name("push_segments_1")
    @brief("A policy of one segment and `extensions` lists of four. The source is that of its tunnels.")
    action push_segments_1(@id(1) ipv6_address_t source, @id(2) bit<8> extensions, @id(3) bit<1> hmac, @id(4) ipv6_address_t first) {
        push(1, extensions, hmac, source, first);
    }

    @id(PUSH_SEGMENTS_2_ACTION_ID)
    @name("push_segments_2")
    action push_segments_2(@id(1) ipv6_address_t source, @id(2) bit<8> extensions, @id(3) bit<1> hmac, @id(4) ipv6_address_t first,
                 @id(5) ipv6_address_t second) {
        push(2, extensions, hmac, source, first);
        PUSH_SEGMENT(1, second)
    }

    @id(PUSH_SEGMENTS_3_ACTION_ID)
    @name("push_segments_3")
    action push_segments_3(@id(1) ipv6_address_t source, @id(2) bit<8> extensions, @id(3) bit<1> hmac, @id(4) ipv6_address_t first,
                 @id(5) ipv6_address_t second, @id(6) ipv6_address_t third) {
        push(3, extensions, hmac, source, first);
        PUSH_SEGMENT(1, second)
        PUSH_SEGMENT(2, third)
    }

    @id(PUSH_SEGMENTS_4_ACTION_ID)
    @name("push_segments_4")
    action push_segments_4(@id(1) ipv6_address_t source, @id(2) bit<8> extensions, @id(3) bit<1> hmac, @id(4) ipv6_address_t first,
                 @id(5) ipv6_address_t second, @id(6) ipv6_address_t third, @id(7) ipv6_address_t fourth) {
        push(4, extensions, hmac, source, first);
        PUSH_SEGMENT(1, second)
        PUSH_SEGMENT(2, third)
        PUSH_SEGMENT(3, fourth)
    }

    @id(NO_POLICY_ACTION_ID)
    @name("no_policy")
    action no_policy() {
        DROP(DROP_POLICY_UNKNOWN);
    }

    @id(SR_POLICIES_TABLE_ID)
    @name("sr_policies")
    @brief("Segments, in the order of the path, and the source of the policy's tunnels.")
    table sr_policies {
        key = {
            meta.encapsulation.policy : exact @id(1) @name("policy")
                @refers_to(segment_list_extension_1, policy) @refers_to(segment_list_extension_2, policy)
                @refers_to(segment_list_extension_3, policy) @refers_to(segment_list_extension_4, policy)
                @refers_to(segment_list_extension_5, policy) @refers_to(segment_list_extension_6, policy)
                @refers_to(segment_list_extension_7, policy) @refers_to(segment_list_extension_8, policy)
                @refers_to(hmacs, policy);
        }
        actions = {
            push_segments_1;
            push_segments_2;
            push_segments_3;
            push_segments_4;
            @defaultonly no_policy;
        }
        const default_action = no_policy;
        counters = sr_policies_counter;
        size = SR_POLICIES;
    }

    SEGMENT_LIST_EXTENSION_TABLE(1, segment_list_extension_1, SEGMENT_LIST_EXTENSION_1_TABLE_ID, push_extension_1, PUSH_EXTENSION_1_ACTION_ID,
                        segment_list_extension_1_counter, SEGMENT_LIST_EXTENSION_1_COUNTER_ID)
    SEGMENT_LIST_EXTENSION_TABLE(2, segment_list_extension_2, SEGMENT_LIST_EXTENSION_2_TABLE_ID, push_extension_2, PUSH_EXTENSION_2_ACTION_ID,
                        segment_list_extension_2_counter, SEGMENT_LIST_EXTENSION_2_COUNTER_ID)
    SEGMENT_LIST_EXTENSION_TABLE(3, segment_list_extension_3, SEGMENT_LIST_EXTENSION_3_TABLE_ID, push_extension_3, PUSH_EXTENSION_3_ACTION_ID,
                        segment_list_extension_3_counter, SEGMENT_LIST_EXTENSION_3_COUNTER_ID)
    SEGMENT_LIST_EXTENSION_TABLE(4, segment_list_extension_4, SEGMENT_LIST_EXTENSION_4_TABLE_ID, push_extension_4, PUSH_EXTENSION_4_ACTION_ID,
                        segment_list_extension_4_counter, SEGMENT_LIST_EXTENSION_4_COUNTER_ID)
    SEGMENT_LIST_EXTENSION_TABLE(5, segment_list_extension_5, SEGMENT_LIST_EXTENSION_5_TABLE_ID, push_extension_5, PUSH_EXTENSION_5_ACTION_ID,
                        segment_list_extension_5_counter, SEGMENT_LIST_EXTENSION_5_COUNTER_ID)
    SEGMENT_LIST_EXTENSION_TABLE(6, segment_list_extension_6, SEGMENT_LIST_EXTENSION_6_TABLE_ID, push_extension_6, PUSH_EXTENSION_6_ACTION_ID,
                        segment_list_extension_6_counter, SEGMENT_LIST_EXTENSION_6_COUNTER_ID)
    SEGMENT_LIST_EXTENSION_TABLE(7, segment_list_extension_7, SEGMENT_LIST_EXTENSION_7_TABLE_ID, push_extension_7, PUSH_EXTENSION_7_ACTION_ID,
                        segment_list_extension_7_counter, SEGMENT_LIST_EXTENSION_7_COUNTER_ID)
    SEGMENT_LIST_EXTENSION_TABLE(8, segment_list_extension_8, SEGMENT_LIST_EXTENSION_8_TABLE_ID, push_extension_8, PUSH_EXTENSION_8_ACTION_ID,
                        segment_list_extension_8_counter, SEGMENT_LIST_EXTENSION_8_COUNTER_ID)

    @id(PUSH_HMAC_ACTION_ID)
    @name("push_hmac")
    action push_hmac(@id(1) bit<32> key, @id(2) bit<256> hmac) {
        hdr.hmac.setValid();
        hdr.hmac.type = SEGMENT_TLV_HMAC;
        hdr.hmac.length = 38;
        hdr.hmac.flags = 0;
        hdr.hmac.key = key;
        hdr.hmac.hmac = hmac;
    }

    // Linux looks for an HMAC only where the flags of an earlier draft say that there is one.
    @id(PUSH_LINUX_HMAC_ACTION_ID)
    @name("push_linux_hmac")
    @brief("For Linux, which wants the flag 8 in the header.")
    action push_linux_hmac(@id(1) bit<32> key, @id(2) bit<256> hmac) {
        push_hmac(key, hmac);
        hdr.steering.flags = 8;
    }

    @id(HMACS_TABLE_ID)
    @name("hmacs")
    @brief("Proofs of policies: all that one covers is the same in each of a policy's tunnels.")
    table hmacs {
        key = {
            meta.encapsulation.policy : exact @id(1) @name("policy");
        }
        actions = {
            push_hmac;
            push_linux_hmac;
            @defaultonly no_policy;
        }
        const default_action = no_policy;
        counters = hmacs_counter;
        size = SR_POLICIES;
    }

    apply {
        if (!meta.decided && meta.encapsulation.policy != 0) {
            sr_policies.apply();
            if (lists >= 1) { segment_list_extension_1.apply(); }
            if (lists >= 2) { segment_list_extension_2.apply(); }
            if (lists >= 3) { segment_list_extension_3.apply(); }
            if (lists >= 4) { segment_list_extension_4.apply(); }
            if (lists >= 5) { segment_list_extension_5.apply(); }
            if (lists >= 6) { segment_list_extension_6.apply(); }
            if (lists >= 7) { segment_list_extension_7.apply(); }
            if (lists >= 8) { segment_list_extension_8.apply(); }

            // On the wire: one more with the packet's own destination inline, one less where the first is left out.
            bit<8> visited = own + (lists << 2);
            bit<8> written = visited;
            if (meta.encapsulation.mode == ENCAPSULATE_INLINE) {
                hdr.original_destination.setValid();
                hdr.original_destination.address = hdr.ipv6.destination;
                written = visited + 1;
                visited = written;
            } else if (meta.encapsulation.reduced) {
                hdr.segments[SEGMENTS_OF_POLICY - 1].setInvalid();
                written = visited - 1;
            }
            // A single segment that is left out needs no header.
            if (written != 0) {
                hdr.steering.setValid();
                hdr.steering.length = written << 1;
                hdr.steering.type = ROUTING_SEGMENTS;
                hdr.steering.segments_left = visited - 1;
                hdr.steering.last_entry = written - 1;
                hdr.steering.flags = 0;
                hdr.steering.tag = 0;
                if (with_hmac && meta.encapsulation.mode != ENCAPSULATE_INLINE) {
                    hmacs.apply();
                    hdr.steering.length = hdr.steering.length + 5;
                }
                meta.encapsulation.size = meta.encapsulation.size + (((bit<16>)hdr.steering.length + 1) << 3);
            }
        }
    }
}

#endif
