//! Action profiles and selectors.

use std::collections::BTreeMap;

use crate::common::*;
use ir::*;
use runtime::{BitString, Context, Device, EntryAction, Group, GroupMember, OneShot, WriteError};

/// A table whose actions stand in a selector, and the selector.
fn selecting(size: u64) -> (Device, TableId, ProfileId) {
    let mut program = program();
    let profile = program.profiles.push(Profile {
        name: "selector".into(),
        size,
        selector: Some(Selector { algorithm: HashAlgorithm::Identity, output_width: 16 }),
    });
    let table = table("lb", vec![key("dst", 8, MatchKind::Exact)], 10);
    let table = program.tables.push(Table { profile: Some(profile), selector_widths: vec![16], ..table });
    (device(program), table, profile)
}

fn of(members: &[(u32, u32, Option<u32>)], max_size: u32) -> Group {
    let members =
        members.iter().map(|&(member, weight, watch_port)| GroupMember { member, weight, watch_port }).collect();
    Group { max_size, members }
}

/// How often each port is chosen when the selector's input counts up to `count`.
fn spread(context: &mut Context<'_>, table: TableId, count: u16) -> BTreeMap<u16, u32> {
    let mut ports = BTreeMap::new();
    for input in 0..count {
        let mut bits = BitString::new();
        bits.push(input.into(), 16);
        let (hit, port) = look_with(context, table, &[1], &bits);
        assert!(hit);
        *ports.entry(port.expect("forwarded, or nothing done")).or_insert(0) += 1;
    }
    ports
}

#[test]
fn members_are_shared_and_change_for_all() {
    let (device, t, p) = selecting(10);
    let mut context = Context::new(&device, 0);
    device.insert_member(p, 7, &forward(1)).unwrap();
    for value in [1, 2] {
        device.insert_entry(t, &entry(vec![exact(value)], 0, EntryAction::Member(7)), 0).unwrap();
    }
    assert_eq!(look(&mut context, t, &[2]), (true, Some(1)));
    device.modify_member(p, 7, &forward(2)).unwrap();
    assert_eq!((look(&mut context, t, &[1]), look(&mut context, t, &[2])), ((true, Some(2)), (true, Some(2))));
    device.modify_member(p, 7, &drop_call()).unwrap();
    assert_eq!(look(&mut context, t, &[1]), (true, None));
    assert_eq!(device.members(p), [(7, drop_call())]);
    assert_eq!(device.entries(t, 0)[0].action, EntryAction::Member(7));
    let error = device.delete_member(p, 7).unwrap_err().to_string();
    assert_eq!(error, "selector: member 7 is still used by 2 entries and groups");
    device.delete_entry(t, &[exact(1)], 0).unwrap();
    device.delete_entry(t, &[exact(2)], 0).unwrap();
    device.delete_member(p, 7).unwrap();
    assert_eq!(device.member(p, 7), None);
}

#[test]
fn a_group_chooses_by_weight() {
    let (device, t, p) = selecting(10);
    let mut context = Context::new(&device, 0);
    for id in 1..=3 {
        device.insert_member(p, id, &forward(id.into())).unwrap();
    }
    device.insert_group(p, 1, &of(&[(3, 1, None), (1, 1, None), (2, 2, None)], 4)).unwrap();
    device.insert_entry(t, &entry(vec![exact(1)], 0, EntryAction::Group(1)), 0).unwrap();
    assert_eq!(spread(&mut context, t, 400), BTreeMap::from([(1, 100), (2, 200), (3, 100)]));
    // Equal weights: the hash modulo the number of members, by ascending id.
    device.modify_group(p, 1, &of(&[(3, 1, None), (1, 1, None), (2, 1, None)], 4)).unwrap();
    let mut bits = BitString::new();
    bits.push(301, 16);
    assert_eq!(look_with(&mut context, t, &[1], &bits), (true, Some(2)));
    assert_eq!(device.entries(t, 0)[0].action, EntryAction::Group(1));
    assert!(matches!(device.delete_group(p, 1), Err(WriteError::InUse { .. })));
    assert!(matches!(device.delete_member(p, 3), Err(WriteError::InUse { .. })));
    device.modify_group(p, 1, &of(&[], 0)).unwrap();
    assert_eq!(spread(&mut context, t, 4), BTreeMap::from([(u16::MAX, 4)]), "an empty group does nothing");
    device.delete_member(p, 3).unwrap();
    device.delete_entry(t, &[exact(1)], 0).unwrap();
    device.delete_group(p, 1).unwrap();
    assert!(device.groups(p).is_empty());
}

#[test]
fn members_whose_port_is_down_are_not_chosen() {
    let (device, t, p) = selecting(10);
    let mut context = Context::new(&device, 0);
    for id in 1..=2 {
        device.insert_member(p, id, &forward(id.into())).unwrap();
    }
    device.insert_group(p, 1, &of(&[(1, 1, Some(11)), (2, 1, Some(12))], 0)).unwrap();
    device.insert_entry(t, &entry(vec![exact(1)], 0, EntryAction::Group(1)), 0).unwrap();
    device.set_port_up(12, false);
    assert_eq!(spread(&mut context, t, 10), BTreeMap::from([(1, 10)]));
    device.set_port_up(11, false);
    assert_eq!(spread(&mut context, t, 10), BTreeMap::from([(u16::MAX, 10)]));
    device.set_port_up(12, true);
    assert_eq!(spread(&mut context, t, 10), BTreeMap::from([(2, 10)]));
    device.set_port_up(11, true);
    assert_eq!(spread(&mut context, t, 10), BTreeMap::from([(1, 5), (2, 5)]));
}

#[test]
fn one_shot_groups_come_and_go_with_their_entry() {
    let (device, t, p) = selecting(3);
    let mut context = Context::new(&device, 0);
    let shots = |ports: &[u128]| {
        let shot = |&port| OneShot { call: forward(port), weight: 1, watch_port: Some(port as u32) };
        EntryAction::OneShot(ports.iter().map(shot).collect())
    };
    device.insert_entry(t, &entry(vec![exact(1)], 0, shots(&[5, 6])), 0).unwrap();
    assert_eq!(spread(&mut context, t, 10), BTreeMap::from([(5, 5), (6, 5)]));
    device.set_port_up(5, false);
    assert_eq!(spread(&mut context, t, 10), BTreeMap::from([(6, 10)]));
    assert_eq!(device.entries(t, 0)[0].action, shots(&[5, 6]));
    assert!(device.members(p).is_empty() && device.groups(p).is_empty());
    let full = device.insert_entry(t, &entry(vec![exact(2)], 0, shots(&[5, 6])), 0);
    assert!(matches!(full, Err(WriteError::Full { size: 3, .. })));
    assert_eq!(device.entry_count(t), 1);
    device.modify_entry(t, &entry(vec![exact(1)], 0, shots(&[7])), 0).unwrap();
    assert_eq!(spread(&mut context, t, 10), BTreeMap::from([(7, 10)]));
    device.delete_entry(t, &[exact(1)], 0).unwrap();
    for value in 1..=3 {
        device.insert_entry(t, &entry(vec![exact(value)], 0, shots(&[9])), 0).unwrap();
    }
}

#[test]
fn refused_writes_name_the_bound() {
    let (device, t, p) = selecting(2);
    device.insert_member(p, 1, &forward(1)).unwrap();
    device.insert_member(p, 2, &forward(2)).unwrap();
    let texts = [
        device.insert_member(p, 1, &forward(1)),
        device.insert_member(p, 3, &forward(1)),
        device.modify_member(p, 3, &forward(1)),
        device.modify_member(p, 1, &forward(512)),
        device.insert_group(p, 1, &of(&[(3, 1, None)], 0)),
        device.insert_group(p, 1, &of(&[(1, 0, None)], 0)),
        device.insert_group(p, 1, &of(&[(1, 3, None), (2, 2, None)], 4)),
        device.insert_group(p, 1, &of(&[(1, 1, None), (1, 2, None)], 4)),
        device.modify_group(p, 1, &of(&[], 0)),
        device.insert_entry(t, &entry(vec![exact(1)], 0, EntryAction::Member(9)), 0),
        device.insert_entry(t, &entry(vec![exact(1)], 0, EntryAction::Group(9)), 0),
        device.insert_entry(t, &forward_entry(vec![exact(1)], 0, 1), 0),
    ]
    .map(|result| result.unwrap_err().to_string());
    let expected = [
        "member 1 is already in selector",
        "selector is full: it holds 2",
        "member 3 is not in selector",
        "selector, action forward: parameter port is 0x200, which does not fit 9 bits",
        "member 3 is not in selector",
        "selector: the weight is missing",
        "selector: the size of the group is 5; the most is 4",
        "the group's member 1 is already in selector",
        "group 1 is not in selector",
        "member 9 is not in selector",
        "group 9 is not in selector",
        "lb does not have actions of its own: it takes members or groups of its profile",
    ];
    assert_eq!(texts, expected);
    assert!(device.groups(p).is_empty());
    assert_eq!(device.entry_count(t), 0);
    device.delete_member(p, 1).unwrap();
}
