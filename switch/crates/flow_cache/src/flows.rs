//! The table of ways.

use runtime::Writes;

use crate::admission::{Gate, Seen};
use crate::budget::Budget;
use crate::places::{At, Places};
use crate::reads::Reads;
use crate::shape::{Secret, Shape, Words};
use crate::{Kept, Key, Offer, Replay, WINDOW, Watched};

/// Shapes at most; each costs a look in the table where those before it find nothing.
const MOST_SHAPES: usize = 16;
/// A way is offered when so many packets took it, or would have, where few are looked up; again when twice as many did, and
/// so on; then once in so many.
const OFFERED_AFTER: u64 = 64;
const OFFERED_AGAIN: u64 = 4096;

/// How many ways are kept, and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// Ways at most, rounded up to a power of two.
    pub ways: usize,
    /// A flow's way is learned at its packet of this number, while each packet is looked up.
    pub after: u32,
    /// Look each packet up and learn every way, whatever that costs: for tests.
    pub always: bool,
    /// Offer ways that are taken often ([`Look::Known`]).
    pub offer: bool,
}

impl Settings {
    /// For so many ways.
    pub fn new(ways: usize) -> Self {
        Self { ways, after: 8, always: false, offer: false }
    }
}

/// What is known of a packet's way.
#[derive(Debug)]
pub enum Look<'f> {
    /// A way, and what there is to offer if it is taken often.
    Known(&'f Kept, Option<Box<Offer>>),
    /// Nothing, and it is to be learned.
    Learn,
    /// Nothing.
    Unknown,
}

/// What became of a way that was to be kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keeping {
    Kept,
    /// Something that its run read was written meanwhile.
    Void,
    /// There is no room for it, or it is none to keep.
    KeptOut,
}

/// Ways by their keys.
pub struct Flows {
    settings: Settings,
    secret: Secret,
    /// Of the key that is looked for.
    words: Words,
    /// With their numbers, those that find most first.
    shapes: Vec<(u32, Shape)>,
    next_shape: u32,
    places: Places,
    reads: Reads,
    gate: Gate,
    budget: Budget,
    seen: Seen,
}

impl Flows {
    pub fn new(settings: Settings) -> Self {
        Self {
            settings,
            secret: Secret::new(),
            words: Words::default(),
            shapes: Vec::new(),
            next_shape: 0,
            places: Places::new(settings.ways),
            reads: Reads::default(),
            gate: Gate::default(),
            budget: Budget::default(),
            seen: Seen::default(),
        }
    }

    /// Ways that are kept, but for those that were found void.
    pub fn ways(&self) -> usize {
        self.reads.ways()
    }

    /// Ways that became void since this was last asked. Which bits they looked at stays known.
    pub fn find_void(&mut self, writes: &Writes) -> u64 {
        self.reads.find_void(writes)
    }

    /// Packets took ways that were offered, without coming here.
    pub fn credit(&mut self, hits: u64) {
        self.budget.earn_elsewhere(hits);
    }

    /// Whether ways are learned more rarely, since those learned last brought less than they cost.
    pub fn is_backed_off(&self) -> bool {
        self.budget.is_backed_off()
    }

    /// Whether to look the next packet up.
    #[inline]
    pub fn opens(&mut self) -> bool {
        self.settings.always || self.gate.opens()
    }

    /// What is known of a packet's way, if it does not depend on what is written. `agree` says whether registers and the time
    /// are as a way asks.
    pub fn look(&mut self, port: u32, packet: &[u8], writes: &Writes, agree: impl FnMut(&Replay) -> bool) -> Look<'_> {
        let found = self.find(port, packet, writes, agree);
        if let Some(tally) = self.gate.looked(found.is_some()) {
            self.budget.earn(tally);
        }
        if let Some((order, at)) = found {
            let order = self.note_hit(order);
            self.places.note_taken(at);
            let offer = if self.settings.offer { self.offer(order, at, port, packet) } else { None };
            return Look::Known(self.places.at(at), offer);
        }
        if self.settings.always {
            return Look::Learn;
        }
        let flow = self.seen.flow(port, packet, self.secret.first());
        // Who is met twice by few looks sends many packets.
        let after = if self.gate.is_seldom() { self.settings.after.min(2) } else { self.settings.after };
        let learn = self.seen.is_often(flow, after) && self.budget.take_way();
        if learn { Look::Learn } else { Look::Unknown }
    }

    /// What there is to offer when so many packets take the way that stands there, found by this shape.
    fn offer(&mut self, order: usize, at: At, port: u32, packet: &[u8]) -> Option<Box<Offer>> {
        let kept = self.places.at(at);
        kept.taken += u64::from(self.gate.packets_a_look());
        // Others ask for what only the program's registers have.
        if kept.taken < kept.offered_at || !kept.replay.is_empty() {
            return None;
        }
        kept.offered_at = kept.taken + kept.taken.min(OFFERED_AGAIN);
        let (read, versions) = self.reads.of(kept.read);
        Some(Box::new(Offer {
            port,
            octets: packet[..packet.len().min(WINDOW)].to_vec(),
            key: self.shapes[order].1.key_of(&kept.ranges),
            way: kept.way(),
            read: read.into(),
            versions: versions.into(),
        }))
    }

    /// The shape by which the packet's way is found, and where it is, if it holds still.
    #[inline]
    fn find(
        &mut self,
        port: u32,
        packet: &[u8],
        writes: &Writes,
        mut agree: impl FnMut(&Replay) -> bool,
    ) -> Option<(usize, At)> {
        let mut agrees = |kept: &Kept| {
            let is_within = kept.ranges.iter().all(|range| range.holds(packet));
            is_within && (kept.replay.is_empty() || agree(&kept.replay))
        };
        for (order, (number, shape)) in self.shapes.iter().enumerate() {
            let Some(hash) = shape.key(port, packet, &self.secret, &mut self.words) else { continue };
            let (words, holds) = (&self.words[..shape.len()], |read| self.reads.holds(read, writes));
            if let Some(at) = self.places.find(hash, *number, words, holds, &mut agrees) {
                return Some((order, at));
            }
        }
        None
    }

    /// A shape that finds more than the one before it changes places with it; answers where it is then.
    #[inline]
    fn note_hit(&mut self, order: usize) -> usize {
        self.shapes[order].1.hits += 1;
        if order > 0 && self.shapes[order].1.hits > self.shapes[order - 1].1.hits {
            self.shapes.swap(order, order - 1);
            return order - 1;
        }
        order
    }

    /// Keeps the way of a packet, as it came in. Its run read objects; `versions` are those of all objects before it began.
    pub fn keep(&mut self, port: u32, packet: &[u8], watched: Watched, versions: &[u64], writes: &Writes) -> Keeping {
        // What void ways found together may be counted for others then.
        self.places.sweep(&self.reads);
        let Watched { key, way, read } = watched;
        let versions: Vec<_> = read.iter().map(|object| versions[*object as usize]).collect();
        let Some(order) = self.shape_of(&key) else { return self.keep_out(port, packet) };
        let mut words = Words::default();
        let (number, shape) = &mut self.shapes[order];
        let ranges = shape.shared(&key.ranges);
        let Some(hash) = shape.key(port, packet, &self.secret, &mut words) else { return Keeping::KeptOut };
        let words = &words[..shape.len()];
        let Some(at) = self.places.room(hash, *number, words, &self.reads) else { return self.keep_out(port, packet) };
        let Some(read) = self.reads.add(&read, &versions, writes) else { return Keeping::Void };
        let kept = Kept::new(*number, words, ranges, read, way, OFFERED_AFTER);
        if let Some(before) = self.places.put(at, hash, kept)
            && !self.reads.is_void(before.read)
        {
            self.reads.remove(before.read);
        }
        // A flow that is known makes room for others among those that were seen.
        self.see_anew(port, packet);
        Keeping::Kept
    }

    /// The way of a packet, as it came in, can't be kept.
    pub fn keep_out(&mut self, port: u32, packet: &[u8]) -> Keeping {
        let flow = self.seen.flow(port, packet, self.secret.first());
        self.seen.keep_out(flow);
        Keeping::KeptOut
    }

    /// The way of a packet can't be kept, but another one of its flow may be.
    pub fn leave_out(&mut self, port: u32, packet: &[u8]) -> Keeping {
        self.see_anew(port, packet);
        Keeping::KeptOut
    }

    /// Nothing is learned of the packet's flow until it was seen often enough once more: its next packets may take
    /// other ways, as registers or the time decide, or its way may be forgotten.
    fn see_anew(&mut self, port: u32, packet: &[u8]) {
        let flow = self.seen.flow(port, packet, self.secret.first());
        self.seen.begin_anew(flow);
    }

    /// The shape of a key among those that are known; it may be a new one.
    fn shape_of(&mut self, key: &Key) -> Option<usize> {
        if let Some(order) = self.shapes.iter().position(|(_, shape)| shape.is_of(key)) {
            return Some(order);
        }
        let shape = Shape::new(key)?;
        self.seen.learned(&shape);
        if self.shapes.len() == MOST_SHAPES {
            // Its ways are found no more, and others take their places.
            self.shapes.pop();
        }
        self.shapes.push((self.next_shape, shape));
        self.next_shape += 1;
        Some(self.shapes.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Edit, End, Octets, Way};
    use ir::{Handle, Program, Table, TableId};
    use runtime::Object;

    fn writes() -> Writes {
        let mut program = Program::default();
        (0..3).for_each(|_| {
            program.tables.push(Table::default());
        });
        Writes::new(&program)
    }

    /// Keeps a way that read the objects.
    fn keep_read(flows: &mut Flows, packet: &[u8], read: &[u32], writes: &Writes, way: Way) -> Keeping {
        let mut versions = vec![];
        writes.note(&mut versions);
        flows.keep(0, packet, Watched { key: key(0..4), way, read: read.into() }, &versions, writes)
    }

    /// Keeps a way that read nothing.
    fn keep(flows: &mut Flows, packet: &[u8], key: &Key, way: Way) -> Keeping {
        flows.keep(0, packet, Watched { key: key.clone(), way, read: [].into() }, &[], &writes())
    }

    const ALWAYS: Settings = Settings { ways: 64, after: 1, always: true, offer: false };

    fn key(octets: std::ops::Range<usize>) -> Key {
        let mut of = Octets::default();
        assert!(of.add_bits(8 * octets.start, 8 * octets.len()));
        Key { octets: of, at_least: octets.end.max(8), exact_length: false, ranges: vec![] }
    }

    fn way(port: u32) -> Way {
        Way {
            end: End::Sent(port),
            edit: Edit::default(),
            found: [].into(),
            together: Default::default(),
            counts: [].into(),
            replay: Replay::default(),
        }
    }

    fn known(flows: &mut Flows, packet: &[u8]) -> Option<u32> {
        known_after(flows, packet, &writes())
    }

    fn known_after(flows: &mut Flows, packet: &[u8], writes: &Writes) -> Option<u32> {
        match flows.look(0, packet, writes, |_| true) {
            Look::Known(Kept { end: End::Sent(port), .. }, _) => Some(*port),
            _ => None,
        }
    }

    #[test]
    fn a_way_is_found_by_what_its_run_looked_at() {
        let mut flows = Flows::new(ALWAYS);
        keep(&mut flows, &[1; 20], &key(0..4), way(1));
        keep(&mut flows, &[2; 20], &key(2..12), way(2));
        let mut packet = [1; 20];
        packet[4..].fill(9);
        assert_eq!(known(&mut flows, &packet), Some(1));
        packet[2..12].fill(2);
        assert_eq!(known(&mut flows, &packet), Some(2));
        packet[11] = 3;
        assert_eq!(known(&mut flows, &packet), None);
        assert_eq!(known(&mut flows, &[1; 7]), None);
    }

    #[test]
    fn a_way_holds_until_something_is_written_that_it_read() {
        let (mut flows, writes) = (Flows::new(ALWAYS), writes());
        let write = |table: usize| drop(writes.begin(Object::Table(TableId::new(table))));
        for (who, read) in [(1, &[0, 2][..]), (2, &[2]), (3, &[0, 2])] {
            assert_eq!(keep_read(&mut flows, &[who; 8], read, &writes, way(who.into())), Keeping::Kept);
        }
        write(1);
        assert_eq!([1, 2, 3].map(|who| known_after(&mut flows, &[who; 8], &writes)), [1, 2, 3].map(Some));
        write(0);
        assert_eq!((flows.find_void(&writes), flows.ways()), (2, 1), "before a packet asks");
        assert_eq!([1, 2, 3].map(|who| known_after(&mut flows, &[who; 8], &writes)), [None, Some(2), None]);
        assert_eq!(flows.find_void(&writes), 0, "they were counted");
        assert_eq!(keep_read(&mut flows, &[1; 8], &[0, 2], &writes, way(9)), Keeping::Kept);
        assert_eq!([1, 2, 3].map(|who| known_after(&mut flows, &[who; 8], &writes)), [Some(9), Some(2), None]);
        let under_way = writes.begin(Object::Table(TableId::new(2)));
        assert_eq!([1, 2].map(|who| known_after(&mut flows, &[who; 8], &writes)), [None; 2]);
        assert_eq!(keep_read(&mut flows, &[1; 8], &[2], &writes, way(1)), Keeping::Void);
        drop(under_way);
        assert_eq!((known_after(&mut flows, &[1; 8], &writes), flows.ways()), (None, 0));
    }

    #[test]
    fn a_way_is_offered_when_many_packets_took_it_and_ever_more_rarely() {
        let (mut flows, writes) = (Flows::new(Settings { offer: true, ..ALWAYS }), writes());
        drop(writes.begin(Object::Table(TableId::new(1))));
        assert_eq!(keep_read(&mut flows, &[7; 300], &[0, 1], &writes, way(3)), Keeping::Kept);
        let offers: Vec<u32> = (1..=13_000)
            .filter(|_| match flows.look(0, &[7; 300], &writes, |_| true) {
                Look::Known(_, Some(offer)) => {
                    let (read, versions) = (&*offer.read, &*offer.versions);
                    assert_eq!((offer.way, offer.key, read, versions), (way(3), key(0..4), &[0, 1][..], &[0, 2][..]));
                    assert_eq!((offer.port, offer.octets), (0, vec![7; WINDOW]));
                    true
                }
                Look::Known(_, None) => false,
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(offers, [64, 128, 256, 512, 1024, 2048, 4096, 8192, 12_288]);
    }

    #[test]
    fn ways_that_read_something_else_each_make_room_for_others() {
        let mut program = Program::default();
        (0..100).for_each(|_| {
            program.tables.push(Table::default());
        });
        let (mut flows, writes) = (Flows::new(Settings { ways: 1024, ..ALWAYS }), Writes::new(&program));
        for who in 0..100 {
            assert_eq!(keep_read(&mut flows, &[who; 8], &[who.into()], &writes, way(who.into())), Keeping::Kept);
        }
        let found = (0..100).filter(|who| known_after(&mut flows, &[*who; 8], &writes) == Some((*who).into())).count();
        assert_eq!((found, flows.ways()), (64, 64));
    }

    #[test]
    fn no_more_ways_are_kept_than_there_is_room_for() {
        let mut flows = Flows::new(ALWAYS);
        for number in 0..1000u16 {
            if number == 500 {
                (0..500u16).for_each(|number| {
                    known(&mut flows, &[[0; 6].as_slice(), &number.to_be_bytes()].concat());
                });
            }
            keep(&mut flows, &[[0; 6].as_slice(), &number.to_be_bytes()].concat(), &key(4..8), way(number.into()));
        }
        assert_eq!(flows.ways(), 64);
        let found: Vec<_> = (0..1000u16)
            .filter(|number| {
                let found = known(&mut flows, &[[0; 6].as_slice(), &number.to_be_bytes()].concat());
                assert!(found.is_none_or(|port| port == u32::from(*number)));
                found.is_some()
            })
            .collect();
        assert_eq!(found.len(), 64);
        assert!(found.iter().any(|number| *number >= 500), "what is not taken makes room");
    }

    #[test]
    fn nearly_as_many_ways_find_room_as_there_is() {
        let mut flows = Flows::new(Settings { ways: 4096, ..ALWAYS });
        let packet = |number: u16| [[0; 6].as_slice(), &number.to_be_bytes()].concat();
        let numbers = 0..3480;
        for number in numbers.clone() {
            assert_eq!(keep(&mut flows, &packet(number), &key(4..8), way(number.into())), Keeping::Kept);
        }
        let lost = numbers.filter(|number| known(&mut flows, &packet(*number)) != Some((*number).into())).count();
        assert!(lost <= 5, "{lost} of 3480 were driven out, by no more than 4096");
    }

    #[test]
    fn flows_that_come_in_turn_are_learned_beside_those_that_are_known() {
        let mut flows = Flows::new(Settings::new(64));
        keep(&mut flows, &[0xff; 20], &key(0..4), way(1));
        // Those that are seen in one place.
        let packet = |number: u32| [number.to_be_bytes().as_slice(), &[0; 16]].concat();
        let place = |flows: &Flows, packet: &[u8]| flows.seen.flow(0, packet, flows.secret.first()) % 4096;
        let first = place(&flows, &packet(0));
        let together: Vec<_> = (0..).map(packet).filter(|packet| place(&flows, packet) == first).take(6).collect();
        let learns =
            |flows: &mut Flows, packet: &[u8]| matches!(flows.look(0, packet, &writes(), |_| true), Look::Learn);
        for (number, packet) in (2..).zip(&together[..4]) {
            assert!((0..100).any(|_| learns(&mut flows, packet)), "way {number}");
            keep(&mut flows, packet, &key(0..4), way(number));
        }
        assert!((0..100).any(|_| together[4..].iter().fold(false, |any, packet| any | learns(&mut flows, packet))));
    }

    #[test]
    fn no_more_shapes_are_looked_at_than_are_worth_it() {
        let mut flows = Flows::new(ALWAYS);
        for octet in 0..20 {
            let mut packet = [0; 20];
            packet[octet] = 1;
            keep(&mut flows, &packet, &key(octet..octet + 1), way(octet as u32));
        }
        assert_eq!(flows.shapes.len(), MOST_SHAPES);
        let mut packet = [0; 20];
        packet[19] = 1;
        assert_eq!(known(&mut flows, &packet), Some(19));
        let (_, first) = &flows.shapes[MOST_SHAPES - 2];
        assert_eq!(first.hits, 1, "it is looked at before others now");
    }

    #[test]
    fn a_way_is_learned_at_the_packet_of_the_given_number() {
        let mut flows = Flows::new(Settings { ways: 64, after: 3, ..Settings::new(64) });
        keep(&mut flows, &[9; 20], &key(0..4), way(1));
        let learns = |flows: &mut Flows| matches!(flows.look(0, &[1; 20], &writes(), |_| true), Look::Learn);
        assert_eq!([0; 3].map(|_| learns(&mut flows)), [false, false, true]);
        flows.keep_out(0, &[1; 20]);
        assert!(!learns(&mut flows));
    }
}
