//! Spec "ActionProfileMember & ActionProfileGroup".

use crate::common::*;
use control::Code;
use proto::p4::v1;
use proto::p4::v1::action_profile_group::member::WatchKind;
use proto::p4::v1::entity::Entity;
use proto::p4::v1::table_action::Type as Given;
use proto::p4::v1::update::Type;

fn ecmp(action: Given) -> v1::TableEntry {
    let r#match = vec![exact(1, &[1])];
    v1::TableEntry { table_id: ECMP, r#match, action: table_action(action), ..Default::default() }
}

#[test]
fn members_and_groups_read_back() {
    let fixture = Fixture::new();
    let members = [member(1, 11), member(2, 12)];
    members.iter().for_each(|member| fixture.insert(member.clone()));
    let mut written = group(1, &[(1, 2), (2, 3)]);
    written.members[1].watch_kind = Some(WatchKind::WatchPort(vec![12]));
    written.max_size = 6;
    fixture.insert(Entity::ActionProfileGroup(written.clone()));

    let all = Entity::ActionProfileMember(Default::default());
    assert_eq!(fixture.read(all), members);
    let one = v1::ActionProfileMember { action_profile_id: SELECTOR, member_id: 2, action: None };
    assert_eq!(fixture.read(Entity::ActionProfileMember(one)), members[1..]);
    let groups = |group_id| Entity::ActionProfileGroup(v1::ActionProfileGroup { group_id, ..Default::default() });
    assert_eq!(fixture.read(groups(0)), [Entity::ActionProfileGroup(written)]);
    assert_eq!(fixture.read(groups(7)), []);
}

#[test]
fn what_is_used_can_not_be_deleted() {
    let fixture = Fixture::new();
    fixture.insert(member(1, 11));
    fixture.insert(member(2, 12));
    fixture.insert(Entity::ActionProfileGroup(group(1, &[(1, 1)])));
    fixture.insert(Entity::TableEntry(ecmp(Given::ActionProfileGroupId(1))));
    fixture.refuses(Type::Delete, member(1, 0), Code::FailedPrecondition, "member 1");
    fixture.refuses(Type::Delete, Entity::ActionProfileGroup(group(1, &[])), Code::FailedPrecondition, "group 1");
    fixture.modify(Entity::TableEntry(ecmp(Given::ActionProfileMemberId(2))));
    fixture.delete(Entity::ActionProfileGroup(group(1, &[])));
    fixture.delete(member(1, 0));
    fixture.refuses(Type::Delete, member(2, 0), Code::FailedPrecondition, "member 2");
}

#[test]
fn entries_must_refer_to_what_is_there() {
    let fixture = Fixture::new();
    let insert = |action, code, words: &str| {
        fixture.refuses(Type::Insert, Entity::TableEntry(ecmp(action)), code, words);
    };
    insert(Given::ActionProfileMemberId(1), Code::NotFound, "1");
    insert(Given::ActionProfileGroupId(1), Code::NotFound, "1");
    insert(Given::Action(call(DROP, &[])), Code::InvalidArgument, "I.ecmp: has an action profile");
}

#[test]
fn bad_members_and_groups_are_named() {
    let fixture = Fixture::new();
    fixture.insert(member(1, 11));
    fixture.refuses(Type::Insert, member(1, 11), Code::AlreadyExists, "I.selector");
    fixture.refuses(Type::Modify, member(9, 11), Code::NotFound, "9");
    fixture.refuses(Type::Insert, member(0, 11), Code::InvalidArgument, "must not be 0");
    let no_action = v1::ActionProfileMember { action_profile_id: SELECTOR, member_id: 5, action: None };
    fixture.refuses(
        Type::Insert,
        Entity::ActionProfileMember(no_action),
        Code::InvalidArgument,
        "I.selector: member 5: comes without an action",
    );

    let insert = |group: v1::ActionProfileGroup, code, words: &str| {
        fixture.refuses(Type::Insert, Entity::ActionProfileGroup(group), code, words);
    };
    insert(group(1, &[(9, 1)]), Code::NotFound, "I.selector: group 1: member 9: there is no such member");
    insert(group(1, &[(1, 0)]), Code::InvalidArgument, "weight 0");
    insert(group(1, &[(1, 1), (1, 1)]), Code::InvalidArgument, "given twice");
    insert(group(1, &[(1, 9)]), Code::ResourceExhausted, "has size 9; the most is 8");
    insert(v1::ActionProfileGroup { max_size: 9, ..group(1, &[]) }, Code::InvalidArgument, "the profile allows 8");
    insert(
        v1::ActionProfileGroup { max_size: 1, ..group(1, &[(1, 2)]) },
        Code::ResourceExhausted,
        "has size 2; the most is 1",
    );
    insert(v1::ActionProfileGroup { max_size: 4, ..group(1, &[]) }, Code::Ok, "");
    let larger = v1::ActionProfileGroup { max_size: 5, ..group(1, &[]) };
    fixture.refuses(Type::Modify, Entity::ActionProfileGroup(larger), Code::InvalidArgument, "it was made with 4");
    let mut watching = group(1, &[(1, 1)]);
    watching.members[0].watch_kind = Some(WatchKind::WatchPort(vec![1, 0xff]));
    insert(watching, Code::InvalidArgument, "member 1: watches port 511, which the switch does not have");
    let other = v1::ActionProfileGroup { action_profile_id: 3, ..group(1, &[]) };
    insert(other, Code::InvalidArgument, "no action profile with id 3");
}

#[test]
fn one_shots_read_back_as_they_were_written() {
    let fixture = Fixture::new();
    let one = |port: u8, weight| v1::ActionProfileAction {
        action: Some(call(FORWARD, &[&[1], &[port]])),
        weight,
        watch_kind: Some(v1::action_profile_action::WatchKind::WatchPort(vec![port])),
    };
    let set = |actions: Vec<v1::ActionProfileAction>| {
        Given::ActionProfileActionSet(v1::ActionProfileActionSet {
            action_profile_actions: actions,
            ..Default::default()
        })
    };
    // The same action twice is not made one.
    let written = ecmp(set(vec![one(1, 2), one(1, 2), one(2, 1)]));
    fixture.insert(Entity::TableEntry(written.clone()));
    assert_eq!(fixture.entries(v1::TableEntry { table_id: ECMP, ..Default::default() }), [written]);
    let modify = |actions, code, words: &str| {
        fixture.refuses(Type::Modify, Entity::TableEntry(ecmp(set(actions))), code, words);
    };
    modify(vec![one(1, 9)], Code::InvalidArgument, "its action set has size 9; I.selector allows 8");
    modify(vec![one(1, 0)], Code::InvalidArgument, "action 0 of its set: has weight 0");
}

#[test]
fn a_selector_has_one_shots_or_members_and_groups() {
    let fixture = Fixture::new();
    let one_shot = || {
        let one = v1::ActionProfileAction { action: Some(call(DROP, &[])), weight: 1, watch_kind: None };
        let set = v1::ActionProfileActionSet { action_profile_actions: vec![one], ..Default::default() };
        Entity::TableEntry(ecmp(Given::ActionProfileActionSet(set)))
    };
    let groups = |ids: &[(u32, i32)]| Entity::ActionProfileGroup(group(1, ids));
    fixture.insert(member(1, 11));
    fixture.insert(groups(&[(1, 1)]));
    let beside_groups = "I.ecmp: a one-shot action set can't stand beside members and groups of I.selector";
    fixture.refuses(Type::Insert, one_shot(), Code::InvalidArgument, beside_groups);
    fixture.insert(Entity::TableEntry(ecmp(Given::ActionProfileGroupId(1))));
    fixture.refuses(Type::Modify, one_shot(), Code::InvalidArgument, beside_groups);
    fixture.delete(one_shot());
    fixture.delete(groups(&[]));
    fixture.refuses(Type::Insert, one_shot(), Code::InvalidArgument, beside_groups);
    fixture.delete(member(1, 11));

    fixture.insert(one_shot());
    let beside_one_shots = "can't stand beside one-shot action sets of I.selector";
    fixture.refuses(Type::Insert, member(1, 11), Code::InvalidArgument, beside_one_shots);
    fixture.refuses(Type::Insert, groups(&[]), Code::InvalidArgument, beside_one_shots);
    fixture.modify(one_shot());
    fixture.delete(one_shot());
    fixture.insert(member(1, 11));
}
