//! What is in a datagram of a UDP stream; the rest of it is empty.
//!
//! ```text
//!   0        8          16       24
//!   | stream | sequence | sent at |   big-endian, nanoseconds of the sender's clock
//! ```

pub const LENGTH: usize = 24;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Datagram {
    /// Tells streams of one sender apart.
    pub stream: u64,
    pub sequence: u64,
    pub sent_at: u64,
}

impl Datagram {
    /// Writes itself into the beginning of a datagram that is long enough.
    pub fn write(&self, bytes: &mut [u8]) {
        for (place, value) in bytes.chunks_exact_mut(8).zip([self.stream, self.sequence, self.sent_at]) {
            place.copy_from_slice(&value.to_be_bytes());
        }
    }

    /// None if it is too short.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let (words, _) = bytes.get(..LENGTH)?.as_chunks::<8>();
        let [stream, sequence, sent_at] = [words[0], words[1], words[2]].map(u64::from_be_bytes);
        Some(Self { stream, sequence, sent_at })
    }
}
