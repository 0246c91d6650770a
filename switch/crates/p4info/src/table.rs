//! Tables.

use hir::architecture::TableProperty;
use hir::instances::{InstanceId, Value};
use num_bigint::BigInt;
use proto::p4::config::v1 as info;
use proto::p4::config::v1::action_ref::Scope;
use proto::p4::config::v1::table::IdleTimeoutBehavior;

use crate::annotation;
use crate::bytes::padded;
use crate::ids::{Kind, field_ids};
use crate::key_name::key_name;
use crate::message::Builder;
use crate::object::match_kind;
use crate::types::{new_type_name, width};
use crate::visible::{Table, action_name};

/// The match kind of keys that only choose a member of a group.
const SELECTOR: &str = "selector";

impl Builder<'_> {
    pub fn table(&mut self, table: &Table) {
        let decl = &self.program.tables[table.table.table];
        if annotation::has(&decl.annotations, "hidden") {
            return;
        }
        let preamble = self.preamble(Kind::Table, &table.table.name, &decl.annotations, &[]);
        let id = preamble.id;
        let match_fields = self.match_fields(decl);
        let action_refs = decl.actions.iter().map(|listed| self.action_ref(table.control, listed)).collect();
        let default = decl.default_action.as_ref();
        let initial_default_action = default.map(|default| self.default_action(table.control, decl, default));
        let called = initial_default_action.as_ref().map_or(0, |call| call.action_id);
        let mut direct_resource_ids = Vec::new();
        let implementation = self.property_object(table, TableProperty::Implementation);
        let counter = self.property_object(table, TableProperty::DirectCounter);
        let meter = self.property_object(table, TableProperty::DirectMeter);
        self.types();
        let mut implementation_id = 0;
        if let Some(object) = implementation {
            implementation_id = self.symbols.id(Kind::ActionProfile, &self.instances.get(object).name);
            if self.instances.get(object).var.is_none() {
                self.profile(object);
            }
        }
        if let Some(object) = counter {
            direct_resource_ids.push(self.symbols.id(Kind::DirectCounter, &self.instances.get(object).name));
            self.direct_counter(object, id);
        }
        if let Some(object) = meter {
            direct_resource_ids.push(self.symbols.id(Kind::DirectMeter, &self.instances.get(object).name));
            self.direct_meter(object, id);
        }
        let timeout = self.property(table, TableProperty::IdleTimeout);
        let timeout = match timeout.is_some_and(|value| self.instances.wants_idle_timeout(self.program, &value)) {
            true => IdleTimeoutBehavior::NotifyControl,
            false => IdleTimeoutBehavior::NoTimeout,
        };
        self.info.tables.push(info::Table {
            preamble: Some(preamble),
            match_fields,
            action_refs,
            const_default_action_id: if default.is_some_and(|default| default.is_const) { called } else { 0 },
            initial_default_action,
            implementation_id,
            direct_resource_ids,
            size: self.instances.table_size(self.program, table.control, decl) as i64,
            idle_timeout_behavior: timeout.into(),
            is_const_table: decl.entries.as_ref().is_some_and(|entries| entries.is_const),
            has_initial_entries: decl.entries.as_ref().is_some_and(|entries| !entries.list.is_empty()),
            ..Default::default()
        });
    }

    /// The value of a property that is a constant.
    fn property(&self, table: &Table, wanted: TableProperty) -> Option<Value> {
        let decl = &self.program.tables[table.table.table];
        let property = decl.properties.iter().find(|property| self.is_property(property, wanted))?;
        self.instances.evaluate(self.program, Some(table.control), &property.value)
    }

    /// The object that a property names or makes.
    pub fn property_object(&self, table: &Table, wanted: TableProperty) -> Option<InstanceId> {
        let properties = &self.program.tables[table.table.table].properties;
        let objects = &table.table.objects;
        let found = objects.iter().find(|(index, _)| self.is_property(&properties[*index], wanted));
        found.map(|(_, object)| *object)
    }

    fn is_property(&self, property: &hir::Property, wanted: TableProperty) -> bool {
        self.instances.architecture().property(&property.name) == Some(wanted)
    }

    fn match_fields(&mut self, decl: &hir::Table) -> Vec<info::MatchField> {
        let ids = self.field_ids(decl.keys.iter().map(|key| &*key.annotations));
        let mut fields = Vec::new();
        for (key, id) in decl.keys.iter().zip(ids).filter(|(key, _)| key.match_kind != SELECTOR) {
            self.describe(key.expr.ty);
            fields.push(info::MatchField {
                id,
                name: key_name(self.program, key),
                annotations: annotation::texts(&key.annotations, &[]),
                bitwidth: width(self.program, key.expr.ty) as i32,
                doc: annotation::documentation(&key.annotations),
                type_name: new_type_name(self.program, key.expr.ty),
                structured_annotations: annotation::structured(&key.annotations),
                r#match: match_kind(&key.match_kind),
                ..Default::default()
            });
        }
        fields
    }

    fn action_ref(&self, control: InstanceId, listed: &hir::ActionRef) -> info::ActionRef {
        let name = action_name(self.program, self.instances, control, listed.action);
        let scope = if annotation::has(&listed.annotations, "tableonly") {
            Scope::TableOnly
        } else if annotation::has(&listed.annotations, "defaultonly") {
            Scope::DefaultOnly
        } else {
            Scope::TableAndDefault
        };
        info::ActionRef {
            id: self.symbols.id(Kind::Action, &name),
            scope: scope.into(),
            annotations: annotation::texts(&listed.annotations, &[]),
            structured_annotations: annotation::structured(&listed.annotations),
            ..Default::default()
        }
    }

    fn default_action(
        &self,
        control: InstanceId,
        decl: &hir::Table,
        default: &hir::DefaultAction,
    ) -> info::TableActionCall {
        let action = decl.actions[default.action].action;
        let name = action_name(self.program, self.instances, control, action);
        let argument = |(arg, param_id): (&hir::Expr, u32)| {
            let value = self.instances.evaluate(self.program, Some(control), arg)?;
            let value = padded(&number(&value)?, width(self.program, arg.ty));
            Some(info::table_action_call::Argument { param_id, value })
        };
        let ids = param_ids(self.program, action);
        info::TableActionCall {
            action_id: self.symbols.id(Kind::Action, &name),
            arguments: default.args.iter().zip(ids).filter_map(argument).collect(),
        }
    }
}

/// The ids of a table's keys, the selector's among them.
pub fn key_ids(decl: &hir::Table) -> Vec<u32> {
    field_ids(&decl.keys.iter().map(|key| annotation::id(&key.annotations)).collect::<Vec<_>>())
}

/// The ids of an action's parameters.
pub fn param_ids(program: &hir::Program, action: hir::ActionId) -> Vec<u32> {
    let params = program.actions[action].params.iter().map(|param| &program.vars[*param]);
    let params = params.filter(|param| param.kind == hir::VarKind::Param(None));
    field_ids(&params.map(|param| annotation::id(&param.annotations)).collect::<Vec<_>>())
}

/// The number of a constant.
pub fn number(value: &Value) -> Option<BigInt> {
    match value {
        Value::Int(value) => Some(value.clone()),
        Value::Bool(value) => Some(BigInt::from(u8::from(*value))),
        _ => None,
    }
}
