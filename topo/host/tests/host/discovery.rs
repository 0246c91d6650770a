//! A host among routers and neighbours, whose messages are made here.

use std::net::Ipv6Addr;

use crate::common::{ROUTER_MAC, SECOND, icmpv6};
use host::{Config, Host, What};
use smoltcp::time::Duration;
use smoltcp::wire::{
    EthernetAddress, EthernetFrame, Icmpv6Packet, Icmpv6Repr, IpProtocol, Ipv6Packet, Ipv6Repr, NdiscNeighborFlags,
    NdiscOption, NdiscOptionRepr, NdiscPrefixInfoFlags, NdiscPrefixInformation, NdiscRepr, NdiscRouterFlags,
};

const MAC: &str = "02:00:00:00:00:01";
const ROUTER: Ipv6Addr = Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 0xff);
const ALL_NODES: Ipv6Addr = Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 1);
const LINK_LOCAL: Ipv6Addr = Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0xff, 0xfe00, 1);
const GLOBAL: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 1, 0, 0, 0xff, 0xfe00, 1);
const FAR: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 0xf, 0, 0, 0, 0, 1);

/// A host, and what it sent and told.
struct Lone {
    host: Host,
    now: u64,
}

/// What left: the destination's MAC, the IPv6 header, the payload.
type Sent = (EthernetAddress, Ipv6Repr, Vec<u8>);

impl Lone {
    fn autoconfigured() -> Self {
        Self::of(&[], None)
    }

    fn of(addresses: &[&str], gateway: Option<&str>) -> Self {
        let addresses: Vec<String> = addresses.iter().map(|address| (*address).to_string()).collect();
        let config = Config::parse(MAC, &addresses, gateway).unwrap();
        Self { host: Host::new(&config).unwrap(), now: 0 }
    }

    fn poll(&mut self) -> Vec<Sent> {
        let mut frames = vec![];
        self.host.poll(self.now, &mut frames);
        frames.iter().map(|frame| parse(frame)).collect()
    }

    /// Goes on to `end`; what left meanwhile.
    fn wait(&mut self, end: u64) -> Vec<(u64, Sent)> {
        let mut sent = vec![];
        loop {
            sent.extend(self.poll().into_iter().map(|frame| (self.now, frame)));
            match self.host.next_wake(self.now) {
                Some(wake) if wake <= end => self.now = wake,
                _ => break,
            }
        }
        self.now = end;
        sent
    }

    fn receive(&mut self, frame: &[u8]) -> Vec<Sent> {
        self.host.receive(frame, self.now);
        self.poll()
    }

    fn told(&mut self) -> Vec<What> {
        self.host.take_events().into_iter().map(|event| event.what).collect()
    }

    fn addresses(&mut self) -> Vec<String> {
        self.status().0
    }

    /// Addresses, routers and the states of neighbours.
    fn status(&mut self) -> (Vec<String>, Vec<Ipv6Addr>, Vec<&'static str>) {
        self.told();
        self.host.carry_out(r#"{"command":"status"}"#, self.now);
        let Some(What::Status(status)) = self.told().pop() else { panic!("no status") };
        let states = status.neighbours.iter().map(|neighbour| neighbour.state).collect();
        (status.addresses, status.routers, states)
    }
}

fn parse(frame: &[u8]) -> Sent {
    let ethernet = EthernetFrame::new_checked(frame).unwrap();
    let packet = Ipv6Packet::new_checked(ethernet.payload()).unwrap();
    (ethernet.dst_addr(), Ipv6Repr::parse(&packet).unwrap(), packet.payload().to_vec())
}

/// The first bytes of messages: their types.
fn types(sent: &[Sent]) -> Vec<u8> {
    sent.iter().map(|(_, _, payload)| payload[0]).collect()
}

/// A frame for the host, or for all.
fn frame(from: Ipv6Addr, to: Ipv6Addr, hop_limit: u8, message: &Icmpv6Repr<'_>, more: &[u8]) -> Vec<u8> {
    let mac = if to.is_multicast() { EthernetAddress([0x33, 0x33, 0, 0, 0, 1]) } else { MAC.parse().unwrap() };
    icmpv6(mac, from, to, hop_limit, message, more)
}

fn prefix(prefix: Ipv6Addr, valid: u64, preferred: u64) -> NdiscPrefixInformation {
    NdiscPrefixInformation {
        prefix_len: 64,
        flags: NdiscPrefixInfoFlags::ON_LINK | NdiscPrefixInfoFlags::ADDRCONF,
        valid_lifetime: Duration::from_secs(valid),
        preferred_lifetime: Duration::from_secs(preferred),
        prefix,
    }
}

/// A router's advertisement with a lifetime in seconds and prefixes.
fn advertisement(hop_limit: u8, lifetime: u64, prefixes: &[NdiscPrefixInformation]) -> Vec<u8> {
    let message = Icmpv6Repr::Ndisc(NdiscRepr::RouterAdvert {
        hop_limit: 64,
        flags: NdiscRouterFlags::empty(),
        router_lifetime: Duration::from_secs(lifetime),
        reachable_time: Duration::ZERO,
        retrans_time: Duration::ZERO,
        lladdr: Some(ROUTER_MAC.into()),
        mtu: Some(1400),
        prefix_info: None,
    });
    let mut options = vec![0; 32 * prefixes.len()];
    for (option, prefix) in options.chunks_exact_mut(32).zip(prefixes) {
        NdiscOptionRepr::PrefixInformation(*prefix).emit(&mut NdiscOption::new_unchecked(option));
    }
    frame(ROUTER, ALL_NODES, hop_limit, &message, &options)
}

fn site() -> NdiscPrefixInformation {
    prefix("2001:db8:1::".parse().unwrap(), 10_000, 5_000)
}

fn neighbour_solicitation(from: Ipv6Addr, to: Ipv6Addr, target: Ipv6Addr) -> Vec<u8> {
    let lladdr = (!from.is_unspecified()).then(|| ROUTER_MAC.into());
    frame(from, to, 255, &Icmpv6Repr::Ndisc(NdiscRepr::NeighborSolicit { target_addr: target, lladdr }), &[])
}

fn neighbour_advertisement(target: Ipv6Addr, to: Ipv6Addr, flags: NdiscNeighborFlags) -> Vec<u8> {
    let message = NdiscRepr::NeighborAdvert { flags, target_addr: target, lladdr: Some(ROUTER_MAC.into()) };
    frame(target, to, 255, &Icmpv6Repr::Ndisc(message), &[])
}

#[test]
fn an_advertisement_gives_addresses_a_router_and_an_mtu() {
    let mut lone = Lone::autoconfigured();
    // Is the link-local address free? Which routers are there?
    assert_eq!(types(&lone.poll()), [135, 133]);
    let other = prefix("2001:db8:2::".parse().unwrap(), 600, 600);
    lone.receive(&advertisement(255, 1800, &[site(), other]));
    let told = lone.told();
    assert!(told.contains(&What::RouterAdded { router: ROUTER }) && told.contains(&What::PathMtu { mtu: 1400 }));
    let addresses = ["fe80::ff:fe00:1/64", "2001:db8:1::ff:fe00:1/64", "2001:db8:2::ff:fe00:1/64"];
    assert_eq!(lone.addresses(), addresses);
    // A packet to far away goes to the router, whose MAC came with the advertisement.
    lone.host.carry_out(&format!(r#"{{"command":"ping","to":"{FAR}","count":1}}"#), lone.now);
    let sent = lone.poll();
    let (mac, header, payload) = sent.last().unwrap();
    assert_eq!((*mac, header.src_addr, header.dst_addr, payload[0]), (ROUTER_MAC, GLOBAL, FAR, 128));
}

#[test]
fn routers_are_asked_for_at_growing_intervals_until_one_answers() {
    let mut lone = Lone::autoconfigured();
    let asked = |sent: Vec<(u64, Sent)>| -> Vec<u64> {
        sent.iter().filter(|(_, (_, _, payload))| payload[0] == 133).map(|(at, _)| at / SECOND).collect()
    };
    assert_eq!(asked(lone.wait(70 * SECOND)), [0, 4, 12, 28, 60]);
    lone.receive(&advertisement(255, 1800, &[site()]));
    assert_eq!(asked(lone.wait(1000 * SECOND)), [0; 0]);
    // The router's time is over: they are asked for again.
    assert_eq!(asked(lone.wait(1872 * SECOND))[0], 1870);
}

#[test]
fn what_an_advertisement_gave_ends_with_its_lifetime() {
    let mut lone = Lone::autoconfigured();
    lone.receive(&advertisement(255, 100, &[prefix("2001:db8:1::".parse().unwrap(), 200, 150)]));
    lone.wait(99 * SECOND);
    assert_eq!((lone.addresses().len(), lone.status().1), (2, vec![ROUTER]));
    lone.wait(101 * SECOND);
    assert_eq!((lone.addresses().len(), lone.status().1), (2, vec![]));
    lone.wait(201 * SECOND);
    assert_eq!(lone.addresses(), ["fe80::ff:fe00:1/64"]);
}

#[test]
fn a_router_can_take_itself_back_but_not_an_address() {
    let mut lone = Lone::autoconfigured();
    lone.receive(&advertisement(255, 1800, &[site()]));
    lone.receive(&advertisement(255, 0, &[prefix("2001:db8:1::".parse().unwrap(), 0, 0)]));
    // RFC 4862, section 5.5.3: two hours are left to it.
    assert_eq!((lone.status().1.len(), lone.addresses().len()), (0, 2));
    lone.wait(7199 * SECOND);
    assert_eq!(lone.addresses().len(), 2);
    lone.wait(7201 * SECOND);
    assert_eq!(lone.addresses().len(), 1);
}

#[test]
fn advertisements_from_beyond_the_link_count_for_nothing() {
    let mut lone = Lone::autoconfigured();
    lone.receive(&advertisement(254, 1800, &[site()]));
    let mut spoilt = advertisement(255, 1800, &[site()]);
    *spoilt.last_mut().unwrap() ^= 1;
    lone.receive(&spoilt);
    assert_eq!((lone.addresses().len(), lone.status().1.len()), (1, 0));
    let mut set = Lone::of(&["2001:db8::1/64"], None);
    set.receive(&advertisement(255, 1800, &[site()]));
    assert_eq!((set.addresses().len(), set.status().1.len()), (2, 0));
}

#[test]
fn truncated_and_mangled_frames_do_no_harm() {
    let whole = advertisement(255, 1800, &[site(), site()]);
    let mut lone = Lone::autoconfigured();
    for length in 0..whole.len() {
        lone.receive(&whole[..length]);
    }
    for place in 12..whole.len() {
        for value in [0, 1, 0x7f, 0xff] {
            let mut mangled = whole.clone();
            mangled[place] = value;
            let (from, to) = (ROUTER, ALL_NODES);
            if place > 53 {
                Icmpv6Packet::new_unchecked(&mut mangled[54..]).fill_checksum(&from, &to);
            }
            lone.receive(&mangled);
        }
    }
    lone.receive(&whole);
    assert!(lone.addresses().contains(&"2001:db8:1::ff:fe00:1/64".to_string()));
}

#[test]
fn a_neighbour_is_answered_whether_it_asks_the_group_or_the_host() {
    let mut lone = Lone::autoconfigured();
    lone.poll();
    let group = "ff02::1:ff00:1".parse().unwrap();
    for to in [group, LINK_LOCAL] {
        let sent = lone.receive(&neighbour_solicitation(ROUTER, to, LINK_LOCAL));
        let [(mac, header, payload)] = &sent[..] else { panic!("{sent:?}") };
        assert_eq!((*mac, header.dst_addr, payload[0], payload[4]), (ROUTER_MAC, ROUTER, 136, 0x60));
    }
    assert_eq!(lone.receive(&neighbour_solicitation(ROUTER, group, ROUTER)), []);
}

#[test]
fn an_address_that_another_host_has_is_given_up() {
    let mut lone = Lone::autoconfigured();
    lone.poll();
    lone.receive(&neighbour_advertisement(LINK_LOCAL, ALL_NODES, NdiscNeighborFlags::OVERRIDE));
    assert_eq!(lone.addresses(), [""; 0]);
}

#[test]
fn an_address_in_use_is_defended() {
    let mut lone = Lone::autoconfigured();
    lone.wait(2 * SECOND);
    let group = "ff02::1:ff00:1".parse().unwrap();
    let sent = lone.receive(&neighbour_solicitation(Ipv6Addr::UNSPECIFIED, group, LINK_LOCAL));
    let [(_, header, payload)] = &sent[..] else { panic!("{sent:?}") };
    assert_eq!((header.dst_addr, payload[0], payload[4] & 0x40), (ALL_NODES, 136, 0));
    assert_eq!(lone.addresses(), ["fe80::ff:fe00:1/64"]);
}

#[test]
fn a_silent_neighbour_is_probed_and_another_router_taken() {
    let mut lone = Lone::autoconfigured();
    lone.receive(&advertisement(255, 9000, &[site()]));
    lone.host.carry_out(&format!(r#"{{"command":"ping","to":"{FAR}","count":0,"interval":0.5}}"#), 0);
    lone.poll();
    assert_eq!(lone.status().2, ["delay"]);
    let probes: Vec<u64> = lone
        .wait(30 * SECOND)
        .iter()
        .filter(|(_, (mac, _, payload))| payload[0] == 135 && *mac == ROUTER_MAC)
        .map(|(at, _)| at / SECOND)
        .collect();
    assert_eq!(probes, [5, 6, 7]);
    assert!(lone.told().iter().any(|what| matches!(what, What::NeighbourUnreachable { .. })));
    let sent = lone.receive(&neighbour_advertisement(ROUTER, LINK_LOCAL, NdiscNeighborFlags::SOLICITED));
    assert!(!types(&sent).is_empty(), "packets that waited leave");
    assert_eq!(lone.status().2, ["reachable"]);
}

#[test]
fn a_path_with_a_smaller_mtu_shortens_packets() {
    let mut lone = Lone::of(&["2001:db8:1::1/64"], Some("2001:db8:1::ff"));
    lone.poll();
    let own = "2001:db8:1::1".parse().unwrap();
    let quoted =
        Ipv6Repr { src_addr: own, dst_addr: FAR, next_header: IpProtocol::Tcp, payload_len: 1460, hop_limit: 63 };
    let too_big = |mtu| frame(ROUTER, own, 64, &Icmpv6Repr::PktTooBig { mtu, header: quoted, data: &[0; 20] }, &[]);
    lone.receive(&too_big(1300));
    let told = lone.told();
    assert!(told.contains(&What::PathMtu { mtu: 1300 }), "{told:?}");
    assert!(told.iter().any(|what| matches!(what, What::IcmpError { error: "packet_too_big", mtu: Some(1300), .. })));
    // A path cannot have less than 1280, and one that has more changes nothing.
    lone.receive(&too_big(20));
    lone.receive(&too_big(1400));
    let mtus: Vec<What> = lone.told().into_iter().filter(|what| matches!(what, What::PathMtu { .. })).collect();
    assert_eq!(mtus, [What::PathMtu { mtu: 1280 }]);
}
