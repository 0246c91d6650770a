// How far the peer's clock is ahead of this one: no further than the packet that took least says, against the delay that the entry of its
// path has. What is believed to wait has no part in that: it follows what comes of it, and each error would make the other one larger.
// Only what sets paths apart counts for the schedule, so an entry that is wrong is wrong for all of them alike.

#ifndef WAYNAME_SCHEDULING_CLOCK_OFFSET_P4
#define WAYNAME_SCHEDULING_CLOCK_OFFSET_P4

#include "../common/ids.p4"
#include "../common/metadata.p4"
#include "../common/sizes.p4"
#include "../common/types.p4"
#include "delivery_times.p4"
#include "metadata.p4"

// The earliest packet is that of this time and the one before, in microseconds: clocks drift (RFC 6817 has minima of minutes, too).
const bit<48> EARLIEST_LASTS = 60000000;

// Of what a report tells of; `anew` if there was none before, or none for long: the peer's switch may be another one by now.
control ClockOffset(inout metadata_t meta, in bit<32> path_delay, in bool anew) {
    // By session: since when (48), the least difference of the clocks, and before that.
    @id(CLOCK_OFFSETS_REGISTER_ID)
    @name("clock_offsets")
    REGISTERS(bit<32>, bit<112>, NUMBERED_SESSIONS, offsets);

    apply {
        bit<112> known;
        offsets.read(known, meta.session.number);
        bit<48> began = known[111:64];
        bit<32> least = known[63:32];
        bit<32> least_before = known[31:0];
        fine_time_t left = meta.schedule.delivery - meta.schedule.after;    // if it found its path free
        bit<32> offset = meta.path_option.report.arrived - left[47:16] - path_delay;
        bit<48> lasted = meta.arrived - began;
        if (anew || lasted > EARLIEST_LASTS << 1) {
            began = meta.arrived;
            least = offset;
            least_before = offset;
        } else if (lasted > EARLIEST_LASTS) {
            began = meta.arrived;
            least_before = least;
            least = offset;
        }
        bit<32> later = offset - least;
        if (later[31:31] == 1) {
            least = offset;
        }
        bit<32> earliest = least;
        bit<32> before = least - least_before;
        if (before[31:31] == 0) {
            earliest = least_before;
        }
        offsets.write(meta.session.number, began ++ least ++ least_before);

        // It came when the peer's clock says, and the report took the rest.
        bit<32> took = meta.arrived[31:0] - (meta.path_option.report.arrived - earliest);
        if (took[31:31] == 1) {
            took = 0;
        }
        meta.schedule.reverse_delay = took;
    }
}

#endif
