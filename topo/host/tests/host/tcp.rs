//! TCP between two hosts.

use crate::common::{Link, MILLISECOND, Network, SECOND, config};
use host::{Event, Outcome, What};

const SINK: &str = r#"{"command":"tcp_serve"}"#;
const ECHO: &str = r#"{"command":"tcp_serve","service":"echo"}"#;

/// How the flows of a host ended: outcome, bytes, whether they were intact.
fn done(events: &[Event]) -> Vec<(Outcome, u64, Option<bool>)> {
    let done = |event: &Event| match event.what {
        What::TcpDone { outcome, bytes, intact, .. } => Some((outcome, bytes, intact)),
        _ => None,
    };
    events.iter().filter_map(done).collect()
}

#[test]
fn a_transfer_arrives_intact_whatever_the_link_does() {
    for congestion in ["none", "reno", "cubic"] {
        let mut network = Network::new(Link { loss: 5, late: 10, ..Link::default() });
        network.command(1, SINK);
        network.command(
            0,
            &format!(
                r#"{{"command":"tcp_send","to":"2001:db8::2","bytes":300000,"congestion":"{congestion}","timeout":300}}"#
            ),
        );
        network.run(600 * SECOND);
        assert_eq!(done(&network.events[0]), [(Outcome::Finished, 300_000, None)], "{congestion}");
        assert_eq!(done(&network.events[1]), [(Outcome::Finished, 300_000, Some(true))], "{congestion}");
    }
}

#[test]
fn a_large_window_fills_a_long_link() {
    let mut network = Network::new(Link { delay: 50 * MILLISECOND, ..Link::default() });
    network.command(1, SINK);
    network.command(0, r#"{"command":"tcp_send","to":"2001:db8::2","seconds":5,"congestion":"none"}"#);
    network.run(20 * SECOND);
    let rates = network.events[1].iter().filter_map(|event| match event.what {
        What::Rate { bits_per_second, .. } => Some(bits_per_second),
        _ => None,
    });
    // A window of 1 MiB each 100 ms is 84 Mbit/s; one without scaling would be 5.
    let fastest = rates.max().unwrap();
    assert!((70_000_000..85_000_000).contains(&fastest), "{fastest}");
}

#[test]
fn a_path_with_a_smaller_mtu_is_found_and_used() {
    let mut network = Network::new(Link { mtu: 1300, ..Link::default() });
    network.command(1, SINK);
    network.command(0, r#"{"command":"tcp_send","to":"2001:db8::2","bytes":100000}"#);
    network.run(30 * SECOND);
    assert_eq!(done(&network.events[1]), [(Outcome::Finished, 100_000, Some(true))]);
    let told = |what: &What| matches!(what, What::PathMtu { mtu: 1300 });
    assert_eq!(network.events[0].iter().filter(|event| told(&event.what)).count(), 1);
    // The packets that were too long, and then no more of them.
    let too_long: Vec<u64> =
        network.sent.iter().filter(|(_, _, frame)| frame.len() > 14 + 1300).map(|(at, _, _)| *at).collect();
    assert!(!too_long.is_empty() && too_long.iter().all(|at| *at < 100 * MILLISECOND), "{too_long:?}");
}

#[test]
fn a_path_with_a_smaller_mtu_ends_no_slow_start() {
    let taken = |mtu: usize| {
        let mut network = Network::new(Link { mtu, delay: 50 * MILLISECOND, ..Link::default() });
        network.command(1, SINK);
        network.command(0, r#"{"command":"tcp_send","to":"2001:db8::2","bytes":1000000}"#);
        network.run(60 * SECOND);
        let ends = network.events[1].iter().filter(|event| matches!(event.what, What::TcpDone { .. }));
        ends.map(|event| event.at_ns).next().unwrap()
    };
    // A round trip until it is known, and one more window of the shorter segments.
    let (whole, shortened) = (taken(1500), taken(1300));
    assert!(shortened < whole + 300 * MILLISECOND, "{whole} {shortened}");
}

#[test]
fn a_pace_is_kept() {
    let mut network = Network::new(Link::default());
    network.command(1, SINK);
    let flow = network.command(0, r#"{"command":"tcp_send","to":"2001:db8::2","seconds":4,"pace":1000000}"#);
    network.run(20 * SECOND);
    let told = network.told(0, flow);
    let rates: Vec<u64> = told
        .iter()
        .filter_map(|what| if let What::Rate { bits_per_second, .. } = what { Some(*bits_per_second) } else { None })
        .collect();
    assert!(rates.len() >= 3 && rates.iter().all(|rate| (970_000..1_030_000).contains(rate)), "{rates:?}");
    assert_eq!(done(&network.events[1]).len(), 1);
}

#[test]
fn a_port_without_a_listener_refuses() {
    let mut network = Network::new(Link::default());
    network.command(0, r#"{"command":"tcp_send","to":"2001:db8::2","port":9,"bytes":1}"#);
    network.run(5 * SECOND);
    assert_eq!(done(&network.events[0]), [(Outcome::Refused, 0, None)]);
}

#[test]
fn a_peer_that_falls_silent_is_given_up_at_both_ends() {
    let mut network = Network::new(Link { cut: 2 * SECOND..u64::MAX, ..Link::default() });
    network.command(1, r#"{"command":"tcp_serve","timeout":10}"#);
    network.command(0, r#"{"command":"tcp_send","to":"2001:db8::2","pace":1000000,"timeout":10}"#);
    network.run(120 * SECOND);
    assert_eq!(done(&network.events[0])[0].0, Outcome::TimedOut);
    assert_eq!(done(&network.events[1])[0].0, Outcome::TimedOut);
}

#[test]
fn a_stopped_sender_is_a_reset_for_the_sink() {
    let mut network = Network::new(Link::default());
    network.command(1, SINK);
    let flow = network.command(0, r#"{"command":"tcp_send","to":"2001:db8::2","pace":1000000}"#);
    network.run(SECOND);
    network.command(0, &format!(r#"{{"command":"stop","flow":{flow}}}"#));
    network.run(3 * SECOND);
    assert_eq!(done(&network.events[0])[0].0, Outcome::Stopped);
    assert_eq!(done(&network.events[1])[0].0, Outcome::Reset);
}

#[test]
fn many_connections_at_a_time_are_served() {
    let mut network = Network::new(Link::default());
    network.command(1, SINK);
    for _ in 0..30 {
        network.command(0, r#"{"command":"tcp_send","to":"2001:db8::2","bytes":5000}"#);
    }
    network.run(60 * SECOND);
    assert_eq!(done(&network.events[1]), [(Outcome::Finished, 5000, Some(true)); 30]);
}

#[test]
fn requests_find_the_longest_gap() {
    let mut network = Network::new(Link { cut: 2 * SECOND..2500 * MILLISECOND, ..Link::default() });
    network.command(1, ECHO);
    let flow = network.command(0, r#"{"command":"tcp_request","to":"2001:db8::2","count":500,"interval":0.01}"#);
    network.run(30 * SECOND);
    let told = network.told(0, flow);
    let Some(What::RequestsDone { outcome, sent, answered, longest_gap_ns, longest_gap_at_ns, rtt }) = told.last()
    else {
        panic!("{told:?}")
    };
    assert_eq!((*outcome, *sent, *answered), (Outcome::Finished, 500, 500));
    assert_eq!(rtt.unwrap().min_ns, 10 * MILLISECOND);
    // The cut of half a second, and what TCP takes to notice its end.
    assert!((500 * MILLISECOND..3 * SECOND).contains(longest_gap_ns), "{longest_gap_ns}");
    assert!((1990 * MILLISECOND..=2010 * MILLISECOND).contains(longest_gap_at_ns), "{longest_gap_at_ns}");
}

#[test]
fn the_same_seed_gives_the_same_frames() {
    let run = |seed| {
        let mut first = config(1, &["2001:db8::1/64"]);
        first.seed = seed;
        let mut network = Network::of([first, config(2, &["2001:db8::2/64"])], Link { loss: 3, ..Link::default() });
        network.command(1, SINK);
        network.command(0, r#"{"command":"tcp_send","to":"2001:db8::2","bytes":50000}"#);
        network.command(0, r#"{"command":"udp_send","to":"2001:db8::2","count":20}"#);
        network.run(60 * SECOND);
        (network.sent, network.events)
    };
    let (first, again, other) = (run(5), run(5), run(6));
    assert!(first == again, "the same seed, but not the same");
    assert!(first.0 != other.0, "another seed, but the same ports and sequence numbers");
}

#[test]
fn a_receiver_acknowledges_each_segment_if_it_is_told_not_to_wait() {
    let acknowledgements = |serve: &str| {
        let mut network = Network::new(Link::default());
        network.command(1, serve);
        network.command(0, r#"{"command":"tcp_send","to":"2001:db8::2","bytes":140000,"pace":2000000}"#);
        network.run(20 * SECOND);
        assert_eq!(done(&network.events[1]), [(Outcome::Finished, 140_000, Some(true))]);
        network.sent.iter().filter(|(_, host, frame)| *host == 1 && frame[20] == 6).count()
    };
    // A hundred segments of 1400 octets; the last two may share one.
    let (at_once, waiting) = (acknowledgements(r#"{"command":"tcp_serve","ack_delay":0}"#), acknowledgements(SINK));
    assert!(at_once >= 99, "{at_once}");
    assert!(waiting < 80, "{waiting}");
}

#[test]
fn a_small_window_moves_with_each_segment_that_is_read() {
    let mut network = Network::new(Link { mtu: 1472, ..Link::default() });
    network.command(1, r#"{"command":"tcp_serve","buffer":4096}"#);
    // Full segments of 1400 octets, one at a time; the FIN counts as one more.
    network.command(0, r#"{"command":"tcp_send","to":"2001:db8::2","bytes":28000,"pace":200000}"#);
    network.run(20 * SECOND);
    assert_eq!(done(&network.events[1]), [(Outcome::Finished, 28_000, Some(true))]);
    let acknowledgements = network.sent.iter().filter(|(_, host, frame)| *host == 1 && frame[20] == 6);
    let windows: Vec<u16> = acknowledgements.map(|(.., frame)| u16::from_be_bytes([frame[68], frame[69]])).collect();
    assert!(windows.len() > 10 && windows.iter().all(|window| *window >= 4096 - 1400 - 1), "{windows:?}");
}
