//! ICMPv6 messages as frames, through smoltcp's codecs.

use smoltcp::phy::ChecksumCapabilities;
use smoltcp::wire::{
    EthernetAddress, EthernetFrame, EthernetProtocol, EthernetRepr, Icmpv6Packet, Icmpv6Repr, IpProtocol, Ipv6Address,
    Ipv6Packet, Ipv6Repr,
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
