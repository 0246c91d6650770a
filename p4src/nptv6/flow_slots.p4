// Which slot a flow has, and what is remembered in it: its provider, and how far it has come. A flow has one of two slots by a
// keyed hash, and keeps it against others as long as it has proven itself since its last packet:
//
//   heard      from outside alone                      not at all
//   answered   the inside said something               for 4 seconds
//   established the outside again                       as long as it has lived, 4 seconds at least and 300 at most;
//                                                      of a source with more than its share of the slots, for 4 seconds
//
// Its source is who began it: an address inside, or a /48 outside. A flow whose slot nobody wants stays for ever.

#ifndef WAYNAME_NPTV6_FLOW_SLOTS_P4
#define WAYNAME_NPTV6_FLOW_SLOTS_P4

#include "../common/ids.p4"
#include "../common/keyed_hash.p4"
#include "../common/sizes.p4"
#include "../common/types.p4"

// How far a flow has come.
const bit<4> FLOW_HEARD    = 1;             // from outside alone
const bit<4> FLOW_ANSWERED = 2;             // and the inside said something
const bit<4> FLOW_ESTABLISHED = 3;          // and the outside again
const bit<48> FLOW_ANSWER_TIME = 4000000;   // microseconds
const bit<48> FLOW_KEEP_TIME   = 300000000;

// How well a slot is held.
const bit<2> SLOT_FREE = 0;
const bit<2> SLOT_WEAK = 1;                 // by a flow that was quiet for longer than an answer takes: it may have lived for longer
const bit<2> SLOT_HELD = 2;

// How well a flow holds its slot, as far as its state says.
bit<2> hold_of_slot(in bit<48> last, in bit<4> stage, in bit<48> quiet) {
    bit<2> hold = SLOT_HELD;
    if (last == 0 || stage == FLOW_HEARD || quiet >= FLOW_KEEP_TIME || (stage == FLOW_ANSWERED && quiet >= FLOW_ANSWER_TIME)) {
        hold = SLOT_FREE;
    } else if (quiet >= FLOW_ANSWER_TIME) {
        hold = SLOT_WEAK;
    }
    return hold;
}

// A flow that is quiet keeps its slot for as long as it has lived; one of a source with many slots does not.
bit<2> hold_of_weak(in bit<48> quiet, in bit<48> lived, in bit<32> slots) {
    bit<2> hold = SLOT_HELD;
    if (quiet >= lived || slots > FLOWS_OF_SOURCE) {
        hold = SLOT_FREE;
    }
    return hold;
}

const bit<32> ONE_MORE = 1;
const bit<32> ONE_LESS = 0xFFFFFFFF;

// How many slots the source of a flow has; it gets one more or less.
control SlotsOfSource(in bit<128> key, in bit<296> flow, in bit<1> from_inside, in bit<32> more, out bit<32> count) {
    @id(FLOW_SOURCES_REGISTER_ID)
    @name("flow_sources")
    REGISTERS(bit<32>, bit<32>, FLOW_SOURCES, held);

    apply {
        bit<128> source = flow[167:120] ++ 80w0;
        if (from_inside == 1) {
            source = flow[295:168];
        }
        bit<64> hashed = slot_hash_of_address(key, source);
        bit<32> place = SLOT(hashed[31:0], FLOW_SOURCES);
        held.read(count, place);
        if (more == ONE_MORE || (more == ONE_LESS && count != 0)) {
            held.write(place, count + more);
        }
    }
}

// A flow, the slot that it has or may have, and what stands there.
struct flow_slot_t {
    bit<296> flow;              // local, remote, next header, ports
    bit<64> places;             // its hash
    bit<32> slot;
    bool has_slot;              // the flow has it
    bool free;                  // it may have it
    bool known;                 // how far it has come is known: by its slot, or from the controller
    bit<296> holder;            // whose it is
    bit<48> last;               // when the holder's last packet was; 0: it is nobody's
    bit<16> state;              // of the holder, as it is remembered
    bit<4> stage;               // FLOW_*
    bit<8> provider;
    bool translated;            // it goes under another address than the inside's
    bool told;                  // that it is held; of a host's own session, that it began
    bool reported;              // the controller knows that it is established
}

// Finds a flow's slot, or remembers the flow there: registers are of one control, so both are here.
control FlowSlots(in bit<128> key, in bit<48> now, in bool remember, in bool from_inside, inout flow_slot_t its) {
    SlotsOfSource() slots_of_source;

    @id(FLOW_HOLDERS_REGISTER_ID)
    @name("flow_holders")
    REGISTERS(bit<32>, bit<296>, FLOWS, holders);

    @id(FLOW_SEEN_REGISTER_ID)
    @name("flow_seen")
    REGISTERS(bit<32>, bit<48>, FLOWS, seen);

    // Was it reported, did it begin inside, was its event told, is it translated, how far it has come (4 bits), the provider.
    @id(FLOW_STATES_REGISTER_ID)
    @name("flow_states")
    REGISTERS(bit<32>, bit<16>, FLOWS, states);

    // When a flow got its slot.
    @id(FLOW_BEGAN_REGISTER_ID)
    @name("flow_began")
    REGISTERS(bit<32>, bit<48>, FLOWS, beginnings);

    apply {
        bit<32> count;
        if (!remember) {
            its.slot = SLOT(its.places[31:0], FLOWS);
            bit<2> hold = SLOT_FREE;
            bit<48> began;
            seen.read(its.last, its.slot);
            if (its.last != 0) {
                holders.read(its.holder, its.slot);
                states.read(its.state, its.slot);
                its.has_slot = its.holder == its.flow;
            }
            // A flow has its second slot only if the first one was another's.
            if (its.last != 0 && !its.has_slot) {
                hold = hold_of_slot(its.last, its.state[11:8], now - its.last);
                if (hold == SLOT_WEAK) {
                    beginnings.read(began, its.slot);
                    slots_of_source.apply(key, its.holder, its.state[14:14], 0, count);
                    hold = hold_of_weak(now - its.last, its.last - began, count);
                }
                bit<32> other_slot = SLOT(its.places[63:32], FLOWS);
                bit<296> other_holder;
                bit<48> other_last;
                holders.read(other_holder, other_slot);
                seen.read(other_last, other_slot);
                its.has_slot = other_last != 0 && other_holder == its.flow;
                if (its.has_slot || hold != SLOT_FREE) {
                    its.slot = other_slot;
                    its.holder = other_holder;
                    its.last = other_last;
                    states.read(its.state, other_slot);
                    hold = hold_of_slot(its.last, its.state[11:8], now - its.last);
                    if (!its.has_slot && hold == SLOT_WEAK) {
                        beginnings.read(began, its.slot);
                        slots_of_source.apply(key, its.holder, its.state[14:14], 0, count);
                        hold = hold_of_weak(now - its.last, its.last - began, count);
                    }
                }
            }
            its.free = hold == SLOT_FREE;
            its.provider = its.state[7:0];
            its.stage = its.state[11:8];
            its.known = its.has_slot;
            its.translated = its.known && its.state[12:12] == 1;
            its.told = its.known && its.state[13:13] == 1;
            // What was quiet for so long the controller may have forgotten.
            its.reported = its.known && its.state[15:15] == 1 && now - its.last < FLOW_KEEP_TIME;
        } else {
            bit<1> began_inside = its.state[14:14];
            bool was_counted = its.last != 0 && its.state[11:8] != FLOW_HEARD;
            bool is_counted = its.stage != FLOW_HEARD;
            if (was_counted && !(its.has_slot && is_counted)) {
                slots_of_source.apply(key, its.holder, began_inside, ONE_LESS, count);
            }
            if (!its.has_slot) {
                began_inside = 0;
                if (from_inside) {
                    began_inside = 1;
                }
                holders.write(its.slot, its.flow);
                beginnings.write(its.slot, now);
            }
            if (is_counted && !(its.has_slot && was_counted)) {
                slots_of_source.apply(key, its.flow, began_inside, ONE_MORE, count);
            }
            bit<1> translated = 0;
            bit<1> told = 0;
            bit<1> reported = 0;
            if (its.translated) {
                translated = 1;
            }
            if (its.told) {
                told = 1;
            }
            if (its.reported) {
                reported = 1;
            }
            seen.write(its.slot, now);
            states.write(its.slot, reported ++ began_inside ++ told ++ translated ++ its.stage ++ its.provider);
        }
    }
}

#endif
