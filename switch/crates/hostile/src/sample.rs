//! For any program, one well-formed entity of each kind that its P4Info allows.

use proto::p4::config::v1 as info;
use proto::p4::v1;
use proto::p4::v1::entity::Entity;
use proto::p4::v1::field_match::{Exact, FieldMatchType, Lpm, Optional, Range, Ternary};
use proto::p4::v1::table_action::Type as Choice;

/// The entities, each after those that it refers to.
pub fn entities(p4info: &info::P4Info) -> Vec<Entity> {
    let mut entities = Vec::new();
    for profile in &p4info.action_profiles {
        entities.extend(of_profile(p4info, profile));
    }
    for table in p4info.tables.iter().filter(|table| !table.is_const_table) {
        entities.extend(of_table(p4info, table));
    }
    let index = Some(v1::Index { index: 1 });
    let data = Some(v1::CounterData { byte_count: 300, packet_count: 2 });
    for counter in &p4info.counters {
        let counter_id = id(&counter.preamble);
        entities.push(Entity::CounterEntry(v1::CounterEntry { counter_id, index, data }));
    }
    for meter in &p4info.meters {
        let config = Some(v1::MeterConfig { cir: 1000, cburst: 200, pir: 3000, pburst: 400, ..Default::default() });
        let meter_id = id(&meter.preamble);
        entities.push(Entity::MeterEntry(v1::MeterEntry { meter_id, index, config, counter_data: None }));
    }
    for register in &p4info.registers {
        let data = Some(v1::P4Data { data: Some(v1::p4_data::Data::Bitstring(vec![5])) });
        let register_id = id(&register.preamble);
        entities.push(Entity::RegisterEntry(v1::RegisterEntry { register_id, index, data }));
    }
    for digest in &p4info.digests {
        let config = v1::digest_entry::Config { max_timeout_ns: 1000, max_list_size: 2, ack_timeout_ns: 10_000 };
        let digest_id = id(&digest.preamble);
        entities.push(Entity::DigestEntry(v1::DigestEntry { digest_id, config: Some(config) }));
    }
    for set in &p4info.value_sets {
        let r#match = set.r#match.iter().filter_map(|field| field_match(field, 1)).collect();
        let members = vec![v1::ValueSetMember { r#match }];
        entities.push(Entity::ValueSetEntry(v1::ValueSetEntry { value_set_id: id(&set.preamble), members }));
    }
    entities.extend(copies());
    entities
}

/// An entry for each action of a table, then the entry for everything else.
fn of_table(p4info: &info::P4Info, table: &info::Table) -> Vec<Entity> {
    use info::match_field::{Match, MatchType};
    let ranked = |field: &info::MatchField| {
        let ranked = [MatchType::Ternary, MatchType::Range, MatchType::Optional];
        ranked.iter().any(|kind| field.r#match == Some(Match::MatchType(*kind as i32)))
    };
    let has_priority = table.match_fields.iter().any(ranked);
    let table_id = id(&table.preamble);
    let mut entities = Vec::new();
    for (at, allowed) in table.action_refs.iter().enumerate() {
        let number = at as u8;
        let call = call(p4info, allowed.id, number);
        let action = match (table.implementation_id, at) {
            (0, _) => Choice::Action(call),
            (_, 0) => Choice::ActionProfileMemberId(1),
            (_, _) => Choice::ActionProfileGroupId(1),
        };
        let action = Some(v1::TableAction { r#type: Some(action) });
        let entry = v1::TableEntry {
            table_id,
            r#match: table.match_fields.iter().filter_map(|field| field_match(field, number)).collect(),
            priority: if has_priority { 1 + at as i32 } else { 0 },
            idle_timeout_ns: if table.idle_timeout_behavior != 0 { 5000 } else { 0 },
            is_default_action: table.match_fields.is_empty(),
            action,
            ..Default::default()
        };
        let key = v1::TableEntry { action: None, idle_timeout_ns: 0, ..entry.clone() };
        entities.push(Entity::TableEntry(entry));
        for resource in &table.direct_resource_ids {
            entities.push(of_direct_resource(p4info, *resource, key.clone()));
        }
    }
    entities
}

fn of_direct_resource(p4info: &info::P4Info, resource: u32, key: v1::TableEntry) -> Entity {
    let table_entry = Some(key);
    if p4info.direct_counters.iter().any(|counter| id(&counter.preamble) == resource) {
        let data = Some(v1::CounterData { byte_count: 9, packet_count: 1 });
        return Entity::DirectCounterEntry(v1::DirectCounterEntry { table_entry, data });
    }
    let config = Some(v1::MeterConfig { cir: 1, cburst: 2, pir: 2, pburst: 3, ..Default::default() });
    Entity::DirectMeterEntry(v1::DirectMeterEntry { table_entry, config, counter_data: None })
}

/// Two members, and a group of both.
fn of_profile(p4info: &info::P4Info, profile: &info::ActionProfile) -> Vec<Entity> {
    let action_profile_id = id(&profile.preamble);
    let table = p4info.tables.iter().find(|table| profile.table_ids.contains(&id(&table.preamble)));
    let Some(allowed) = table.and_then(|table| table.action_refs.first()) else { return Vec::new() };
    let member = |member_id: u32| {
        let action = Some(call(p4info, allowed.id, member_id as u8));
        Entity::ActionProfileMember(v1::ActionProfileMember { action_profile_id, member_id, action })
    };
    let mut entities = vec![member(1), member(2)];
    if profile.with_selector {
        let of_group = |member_id| v1::action_profile_group::Member { member_id, weight: 1, watch_kind: None };
        entities.push(Entity::ActionProfileGroup(v1::ActionProfileGroup {
            action_profile_id,
            group_id: 1,
            members: vec![of_group(1), of_group(2)],
            max_size: 3,
        }));
    }
    entities
}

/// A multicast group and a clone session.
fn copies() -> [Entity; 2] {
    use v1::packet_replication_engine_entry::Type;
    let replica = |port, instance| v1::Replica {
        port_kind: Some(v1::replica::PortKind::Port(vec![port])),
        instance,
        ..Default::default()
    };
    let group = v1::MulticastGroupEntry {
        multicast_group_id: 1,
        replicas: vec![replica(2, 1), replica(3, 1), replica(2, 2)],
        ..Default::default()
    };
    let session = v1::CloneSessionEntry {
        session_id: 1,
        replicas: vec![replica(6, 1)],
        class_of_service: 2,
        packet_length_bytes: 20,
    };
    [Type::MulticastGroupEntry(group), Type::CloneSessionEntry(session)]
        .map(|kind| Entity::PacketReplicationEngineEntry(v1::PacketReplicationEngineEntry { r#type: Some(kind) }))
}

fn call(p4info: &info::P4Info, action_id: u32, number: u8) -> v1::Action {
    let action = p4info.actions.iter().find(|action| id(&action.preamble) == action_id);
    let params = action.map_or(&[][..], |action| &action.params);
    let param = |param: &info::action::Param| v1::action::Param {
        param_id: param.id,
        value: value(param.bitwidth, number % 2 + 1),
    };
    v1::Action { action_id, params: params.iter().map(param).collect() }
}

fn field_match(field: &info::MatchField, number: u8) -> Option<v1::FieldMatch> {
    use info::match_field::{Match, MatchType};
    let Some(Match::MatchType(kind)) = field.r#match else { return None };
    let value = value(field.bitwidth, number);
    let kind = match MatchType::try_from(kind) {
        Ok(MatchType::Exact) => FieldMatchType::Exact(Exact { value }),
        Ok(_) if number == 0 => return None,
        Ok(MatchType::Lpm) => {
            FieldMatchType::Lpm(Lpm { value: vec![0], prefix_len: i32::from(number).min(field.bitwidth) })
        }
        Ok(MatchType::Ternary) => FieldMatchType::Ternary(Ternary { mask: value.clone(), value }),
        Ok(MatchType::Range) => FieldMatchType::Range(Range { low: vec![0], high: value }),
        Ok(MatchType::Optional) => FieldMatchType::Optional(Optional { value }),
        _ => return None,
    };
    Some(v1::FieldMatch { field_id: field.id, field_match_type: Some(kind) })
}

/// A number that fits, or a text where there is no width.
fn value(width: i32, number: u8) -> Vec<u8> {
    match width {
        0 => vec![b'a' + number],
        1..8 => vec![number & ((1 << width) - 1)],
        _ => vec![number],
    }
}

fn id(preamble: &Option<info::Preamble>) -> u32 {
    preamble.as_ref().map_or(0, |preamble| preamble.id)
}
