// HMACs of segment lists (RFC 8754, section 2.1.2).
//
//   hmac_rules: what does the segment ask for? -> is this segment the list's current one? -> verified_segments -> on
//                                                                  else to the controller, which verifies it
//
// The controller has the keys. What an HMAC covers is the same in all packets along a list, so the controller verifies the
// first one, and the entry that it makes lets pass what is the same, octet by octet: source, list, numbers, key and HMAC.
// The HMAC is found where it is the first TLV and the list has no more than eight segments.

#ifndef WAYNAME_ENCAPSULATION_SRV6_HMAC_P4
#define WAYNAME_ENCAPSULATION_SRV6_HMAC_P4

#include "../common/ids.p4"
#include "../common/metadata.p4"
#include "../common/reasons.p4"
#include "../common/sizes.p4"
#include "../common/types.p4"
#include "../parsing/headers.p4"
#include "tunnels.p4"

const bit<16> HMAC_TLV_START = 0x0526;  // type 5, 38 octets: 32 are the HMAC

control SegmentProofs(in headers_t hdr, inout metadata_t meta) {
    @id(HMAC_RULES_COUNTER_ID) TABLE_COUNTER(hmac_rules_counter);
    @id(VERIFIED_SEGMENTS_COUNTER_ID) TABLE_COUNTER(verified_segments_counter);

    bool checked = false;
    bool required = false;

    @id(CHECK_HMAC_ACTION_ID)
    @name("check_hmac")
    @brief("An HMAC has to be right if there is one.")
    action check_hmac() {
        checked = true;
    }

    @id(REQUIRE_HMAC_ACTION_ID)
    @name("require_hmac")
    @brief("There has to be an HMAC, and it has to be right.")
    action require_hmac() {
        checked = true;
        required = true;
    }

    @id(IGNORE_HMAC_ACTION_ID)
    @name("ignore_hmac")
    action ignore_hmac() {
    }

    @id(HMAC_RULES_TABLE_ID)
    @name("hmac_rules")
    @brief("What segments of this router ask of the lists that lead to them.")
    table hmac_rules {
        key = {
            hdr.ipv6.destination : lpm @id(1) @name("destination");
        }
        actions = {
            check_hmac;
            require_hmac;
            ignore_hmac;
        }
        const default_action = ignore_hmac;
        counters = hmac_rules_counter;
        size = SIDS;
    }

    @id(VERIFIED_ACTION_ID)
    @name("verified")
    action verified() {
        meta.routing.verified = true;
    }

    @id(NOT_VERIFIED_ACTION_ID)
    @name("not_verified")
    action not_verified() {
        TRAP(PUNT_SEGMENT_HMAC);
    }

    @id(VERIFIED_SEGMENTS_TABLE_ID)
    @name("verified_segments")
    @brief("Lists whose HMAC the controller has verified; `proof` is the whole TLV, `segments` the list and zeros.")
    table verified_segments {
        key = {
            hdr.ipv6.source           : exact @id(1) @name("source");
            meta.routing.last_entry   : exact @id(2) @name("last_entry");
            hdr.segment_routing.flags : exact @id(3) @name("flags");
            meta.routing.segments     : exact @id(4) @name("segments");
            meta.routing.first_tlv    : exact @id(5) @name("proof");
        }
        actions = {
            verified;
            @defaultonly not_verified;
        }
        const default_action = not_verified;
        counters = verified_segments_counter;
        size = VERIFIED_SEGMENTS;
        AGES
    }

    apply {
        bool asks = meta.routing.type != 0 || meta.chain.next_header == NEXT_IPV6
            || meta.chain.next_header == NEXT_IPV4 || meta.chain.next_header == NEXT_ETHERNET;
        if (!meta.decided && asks && TO_ROUTER(hdr, meta)) {
            hmac_rules.apply();
            bool there = hdr.segment_routing.isValid()
                && meta.routing.first_tlv[HMAC_TLV_BITS - 1:HMAC_TLV_BITS - 16] == HMAC_TLV_START;
            if (checked && (meta.routing.tlv_unread || (required && !there))) {
                DROP(DROP_SEGMENT_HMAC);
            } else if (checked && there) {
                // The destination is the current segment; a list that leaves the first one out says so by the D flag.
                bit<1> reduced = meta.routing.first_tlv[HMAC_TLV_BITS - 17:HMAC_TLV_BITS - 17];
                // As many segments on; BMv2 shifts by no more than 255 bits.
                bit<PROVEN_LIST_BITS> from_current = meta.routing.segments;
                if (meta.routing.left[2:2] == 1) {
                    from_current = from_current[PROVEN_LIST_BITS - 513:0] ++ 512w0;
                }
                if (meta.routing.left[1:1] == 1) {
                    from_current = from_current[PROVEN_LIST_BITS - 257:0] ++ 256w0;
                }
                if (meta.routing.left[0:0] == 1) {
                    from_current = from_current[PROVEN_LIST_BITS - 129:0] ++ 128w0;
                }
                bool current = (reduced == 1 && meta.routing.left > meta.routing.last_entry)
                    || (meta.routing.left <= meta.routing.last_entry
                        && from_current[PROVEN_LIST_BITS - 1:PROVEN_LIST_BITS - 128] == hdr.ipv6.destination);
                if (current) {
                    verified_segments.apply();
                } else {
                    DROP_WITH_ERROR(DROP_SEGMENT_HMAC, ICMPV6_PARAMETER_PROBLEM, PARAMETER_FIELD);
                    meta.icmp_error.parameter = meta.routing.pointer + 5 + (((bit<16>)meta.routing.last_entry + 1) << 4);
                }
            }
        }
    }
}

#endif
