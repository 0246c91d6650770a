//! Two hosts joined back to back on a virtual clock, by a link that may delay, lose and reorder.
use std::collections::BTreeMap;
use std::net::Ipv6Addr;

use host::{Command, Config, Event, Host, What};
use smoltcp::phy::ChecksumCapabilities;
use smoltcp::wire::{
    EthernetAddress, EthernetFrame, EthernetProtocol, EthernetRepr, Icmpv6Packet, Icmpv6Repr, IpProtocol, Ipv6Packet,
    Ipv6Repr,
};

pub const MILLISECOND: u64 = 1_000_000;
pub const SECOND: u64 = 1_000_000_000;
pub const ROUTER_MAC: EthernetAddress = EthernetAddress([2, 0, 0, 0, 0, 0xff]);

/// What the link does to frames.
#[derive(Debug, Clone)]
pub struct Link {
    pub delay: u64,
    /// Of a hundred frames, so many are lost.
    pub loss: u32,
    /// Of a hundred frames, so many take another three milliseconds.
    pub late: u32,
    /// From when to when nothing passes.
    pub cut: std::ops::Range<u64>,
    /// A router that is on the way sends longer packets back.
    pub mtu: usize,
}

impl Default for Link {
    fn default() -> Self {
        Self { delay: 5 * MILLISECOND, loss: 0, late: 0, cut: 0..0, mtu: 1500 }
    }
}

/// A router's answer to a packet that its next link does not take.
fn too_big(frame: &[u8], mtu: usize) -> Vec<u8> {
    let packet = Ipv6Packet::new_checked(&frame[14..]).unwrap();
    let header = Ipv6Repr::parse(&packet).unwrap();
    let message = Icmpv6Repr::PktTooBig { mtu: mtu as u32, header, data: packet.payload() };
    let router = Ipv6Addr::new(0x2001, 0xdb8, 0xff, 0, 0, 0, 0, 1);
    icmpv6(EthernetAddress::from_bytes(&frame[6..12]), router, header.src_addr, 64, &message, &[])
}

/// A frame of a router with an ICMPv6 message; `more` are options behind it.
pub fn icmpv6(
    mac: EthernetAddress,
    from: Ipv6Addr,
    to: Ipv6Addr,
    hop_limit: u8,
    message: &Icmpv6Repr<'_>,
    more: &[u8],
) -> Vec<u8> {
    let length = message.buffer_len();
    let mut frame = vec![0; 14 + 40 + length];
    let ethernet = EthernetRepr { src_addr: ROUTER_MAC, dst_addr: mac, ethertype: EthernetProtocol::Ipv6 };
    ethernet.emit(&mut EthernetFrame::new_unchecked(&mut frame[..]));
    let checksums = ChecksumCapabilities::default();
    message.emit(&from, &to, &mut Icmpv6Packet::new_unchecked(&mut frame[54..]), &checksums);
    frame.extend(more);
    let header = Ipv6Repr {
        src_addr: from,
        dst_addr: to,
        next_header: IpProtocol::Icmpv6,
        payload_len: length + more.len(),
        hop_limit,
    };
    header.emit(&mut Ipv6Packet::new_unchecked(&mut frame[14..54]));
    Icmpv6Packet::new_unchecked(&mut frame[54..]).fill_checksum(&from, &to);
    frame
}

pub struct Network {
    pub hosts: [Host; 2],
    pub events: [Vec<Event>; 2],
    /// What was sent: when, by whom, the frame.
    pub sent: Vec<(u64, usize, Vec<u8>)>,
    pub now: u64,
    pub link: Link,
    random: fastrand::Rng,
    under_way: BTreeMap<(u64, u64), (usize, Vec<u8>)>,
    number: u64,
}

pub fn config(number: u8, addresses: &[&str]) -> Config {
    let addresses: Vec<String> = addresses.iter().map(|address| (*address).to_string()).collect();
    let mut config = Config::parse(&format!("02:00:00:00:00:{number:02x}"), &addresses, None).unwrap();
    config.seed = number.into();
    config
}

impl Network {
    /// Hosts 2001:db8::1 and 2001:db8::2.
    pub fn new(link: Link) -> Self {
        Self::of([config(1, &["2001:db8::1/64"]), config(2, &["2001:db8::2/64"])], link)
    }

    pub fn of(configs: [Config; 2], link: Link) -> Self {
        Self {
            hosts: configs.map(|config| Host::new(&config).unwrap()),
            events: [vec![], vec![]],
            sent: vec![],
            now: 0,
            link,
            random: fastrand::Rng::with_seed(7),
            under_way: BTreeMap::new(),
            number: 0,
        }
    }

    pub fn command(&mut self, host: usize, line: &str) -> u32 {
        let command = Command::parse(line).unwrap();
        self.hosts[host].command(command, self.now).unwrap().unwrap_or_default()
    }

    /// Goes on until `end`, or until nothing is left to do.
    pub fn run(&mut self, end: u64) {
        loop {
            for index in 0..2 {
                let mut frames = vec![];
                self.hosts[index].poll(self.now, &mut frames);
                self.events[index].extend(self.hosts[index].take_events());
                for frame in frames {
                    self.carry(index, frame);
                }
            }
            let now = self.now;
            let wakes = self.hosts.iter_mut().filter_map(|host| host.next_wake(now));
            let arrivals = self.under_way.keys().next().map(|(at, _)| *at);
            let Some(next) = wakes.chain(arrivals).min() else {
                break;
            };
            assert!(next > now || arrivals == Some(now), "a host that was polled wants to be polled at once");
            if next > end {
                break;
            }
            self.now = next;
            while let Some(entry) = self.under_way.first_entry().filter(|entry| entry.key().0 <= next) {
                let (to, frame) = entry.remove();
                self.hosts[to].receive(&frame, next);
            }
        }
        self.now = self.now.max(end);
    }

    fn carry(&mut self, from: usize, frame: Vec<u8>) {
        let lost = self.random.u32(..100) < self.link.loss || self.link.cut.contains(&self.now);
        let late = if self.random.u32(..100) < self.link.late { 3 * MILLISECOND } else { 0 };
        self.sent.push((self.now, from, frame.clone()));
        let (to, frame) = match frame.get(14 + self.link.mtu..) {
            Some([_, ..]) => (from, too_big(&frame, self.link.mtu)),
            _ => (1 - from, frame),
        };
        if !lost {
            self.number += 1;
            self.under_way.insert((self.now + self.link.delay + late, self.number), (to, frame));
        }
    }

    /// What host `host` told of `flow`.
    pub fn told(&self, host: usize, flow: u32) -> Vec<&What> {
        self.events[host].iter().filter(|event| event.flow == Some(flow)).map(|event| &event.what).collect()
    }
}
