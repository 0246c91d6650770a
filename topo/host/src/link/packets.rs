//! ICMPv6 messages and datagrams as frames, through smoltcp's codecs.

use smoltcp::phy::ChecksumCapabilities;
use smoltcp::wire::{
    EthernetAddress, EthernetFrame, EthernetProtocol, EthernetRepr, Icmpv6Packet, Icmpv6Repr, IpProtocol, Ipv6Address,
    Ipv6ExtHeader, Ipv6Packet, Ipv6Repr, UdpPacket, UdpRepr,
};

/// Before every packet that leaves.
pub const ETHERNET_HEADER: usize = 14;
const IPV6_HEADER: usize = 40;

/// An IPv6 packet with one ICMPv6 message, with room in front for an Ethernet header.
pub fn icmpv6(source: Ipv6Address, destination: Ipv6Address, hop_limit: u8, message: &Icmpv6Repr<'_>) -> Vec<u8> {
    let header = Ipv6Repr {
        src_addr: source,
        dst_addr: destination,
        next_header: IpProtocol::Icmpv6,
        payload_len: message.buffer_len(),
        hop_limit,
    };
    let mut packet = vec![0; ETHERNET_HEADER + IPV6_HEADER + message.buffer_len()];
    let (ipv6, payload) = packet[ETHERNET_HEADER..].split_at_mut(IPV6_HEADER);
    header.emit(&mut Ipv6Packet::new_unchecked(ipv6));
    let mut icmp = Icmpv6Packet::new_unchecked(payload);
    message.emit(&source, &destination, &mut icmp, &ChecksumCapabilities::default());
    packet
}

/// An IPv6 packet with a UDP datagram, with room in front for an Ethernet header.
pub fn datagram(from: (Ipv6Address, u16), to: (Ipv6Address, u16), data: &[u8]) -> Vec<u8> {
    let udp = UdpRepr { src_port: from.1, dst_port: to.1 };
    let header = Ipv6Repr {
        src_addr: from.0,
        dst_addr: to.0,
        next_header: IpProtocol::Udp,
        payload_len: udp.header_len() + data.len(),
        hop_limit: 64,
    };
    let mut packet = vec![0; ETHERNET_HEADER + IPV6_HEADER + header.payload_len];
    let (ipv6, payload) = packet[ETHERNET_HEADER..].split_at_mut(IPV6_HEADER);
    header.emit(&mut Ipv6Packet::new_unchecked(ipv6));
    let (source, destination) = (from.0.into(), to.0.into());
    let fill = |room: &mut [u8]| room.copy_from_slice(data);
    let checksums = ChecksumCapabilities::default();
    udp.emit(&mut UdpPacket::new_unchecked(payload), &source, &destination, data.len(), fill, &checksums);
    packet
}

/// What a packet of UDP between these ports has in it, if it is sound.
pub fn read_datagram<'a>(packet: &Ipv6Packet<&'a [u8]>, from: u16, to: u16) -> Option<&'a [u8]> {
    if packet.next_header() != IpProtocol::Udp {
        return None;
    }
    let udp = UdpPacket::new_checked(packet.payload()).ok()?;
    let (source, destination) = (packet.src_addr().into(), packet.dst_addr().into());
    let repr = UdpRepr::parse(&udp, &source, &destination, &ChecksumCapabilities::default()).ok()?;
    (repr.src_port == from && repr.dst_port == to).then(|| udp.payload())
}

/// The segment of TCP in a packet, behind hop-by-hop options that may be skipped (RFC 8200, section 4.2). With others
/// the packet is smoltcp's, which answers it.
pub fn tcp_payload<'a>(packet: &Ipv6Packet<&'a [u8]>) -> Option<&'a [u8]> {
    let payload = packet.payload();
    match packet.next_header() {
        IpProtocol::Tcp => Some(payload),
        IpProtocol::HopByHop => {
            let header = Ipv6ExtHeader::new_checked(payload).ok()?;
            let behind = &payload[8 * (usize::from(header.header_len()) + 1)..];
            (header.next_header() == IpProtocol::Tcp && can_be_skipped(header.payload())).then_some(behind)
        }
        _ => None,
    }
}

/// Whether a host that knows none of the options goes on: the two highest bits of each are 0.
fn can_be_skipped(mut options: &[u8]) -> bool {
    const PAD1: u8 = 0;
    while let [kind, rest @ ..] = options {
        if *kind == PAD1 {
            options = rest;
            continue;
        }
        let behind = rest.split_first().and_then(|(length, rest)| rest.get(usize::from(*length)..));
        match behind {
            Some(behind) if kind >> 6 == 0 => options = behind,
            _ => return false,
        }
    }
    true
}

/// Writes the Ethernet header into the room in front of a packet.
pub fn address_frame(packet: &mut [u8], from: EthernetAddress, to: EthernetAddress) {
    let header = EthernetRepr { src_addr: from, dst_addr: to, ethertype: EthernetProtocol::Ipv6 };
    header.emit(&mut EthernetFrame::new_unchecked(packet));
}

/// Where frames to a group go (RFC 2464, section 7).
pub fn group_mac(group: Ipv6Address) -> EthernetAddress {
    let [.., a, b, c, d] = group.octets();
    EthernetAddress([0x33, 0x33, a, b, c, d])
}

/// Where those listen who may have an address (RFC 4291, section 2.7.1).
pub fn solicited_node_group(address: Ipv6Address) -> Ipv6Address {
    let [.., a, b, c] = address.octets();
    Ipv6Address::new(0xff02, 0, 0, 0, 0, 1, 0xff00 | u16::from(a), u16::from(b) << 8 | u16::from(c))
}

/// As people write it; smoltcp puts dashes.
pub fn mac_text(mac: EthernetAddress) -> String {
    mac.to_string().replace('-', ":")
}
