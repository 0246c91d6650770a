//! What a trace says of a parser that never ends, and of a group.

use std::sync::Arc;
use std::sync::mpsc::channel;

use control::{Control, Scope};
use loader::Program;
use pipeline::{BackendKind, Engine, Message, Sink, Traffic};
use proto::p4::v1::{self, entity::Entity, field_match, table_action, update};
use runtime::trace::{Event, Recorder, Step};

fn program(parser: &str, locals: &str, apply: &str) -> Arc<Program> {
    let text = format!(
        "#include <core.p4>
#include <v1model.p4>
header h_t {{ bit<8> a; bit<8> b; }}
struct headers {{ h_t h; }}
struct metadata {{ bit<8> why; }}
parser P(packet_in p, out headers h, inout metadata m, inout standard_metadata_t s) {{ {parser} }}
control I(inout headers h, inout metadata m, inout standard_metadata_t s) {{ {locals} apply {{ {apply} }} }}
control D(packet_out p, in headers h) {{ apply {{ p.emit(h.h); }} }}
control C(inout headers h, inout metadata m) {{ apply {{}} }}
control E(inout headers h, inout metadata m, inout standard_metadata_t s) {{ apply {{}} }}
V1Switch(P(), C(), I(), E(), C(), D()) main;"
    );
    Arc::new(loader::load(&text, BackendKind::Jit).unwrap())
}

struct Nothing;

impl Sink for Nothing {
    fn transmit(&mut self, _port: u32, _packet: &[u8], _at: u64) {}
    fn message(&mut self, _digest_or_log: Message) {}
}

fn trace(program: &Program, packet: &[u8]) -> Vec<Event> {
    let (sender, receiver) = channel();
    let (mut traffic, mut sink) = (Traffic::default(), Nothing);
    let mut engine = Engine::new(&program.loaded, &mut traffic, 1);
    engine.trace_next(Recorder::new(move |steps: Vec<Step>, _| sender.send(steps).unwrap()));
    engine.receive(1, packet, 0, &mut sink);
    engine.flush(&mut sink);
    receiver.recv().unwrap().into_iter().map(|step| step.event).collect()
}

#[test]
fn a_parser_that_never_ends_says_so_after_all_its_steps() {
    let parser = "state start { p.extract(h.h); transition hop; }
        state hop { p.advance(0); transition select(m.why) { 1: accept; default: hop; } }";
    let events = trace(&program(parser, "", "mark_to_drop(s);"), &[1, 2]);
    let error = events.iter().position(|event| *event == Event::ParserError { error: "ParserTimeout".into() });
    assert!(error.is_some_and(|at| at >= 20_000), "{error:?}");
    assert!(matches!(events.last(), Some(Event::Dropped { .. })), "{:?}", events.last());
}

#[test]
fn local_variables_have_their_names() {
    let locals = "action raise(inout bit<8> number) { number = number + 1; }";
    let apply = "bit<8> count = h.h.a;
        raise(count);
        if (count > 1) { bit<8> inner; inner = h.h.b; inner = inner + 1; h.h.b = inner; }
        bit<8> later;
        later = count;
        for (bit<8> turn in 1 .. 2) { later = later + turn; }
        h.h.a = later;";
    let events = trace(&program("state start { p.extract(h.h); transition accept; }", locals, apply), &[7, 9]);
    let is_ingress = |event: &&Event| !matches!(event, Event::Block { name } if name == "egress");
    let stored = events.iter().take_while(is_ingress).filter(|event| matches!(event, Event::Store { .. }));
    let stored: Vec<_> = stored.map(ToString::to_string).filter(|text| !text.starts_with("s.")).collect();
    let expected = [
        "count = 0x7",
        "number = 0x7",
        "number = 0x8",
        "count = 0x8",
        "inner = 0x9",
        "inner = 0xa",
        "h.h.b = 0xa",
        "later = 0x8",
        "turn = 0x1",
        "later = 0x9",
        "turn = 0x2",
        "later = 0xb",
        "h.h.a = 0xb",
    ];
    assert_eq!(stored, expected);
}

#[test]
fn a_packet_that_is_too_short_is_told_as_a_parser_error() {
    let events = trace(&program("state start { p.extract(h.h); transition accept; }", "", ""), &[1]);
    assert!(events.contains(&Event::ParserError { error: "PacketTooShort".into() }), "{events:?}");
}

#[test]
fn a_group_is_told_with_the_member_that_was_chosen() {
    let program = program(
        "state start { p.extract(h.h); transition accept; }",
        "action to(bit<9> port) { s.egress_spec = port; }
        table t { key = { h.h.a: exact; h.h.b: selector; } actions = { to; }
            implementation = action_selector(HashAlgorithm.identity, 16, 8); }",
        "t.apply();",
    );
    let info = program.p4info.clone().unwrap();
    let id = |preamble: &Option<proto::p4::config::v1::Preamble>| preamble.as_ref().unwrap().id;
    let profile = id(&info.action_profiles[0].preamble);
    let control = Control::new(info.clone(), program.clone()).unwrap();
    let action = |port| v1::Action {
        action_id: info.actions.iter().find(|action| !action.params.is_empty()).map(|a| id(&a.preamble)).unwrap(),
        params: vec![v1::action::Param { param_id: 1, value: vec![port] }],
    };
    let member = |member_id, port| {
        Entity::ActionProfileMember(v1::ActionProfileMember {
            action_profile_id: profile,
            member_id,
            action: Some(action(port)),
        })
    };
    let in_group = |member_id| v1::action_profile_group::Member { member_id, weight: 1, ..Default::default() };
    let group = v1::ActionProfileGroup {
        action_profile_id: profile,
        group_id: 7,
        members: vec![in_group(41), in_group(42)],
        ..Default::default()
    };
    let exact = field_match::FieldMatchType::Exact(field_match::Exact { value: vec![9] });
    let entry = v1::TableEntry {
        table_id: id(&info.tables[0].preamble),
        r#match: vec![v1::FieldMatch { field_id: 1, field_match_type: Some(exact) }],
        action: Some(v1::TableAction { r#type: Some(table_action::Type::ActionProfileGroupId(7)) }),
        ..Default::default()
    };
    let entities = [member(41, 1), member(42, 2), Entity::ActionProfileGroup(group), Entity::TableEntry(entry)];
    for entity in entities {
        let entity = Some(v1::Entity { entity: Some(entity) });
        let statuses = control.write(&[v1::Update { r#type: update::Type::Insert as i32, entity }], 0, &Scope::All, 0);
        assert!(statuses.unwrap().iter().all(|status| status.is_ok()));
    }
    for (selector, member, port) in [(0, 41, 1u128), (1, 42, 2)] {
        let events = trace(&program, &[9, selector]);
        let entry = events.iter().find_map(|event| match event {
            Event::Lookup { entry: Some(entry), args, .. } => Some((entry.clone(), args[0].value.clone())),
            _ => None,
        });
        let (entry, chosen) = entry.expect("the entry was hit");
        assert_eq!((entry.group, entry.member, chosen), (Some(7), Some(member), port.into()));
        assert!(entry.to_string().ends_with(&format!("group 7 member {member}")), "{entry}");
    }
}
