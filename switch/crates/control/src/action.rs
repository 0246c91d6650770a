//! Actions with their arguments (spec "Action Specification").

use proto::p4::v1;
use runtime::ActionCall;

use crate::field::Texts;
use crate::schema::{ActionRef, Schema};
use crate::status::{Result, Status};

/// Where an action is to stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Use {
    Entry,
    Default,
}

/// The action of an entry, a member or a default entry; `allowed` are those of the table or profile.
pub fn decode(
    schema: &Schema,
    allowed: &[ActionRef],
    given: &v1::Action,
    used_as: Use,
    texts: &Texts,
) -> Result<ActionCall> {
    let Some(reference) = allowed.iter().find(|reference| reference.id == given.action_id) else {
        let known = schema.actions.get(&given.action_id).map_or(String::new(), |action| format!(" ({})", action.name));
        let allowed: Vec<&str> =
            allowed.iter().filter_map(|action| Some(&*schema.actions.get(&action.id)?.name)).collect();
        return Err(Status::invalid(format!(
            "action {}{known} is not one of its actions: {}",
            given.action_id,
            allowed.join(", ")
        )));
    };
    let Some(action) = schema.actions.get(&reference.id) else {
        return Err(Status::invalid(format!("P4Info has no action {}", reference.id)));
    };
    match used_as {
        Use::Entry if reference.default_only => {
            return Err(Status::denied(format!("action {} is @defaultonly: no entry can have it", action.name)));
        }
        Use::Default if reference.table_only => {
            return Err(Status::denied(format!("action {} is @tableonly: it can't be the default", action.name)));
        }
        _ => {}
    }
    for (at, param) in given.params.iter().enumerate() {
        if !action.params.iter().any(|known| known.id == param.param_id) {
            return Err(Status::invalid(format!("action {} has no parameter with id {}", action.name, param.param_id)));
        }
        if given.params[..at].iter().any(|other| other.param_id == param.param_id) {
            return Err(Status::invalid(format!(
                "action {}: parameter {} is given twice",
                action.name, param.param_id
            )));
        }
    }
    let args = action.params.iter().map(|param| {
        let place = |error: Status| Status {
            message: format!("action {}: parameter {} {}", action.name, param.name, error.message),
            ..error
        };
        let value = given.params.iter().find(|given| given.param_id == param.id);
        let value = value.ok_or_else(|| place(Status::invalid("is missing")))?;
        texts.to_data(param, &value.value).map_err(place)
    });
    Ok(ActionCall { action: reference.handle, args: args.collect::<Result<_>>()? })
}

/// The action as read.
pub fn encode(schema: &Schema, allowed: &[ActionRef], call: &ActionCall, texts: &Texts) -> v1::Action {
    let id = allowed.iter().find(|reference| reference.handle == call.action).map_or(0, |reference| reference.id);
    let params = schema.actions.get(&id).map_or(&[][..], |action| &action.params);
    let params = params
        .iter()
        .zip(&call.args)
        .map(|(param, value)| v1::action::Param { param_id: param.id, value: texts.to_control(param, value) });
    v1::Action { action_id: id, params: params.collect() }
}
