//! Packet buffers: copies that a program keeps for a time, by queue and number.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::PoisonError;
use std::sync::atomic::Ordering::Relaxed;

use ir::FieldListId;
use tables::sync::{AtomicU64, Mutex, MutexGuard};

/// What a copy costs beside its octets, so that small ones are bounded too.
const OVERHEAD: u64 = 128;

/// `next` of a buffer in which nothing waits.
const NEVER: u64 = u64::MAX;

/// A copy of a packet as it came in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptPacket {
    pub port: u32,
    pub bytes: Box<[u8]>,
    /// The values of its field list.
    pub fields: FieldListId,
    pub values: Box<[u8]>,
    /// How often it may still be copied or go round.
    pub budget: u32,
}

/// What became of copies so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BufferCounts {
    pub kept: u64,
    /// Asked for, but there was no room.
    pub no_room: u64,
    /// Asked for, but there was one of that number, or no such queue.
    pub refused: u64,
    /// Dropped by the program.
    pub released: u64,
    /// Started again because the program said so.
    pub sent: u64,
    /// Started again because their time had come.
    pub expired: u64,
}

/// A buffer as somebody sees it who looks.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BufferState {
    pub name: String,
    pub packets: u64,
    pub octets: u64,
    pub counts: BufferCounts,
}

/// One `packet_buffer`.
pub(crate) struct Buffer {
    name: String,
    queues: u64,
    octets: u64,
    octets_of_queue: u64,
    content: Mutex<Content>,
    /// When the first copy starts again, in nanoseconds: what packets look at, without the lock.
    next: AtomicU64,
}

#[derive(Default)]
struct Content {
    queues: HashMap<u32, Queue>,
    packets: u64,
    octets: u64,
    /// By time and a number that tells equal times apart.
    deadlines: BTreeMap<(u64, u64), (u32, u32)>,
    next_id: u64,
    /// Those that start again now.
    due: VecDeque<KeptPacket>,
    counts: BufferCounts,
}

/// In order of their numbers.
#[derive(Default)]
struct Queue {
    copies: VecDeque<Copy>,
    octets: u64,
}

struct Copy {
    number: u32,
    deadline: (u64, u64),
    packet: KeptPacket,
}

impl Copy {
    fn octets(&self) -> u64 {
        octets(self.packet.bytes.len())
    }
}

fn octets(bytes: usize) -> u64 {
    bytes as u64 + OVERHEAD
}

/// Whether `a` is not above `b`, as numbers that go round.
fn up_to(a: u32, b: u32) -> bool {
    b.wrapping_sub(a) < 1 << 31
}

/// Why copies leave a queue.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Leaving {
    Released,
    Sent,
    Expired,
}

impl Buffer {
    pub fn new(buffer: &ir::Buffer) -> Self {
        Self {
            name: buffer.name.clone(),
            queues: buffer.queues,
            octets: buffer.octets,
            octets_of_queue: buffer.octets_of_queue,
            content: Mutex::default(),
            next: AtomicU64::new(NEVER),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Content> {
        self.content.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note_next(&self, content: &Content) {
        let first = content.deadlines.first_key_value().map_or(NEVER, |((at, _), _)| *at);
        self.next.store(if content.due.is_empty() { first } else { 0 }, Relaxed);
    }

    /// When something starts again.
    pub fn next(&self) -> Option<u64> {
        Some(self.next.load(Relaxed)).filter(|next| *next != NEVER)
    }

    /// Whether a packet of so many bytes can be kept; counted if not.
    pub fn has_room(&self, queue: u32, number: u32, bytes: usize) -> bool {
        let mut content = self.lock();
        let (there, of_queue) = match content.queues.get(&queue) {
            Some(found) => (found.position(number).is_ok(), found.octets),
            None => (false, 0),
        };
        if there || u64::from(queue) >= self.queues {
            content.counts.refused += 1;
            return false;
        }
        let more = octets(bytes);
        let fits = content.octets + more <= self.octets && of_queue + more <= self.octets_of_queue;
        if !fits {
            content.counts.no_room += 1;
        }
        fits
    }

    /// Keeps a copy until `deadline`, for which there is room.
    pub fn keep(&self, queue: u32, number: u32, deadline: u64, packet: KeptPacket) {
        let mut content = self.lock();
        let deadline = (deadline, content.next_id);
        content.next_id += 1;
        let copy = Copy { number, deadline, packet };
        let more = copy.octets();
        let found = content.queues.entry(queue).or_default();
        let Err(place) = found.position(number) else { return };
        found.copies.insert(place, copy);
        found.octets += more;
        content.octets += more;
        content.packets += 1;
        content.counts.kept += 1;
        content.deadlines.insert(deadline, (queue, number));
        self.note_next(&content);
    }

    pub fn release(&self, queue: u32, number: u32) {
        let mut content = self.lock();
        content.take(queue, number, Leaving::Released);
        self.note_next(&content);
    }

    pub fn send(&self, queue: u32, number: u32) {
        let mut content = self.lock();
        content.take(queue, number, Leaving::Sent);
        self.note_next(&content);
    }

    /// The next copy that starts again at or before `now`.
    pub fn pop(&self, now: u64) -> Option<KeptPacket> {
        if self.next.load(Relaxed) > now {
            return None;
        }
        let mut content = self.lock();
        if content.due.is_empty()
            && let Some((&(at, _), &(queue, number))) = content.deadlines.first_key_value()
            && at <= now
        {
            content.take(queue, number, Leaving::Expired);
        }
        let packet = content.due.pop_front();
        self.note_next(&content);
        packet
    }

    pub fn state(&self) -> BufferState {
        let content = self.lock();
        BufferState {
            name: self.name.clone(),
            packets: content.packets,
            octets: content.octets,
            counts: content.counts,
        }
    }
}

impl Queue {
    /// Where the copy with a number is, or where it would be.
    fn position(&self, number: u32) -> Result<usize, usize> {
        // Most come in order.
        match self.copies.back() {
            Some(last) if up_to(number, last.number) => {
                let place = self.copies.partition_point(|copy| copy.number != number && up_to(copy.number, number));
                if self.copies[place].number == number { Ok(place) } else { Err(place) }
            }
            _ => Err(self.copies.len()),
        }
    }
}

impl Content {
    /// Takes the copies up to a number out of a queue.
    fn take(&mut self, queue: u32, number: u32, leaving: Leaving) {
        let Some(found) = self.queues.get_mut(&queue) else { return };
        while let Some(first) = found.copies.front() {
            if !up_to(first.number, number) {
                break;
            }
            let Some(copy) = found.copies.pop_front() else { break };
            let less = copy.octets();
            found.octets -= less;
            self.octets -= less;
            self.packets -= 1;
            self.deadlines.remove(&copy.deadline);
            match leaving {
                Leaving::Released => self.counts.released += 1,
                Leaving::Sent => self.counts.sent += 1,
                Leaving::Expired => self.counts.expired += 1,
            }
            if leaving != Leaving::Released {
                self.due.push_back(copy.packet);
            }
        }
        if found.copies.is_empty() {
            self.queues.remove(&queue);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn buffer(octets: u64, octets_of_queue: u64) -> Buffer {
        Buffer::new(&ir::Buffer { name: "b".into(), queues: 4, octets, octets_of_queue })
    }

    fn packet(mark: u8) -> KeptPacket {
        KeptPacket {
            port: 1,
            bytes: vec![mark; 72].into(),
            fields: FieldListId::default(),
            values: [].into(),
            budget: 1,
        }
    }

    fn keep(buffer: &Buffer, queue: u32, number: u32, deadline: u64) -> bool {
        let room = buffer.has_room(queue, number, 72);
        if room {
            buffer.keep(queue, number, deadline, packet(number as u8));
        }
        room
    }

    /// Marks of the copies that start again at `now`.
    fn popped(buffer: &Buffer, now: u64) -> Vec<u8> {
        std::iter::from_fn(|| buffer.pop(now)).map(|packet| packet.bytes[0]).collect()
    }

    #[test]
    fn a_copy_starts_again_when_its_time_has_come_behind_those_with_lower_numbers() {
        let buffer = buffer(10_000, 10_000);
        for (number, deadline) in [(7, 30), (5, 50), (6, 40), (9, 60)] {
            assert!(keep(&buffer, 0, number, deadline));
        }
        assert_eq!(buffer.next(), Some(30));
        assert_eq!(popped(&buffer, 29), []);
        assert_eq!(popped(&buffer, 30), [5, 6, 7]);
        assert_eq!(buffer.next(), Some(60));
        assert_eq!(popped(&buffer, 60), [9]);
        assert_eq!(buffer.next(), None);
        assert_eq!(buffer.state().counts, BufferCounts { kept: 4, expired: 4, ..Default::default() });
        assert_eq!((buffer.state().packets, buffer.state().octets), (0, 0));
    }

    #[test]
    fn what_is_released_never_starts_and_what_is_sent_starts_at_once() {
        let buffer = buffer(10_000, 10_000);
        for number in 1..=5 {
            assert!(keep(&buffer, 1, number, 100));
        }
        assert!(keep(&buffer, 2, 1, 100));
        buffer.release(1, 2);
        buffer.send(1, 4);
        assert_eq!(buffer.next(), Some(0));
        assert_eq!(popped(&buffer, 1), [3, 4]);
        assert_eq!(popped(&buffer, 100), [5, 1]);
        let counts = BufferCounts { kept: 6, released: 2, sent: 2, expired: 2, ..Default::default() };
        assert_eq!(buffer.state().counts, counts);
    }

    #[test]
    fn numbers_go_round() {
        let buffer = buffer(10_000, 10_000);
        for number in [u32::MAX, 0, 1, u32::MAX - 1] {
            assert!(keep(&buffer, 0, number, 100));
        }
        buffer.send(0, 0);
        assert_eq!(popped(&buffer, 0), [254, 255, 0]);
        buffer.release(0, u32::MAX);
        assert_eq!(popped(&buffer, 100), [1]);
    }

    #[test]
    fn what_has_no_room_is_refused_and_counted() {
        let buffer = buffer(600, 400);
        assert!(keep(&buffer, 0, 1, 100));
        assert!(keep(&buffer, 0, 2, 100));
        assert!(!keep(&buffer, 0, 3, 100), "the queue is full");
        assert!(keep(&buffer, 1, 1, 100));
        assert!(!keep(&buffer, 2, 1, 100), "the buffer is full");
        assert!(!keep(&buffer, 0, 2, 100), "there is one");
        assert!(!keep(&buffer, 4, 1, 100), "there is no such queue");
        let counts = BufferCounts { kept: 3, no_room: 2, refused: 2, ..Default::default() };
        assert_eq!(buffer.state().counts, counts);
        buffer.release(0, 2);
        assert!(keep(&buffer, 2, 1, 100));
    }
}
