//! A small program, its P4Info, and short ways to write requests.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use control::{CloneSession, Code, Control, Loaded, Replica, Replication, Scope, Status};
use ir::{Handle, MatchKind, Program};
use num_bigint::BigUint;
use proto::p4::config::v1 as info;
use proto::p4::v1;
use proto::p4::v1::entity::Entity;
use proto::p4::v1::field_match as fm;
use proto::p4::v1::update::Type;
use runtime::Device;

pub const EXACT: u32 = 0x0200_0001;
pub const ACL: u32 = 0x0200_0002;
pub const FIXED: u32 = 0x0200_0003;
pub const ECMP: u32 = 0x0200_0004;
pub const KEYLESS: u32 = 0x0200_0005;
pub const PORTS: u32 = 0x0200_0006;

pub const NO_ACTION: u32 = 0x0100_0001;
pub const FORWARD: u32 = 0x0100_0002;
pub const DROP: u32 = 0x0100_0003;
pub const SET_PORT: u32 = 0x0100_0004;

pub const SELECTOR: u32 = 0x1100_0001;
pub const COUNTER: u32 = 0x1200_0001;
pub const METER: u32 = 0x1400_0001;
pub const REGISTER: u32 = 0x1600_0001;
pub const DIGEST: u32 = 0x1700_0001;
pub const VALUE_SET: u32 = 0x0300_0001;

pub const NOW: u64 = 1_000_000_000;

/// The program; `acl_size` is the size of its ACL.
pub fn program() -> Program {
    let mut program = Program::default();
    let no_action = program.actions.push(ir::Action::new("NoAction".into(), []));
    let forward = ir::Action::new("I.forward".into(), [("mac".into(), 48), ("port".into(), 9)]);
    let forward = program.actions.push(forward);
    let drop = program.actions.push(ir::Action::new("I.drop".into(), []));
    let set_port = program.actions.push(ir::Action::new("I.set_port".into(), [("port".into(), 9)]));
    let may = |action, default_only, table_only| ir::TableAction { action, default_only, table_only };
    let key = |name: &str, width, kind| ir::Key { name: name.into(), width, kind };
    let default = |action| Some(ir::DefaultAction { action, args: Vec::new(), is_const: false });
    let profile = program.profiles.push(ir::Profile {
        name: "I.selector".into(),
        size: 16,
        selector: Some(ir::Selector { algorithm: ir::HashAlgorithm::Crc16, output_width: 16 }),
    });

    program.tables.push(ir::Table {
        name: "I.exact".into(),
        keys: vec![key("hdr.a", 8, MatchKind::Exact)],
        actions: vec![may(forward, false, false), may(drop, false, true), may(no_action, true, false)],
        default_action: default(2),
        size: 4,
        direct_counter: Some(ir::DirectCounter::default()),
        direct_meter: Some(ir::DirectMeter::default()),
        idle_timeout: true,
        ..Default::default()
    });
    program.tables.push(ir::Table {
        name: "I.acl".into(),
        keys: vec![
            key("hdr.b", 16, MatchKind::Ternary),
            key("hdr.c", 32, MatchKind::Lpm),
            key("hdr.d", 16, MatchKind::Range),
            key("hdr.e", 9, MatchKind::Optional),
        ],
        actions: vec![may(forward, false, false), may(drop, false, false)],
        default_action: default(1),
        size: 64,
        ..Default::default()
    });
    program.tables.push(ir::Table {
        name: "I.fixed".into(),
        keys: vec![key("hdr.a", 8, MatchKind::Exact)],
        actions: vec![may(drop, false, false)],
        default_action: Some(ir::DefaultAction { action: 0, args: Vec::new(), is_const: true }),
        size: 1,
        entries: vec![ir::ConstEntry {
            keys: vec![ir::Match::Exact(BigUint::from(7u8))],
            priority: 0,
            action: 0,
            args: Vec::new(),
            is_const: true,
        }],
        const_entries: true,
        direct_counter: Some(ir::DirectCounter::default()),
        ..Default::default()
    });
    program.tables.push(ir::Table {
        name: "I.ecmp".into(),
        keys: vec![key("hdr.a", 8, MatchKind::Exact)],
        actions: vec![may(forward, false, false), may(drop, false, false)],
        size: 64,
        profile: Some(profile),
        selector_widths: vec![16],
        ..Default::default()
    });
    program.tables.push(ir::Table {
        name: "I.keyless".into(),
        actions: vec![may(forward, false, false), may(no_action, false, false)],
        default_action: default(1),
        size: 1,
        ..Default::default()
    });
    program.tables.push(ir::Table {
        name: "I.ports".into(),
        keys: vec![key("meta.port", 9, MatchKind::Exact)],
        actions: vec![may(set_port, false, false), may(no_action, false, false)],
        default_action: default(1),
        size: 16,
        ..Default::default()
    });
    program.counters.push(ir::Counter { name: "I.counter".into(), size: 4, unit: ir::CounterUnit::Both });
    program.meters.push(ir::Meter { name: "I.meter".into(), size: 4, unit: ir::MeterUnit::Bytes });
    program.registers.push(ir::Register { name: "I.register".into(), size: 4, width: 32, ..Default::default() });
    program.value_sets.push(ir::ValueSet {
        name: "P.set".into(),
        size: 2,
        keys: vec![key("type", 16, MatchKind::Exact)],
    });
    program.digests.push(ir::Digest { name: "learn_t".into(), widths: vec![48, 9] });
    program
}

fn preamble(id: u32, name: &str) -> Option<info::Preamble> {
    Some(info::Preamble { id, name: name.into(), alias: name.into(), ..Default::default() })
}

fn bits(width: i32) -> Option<info::P4DataTypeSpec> {
    let bit = info::p4_bitstring_like_type_spec::TypeSpec::Bit(info::P4BitTypeSpec { bitwidth: width });
    let bits = info::P4BitstringLikeTypeSpec { type_spec: Some(bit), ..Default::default() };
    Some(info::P4DataTypeSpec { type_spec: Some(info::p4_data_type_spec::TypeSpec::Bitstring(bits)) })
}

/// The P4Info of [`program`]; ports in table `I.ports` are texts for the control plane.
pub fn p4info() -> info::P4Info {
    use info::match_field::MatchType;
    let port_type = || Some(info::P4NamedType { name: "port_t".into() });
    let param =
        |id, name: &str, bitwidth| info::action::Param { id, name: name.into(), bitwidth, ..Default::default() };
    let action = |id, name: &str, params| info::Action { preamble: preamble(id, name), params };
    let field = |id, name: &str, bitwidth, kind: MatchType| info::MatchField {
        id,
        name: name.into(),
        bitwidth,
        r#match: Some(info::match_field::Match::MatchType(kind as i32)),
        ..Default::default()
    };
    let refs = |refs: &[(u32, info::action_ref::Scope)]| {
        let reference = |(id, scope): &(u32, info::action_ref::Scope)| info::ActionRef {
            id: *id,
            scope: *scope as i32,
            ..Default::default()
        };
        refs.iter().map(reference).collect::<Vec<_>>()
    };
    use info::action_ref::Scope::{DefaultOnly, TableAndDefault, TableOnly};
    let table = |id, name: &str, match_fields, action_refs, size| info::Table {
        preamble: preamble(id, name),
        match_fields,
        action_refs,
        size,
        ..Default::default()
    };
    let exact = || vec![field(1, "hdr.a", 8, MatchType::Exact)];
    let both = || refs(&[(FORWARD, TableAndDefault), (DROP, TableAndDefault)]);
    let tables = vec![
        table(
            EXACT,
            "I.exact",
            exact(),
            refs(&[(FORWARD, TableAndDefault), (DROP, TableOnly), (NO_ACTION, DefaultOnly)]),
            4,
        ),
        table(
            ACL,
            "I.acl",
            vec![
                field(1, "hdr.b", 16, MatchType::Ternary),
                field(2, "hdr.c", 32, MatchType::Lpm),
                field(3, "hdr.d", 16, MatchType::Range),
                field(4, "hdr.e", 9, MatchType::Optional),
            ],
            both(),
            64,
        ),
        info::Table {
            is_const_table: true,
            has_initial_entries: true,
            const_default_action_id: DROP,
            ..table(FIXED, "I.fixed", exact(), refs(&[(DROP, TableAndDefault)]), 1)
        },
        info::Table { implementation_id: SELECTOR, ..table(ECMP, "I.ecmp", exact(), both(), 64) },
        table(KEYLESS, "I.keyless", vec![], refs(&[(FORWARD, TableAndDefault), (NO_ACTION, TableAndDefault)]), 1),
        table(
            PORTS,
            "I.ports",
            vec![info::MatchField { type_name: port_type(), ..field(1, "meta.port", 0, MatchType::Exact) }],
            refs(&[(SET_PORT, TableAndDefault), (NO_ACTION, TableAndDefault)]),
            16,
        ),
    ];
    let metadata = |id, name: &str, bitwidth| info::controller_packet_metadata::Metadata {
        id,
        name: name.into(),
        bitwidth,
        ..Default::default()
    };
    let translation = info::P4NewTypeTranslation {
        uri: "example/port".into(),
        sdn_type: Some(info::p4_new_type_translation::SdnType::SdnString(Default::default())),
    };
    let new_type = info::P4NewTypeSpec {
        representation: Some(info::p4_new_type_spec::Representation::TranslatedType(translation)),
        ..Default::default()
    };
    let member = |name: &str, width| info::p4_struct_type_spec::Member { name: name.into(), type_spec: bits(width) };
    let learn = info::P4StructTypeSpec { members: vec![member("mac", 48), member("port", 9)], ..Default::default() };
    let learn_type = info::p4_data_type_spec::TypeSpec::Struct(info::P4NamedType { name: "learn_t".into() });
    info::P4Info {
        tables,
        actions: vec![
            action(NO_ACTION, "NoAction", vec![]),
            action(FORWARD, "I.forward", vec![param(1, "mac", 48), param(2, "port", 9)]),
            action(DROP, "I.drop", vec![]),
            action(SET_PORT, "I.set_port", vec![info::action::Param { type_name: port_type(), ..param(1, "port", 0) }]),
        ],
        action_profiles: vec![info::ActionProfile {
            preamble: preamble(SELECTOR, "I.selector"),
            table_ids: vec![ECMP],
            with_selector: true,
            size: 16,
            max_group_size: 8,
            ..Default::default()
        }],
        counters: vec![info::Counter { preamble: preamble(COUNTER, "I.counter"), size: 4, ..Default::default() }],
        meters: vec![info::Meter { preamble: preamble(METER, "I.meter"), size: 4, ..Default::default() }],
        registers: vec![info::Register {
            preamble: preamble(REGISTER, "I.register"),
            type_spec: bits(32),
            size: 4,
            ..Default::default()
        }],
        value_sets: vec![info::ValueSet {
            preamble: preamble(VALUE_SET, "P.set"),
            r#match: vec![field(1, "type", 16, MatchType::Exact)],
            size: 2,
        }],
        digests: vec![info::Digest {
            preamble: preamble(DIGEST, "learn_t"),
            type_spec: Some(info::P4DataTypeSpec { type_spec: Some(learn_type) }),
        }],
        controller_packet_metadata: ["packet_in", "packet_out"]
            .into_iter()
            .enumerate()
            .map(|(at, name)| info::ControllerPacketMetadata {
                preamble: preamble(0x0400_0001 + at as u32, name),
                metadata: vec![metadata(1, "port", 9), metadata(2, "reason", 7)],
            })
            .collect(),
        type_info: Some(info::P4TypeInfo {
            structs: BTreeMap::from([("learn_t".to_owned(), learn)]),
            new_types: BTreeMap::from([("port_t".to_owned(), new_type)]),
            ..Default::default()
        }),
        ..Default::default()
    }
}

/// Remembers what it was told to do; it takes no backups.
#[derive(Default)]
pub struct Copies {
    pub groups: Mutex<BTreeMap<u16, Vec<Replica>>>,
    pub sessions: Mutex<BTreeMap<u16, CloneSession>>,
}

impl Replication for Copies {
    fn set_group(&self, id: u16, replicas: &[Replica]) -> Result<(), String> {
        if replicas.iter().any(|replica| !replica.backups.is_empty()) {
            return Err("backup replicas".into());
        }
        self.groups.lock().unwrap().insert(id, replicas.to_vec());
        Ok(())
    }

    fn remove_group(&self, id: u16) {
        self.groups.lock().unwrap().remove(&id);
    }

    fn set_session(&self, id: u16, session: &CloneSession) -> Result<(), String> {
        self.sessions.lock().unwrap().insert(id, session.clone());
        Ok(())
    }

    fn remove_session(&self, id: u16) {
        self.sessions.lock().unwrap().remove(&id);
    }
}

pub struct Plant {
    pub device: Device,
    pub copies: Copies,
}

impl Loaded for Plant {
    fn device(&self) -> &Device {
        &self.device
    }

    fn replication(&self) -> &dyn Replication {
        &self.copies
    }

    fn has_port(&self, port: u32) -> bool {
        port < 511
    }

    fn between_packets(&self, work: &mut dyn FnMut()) -> bool {
        work();
        true
    }
}

/// The program under control.
pub struct Fixture {
    pub plant: Arc<Plant>,
    pub control: Control,
}

impl Fixture {
    pub fn new() -> Self {
        Self::of(program(), p4info())
    }

    pub fn of(program: Program, p4info: info::P4Info) -> Self {
        let plant = Arc::new(Plant { device: Device::new(Arc::new(program)).unwrap(), copies: Copies::default() });
        let control = Control::new(p4info, plant.clone()).unwrap();
        Self { plant, control }
    }

    /// A packet of so many bytes on its way.
    pub fn packet(&self, bytes: usize) -> runtime::Context<'_> {
        let mut context = runtime::Context::new(self.control.device(), 1);
        context.packet.refill(0, &vec![0; bytes]);
        context.start(NOW);
        context
    }

    /// The status of one update.
    pub fn write(&self, kind: Type, entity: Entity) -> Status {
        self.control.write(&[update(kind, entity)], 0, &Scope::All, NOW).unwrap().remove(0)
    }

    #[track_caller]
    pub fn insert(&self, entity: Entity) {
        assert_eq!(self.write(Type::Insert, entity), Status::ok());
    }

    #[track_caller]
    pub fn modify(&self, entity: Entity) {
        assert_eq!(self.write(Type::Modify, entity), Status::ok());
    }

    #[track_caller]
    pub fn delete(&self, entity: Entity) {
        assert_eq!(self.write(Type::Delete, entity), Status::ok());
    }

    /// Asserts that an update is refused with this code and a text that has these words.
    #[track_caller]
    pub fn refuses(&self, kind: Type, entity: Entity, code: Code, words: &str) {
        let status = self.write(kind, entity);
        assert_eq!(status.code, code, "{status:?}");
        assert!(status.message.contains(words), "{:?} lacks {words:?}", status.message);
    }

    #[track_caller]
    pub fn read(&self, request: Entity) -> Vec<Entity> {
        let reading = self.control.read(&[v1::Entity { entity: Some(request) }], &Scope::All, NOW);
        assert_eq!(reading.statuses, [Status::ok()]);
        reading.entities.into_iter().filter_map(|entity| entity.entity).collect()
    }

    pub fn read_error(&self, request: Entity) -> Status {
        let mut reading = self.control.read(&[v1::Entity { entity: Some(request) }], &Scope::All, NOW);
        assert!(reading.entities.is_empty());
        reading.statuses.remove(0)
    }

    /// The table entries that a request selects.
    #[track_caller]
    pub fn entries(&self, request: v1::TableEntry) -> Vec<v1::TableEntry> {
        let entry = |entity| match entity {
            Entity::TableEntry(entry) => entry,
            other => panic!("{other:?}"),
        };
        self.read(Entity::TableEntry(request)).into_iter().map(entry).collect()
    }
}

pub fn update(kind: Type, entity: Entity) -> v1::Update {
    v1::Update { r#type: kind as i32, entity: Some(v1::Entity { entity: Some(entity) }) }
}

pub fn exact(field_id: u32, value: &[u8]) -> v1::FieldMatch {
    matched(field_id, fm::FieldMatchType::Exact(fm::Exact { value: value.to_vec() }))
}

pub fn ternary(field_id: u32, value: &[u8], mask: &[u8]) -> v1::FieldMatch {
    matched(field_id, fm::FieldMatchType::Ternary(fm::Ternary { value: value.to_vec(), mask: mask.to_vec() }))
}

pub fn matched(field_id: u32, kind: fm::FieldMatchType) -> v1::FieldMatch {
    v1::FieldMatch { field_id, field_match_type: Some(kind) }
}

pub fn call(action_id: u32, params: &[&[u8]]) -> v1::Action {
    let param = |(at, value): (usize, &&[u8])| v1::action::Param { param_id: at as u32 + 1, value: value.to_vec() };
    v1::Action { action_id, params: params.iter().enumerate().map(param).collect() }
}

pub fn action(action_id: u32, params: &[&[u8]]) -> Option<v1::TableAction> {
    Some(v1::TableAction { r#type: Some(v1::table_action::Type::Action(call(action_id, params))) })
}

pub fn table_action(kind: v1::table_action::Type) -> Option<v1::TableAction> {
    Some(v1::TableAction { r#type: Some(kind) })
}

/// An entry of table `I.exact` that forwards.
pub fn forward_entry(key: u8) -> v1::TableEntry {
    v1::TableEntry {
        table_id: EXACT,
        r#match: vec![exact(1, &[key])],
        action: action(FORWARD, &[&[key], &[1]]),
        ..Default::default()
    }
}

pub fn acl_entry(priority: i32, matches: Vec<v1::FieldMatch>) -> v1::TableEntry {
    v1::TableEntry { table_id: ACL, r#match: matches, action: action(DROP, &[]), priority, ..Default::default() }
}

pub fn member(member_id: u32, port: u8) -> Entity {
    let action = Some(call(FORWARD, &[&[1], &[port]]));
    Entity::ActionProfileMember(v1::ActionProfileMember { action_profile_id: SELECTOR, member_id, action })
}

pub fn group(group_id: u32, members: &[(u32, i32)]) -> v1::ActionProfileGroup {
    let member = |(member_id, weight): &(u32, i32)| v1::action_profile_group::Member {
        member_id: *member_id,
        weight: *weight,
        watch_kind: None,
    };
    v1::ActionProfileGroup {
        action_profile_id: SELECTOR,
        group_id,
        members: members.iter().map(member).collect(),
        max_size: 0,
    }
}

/// A digest of the data plane.
pub fn learn(control: &Control, mac: u32, port: u32, now: u64) {
    control.digest(ir::DigestId::new(0), &[mac.into(), port.into()], now);
}
