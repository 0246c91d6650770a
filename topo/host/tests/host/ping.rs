//! Echo requests between two hosts.

use crate::common::{Link, MILLISECOND, Network, SECOND, config};
use host::What;

#[test]
fn every_ping_is_answered_and_timed() {
    let mut network = Network::new(Link::default());
    let flow = network.command(0, r#"{"command":"ping","to":"2001:db8::2","count":3,"interval":0.5}"#);
    network.run(10 * SECOND);
    let told = network.told(0, flow);
    let rtts: Vec<u64> = told
        .iter()
        .filter_map(|what| if let What::PingReply { rtt_ns, .. } = what { Some(*rtt_ns) } else { None })
        .collect();
    // The first one waits for the neighbour's MAC.
    assert_eq!(rtts, [20 * MILLISECOND, 10 * MILLISECOND, 10 * MILLISECOND]);
    assert!(matches!(told.last(), Some(What::PingDone { sent: 3, received: 3, lost: 0, .. })), "{told:?}");
}

#[test]
fn pings_into_a_cut_are_lost_by_number() {
    let cut = 950 * MILLISECOND..2050 * MILLISECOND;
    let mut network = Network::new(Link { cut, ..Link::default() });
    let flow = network.command(0, r#"{"command":"ping","to":"2001:db8::2","count":4,"interval":1,"timeout":0.3}"#);
    network.run(10 * SECOND);
    let told = network.told(0, flow);
    let lost: Vec<u32> = told
        .iter()
        .filter_map(|what| if let What::PingLost { sequence } = what { Some(*sequence) } else { None })
        .collect();
    assert_eq!(lost, [1, 2]);
    assert!(matches!(told.last(), Some(What::PingDone { sent: 4, received: 2, lost: 2, .. })), "{told:?}");
}

#[test]
fn a_host_with_several_addresses_answers_for_each() {
    let configs = [config(1, &["2001:db8::1/64"]), config(2, &["2001:db8::2/64", "2001:db8:0:0:1::2/64"])];
    let mut network = Network::of(configs, Link::default());
    let flows = ["2001:db8::2", "2001:db8:0:0:1::2", "fe80::ff:fe00:2"]
        .map(|to| network.command(0, &format!(r#"{{"command":"ping","to":"{to}","count":1}}"#)));
    network.run(5 * SECOND);
    for flow in flows {
        let told = network.told(0, flow);
        assert!(matches!(told.last(), Some(What::PingDone { received: 1, .. })), "{told:?}");
    }
}

#[test]
fn a_neighbour_that_is_not_there_is_told() {
    let mut network = Network::new(Link::default());
    network.command(0, r#"{"command":"ping","to":"2001:db8::9","count":1}"#);
    network.command(0, r#"{"command":"ping","to":"2001:db8:9::9","count":1}"#);
    network.run(5 * SECOND);
    let told: Vec<&What> = network.events[0].iter().map(|event| &event.what).collect();
    let neighbour = What::NeighbourUnreachable { neighbour: "2001:db8::9".parse().unwrap(), packets: 1 };
    let route = What::NoRoute { destination: "2001:db8:9::9".parse().unwrap(), held_back: 0 };
    assert!(told.contains(&&neighbour) && told.contains(&&route), "{told:?}");
}
