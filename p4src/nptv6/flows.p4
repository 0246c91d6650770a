// By which provider a packet crosses the border of a site. A flow keeps the provider that it began by, in or out: its peer knows it
// by that provider's address.
//
//   a flow from inside begins      by the provider that serves its bucket now
//   a connection goes on           by the provider that is remembered of it, else by its bucket's home
//   a flow from outside begins     by the provider whose address it came to
//
// So what goes by its bucket's home needs no memory. All else has one of two slots by a keyed hash, and keeps it against others
// as long as it has proven itself since its last packet:
//
//   heard      from outside alone                      not at all
//   answered   the inside said something               for 4 seconds
//   established the outside again                       as long as it has lived, 4 seconds at least and 300 at most;
//                                                      of a source with more than its share of the slots, for 4 seconds
//
// Its source is who began it: an address inside, or a /48 outside. A flow whose slot nobody wants stays for ever.
// Pairs that a session may be made for are remembered too: a connection that began under another address stays out of it.

#ifndef WAYNAME_NPTV6_FLOWS_P4
#define WAYNAME_NPTV6_FLOWS_P4

#include "../common/ids.p4"
#include "../common/keyed_hash.p4"
#include "../common/metadata.p4"
#include "../common/packet_metadata.p4"
#include "../common/reasons.p4"
#include "../common/sizes.p4"
#include "../common/types.p4"
#include "../parsing/headers.p4"
#include "../sessions/metadata.p4"
#include "../sessions/shim6_headers.p4"
#include "../ilnp/headers.p4"
#include "metadata.p4"
#include "provider_choice.p4"
#include "sources.p4"

// What is remembered: the provider, how far it has come, and sums of the rest.
const bit<4> FLOW_HEARD    = 1;             // from outside alone
const bit<4> FLOW_ANSWERED = 2;             // and the inside said something
const bit<4> FLOW_ESTABLISHED = 3;          // and the outside again
const bit<48> FLOW_ANSWER_TIME = 4000000;   // microseconds
const bit<48> FLOW_KEEP_TIME   = 300000000;

// How well a slot is held.
const bit<2> SLOT_FREE = 0;
const bit<2> SLOT_WEAK = 1;                 // by a flow that was quiet for longer than an answer takes: it may have lived for longer
const bit<2> SLOT_HELD = 2;

const bit<8> TCP_FLAGS_OF_BEGIN = 0x12;     // SYN, ACK

// What tells a packet's flow apart. Parts of packets have no ports. An ICMPv6 error goes the way of the packet that it is about.
control FlowOfBorder(in headers_t hdr, inout border_t border, in flow_t flow, in icmpv6_t icmpv6, in bool fragmented,
                     out bool is_error, out bool of_tcp, out bool begins, out bit<32> hashed) {
    apply {
        is_error = hdr.message.isValid() && hdr.message.type >= ICMPV6_UNREACHABLE && hdr.message.type <= ICMPV6_PARAMETER_PROBLEM
            && hdr.quoted.isValid();
        of_tcp = false;
        begins = false;
        if (border.way == BORDER_OUT) {
            border.local = hdr.ipv6.source;
            border.remote = hdr.ipv6.destination;
            border.local_port = flow.source_port;
            border.remote_port = flow.destination_port;
        } else {
            border.local = border.inside;
            border.remote = hdr.ipv6.source;
            border.local_port = flow.destination_port;
            border.remote_port = flow.source_port;
        }
        border.next_header = flow.next_header;
        if (is_error) {
            border.next_header = icmpv6.quoted_next_header;
            if (border.way == BORDER_OUT) {
                border.local = hdr.quoted.destination;
                border.remote = hdr.quoted.source;
                if (border.next_header == NEXT_ICMPV6) {
                    border.local_port = icmpv6.quoted_upper_layer[31:16];
                } else if (border.next_header == NEXT_TCP || border.next_header == NEXT_UDP
                           || border.next_header == NEXT_SCTP || border.next_header == NEXT_DCCP
                           || border.next_header == NEXT_UDP_LITE) {
                    border.remote_port = icmpv6.quoted_upper_layer[63:48];
                    border.local_port = icmpv6.quoted_upper_layer[47:32];
                }
            }
        } else if (hdr.message.isValid() && !fragmented
                   && (hdr.message.type == ICMPV6_ECHO_REQUEST || hdr.message.type == ICMPV6_ECHO_REPLY)) {
            border.local_port = hdr.message.parameter[31:16];
        } else if (hdr.tcp.isValid() && !fragmented) {
            of_tcp = true;
            begins = hdr.tcp.start[23:16] & TCP_FLAGS_OF_BEGIN == TCP_SYN;
        }
        // What may come in parts goes one way as a whole: its ports have no part in the hash.
        hashed = 0;
        if (border.next_header == NEXT_TCP || border.next_header == NEXT_SCTP) {
            hashed = border.local_port ++ border.remote_port;
        }
    }
}

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

control BorderFlows(in headers_t hdr, inout metadata_t meta) {
    FlowOfBorder() flow_of_border;
    ProviderChoice() provider_choice;
    ProviderStates() provider_states;
    SlotsOfSource() slots_of_source;
    Nptv6Sources() nptv6_sources;

    @id(FLOW_HOLDERS_REGISTER_ID)
    @name("flow_holders")
    REGISTERS(bit<32>, bit<296>, FLOWS, holders);

    @id(FLOW_SEEN_REGISTER_ID)
    @name("flow_seen")
    REGISTERS(bit<32>, bit<48>, FLOWS, seen);

    @id(FLOW_STATES_REGISTER_ID)
    @name("flow_states")
    REGISTERS(bit<32>, bit<16>, FLOWS, states);

    // When a flow got its slot.
    @id(FLOW_BEGAN_REGISTER_ID)
    @name("flow_began")
    REGISTERS(bit<32>, bit<48>, FLOWS, beginnings);

    @id(FLOW_EVENTS_METER_ID)
    @name("flow_event_meter")
    @brief("Digests of flows whose provider failed, by provider.")
    METERS(bit<8>, PROVIDERS, events_meter);

    apply {
        bool is_error = false;
        bool of_tcp = false;
        bool begins = false;
        bit<32> hashed = 0;
        bit<8> home = 0;
        bit<8> current = 0;
        bit<32> slot = 0;
        bit<296> flow = 0;
        bool known = false;             // it holds its slot
        bool free = false;              // it may have it
        bit<296> holder = 0;
        bit<48> last = 0;
        bit<16> state = 0;
        bit<48> quiet = 0;
        bit<8> remembered_provider = 0;
        bit<4> stage = 0;
        bool translated = false;        // it goes under another address than the inside's
        bool told = false;              // that it is held; of a host's own session, that it began
        bool out_of_session = false;

        // A host that speaks for itself, and what its edge sends for it, has the addresses that it wants; unless it leaves
        // its locators to the border (RFC 6748): then its sessions go on under others, by any provider, at once.
        bool native = meta.ilnp.kind == NONCE_HERE
            && (meta.session.source_protocols | meta.session.destination_protocols) & PROTOCOL_HOSTS != 0;
        if ((meta.border.way == BORDER_OUT
             && (meta.shim6.kind != SHIM6_NONE || (meta.ilnp.kind != NONCE_NONE && !native)))
            || (meta.border.way == BORDER_IN && meta.session.number != 0)) {
            meta.border.way = BORDER_STAYS;
        }

        if (!meta.decided && (meta.border.way == BORDER_OUT || meta.border.way == BORDER_IN)) {
            flow_of_border.apply(hdr, meta.border, meta.flow, meta.icmpv6, meta.fragmented, is_error, of_tcp, begins, hashed);
            if (native) {
                of_tcp = false;
                // A peer whose edge speaks for it knows the host by one address from the session's first packet on, so what
                // begins side by side with the session goes the same way.
                hashed = 0;
                meta.flow_event.nonce_octets = meta.ilnp.octets;
            }
            bit<32> ports = meta.border.local_port ++ meta.border.remote_port;
            flow = meta.border.local ++ meta.border.remote ++ meta.border.next_header ++ ports;
            bit<64> places = slot_hash_of_flow(meta.keys.slots, meta.border.local, meta.border.remote,
                                               8w37 ++ 16w0 ++ meta.border.next_header ++ ports);
            slot = SLOT(places[31:0], FLOWS);
            bit<2> hold = SLOT_FREE;
            seen.read(last, slot);
            if (last != 0) {
                holders.read(holder, slot);
                states.read(state, slot);
                known = holder == flow;
            }
            // A flow has its second slot only if the first one was another's.
            if (last != 0 && !known) {
                bit<48> began;
                bit<32> count;
                hold = hold_of_slot(last, state[11:8], meta.arrived - last);
                if (hold == SLOT_WEAK) {
                    beginnings.read(began, slot);
                    slots_of_source.apply(meta.keys.slots, holder, state[14:14], 0, count);
                    hold = hold_of_weak(meta.arrived - last, last - began, count);
                }
                bit<32> other_slot = SLOT(places[63:32], FLOWS);
                bit<296> other_holder;
                bit<48> other_last;
                bit<16> other_state;
                holders.read(other_holder, other_slot);
                seen.read(other_last, other_slot);
                states.read(other_state, other_slot);
                known = other_last != 0 && other_holder == flow;
                if (known || hold != SLOT_FREE) {
                    slot = other_slot;
                    holder = other_holder;
                    last = other_last;
                    state = other_state;
                    hold = hold_of_slot(last, state[11:8], meta.arrived - last);
                    if (!known && hold == SLOT_WEAK) {
                        beginnings.read(began, slot);
                        slots_of_source.apply(meta.keys.slots, holder, state[14:14], 0, count);
                        hold = hold_of_weak(meta.arrived - last, last - began, count);
                    }
                }
            }
            free = hold == SLOT_FREE;
            quiet = meta.arrived - last;
            remembered_provider = state[7:0];
            stage = state[11:8];
            if (known) {
                translated = state[12:12] == 1;
                told = state[13:13] == 1;
            }
            out_of_session = known && translated && !begins && stage != FLOW_HEARD;
            if (meta.session.number != 0 && meta.border.way == BORDER_OUT) {
                if (out_of_session) {
                    meta.session.number = 0;
                } else {
                    meta.border.way = BORDER_STAYS;
                }
            }
        }

        if (!meta.decided && (meta.border.way == BORDER_OUT || meta.border.way == BORDER_IN)) {
            provider_choice.apply(meta.border, hashed, home, current);
        }

        if (!meta.decided && meta.border.way == BORDER_OUT) {
            bool goes_on = of_tcp && !begins;
            bool was_told = told;
            told = false;
            bit<8> by = current;
            if (known && !begins) {
                by = remembered_provider;
            } else if (goes_on) {
                by = home;
            }
            if (by != current) {
                bit<8> works;
                provider_states.apply(by, works);
                if (works != PROVIDER_WORKS) {
                    meta.flow_event.provider_from = by;
                    if (goes_on && works == PROVIDER_HELD) {
                        drop(meta, DROP_FLOW_HELD);
                        if (!was_told) {
                            meta.flow_event.kind = FLOW_EVENT_HELD;
                        }
                        told = true;
                    } else {
                        if (goes_on || known) {
                            meta.flow_event.kind = FLOW_EVENT_MOVED;
                            meta.flow_event.provider_to = current;
                        }
                        by = current;
                    }
                }
            }
            meta.border.provider = by;
            if (native && known) {
                told = was_told;
                if (!told && stage == FLOW_ESTABLISHED && meta.flow_event.kind == FLOW_EVENT_NONE) {
                    meta.flow_event.kind = FLOW_EVENT_BEGAN;
                    meta.flow_event.provider_from = by;
                    meta.flow_event.provider_to = by;
                    told = true;
                }
            }
            if (is_error) {
                meta.flow_event.kind = FLOW_EVENT_NONE;
            }
            if (meta.flow_event.kind != FLOW_EVENT_NONE) {
                colour_t colour;
                METER(events_meter, meta.flow_event.provider_from, colour);
                if (colour == COLOUR_RED) {
                    told = told && meta.flow_event.kind != FLOW_EVENT_BEGAN;    // with the next packet, then
                    meta.flow_event.kind = FLOW_EVENT_NONE;
                }
            }
        }

        if (!meta.decided && (meta.border.way == BORDER_OUT || meta.border.way == BORDER_HAIRPIN)) {
            if (meta.border.provider == 0) {
                drop_with_error(meta, DROP_NO_PROVIDER, ICMPV6_UNREACHABLE, UNREACHABLE_NO_ROUTE);
            } else {
                nptv6_sources.apply(meta);
            }
            translated = meta.border.source.wanted;
        }

        bit<8> provider = meta.border.provider;
        bool write = false;
        if (provider == 0 || is_error) {
            // Nothing to remember.
        } else if (meta.border.way == BORDER_OUT) {
            write = known || (free && (provider != home || (translated && meta.session.source_speaker == SPEAKER_EDGE)));
            if (!known || stage == FLOW_HEARD) {
                stage = FLOW_ANSWERED;
            }
        } else if (meta.border.way == BORDER_IN && !meta.decided) {
            bool elsewhere = provider != home || provider != current;
            write = known || (free && (elsewhere || (meta.border.destination.wanted && meta.session.destination_speaker == SPEAKER_EDGE)));
            if (known && provider == remembered_provider) {
                if (stage == FLOW_ANSWERED) {
                    stage = FLOW_ESTABLISHED;
                }
            } else if (known && stage == FLOW_ESTABLISHED && (quiet < FLOW_ANSWER_TIME || (of_tcp && !begins))) {
                provider = remembered_provider;       // nobody else moves it while it lives
            } else {
                stage = FLOW_HEARD;
                translated = meta.border.destination.wanted;
                told = false;
            }
            if (!write && elsewhere && !native) {
                drop(meta, DROP_FLOWS_FULL);    // its answer would leave under another address
            }
        }
        if (write) {
            bit<1> is_translated = 0;
            bit<1> is_told = 0;
            if (translated) {
                is_translated = 1;
            }
            if (told) {
                is_told = 1;
            }
            bit<1> from_inside = state[14:14];
            bool was_counted = last != 0 && state[11:8] != FLOW_HEARD;
            bool is_counted = stage != FLOW_HEARD;
            bit<32> count;
            if (was_counted && !(known && is_counted)) {
                slots_of_source.apply(meta.keys.slots, holder, from_inside, ONE_LESS, count);
            }
            if (!known) {
                from_inside = 0;
                if (meta.border.way == BORDER_OUT) {
                    from_inside = 1;
                }
                holders.write(slot, flow);
                beginnings.write(slot, meta.arrived);
            }
            if (is_counted && !(known && was_counted)) {
                slots_of_source.apply(meta.keys.slots, flow, from_inside, ONE_MORE, count);
            }
            seen.write(slot, meta.arrived);
            states.write(slot, 1w0 ++ from_inside ++ is_told ++ is_translated ++ stage ++ provider);
        }
    }
}

#endif
