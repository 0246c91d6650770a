//! What entries of PSA's tables say that a case cannot write: groups, and meters of entries. On each engine.

use std::path::Path;
use std::sync::Arc;

use compiler::{Options, compile_file};
use ir::{Match, Table, TableId};
use num_bigint::BigUint;
use pipeline::{BackendKind, Loaded};
use runtime::{ActionCall, EntryAction, Group, GroupMember, MeterConfig, NewEntry};

fn on_each_engine(check: impl Fn(&Loaded)) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../compiler/tests/cases/psa_externs.p4");
    let compiled = compile_file(&path, &Options::default()).unwrap_or_else(|failure| panic!("{failure}"));
    let program = Arc::new(compiled.program);
    for engine in [BackendKind::Interpreter, BackendKind::Jit, BackendKind::SpecialAtOnce] {
        check(&Loaded::new(program.clone(), engine).unwrap());
    }
}

fn table<'a>(loaded: &'a Loaded, name: &str) -> (TableId, &'a Table) {
    loaded.program.tables.iter().find(|(_, table)| table.name == name).expect("a table of this name")
}

/// The packets of a case arrive as it says.
fn passes(loaded: &Loaded, script: &str) {
    let outcome = stf::run(loaded, &stf::script::parse(script).unwrap()).unwrap();
    assert_eq!(outcome.failures.iter().map(ToString::to_string).collect::<Vec<_>>(), [""; 0]);
}

/// `psa_empty_group_action`, PSA 1.2, section "Action Selector".
#[test]
fn an_empty_group_runs_the_action_of_its_table() {
    on_each_engine(|loaded| {
        let (id, spread) = table(loaded, "I.spread");
        let profile = spread.profile.unwrap();
        let answer = |value: &str| {
            let packet = "packet 3 0a 00 fff7 00000008 00000000";
            passes(loaded, &format!("{packet}\nexpect 1 0a 00 fff6 00000009 00000000 {value} $"));
        };
        answer("ffffffff"); // A miss is no empty group.
        loaded.device.insert_group(profile, 1, &Group { max_size: 0, members: vec![] }).unwrap();
        let entry = NewEntry {
            keys: vec![Match::Exact(BigUint::from(8u8))],
            priority: 0,
            action: EntryAction::Group(1),
            idle_timeout: 0,
            metadata: vec![],
            counter: None,
            meter: None,
        };
        loaded.device.insert_entry(id, &entry, 0).unwrap();
        answer("0000e0e0");
        let put = loaded.program.actions.iter().find(|(_, action)| action.name == "I.put").unwrap().0;
        loaded.device.insert_member(profile, 7, &ActionCall { action: put, args: vec![BigUint::from(5u8)] }).unwrap();
        let watching = GroupMember { member: 7, weight: 1, watch_port: Some(4) };
        loaded.device.modify_group(profile, 1, &Group { max_size: 0, members: vec![watching] }).unwrap();
        answer("00000005");
        // P4Runtime: a group none of whose watched ports is up is empty.
        loaded.device.set_port_up(4, false);
        answer("0000e0e0");
        loaded.device.set_port_up(4, true);
        answer("00000005");
    });
}

/// Byte 1 of a packet says what it was: 0 green, else yellow. The answers are 1 green, 2 yellow, 3 red.
#[test]
fn the_meter_of_an_entry_knows_the_colour_before() {
    on_each_engine(|loaded| {
        let (id, _) = table(loaded, "I.limited");
        let entry = loaded.device.entries(id, 0).remove(0);
        let config = MeterConfig { cir: 1, cburst: 1, pir: 1, pburst: 3 };
        loaded.device.set_direct_meter(id, &entry.keys, entry.priority, Some(config)).unwrap();
        let packet = |before: u8, answer: u8| {
            let sent = format!("packet 3 09 {before:02x} fff8 00000007 00000000\n");
            sent + &format!("expect 1 09 {before:02x} fff7 00000008 00000000 {answer:08x} $\n")
        };
        passes(loaded, &[(1, 2), (0, 1), (1, 2), (0, 3), (1, 3)].map(|(before, is)| packet(before, is)).concat());
        let colours = loaded.device.entries(id, 0).remove(0).colours.unwrap();
        assert_eq!([colours.green, colours.yellow, colours.red].map(|count| count.packets), [1, 2, 2]);
    });
}
