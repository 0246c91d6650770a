//! `@entry_restriction` of tables and `@action_restriction` of actions, in the language of p4-constraints.

use std::collections::BTreeMap;

use constraints::{Datum, Field, FieldKind, Form, Matched, Owner, Restriction, Violation};
use num_bigint::BigUint;
use proto::p4::config::v1 as info;
use proto::p4::config::v1::match_field::{Match, MatchType};
use proto::p4::v1;
use proto::p4::v1::field_match::FieldMatchType;
use proto::p4::v1::table_action::Type as Action;

use crate::field;
use crate::number;
use crate::status::{Result, Status};

/// All restrictions of a program, by the id of table or action.
#[derive(Debug, Default)]
pub struct Restrictions {
    tables: BTreeMap<u32, Rule>,
    actions: BTreeMap<u32, Rule>,
}

#[derive(Debug)]
struct Rule {
    name: String,
    restriction: Restriction,
    /// Ids of its keys or parameters.
    ids: Vec<u32>,
    fields: Vec<Field>,
}

impl Restrictions {
    /// Fails with all that is wrong in any of them.
    pub fn new(p4info: &info::P4Info) -> Result<Self> {
        let types = p4info.type_info.as_ref();
        let mut all = Self::default();
        let mut wrong = Vec::new();
        for table in &p4info.tables {
            let fields = table.match_fields.iter().map(|key| (key.id, key_field(key, types)));
            match Rule::new(table.preamble.as_ref(), Owner::Table, fields) {
                Ok(rule) => all.tables.extend(rule),
                Err(error) => wrong.push(error),
            }
        }
        for action in &p4info.actions {
            let fields = action.params.iter().map(|param| (param.id, param_field(param, types)));
            match Rule::new(action.preamble.as_ref(), Owner::Action, fields) {
                Ok(rule) => all.actions.extend(rule),
                Err(error) => wrong.push(error),
            }
        }
        if wrong.is_empty() { Ok(all) } else { Err(Status::invalid(wrong.join("\n"))) }
    }

    /// Whether an entry that is well formed may stand in its table.
    pub fn check_entry(&self, entry: &v1::TableEntry) -> Result<()> {
        if let Some(rule) = self.tables.get(&entry.table_id).filter(|_| !entry.is_default_action) {
            let given = |id: &u32| entry.r#match.iter().find(|one| one.field_id == *id)?.field_match_type.as_ref();
            let values = rule.ids.iter().zip(&rule.fields).map(|(id, field)| matched(field, given(id)));
            let values: Vec<Matched> = values.collect();
            if let Some(violation) = rule.restriction.violation(&values, entry.priority) {
                return Err(broken("the entry breaks @entry_restriction", &violation));
            }
        }
        match entry.action.as_ref().and_then(|action| action.r#type.as_ref()) {
            Some(Action::Action(call)) => self.check_action(call),
            Some(Action::ActionProfileActionSet(set)) => {
                let mut calls = set.action_profile_actions.iter().filter_map(|one| one.action.as_ref());
                calls.try_for_each(|call| self.check_action(call))
            }
            _ => Ok(()),
        }
    }

    /// Whether an action that is well formed may be called so.
    pub fn check_action(&self, call: &v1::Action) -> Result<()> {
        let Some(rule) = self.actions.get(&call.action_id) else { return Ok(()) };
        let given = |id: &u32| call.params.iter().find(|param| param.param_id == *id).map_or(&[][..], |one| &one.value);
        let values = rule.ids.iter().zip(&rule.fields).map(|(id, field)| Matched::Exact(datum(field, given(id))));
        let values: Vec<Matched> = values.collect();
        match rule.restriction.violation(&values, 0) {
            Some(violation) => Err(broken(&format!("action {} breaks @action_restriction", rule.name), &violation)),
            None => Ok(()),
        }
    }
}

impl Rule {
    /// The restriction of an object, if it has one; else what is wrong with it.
    fn new(
        preamble: Option<&info::Preamble>,
        owner: Owner,
        fields: impl Iterator<Item = (u32, Field)>,
    ) -> std::result::Result<Option<(u32, Self)>, String> {
        let Some(preamble) = preamble else { return Ok(None) };
        let (kind, annotation) = match owner {
            Owner::Table => ("table", "@entry_restriction"),
            Owner::Action => ("action", "@action_restriction"),
        };
        let Some(body) = preamble.annotations.iter().find_map(|text| text.strip_prefix(annotation)) else {
            return Ok(None);
        };
        let place = |error: String| format!("{kind} {}: {annotation}: {error}", preamble.name);
        let text = literal(body).ok_or_else(|| {
            place(format!("write {annotation}(\"...\"), the restriction in quotation marks and without others in it"))
        })?;
        let (ids, fields): (Vec<u32>, Vec<Field>) = fields.unzip();
        let restriction = Restriction::new(&text, owner, &fields).map_err(|error| place(error.to_string()))?;
        Ok(Some((preamble.id, Self { name: preamble.name.clone(), restriction, ids, fields })))
    }
}

fn broken(what: &str, violation: &Violation<'_>) -> Status {
    Status::invalid(format!("{what}, {violation}"))
}

/// The text of the literals in parentheses; each begins a line, so that comments end with the literal they stand in.
fn literal(body: &str) -> Option<String> {
    let inner = body.trim().strip_prefix('(')?.strip_suffix(')')?.trim();
    let inner = inner.strip_prefix('"')?.strip_suffix('"')?;
    let mut pieces = inner.split('"');
    let mut text = pieces.next()?.to_owned();
    while let Some(between) = pieces.next() {
        if !between.trim().is_empty() {
            return None;
        }
        text = format!("{text}\n{}", pieces.next()?);
    }
    Some(text)
}

fn key_field(key: &info::MatchField, types: Option<&info::P4TypeInfo>) -> Field {
    let kind = match key.r#match {
        Some(Match::MatchType(kind)) => match MatchType::try_from(kind) {
            Ok(MatchType::Exact) => FieldKind::Exact,
            Ok(MatchType::Ternary) => FieldKind::Ternary,
            Ok(MatchType::Lpm) => FieldKind::Lpm,
            Ok(MatchType::Range) => FieldKind::Range,
            Ok(MatchType::Optional) => FieldKind::Optional,
            Ok(MatchType::Unspecified) | Err(_) => FieldKind::Other,
        },
        Some(Match::OtherMatchType(_)) | None => FieldKind::Other,
    };
    Field { name: key.name.clone(), kind, form: form(key.type_name.as_ref(), types, key.bitwidth) }
}

fn param_field(param: &info::action::Param, types: Option<&info::P4TypeInfo>) -> Field {
    let form = form(param.type_name.as_ref(), types, param.bitwidth);
    Field { name: param.name.clone(), kind: FieldKind::Value, form }
}

/// P4Info gives the width of the control plane.
fn form(name: Option<&info::P4NamedType>, types: Option<&info::P4TypeInfo>, bitwidth: i32) -> Form {
    match field::Form::of(name, types) {
        field::Form::SdnText(_) => Form::Text,
        _ => Form::Bits(u32::try_from(bitwidth).unwrap_or(0)),
    }
}

/// A key's match; one that is left out matches every value.
fn matched(field: &Field, given: Option<&FieldMatchType>) -> Matched {
    // A text is matched whole or not at all.
    let width = match field.form {
        Form::Bits(width) => width,
        Form::Text => 1,
    };
    let whole = || number::ones(width);
    match given {
        Some(FieldMatchType::Exact(exact)) => Matched::Exact(datum(field, &exact.value)),
        Some(FieldMatchType::Ternary(ternary)) => {
            let mask = if field.form == Form::Text { whole() } else { BigUint::from_bytes_be(&ternary.mask) };
            Matched::Ternary { value: datum(field, &ternary.value), mask }
        }
        Some(FieldMatchType::Optional(optional)) => {
            Matched::Ternary { value: datum(field, &optional.value), mask: whole() }
        }
        Some(FieldMatchType::Lpm(lpm)) => {
            let prefix = if field.form == Form::Text { width } else { lpm.prefix_len.unsigned_abs() };
            Matched::Lpm { value: datum(field, &lpm.value), prefix }
        }
        Some(FieldMatchType::Range(range)) => {
            Matched::Range { low: datum(field, &range.low), high: datum(field, &range.high) }
        }
        Some(FieldMatchType::Other(_)) | None => match field.kind {
            FieldKind::Ternary | FieldKind::Optional => {
                Matched::Ternary { value: datum(field, &[]), mask: BigUint::default() }
            }
            FieldKind::Lpm => Matched::Lpm { value: datum(field, &[]), prefix: 0 },
            FieldKind::Range => Matched::Range { low: datum(field, &[]), high: whole().into() },
            FieldKind::Exact | FieldKind::Value | FieldKind::Other => Matched::Exact(datum(field, &[])),
        },
    }
}

fn datum(field: &Field, bytes: &[u8]) -> Datum {
    match field.form {
        Form::Bits(_) => BigUint::from_bytes_be(bytes).into(),
        Form::Text => Datum::Text(String::from_utf8_lossy(bytes).into_owned()),
    }
}
