//! Cutting what a host left to its card into the segments that the card would have sent.

use super::checksum;
use super::headers::{Headers, TCP, UDP, long, set_word};
use super::{Offload, TCP_IPV4, TCP_IPV6, UDP_DATAGRAMS};

const CWR: u8 = 0x80;
/// FIN and PSH, which only the last segment has.
const LAST: u8 = 0x01 | 0x08;

/// Segments of one frame: those of the least size that Linux's TCP sends. A guest may ask for smaller ones.
const MOST: usize = 65_535 / 48;

/// Gives the segments to `take`, and answers how many. None where the offload is not of a kind known here, or does not
/// fit the frame.
///
/// Each segment's headers are written just before its part of the payload, over what was given away already: nothing
/// is moved.
pub(crate) fn segment(offload: &Offload, frame: &mut [u8], take: &mut dyn FnMut(&[u8])) -> Option<usize> {
    let headers = Headers::of(frame)?;
    let kind = match (headers.protocol, headers.ipv6) {
        (UDP, _) => UDP_DATAGRAMS,
        (_, false) => TCP_IPV4,
        (_, true) => TCP_IPV6,
    };
    let size = usize::from(offload.segment_size);
    // A checksum that starts elsewhere is that of a packet in a tunnel.
    let tunnelled = offload.needs_checksum() && usize::from(offload.checksum_start) != headers.transport;
    if offload.kind() != kind || size == 0 || tunnelled {
        return None;
    }
    let count = (headers.end - headers.payload).div_ceil(size).max(1);
    if count > MOST {
        return None;
    }
    let template = frame[..headers.payload].to_vec();
    // Without the length, which is that of the segment. What the host left is right for destinations of any kind.
    let field = headers.transport + headers.checksum_offset();
    let pseudo = if offload.needs_checksum() {
        u16::from_be_bytes([template[field], template[field + 1]])
    } else {
        headers.pseudo_sum(frame)
    };
    let pseudo = checksum::add(pseudo, !((headers.end - headers.transport) as u16));
    for number in 0..count {
        let start = number * size;
        let end = (headers.payload + start + size).min(headers.end);
        let segment = &mut frame[start..end];
        segment[..template.len()].copy_from_slice(&template);
        set_lengths(segment, &headers, number);
        let transport_len = segment.len() - headers.transport;
        if headers.protocol == TCP {
            set_sequence(segment, headers.transport, start as u32, number == 0, number + 1 == count);
        } else {
            set_word(segment, headers.transport + 4, transport_len);
        }
        set_word(segment, field, checksum::add(pseudo, transport_len as u16).into());
        checksum::finish(segment, headers.transport, headers.checksum_offset());
        take(segment);
    }
    Some(count)
}

/// The lengths of the IP header; identifications of IPv4 count up (RFC 6864 asks only that they differ).
fn set_lengths(segment: &mut [u8], headers: &Headers, number: usize) {
    let at = headers.network;
    if headers.ipv6 {
        return set_word(segment, at + 4, segment.len() - at - 40);
    }
    set_word(segment, at + 2, segment.len() - at);
    let identification = u16::from_be_bytes([segment[at + 4], segment[at + 5]]);
    set_word(segment, at + 4, identification.wrapping_add(number as u16).into());
    set_ipv4_checksum(segment, at, headers.transport);
}

pub(crate) fn set_ipv4_checksum(frame: &mut [u8], start: usize, end: usize) {
    set_word(frame, start + 10, 0);
    let sum = checksum::sum(&frame[start..end]);
    set_word(frame, start + 10, (!sum).into());
}

fn set_sequence(segment: &mut [u8], transport: usize, offset: u32, first: bool, last: bool) {
    let sequence = long(segment, transport + 4).wrapping_add(offset);
    segment[transport + 4..transport + 8].copy_from_slice(&sequence.to_be_bytes());
    let flags = &mut segment[transport + 13];
    // The window was reduced once (RFC 3168, 6.1.2).
    if !first {
        *flags &= !CWR;
    }
    if !last {
        *flags &= !LAST;
    }
}
