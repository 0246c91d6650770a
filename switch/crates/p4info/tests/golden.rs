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
