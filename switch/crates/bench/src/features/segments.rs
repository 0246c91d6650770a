//! Policies of segments, of which the edge inserts one into every packet that it routes.

use std::fmt::Write;

use fastrand::Rng;

use crate::packets::Route;

const NAMES: [&str; 4] = ["first", "second", "third", "fourth"];
const SOURCE: &str = "0x20010db8000100000000000000000001";
/// One for each prefix of ten bits that routes lie in.
const POLICIES: u128 = 48;
const FIRST_BLOCK: u128 = 0x2000 >> 6;
const BLOCK_BITS: u32 = 10;

/// Segments inline (RFC 8986), each in one of the routes, four in an entry, and as many in the policy's own as make the rest
/// a multiple of four.
pub fn entries(count: usize, routes: &[Route], numbers: &mut Rng) -> String {
    (1..=POLICIES).map(|policy| of_policy(policy, count, routes, numbers)).collect()
}

fn of_policy(policy: u128, count: usize, routes: &[Route], numbers: &mut Rng) -> String {
    let mut hop = || {
        let route = &routes[numbers.usize(..routes.len())];
        route.prefix | numbers.u128(..) >> route.length
    };
    let hops: Vec<u128> = (0..count).map(|_| hop()).collect();
    let (own, rest) = hops.split_at((count - 1) % 4 + 1);
    let list = |hops: &[u128]| {
        let named: Vec<String> = NAMES.iter().zip(hops).map(|(name, hop)| format!("{name}:{hop:#x}")).collect();
        named.join(",")
    };
    let (taken, extensions) = (own.len(), rest.len() / 4);
    let mut text = format!(
        "add sr_policies policy:{policy} push_segments_{taken}(source:{SOURCE},extensions:{extensions},hmac:0,{})\n",
        list(own)
    );
    for (place, four) in (1..).zip(rest.chunks(4)) {
        let table = format!("segment_list_extension_{place}");
        // Writing to a string never fails.
        let _ = writeln!(text, "add {table} policy:{policy} push_extension_{place}({})", list(four));
    }
    let block = (FIRST_BLOCK + policy - 1) << (128 - BLOCK_BITS);
    let binding = format!("encapsulate_segments(mode:1,policy:{policy},trace:0)");
    text + &format!("add encapsulations destination:{block:#x}/{BLOCK_BITS} {binding}\n")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use pipeline::{BackendKind, Engine, Traffic};
    use stf::script;

    use super::*;
    use crate::forwarding::Last;
    use crate::packets::{packets, routes};
    use crate::{edge, scenes};

    #[test]
    fn packets_leave_with_as_many_segments_and_their_destination() {
        let p4src = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../p4src");
        let program = edge::load(&p4src, BackendKind::Jit, &[]).unwrap();
        for count in [3, 36] {
            let mut numbers = Rng::with_seed(1);
            let routes = routes(200, &mut numbers);
            let loaded = program.fresh().unwrap();
            edge::fill(&loaded, &routes).unwrap();
            scenes::fill(&loaded, &script::parse(&entries(count, &routes, &mut numbers)).unwrap()).unwrap();
            let mut traffic = Traffic::default();
            let mut engine = Engine::new(&loaded, &mut traffic, 1);
            for packet in packets(&routes, 200, &mut numbers) {
                let mut last = Last::default();
                engine.receive(0, &packet, 0, &mut last);
                assert_eq!(last.bytes.len(), packet.len() + 8 + 16 * (count + 1), "{count} segments");
            }
        }
    }
}
