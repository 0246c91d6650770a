// Records of flows from inside (RFC 6092, section 3.2 and 3.3). Packets from inside make them, those from outside find them.
//
// A record is known by a keyed hash of 64 bits. It has one of four slots, and keeps it for as long as its stage lives: the RFC
// forbids to recycle it before. Nobody else may take it, unless its source stands in more than RECORDS_OF_SOURCE slots
// and the record was quiet for RECORD_SHARE_TIME.

#ifndef WAYNAME_SIMPLE_SECURITY_RECORDS_P4
#define WAYNAME_SIMPLE_SECURITY_RECORDS_P4

#include "../common/ids.p4"
#include "../common/keyed_hash.p4"
#include "../common/sizes.p4"
#include "../common/types.p4"
#include "metadata.p4"

const bit<48> RECORD_SHARE_TIME = 4000000;

// A record: hash, time of its last packet, slot of its source in `filter_sources`, stage.
typedef bit<136> record_t;

// How a slot suits a flow, best first.
const bit<2> SLOT_OWN   = 0;
const bit<2> SLOT_EMPTY = 1;
const bit<2> SLOT_TAKEN = 2;

bit<48> lifetime_of(in record_stage_t stage) {
    bit<48> lifetime = TRANSITORY_TIME;
    if (stage == RECORD_ESTABLISHED) {
        lifetime = ESTABLISHED_TIME;
    } else if (stage == RECORD_ENDPOINT) {
        lifetime = ENDPOINT_TIME;
    } else if (stage == RECORD_QUERY) {
        lifetime = QUERY_TIME;
    } else if (stage == RECORD_NAME_QUERY) {
        lifetime = NAME_QUERY_TIME;
    }
    return lifetime;
}

bit<2> suits(in record_t record, in bit<64> hashed, in bit<48> now) {
    bit<2> found = SLOT_TAKEN;
    if (record[135:72] == hashed && record[7:0] != RECORD_NONE) {
        found = SLOT_OWN;
    } else if (record[7:0] == RECORD_NONE || now - record[71:24] >= lifetime_of(record[7:0])) {
        found = SLOT_EMPTY;
    }
    return found;
}

// What a record becomes by a packet of its flow. One from outside may not make it live longer, but for a connection's.
record_stage_t stage_after(in record_stage_t stage, in filtered_flow_t flow, in bool from_inside) {
    record_stage_t after = stage;
    if (stage < RECORD_OPENING) {
        if (from_inside && flow.first > stage) {
            after = flow.first;
        }
    } else if (flow.ends) {
        after = RECORD_CLOSING;
    } else if (from_inside && flow.first == RECORD_ESTABLISHED) {
        after = RECORD_ESTABLISHED;
    } else if (from_inside && flow.opens && stage == RECORD_CLOSING) {
        after = RECORD_OPENING;
    } else if (!from_inside && stage == RECORD_OPENING) {
        after = RECORD_ANSWERED;
    } else if (from_inside && !flow.opens && stage == RECORD_ANSWERED) {
        after = RECORD_ESTABLISHED;
    }
    return after;
}

#define CONSIDER_SLOT(slot) \
    if (best != SLOT_OWN) { \
        record_t other; \
        records.read(other, slot); \
        bit<2> other_suits = suits(other, hashed, now); \
        if (other_suits < best) { \
            best = other_suits; \
            place = slot; \
            record = other; \
        } \
    }

// `kind` keeps records apart that have the same addresses and ports. `known`: there is one, alive; a packet from inside makes it if its
// flow says so, and `full` says that it could not.
control FlowRecords(in bit<128> key, in bit<48> now, in filtered_flow_t flow, in bit<16> kind, in bool from_inside,
                    out bool known, out bool full, out bit<48> last) {
    @id(FILTER_RECORDS_REGISTER_ID)
    @name("filter_records")
    REGISTERS(bit<32>, record_t, FILTER_RECORDS, records);

    // In how many slots a source stands.
    @id(FILTER_SOURCES_REGISTER_ID)
    @name("filter_sources")
    REGISTERS(bit<32>, bit<32>, FILTER_SOURCES, sources);

    apply {
        full = false;
        bit<64> hashed = slot_hash_of_flow(key, flow.local, flow.remote,
                                           8w39 ++ kind ++ flow.next_header ++ flow.local_port ++ flow.remote_port);
        bit<32> place = SLOT(hashed[31:0], FILTER_RECORDS);
        bit<32> second = place ^ 1;
        bit<32> third = SLOT(hashed[63:32], FILTER_RECORDS);
        bit<32> fourth = third ^ 1;
        record_t record;
        records.read(record, place);
        bit<2> best = suits(record, hashed, now);
        CONSIDER_SLOT(second)
        CONSIDER_SLOT(third)
        CONSIDER_SLOT(fourth)

        record_stage_t stage = record[7:0];
        last = record[71:24];
        known = best == SLOT_OWN && now - last < lifetime_of(stage);
        if (flow.quoted) {
            // An error changes nothing (REC-19, REC-37).
        } else if (known) {
            record_stage_t after = stage_after(stage, flow, from_inside);
            if (from_inside || after >= RECORD_OPENING) {
                records.write(place, hashed ++ now ++ record[23:8] ++ after);
            }
        } else if (from_inside && flow.first != RECORD_NONE) {
            bit<32> count;
            if (best == SLOT_TAKEN) {
                sources.read(count, 16w0 ++ record[23:8]);
                full = count <= RECORDS_OF_SOURCE || now - last < RECORD_SHARE_TIME;
                if (full) {
                    place = third;
                    records.read(record, place);
                    sources.read(count, 16w0 ++ record[23:8]);
                    full = count <= RECORDS_OF_SOURCE || now - record[71:24] < RECORD_SHARE_TIME;
                }
            }
            if (!full) {
                if (stage != RECORD_NONE) {
                    sources.read(count, 16w0 ++ record[23:8]);
                    if (count != 0) {
                        sources.write(16w0 ++ record[23:8], count - 1);
                    }
                }
                bit<64> hashed_source = slot_hash_of_address(key, flow.local);
                bit<32> source = SLOT(hashed_source[31:0], FILTER_SOURCES);
                sources.read(count, source);
                sources.write(source, count + 1);
                records.write(place, hashed ++ now ++ source[15:0] ++ flow.first);
                known = true;
                last = 0;
            }
        }
    }
}

#endif
