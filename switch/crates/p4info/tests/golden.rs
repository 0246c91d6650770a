//! A program with every kind of object, against what p4c 1.2.5.16 writes for it.

use compiler::{Compiled, Options};
use proto::p4::config::v1::P4Info;

fn compiled() -> Compiled {
    let compiled = compiler::compile_text("objects.p4", include_str!("golden/objects.p4"), &Options::default());
    compiled.unwrap_or_else(|failure| panic!("{failure}"))
}

fn p4info(compiled: &Compiled) -> P4Info {
    p4info::p4info(compiled).unwrap_or_else(|failure| panic!("{failure}"))
}

#[test]
fn every_kind_of_object_is_described_as_by_p4c() {
    let expected = include_str!("golden/objects.p4info.txtpb");
    let p4info = p4info(&compiled());
    let wanted = p4info::parse_text(expected).expect("a P4Info");
    assert_eq!(p4info::difference(&p4info, &wanted), None);
    assert_eq!(p4info::to_text(&p4info), expected);
}

#[test]
fn entries_are_written_as_by_p4c() {
    let expected = include_str!("golden/objects.entries.txtpb");
    let entries = p4info::entries(&compiled());
    assert_eq!(entries, p4info::parse_entries(expected).expect("entries"));
    assert_eq!(p4info::entries_text(&entries), expected);
}

#[test]
fn the_binary_form_is_the_same_message() {
    let p4info = p4info(&compiled());
    let decoded: P4Info = prost::Message::decode(&*p4info::to_binary(&p4info)).expect("a P4Info");
    assert_eq!(decoded, p4info);
}

#[test]
fn objects_of_psa_are_described_by_their_kind() {
    let text = include_str!("../../compiler/tests/cases/psa_externs.p4");
    let compiled = compiler::compile_text("psa_externs.p4", text, &Options::default());
    let p4info = p4info(&compiled.unwrap_or_else(|failure| panic!("{failure}")));
    let names = |preambles: Vec<&Option<proto::p4::config::v1::Preamble>>| -> Vec<String> {
        preambles.into_iter().map(|preamble| preamble.as_ref().expect("a preamble").name.clone()).collect()
    };
    assert_eq!(p4info.pkg_info.expect("a package").arch, "psa");
    assert_eq!(names(p4info.counters.iter().map(|counter| &counter.preamble).collect()), ["I.kinds"]);
    assert_eq!(names(p4info.direct_counters.iter().map(|counter| &counter.preamble).collect()), ["I.hits"]);
    assert_eq!(names(p4info.meters.iter().map(|meter| &meter.preamble).collect()), ["I.rate", "I.limits"]);
    assert_eq!(names(p4info.direct_meters.iter().map(|meter| &meter.preamble).collect()), ["I.entry_rate"]);
    assert_eq!(
        names(p4info.registers.iter().map(|register| &register.preamble).collect()),
        ["I.last", "I.pairs", "I.begun", "I.wide", "I.begun_pairs"]
    );
    assert_eq!(names(p4info.digests.iter().map(|digest| &digest.preamble).collect()), ["ID.learned"]);
    let profiles: Vec<_> = p4info.action_profiles.iter().map(|profile| profile.with_selector).collect();
    assert_eq!(profiles, [false, true]);
}
