//! What has come: octets in order for the program, and those behind holes (RFC 2018, RFC 2883).

use std::ops::Range;

/// Blocks that fit a header without timestamps.
const BLOCKS: usize = 4;

/// How a segment fitted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrival {
    /// The next octets, with nothing behind.
    InOrder,
    /// Some octets are missing before or behind it, or were until now.
    OutOfOrder,
    /// All of it had come before.
    Duplicate,
}

pub struct Reassembly {
    /// Octets from `read` on, each at its position modulo the length.
    ring: Vec<u8>,
    read: u64,
    next: u64,
    /// What lies behind holes; what changed last is first (RFC 2018, section 4).
    islands: Vec<Range<u64>>,
    /// A duplicate that is to be told (RFC 2883).
    duplicate: Option<Range<u64>>,
}

impl Reassembly {
    pub fn new(capacity: usize, start: u64) -> Self {
        Self { ring: vec![0; capacity], read: start, next: start, islands: vec![], duplicate: None }
    }

    /// The first position that has not come.
    pub fn next(&self) -> u64 {
        self.next
    }

    /// The first position that there is no room for.
    pub fn edge(&self) -> u64 {
        self.read + self.ring.len() as u64
    }

    pub fn has_holes(&self) -> bool {
        !self.islands.is_empty()
    }

    /// Octets that a program can read.
    pub fn readable(&self) -> usize {
        (self.next - self.read) as usize
    }

    /// Takes octets; what there is no room for is left out.
    pub fn take(&mut self, at: u64, data: &[u8]) -> Arrival {
        let end = at + data.len() as u64;
        let known = end <= self.next || self.islands.iter().any(|island| island.start <= at && end <= island.end);
        if known {
            self.duplicate = Some(at..end);
            return Arrival::Duplicate;
        }
        let new = at.max(self.next)..end.min(self.edge());
        if new.is_empty() {
            return Arrival::Duplicate;
        }
        if at < self.next {
            self.duplicate = Some(at..self.next);
        }
        self.write(new.start, &data[(new.start - at) as usize..(new.end - at) as usize]);
        let had_holes = self.has_holes();
        self.join(new);
        if had_holes || self.has_holes() { Arrival::OutOfOrder } else { Arrival::InOrder }
    }

    /// Lets a program take octets: it says how many of those it is shown it took.
    pub fn read<T>(&mut self, read: impl FnOnce(&mut [u8]) -> (usize, T)) -> T {
        let start = (self.read % self.ring.len() as u64) as usize;
        let end = (start + self.readable()).min(self.ring.len());
        let (taken, result) = read(&mut self.ring[start..end]);
        self.read += taken.min(end - start) as u64;
        result
    }

    /// What is to be told of what has come out of order; a duplicate is told once.
    pub fn blocks(&mut self) -> Vec<Range<u64>> {
        let duplicate = self.duplicate.take();
        duplicate.into_iter().chain(self.islands.iter().cloned()).take(BLOCKS).collect()
    }

    /// Gives the memory back; nothing is taken or read any more.
    pub fn close(&mut self) {
        self.ring = vec![0];
        self.read = self.next;
        self.islands.clear();
    }

    fn write(&mut self, at: u64, data: &[u8]) {
        let start = (at % self.ring.len() as u64) as usize;
        let first = data.len().min(self.ring.len() - start);
        self.ring[start..start + first].copy_from_slice(&data[..first]);
        self.ring[..data.len() - first].copy_from_slice(&data[first..]);
    }

    fn join(&mut self, mut new: Range<u64>) {
        self.islands.retain(|island| {
            let apart = island.end < new.start || new.end < island.start;
            if !apart {
                new = new.start.min(island.start)..new.end.max(island.end);
            }
            apart
        });
        if new.start <= self.next {
            self.next = new.end;
        } else {
            self.islands.insert(0, new);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(reassembly: &mut Reassembly) -> Vec<u8> {
        let mut all = vec![];
        while reassembly.readable() > 0 {
            reassembly.read(|bytes| {
                all.extend_from_slice(bytes);
                (bytes.len(), ())
            });
        }
        all
    }

    #[test]
    fn octets_come_out_in_order_and_the_ring_wraps() {
        let mut reassembly = Reassembly::new(10, 5);
        assert_eq!(reassembly.take(5, b"abcd"), Arrival::InOrder);
        assert_eq!(read(&mut reassembly), b"abcd");
        assert_eq!(reassembly.take(13, b"ij"), Arrival::OutOfOrder);
        assert_eq!(reassembly.take(9, b"efgh"), Arrival::OutOfOrder);
        assert_eq!(read(&mut reassembly), b"efghij");
        assert_eq!((reassembly.next(), reassembly.edge()), (15, 25));
    }

    #[test]
    fn the_newest_island_is_told_first_and_a_duplicate_before_it_once() {
        let mut reassembly = Reassembly::new(100, 0);
        reassembly.take(10, &[1; 5]);
        reassembly.take(30, &[1; 5]);
        reassembly.take(20, &[1; 5]);
        assert_eq!(reassembly.blocks(), [20..25, 30..35, 10..15]);
        assert_eq!(reassembly.take(31, &[1; 2]), Arrival::Duplicate);
        assert_eq!(reassembly.blocks(), [31..33, 20..25, 30..35, 10..15]);
        reassembly.take(15, &[1; 5]);
        assert_eq!(reassembly.blocks(), [10..25, 30..35]);
    }

    #[test]
    fn what_there_is_no_room_for_is_left_out() {
        let mut reassembly = Reassembly::new(4, 0);
        assert_eq!(reassembly.take(2, b"cdef"), Arrival::OutOfOrder);
        assert_eq!(reassembly.take(4, b"ef"), Arrival::Duplicate);
        assert_eq!(reassembly.take(0, b"ab"), Arrival::OutOfOrder);
        assert_eq!(read(&mut reassembly), b"abcd");
    }
}
