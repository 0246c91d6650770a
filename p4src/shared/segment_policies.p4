// Lists of segments that packets are put onto (RFC 8754, RFC 8986 section 5).
//
//   policies -> one to four segments -> [segment_fours_1 .. 8: four more each]
//
// A list is told in the order in which a packet visits it, and written the other way round. So a policy of up to four
// segments costs one lookup, and one of 36 nine. Ingress lays the list out; `Outer` writes the headers around it.

#ifndef WAYNAME_SEGMENT_POLICIES_P4
#define WAYNAME_SEGMENT_POLICIES_P4

// A table for each four segments beyond the policy's own: a table is applied once.
#define SEGMENT_FOURS_TABLE(number, table_name, table_id, action_name, action_id, counter_name, counter_id)            \
    @id(counter_id) TABLE_COUNTER(counter_name);                                                                       \
    @id(action_id)                                                                                                     \
    @name(#action_name)                                                                                                \
    action action_name(@id(1) ipv6_address_t first, @id(2) ipv6_address_t second, @id(3) ipv6_address_t third,         \
                       @id(4) ipv6_address_t fourth) {                                                                 \
        hdr.segment_fours[SEGMENT_FOURS - number].setValid();                                                          \
        hdr.segment_fours[SEGMENT_FOURS - number].first = first;                                                       \
        hdr.segment_fours[SEGMENT_FOURS - number].second = second;                                                     \
        hdr.segment_fours[SEGMENT_FOURS - number].third = third;                                                       \
        hdr.segment_fours[SEGMENT_FOURS - number].fourth = fourth;                                                     \
    }                                                                                                                  \
    @id(table_id)                                                                                                      \
    @name(#table_name)                                                                                                 \
    @brief("Four more segments of a policy, in the order of the path.")                                                \
    table table_name {                                                                                                 \
        key = { meta.encapsulation.policy : exact @id(1) @name("policy"); }                                            \
        actions = { action_name; @defaultonly no_policy; }                                                             \
        const default_action = no_policy;                                                                              \
        counters = counter_name;                                                                                       \
        size = POLICIES;                                                                                               \
    }

#define PUT_SEGMENT(index, segment)                                                                                    \
    hdr.segments[SEGMENTS_OF_POLICY - 1 - index].setValid();                                                           \
    hdr.segments[SEGMENTS_OF_POLICY - 1 - index].address = segment;

control SegmentPolicies(inout headers_t hdr, inout metadata_t meta) {
    @id(POLICIES_COUNTER_ID) TABLE_COUNTER(policies_counter);
    @id(HMACS_COUNTER_ID) TABLE_COUNTER(hmacs_counter);

    bit<8> own = 0;             // segments of the policy's entry
    bit<8> lists = 0;           // lists of four beside them
    bool with_hmac = false;

    action put(in bit<8> count, in bit<8> fours, in bit<1> hmac, in ipv6_address_t source, in ipv6_address_t first) {
        own = count;
        lists = fours;
        with_hmac = hmac == 1;
        meta.encapsulation.source = source;
        meta.encapsulation.destination = first;
        PUT_SEGMENT(0, first)
    }

    @id(PUT_1_ACTION_ID)
    @name("put_1")
    @brief("A policy of one segment and `fours` lists of four. The source is that of its tunnels.")
    action put_1(@id(1) ipv6_address_t source, @id(2) bit<8> fours, @id(3) bit<1> hmac, @id(4) ipv6_address_t first) {
        put(1, fours, hmac, source, first);
    }

    @id(PUT_2_ACTION_ID)
    @name("put_2")
    action put_2(@id(1) ipv6_address_t source, @id(2) bit<8> fours, @id(3) bit<1> hmac, @id(4) ipv6_address_t first,
                 @id(5) ipv6_address_t second) {
        put(2, fours, hmac, source, first);
        PUT_SEGMENT(1, second)
    }

    @id(PUT_3_ACTION_ID)
    @name("put_3")
    action put_3(@id(1) ipv6_address_t source, @id(2) bit<8> fours, @id(3) bit<1> hmac, @id(4) ipv6_address_t first,
                 @id(5) ipv6_address_t second, @id(6) ipv6_address_t third) {
        put(3, fours, hmac, source, first);
        PUT_SEGMENT(1, second)
        PUT_SEGMENT(2, third)
    }

    @id(PUT_4_ACTION_ID)
    @name("put_4")
    action put_4(@id(1) ipv6_address_t source, @id(2) bit<8> fours, @id(3) bit<1> hmac, @id(4) ipv6_address_t first,
                 @id(5) ipv6_address_t second, @id(6) ipv6_address_t third, @id(7) ipv6_address_t fourth) {
        put(4, fours, hmac, source, first);
        PUT_SEGMENT(1, second)
        PUT_SEGMENT(2, third)
        PUT_SEGMENT(3, fourth)
    }

    @id(NO_POLICY_ACTION_ID)
    @name("no_policy")
    action no_policy() {
        drop(meta, DROP_POLICY_UNKNOWN);
    }

    @id(POLICIES_TABLE_ID)
    @name("policies")
    @brief("Segments, in the order of the path, and the source of the policy's tunnels.")
    table policies {
        key = {
            meta.encapsulation.policy : exact @id(1) @name("policy");
        }
        actions = {
            put_1;
            put_2;
            put_3;
            put_4;
            @defaultonly no_policy;
        }
        const default_action = no_policy;
        counters = policies_counter;
        size = POLICIES;
    }

    SEGMENT_FOURS_TABLE(1, segment_fours_1, SEGMENT_FOURS_1_TABLE_ID, put_four_1, PUT_FOUR_1_ACTION_ID,
                        segment_fours_1_counter, SEGMENT_FOURS_1_COUNTER_ID)
    SEGMENT_FOURS_TABLE(2, segment_fours_2, SEGMENT_FOURS_2_TABLE_ID, put_four_2, PUT_FOUR_2_ACTION_ID,
                        segment_fours_2_counter, SEGMENT_FOURS_2_COUNTER_ID)
    SEGMENT_FOURS_TABLE(3, segment_fours_3, SEGMENT_FOURS_3_TABLE_ID, put_four_3, PUT_FOUR_3_ACTION_ID,
                        segment_fours_3_counter, SEGMENT_FOURS_3_COUNTER_ID)
    SEGMENT_FOURS_TABLE(4, segment_fours_4, SEGMENT_FOURS_4_TABLE_ID, put_four_4, PUT_FOUR_4_ACTION_ID,
                        segment_fours_4_counter, SEGMENT_FOURS_4_COUNTER_ID)
    SEGMENT_FOURS_TABLE(5, segment_fours_5, SEGMENT_FOURS_5_TABLE_ID, put_four_5, PUT_FOUR_5_ACTION_ID,
                        segment_fours_5_counter, SEGMENT_FOURS_5_COUNTER_ID)
    SEGMENT_FOURS_TABLE(6, segment_fours_6, SEGMENT_FOURS_6_TABLE_ID, put_four_6, PUT_FOUR_6_ACTION_ID,
                        segment_fours_6_counter, SEGMENT_FOURS_6_COUNTER_ID)
    SEGMENT_FOURS_TABLE(7, segment_fours_7, SEGMENT_FOURS_7_TABLE_ID, put_four_7, PUT_FOUR_7_ACTION_ID,
                        segment_fours_7_counter, SEGMENT_FOURS_7_COUNTER_ID)
    SEGMENT_FOURS_TABLE(8, segment_fours_8, SEGMENT_FOURS_8_TABLE_ID, put_four_8, PUT_FOUR_8_ACTION_ID,
                        segment_fours_8_counter, SEGMENT_FOURS_8_COUNTER_ID)

    @id(PUT_HMAC_ACTION_ID)
    @name("put_hmac")
    action put_hmac(@id(1) bit<32> key, @id(2) bit<256> hmac) {
        hdr.hmac.setValid();
        hdr.hmac.type = SEGMENT_TLV_HMAC;
        hdr.hmac.length = 38;
        hdr.hmac.flags = 0;
        hdr.hmac.key = key;
        hdr.hmac.hmac = hmac;
    }

    // Linux looks for an HMAC only where the flags of an earlier draft say that there is one.
    @id(PUT_LINUX_HMAC_ACTION_ID)
    @name("put_linux_hmac")
    @brief("For Linux, which wants the flag 8 in the header.")
    action put_linux_hmac(@id(1) bit<32> key, @id(2) bit<256> hmac) {
        put_hmac(key, hmac);
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
            put_hmac;
            put_linux_hmac;
            @defaultonly no_policy;
        }
        const default_action = no_policy;
        counters = hmacs_counter;
        size = POLICIES;
    }

    apply {
        if (!meta.settled && meta.encapsulation.policy != 0) {
            policies.apply();
            if (lists >= 1) { segment_fours_1.apply(); }
            if (lists >= 2) { segment_fours_2.apply(); }
            if (lists >= 3) { segment_fours_3.apply(); }
            if (lists >= 4) { segment_fours_4.apply(); }
            if (lists >= 5) { segment_fours_5.apply(); }
            if (lists >= 6) { segment_fours_6.apply(); }
            if (lists >= 7) { segment_fours_7.apply(); }
            if (lists >= 8) { segment_fours_8.apply(); }

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
