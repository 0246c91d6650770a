//! What a program's own P4Info says a controller may send, as inputs of [`crate::messages`]: what mutations start from.

use prost::Message;
use proto::p4::config::v1 as info;
use proto::p4::config::v1::match_field::{Match, MatchType};
use proto::p4::v1;
use proto::p4::v1::entity::Entity;
use proto::p4::v1::field_match::{Exact, FieldMatchType, Lpm, Optional, Range, Ternary};
use proto::p4::v1::packet_replication_engine_entry::Type as Engine;
use proto::p4::v1::set_forwarding_pipeline_config_request::Action;
use proto::p4::v1::stream_message_request::Update as Request;
use proto::p4::v1::table_action::Type as Chosen;
use proto::p4::v1::update::Type;

use crate::calls::Known;
use crate::messages::{DEVICE, ELECTION, METHODS, bid, read_all};

/// Inputs for every call, most of them right.
pub fn messages(known: &Known) -> Vec<Vec<u8>> {
    let p4info = &known.p4info;
    let entities = entities(p4info);
    let write = |kind: Type, entities: &[Entity]| {
        let update = |entity: &Entity| v1::Update {
            r#type: kind as i32,
            entity: Some(v1::Entity { entity: Some(entity.clone()) }),
        };
        let request = v1::WriteRequest {
            device_id: DEVICE,
            election_id: Some(ELECTION),
            updates: entities.iter().map(update).collect(),
            ..Default::default()
        };
        input("Write", &request.encode_to_vec())
    };
    let mut inputs = vec![write(Type::Insert, &entities), input("Read", &read_all().encode_to_vec())];
    for entity in &entities {
        inputs.push(write(Type::Insert, std::slice::from_ref(entity)));
        inputs.push(write(Type::Modify, std::slice::from_ref(entity)));
        let request = v1::ReadRequest {
            device_id: DEVICE,
            entities: vec![v1::Entity { entity: Some(entity.clone()) }],
            ..Default::default()
        };
        inputs.push(input("Read", &request.encode_to_vec()));
    }
    inputs.push(write(Type::Delete, &entities));
    for action in
        [Action::Verify, Action::VerifyAndSave, Action::VerifyAndCommit, Action::Commit, Action::ReconcileAndCommit]
    {
        let config = v1::ForwardingPipelineConfig {
            p4info: Some(p4info.clone()),
            p4_device_config: known.text.clone().into_bytes(),
            cookie: None,
        };
        let request = v1::SetForwardingPipelineConfigRequest {
            device_id: DEVICE,
            election_id: Some(ELECTION),
            action: action as i32,
            config: (action != Action::Commit).then_some(config),
            ..Default::default()
        };
        inputs.push(input("SetForwardingPipelineConfig", &request.encode_to_vec()));
    }
    inputs.push(stream(p4info));
    inputs.push(input("Capabilities", &v1::CapabilitiesRequest { device_id: DEVICE }.encode_to_vec()));
    inputs
}

fn input(method: &str, message: &[u8]) -> Vec<u8> {
    let number = METHODS.iter().position(|known| *known == method).expect("one of the methods");
    [&[number as u8], message].concat()
}

/// A controller that bids, sends a packet and acknowledges a digest.
fn stream(p4info: &info::P4Info) -> Vec<u8> {
    let message = |update| v1::StreamMessageRequest { update: Some(update) };
    let header = p4info.controller_packet_metadata.iter().find(|header| id(&header.preamble) == 0x0400_0002);
    let metadata = header.map_or(&[][..], |header| &header.metadata);
    let metadata = metadata.iter().map(|field| v1::PacketMetadata { metadata_id: field.id, value: vec![1] });
    let packet = v1::PacketOut { payload: vec![0; 64], metadata: metadata.collect() };
    let digest_id = p4info.digests.first().map_or(0, |digest| id(&digest.preamble));
    let ack = v1::DigestListAck { digest_id, list_id: 1 };
    let taking_over = v1::MasterArbitrationUpdate {
        device_id: DEVICE,
        election_id: Some(v1::Uint128 { high: 0, low: 9 }),
        ..Default::default()
    };
    let messages = [
        bid(),
        message(Request::Arbitration(taking_over)),
        message(Request::Packet(packet)),
        message(Request::DigestAck(ack)),
    ];
    let mut parts = Vec::new();
    for message in messages.map(|message| message.encode_to_vec()) {
        parts.extend((message.len() as u16).to_be_bytes());
        parts.extend(message);
    }
    input("StreamChannel", &parts)
}

fn id(preamble: &Option<info::Preamble>) -> u32 {
    preamble.as_ref().map_or(0, |preamble| preamble.id)
}

/// One of each kind, in an order in which they can be inserted.
fn entities(p4info: &info::P4Info) -> Vec<Entity> {
    let mut entities = Vec::new();
    for profile in &p4info.action_profiles {
        let action_profile_id = id(&profile.preamble);
        let table = p4info.tables.iter().find(|table| profile.table_ids.contains(&id(&table.preamble)));
        let action = table.and_then(|table| action(p4info, table));
        entities.push(Entity::ActionProfileMember(v1::ActionProfileMember { action_profile_id, member_id: 1, action }));
        if profile.with_selector {
            let member = v1::action_profile_group::Member { member_id: 1, weight: 1, watch_kind: None };
            let group = v1::ActionProfileGroup { action_profile_id, group_id: 1, members: vec![member], max_size: 0 };
            entities.push(Entity::ActionProfileGroup(group));
        }
    }
    let data = Some(v1::CounterData { packet_count: 1, byte_count: 2 });
    let config = Some(v1::MeterConfig { cir: 1, cburst: 2, pir: 3, pburst: 4, eburst: 0 });
    let index = Some(v1::Index { index: 1 });
    for table in &p4info.tables {
        let entry = entry(p4info, table);
        entities.push(Entity::TableEntry(entry.clone()));
        let table_entry = Some(v1::TableEntry { action: None, ..entry });
        entities.push(Entity::DirectCounterEntry(v1::DirectCounterEntry { table_entry: table_entry.clone(), data }));
        entities.push(Entity::DirectMeterEntry(v1::DirectMeterEntry { table_entry, config, counter_data: None }));
    }
    for counter in &p4info.counters {
        let counter_id = id(&counter.preamble);
        entities.push(Entity::CounterEntry(v1::CounterEntry { counter_id, index, data }));
    }
    for meter in &p4info.meters {
        let meter_id = id(&meter.preamble);
        entities.push(Entity::MeterEntry(v1::MeterEntry { meter_id, index, config, counter_data: None }));
    }
    for register in &p4info.registers {
        let data = Some(v1::P4Data { data: Some(v1::p4_data::Data::Bitstring(vec![1])) });
        entities.push(Entity::RegisterEntry(v1::RegisterEntry { register_id: id(&register.preamble), index, data }));
    }
    for set in &p4info.value_sets {
        let member = v1::ValueSetMember { r#match: set.r#match.iter().map(field).collect() };
        let set = v1::ValueSetEntry { value_set_id: id(&set.preamble), members: vec![member] };
        entities.push(Entity::ValueSetEntry(set));
    }
    for digest in &p4info.digests {
        let config = Some(v1::digest_entry::Config { max_timeout_ns: 1, max_list_size: 2, ack_timeout_ns: 3 });
        entities.push(Entity::DigestEntry(v1::DigestEntry { digest_id: id(&digest.preamble), config }));
    }
    let port = Some(v1::replica::PortKind::Port(vec![1]));
    let backup_replicas = vec![v1::BackupReplica { port: vec![2], instance: 2 }];
    let replicas = vec![v1::Replica { port_kind: port, instance: 1, backup_replicas }];
    let group = v1::MulticastGroupEntry { multicast_group_id: 1, replicas: replicas.clone(), metadata: vec![7] };
    let session = v1::CloneSessionEntry { session_id: 1, replicas, class_of_service: 1, packet_length_bytes: 64 };
    for engine in [Engine::MulticastGroupEntry(group), Engine::CloneSessionEntry(session)] {
        entities.push(Entity::PacketReplicationEngineEntry(v1::PacketReplicationEngineEntry { r#type: Some(engine) }));
    }
    entities
}

fn entry(p4info: &info::P4Info, table: &info::Table) -> v1::TableEntry {
    let profile = p4info.action_profiles.iter().find(|profile| id(&profile.preamble) == table.implementation_id);
    let chosen = match profile {
        Some(profile) if profile.with_selector => Some(Chosen::ActionProfileGroupId(1)),
        Some(_) => Some(Chosen::ActionProfileMemberId(1)),
        None => action(p4info, table).map(Chosen::Action),
    };
    let open =
        [MatchType::Ternary, MatchType::Range, MatchType::Optional].map(|kind| Some(Match::MatchType(kind as i32)));
    let prioritised = table.match_fields.iter().any(|field| open.contains(&field.r#match));
    v1::TableEntry {
        table_id: id(&table.preamble),
        r#match: table.match_fields.iter().map(field).collect(),
        action: chosen.map(|chosen| v1::TableAction { r#type: Some(chosen) }),
        priority: prioritised.into(),
        ..Default::default()
    }
}

/// A match of the value 1, or of all values where 1 is no prefix.
fn field(field: &info::MatchField) -> v1::FieldMatch {
    let one = || vec![1];
    let Some(Match::MatchType(kind)) = field.r#match else { return v1::FieldMatch::default() };
    let matched = match MatchType::try_from(kind) {
        Ok(MatchType::Lpm) => FieldMatchType::Lpm(Lpm { value: one(), prefix_len: field.bitwidth }),
        Ok(MatchType::Ternary) => FieldMatchType::Ternary(Ternary { value: one(), mask: one() }),
        Ok(MatchType::Range) => FieldMatchType::Range(Range { low: one(), high: one() }),
        Ok(MatchType::Optional) => FieldMatchType::Optional(Optional { value: one() }),
        _ => FieldMatchType::Exact(Exact { value: one() }),
    };
    v1::FieldMatch { field_id: field.id, field_match_type: Some(matched) }
}

/// The first action that an entry of the table may have.
fn action(p4info: &info::P4Info, table: &info::Table) -> Option<v1::Action> {
    let listed = table.action_refs.iter().find(|action| action.scope() != info::action_ref::Scope::DefaultOnly)?;
    let action = p4info.actions.iter().find(|action| id(&action.preamble) == listed.id)?;
    let params = action.params.iter().map(|param| v1::action::Param { param_id: param.id, value: vec![1] });
    Some(v1::Action { action_id: listed.id, params: params.collect() })
}
