//! A host that gets its address by DHCPv6, from a server whose messages are made here (RFC 8415).

use std::net::Ipv6Addr;

use host::{Config, Host};
use smoltcp::phy::ChecksumCapabilities;
use smoltcp::wire::{
    EthernetAddress, EthernetFrame, EthernetProtocol, EthernetRepr, Icmpv6Packet, Icmpv6Repr, IpProtocol, Ipv6Packet,
    Ipv6Repr, NdiscRepr, NdiscRouterFlags, UdpPacket, UdpRepr,
};

const SECOND: u64 = 1_000_000_000;
const HOST: EthernetAddress = EthernetAddress([2, 0, 0, 0, 0, 1]);
const ROUTER_MAC: EthernetAddress = EthernetAddress([2, 0, 0, 0, 0, 0xff]);
const ROUTER: Ipv6Addr = Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 0xff);
const LINK_LOCAL: Ipv6Addr = Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0xff, 0xfe00, 1);
const GIVEN: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 1, 10, 0x1234, 0, 0, 0x42);
const SOLICIT: u8 = 1;
const ADVERTISE: u8 = 2;
const REQUEST: u8 = 3;
const RENEW: u8 = 5;
const REBIND: u8 = 6;
const REPLY: u8 = 7;

struct Lone {
    host: Host,
    now: u64,
}

impl Lone {
    /// A host whose router says that addresses are handed out, or that they are not.
    fn new(managed: bool) -> Self {
        let host = Host::new(&Config::new(HOST)).unwrap();
        let mut lone = Self { host, now: 0 };
        lone.wait(SECOND);
        let flags = if managed { NdiscRouterFlags::MANAGED } else { NdiscRouterFlags::empty() };
        let said = Icmpv6Repr::Ndisc(NdiscRepr::RouterAdvert {
            hop_limit: 64,
            flags,
            router_lifetime: smoltcp::time::Duration::from_secs(1800),
            reachable_time: smoltcp::time::Duration::ZERO,
            retrans_time: smoltcp::time::Duration::ZERO,
            lladdr: Some(ROUTER_MAC.into()),
            mtu: None,
            prefix_info: None,
        });
        let group = Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 1);
        let mut icmp = vec![0; said.buffer_len()];
        said.emit(&ROUTER, &group, &mut Icmpv6Packet::new_unchecked(&mut icmp), &ChecksumCapabilities::default());
        lone.hear(group, IpProtocol::Icmpv6, &icmp);
        lone
    }

    fn hear(&mut self, to: Ipv6Addr, next_header: IpProtocol, payload: &[u8]) {
        let header =
            Ipv6Repr { src_addr: ROUTER, dst_addr: to, next_header, payload_len: payload.len(), hop_limit: 255 };
        let mut frame = vec![0; 54];
        let ethernet = EthernetRepr { src_addr: ROUTER_MAC, dst_addr: HOST, ethertype: EthernetProtocol::Ipv6 };
        ethernet.emit(&mut EthernetFrame::new_unchecked(&mut frame[..]));
        header.emit(&mut Ipv6Packet::new_unchecked(&mut frame[14..]));
        frame.extend(payload);
        self.host.receive(&frame, self.now);
    }

    /// Goes on until a moment; what was asked of servers meanwhile.
    fn wait(&mut self, until: u64) -> Vec<Vec<u8>> {
        let mut asked = vec![];
        loop {
            let mut frames = vec![];
            self.host.poll(self.now, &mut frames);
            asked.extend(frames.iter().filter_map(|frame| question(frame)));
            match self.host.next_wake(self.now) {
                Some(wake) if wake <= until => self.now = wake,
                _ => break,
            }
        }
        self.now = until;
        asked
    }

    fn answer(&mut self, kind: u8, question: &[u8], lease: Option<(Ipv6Addr, u32, u32)>) {
        let mut message = vec![kind];
        message.extend(&question[1..4]);
        put(&mut message, 1, &[&[0, 3, 0, 1], &HOST.0[..]].concat());
        put(&mut message, 2, b"server");
        let mut association = [&1u32.to_be_bytes()[..], &[0; 8]].concat();
        if let Some((address, preferred, valid)) = lease {
            let times = [preferred.to_be_bytes(), valid.to_be_bytes()].concat();
            put(&mut association, 5, &[&address.octets()[..], &times].concat());
        }
        put(&mut message, 3, &association);
        let udp = UdpRepr { src_port: 547, dst_port: 546 };
        let mut datagram = vec![0; 8 + message.len()];
        udp.emit(
            &mut UdpPacket::new_unchecked(&mut datagram),
            &ROUTER.into(),
            &LINK_LOCAL.into(),
            message.len(),
            |room| room.copy_from_slice(&message),
            &ChecksumCapabilities::default(),
        );
        self.hear(LINK_LOCAL, IpProtocol::Udp, &datagram);
    }

    fn has(&mut self, address: Ipv6Addr) -> bool {
        self.host.carry_out(r#"{"command":"status"}"#, self.now);
        let told = serde_json::to_string(&self.host.take_events()).unwrap();
        told.rsplit("status").next().unwrap().contains(&address.to_string())
    }

    /// A host with a lease of 100 seconds, of which 60 are preferred, and when it got it.
    fn bound() -> Self {
        let mut lone = Self::new(true);
        let asked = lone.wait(3 * SECOND);
        lone.answer(ADVERTISE, &asked[0], Some((GIVEN, 60, 100)));
        let asked = lone.wait(lone.now + 4 * SECOND);
        let request = asked.iter().find(|message| message[0] == REQUEST).unwrap().clone();
        lone.answer(REPLY, &request, Some((GIVEN, 60, 100)));
        lone.wait(lone.now + SECOND / 10);
        lone
    }
}

fn put(message: &mut Vec<u8>, code: u16, value: &[u8]) {
    message.extend(code.to_be_bytes());
    message.extend((value.len() as u16).to_be_bytes());
    message.extend(value);
}

fn question(frame: &[u8]) -> Option<Vec<u8>> {
    let packet = Ipv6Packet::new_checked(&frame[14..]).unwrap();
    (packet.next_header() == IpProtocol::Udp).then(|| {
        assert_eq!(packet.src_addr(), LINK_LOCAL);
        assert_eq!(packet.dst_addr(), Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 1, 2));
        assert_eq!(&frame[..6], [0x33, 0x33, 0, 1, 0, 2]);
        let udp = UdpPacket::new_checked(packet.payload()).unwrap();
        assert!(udp.verify_checksum(&packet.src_addr().into(), &packet.dst_addr().into()));
        assert_eq!((udp.src_port(), udp.dst_port()), (546, 547));
        udp.payload().to_vec()
    })
}

fn kinds(asked: &[Vec<u8>]) -> Vec<u8> {
    asked.iter().map(|message| message[0]).collect()
}

#[test]
fn asks_only_where_addresses_are_handed_out() {
    assert!(Lone::new(false).wait(60 * SECOND).is_empty());
    let mut lone = Lone::new(true);
    let asked = kinds(&lone.wait(60 * SECOND));
    // At growing intervals: 1, 2, 4, ... seconds.
    assert!(asked.iter().all(|kind| *kind == SOLICIT) && (5..=7).contains(&asked.len()), "{asked:?}");
}

#[test]
fn gets_an_address() {
    let mut lone = Lone::bound();
    assert!(lone.has(GIVEN));
}

#[test]
fn renews_at_half_of_the_preferred_time() {
    let mut lone = Lone::bound();
    assert!(lone.wait(lone.now + 25 * SECOND).is_empty());
    let asked = lone.wait(lone.now + 10 * SECOND);
    assert_eq!(kinds(&asked), [RENEW]);
    assert!(asked[0].windows(16).any(|octets| octets == GIVEN.octets()));
    lone.answer(REPLY, &asked[0], Some((GIVEN, 60, 100)));
    assert!(lone.wait(lone.now + 25 * SECOND).is_empty());
    lone.wait(lone.now + 5 * SECOND);
    assert!(lone.has(GIVEN));
}

#[test]
fn without_an_answer_asks_all_servers_then_loses_the_address_and_begins_again() {
    let mut lone = Lone::bound();
    let asked = kinds(&lone.wait(lone.now + 120 * SECOND));
    let first = |kind: u8| asked.iter().position(|each| *each == kind).unwrap();
    assert!(first(RENEW) < first(REBIND) && first(REBIND) < first(SOLICIT), "{asked:?}");
    assert!(!lone.has(GIVEN));
}

#[test]
fn asks_again_if_there_is_no_address() {
    let mut lone = Lone::new(true);
    let asked = lone.wait(3 * SECOND);
    lone.answer(ADVERTISE, &asked[0], None);
    assert!(kinds(&lone.wait(20 * SECOND)).iter().all(|kind| *kind == SOLICIT));
}

#[test]
fn answers_that_are_none_change_nothing() {
    let mut lone = Lone::new(true);
    let asked = lone.wait(3 * SECOND);
    let mut foreign = asked[0].clone();
    foreign[1] ^= 1;
    lone.answer(ADVERTISE, &foreign, Some((GIVEN, 60, 100)));
    lone.answer(REPLY, &asked[0], Some((GIVEN, 60, 100)));
    lone.answer(ADVERTISE, &asked[0], Some((GIVEN, 100, 60)));
    lone.answer(ADVERTISE, &asked[0], Some((GIVEN, 0, 0)));
    assert!(kinds(&lone.wait(20 * SECOND)).iter().all(|kind| *kind == SOLICIT));
    assert!(!lone.has(GIVEN));
}
