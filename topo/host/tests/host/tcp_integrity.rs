//! TCP over links that lose, delay and cut at random: whatever happens, the octets arrive as they were sent.

use crate::common::{Link, MILLISECOND, Network, SECOND, config};
use host::{Outcome, What};
use proptest::prelude::*;

fn link() -> impl Strategy<Value = Link> {
    (1..60u64, 0..12u32, 0..30u32, 0..3000u64, 0..3000u64).prop_map(|(delay, loss, late, from, length)| Link {
        delay: delay * MILLISECOND,
        loss,
        late,
        cut: from * MILLISECOND..(from + length) * MILLISECOND,
        ..Link::default()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn octets_arrive_as_they_were_sent(
        link in link(),
        octets in 1..400_000u64,
        buffer in 4096..200_000usize,
        congestion in prop::sample::select(vec!["none", "reno", "cubic"]),
        seed in any::<u64>(),
    ) {
        let mut first = config(1, &["2001:db8::1/64"]);
        // Decides about the first sequence number too: some of them wrap.
        first.seed = seed;
        let mut network = Network::of([first, config(2, &["2001:db8::2/64"])], link);
        network.command(1, &format!(r#"{{"command":"tcp_serve","buffer":{buffer},"timeout":1000}}"#));
        network.command(
            0,
            &format!(
                r#"{{"command":"tcp_send","to":"2001:db8::2","bytes":{octets},"congestion":"{congestion}","timeout":1000}}"#
            ),
        );
        network.run(2000 * SECOND);
        let done: Vec<_> = network.events.iter().flatten().filter_map(|event| match event.what {
            What::TcpDone { outcome, bytes, intact, .. } => Some((outcome, bytes, intact)),
            _ => None,
        }).collect();
        prop_assert_eq!(done, [(Outcome::Finished, octets, None), (Outcome::Finished, octets, Some(true))]);
    }
}
