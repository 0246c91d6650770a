//! Spec "CounterEntry", "MeterEntry", "RegisterEntry" and the direct ones.

use crate::common::*;
use control::Code;
use proto::p4::v1;
use proto::p4::v1::entity::Entity;
use proto::p4::v1::p4_data::Data;
use proto::p4::v1::update::Type;
use runtime::GREEN;

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
}

/// Counts of green packets.
fn green_counts(packet_count: i64, byte_count: i64) -> Option<v1::MeterCounterData> {
    let none = Some(v1::CounterData::default());
    Some(v1::MeterCounterData { green: Some(v1::CounterData { packet_count, byte_count }), yellow: none, red: none })
}

#[test]
fn a_meter_counts_by_colour_until_it_is_cleared() {
    let fixture = Fixture::new();
    let cell = |config, counter_data| {
        let index = Some(v1::Index { index: 1 });
        Entity::MeterEntry(v1::MeterEntry { meter_id: METER, index, config, counter_data })
    };
    let asked = || cell(None, Some(Default::default()));
    assert_eq!(fixture.read(asked()), [cell(None, green_counts(0, 0))]);
    let config = Some(v1::MeterConfig { cir: 1, cburst: 100, pir: 2, pburst: 200, eburst: 0 });
    fixture.modify(cell(config, None));
    let mut context = fixture.packet(100);
    let meter = fixture.control.device().program().meters.keys().next().unwrap();
    assert_eq!([0; 4].map(|_| context.meter(meter, 1, GREEN)), [0, 1, 2, 2]);
    let data = |packet_count| Some(v1::CounterData { packet_count, byte_count: 100 * packet_count });
    let counted = Some(v1::MeterCounterData { green: data(1), yellow: data(1), red: data(2) });
    assert_eq!(fixture.read(asked()), [cell(config, counted)]);
    assert_eq!(fixture.read(cell(None, None)), [cell(config, None)], "only when it is asked for");
    // A configuration leaves the counts, and what is set to a count is refused.
    fixture.modify(cell(None, None));
    assert_eq!(fixture.read(asked()), [cell(None, counted)]);
    fixture.refuses(Type::Modify, cell(config, counted), Code::InvalidArgument, "I.meter: the meter's green counter");
    assert_eq!(fixture.read(asked()), [cell(None, counted)]);
    fixture.modify(asked());
    assert_eq!(fixture.read(asked()), [cell(None, green_counts(0, 0))]);
}

#[test]
fn a_direct_meter_counts_by_colour_with_its_entry() {
    let fixture = Fixture::new();
    let table = fixture.control.device().program().tables.keys().next().unwrap();
    let asked =
        || v1::TableEntry { table_id: EXACT, meter_counter_data: Some(Default::default()), ..Default::default() };
    let colours = || fixture.entries(asked()).remove(0).meter_counter_data;
    let entry = |counts| Entity::TableEntry(v1::TableEntry { meter_counter_data: counts, ..forward_entry(1) });
    fixture.refuses(Type::Insert, entry(green_counts(1, 0)), Code::InvalidArgument, "green counter is not 0");
    fixture.insert(entry(green_counts(0, 0)));
    let mut context = fixture.packet(60);
    assert!(context.lookup(table, &[1], &Default::default()).0);
    assert_eq!(context.direct_meter(table, GREEN), 0);
    assert_eq!(colours(), green_counts(1, 60));
    let direct = |counter_data| {
        let table_entry = Some(v1::TableEntry { action: None, ..forward_entry(1) });
        Entity::DirectMeterEntry(v1::DirectMeterEntry { table_entry, config: None, counter_data })
    };
    assert_eq!(fixture.read(direct(Some(Default::default()))), [direct(green_counts(1, 60))]);
    assert_eq!(fixture.read(direct(None)), [direct(None)]);
    fixture.modify(entry(None));
    assert_eq!(colours(), green_counts(1, 60));
    fixture.refuses(Type::Modify, direct(green_counts(0, 1)), Code::InvalidArgument, "I.exact: the meter's green");
    fixture.modify(direct(Some(Default::default())));
    assert_eq!(colours(), green_counts(0, 0));
    context.direct_meter(table, GREEN);
    fixture.modify(entry(Some(Default::default())));
    assert_eq!(colours(), green_counts(0, 0));
    // An entry in the place of one that went begins anew.
    context.direct_meter(table, GREEN);
    fixture.delete(entry(None));
    fixture.insert(entry(None));
    assert_eq!(colours(), green_counts(0, 0));
}

#[test]
fn the_default_entry_has_counter_and_meter() {
    let fixture = Fixture::new();
    let table = fixture.control.device().program().tables.keys().next().unwrap();
    let default = || v1::TableEntry { table_id: EXACT, is_default_action: true, ..Default::default() };
    let asked = || v1::TableEntry {
        counter_data: Some(Default::default()),
        meter_config: Some(Default::default()),
        meter_counter_data: Some(Default::default()),
        ..default()
    };
    let read = || fixture.entries(asked()).remove(0);
    let mut context = fixture.packet(70);
    for _ in 0..2 {
        assert!(!context.lookup(table, &[1], &Default::default()).0);
    }
    assert_eq!(context.direct_meter(table, GREEN), 0);
    context.idle();
    let count = |packet_count, byte_count| Some(v1::CounterData { packet_count, byte_count });
    assert_eq!((read().counter_data, read().meter_counter_data), (count(2, 140), green_counts(1, 70)));

    let direct = |data| Entity::DirectCounterEntry(v1::DirectCounterEntry { table_entry: Some(default()), data });
    assert_eq!(fixture.read(direct(None)), [direct(count(2, 140))]);
    fixture.modify(direct(count(5, 9)));
    assert_eq!(read().counter_data, count(5, 9));
    let config = Some(v1::MeterConfig { cir: 1, cburst: 1, pir: 2, pburst: 1, eburst: 0 });
    let meter = |config, counter_data| {
        Entity::DirectMeterEntry(v1::DirectMeterEntry { table_entry: Some(default()), config, counter_data })
    };
    fixture.modify(meter(config, Some(Default::default())));
    assert_eq!(fixture.read(meter(None, Some(Default::default()))), [meter(config, green_counts(0, 0))]);
    context.lookup(table, &[1], &Default::default());
    assert_eq!([0; 2].map(|_| context.direct_meter(table, GREEN)), [0, 2]);

    let action = action(FORWARD, &[&[1], &[2]]);
    let written = v1::TableEntry { action, counter_data: count(3, 3), meter_config: config, ..default() };
    fixture.modify(Entity::TableEntry(written));
    assert_eq!((read().counter_data, read().meter_config), (count(3, 3), config));
    // Reset, its meter is green again.
    fixture.modify(Entity::TableEntry(default()));
    assert_eq!((read().counter_data, read().meter_config), (count(3, 3), None));
    let keyed = v1::TableEntry { priority: 1, ..default() };
    let keyed = v1::DirectCounterEntry { table_entry: Some(keyed), data: None };
    let words = "I.exact: the default entry has neither match nor priority";
    fixture.refuses(Type::Modify, Entity::DirectCounterEntry(keyed), Code::InvalidArgument, words);
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
