//! Spec "CounterEntry", "MeterEntry", "RegisterEntry" and the direct ones.

use crate::common::*;
use control::Code;
use proto::p4::v1;
use proto::p4::v1::entity::Entity;
use proto::p4::v1::p4_data::Data;
use proto::p4::v1::update::Type;

fn counter(index: Option<i64>, packets: i64) -> Entity {
    Entity::CounterEntry(v1::CounterEntry {
        counter_id: COUNTER,
        index: index.map(|index| v1::Index { index }),
        data: Some(v1::CounterData { packet_count: packets, byte_count: packets * 64 }),
    })
}

fn meter(index: Option<i64>, cir: i64, pir: i64) -> Entity {
    Entity::MeterEntry(v1::MeterEntry {
        meter_id: METER,
        index: index.map(|index| v1::Index { index }),
        config: Some(v1::MeterConfig { cir, cburst: 10, pir, pburst: 20, eburst: 0 }),
        counter_data: None,
    })
}

fn register(index: Option<i64>, value: &[u8]) -> Entity {
    Entity::RegisterEntry(v1::RegisterEntry {
        register_id: REGISTER,
        index: index.map(|index| v1::Index { index }),
        data: Some(v1::P4Data { data: Some(Data::Bitstring(value.to_vec())) }),
    })
}

#[test]
fn counters_are_set_one_by_one_or_all_at_once() {
    let fixture = Fixture::new();
    fixture.modify(counter(None, 1));
    fixture.modify(counter(Some(2), 5));
    let all = Entity::CounterEntry(Default::default());
    assert_eq!(fixture.read(all), [(0, 1), (1, 1), (2, 5), (3, 1)].map(|(at, packets)| counter(Some(at), packets)));
    assert_eq!(fixture.read(counter(Some(2), 0)), [counter(Some(2), 5)]);
}

#[test]
fn meters_are_configured_and_reset() {
    let fixture = Fixture::new();
    fixture.modify(meter(Some(1), 100, 200));
    assert_eq!(fixture.read(meter(Some(1), 0, 0)), [meter(Some(1), 100, 200)]);
    let green = |index| {
        Entity::MeterEntry(v1::MeterEntry { meter_id: METER, index: Some(v1::Index { index }), ..Default::default() })
    };
    fixture.modify(green(1));
    assert_eq!(fixture.read(Entity::MeterEntry(Default::default())), [0, 1, 2, 3].map(green));
    fixture.refuses(Type::Modify, meter(Some(1), 5, 4), Code::InvalidArgument, "cir 5 is above pir 4");
    fixture.refuses(Type::Modify, meter(Some(1), -1, 4), Code::InvalidArgument, "cir is -1");
    let Entity::MeterEntry(coloured) = green(1) else { unreachable!() };
    let coloured = Entity::MeterEntry(v1::MeterEntry { counter_data: Some(Default::default()), ..coloured });
    fixture.refuses(Type::Modify, coloured.clone(), Code::Unimplemented, "colour");
    assert_eq!(fixture.read_error(coloured).code, Code::Unimplemented);
}

#[test]
fn registers_hold_values_of_their_type() {
    let fixture = Fixture::new();
    fixture.modify(register(Some(3), &[0, 1, 2]));
    assert_eq!(fixture.read(register(Some(3), &[])), [register(Some(3), &[1, 2])]);
    fixture.modify(register(None, &[7]));
    assert_eq!(fixture.read(Entity::RegisterEntry(Default::default())).len(), 4);
    assert_eq!(fixture.read(register(Some(0), &[])), [register(Some(0), &[7])]);
    fixture.refuses(
        Type::Modify,
        register(Some(0), &[1, 0, 0, 0, 0]),
        Code::OutOfRange,
        "I.register: the value: is 0x100000000, which does not fit 32 bits",
    );
    let bool = Entity::RegisterEntry(v1::RegisterEntry {
        register_id: REGISTER,
        index: None,
        data: Some(v1::P4Data { data: Some(Data::Bool(true)) }),
    });
    fixture.refuses(Type::Modify, bool, Code::InvalidArgument, "must be given as a bitstring");
}

#[test]
fn cells_can_only_be_modified_and_within_their_size() {
    let fixture = Fixture::new();
    type Make = fn(i64) -> Entity;
    let cells: [Make; 3] = [|at| counter(Some(at), 1), |at| meter(Some(at), 1, 2), |at| register(Some(at), &[1])];
    for cell in cells {
        fixture.refuses(Type::Insert, cell(0), Code::InvalidArgument, "only be modified");
        fixture.refuses(Type::Delete, cell(0), Code::InvalidArgument, "only be modified");
        fixture.refuses(Type::Modify, cell(-1), Code::InvalidArgument, "index -1 is below 0");
        fixture.refuses(Type::Modify, cell(4), Code::OutOfRange, "index 4 is not below its size 4");
        assert_eq!(fixture.read_error(cell(4)).code, Code::OutOfRange);
    }
    let unknown = v1::CounterEntry { counter_id: 9, ..Default::default() };
    assert_eq!(fixture.read_error(Entity::CounterEntry(unknown)).code, Code::InvalidArgument);
}

#[test]
fn direct_counters_and_meters_follow_their_entry() {
    let fixture = Fixture::new();
    let key = |key| v1::TableEntry { action: None, ..forward_entry(key) };
    let counter = |at, packet_count| {
        Entity::DirectCounterEntry(v1::DirectCounterEntry {
            table_entry: Some(key(at)),
            data: Some(v1::CounterData { packet_count, byte_count: 9 }),
        })
    };
    let config = Some(v1::MeterConfig { cir: 1, cburst: 1, pir: 2, pburst: 2, eburst: 0 });
    let meter = |at, config| {
        Entity::DirectMeterEntry(v1::DirectMeterEntry { table_entry: Some(key(at)), config, counter_data: None })
    };
    fixture.refuses(Type::Modify, counter(1, 3), Code::NotFound, "I.exact");
    fixture.refuses(Type::Modify, meter(1, config), Code::NotFound, "I.exact");
    assert_eq!(fixture.read_error(counter(1, 0)).code, Code::NotFound);
    fixture.insert(Entity::TableEntry(forward_entry(1)));
    fixture.insert(Entity::TableEntry(forward_entry(2)));
    fixture.modify(counter(1, 3));
    fixture.modify(meter(1, config));
    assert_eq!(fixture.read(counter(1, 0)), [counter(1, 3)]);
    assert_eq!(fixture.read(meter(1, None)), [meter(1, config)]);
    let wildcard = v1::DirectMeterEntry {
        table_entry: Some(v1::TableEntry { table_id: EXACT, ..Default::default() }),
        ..Default::default()
    };
    assert_eq!(fixture.read(Entity::DirectMeterEntry(wildcard)).len(), 2);
    fixture.modify(meter(1, None));
    assert_eq!(fixture.read(meter(1, None)), [meter(1, None)]);
    fixture.refuses(Type::Insert, counter(1, 1), Code::InvalidArgument, "only be modified");
    let acl = v1::DirectCounterEntry { table_entry: Some(acl_entry(1, vec![])), data: None };
    fixture.refuses(
        Type::Modify,
        Entity::DirectCounterEntry(acl),
        Code::InvalidArgument,
        "I.acl: has no direct counter",
    );
}

#[test]
fn a_register_of_structs_holds_their_members() {
    use proto::p4::config::v1 as info;
    let (mut program, mut p4info) = (program(), p4info());
    let register_id = program.registers.keys().next().unwrap();
    program.registers[register_id].width = 48 + 9;
    let learn = info::p4_data_type_spec::TypeSpec::Struct(info::P4NamedType { name: "learn_t".into() });
    p4info.registers[0].type_spec = Some(info::P4DataTypeSpec { type_spec: Some(learn) });
    let fixture = Fixture::of(program, p4info);
    let bits = |value: &[u8]| v1::P4Data { data: Some(Data::Bitstring(value.to_vec())) };
    let cell = |mac: &[u8], port: &[u8]| {
        let members = v1::P4StructLike { members: vec![bits(mac), bits(port)] };
        let data = Some(v1::P4Data { data: Some(Data::Struct(members)) });
        Entity::RegisterEntry(v1::RegisterEntry { register_id: REGISTER, index: Some(v1::Index { index: 1 }), data })
    };
    fixture.modify(cell(&[2, 0, 0, 0, 0, 9], &[1, 0xfe]));
    let one = v1::RegisterEntry { register_id: REGISTER, index: Some(v1::Index { index: 1 }), data: None };
    assert_eq!(fixture.read(Entity::RegisterEntry(one)), [cell(&[2, 0, 0, 0, 0, 9], &[1, 0xfe])]);
    let stored = (num_bigint::BigUint::from(0x0200_0000_0009u64) << 9u32) + 0x1feu32;
    assert_eq!(fixture.plant.device.register(register_id, 1), Ok(stored));
}
