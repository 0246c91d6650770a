//! The objects that the control plane sees: tables, actions, counters and so on.

use std::collections::HashSet;

use ir::{ConstEntry, CounterUnit, FieldList, Match, MatchKind, MeterUnit};
use num_bigint::BigUint;
use num_traits::{One, Zero};

use crate::context::Translation;
use crate::control::{bits, key_target};
use crate::error::{Error, Result, Within, fail};
use crate::expr::Expr;
use crate::externs::algorithm;
use crate::model::{self, DefaultEntry, Entry, EntryKey, Input, Pipeline, Table};

impl<'d> Translation<'d> {
    /// Makes all objects; tables come last, as they name the others.
    pub fn objects(&mut self) -> Result<()> {
        let document = self.document;
        for action in &document.actions {
            if action.runtime_data.iter().any(|param| param.bitwidth == 0) {
                return fail(format!("action {}: a parameter has no bits", action.name));
            }
            let params = action.runtime_data.iter().map(|param| (param.name.clone(), param.bitwidth));
            let id = self.out.actions.push(ir::Action::new(action.name.clone(), params));
            self.objects.actions.insert(action.id, id);
        }
        for counter in document.counter_arrays.iter().filter(|counter| !counter.is_direct) {
            let made = ir::Counter { name: counter.name.clone(), size: counter.size, unit: CounterUnit::Both };
            let id = self.out.counters.push(made);
            self.objects.counters.insert(counter.name.clone(), id);
        }
        for meter in document.meter_arrays.iter().filter(|meter| !meter.is_direct) {
            let unit = meter_unit(meter)?;
            let id = self.out.meters.push(ir::Meter { name: meter.name.clone(), size: meter.size, unit });
            self.objects.meters.insert(meter.name.clone(), id);
        }
        for register in &document.register_arrays {
            if register.bitwidth == 0 {
                return fail(format!("register {}: its cells have no bits", register.name));
            }
            let (size, width) = (register.size, register.bitwidth);
            let made = ir::Register { name: register.name.clone(), size, width, ..Default::default() };
            let id = self.out.registers.push(made);
            self.objects.registers.insert(register.name.clone(), id);
        }
        for list in &document.learn_lists {
            self.learn_list(list).within(|| format!("learn list {}", list.name))?;
        }
        for list in &document.field_lists {
            self.make_field_list(list).within(|| format!("field list {}", list.name))?;
        }
        for profile in document.pipelines.iter().flat_map(|pipeline| &pipeline.action_profiles) {
            self.profile(profile).within(|| format!("action profile {}", profile.name))?;
        }
        for pipeline in &document.pipelines {
            self.tables(pipeline)?;
        }
        Ok(())
    }

    fn learn_list(&mut self, list: &model::List) -> Result<()> {
        let mut widths = Vec::new();
        for element in &list.elements {
            match element {
                Input::Value(Expr::Header(name)) => {
                    widths.extend(self.header(name)?.ty.fields.iter().map(|field| field.width));
                }
                Input::Value(value) => widths.push(self.bounds(value)?.width),
                Input::Number(_, 0) | Input::Payload => {}
                Input::Number(_, width) => widths.push(*width),
            }
        }
        let id = self.out.digests.push(ir::Digest { name: list.name.clone(), widths });
        self.objects.digests.insert(list.id, id);
        Ok(())
    }

    fn make_field_list(&mut self, list: &model::List) -> Result<()> {
        let mut places = Vec::new();
        for element in &list.elements {
            match element {
                Input::Value(Expr::Header(name)) => {
                    let header = self.header(name)?;
                    places.push((header.offset, header.ty.size));
                }
                Input::Value(value) => {
                    let spot = self.spot(value)?;
                    let bytes = if spot.varbit { 4 + spot.width.div_ceil(8) } else { ir::storage_size(spot.width) };
                    places.push((spot.place.offset, bytes));
                }
                // A constant needs no keeping.
                Input::Number(..) | Input::Payload => {}
            }
        }
        let id = self.out.field_lists.push(FieldList { number: None, places });
        self.objects.field_lists.insert(list.id, id);
        Ok(())
    }

    fn profile(&mut self, profile: &model::Profile) -> Result<()> {
        if self.objects.profiles.contains_key(&profile.name) {
            return Ok(());
        }
        let selector = match &profile.selector {
            // The document does not cut the hash.
            Some(selector) => Some(ir::Selector { algorithm: algorithm(&selector.algo)?, output_width: 64 }),
            None => None,
        };
        let id = self.out.profiles.push(ir::Profile { name: profile.name.clone(), size: profile.max_size, selector });
        self.objects.profiles.insert(profile.name.clone(), id);
        Ok(())
    }

    fn tables(&mut self, pipeline: &Pipeline) -> Result<()> {
        let mut names = HashSet::new();
        for table in &pipeline.tables {
            if !names.insert(table.name.as_str()) || self.objects.tables.contains_key(&table.name) {
                return fail(format!("two tables are called {}", table.name));
            }
            let made = self.table(table).within(|| format!("table {}", table.name))?;
            let id = self.out.tables.push(made);
            self.objects.tables.insert(table.name.clone(), id);
        }
        Ok(())
    }

    fn table(&mut self, table: &Table) -> Result<ir::Table> {
        let mut made = ir::Table { name: table.name.clone(), size: table.max_size.max(1), ..ir::Table::default() };
        for key in &table.key {
            let target = key_target(key)?;
            let width = self.spot(&target)?.width;
            let name = match (&key.name, &target) {
                (Some(name), _) => name.clone(),
                (None, Expr::Field(header, field)) => format!("{header}.{field}"),
                (None, _) => String::new(),
            };
            made.keys.push(ir::Key { name, width, kind: match_kind(&key.match_type)? });
        }
        for id in &table.action_ids {
            let action = self.objects.actions.get(id);
            let action = *action.ok_or_else(|| Error::new(format!("there is no action {id}")))?;
            made.actions.push(ir::TableAction { action, default_only: false, table_only: false });
        }
        match (table.kind.as_str(), &table.action_profile) {
            ("simple", None) => {}
            ("indirect" | "indirect_ws", Some(profile)) => {
                let found = self.objects.profiles.get(profile);
                made.profile = Some(*found.ok_or_else(|| Error::new(format!("there is no action profile {profile}")))?);
                for input in self.selector_inputs(table) {
                    made.selector_widths.push(self.bounds(input)?.width);
                }
            }
            (kind, _) => return fail(format!("tables of type `{kind}` are not supported")),
        }
        if let Some(default) = &table.default_entry {
            let (action, args) = self.call(table, default)?;
            let is_const = default.action_const || default.action_entry_const;
            made.default_action = Some(ir::DefaultAction { action, args, is_const });
        }
        if table.with_counters {
            let mut direct = self.document.counter_arrays.iter().filter(|counter| counter.is_direct);
            let counter = direct.find(|counter| counter.binding.as_ref() == Some(&table.name));
            let name = counter.map_or_else(String::new, |counter| counter.name.clone());
            made.direct_counter = Some(ir::DirectCounter { name, unit: CounterUnit::Both });
        }
        if let Some(name) = &table.direct_meters {
            let meter = self.document.meter_arrays.iter().find(|meter| meter.name == *name);
            let meter = meter.ok_or_else(|| Error::new(format!("there is no meter {name}")))?;
            made.direct_meter = Some(ir::DirectMeter { name: name.clone(), unit: meter_unit(meter)? });
        }
        made.idle_timeout = table.support_timeout;
        made.const_entries = !table.entries.is_empty();
        // The document's smallest number wins.
        let most = table.entries.iter().map(|entry| entry.priority).max().unwrap_or(0);
        let ranked = made.keys.iter().any(|key| !matches!(key.kind, MatchKind::Exact | MatchKind::Lpm));
        for entry in &table.entries {
            let priority = if ranked { most - entry.priority + 1 } else { 0 };
            let entry = self.entry(table, &made.keys, entry, priority)?;
            made.entries.push(entry);
        }
        Ok(made)
    }

    /// The table's action by number, and the arguments it is given.
    fn call(&self, table: &Table, call: &DefaultEntry) -> Result<(usize, Vec<BigUint>)> {
        let index = table.action_ids.iter().position(|id| *id == call.action_id);
        let index = index.ok_or_else(|| Error::new(format!("action {} is none of the table's", call.action_id)))?;
        let action = self.action(call.action_id)?;
        // Counts them too.
        self.constant_arguments(action, &call.action_data)?;
        let args = call.action_data.iter().zip(&action.runtime_data).map(|(text, param)| bits(text, param.bitwidth));
        Ok((index, args.collect::<Result<_>>()?))
    }

    fn entry(&self, table: &Table, keys: &[ir::Key], entry: &Entry, priority: u32) -> Result<ConstEntry> {
        if entry.match_key.len() != keys.len() {
            return fail(format!("an entry has {} keys instead of {}", entry.match_key.len(), keys.len()));
        }
        let (action, args) = self.call(table, &entry.action_entry)?;
        let keys = entry.match_key.iter().zip(keys).map(|(value, key)| key_match(key, value)).collect::<Result<_>>()?;
        Ok(ConstEntry { keys, priority, action, args, is_const: true })
    }
}

fn key_match(key: &ir::Key, value: &EntryKey) -> Result<Match> {
    let missing = |what: &str| Error::new(format!("an entry's key {} has no `{what}`", key.name));
    let text = |text: &Option<String>, what| bits(text.as_ref().ok_or_else(|| missing(what))?, key.width);
    let given = || match &value.key {
        serde_json::Value::Bool(valid) => Ok(BigUint::from(u8::from(*valid))),
        serde_json::Value::String(text) => bits(text, key.width),
        _ => Err(missing("key")),
    };
    Ok(match key.kind {
        MatchKind::Exact => Match::Exact(given()?),
        MatchKind::Lpm => {
            let prefix = value.prefix_length.filter(|prefix| *prefix <= key.width);
            let prefix = prefix.ok_or_else(|| missing("prefix_length"))?;
            let mask = ((BigUint::one() << prefix) - 1u32) << (key.width - prefix);
            Match::Lpm { value: given()? & mask, prefix }
        }
        MatchKind::Ternary => {
            let mask = text(&value.mask, "mask")?;
            Match::Ternary { value: given()? & &mask, mask }
        }
        MatchKind::Range => Match::Range { low: text(&value.start, "start")?, high: text(&value.end, "end")? },
        // p4c writes it as a mask: all bits or none.
        MatchKind::Optional => {
            let mask = text(&value.mask, "mask")?;
            Match::Optional(if mask.is_zero() { None } else { Some(given()?) })
        }
    })
}

fn match_kind(name: &str) -> Result<MatchKind> {
    Ok(match name {
        "exact" | "valid" => MatchKind::Exact,
        "lpm" => MatchKind::Lpm,
        "ternary" => MatchKind::Ternary,
        "range" => MatchKind::Range,
        "optional" => MatchKind::Optional,
        _ => return fail(format!("match type `{name}` is not supported")),
    })
}

fn meter_unit(meter: &model::Meter) -> Result<MeterUnit> {
    match meter.unit.as_str() {
        "packets" => Ok(MeterUnit::Packets),
        "bytes" => Ok(MeterUnit::Bytes),
        other => fail(format!("meter {} counts `{other}`, which is not supported", meter.name)),
    }
}
