//! The bytes of a packet, with room in front for the headers it may gain.

/// One buffer: headroom, then the packet, then what longer packets left behind. Headers are replaced in place; the
/// payload never moves.
#[derive(Debug, Clone, Default)]
pub struct Packet {
    buffer: Vec<u8>,
    start: usize,
    end: usize,
}

impl Packet {
    /// A copy of `bytes` behind `headroom` free bytes.
    pub fn new(headroom: usize, bytes: &[u8]) -> Self {
        let mut packet = Self::default();
        packet.refill(headroom, bytes);
        packet
    }

    /// Takes another packet's bytes into the same buffer.
    #[inline]
    pub fn refill(&mut self, headroom: usize, bytes: &[u8]) {
        let end = headroom + bytes.len();
        if self.buffer.len() < end {
            self.buffer.resize(end, 0);
        }
        self.buffer[headroom..end].copy_from_slice(bytes);
        (self.start, self.end) = (headroom, end);
    }

    /// The packet.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// The packet, to change.
    #[inline]
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.buffer[self.start..self.end]
    }

    /// Bytes of the packet.
    #[inline]
    pub fn len(&self) -> usize {
        self.end - self.start
    }

    /// Whether it has no bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Free bytes in front.
    pub fn headroom(&self) -> usize {
        self.start
    }

    /// Drops the tail so that at most `len` bytes stay.
    pub fn truncate(&mut self, len: usize) {
        self.end = self.start + len.min(self.len());
    }

    /// Replaces the first `taken` bytes by `headers`.
    #[inline]
    pub fn replace_front(&mut self, taken: usize, headers: &[u8], reserve: usize) {
        self.open_front(taken, headers.len(), reserve).copy_from_slice(headers);
    }

    /// Puts `len` bytes, which are to be written, in place of the first `taken`. The rest stays where it is in memory as
    /// long as the headroom lasts; it is used up only by packets that recirculate and grow each time, and then made anew
    /// with `reserve` bytes.
    #[inline]
    pub fn open_front(&mut self, taken: usize, len: usize, reserve: usize) -> &mut [u8] {
        let payload = self.start + taken.min(self.len());
        if let Some(start) = payload.checked_sub(len) {
            self.start = start;
        } else {
            let mut buffer = vec![0; reserve + len];
            buffer.extend_from_slice(&self.buffer[payload..self.end]);
            (self.start, self.end) = (reserve, buffer.len());
            self.buffer = buffer;
        }
        &mut self.buffer[self.start..self.start + len]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_grow_into_the_headroom_and_the_payload_stays() {
        let mut packet = Packet::new(4, &[1, 2, 3, 4]);
        let payload = &raw const packet.bytes()[2];
        packet.replace_front(2, &[9, 9, 9, 9, 9], 4);
        assert_eq!(packet.bytes(), [9, 9, 9, 9, 9, 3, 4]);
        assert_eq!(packet.headroom(), 1);
        assert_eq!(&raw const packet.bytes()[5], payload);
        packet.replace_front(5, &[], 4);
        assert_eq!(packet.bytes(), [3, 4]);
        assert_eq!(packet.headroom(), 6);
    }

    #[test]
    fn headroom_that_is_used_up_is_made_anew() {
        let mut packet = Packet::new(1, &[1, 2]);
        packet.replace_front(1, &[7, 7, 7], 10);
        assert_eq!((packet.bytes(), packet.headroom()), (&[7, 7, 7, 2][..], 10));
    }

    #[test]
    fn a_packet_shows_nothing_of_those_before_it() {
        let mut packet = Packet::new(8, &[9; 100]);
        packet.refill(4, &[1, 2, 3]);
        assert_eq!((packet.bytes(), packet.headroom()), (&[1, 2, 3][..], 4));
        packet.truncate(50);
        assert_eq!(packet.len(), 3);
        packet.truncate(2);
        packet.replace_front(0, &[7], 0);
        assert_eq!((packet.clone().bytes(), packet.headroom()), (&[7, 1, 2][..], 3));
    }
}
