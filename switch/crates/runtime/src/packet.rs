//! The bytes of a packet, with room in front for the headers it may gain.

/// One buffer: headroom, then the packet. Headers are replaced in place; the payload never moves.
#[derive(Debug, Clone, Default)]
pub struct Packet {
    buffer: Vec<u8>,
    start: usize,
}

impl Packet {
    /// A copy of `bytes` behind `headroom` free bytes.
    pub fn new(headroom: usize, bytes: &[u8]) -> Self {
        let mut packet = Self::default();
        packet.refill(headroom, bytes);
        packet
    }

    /// Takes another packet's bytes into the same buffer.
    pub fn refill(&mut self, headroom: usize, bytes: &[u8]) {
        self.room(headroom, 0);
        self.buffer.extend_from_slice(bytes);
    }

    /// Makes the packet `len` bytes behind `headroom` free bytes and lends them to whoever receives into them; cut to
    /// what came with [`Self::truncate`].
    pub fn room(&mut self, headroom: usize, len: usize) -> &mut [u8] {
        self.buffer.clear();
        self.buffer.resize(headroom + len, 0);
        self.start = headroom;
        &mut self.buffer[headroom..]
    }

    /// The packet.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        &self.buffer[self.start..]
    }

    /// The packet, to change.
    #[inline]
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.buffer[self.start..]
    }

    /// Bytes of the packet.
    #[inline]
    pub fn len(&self) -> usize {
        self.buffer.len() - self.start
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
        self.buffer.truncate(self.start + len.min(self.len()));
    }

    /// Replaces the first `taken` bytes by `headers`. The rest stays where it is in memory as long as the headroom
    /// lasts; it is used up only by packets that recirculate and grow each time, and then made anew with `reserve`
    /// bytes.
    pub fn replace_front(&mut self, taken: usize, headers: &[u8], reserve: usize) {
        let payload = self.start + taken.min(self.len());
        if let Some(start) = payload.checked_sub(headers.len()) {
            self.buffer[start..payload].copy_from_slice(headers);
            self.start = start;
        } else {
            let mut buffer = vec![0; reserve];
            buffer.extend_from_slice(headers);
            buffer.extend_from_slice(&self.buffer[payload..]);
            self.buffer = buffer;
            self.start = reserve;
        }
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
    fn a_received_packet_is_cut_to_its_length() {
        let mut packet = Packet::default();
        packet.room(8, 100)[..3].copy_from_slice(&[1, 2, 3]);
        packet.truncate(3);
        assert_eq!((packet.bytes(), packet.headroom()), (&[1, 2, 3][..], 8));
        packet.truncate(50);
        assert_eq!(packet.len(), 3);
    }
}
