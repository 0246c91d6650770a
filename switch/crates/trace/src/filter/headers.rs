//! What filters ask of a packet: Ethernet, VLAN tags, IPv4 or IPv6 with its extension headers, ports.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

const VLAN: u16 = 0x8100;
const SERVICE_VLAN: u16 = 0x88a8;
const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;

const TCP: u8 = 6;
const UDP: u8 = 17;
const HOP_BY_HOP: u8 = 0;
const ROUTING: u8 = 43;
const FRAGMENT: u8 = 44;
const DESTINATION_OPTIONS: u8 = 60;

#[derive(Debug, Default)]
pub struct Headers {
    /// Behind the VLAN tags.
    pub ether_type: Option<u16>,
    /// The outermost.
    pub vlan: Option<u16>,
    pub addresses: Option<(IpAddr, IpAddr)>,
    /// What is behind the extension headers.
    pub protocol: Option<u8>,
    pub ports: Option<(u16, u16)>,
}

fn word(packet: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(*packet.get(at..)?.first_chunk()?))
}

impl Headers {
    /// Reads as far as the packet goes.
    pub fn of(packet: &[u8]) -> Self {
        let mut headers = Self::default();
        // None says where the packet ended.
        let _ = headers.read(packet);
        headers
    }

    fn read(&mut self, packet: &[u8]) -> Option<()> {
        let mut at = 12;
        let mut kind = word(packet, at)?;
        while matches!(kind, VLAN | SERVICE_VLAN) {
            self.vlan = self.vlan.or(Some(word(packet, at + 2)? & 0xfff));
            at += 4;
            kind = word(packet, at)?;
        }
        self.ether_type = Some(kind);
        let packet = &packet[at + 2..];
        match kind {
            IPV4 => self.read_ipv4(packet),
            IPV6 => self.read_ipv6(packet),
            _ => None,
        }
    }

    fn read_ipv4(&mut self, packet: &[u8]) -> Option<()> {
        let address = |at: usize| Some(IpAddr::V4(Ipv4Addr::from(*packet.get(at..)?.first_chunk::<4>()?)));
        self.addresses = Some((address(12)?, address(16)?));
        self.protocol = Some(packet[9]);
        let is_first = word(packet, 6)? & 0x1fff == 0;
        self.read_ports(packet.get(usize::from(packet[0] & 15) * 4..)?, is_first)
    }

    fn read_ipv6(&mut self, packet: &[u8]) -> Option<()> {
        let address = |at: usize| Some(IpAddr::V6(Ipv6Addr::from(*packet.get(at..)?.first_chunk::<16>()?)));
        self.addresses = Some((address(8)?, address(24)?));
        let mut next = packet[6];
        let mut rest = &packet[40..];
        let mut is_first = true;
        // RFC 8200, section 4: what precedes the upper layer, in any order.
        while matches!(next, HOP_BY_HOP | ROUTING | FRAGMENT | DESTINATION_OPTIONS) {
            let length = match next {
                FRAGMENT => {
                    is_first &= word(rest, 2)? & 0xfff8 == 0;
                    8
                }
                _ => (usize::from(*rest.get(1)?) + 1) * 8,
            };
            next = *rest.first()?;
            rest = rest.get(length..)?;
        }
        self.protocol = Some(next);
        self.read_ports(rest, is_first)
    }

    fn read_ports(&mut self, packet: &[u8], is_first: bool) -> Option<()> {
        if is_first && matches!(self.protocol, Some(TCP | UDP)) {
            self.ports = Some((word(packet, 0)?, word(packet, 2)?));
        }
        Some(())
    }
}
