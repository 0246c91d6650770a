//! ICMPv6 messages that concern the link or the programs, taken apart with smoltcp's codecs.

use smoltcp::phy::ChecksumCapabilities;
use smoltcp::time::Duration;
use smoltcp::wire::{
    EthernetAddress, Icmpv6Packet, Icmpv6Repr, IpProtocol, Ipv6Address, Ipv6Packet, NdiscNeighborFlags, NdiscOption,
    NdiscOptionRepr, NdiscPrefixInformation, NdiscRepr, NdiscRouterFlags, RawHardwareAddress,
};

use super::neighbours::Advertised;
use crate::units::SECOND;

/// What an ICMPv6 message is to a host.
pub enum Icmp {
    Discovery(Discovery),
    EchoReply(EchoReply),
    Error(IcmpError),
    /// For smoltcp.
    Other,
    Invalid,
}

pub enum Discovery {
    Solicitation { target: Ipv6Address, mac: Option<EthernetAddress> },
    Advertised(Advertised),
    Router(Advertisement),
}

/// A router's advertisement; times in nanoseconds.
pub struct Advertisement {
    pub lifetime: u64,
    /// Addresses are handed out by DHCPv6.
    pub managed: bool,
    pub reachable_time: u64,
    pub retrans_timer: u64,
    pub mac: Option<EthernetAddress>,
    pub mtu: Option<usize>,
    pub prefixes: Vec<NdiscPrefixInformation>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EchoReply {
    pub from: Ipv6Address,
    pub ident: u16,
    pub sequence: u16,
    pub bytes: usize,
}

/// An error about a packet that this host sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IcmpError {
    pub error: &'static str,
    pub code: u8,
    pub from: Ipv6Address,
    pub mtu: Option<u32>,
    pub quote: Quote,
}

/// Which packet an error is about: an echo request's identifier stands for its port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quote {
    pub destination: Ipv6Address,
    pub protocol: IpProtocol,
    pub local_port: u16,
}

/// Takes the ICMPv6 message of a packet apart.
pub fn parse(packet: &Ipv6Packet<&[u8]>) -> Icmp {
    let (from, to) = (packet.src_addr(), packet.dst_addr());
    let Ok(message) = Icmpv6Packet::new_checked(packet.payload()) else {
        return Icmp::Invalid;
    };
    let Ok(repr) = Icmpv6Repr::parse(&from, &to, &message, &ChecksumCapabilities::default()) else {
        return Icmp::Invalid;
    };
    let error = |error, mtu, destination, protocol, data: &[u8]| {
        let quote = Quote { destination, protocol, local_port: local_port(protocol, data) };
        Icmp::Error(IcmpError { error, code: message.msg_code(), from, mtu, quote })
    };
    match repr {
        Icmpv6Repr::EchoReply { ident, seq_no, data } => {
            Icmp::EchoReply(EchoReply { from, ident, sequence: seq_no, bytes: data.len() })
        }
        Icmpv6Repr::DstUnreachable { header, data, .. } => {
            error("destination_unreachable", None, header.dst_addr, header.next_header, data)
        }
        Icmpv6Repr::PktTooBig { mtu, header, data } => {
            error("packet_too_big", Some(mtu), header.dst_addr, header.next_header, data)
        }
        Icmpv6Repr::TimeExceeded { header, data, .. } => {
            error("time_exceeded", None, header.dst_addr, header.next_header, data)
        }
        Icmpv6Repr::ParamProblem { header, data, .. } => {
            error("parameter_problem", None, header.dst_addr, header.next_header, data)
        }
        Icmpv6Repr::Ndisc(repr) => discovery(packet, &message, &repr).map_or(Icmp::Invalid, Icmp::Discovery),
        _ => Icmp::Other,
    }
}

/// Discovery that passes the checks of RFC 4861, sections 6.1 and 7.1.
fn discovery(packet: &Ipv6Packet<&[u8]>, message: &Icmpv6Packet<&[u8]>, repr: &NdiscRepr<'_>) -> Option<Discovery> {
    if packet.hop_limit() != super::HOP_LIMIT || message.msg_code() != 0 {
        return None;
    }
    match *repr {
        NdiscRepr::NeighborSolicit { target_addr, lladdr } => {
            let for_group = packet.dst_addr().is_multicast() && lladdr.is_none();
            let valid = !target_addr.is_multicast() && (!packet.src_addr().is_unspecified() || for_group);
            valid.then(|| Discovery::Solicitation { target: target_addr, mac: mac(lladdr) })
        }
        NdiscRepr::NeighborAdvert { flags, target_addr, lladdr } => {
            let solicited = flags.contains(NdiscNeighborFlags::SOLICITED);
            let to_group = packet.dst_addr().is_multicast();
            let valid = !(target_addr.is_multicast() || solicited && to_group);
            let overrides = flags.contains(NdiscNeighborFlags::OVERRIDE);
            let said = Advertised { target: target_addr, mac: mac(lladdr), solicited, overrides };
            valid.then_some(Discovery::Advertised(said))
        }
        NdiscRepr::RouterAdvert { flags, router_lifetime, reachable_time, retrans_time, lladdr, mtu, .. } => {
            Some(Discovery::Router(Advertisement {
                lifetime: router_lifetime.secs() * SECOND,
                managed: flags.contains(NdiscRouterFlags::MANAGED),
                reachable_time: nanoseconds(reachable_time),
                retrans_timer: nanoseconds(retrans_time),
                mac: mac(lladdr),
                mtu: mtu.and_then(|mtu| usize::try_from(mtu).ok()),
                prefixes: prefixes(message.payload()),
            }))
        }
        // Solicitations of other hosts, and redirects, which a lab's routers do not send.
        NdiscRepr::RouterSolicit { .. } | NdiscRepr::Redirect { .. } => None,
    }
}

/// smoltcp keeps one prefix of an advertisement; here are all.
fn prefixes(mut options: &[u8]) -> Vec<NdiscPrefixInformation> {
    let mut prefixes = vec![];
    while let Ok(option) = NdiscOption::new_checked(options) {
        if let Ok(NdiscOptionRepr::PrefixInformation(prefix)) = NdiscOptionRepr::parse(&option) {
            prefixes.push(prefix);
        }
        options = &options[usize::from(option.data_len()) * 8..];
    }
    prefixes
}

fn mac(address: Option<RawHardwareAddress>) -> Option<EthernetAddress> {
    let bytes = address?;
    let mac = EthernetAddress::from_bytes(bytes.as_bytes().get(..6)?);
    mac.is_unicast().then_some(mac)
}

fn nanoseconds(duration: Duration) -> u64 {
    duration.total_micros() * 1000
}

/// From the first bytes behind a quoted IPv6 header.
fn local_port(protocol: IpProtocol, data: &[u8]) -> u16 {
    let at = match protocol {
        IpProtocol::Tcp | IpProtocol::Udp => 0,
        IpProtocol::Icmpv6 => 4,
        _ => return 0,
    };
    data.get(at..at + 2).map_or(0, |bytes| u16::from_be_bytes([bytes[0], bytes[1]]))
}
