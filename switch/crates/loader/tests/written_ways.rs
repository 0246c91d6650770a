//! Ways that are known while the control plane writes: each holds until something is written that it depends on, and no
//! longer.

mod sent;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use fastrand::Rng;
use ir::{Handle, Match, ProfileId, TableId, ValueSetId};
use pipeline::{BackendKind, Engine, FlowStats, Traffic};
use runtime::{ActionCall, Device, EntryAction, Group, GroupMember, NewEntry};

use self::sent::Sent;

/// Whose packets go by `by_who`, or by `by_kind` where a value set names their kind, and then by a group's member;
/// `by_more` is for those of kind 9 alone.
const PROGRAM: &str = "#include <core.p4>
#include <v1model.p4>
header name_t { bit<8> kind; bit<8> who; bit<8> more; bit<40> rest; }
struct headers_t { name_t name; }
struct meta_t { bit<1> named; }
parser P(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    value_set<bit<8>>(8) named;
    state start {
        packet.extract(hdr.name);
        transition select(hdr.name.kind) { named: is_named; default: accept; }
    }
    state is_named { meta.named = 1; transition accept; }
}
control V(inout headers_t hdr, inout meta_t meta) { apply { } }
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    action forward(bit<9> port) { standard.egress_spec = port; }
    action mark(bit<8> with) { hdr.name.more = with; }
    action drop() { mark_to_drop(standard); }
    action_selector(HashAlgorithm.crc16, 32w16, 32w16) choices;
    table by_who { key = { hdr.name.who : exact; } actions = { forward; drop; } default_action = drop(); }
    table by_kind { key = { hdr.name.kind : ternary; } actions = { forward; mark; } default_action = forward(8); }
    table by_more { key = { hdr.name.more : lpm; } actions = { forward; mark; } default_action = mark(7); }
    table by_group {
        key = { hdr.name.who : exact; hdr.name.more : selector; }
        actions = { forward; mark; NoAction; }
        default_action = NoAction();
        implementation = choices;
    }
    apply {
        if (meta.named == 1) { by_kind.apply(); } else { by_who.apply(); }
        if (hdr.name.kind == 9) { by_more.apply(); } else { by_group.apply(); }
    }
}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) { apply { } }
control C(inout headers_t hdr, inout meta_t meta) { apply { } }
control D(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr.name); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
";

fn program(kind: BackendKind) -> Arc<loader::Program> {
    Arc::new(loader::load(PROGRAM, kind).unwrap_or_else(|error| panic!("{error}")))
}

fn table(device: &Device, name: &str) -> TableId {
    let is_it = |known: &ir::Table| known.name.ends_with(name);
    device.program().tables.iter().find(|(_, known)| is_it(known)).map(|(id, _)| id).unwrap()
}

fn call(device: &Device, action: &str, args: &[u8]) -> ActionCall {
    let (action, _) = device.program().actions.iter().find(|(_, known)| known.name.ends_with(action)).unwrap();
    ActionCall { action, args: args.iter().map(|arg| (*arg).into()).collect() }
}

fn entry(keys: Vec<Match>, priority: u32, action: EntryAction) -> NewEntry {
    NewEntry { keys, priority, action, idle_timeout: 0, metadata: vec![], counter: None, meter: None }
}

fn packet(kind: u8, who: u8, more: u8) -> [u8; 12] {
    [kind, who, more, 1, 2, 3, 4, 5, 6, 7, 8, 9]
}

/// One write, drawn: the same on each device that the numbers begin the same for. Some are refused.
fn write(device: &Device, numbers: &mut Rng) -> bool {
    let (few, port) = (numbers.u8(..3), numbers.u8(..16));
    let profile = ProfileId::new(0);
    let action = match numbers.bool() {
        true => call(device, "forward", &[port]),
        false => call(device, "mark", &[port]),
    };
    let group = |numbers: &mut Rng| {
        let mut member = |member| GroupMember {
            member,
            weight: numbers.u32(1..3),
            watch_port: numbers.bool().then(|| numbers.u32(..4)),
        };
        Group { max_size: 0, members: vec![member(0), member(1)] }
    };
    let (table, entry) = match numbers.u8(..4) {
        0 => {
            let action = EntryAction::Action(call(device, "forward", &[port]));
            (table(device, "by_who"), entry(vec![Match::Exact(few.into())], 0, action))
        }
        1 => {
            let mask = numbers.u8(..4);
            let key = Match::Ternary { value: (few & mask).into(), mask: mask.into() };
            (table(device, "by_kind"), entry(vec![key], u32::from(port) + 1, EntryAction::Action(action.clone())))
        }
        2 => {
            let (value, prefix) = (numbers.u8(..) & 0xf0, 4);
            (
                table(device, "by_more"),
                entry(vec![Match::Lpm { value: value.into(), prefix }], 0, EntryAction::Action(action.clone())),
            )
        }
        _ => (table(device, "by_group"), entry(vec![Match::Exact(few.into())], 0, EntryAction::Group(0))),
    };
    let done = match numbers.u8(..10) {
        0..3 => device.insert_entry(table, &entry, 0),
        3 => device.modify_entry(table, &entry, 0),
        4 => device.delete_entry(table, &entry.keys, entry.priority),
        5 => device.set_default(table, &action),
        6 => match device.insert_member(profile, few.into(), &action) {
            Err(_) => device.modify_member(profile, few.into(), &action),
            done => done,
        },
        7 => match device.insert_group(profile, 0, &group(numbers)) {
            Err(_) => device.modify_group(profile, 0, &group(numbers)),
            done => done,
        },
        8 => {
            device.set_port_up(numbers.u32(..4), numbers.bool());
            Ok(())
        }
        _ => device.set_value_set(ValueSetId::new(0), &[vec![Match::Exact(few.into())]]),
    };
    done.is_ok()
}

#[test]
fn packets_between_writes_take_the_ways_that_the_interpreter_has_them_take() {
    let kinds = [BackendKind::Interpreter, BackendKind::Flows, BackendKind::CheckedFlows];
    let mut all = FlowStats::default();
    for seed in 0..40 {
        let programs = kinds.map(program);
        let mut traffics: [Traffic; 3] = Default::default();
        let mut engines: Vec<_> = programs
            .iter()
            .zip(&mut traffics)
            .map(|(program, traffic)| Engine::new(&program.loaded, traffic, 1))
            .collect();
        let mut numbers = Rng::with_seed(seed);
        for round in 0..400u64 {
            let drawn = numbers.u64(..);
            let done = programs.each_ref().map(|program| write(&program.loaded.device, &mut Rng::with_seed(drawn)));
            assert_eq!(done, [done[0]; 3], "seed {seed}, write {round}");
            for _ in 0..6 {
                let kind = if numbers.u8(..5) == 0 { 9 } else { numbers.u8(..4) };
                let packet = packet(kind, numbers.u8(..3), numbers.u8(..4) << 4);
                let sent: Vec<_> = engines
                    .iter_mut()
                    .map(|engine| {
                        let mut sent = Sent::default();
                        engine.receive(7, &packet, 1000 * round, &mut sent);
                        sent.0
                    })
                    .collect();
                assert!(sent.iter().all(|other| *other == sent[0]), "seed {seed}, round {round}, {packet:?}: {sent:?}");
            }
        }
        all.add(&engines[1].traffic().flows);
    }
    assert!(all.hits > 10_000 && all.forgotten > 5000, "{all:?}");
}

/// Has `write` write numbers from 2 on while packets of somebody come; answers what was known of their ways. `check` is
/// told of each packet's port the lowest and the highest number that it may be of.
fn race(
    device: &Device,
    engine: &mut Engine<'_>,
    write: impl Fn(u8) + Sync,
    check: impl Fn(u32, [u32; 2]),
) -> FlowStats {
    // The last write that was answered; the one under way, if any, has the next number.
    let answered = AtomicU32::new(1);
    let by_who = table(device, "by_who");
    let forward = EntryAction::Action(call(device, "forward", &[1]));
    device.insert_entry(by_who, &entry(vec![Match::Exact(1u8.into())], 0, forward), 0).unwrap();
    thread::scope(|scope| {
        let writing = scope.spawn(|| {
            for number in 2..=250 {
                write(number);
                answered.store(number.into(), Ordering::SeqCst);
                thread::sleep(Duration::from_micros(50));
            }
        });
        let (mut sent, mut now, mut last) = (Sent::default(), 0, 0);
        while !writing.is_finished() {
            now += 1000;
            let least = answered.load(Ordering::SeqCst).max(last);
            sent.0.clear();
            engine.receive(7, &packet(1, 1, 0), now, &mut sent);
            let most = answered.load(Ordering::SeqCst) + 1;
            last = sent.0[0].0;
            check(last, [least, most]);
        }
    });
    engine.traffic().flows
}

#[test]
fn writes_of_another_table_leave_ways_as_they_are() {
    let program = program(BackendKind::Flows);
    let device = &program.loaded.device;
    let mut traffic = Traffic::default();
    let mut engine = Engine::new(&program.loaded, &mut traffic, 1);
    let by_more = table(device, "by_more");
    let write = |number: u8| {
        let action = EntryAction::Action(call(device, "forward", &[number]));
        device
            .insert_entry(by_more, &entry(vec![Match::Lpm { value: number.into(), prefix: 8 }], 0, action), 0)
            .unwrap();
    };
    let flows = race(device, &mut engine, write, |port, _| assert_eq!(port, 1));
    assert!(flows.hits > 0 && (flows.learned, flows.misses, flows.forgotten) == (1, 1, 0), "{flows:?}");
}

#[test]
fn a_packet_behind_a_write_of_its_table_takes_no_way_from_before_it() {
    let program = program(BackendKind::Flows);
    let device = &program.loaded.device;
    let mut traffic = Traffic::default();
    let mut engine = Engine::new(&program.loaded, &mut traffic, 1);
    let by_who = table(device, "by_who");
    let write = |number: u8| {
        let action = EntryAction::Action(call(device, "forward", &[number]));
        device.modify_entry(by_who, &entry(vec![Match::Exact(1u8.into())], 0, action), 0).unwrap();
    };
    let within = |port, [least, most]: [u32; 2]| {
        assert!((least..=most).contains(&port), "port {port} is not one of {least} to {most}");
    };
    let flows = race(device, &mut engine, write, within);
    assert!(flows.hits > 0 && flows.forgotten > 0, "{flows:?}");
}
