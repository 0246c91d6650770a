// TCP connections of scheduled sessions, as far as a schedule learns from them: what was sent, what is acknowledged. A
// connection has its slot by hash, and takes it from another that has it.
//
//   sent    new data, which may be marked    again, for the first octet that is not acknowledged: it was lost
//   heard   regular      one step on, nothing was missing
//           duplicate    three times or more: what begins there is lost, if it is overdue
//           filled       one step on, after duplicates: what was missing came late
//           cumulative   what was sent twice has come: marks that it covers say nothing
//
// An acknowledgement counts only if it lies between what was acknowledged and what was sent, a duplicate only while
// something is outstanding: nobody closes paths who does not see the connection.

#ifndef WAYNAME_SCHEDULING_TCP_FLOWS_P4
#define WAYNAME_SCHEDULING_TCP_FLOWS_P4

#include "../common/ids.p4"
#include "../common/keyed_hash.p4"
#include "../common/metadata.p4"
#include "../common/sizes.p4"
#include "../common/types.p4"
#include "../parsing/headers.p4"
#include "../sessions/metadata.p4"
#include "metadata.p4"

const bit<8> DUPLICATES_OF_LOSS = 3;

control ScheduleFlows(in headers_t hdr, inout metadata_t meta) {
    // Whose slot it is: session, local port, remote port.
    @id(FLOW_NAMES_REGISTER_ID)
    @name("flow_names")
    REGISTERS(bit<32>, bit<64>, SCHEDULE_FLOWS, names);

    // The next octet to be sent, and the one up to which a loss has been seen: until it is acknowledged there is no other.
    @id(FLOW_SENT_REGISTER_ID)
    @name("flow_sent")
    REGISTERS(bit<32>, bit<64>, SCHEDULE_FLOWS, sent);

    // The octet behind all that was sent again.
    @id(FLOW_RESENT_REGISTER_ID)
    @name("flow_resent")
    REGISTERS(bit<32>, bit<32>, SCHEDULE_FLOWS, resent);

    // The first octet that is not acknowledged; how far the receiver may hold data behind a hole; how often it was said again.
    @id(FLOW_ANSWERED_REGISTER_ID)
    @name("flow_answered")
    REGISTERS(bit<32>, bit<72>, SCHEDULE_FLOWS, answered);

    // When the first octet that is not acknowledged last changed.
    @id(FLOW_ADVANCED_REGISTER_ID)
    @name("flow_advanced")
    REGISTERS(bit<32>, bit<48>, SCHEDULE_FLOWS, advanced);

    // The last block that was acknowledged selectively.
    @id(FLOW_BLOCKS_REGISTER_ID)
    @name("flow_blocks")
    REGISTERS(bit<32>, bit<64>, SCHEDULE_FLOWS, blocks);

    apply {
        bit<32> sequence = hdr.tcp.start[95:64];
        bit<32> acknowledged = hdr.tcp.start[63:32];
        bit<8> flags = hdr.tcp.start[23:16];
        bit<32> length = (bit<32>)(meta.chain.left - (10w0 ++ hdr.tcp.start[31:28] ++ 2w0));
        bit<32> ends = sequence + length;
        if (flags & (TCP_SYN | TCP_FIN) != 0) {
            ends = ends + 1;
        }

        bit<32> ports = meta.flow.source_port ++ meta.flow.destination_port;
        if (meta.session.direction == SESSION_INBOUND) {
            ports = meta.flow.destination_port ++ meta.flow.source_port;
        }
        bit<64> hashed = slot_hash_of_word(meta.keys.slots, (bit<32>)meta.session.number ++ ports);
        bit<32> slot = SLOT(hashed[31:0], SCHEDULE_FLOWS);
        meta.schedule.flow = slot;
        bit<64> name;
        names.read(name, slot);
        bool known = name == (bit<32>)meta.session.number ++ ports;
        bit<64> send_state;
        sent.read(send_state, slot);
        bit<32> next = send_state[63:32];
        bit<32> recovered = send_state[31:0];
        bit<72> answer_state;
        answered.read(answer_state, slot);
        bit<32> first = answer_state[71:40];
        bit<32> held = answer_state[39:8];
        bit<8> duplicates = answer_state[7:0];
        bit<32> since_loss = first - recovered;
        bool whole = since_loss[31:31] == 0;        // no loss is being mended
        bit<32> sent_again;
        resent.read(sent_again, slot);
        bit<32> since_again = first - sent_again;
        bool once = since_again[31:31] == 0;        // what is acknowledged now was sent once

        if (meta.session.direction == SESSION_OUTBOUND) {
            bit<32> ahead = sequence - next;
            bit<32> grown = ends - next;
            meta.schedule.sequence = sequence;
            meta.schedule.ends = ends;
            if (ends == sequence) {
                meta.schedule.pure_ack = true;
            } else if (!known || flags & TCP_SYN != 0) {
                meta.schedule.fresh = length != 0;
                names.write(slot, (bit<32>)meta.session.number ++ ports);
                sent.write(slot, ends ++ sequence);
                answered.write(slot, sequence ++ sequence ++ 8w0);
                advanced.write(slot, meta.arrived);
                blocks.write(slot, 0);
                resent.write(slot, sequence);
            } else if (ahead[31:31] == 0) {
                meta.schedule.fresh = length != 0;
                sent.write(slot, ends ++ recovered);
            } else {
                meta.schedule.again = true;
                if (grown[31:31] == 0) {
                    next = ends;
                }
                if (whole && sequence == first) {
                    meta.schedule.answer = ANSWER_LOST;
                    meta.schedule.arrived = first;
                }
                if (whole) {
                    recovered = next;
                }
                sent.write(slot, next ++ recovered);
                grown = ends - sent_again;
                if (once || grown[31:31] == 0) {
                    resent.write(slot, ends);
                }
            }
        } else if (known && flags & (TCP_SYN | TCP_RST | TCP_ACK) == TCP_ACK) {
            bit<32> advance = acknowledged - first;
            bit<32> outstanding = next - first;
            meta.schedule.sequence = acknowledged;
            if (advance > outstanding || outstanding == 0) {
                // Outside of what was sent, or late.
            } else if (advance == 0) {
                // A block of what is acknowledged already says that something came twice (RFC 2883): nothing is missing.
                bit<32> since_block = acknowledged - meta.sack.ends;
                bool twice = meta.sack.here && since_block[31:31] == 0;
                if (ends == sequence && !twice) {
                    duplicates = duplicates |+| 1;
                    answered.write(slot, first ++ next ++ duplicates);
                    bit<48> since;
                    advanced.read(since, slot);
                    bool hold_duplicates = meta.schedule.feedback & FEEDBACK_HOLD != 0
                        && meta.arrived - since < (bit<48>)meta.schedule.hold;
                    meta.schedule.hold_duplicates = hold_duplicates && duplicates >= DUPLICATES_OF_LOSS;
                    meta.schedule.duplicates = duplicates;
                    meta.schedule.outstanding = outstanding;
                    bit<64> block = 0;
                    if (meta.sack.here) {
                        blocks.read(block, slot);
                        blocks.write(slot, meta.sack.begins ++ meta.sack.ends);
                    }
                    // What is new of a block that has grown begins where it ended; else the block is new.
                    bit<32> reaches = block[31:0] - meta.sack.begins;
                    bit<32> grown = meta.sack.ends - block[31:0];
                    meta.schedule.arrived = meta.sack.begins;
                    if (reaches != 0 && reaches[31:31] == 0 && grown[31:31] == 0) {
                        meta.schedule.arrived = block[31:0];
                    }
                    meta.schedule.length = meta.sack.ends - meta.schedule.arrived;
                    if (duplicates >= DUPLICATES_OF_LOSS && !hold_duplicates) {
                        meta.schedule.answer = ANSWER_LOST;
                        meta.schedule.arrived = acknowledged;
                        meta.schedule.length = 0;
                    } else if (once && meta.sack.here && meta.schedule.length != 0) {
                        meta.schedule.answer = ANSWER_SELECTIVE;
                    }
                }
            } else {
                meta.schedule.advance = advance;
                meta.schedule.arrived = first;
                meta.schedule.length = advance;
                advanced.write(slot, meta.arrived);
                meta.schedule.answer = ANSWER_CUMULATIVE;
                bit<32> since_hole = first - held;
                meta.schedule.holes = since_hole[31:31] == 1;
                if (!meta.schedule.holes) {
                    held = acknowledged;
                }
                answered.write(slot, acknowledged ++ held ++ 8w0);
                if (once) {
                    meta.schedule.answer = ANSWER_FILLED;
                    if (duplicates == 0) {
                        meta.schedule.answer = ANSWER_REGULAR;
                    }
                    resent.write(slot, acknowledged);
                }
                if (whole) {
                    sent.write(slot, next ++ acknowledged);
                }
            }
        }
    }
}

#endif
