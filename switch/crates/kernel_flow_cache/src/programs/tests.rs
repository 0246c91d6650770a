//! The filter beside what it is made of: random patterns and packets, on a Unix socket in place of a port's.

use std::os::unix::net::UnixDatagram;

use fastrand::Rng;
use flow_cache::{Key, Number, Octets};
use ports::bpf::{Kind, Program};

use super::*;
use crate::memory::Pause;

/// What a packet by no interface has for one.
const NO_INTERFACE: u32 = 0;
const LONGEST: usize = 200;

/// A socket behind the filter, and who sends to it.
struct Filtered {
    sender: UnixDatagram,
    receiver: UnixDatagram,
    memory: Memory,
    map: Map,
    pattern: Pattern,
}

impl Filtered {
    fn new(pattern: Pattern) -> Self {
        let memory = Memory::new(4).unwrap();
        memory.resume(Pause::Program);
        let map = Map::hash(pattern.key_len() as u32, FOUND as u32, 4).unwrap();
        let program = Program::load(Kind::SocketFilter, "test", &filter(&[(&pattern, &map)], &memory)).unwrap();
        let (sender, receiver) = UnixDatagram::pair().unwrap();
        receiver.set_nonblocking(true).unwrap();
        program.filter(&receiver).unwrap();
        Self { sender, receiver, memory, map, pattern }
    }

    /// Keeps the way of a packet, which is to be that of others.
    fn keep(&self, packet: &[u8], era: u64) {
        let key = self.pattern.key(packet, NO_INTERFACE);
        self.map.put(&key, &found(1, 3, era, LONGEST)).unwrap();
    }

    /// Whether the socket gets a packet, which is the whole then.
    fn passes(&self, packet: &[u8]) -> bool {
        // A filter that takes nothing is no error for who sends.
        self.sender.send(packet).unwrap();
        let mut received = vec![0; packet.len() + 1];
        match self.receiver.recv(&mut received) {
            Ok(len) => {
                assert_eq!(&received[..len], packet);
                true
            }
            Err(_) => false,
        }
    }
}

fn may_load() -> bool {
    let may = rustix::process::geteuid().is_root();
    if !may {
        println!("skipped: needs root");
    }
    may
}

fn random_key(numbers: &mut Rng) -> Key {
    let mut octets = Octets::default();
    for _ in 0..numbers.usize(1..4) {
        octets.add_bits(numbers.usize(..8 * 60), numbers.usize(1..40));
    }
    let looked_at = octets.masks().iter().rposition(|mask| *mask != 0).unwrap() + 1;
    let at_least = looked_at.max(8) + numbers.usize(..4);
    let mut range = || {
        let width = numbers.u32(1..=32);
        let first = numbers.usize(..=8 * at_least - width as usize);
        let less = numbers.bool().then_some(Number { first, width });
        let of_length = less.is_none() || numbers.bool();
        let middle = numbers.i64(-200..200);
        let bounds = [middle - numbers.i64(..120), middle + numbers.i64(..120)];
        let [least, most] = *numbers.choice([bounds, [i64::MIN, bounds[1]], [bounds[0], i64::MAX]].iter()).unwrap();
        Range { of_length, less, least, most }
    };
    let ranges = (0..2).map(|_| range()).collect::<Vec<_>>();
    Key { octets, at_least, exact_length: false, ranges: ranges[..numbers.usize(..=2)].to_vec() }
}

#[test]
fn a_filter_keeps_from_its_socket_what_has_a_way() {
    if !may_load() {
        return;
    }
    let seed = fastrand::u64(..);
    let mut numbers = Rng::with_seed(seed);
    let (mut kept, mut passed) = (0, 0);
    for _ in 0..100 {
        let key = random_key(&mut numbers);
        let Some(pattern) = Pattern::of(&key) else { continue };
        let filtered = Filtered::new(pattern);
        let first: Vec<u8> = (0..200).map(|_| numbers.u8(..)).collect();
        assert!(filtered.passes(&first), "seed {seed}: nothing is known yet");
        filtered.keep(&first, 0);
        for _ in 0..30 {
            let mut packet = first.clone();
            // Often of the same way: what differs is mostly what nobody looks at.
            for _ in 0..numbers.usize(..3) {
                let (at, octet) = (numbers.usize(..packet.len()), numbers.u8(..));
                packet[at] ^= octet & if numbers.bool() { !key.octets.masks()[at] } else { 0xff };
            }
            packet.truncate(if numbers.bool() { 200 } else { numbers.usize(1..200) });
            let same = |(at, octet): (usize, &u8)| (octet ^ first[at]) & key.octets.masks()[at] == 0;
            let has_way = packet.len() >= key.at_least
                && packet.iter().enumerate().all(same)
                && key.ranges.iter().all(|range| range.holds(&packet));
            assert_eq!(filtered.passes(&packet), !has_way, "seed {seed}: {key:?}, {first:?}, {packet:?}");
            *if has_way { &mut kept } else { &mut passed } += 1;
        }
    }
    assert!(kept > 100 && passed > 100, "{kept} were kept, {passed} passed");
}

#[test]
fn a_way_of_another_era_is_none_nor_is_any_while_they_are_paused() {
    if !may_load() {
        return;
    }
    let mut octets = Octets::default();
    assert!(octets.add_bits(0, 64));
    let filtered =
        Filtered::new(Pattern::of(&Key { octets, at_least: 8, exact_length: false, ranges: vec![] }).unwrap());
    let packet = [7; 100];
    filtered.keep(&packet, 0);
    assert!(!filtered.passes(&packet));
    filtered.memory.pause(Pause::Watched);
    filtered.memory.pause(Pause::Cut);
    filtered.memory.resume(Pause::Watched);
    assert!(filtered.passes(&packet));
    filtered.memory.resume(Pause::Cut);
    assert!(!filtered.passes(&packet));
    filtered.memory.end_eras(1 << 2 | 1 << 4);
    assert!(!filtered.passes(&packet), "others' era ended");
    filtered.memory.end_eras(1 << 3);
    assert!(filtered.passes(&packet));
    filtered.keep(&packet, 1);
    assert!(!filtered.passes(&packet));
    assert!(filtered.passes(&[7; LONGEST + 1]), "it is too long for where it would go");
}
