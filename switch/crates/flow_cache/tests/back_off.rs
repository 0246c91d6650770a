//! What is learned while somebody writes what all ways read, and afterwards.

use flow_cache::{Edit, End, Flows, Key, Look, Octets, Replay, Settings, Watched, Way};
use ir::{Handle, Program, Table, TableId};
use runtime::{Object, Writes};

const FLOWS: u64 = 64;

/// Looks the packets of all flows up in turn, and learns those that are to be learned; answers how many.
fn send(flows: &mut Flows, packets: u64, writes: &Writes, packets_a_write: u64) -> u64 {
    let mut learned = 0;
    let mut versions = vec![];
    for packet in 0..packets {
        if packet % packets_a_write == 0 {
            drop(writes.begin(Object::Table(TableId::new(0))));
        }
        let bytes = (packet % FLOWS).to_be_bytes();
        if flows.opens() && matches!(flows.look(0, &bytes, writes, |_| true), Look::Learn) {
            learned += 1;
            writes.note(&mut versions);
            flows.keep(0, &bytes, watched(), &versions, writes);
        }
    }
    learned
}

fn watched() -> Watched {
    let mut octets = Octets::default();
    assert!(octets.add_bits(0, 64));
    let key = Key { octets, at_least: 8, exact_length: false, ranges: vec![] };
    let way = Way {
        end: End::Sent(1),
        edit: Edit::default(),
        found: [].into(),
        together: Default::default(),
        counts: [].into(),
        replay: Replay::default(),
    };
    Watched { key, way, read: [0].into() }
}

#[test]
fn ways_that_writes_make_void_at_once_are_learned_rarely_until_nobody_writes() {
    let mut program = Program::default();
    program.tables.push(Table::default());
    let writes = Writes::new(&program);
    let mut flows = Flows::new(Settings::new(1024));
    // Those that were saved up, and later one of thousands of packets.
    let learned = [0; 3].map(|_| send(&mut flows, 1 << 21, &writes, FLOWS));
    assert!(learned[0] < 700 && learned[1] < 100 && learned[2] < 20, "{learned:?}");
    assert!(flows.is_backed_off());
    let learned = send(&mut flows, 1 << 21, &writes, u64::MAX);
    assert!((FLOWS - 2..3 * FLOWS).contains(&learned), "{learned}");
    assert!(!flows.is_backed_off());
    let is_known = |number: &u64| matches!(flows.look(0, &number.to_be_bytes(), &writes, |_| true), Look::Known(..));
    assert!((0..FLOWS).filter(is_known).count() as u64 >= FLOWS - 2);
}
