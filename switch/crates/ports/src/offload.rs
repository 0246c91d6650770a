//! What hosts leave to their network cards, done for ports that have none.
//!
//! A veth pair, a TAP device or the interface of a VM hands over frames of up to 64 KiB that the card would cut into
//! segments (TSO, USO), and checksums of which only the pseudo header's sum is there. Linux says beside the frame what is
//! still to be done, in the header that virtio made for it (OASIS virtio 1.2, 5.1.6). [`complete`] does it, so that the
//! program only sees what would be seen on a cable. [`coalesce`] goes the other way, as GRO does: segments of one
//! connection that leave by one port, one after another, are given to the kernel as one frame.

mod checksum;
pub(crate) mod coalesce;
mod headers;
pub(crate) mod segment;
#[cfg(test)]
mod tests;

use headers::{Headers, word};

/// The longest frame with its segmentation left out: the longest IP packet behind Ethernet's header and two VLAN tags.
pub(crate) const MAX_SUPER_FRAME: usize = 14 + 8 + 65_535 + 40;

const NEEDS_CHECKSUM: u8 = 1;
const NOTHING: u8 = 0;
const TCP_IPV4: u8 = 1;
const TCP_IPV6: u8 = 4;
const UDP_DATAGRAMS: u8 = 5;
/// Beside TCP: the connection uses ECN. Nothing follows from it, segments keep their flags either way.
const WITH_ECN: u8 = 0x80;

/// The kernel's `struct virtio_net_hdr`: what is still to be done to a frame. Numbers are in the machine's byte order.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Offload {
    pub flags: u8,
    pub segmentation: u8,
    pub header_len: u16,
    pub segment_size: u16,
    pub checksum_start: u16,
    pub checksum_offset: u16,
}

impl Offload {
    pub const LEN: usize = size_of::<Self>();

    pub fn from_bytes(bytes: &[u8; Self::LEN]) -> Self {
        let word = |at| u16::from_ne_bytes([bytes[at], bytes[at + 1]]);
        Self {
            flags: bytes[0],
            segmentation: bytes[1],
            header_len: word(2),
            segment_size: word(4),
            checksum_start: word(6),
            checksum_offset: word(8),
        }
    }

    pub fn to_bytes(self) -> [u8; Self::LEN] {
        let mut bytes = [self.flags, self.segmentation, 0, 0, 0, 0, 0, 0, 0, 0];
        let words = [self.header_len, self.segment_size, self.checksum_start, self.checksum_offset];
        for (at, word) in words.into_iter().enumerate() {
            bytes[2 + 2 * at..4 + 2 * at].copy_from_slice(&word.to_ne_bytes());
        }
        bytes
    }

    fn kind(&self) -> u8 {
        self.segmentation & !WITH_ECN
    }

    fn needs_checksum(&self) -> bool {
        self.flags & NEEDS_CHECKSUM != 0
    }
}

/// Does to a frame what is still to be done, and gives what comes of it to `take`; answers how many frames that were.
/// None if it cannot be done: the frame is lost.
pub(crate) fn complete(offload: &Offload, frame: &mut [u8], take: &mut dyn FnMut(&[u8])) -> Option<usize> {
    if offload.kind() != NOTHING {
        return segment::segment(offload, frame, take);
    }
    if offload.needs_checksum() {
        checksum::finish(frame, offload.checksum_start.into(), offload.checksum_offset.into());
    }
    take(frame);
    Some(1)
}

/// Finishes the checksum of a frame of which nothing is said, if it was only begun: then the sum of the pseudo header
/// stands in its place. One of 65,536 finished checksums is that same number, and stays what it is when it is made anew.
pub(crate) fn finish_begun_checksum(frame: &mut [u8]) {
    let Some(headers) = Headers::of(frame) else { return };
    if word(frame, headers.transport + headers.checksum_offset()) == Some(headers.pseudo_sum(frame)) {
        checksum::finish(&mut frame[..headers.end], headers.transport, headers.checksum_offset());
    }
}
