// The share of one source among punts of a class: so many packets a second each, whoever else sends.
//
// A source is a station and the /48 of its address; on a provider's port, where one MAC stands for all of the Internet, that is
// the site that a packet claims to be from. Of a session it is the session. A slot by hash holds when the source's next
// packet is due: the virtual scheduling form of a token bucket (ITU-T I.371, annex A), so that one number is all the state.

#ifndef WAYNAME_CONTROL_PUNT_SOURCES_P4
#define WAYNAME_CONTROL_PUNT_SOURCES_P4

#include "../common/ids.p4"
#include "../common/keyed_hash.p4"
#include "../common/metadata.p4"
#include "../common/reasons.p4"
#include "../common/sizes.p4"
#include "../common/types.p4"
#include "../parsing/headers.p4"
#include "../sessions/metadata.p4"

// Whose share it is, as a slot. The one place that hashes sources.
control PuntSource(in headers_t hdr, in port_t ingress_port, in punt_class_t punt_class, in session_t session, in keys_t keys,
                   out bit<32> slot) {
    apply {
        bit<48> station = hdr.ethernet.source;
        bit<48> prefix = hdr.ipv6.source[127:80];
        port_t port = ingress_port;
        if (punt_class == CLASS_SESSION || punt_class == CLASS_HELD) {
            station = (bit<48>)session.number;
            prefix = 0;
            port = 0;
        }
        bit<64> hashed = slot_hash_of_address(keys.slots, 15w0 ++ punt_class ++ port ++ station ++ prefix);
        slot = SLOT(hashed[31:0], PUNT_SOURCES);
    }
}

control PuntSources(in headers_t hdr, in metadata_t meta, out bool above, out bool shared) {
    @id(PUNT_LIMITS_COUNTER_ID) TABLE_COUNTER(punt_limits_counter);

    @id(PUNT_SOURCES_REGISTER_ID)
    @name("punt_sources")
    REGISTERS(bit<32>, bit<48>, PUNT_SOURCES, dues);

    PuntSource() punt_source;
    bit<48> interval = 0;
    bit<48> tolerance = 0;

    @id(LIMIT_SOURCES_ACTION_ID)
    @name("limit_sources")
    @brief("One packet of each source in an interval, and so much earlier for a burst, in microseconds; 0 is no limit. Shares: 1 if the class counts for its port's share and the total.")
    action limit_sources(@id(1) bit<32> every, @id(2) bit<32> early, @id(3) bit<8> shares) {
        interval = (bit<48>)every;
        tolerance = (bit<48>)early;
        shared = shares != 0;
    }

    @id(NO_LIMIT_ACTION_ID)
    @name("no_limit")
    action no_limit() {
    }

    @id(PUNT_LIMITS_TABLE_ID)
    @name("punt_limits")
    @brief("What one source may send to the controller, by class.")
    table punt_limits {
        key = {
            meta.punt_class : exact @id(1) @name("class");
        }
        actions = {
            limit_sources;
            @defaultonly no_limit;
        }
        const default_action = no_limit;
        counters = punt_limits_counter;
        size = PUNT_CLASSES;
    }

    apply {
        above = false;
        shared = false;
        punt_limits.apply();
        if (interval != 0) {
            bit<48> now = meta.arrived;
            bit<32> slot;
            bit<48> due;
            punt_source.apply(hdr, meta.ingress_port, meta.punt_class, meta.session, meta.keys, slot);
            dues.read(due, slot);
            if (due < now) {
                due = now;
            }
            above = due - now > tolerance;
            if (!above) {
                dues.write(slot, due + interval);
            }
        }
    }
}

#endif
