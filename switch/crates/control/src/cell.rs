//! Counters, meters and registers (spec "CounterEntry", "MeterEntry", "RegisterEntry" and the direct ones).

use std::ops::Range;

use num_traits::ToPrimitive;
use proto::p4::config::v1::meter_spec::Type as MeterKind;
use proto::p4::v1;
use proto::p4::v1::entity::Entity;
use proto::p4::v1::update::Type;
use runtime::{ColourCounts, CounterData, MeterConfig};

use crate::control::{Control, unknown};
use crate::packed;
use crate::schema::Table;
use crate::status::{Result, Status};

impl Control {
    pub(crate) fn write_counter(&self, kind: Type, given: &v1::CounterEntry) -> Result<()> {
        let id = given.counter_id;
        let counter = self.schema.counters.get(&id).ok_or_else(|| unknown("counter", id))?;
        let place = |error: Status| error.within(&counter.name);
        only_modify(kind).map_err(place)?;
        let indices = indices(given.index.as_ref(), counter.size).map_err(place)?;
        let Some(data) = &given.data else { return Ok(()) };
        let data = counter_data(data).map_err(place)?;
        for index in indices {
            self.device().set_counter(counter.handle, index, data)?;
        }
        Ok(())
    }

    pub(crate) fn read_counters(&self, wanted: &v1::CounterEntry) -> Result<Vec<Entity>> {
        if wanted.counter_id != 0 && !self.schema.counters.contains_key(&wanted.counter_id) {
            return Err(unknown("counter", wanted.counter_id));
        }
        let mut read = Vec::new();
        for (id, counter) in selected(&self.schema.counters, wanted.counter_id) {
            for index in indices(wanted.index.as_ref(), counter.size).map_err(|error| error.within(&counter.name))? {
                let data = self.device().counter(counter.handle, index)?;
                read.push(Entity::CounterEntry(v1::CounterEntry {
                    counter_id: *id,
                    index: Some(index_read(index)),
                    data: Some(counter_read(data)),
                }));
            }
        }
        Ok(read)
    }

    pub(crate) fn write_direct_counter(&self, kind: Type, given: &v1::DirectCounterEntry, now: u64) -> Result<()> {
        only_modify(kind)?;
        let (table, entry) = self.direct_entry(given.table_entry.as_ref(), |table| table.direct_counter, "counter")?;
        let place = |error: Status| error.within(&table.name);
        let data = given.data.as_ref().map(counter_data).transpose().map_err(place)?;
        if entry.is_default_action {
            no_key(entry).map_err(place)?;
            return Ok(data.map_or(Ok(()), |data| self.device().set_default_counter(table.handle, data))?);
        }
        let (keys, priority) = self.entry_key(table, entry).map_err(place)?;
        self.device().entry(table.handle, &keys, priority, now)?;
        Ok(data.map_or(Ok(()), |data| self.device().set_direct_counter(table.handle, &keys, priority, data))?)
    }

    pub(crate) fn read_direct_counters(&self, wanted: &v1::DirectCounterEntry, now: u64) -> Result<Vec<Entity>> {
        let wanted = wanted.table_entry.clone().unwrap_or_default();
        let request = v1::TableEntry { counter_data: Some(v1::CounterData::default()), ..wanted };
        let entries = self.direct_entries(request, |table| table.direct_counter, "counter", now)?;
        let entries = entries.into_iter().map(|mut entry| {
            let data = entry.counter_data.take();
            Entity::DirectCounterEntry(v1::DirectCounterEntry { table_entry: Some(key_only(entry)), data })
        });
        Ok(entries.collect())
    }

    pub(crate) fn write_meter(&self, kind: Type, given: &v1::MeterEntry) -> Result<()> {
        let id = given.meter_id;
        let meter = self.schema.meters.get(&id).ok_or_else(|| unknown("meter", id))?;
        let place = |error: Status| error.within(&meter.name);
        only_modify(kind).map_err(place)?;
        let clears = clears_counts(given.counter_data.as_ref()).map_err(place)?;
        let indices = indices(given.index.as_ref(), meter.size).map_err(place)?;
        let kind = self.schema.meter_kinds.get(&id).copied().unwrap_or_default();
        let config = given.config.as_ref().map(|config| meter_config(config, kind)).transpose().map_err(place)?;
        for index in indices {
            self.device().set_meter(meter.handle, index, config)?;
            if clears {
                self.device().clear_meter_counts(meter.handle, index)?;
            }
        }
        Ok(())
    }

    pub(crate) fn read_meters(&self, wanted: &v1::MeterEntry) -> Result<Vec<Entity>> {
        if wanted.meter_id != 0 && !self.schema.meters.contains_key(&wanted.meter_id) {
            return Err(unknown("meter", wanted.meter_id));
        }
        let mut read = Vec::new();
        for (id, meter) in selected(&self.schema.meters, wanted.meter_id) {
            for index in indices(wanted.index.as_ref(), meter.size).map_err(|error| error.within(&meter.name))? {
                let config = self.device().meter(meter.handle, index)?;
                let counts = self.device().meter_counts(meter.handle, index)?;
                read.push(Entity::MeterEntry(v1::MeterEntry {
                    meter_id: *id,
                    index: Some(index_read(index)),
                    config: config.map(meter_read),
                    counter_data: wanted.counter_data.map(|_| counts_read(counts)),
                }));
            }
        }
        Ok(read)
    }

    pub(crate) fn write_direct_meter(&self, kind: Type, given: &v1::DirectMeterEntry, now: u64) -> Result<()> {
        only_modify(kind)?;
        let has_meter = |table: &Table| table.direct_meter.is_some();
        let (table, entry) = self.direct_entry(given.table_entry.as_ref(), has_meter, "meter")?;
        let place = |error: Status| error.within(&table.name);
        let clears = clears_counts(given.counter_data.as_ref()).map_err(place)?;
        let kind = table.direct_meter.unwrap_or_default();
        let config = given.config.as_ref().map(|config| meter_config(config, kind)).transpose().map_err(place)?;
        if entry.is_default_action {
            no_key(entry).map_err(place)?;
            self.device().set_default_meter(table.handle, config)?;
            if clears {
                self.device().clear_default_meter_counts(table.handle)?;
            }
            return Ok(());
        }
        let (keys, priority) = self.entry_key(table, entry).map_err(place)?;
        self.device().entry(table.handle, &keys, priority, now)?;
        self.device().set_direct_meter(table.handle, &keys, priority, config)?;
        if clears {
            self.device().clear_direct_meter_counts(table.handle, &keys, priority)?;
        }
        Ok(())
    }

    pub(crate) fn read_direct_meters(&self, wanted: &v1::DirectMeterEntry, now: u64) -> Result<Vec<Entity>> {
        let meter_counter_data = wanted.counter_data;
        let wanted = wanted.table_entry.clone().unwrap_or_default();
        let meter_config = Some(v1::MeterConfig::default());
        let request = v1::TableEntry { meter_config, meter_counter_data, ..wanted };
        let entries = self.direct_entries(request, |table| table.direct_meter.is_some(), "meter", now)?;
        let entries = entries.into_iter().map(|mut entry| {
            let (config, counter_data) = (entry.meter_config.take(), entry.meter_counter_data.take());
            let table_entry = Some(key_only(entry));
            Entity::DirectMeterEntry(v1::DirectMeterEntry { table_entry, config, counter_data })
        });
        Ok(entries.collect())
    }

    pub(crate) fn write_register(&self, kind: Type, given: &v1::RegisterEntry) -> Result<()> {
        let id = given.register_id;
        let register = self.schema.registers.get(&id).ok_or_else(|| unknown("register", id))?;
        let place = |error: Status| error.within(&register.name);
        only_modify(kind).map_err(place)?;
        let indices = indices(given.index.as_ref(), register.size).map_err(place)?;
        let data = given.data.as_ref().ok_or_else(|| place(Status::invalid("comes without data")))?;
        let values = register.shape.decode(data, &self.texts).map_err(|error| place(error.within("the value")))?;
        let value = packed::pack(&values, &register.widths);
        for index in indices {
            self.device().set_register(register.handle, index, &value)?;
        }
        Ok(())
    }

    pub(crate) fn read_registers(&self, wanted: &v1::RegisterEntry) -> Result<Vec<Entity>> {
        if wanted.register_id != 0 && !self.schema.registers.contains_key(&wanted.register_id) {
            return Err(unknown("register", wanted.register_id));
        }
        let mut read = Vec::new();
        for (id, register) in selected(&self.schema.registers, wanted.register_id) {
            for index in indices(wanted.index.as_ref(), register.size).map_err(|error| error.within(&register.name))? {
                let values = packed::unpack(&self.device().register(register.handle, index)?, &register.widths);
                read.push(Entity::RegisterEntry(v1::RegisterEntry {
                    register_id: *id,
                    index: Some(index_read(index)),
                    data: Some(register.shape.encode(&values, &self.texts)),
                }));
            }
        }
        Ok(read)
    }

    fn direct_entry<'a>(
        &self,
        entry: Option<&'a v1::TableEntry>,
        has: impl Fn(&Table) -> bool,
        what: &str,
    ) -> Result<(&Table, &'a v1::TableEntry)> {
        let entry = entry.ok_or_else(|| Status::invalid(format!("a direct {what} comes without its table_entry")))?;
        let table = self.table(entry.table_id)?;
        if !has(table) {
            return Err(Status::invalid(format!("{}: has no direct {what}", table.name)));
        }
        Ok((table, entry))
    }

    fn direct_entries(
        &self,
        wanted: v1::TableEntry,
        has: impl Fn(&Table) -> bool,
        what: &str,
        now: u64,
    ) -> Result<Vec<v1::TableEntry>> {
        // The action of the entry does not matter (spec "DirectCounterEntry").
        let wanted = v1::TableEntry { action: None, ..wanted };
        if wanted.table_id != 0 {
            let table = self.table(wanted.table_id)?;
            if !has(table) {
                return Err(Status::invalid(format!("{}: has no direct {what}", table.name)));
            }
        }
        let single = !wanted.r#match.is_empty();
        let entries = self.read_entries(&wanted, now)?;
        if single && entries.is_empty() {
            let table = self.table(wanted.table_id)?;
            return Err(Status::not_found(format!("{}: there is no such entry", table.name)));
        }
        let has_it = |id: u32| self.schema.tables.get(&id).is_some_and(&has);
        Ok(entries.into_iter().filter(|(id, _)| has_it(*id)).map(|(_, entry)| entry).collect())
    }
}

/// The fields that name an entry.
fn key_only(entry: v1::TableEntry) -> v1::TableEntry {
    v1::TableEntry {
        table_id: entry.table_id,
        r#match: entry.r#match,
        priority: entry.priority,
        is_default_action: entry.is_default_action,
        ..Default::default()
    }
}

fn selected<T>(objects: &std::collections::BTreeMap<u32, T>, id: u32) -> impl Iterator<Item = (&u32, &T)> {
    objects.iter().filter(move |(known, _)| id == 0 || **known == id)
}

fn only_modify(kind: Type) -> Result<()> {
    if kind == Type::Modify {
        return Ok(());
    }
    Err(Status::invalid("is always there; it can only be modified"))
}

/// The cells that an index names; all of them when it is not set.
fn indices(index: Option<&v1::Index>, size: u64) -> Result<Range<u64>> {
    let Some(index) = index else { return Ok(0..size) };
    let at = u64::try_from(index.index).map_err(|_| Status::invalid(format!("index {} is below 0", index.index)))?;
    if at >= size {
        return Err(Status::out_of_range(format!("index {at} is not below its size {size}")));
    }
    Ok(at..at + 1)
}

fn index_read(index: u64) -> v1::Index {
    v1::Index { index: index.to_i64().unwrap_or(i64::MAX) }
}

/// Checks what a counter is set to.
pub fn counter_data(given: &v1::CounterData) -> Result<CounterData> {
    match (u64::try_from(given.packet_count), u64::try_from(given.byte_count)) {
        (Ok(packets), Ok(bytes)) => Ok(CounterData { packets, bytes }),
        _ => Err(Status::invalid(format!(
            "a counter can't be below 0: {} packets, {} bytes",
            given.packet_count, given.byte_count
        ))),
    }
}

pub fn counter_read(data: CounterData) -> v1::CounterData {
    v1::CounterData {
        byte_count: data.bytes.to_i64().unwrap_or(i64::MAX),
        packet_count: data.packets.to_i64().unwrap_or(i64::MAX),
    }
}

/// Checks what a meter is set to against its type in P4Info.
pub fn meter_config(given: &v1::MeterConfig, kind: MeterKind) -> Result<MeterConfig> {
    let value = |name: &str, value: i64| {
        u64::try_from(value)
            .map_err(|_| Status::invalid(format!("{name} is {value}; rates and bursts are not negative")))
    };
    let config = MeterConfig {
        cir: value("cir", given.cir)?,
        cburst: value("cburst", given.cburst)?,
        pir: value("pir", given.pir)?,
        pburst: value("pburst", given.pburst)?,
    };
    let single_rate = config.cir == config.pir && config.cburst == config.pburst;
    match kind {
        MeterKind::TwoRateThreeColor if given.eburst != 0 => {
            Err(Status::invalid("eburst is set, but the meter has two rates"))
        }
        MeterKind::TwoRateThreeColor if config.cir > config.pir => Err(Status::invalid(format!(
            "cir {} is above pir {}; the committed rate can't exceed the peak rate",
            config.cir, config.pir
        ))),
        MeterKind::SingleRateTwoColor if !single_rate || given.eburst != 0 => {
            Err(Status::invalid("the meter has a single rate: pir and pburst must equal cir and cburst, eburst be 0"))
        }
        MeterKind::SingleRateThreeColor if !single_rate => {
            Err(Status::invalid("the meter has a single rate: pir and pburst must equal cir and cburst"))
        }
        MeterKind::SingleRateThreeColor if given.eburst != 0 => {
            Err(Status::unimplemented("an excess burst; v1model's meters have two rates"))
        }
        _ => Ok(config),
    }
}

pub fn meter_read(config: MeterConfig) -> v1::MeterConfig {
    let value = |value: u64| value.to_i64().unwrap_or(i64::MAX);
    v1::MeterConfig {
        cir: value(config.cir),
        cburst: value(config.cburst),
        pir: value(config.pir),
        pburst: value(config.pburst),
        eburst: 0,
    }
}

/// Whether the counts by colour are to be cleared, which is all that can be done to them (spec "DirectMeterEntry").
pub fn clears_counts(given: Option<&v1::MeterCounterData>) -> Result<bool> {
    let Some(given) = given else { return Ok(false) };
    let set = [("green", given.green), ("yellow", given.yellow), ("red", given.red)];
    match set.into_iter().find(|(_, data)| data.is_some_and(|data| data != v1::CounterData::default())) {
        None => Ok(true),
        Some((colour, _)) => Err(Status::invalid(format!(
            "the meter's {colour} counter is not 0; counters by colour can only be cleared, so leave it out"
        ))),
    }
}

pub fn counts_read(counts: ColourCounts) -> v1::MeterCounterData {
    let ColourCounts { green, yellow, red } = counts;
    let [green, yellow, red] = [green, yellow, red].map(|data| Some(counter_read(data)));
    v1::MeterCounterData { green, yellow, red }
}

/// The default entry is named by its table alone (spec "Default Entry").
pub fn no_key(entry: &v1::TableEntry) -> Result<()> {
    if entry.r#match.is_empty() && entry.priority == 0 {
        return Ok(());
    }
    Err(Status::invalid("the default entry has neither match nor priority"))
}
