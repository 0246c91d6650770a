// By which path did a packet go, and when should it be delivered? A packet is known by its first octet: the one that is sent
// again, the one that an acknowledgement has waited for, the one that a selective acknowledgement is for. The latter two have
// just come, and are forgotten.

#ifndef WAYNAME_SCHEDULING_IN_FLIGHT_P4
#define WAYNAME_SCHEDULING_IN_FLIGHT_P4

#include "../common/ids.p4"
#include "../common/keyed_hash.p4"
#include "../common/metadata.p4"
#include "../common/sizes.p4"
#include "../common/types.p4"
#include "../sessions/metadata.p4"
#include "metadata.p4"

// 27 bits of the first octet's number, octets, is it a probe, was the path busy, the slot, when it is due in microseconds, how long
// after it was sent in units of 64 of them, the path's work in 16ths.
typedef bit<128> flight_t;

control InFlight(inout metadata_t meta) {
    // By connection and first octet, hashed.
    @id(IN_FLIGHT_REGISTER_ID)
    @name("in_flight")
    REGISTERS(bit<32>, flight_t, IN_FLIGHT_PACKETS, in_flight);

    apply {
        bit<32> octet = meta.schedule.sequence;
        if (meta.schedule.answer != ANSWER_NONE) {
            octet = meta.schedule.arrived;
        }
        bit<64> hashed = slot_hash_of_word(meta.keys.slots, meta.schedule.flow ++ octet);
        bit<32> slot = SLOT(hashed[31:0], IN_FLIGHT_PACKETS);
        if (meta.schedule.again) {
            bit<64> before_hashed = slot_hash_of_word(meta.keys.slots, meta.schedule.flow ++ meta.schedule.sequence);
            flight_t flight;
            in_flight.read(flight, SLOT(before_hashed[31:0], IN_FLIGHT_PACKETS));
            meta.schedule.before_known = flight[127:101] == meta.schedule.sequence[26:0];
            meta.schedule.before_slot = (bit<32>)flight[84:82];
        }
        if (meta.schedule.hold_duplicates) {
            bit<64> missing_hashed = slot_hash_of_word(meta.keys.slots, meta.schedule.flow ++ meta.schedule.sequence);
            bit<32> missing_slot = SLOT(missing_hashed[31:0], IN_FLIGHT_PACKETS);
            flight_t flight;
            in_flight.read(flight, missing_slot);
            meta.schedule.missing = flight[127:101] == meta.schedule.sequence[26:0];
            meta.schedule.missing_length = 18w0 ++ flight[100:87];
            meta.schedule.missing_slot = (bit<32>)flight[84:82];
            meta.schedule.missing_probe = flight[86:86] == 1;
            meta.schedule.missing_due = flight[81:50];
            meta.schedule.missing_work = 20w0 ++ flight[31:0] ++ 12w0;
        }
        if (meta.schedule.answer != ANSWER_NONE) {
            flight_t flight;
            in_flight.read(flight, slot);
            bool its = flight[127:101] == octet[26:0];
            // A regular acknowledgement of several packets, of a receiver that delays them, is for the last of them.
            if (meta.schedule.answer == ANSWER_REGULAR && !meta.schedule.holes || meta.schedule.answer == ANSWER_SELECTIVE) {
                its = its && 18w0 ++ flight[100:87] == meta.schedule.length;
            }
            if (its) {
                if (meta.schedule.answer == ANSWER_LOST) {
                    meta.schedule.verdict = VERDICT_LOST;
                } else {
                    meta.schedule.verdict = VERDICT_MEASURED;
                    in_flight.write(slot, 0);
                }
                meta.schedule.probe = flight[86:86] == 1;
                meta.schedule.busy = flight[85:85] == 1;
                meta.schedule.slot = (bit<32>)flight[84:82];
                int<64> since = (int<64>)(int<32>)(meta.arrived[31:0] - flight[81:50]);
                meta.schedule.delivery = (meta.arrived ++ 16w0) - ((fine_time_t)since << 16);
                meta.schedule.after = 24w0 ++ flight[49:32] ++ 22w0;
                meta.schedule.work = 20w0 ++ flight[31:0] ++ 12w0;
            }
        } else if (meta.session.direction == SESSION_OUTBOUND && !meta.schedule.again) {
            bit<1> probe = 0;
            bit<1> busy = 0;
            if (meta.schedule.probe) {
                probe = 1;
            }
            if (meta.schedule.busy) {
                busy = 1;
            }
            bit<32> length = meta.schedule.ends - meta.schedule.sequence;
            in_flight.write(slot, octet[26:0] ++ length[13:0] ++ probe ++ busy ++ meta.schedule.slot[2:0] ++ meta.schedule.delivery[47:16]
                          ++ meta.schedule.after[39:22] ++ meta.schedule.work[43:12]);
        }
    }
}

#endif
