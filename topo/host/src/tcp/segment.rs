//! Segments to octets and back: headers and checksums with smoltcp's codec, options where Linux puts them.

use std::net::SocketAddrV6;

use smoltcp::wire::{IpAddress, IpProtocol, Ipv6Address, Ipv6Packet, Ipv6Repr, TcpPacket, TcpSeqNumber};

use crate::link::ETHERNET_HEADER;

pub const IPV6_HEADER: usize = 40;
pub const TCP_HEADER: usize = 20;
/// Two no-operations before it, so that what follows is aligned.
pub const TIMESTAMPS: usize = 12;
/// The options of a header (RFC 9293, section 3.1).
const MOST_OPTIONS: usize = 40;
const HOP_LIMIT: u8 = 64;

/// Kinds of options.
const END: u8 = 0;
const NO_OPERATION: u8 = 1;
const MSS: u8 = 2;
const WINDOW_SCALE: u8 = 3;
const SACK_PERMITTED: u8 = 4;
const SACK: u8 = 5;
const TIMESTAMP: u8 = 8;

/// RFC 7323: a value and the echo of the other end's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timestamps {
    pub value: u32,
    pub echo: u32,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    pub mss: Option<u16>,
    pub window_scale: Option<u8>,
    pub sack_permitted: bool,
    pub timestamps: Option<Timestamps>,
    /// What has come: first number, and the one behind the last.
    pub sack: Vec<(u32, u32)>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Flags {
    pub syn: bool,
    pub fin: bool,
    pub rst: bool,
    pub push: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment<'a> {
    pub from: SocketAddrV6,
    pub to: SocketAddrV6,
    pub sequence: u32,
    pub acknowledgement: Option<u32>,
    pub flags: Flags,
    pub window: u16,
    pub options: Options,
    pub data: &'a [u8],
}

impl<'a> Segment<'a> {
    /// From the payload of a packet between these addresses, if it is sound.
    pub fn parse(source: Ipv6Address, destination: Ipv6Address, payload: &'a [u8]) -> Option<Self> {
        let packet = TcpPacket::new_checked(payload).ok()?;
        let sound = packet.verify_checksum(&IpAddress::Ipv6(source), &IpAddress::Ipv6(destination));
        if !sound || packet.src_port() == 0 || packet.dst_port() == 0 {
            return None;
        }
        let flags = Flags { syn: packet.syn(), fin: packet.fin(), rst: packet.rst(), push: packet.psh() };
        Some(Self {
            from: SocketAddrV6::new(source, packet.src_port(), 0, 0),
            to: SocketAddrV6::new(destination, packet.dst_port(), 0, 0),
            sequence: packet.seq_number().0.cast_unsigned(),
            acknowledgement: packet.ack().then(|| packet.ack_number().0.cast_unsigned()),
            flags,
            window: packet.window_len(),
            options: Options::parse(packet.options()),
            data: packet.payload(),
        })
    }

    /// Numbers that it takes: octets, SYN and FIN.
    pub fn length(&self) -> u64 {
        self.data.len() as u64 + u64::from(self.flags.syn) + u64::from(self.flags.fin)
    }

    /// An IPv6 packet with room in front for an Ethernet header.
    pub fn emit(&self) -> Vec<u8> {
        let options = self.options.emit();
        let length = TCP_HEADER + options.len() + self.data.len();
        let mut bytes = vec![0; ETHERNET_HEADER + IPV6_HEADER + length];
        let (ipv6, payload) = bytes[ETHERNET_HEADER..].split_at_mut(IPV6_HEADER);
        let header = Ipv6Repr {
            src_addr: *self.from.ip(),
            dst_addr: *self.to.ip(),
            next_header: IpProtocol::Tcp,
            payload_len: length,
            hop_limit: HOP_LIMIT,
        };
        header.emit(&mut Ipv6Packet::new_unchecked(ipv6));
        let mut packet = TcpPacket::new_unchecked(payload);
        packet.set_src_port(self.from.port());
        packet.set_dst_port(self.to.port());
        packet.set_seq_number(TcpSeqNumber(self.sequence.cast_signed()));
        packet.set_ack_number(TcpSeqNumber(self.acknowledgement.unwrap_or(0).cast_signed()));
        packet.set_header_len((TCP_HEADER + options.len()) as u8);
        packet.set_syn(self.flags.syn);
        packet.set_fin(self.flags.fin);
        packet.set_rst(self.flags.rst);
        packet.set_psh(self.flags.push);
        packet.set_ack(self.acknowledgement.is_some());
        packet.set_window_len(self.window);
        packet.options_mut().copy_from_slice(&options);
        packet.payload_mut().copy_from_slice(self.data);
        packet.fill_checksum(&IpAddress::Ipv6(*self.from.ip()), &IpAddress::Ipv6(*self.to.ip()));
        bytes
    }
}

impl Options {
    /// Takes what it knows; what is broken ends the list.
    fn parse(mut bytes: &[u8]) -> Self {
        let mut options = Self::default();
        while let [kind, rest @ ..] = bytes {
            match *kind {
                END => break,
                NO_OPERATION => bytes = rest,
                kind => {
                    let Some(length) = rest.first().map(|length| usize::from(*length)) else { break };
                    let Some(value) = bytes.get(2..length) else { break };
                    options.take(kind, value);
                    bytes = &bytes[length..];
                }
            }
        }
        options
    }

    fn take(&mut self, kind: u8, value: &[u8]) {
        let word = |bytes: &[u8]| u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        match (kind, value) {
            (MSS, [high, low]) => self.mss = Some(u16::from_be_bytes([*high, *low])),
            (WINDOW_SCALE, [shift]) => self.window_scale = Some(*shift),
            (SACK_PERMITTED, []) => self.sack_permitted = true,
            (TIMESTAMP, value) if value.len() == 8 => {
                self.timestamps = Some(Timestamps { value: word(value), echo: word(&value[4..]) });
            }
            (SACK, value) if value.len() % 8 == 0 => {
                self.sack = value.chunks_exact(8).map(|block| (word(block), word(&block[4..]))).collect();
            }
            _ => {}
        }
    }

    /// As many blocks of SACK as there is room for; a multiple of four octets.
    fn emit(&self) -> Vec<u8> {
        let mut bytes = vec![];
        if let Some(mss) = self.mss {
            bytes.extend([MSS, 4]);
            bytes.extend(mss.to_be_bytes());
        }
        // SACK permitted stands in place of the no-operations before timestamps.
        match (self.sack_permitted, self.timestamps) {
            (true, _) => bytes.extend([SACK_PERMITTED, 2]),
            (false, Some(_)) => bytes.extend([NO_OPERATION; 2]),
            (false, None) => {}
        }
        if let Some(Timestamps { value, echo }) = self.timestamps {
            bytes.extend([TIMESTAMP, 10]);
            bytes.extend(value.to_be_bytes());
            bytes.extend(echo.to_be_bytes());
        } else if self.sack_permitted {
            bytes.extend([NO_OPERATION; 2]);
        }
        if let Some(shift) = self.window_scale {
            bytes.extend([NO_OPERATION, WINDOW_SCALE, 3, shift]);
        }
        let room = (MOST_OPTIONS - bytes.len()).saturating_sub(4) / 8;
        let blocks = &self.sack[..self.sack.len().min(room)];
        if !blocks.is_empty() {
            bytes.extend([NO_OPERATION, NO_OPERATION, SACK, 2 + 8 * blocks.len() as u8]);
            for (start, end) in blocks {
                bytes.extend(start.to_be_bytes());
                bytes.extend(end.to_be_bytes());
            }
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment(options: Options, data: &[u8]) -> Segment<'_> {
        Segment {
            from: "[2001:db8::1]:5000".parse().unwrap(),
            to: "[2001:db8::2]:80".parse().unwrap(),
            sequence: u32::MAX,
            acknowledgement: Some(1),
            flags: Flags { push: true, ..Flags::default() },
            window: 1000,
            options,
            data,
        }
    }

    fn parsed(bytes: &[u8]) -> Option<Segment<'_>> {
        let packet = Ipv6Packet::new_checked(&bytes[ETHERNET_HEADER..]).unwrap();
        Segment::parse(packet.src_addr(), packet.dst_addr(), &bytes[ETHERNET_HEADER + IPV6_HEADER..])
    }

    #[test]
    fn what_is_written_is_read() {
        let timestamps = Some(Timestamps { value: 5, echo: 6 });
        for options in [
            Options::default(),
            Options { mss: Some(1440), window_scale: Some(7), sack_permitted: true, timestamps, sack: vec![] },
            Options { mss: Some(1220), sack_permitted: true, ..Options::default() },
            Options { timestamps, sack: vec![(1, 2), (3, 4), (5, 6)], ..Options::default() },
            Options { sack: vec![(1, 2), (3, 4), (5, 6), (7, 8)], ..Options::default() },
        ] {
            let segment = segment(options, b"data");
            assert_eq!(segment.options.emit().len() % 4, 0);
            assert_eq!(parsed(&segment.emit()), Some(segment));
        }
    }

    #[test]
    fn no_more_blocks_are_written_than_fit() {
        let sack = vec![(1, 2); 9];
        let options = Options { timestamps: Some(Timestamps { value: 5, echo: 6 }), sack, ..Options::default() };
        assert_eq!(parsed(&segment(options, b"").emit()).unwrap().options.sack.len(), 3);
    }

    #[test]
    fn what_is_damaged_is_refused() {
        let mut bytes = segment(Options::default(), b"data").emit();
        *bytes.last_mut().unwrap() ^= 1;
        assert_eq!(parsed(&bytes), None);
    }

    #[test]
    fn broken_options_end_the_list() {
        for bytes in [&[MSS][..], &[MSS, 1], &[MSS, 0], &[TIMESTAMP, 10, 1], &[SACK, 255]] {
            assert_eq!(Options::parse(bytes), Options::default());
        }
    }
}
