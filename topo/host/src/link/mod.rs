//! The link below IPv6: Ethernet, and the neighbours and routers that are on it (RFC 4861, RFC 4862).
//!
//! smoltcp could do this too, but not for a lab: one question a second for all neighbours together, none of a known
//! neighbour whether it still answers, no answer to a question that comes to the host alone, one prefix per
//! advertisement, and the first reply to a ping lost.

mod addresses;
mod dhcp;
mod icmp;
mod neighbours;
mod packets;
mod routers;

use smoltcp::wire::{
    EthernetAddress, EthernetFrame, EthernetProtocol, Icmpv6Repr, IpProtocol, Ipv6Address, Ipv6Cidr, Ipv6Packet,
    NdiscNeighborFlags, NdiscRepr,
};

pub use icmp::{EchoReply, IcmpError, Quote};
pub use packets::{ETHERNET_HEADER, mac_text, tcp_payload};

use crate::config::{Config, MIN_MTU};
use crate::event::{NeighbourStatus, What};
use addresses::Addresses;
use dhcp::{ALL_SERVERS, CLIENT_PORT, Dhcp, SERVER_PORT};
use icmp::{Advertisement, Discovery, Icmp};
use neighbours::{Action, Neighbours};
use packets::{address_frame, datagram, group_mac, icmpv6, read_datagram, solicited_node_group};
use routers::Routers;

const ALL_NODES: Ipv6Address = Ipv6Address::new(0xff02, 0, 0, 0, 0, 0, 0, 1);
const ALL_ROUTERS: Ipv6Address = Ipv6Address::new(0xff02, 0, 0, 0, 0, 0, 0, 2);
/// Discovery comes from the link itself or not at all (RFC 4861).
const HOP_LIMIT: u8 = 255;

/// What a frame brought that others must deal with.
#[derive(Debug, PartialEq, Eq)]
pub enum Received {
    Nothing,
    Packet(Vec<u8>),
    EchoReply(EchoReply),
    Error(IcmpError),
}

pub struct Link {
    mac: EthernetAddress,
    mtu: usize,
    addresses: Addresses,
    routers: Routers,
    neighbours: Neighbours,
    dhcp: Dhcp,
    actions: Vec<Action>,
    frames: Vec<Vec<u8>>,
    /// Packets to the host itself.
    own: Vec<Vec<u8>>,
    events: Vec<What>,
    /// Destinations of packets that no router could take.
    unroutable: Vec<Ipv6Address>,
}

impl Link {
    pub fn new(config: &Config) -> Self {
        Self {
            mac: config.mac,
            mtu: config.mtu,
            addresses: Addresses::new(config.mac, &config.addresses),
            routers: Routers::new(config.gateway, &config.addresses, config.autoconfigures()),
            neighbours: Neighbours::default(),
            dhcp: Dhcp::new(config.mac, config.seed),
            actions: vec![],
            frames: vec![],
            own: vec![],
            events: vec![],
            unroutable: vec![],
        }
    }

    pub fn mac(&self) -> EthernetAddress {
        self.mac
    }

    /// The longest packet that the link takes.
    pub fn mtu(&self) -> usize {
        self.mtu
    }

    pub fn addresses(&self) -> impl Iterator<Item = Ipv6Cidr> {
        self.addresses.list()
    }

    pub fn routers(&self) -> impl Iterator<Item = Ipv6Address> {
        self.routers.list()
    }

    pub fn neighbours(&self) -> impl Iterator<Item = NeighbourStatus> {
        self.neighbours.list().map(|(address, mac, state)| NeighbourStatus { address, mac: mac.map(mac_text), state })
    }

    /// The source of packets to a destination; a wanted one if it is the host's.
    pub fn source_for(&self, destination: Ipv6Address, wanted: Option<Ipv6Address>, now: u64) -> Option<Ipv6Address> {
        match wanted {
            Some(address) => self.addresses.has(address).then_some(address),
            None => self.addresses.source_for(destination, now),
        }
    }

    /// Takes a frame from the wire.
    pub fn receive(&mut self, frame: &[u8], now: u64) -> Received {
        let Ok(ethernet) = EthernetFrame::new_checked(frame) else {
            return Received::Nothing;
        };
        let to_us = ethernet.dst_addr() == self.mac || ethernet.dst_addr().is_multicast();
        if ethernet.ethertype() != EthernetProtocol::Ipv6 || !to_us || ethernet.src_addr() == self.mac {
            return Received::Nothing;
        }
        let Ok(packet) = Ipv6Packet::new_checked(ethernet.payload()) else {
            return Received::Nothing;
        };
        let destination = packet.dst_addr();
        let wanted = self.addresses.has(destination)
            || destination == ALL_NODES
            || self.addresses.in_solicited_group(destination);
        if packet.version() != 6 || !wanted {
            return Received::Nothing;
        }
        if packet.next_header() == IpProtocol::Icmpv6 {
            match icmp::parse(&packet) {
                Icmp::Discovery(discovery) => {
                    self.discover(packet.src_addr(), destination, discovery, now);
                    self.act();
                    return Received::Nothing;
                }
                Icmp::EchoReply(reply) => return Received::EchoReply(reply),
                Icmp::Error(error) => return Received::Error(error),
                Icmp::Invalid => return Received::Nothing,
                Icmp::Other => {}
            }
        }
        if let Some(data) = read_datagram(&packet, SERVER_PORT, CLIENT_PORT).filter(|_| self.routers.autoconfigures()) {
            if let Some(lease) = self.dhcp.receive(data, now) {
                self.addresses.leased(lease.address, lease.preferred_until, lease.valid_until);
            }
            return Received::Nothing;
        }
        Received::Packet(ethernet.payload()[..packet.total_len()].to_vec())
    }

    fn discover(&mut self, source: Ipv6Address, destination: Ipv6Address, message: Discovery, now: u64) {
        match message {
            Discovery::Solicitation { target, mac } => {
                if source.is_unspecified() {
                    if self.addresses.has(target) && !self.addresses.claimed_by_other(target, now) {
                        self.advertise(target, ALL_NODES);
                    }
                    return;
                }
                if let Some(mac) = mac {
                    self.neighbours.heard(source, mac, &mut self.actions);
                }
                if self.addresses.has(target) {
                    let advertisement = self.advertisement(target, source, NdiscNeighborFlags::SOLICITED);
                    self.neighbours.send(source, advertisement, now, &mut self.actions);
                }
            }
            Discovery::Advertised(said) => {
                if self.addresses.has(said.target) {
                    self.addresses.claimed_by_other(said.target, now);
                } else {
                    self.routers.set_suspect(said.target, false);
                    self.neighbours.advertised(said, now, &mut self.actions);
                }
            }
            Discovery::Router(said) => {
                let for_us = destination == ALL_NODES || destination.is_unicast_link_local();
                if self.routers.autoconfigures() && source.is_unicast_link_local() && for_us {
                    self.configure(source, &said, now);
                }
            }
        }
    }

    /// Takes what a router advertises (RFC 4861, section 6.3.4).
    fn configure(&mut self, router: Ipv6Address, said: &Advertisement, now: u64) {
        self.routers.advertised(router, said.lifetime, now);
        self.neighbours.set_timers(said.reachable_time, said.retrans_timer);
        if let Some(mac) = said.mac {
            self.neighbours.heard(router, mac, &mut self.actions);
        }
        if let Some(mtu) = said.mtu.filter(|mtu| (MIN_MTU..self.mtu).contains(mtu)) {
            self.mtu = mtu;
        }
        if said.managed {
            self.dhcp.start(now);
        }
        for prefix in &said.prefixes {
            self.routers.prefix_advertised(prefix, now);
            self.addresses.advertised(prefix, now);
        }
    }

    fn advertisement(&self, target: Ipv6Address, to: Ipv6Address, flags: NdiscNeighborFlags) -> Vec<u8> {
        let flags = flags | NdiscNeighborFlags::OVERRIDE;
        let message = NdiscRepr::NeighborAdvert { flags, target_addr: target, lladdr: Some(self.mac.into()) };
        icmpv6(target, to, HOP_LIMIT, &Icmpv6Repr::Ndisc(message))
    }

    fn advertise(&mut self, target: Ipv6Address, group: Ipv6Address) {
        let packet = self.advertisement(target, group, NdiscNeighborFlags::empty());
        self.put(packet, group_mac(group));
    }

    /// Sends a packet that has room for an Ethernet header in front.
    pub fn send(&mut self, packet: Vec<u8>, now: u64) {
        let destination = Ipv6Packet::new_unchecked(&packet[ETHERNET_HEADER..]).dst_addr();
        if destination.is_multicast() {
            self.put(packet, group_mac(destination));
        } else if self.addresses.has(destination) {
            self.own.push(packet[ETHERNET_HEADER..].to_vec());
        } else if let Some(next_hop) = self.routers.next_hop(destination) {
            self.neighbours.send(next_hop, packet, now, &mut self.actions);
            self.act();
        } else {
            self.unroutable.push(destination);
        }
    }

    /// Sends an echo request.
    pub fn send_echo(&mut self, from: Ipv6Address, to: Ipv6Address, ident: u16, sequence: u16, data: &[u8], now: u64) {
        let message = Icmpv6Repr::EchoRequest { ident, seq_no: sequence, data };
        self.send(icmpv6(from, to, 64, &message), now);
    }

    /// Does what is due.
    pub fn poll(&mut self, now: u64) {
        for address in self.addresses.poll(now) {
            let message = NdiscRepr::NeighborSolicit { target_addr: address, lladdr: None };
            let group = solicited_node_group(address);
            let packet = icmpv6(Ipv6Address::UNSPECIFIED, group, HOP_LIMIT, &Icmpv6Repr::Ndisc(message));
            self.put(packet, group_mac(group));
        }
        if self.routers.poll(now) {
            self.solicit_routers();
        }
        if let Some(message) = self.dhcp.poll(now)
            && let Some(source) = self.addresses.link_local()
        {
            let packet = datagram((source, CLIENT_PORT), (ALL_SERVERS, SERVER_PORT), &message);
            self.put(packet, group_mac(ALL_SERVERS));
        }
        self.neighbours.poll(now, &mut self.actions);
        self.act();
        self.tell_changes();
    }

    pub fn next_wake(&self) -> Option<u64> {
        let parts =
            [self.addresses.next_wake(), self.routers.next_wake(), self.neighbours.next_wake(), self.dhcp.next_wake()];
        parts.into_iter().flatten().min()
    }

    /// The link was away: whatever is behind it now may be new.
    pub fn restart(&mut self, now: u64) {
        self.routers.restart();
        self.dhcp.restart(now);
    }

    pub fn take_frames(&mut self, frames: &mut Vec<Vec<u8>>) {
        frames.append(&mut self.frames);
    }

    pub fn take_own(&mut self) -> Vec<Vec<u8>> {
        std::mem::take(&mut self.own)
    }

    pub fn take_events(&mut self) -> Vec<What> {
        std::mem::take(&mut self.events)
    }

    pub fn take_unroutable(&mut self) -> Vec<Ipv6Address> {
        std::mem::take(&mut self.unroutable)
    }

    fn solicit_routers(&mut self) {
        let source = self.addresses.link_local();
        // Without an address there is nothing to say who asks (RFC 4861, section 4.1).
        let mac = source.map(|_| self.mac.into());
        let message = Icmpv6Repr::Ndisc(NdiscRepr::RouterSolicit { lladdr: mac });
        let packet = icmpv6(source.unwrap_or(Ipv6Address::UNSPECIFIED), ALL_ROUTERS, HOP_LIMIT, &message);
        self.put(packet, group_mac(ALL_ROUTERS));
    }

    fn act(&mut self) {
        for action in std::mem::take(&mut self.actions) {
            match action {
                Action::Send { mac, packet } => self.put(packet, mac),
                Action::Solicit { target, mac } => {
                    let source = self.addresses.source_for(target, 0).or_else(|| self.addresses.link_local());
                    let Some(source) = source else { continue };
                    let group = solicited_node_group(target);
                    let message = NdiscRepr::NeighborSolicit { target_addr: target, lladdr: Some(self.mac.into()) };
                    let to = if mac.is_some() { target } else { group };
                    let packet = icmpv6(source, to, HOP_LIMIT, &Icmpv6Repr::Ndisc(message));
                    self.put(packet, mac.unwrap_or_else(|| group_mac(group)));
                }
                Action::Unreachable { neighbour, packets } => {
                    self.routers.set_suspect(neighbour, true);
                    self.events.push(What::NeighbourUnreachable { neighbour, packets });
                }
            }
        }
    }

    fn put(&mut self, mut packet: Vec<u8>, to: EthernetAddress) {
        address_frame(&mut packet, self.mac, to);
        self.frames.push(packet);
    }

    fn tell_changes(&mut self) {
        for change in std::mem::take(&mut self.addresses.changes) {
            self.events.push(match change {
                addresses::Change::Added(cidr) => What::AddressAdded { address: cidr.to_string() },
                addresses::Change::Removed(cidr) => What::AddressRemoved { address: cidr.to_string() },
                addresses::Change::Duplicate(cidr) => What::AddressDuplicate { address: cidr.to_string() },
            });
        }
        for change in std::mem::take(&mut self.routers.changes) {
            self.events.push(match change {
                routers::Change::Added(router) => What::RouterAdded { router },
                routers::Change::Removed(router) => What::RouterRemoved { router },
            });
        }
    }
}
