//! Where the headers of a frame stand that segmentation and checksums concern.

use super::checksum;

pub(crate) const TCP: u8 = 6;
pub(crate) const UDP: u8 = 17;

const HOP_BY_HOP: u8 = 0;
const ROUTING: u8 = 43;
const DESTINATION: u8 = 60;

/// A TCP segment or UDP datagram, whole and in a frame of IPv4 or IPv6, perhaps with VLAN tags and extension headers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Headers {
    /// Where the IP header starts.
    pub network: usize,
    /// Where the TCP or UDP header starts.
    pub transport: usize,
    /// Where the TCP or UDP header ends.
    pub payload: usize,
    /// Where the IP packet ends; Ethernet's padding may follow.
    pub end: usize,
    pub ipv6: bool,
    pub protocol: u8,
    /// Where the address stands to which the packet goes in the end: not that of the IP header while a routing header
    /// has segments left (RFC 8200, 8.1).
    pub destination: usize,
}

impl Headers {
    /// None for frames that are something else, fragments, or not whole.
    pub fn of(frame: &[u8]) -> Option<Self> {
        let mut network = 14;
        let mut kind = word(frame, 12)?;
        while matches!(kind, 0x8100 | 0x88a8) {
            kind = word(frame, network + 2)?;
            network += 4;
        }
        let length = usize::from(word(frame, network + if kind == 0x0800 { 2 } else { 4 })?);
        let (protocol, transport, end, destination) = match kind {
            0x0800 => {
                let header = usize::from(frame[network] & 0xf) * 4;
                // More fragments, or an offset.
                if header < 20 || word(frame, network + 6)? & 0x3fff != 0 {
                    return None;
                }
                (*frame.get(network + 9)?, network + header, network + length, network + 16)
            }
            0x86dd => {
                let (protocol, transport, destination) = extensions(frame, network)?;
                (protocol, transport, network + 40 + length, destination)
            }
            _ => return None,
        };
        let header = match protocol {
            TCP => usize::from(*frame.get(transport + 12)? >> 4) * 4,
            UDP => 8,
            _ => return None,
        };
        let payload = transport + header;
        let whole = (protocol == UDP || header >= 20) && payload <= end && end <= frame.len();
        whole.then_some(Self { network, transport, payload, end, ipv6: kind == 0x86dd, protocol, destination })
    }

    /// From the start of the TCP or UDP header to its checksum.
    pub fn checksum_offset(&self) -> usize {
        if self.protocol == TCP { 16 } else { 6 }
    }

    /// The sum of the pseudo header (RFC 9293, 3.1; RFC 8200, 8.1).
    pub fn pseudo_sum(&self, frame: &[u8]) -> u16 {
        let (source, len) = if self.ipv6 { (self.network + 8, 16) } else { (self.network + 12, 4) };
        let addresses = [source, self.destination].map(|at| checksum::sum(&frame[at..at + len]));
        let length = (self.end - self.transport) as u16;
        [addresses[1], length].into_iter().fold(checksum::add(addresses[0], self.protocol.into()), checksum::add)
    }
}

/// What follows the extension headers of IPv6, where it starts, and where the final destination stands.
fn extensions(frame: &[u8], network: usize) -> Option<(u8, usize, usize)> {
    let (mut next, mut at, mut destination) = (*frame.get(network + 6)?, network + 40, network + 24);
    while matches!(next, HOP_BY_HOP | ROUTING | DESTINATION) {
        let length = usize::from(*frame.get(at + 1)?) * 8 + 8;
        if next == ROUTING && *frame.get(at + 3)? > 0 {
            // Mobile IPv6 (2) has one address, segment routing (4) the last one first.
            if !matches!(frame[at + 2], 2 | 4) || frame.len() < at + 24 {
                return None;
            }
            destination = at + 8;
        }
        next = frame[at];
        at += length;
    }
    Some((next, at, destination))
}

pub(crate) fn word(frame: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes([*frame.get(at)?, *frame.get(at + 1)?]))
}

pub(crate) fn set_word(frame: &mut [u8], at: usize, value: usize) {
    frame[at..at + 2].copy_from_slice(&(value as u16).to_be_bytes());
}

pub(crate) fn long(frame: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([frame[at], frame[at + 1], frame[at + 2], frame[at + 3]])
}
