//! UDP streams between two hosts.

use crate::common::{Link, MILLISECOND, Network, SECOND};
use host::{UdpReport, What};

fn last_report(network: &Network) -> UdpReport {
    let report = |what: &What| {
        if let What::UdpReport(report) = what { Some(report.clone()) } else { None }
    };
    network.events[1].iter().rev().find_map(|event| report(&event.what)).expect("a report")
}

fn stream(link: Link) -> Network {
    let mut network = Network::new(link);
    network.command(1, r#"{"command":"udp_receive"}"#);
    let flow = network.command(0, r#"{"command":"udp_send","to":"2001:db8::2","rate":100,"count":300,"size":100}"#);
    network.run(20 * SECOND);
    assert_eq!(network.told(0, flow).last(), Some(&&What::UdpSent { datagrams: 300, bytes: 30_000 }));
    network
}

#[test]
fn a_clean_link_delivers_everything_evenly() {
    let report = last_report(&stream(Link::default()));
    assert_eq!((report.received, report.bytes, report.expected, report.lost), (300, 30_000, 300, 0));
    assert_eq!((report.duplicates, report.reordered, report.ended), (0, 0, true));
    // The first datagram waits for the neighbour's MAC, then one comes each 10 ms.
    assert_eq!(report.longest_gap_ns, 10 * MILLISECOND);
}

#[test]
fn a_cut_shows_as_loss_and_as_the_longest_gap() {
    // Datagrams leave at 1.00, 1.01, ...: thirty of them while nothing passes.
    let report = last_report(&stream(Link { cut: 995 * MILLISECOND..1295 * MILLISECOND, ..Link::default() }));
    assert_eq!((report.received, report.lost), (270, 30));
    assert_eq!((report.longest_gap_ns, report.longest_gap_at_ns), (310 * MILLISECOND, 995 * MILLISECOND));
}

#[test]
fn the_report_counts_what_the_link_lost() {
    let network = stream(Link { loss: 10, ..Link::default() });
    let report = last_report(&network);
    assert!((240..290).contains(&report.received), "{report:?}");
    assert_eq!(report.received + report.lost, report.expected);
}

#[test]
fn what_arrives_late_is_reordered_not_lost() {
    // Three milliseconds late, with a datagram each two.
    let mut network = Network::new(Link { late: 20, ..Link::default() });
    network.command(1, r#"{"command":"udp_receive"}"#);
    network.command(0, r#"{"command":"udp_send","to":"2001:db8::2","rate":500,"count":500}"#);
    network.run(20 * SECOND);
    let report = last_report(&network);
    assert_eq!((report.received, report.lost), (500, 0));
    assert!((50..120).contains(&report.reordered) && report.jitter_ns > MILLISECOND / 10, "{report:?}");
}

#[test]
fn a_closed_port_is_told_to_the_sender() {
    let mut network = Network::new(Link::default());
    let flow = network.command(0, r#"{"command":"udp_send","to":"2001:db8::2","port":9,"rate":100,"count":300}"#);
    network.run(10 * SECOND);
    let told = network.told(0, flow);
    let errors: Vec<_> = told
        .iter()
        .filter_map(|what| match what {
            What::IcmpError { error, code, held_back, .. } => Some((*error, *code, *held_back)),
            _ => None,
        })
        .collect();
    // One a second, the others counted.
    assert_eq!(errors.len(), 3, "{told:?}");
    assert_eq!((errors[0], errors[1]), (("destination_unreachable", 4, 0), ("destination_unreachable", 4, 100)));
}
