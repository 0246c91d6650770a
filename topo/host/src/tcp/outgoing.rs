//! What a program has written and the other end has not acknowledged.

/// A program writes no more than this at a time.
const PIECE: usize = 1 << 16;

pub struct Outgoing {
    /// In one piece, so that segments are slices of it; what is before `head` is acknowledged.
    bytes: Vec<u8>,
    head: usize,
    /// The position of the octet at `head`.
    start: u64,
    capacity: usize,
}

impl Outgoing {
    pub fn new(capacity: usize, start: u64) -> Self {
        Self { bytes: vec![], head: 0, start, capacity }
    }

    pub fn capacity(&self) -> usize {
        self.capacity
    }

    pub fn len(&self) -> usize {
        self.bytes.len() - self.head
    }

    /// The position behind the last octet.
    pub fn end(&self) -> u64 {
        self.start + self.len() as u64
    }

    /// Lets a program fill some room; it says how much it filled.
    pub fn write<T>(&mut self, write: impl FnOnce(&mut [u8]) -> (usize, T)) -> T {
        let end = self.bytes.len();
        let room = (self.capacity - self.len()).min(PIECE);
        self.bytes.resize(end + room, 0);
        let (written, result) = write(&mut self.bytes[end..]);
        self.bytes.truncate(end + written.min(room));
        result
    }

    /// The octets between two positions, as far as there are any: SYN and FIN are none.
    pub fn slice(&self, start: u64, end: u64) -> &[u8] {
        let at = |position: u64| self.head + (position.clamp(self.start, self.end()) - self.start) as usize;
        &self.bytes[at(start)..at(end)]
    }

    /// Forgets what was acknowledged.
    pub fn release(&mut self, up_to: u64) {
        let count = (up_to.clamp(self.start, self.end()) - self.start) as usize;
        self.head += count;
        self.start += count as u64;
        if self.head > self.bytes.len() / 2 {
            self.bytes.drain(..self.head);
            self.head = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_stays_until_it_is_acknowledged() {
        let mut outgoing = Outgoing::new(6, 10);
        let write = |outgoing: &mut Outgoing, bytes: &[u8]| {
            outgoing.write(|room| {
                let length = room.len().min(bytes.len());
                room[..length].copy_from_slice(&bytes[..length]);
                (length, length)
            })
        };
        assert_eq!(write(&mut outgoing, b"abcdefgh"), 6);
        outgoing.release(12);
        assert_eq!(write(&mut outgoing, b"gh"), 2);
        assert_eq!((outgoing.slice(12, 15), outgoing.slice(9, 99)), (&b"cde"[..], &b"cdefgh"[..]));
        outgoing.release(99);
        assert_eq!((outgoing.len(), outgoing.end()), (0, 18));
    }
}
