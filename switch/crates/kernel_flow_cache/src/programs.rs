//! The programs: a filter on the packet socket of each port, and one at TC ingress of its interface.
//!
//! A packet socket sees a packet before TC does. So its filter decides: it looks the packet's way up, keeps the packet
//! from the socket if there is one, and leaves the way's place in memory of this processor. The program at TC comes right
//! behind it with the same packet, on the same processor: it takes what was decided, changes the packet, counts it and
//! sends it out.

use flow_cache::Range;
use ports::bpf::Alu::{Add, And, Div, Move, Mul, Or, ShiftLeft, ShiftRight, Sub};
use ports::bpf::Compare::{Equal, Greater, Less, LessOrEqual, NotEqual};
use ports::bpf::Reg::{R0, R1, R2, R3, R4, R5, R6, R7, R8, R9, R10};
use ports::bpf::Size::{Eight, Four, One, Two};
use ports::bpf::{Code, Instruction, Label, Map};

use crate::memory::{
    DECIDED, EDIT, EDITS, ERAS, FIRST_EDIT, KEEP, LENGTH, Memory, OCTETS, OUT, PAUSED, REACH, SET, WHICH,
};
use crate::pattern::{Pattern, is_payload_length};

// Helpers of linux/bpf.h.
const MAP_LOOKUP_ELEM: i32 = 1;
const GET_SMP_PROCESSOR_ID: i32 = 8;
const REDIRECT: i32 = 23;
const SKB_LOAD_BYTES: i32 = 26;
const SKB_PULL_DATA: i32 = 39;

// Offsets in `struct __sk_buff`.
const LEN: i16 = 0;
const VLAN_PRESENT: i16 = 20;
const IFINDEX: i16 = 40;
const DATA: i16 = 76;
const DATA_END: i16 = 80;
const GSO_SIZE: i16 = 176;

/// The next program, and then the kernel, has the packet: also where the way ends with it dropped. The switch drops what it
/// sees; the machine's own connections may come by the same interface.
const TC_NEXT: i32 = -1;
/// The socket gets the whole packet; with 0, nothing of it.
const WHOLE: i32 = -1;

// Offsets in what a pattern's map has for a key.
const PLACE: i16 = 0;
const OF_SET: i16 = 4;
const ERA: i16 = 8;
const LONGEST: i16 = 16;
/// Octets of that.
pub const FOUND: usize = 24;

/// In what was decided: the way's place and one more in the low half, the octets of a segment's headers above.
const HEADERS: i32 = 32;

/// On the stack, below the frame pointer: a number of a map's element, and a key.
const INDEX: i16 = -8;

const TCP: i32 = 6;
const IPV4: i32 = 0x0800;
const IPV6: i32 = 0x86dd;
const ETHERNET_END: i32 = 14;
const IPV6_END: i32 = 54;

/// What a pattern's map has for a key.
pub fn found(place: usize, set: usize, era: u64, longest: usize) -> [u8; FOUND] {
    let mut found = [0; FOUND];
    let mut put = |at: i16, octets: &[u8]| found[at as usize..][..octets.len()].copy_from_slice(octets);
    put(PLACE, &(place as u32).to_ne_bytes());
    put(OF_SET, &(set as u32).to_ne_bytes());
    put(ERA, &era.to_ne_bytes());
    put(LONGEST, &(longest as u32).to_ne_bytes());
    found
}

/// The filter: R6 is the packet, R7 this processor's scratch memory, R8 the packet's length. R9 is nothing, or if the packet
/// is not segmented yet (GSO), the octets of the headers that each segment will have.
pub fn filter(patterns: &[(&Pattern, &Map)], memory: &Memory) -> Vec<Instruction> {
    let mut code = Code::new();
    let (whole, none) = (code.label(), code.label());
    code.alu(Move, R6, R1);
    scratch(&mut code, memory, whole);
    code.store(Eight, R7, DECIDED, 0);
    code.map_value(R1, &memory.state, PAUSED);
    code.load(Eight, R1, R1, 0);
    code.jump_if(R1, NotEqual, 0, whole);
    // The tag is not among the octets.
    code.load(Four, R1, R6, VLAN_PRESENT);
    code.jump_if(R1, NotEqual, 0, whole);
    let segmented = code.label();
    code.alu(Move, R9, 0);
    code.load(Four, R1, R6, GSO_SIZE);
    code.jump_if(R1, Equal, 0, segmented);
    headers_of_segments(&mut code, whole);
    code.place(segmented);
    code.load(Four, R8, R6, LEN);
    for (pattern, map) in patterns {
        let next = code.label();
        look_up(&mut code, pattern, map, memory, whole, next);
        decide(&mut code, whole, none);
        code.place(next);
    }
    code.place(whole);
    code.alu(Move, R0, WHOLE);
    code.exit();
    // The kernel takes no program with a part that nothing leads to.
    if !patterns.is_empty() {
        code.place(none);
        code.alu(Move, R0, 0);
        code.exit();
    }
    code.finish()
}

/// R7 is this processor's scratch memory.
fn scratch(code: &mut Code, memory: &Memory, missing: Label) {
    code.alu(Move, R1, 0);
    code.store(Four, R10, INDEX, R1);
    element(code, &memory.scratch, missing);
    code.alu(Move, R7, R0);
}

/// R0 is the element of a map whose number stands on the stack.
fn element(code: &mut Code, map: &Map, missing: Label) {
    code.map(R1, map);
    code.alu(Move, R2, R10);
    code.alu(Add, R2, i32::from(INDEX));
    code.call(MAP_LOOKUP_ELEM);
    code.jump_if(R0, Equal, 0, missing);
}

/// R0 is what the pattern's map has for the packet, if its ways hold.
fn look_up(code: &mut Code, pattern: &Pattern, map: &Map, memory: &Memory, whole: Label, next: Label) {
    let (first, end) = pattern.span();
    let long_enough = code.label();
    code.jump_if(R8, Less, pattern.at_least as i32, next);
    code.jump_if(R9, Equal, 0, long_enough);
    code.jump_if(R9, Less, pattern.at_least as i32, next);
    code.place(long_enough);
    load_octets(code, first as i32, (end - first) as i32, whole);
    let at = |octet: usize| OCTETS + (octet - first) as i16;
    for range in &pattern.ranges {
        compare(code, pattern, range, &at, next);
    }
    let key = INDEX - pattern.key_len() as i16;
    for (number, word) in pattern.words.iter().enumerate() {
        code.load(Eight, R1, R7, at(word.at));
        if word.mask != [0xff; 8] {
            code.number(R2, u64::from_ne_bytes(word.mask));
            code.alu(And, R1, R2);
        }
        code.store(Eight, R10, key + 8 * number as i16, R1);
    }
    code.load(Four, R1, R6, IFINDEX);
    code.store(Eight, R10, INDEX - 8, R1);
    code.map(R1, map);
    code.alu(Move, R2, R10);
    code.alu(Add, R2, i32::from(key));
    code.call(MAP_LOOKUP_ELEM);
    code.jump_if(R0, Equal, 0, next);
    // Something was written since that its run had read: the switch knows better.
    code.load(Four, R1, R0, OF_SET);
    code.alu(And, R1, crate::memory::SETS as i32 - 1);
    code.alu(ShiftLeft, R1, 3);
    code.map_value(R2, &memory.state, ERAS);
    code.alu(Add, R2, R1);
    code.load(Eight, R1, R2, 0);
    code.load(Eight, R2, R0, ERA);
    code.jump_if(R1, NotEqual, R2, whole);
}

/// Copies octets of the packet to this processor's memory.
fn load_octets(code: &mut Code, first: i32, len: i32, failed: Label) {
    code.alu(Move, R2, first);
    code.alu(Move, R4, len);
    load_octets_at(code, failed);
}

/// The same from R2 on, as many as R4 says.
fn load_octets_at(code: &mut Code, failed: Label) {
    code.alu(Move, R1, R6);
    code.alu(Move, R3, R7);
    code.alu(Add, R3, i32::from(OCTETS));
    code.call(SKB_LOAD_BYTES);
    code.jump_if(R0, NotEqual, 0, failed);
}

/// Goes to `other` with a packet that is not within the range.
fn compare(code: &mut Code, pattern: &Pattern, range: &Range, at: &dyn Fn(usize) -> i16, other: Label) {
    code.alu(Move, R2, 0);
    if let Some(number) = range.less {
        let start = pattern.number_at(number.first);
        code.load(Eight, R2, R7, at(start));
        code.swap_octets(R2, Eight);
        code.alu(ShiftLeft, R2, (number.first - 8 * start) as i32);
        code.alu(ShiftRight, R2, 64 - number.width as i32);
        if !range.of_length && is_payload_length(number) {
            // Of segments it is between these two.
            let segmented = code.label();
            code.jump_if(R9, Equal, 0, segmented);
            code.load(Four, R2, R6, GSO_SIZE);
            code.alu(Add, R2, R9);
            code.alu(Sub, R2, IPV6_END);
            within(code, range, other);
            code.alu(Move, R2, R9);
            code.alu(Sub, R2, IPV6_END - 1);
            code.place(segmented);
        }
    }
    within(code, range, other);
}

/// Goes to `other` if the number in R2 lets the packet not be within the range.
fn within(code: &mut Code, range: &Range, other: Label) {
    // Lengths and numbers have 32 bits: what is beyond is all the same. What is below the least becomes a large number.
    let [least, most] = [range.least, range.most].map(|bound| bound.clamp(-(1 << 33), 1 << 33));
    if range.of_length {
        code.alu(Move, R1, R8);
    } else {
        code.alu(Move, R1, 0);
    }
    code.alu(Sub, R1, R2);
    code.number(R3, least as u64);
    code.alu(Sub, R1, R3);
    code.number(R3, (most - least) as u64);
    code.jump_if(R1, Greater, R3, other);
}

/// Keeps the packet from the socket, or lets it through if it is too long for where it goes. R0 is what was found.
fn decide(code: &mut Code, whole: Label, none: Label) {
    let segmented = code.label();
    code.load(Four, R1, R0, PLACE);
    code.alu(Add, R1, 1);
    code.load(Four, R2, R0, LONGEST);
    code.jump_if(R9, Equal, 0, segmented);
    code.load(Four, R8, R6, GSO_SIZE);
    code.alu(Add, R8, R9);
    code.alu(ShiftLeft, R9, HEADERS);
    code.alu(Or, R1, R9);
    code.place(segmented);
    code.jump_if(R8, Greater, R2, whole);
    code.store(Eight, R7, DECIDED, R1);
    code.load(Four, R1, R6, LEN);
    code.store(Eight, R7, LENGTH, R1);
    code.jump(none);
}

/// R9 becomes the octets of the headers that each segment of the packet will have, of which TCP's is the last. What is UDP
/// may be a tunnel, whose segments have more of them.
fn headers_of_segments(code: &mut Code, whole: Label) {
    let (ipv6, transport) = (code.label(), code.label());
    let at = |octet: i32| OCTETS + (octet - 12) as i16;
    // To the protocol of either.
    load_octets(code, 12, 12, whole);
    code.load(Two, R1, R7, at(12));
    code.swap_octets(R1, Two);
    code.jump_if(R1, Equal, IPV6, ipv6);
    code.jump_if(R1, NotEqual, IPV4, whole);
    code.load(One, R9, R7, at(ETHERNET_END));
    code.alu(And, R9, 0xf);
    code.alu(ShiftLeft, R9, 2);
    code.alu(Add, R9, ETHERNET_END);
    code.load(One, R1, R7, at(ETHERNET_END + 9));
    code.jump(transport);
    code.place(ipv6);
    code.alu(Move, R9, IPV6_END);
    code.load(One, R1, R7, at(ETHERNET_END + 6));

    code.place(transport);
    code.jump_if(R1, NotEqual, TCP, whole);
    code.alu(Move, R2, R9);
    code.alu(Add, R2, 12);
    code.alu(Move, R4, 1);
    load_octets_at(code, whole);
    code.load(One, R1, R7, OCTETS);
    code.alu(ShiftRight, R1, 4);
    code.alu(ShiftLeft, R1, 2);
    code.alu(Add, R9, R1);
}

/// The program at TC: R6 is the packet, R7 its way, R8 what was decided, R9 the way's place.
pub fn forward(memory: &Memory) -> Vec<Instruction> {
    let mut code = Code::new();
    let (next, lost, near) = (code.label(), code.label(), code.label());
    code.alu(Move, R6, R1);
    scratch(&mut code, memory, next);
    code.load(Eight, R8, R7, DECIDED);
    code.jump_if(R8, Equal, 0, next);
    code.store(Eight, R7, DECIDED, 0);
    // It was for another packet, which has not come here, if this one comes by no socket.
    code.load(Eight, R1, R7, LENGTH);
    code.load(Four, R2, R6, LEN);
    code.jump_if(R1, NotEqual, R2, next);
    code.alu(Move, R9, R8);
    code.alu(ShiftLeft, R9, 32);
    code.alu(ShiftRight, R9, 32);
    code.alu(Sub, R9, 1);
    code.alu(ShiftRight, R8, HEADERS);
    code.store(Four, R10, INDEX, R9);
    element(&mut code, &memory.ways, lost);
    code.alu(Move, R7, R0);

    // What changes must be in the packet's first part, and its own.
    code.load(Four, R3, R6, DATA);
    code.load(Four, R4, R6, DATA_END);
    code.alu(Move, R1, R3);
    code.alu(Add, R1, (EDITS[EDITS.len() - 1] + 8) as i32);
    code.jump_if(R1, LessOrEqual, R4, near);
    code.alu(Move, R1, R6);
    code.load(Four, R2, R7, REACH);
    code.call(SKB_PULL_DATA);
    code.jump_if(R0, NotEqual, 0, lost);
    code.load(Four, R3, R6, DATA);
    code.load(Four, R4, R6, DATA_END);
    code.place(near);
    code.load(Four, R5, R7, WHICH);
    for (number, at) in EDITS.into_iter().enumerate() {
        edit(&mut code, number, at as i16, lost);
    }
    count(&mut code, memory, next);
    code.load(Four, R1, R7, OUT);
    code.jump_if(R1, Equal, 0, next);
    code.alu(Move, R2, 0);
    code.call(REDIRECT);
    code.exit();

    code.place(lost);
    code.alu(Move, R9, memory.places() as i32);
    count(&mut code, memory, next);
    code.place(next);
    code.alu(Move, R0, TC_NEXT);
    code.exit();
    code.finish()
}

/// Changes eight octets of the packet, which is from R3 to R4, if R5 says so.
fn edit(code: &mut Code, number: usize, at: i16, lost: Label) {
    let none = code.label();
    code.alu(Move, R1, R5);
    code.alu(And, R1, 1 << number);
    code.jump_if(R1, Equal, 0, none);
    code.alu(Move, R1, R3);
    code.alu(Add, R1, i32::from(at) + 8);
    code.jump_if(R1, Greater, R4, lost);
    let edit = FIRST_EDIT + number as i16 * EDIT;
    code.load(Eight, R1, R3, at);
    code.load(Eight, R2, R7, edit + KEEP);
    code.alu(And, R1, R2);
    code.load(Eight, R2, R7, edit + SET);
    code.alu(Or, R1, R2);
    code.store(Eight, R3, at, R1);
    code.place(none);
}

/// Counts the packet in the place of R9: as many as its segments are, with their headers.
fn count(code: &mut Code, memory: &Memory, missing: Label) {
    let one = code.label();
    code.call(GET_SMP_PROCESSOR_ID);
    code.alu(Mul, R0, memory.places() as i32 + 1);
    code.alu(Add, R0, R9);
    code.store(Four, R10, INDEX, R0);
    element(code, &memory.counts, missing);
    code.alu(Move, R2, 1);
    code.load(Four, R3, R6, LEN);
    code.load(Four, R1, R6, GSO_SIZE);
    code.jump_if(R1, Equal, 0, one);
    // Where another process gave the kernel the packet, its number of segments is not known yet.
    code.alu(Move, R2, R3);
    code.alu(Sub, R2, R8);
    code.alu(Add, R2, R1);
    code.alu(Sub, R2, 1);
    code.alu(Div, R2, R1);
    code.alu(Move, R1, R2);
    code.alu(Sub, R1, 1);
    code.alu(Mul, R1, R8);
    code.alu(Add, R3, R1);
    code.place(one);
    code.load(Eight, R1, R0, 0);
    code.alu(Add, R1, R2);
    code.store(Eight, R0, 0, R1);
    code.load(Eight, R1, R0, 8);
    code.alu(Add, R1, R3);
    code.store(Eight, R0, 8, R1);
}

#[cfg(test)]
mod tests;
