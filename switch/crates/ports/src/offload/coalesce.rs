//! Putting segments of one TCP connection together again, as the kernel's GRO does, so that a host takes one frame of
//! 64 KiB in place of 45 of its MTU.
//!
//! Only what segmentation gives back exactly is put together: the next segment of the same connection with the same
//! headers, of the same size (the last one may be shorter), its checksum right.

use super::headers::{Headers, TCP, long, set_word, word};
use super::segment::set_ipv4_checksum;
use super::{MAX_SUPER_FRAME, NEEDS_CHECKSUM, Offload, TCP_IPV4, TCP_IPV6, checksum};

/// The longest IP packet.
const LONGEST: usize = 65_535;
const ACK: u8 = 0x10;
const PSH: u8 = 0x08;

/// A frame that waits for what may be put together with it, until the batch ends.
pub(crate) struct Coalescer {
    /// Room for the offload's header, then the frame.
    buffer: Vec<u8>,
    held: Option<Held>,
}

struct Held {
    headers: Headers,
    /// Of the payload of each segment.
    size: usize,
    segments: usize,
    /// Nothing goes behind a segment that was pushed, or shorter than those before.
    ended: bool,
}

impl Coalescer {
    pub fn new() -> Self {
        Self { buffer: Vec::with_capacity(Offload::LEN + MAX_SUPER_FRAME), held: None }
    }

    pub fn is_empty(&self) -> bool {
        self.held.is_none()
    }

    /// Takes a frame that continues what is held, or starts with it where nothing is. False for all others: what is held
    /// leaves first.
    pub fn take(&mut self, frame: &[u8]) -> bool {
        let Some(headers) = Headers::of(frame).filter(|headers| eligible(headers, frame)) else { return false };
        match &mut self.held {
            None => {
                self.buffer.clear();
                self.buffer.extend_from_slice(&[0; Offload::LEN]);
                self.buffer.extend_from_slice(&frame[..headers.end]);
                let ended = frame[headers.transport + 13] & PSH != 0;
                self.held = Some(Held { headers, size: headers.end - headers.payload, segments: 1, ended });
                true
            }
            Some(held) => {
                let joined = held.joins(&self.buffer[Offload::LEN..], &headers, frame);
                if joined {
                    let flags = headers.transport + 13;
                    self.buffer[Offload::LEN + flags] |= frame[flags] & PSH;
                    self.buffer.extend_from_slice(&frame[headers.payload..headers.end]);
                }
                joined
            }
        }
    }

    /// What is held: what is to be done to it, if anything, and the header of that and the frame in one piece.
    pub fn held(&mut self) -> Option<(Offload, &mut [u8])> {
        let held = self.held.as_ref()?;
        let frame = &mut self.buffer[Offload::LEN..];
        let offload = if held.segments == 1 { Offload::default() } else { held.finish(frame) };
        self.buffer[..Offload::LEN].copy_from_slice(&offload.to_bytes());
        Some((offload, &mut self.buffer))
    }

    /// What was held has left.
    pub fn clear(&mut self) {
        self.held = None;
    }
}

/// A segment of data without anything that says more than that, as long as its frame says.
fn eligible(headers: &Headers, frame: &[u8]) -> bool {
    let options = !headers.ipv6 && headers.transport != headers.network + 20;
    let extensions = headers.ipv6 && headers.transport != headers.network + 40;
    headers.protocol == TCP
        && headers.network == 14
        && !options
        && !extensions
        && headers.payload < headers.end
        && frame[headers.transport + 13] & !PSH == ACK
}

impl Held {
    /// Whether a segment was counted as the next one after what is held.
    fn joins(&mut self, held: &[u8], headers: &Headers, frame: &[u8]) -> bool {
        let size = headers.end - headers.payload;
        let follows = !self.ended
            && size <= self.size
            && held.len() - headers.network + size <= LONGEST
            && headers.payload == self.headers.payload
            && self.same_headers(held, headers, frame)
            && checksum_is_right(headers, frame)
            && (self.segments > 1 || checksum_is_right(&self.headers, held));
        if follows {
            self.segments += 1;
            self.ended = size < self.size || frame[headers.transport + 13] & PSH != 0;
        }
        follows
    }

    /// Whether all fields are the same but those that differ from segment to segment, and those as they must.
    fn same_headers(&self, held: &[u8], headers: &Headers, frame: &[u8]) -> bool {
        let (network, transport) = (headers.network, headers.transport);
        let same = |from: usize, to: usize| held[from..to] == frame[from..to];
        let ip = if headers.ipv6 {
            same(network, network + 4) && same(network + 6, transport)
        } else {
            let expected = word(held, network + 4).map(|first| first.wrapping_add(self.segments as u16));
            same(network, network + 2)
                && word(frame, network + 4) == expected
                && same(network + 6, network + 10)
                && same(network + 12, transport)
                && checksum::sum(&frame[network..transport]) == 0xffff
        };
        let sent = (self.segments * self.size) as u32;
        ip && same(0, network)
            && same(transport, transport + 4)
            && long(frame, transport + 4) == long(held, transport + 4).wrapping_add(sent)
            && same(transport + 8, transport + 13)
            && same(transport + 14, transport + 16)
            && same(transport + 18, headers.payload)
            && last_flags_only(held[transport + 13], frame[transport + 13])
    }

    /// Writes the headers of the whole, and says how to segment it.
    fn finish(&self, frame: &mut [u8]) -> Offload {
        let Headers { network, transport, payload, ipv6, .. } = self.headers;
        if ipv6 {
            set_word(frame, network + 4, frame.len() - network - 40);
        } else {
            set_word(frame, network + 2, frame.len() - network);
            set_ipv4_checksum(frame, network, transport);
        }
        let headers = Headers { end: frame.len(), ..self.headers };
        let pseudo = headers.pseudo_sum(frame);
        set_word(frame, transport + headers.checksum_offset(), pseudo.into());
        Offload {
            flags: NEEDS_CHECKSUM,
            segmentation: if ipv6 { TCP_IPV6 } else { TCP_IPV4 },
            header_len: payload as u16,
            segment_size: self.size as u16,
            checksum_start: transport as u16,
            checksum_offset: headers.checksum_offset() as u16,
        }
    }
}

/// PSH comes with the last segment.
fn last_flags_only(first: u8, next: u8) -> bool {
    first & PSH == 0 && next & !PSH == first
}

/// Whoever takes the whole trusts its checksum: a wrong one must not become a right one.
fn checksum_is_right(headers: &Headers, frame: &[u8]) -> bool {
    checksum::add(headers.pseudo_sum(frame), checksum::sum(&frame[headers.transport..headers.end])) == 0xffff
}
