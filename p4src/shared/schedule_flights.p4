// By which path did a packet go, and when should it be delivered? What is missing is known by its first octet only.

#ifndef WAYNAME_SCHEDULE_FLIGHTS_P4
#define WAYNAME_SCHEDULE_FLIGHTS_P4

control ScheduleFlights(inout metadata_t meta) {
    // By connection and first octet, hashed: 29 bits of the octet's number, the place, microseconds.
    @id(FLIGHTS_REGISTER_ID)
    @name("flights")
    REGISTERS(bit<32>, bit<64>, SCHEDULE_FLIGHTS, flights);

    apply {
        bit<32> slot;
        HASH_OF_2(slot, 32w1 << 18, meta.schedule.flow, meta.schedule.sequence);
        if (meta.schedule.answer == ANSWER_LOST) {
            bit<64> flight;
            flights.read(flight, slot);
            if (flight[63:35] == meta.schedule.sequence[28:0]) {
                meta.schedule.place = (bit<32>)flight[34:32];
                meta.schedule.verdict = VERDICT_LOST;
                int<64> since = (int<64>)(int<32>)(meta.arrived[31:0] - flight[31:0]);
                meta.schedule.delivery = (meta.arrived ++ 16w0) - ((fine_time_t)since << 16);
            }
        } else {
            flights.write(slot, meta.schedule.sequence[28:0] ++ meta.schedule.place[2:0] ++ meta.schedule.delivery[47:16]);
        }
    }
}

#endif
