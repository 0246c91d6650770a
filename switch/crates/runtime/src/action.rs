//! Arguments of actions in the form that packets read: words laid out as [`ir::Action`] says.

use std::sync::atomic::Ordering::Relaxed;

use ir::{Action, storage_size};
use num_bigint::BigUint;
use tables::sync::AtomicU64;

use crate::error::{Problem, What, WriteError};

/// Words of an action's data.
pub(crate) fn data_words(action: &Action) -> usize {
    action.data_size().div_ceil(8) as usize
}

/// Lays arguments out after checking them. `object` is what they are written to, for the error.
pub(crate) fn encode(object: &str, action: &Action, args: &[BigUint]) -> Result<Vec<u64>, WriteError> {
    let bad = |what: &str, problem| WriteError::BadValue {
        object: format!("{object}, action {}", action.name),
        what: What::Param(what.to_owned()),
        problem,
    };
    if args.len() != action.params.len() {
        return Err(bad("list", Problem::WrongCount { given: args.len(), expected: action.params.len() }));
    }
    let mut words = vec![0u64; data_words(action)];
    let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut words);
    for (param, arg) in action.params.iter().zip(args) {
        if arg.bits() > u64::from(param.width) {
            return Err(bad(&param.name, Problem::TooWide { value: arg.clone(), width: param.width }));
        }
        let value = arg.to_bytes_le();
        let size = value.len().min(storage_size(param.width) as usize);
        bytes[param.offset as usize..][..size].copy_from_slice(&value[..size]);
    }
    Ok(words)
}

/// The arguments in data laid out by [`encode`].
pub(crate) fn decode(action: &Action, data: &[AtomicU64]) -> Vec<BigUint> {
    let words: Vec<u64> = data.iter().take(data_words(action)).map(|word| word.load(Relaxed)).collect();
    let bytes: &[u8] = bytemuck::cast_slice(&words);
    let arg = |param: &ir::ActionParam| {
        BigUint::from_bytes_le(&bytes[param.offset as usize..][..storage_size(param.width) as usize])
    };
    action.params.iter().map(arg).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_come_back_and_lie_where_the_action_says() {
        let widths = [9, 48, 1, 128, 200];
        let params = widths.iter().enumerate().map(|(i, &width)| (format!("p{i}"), width));
        let action = Action::new("a".into(), params);
        let args: Vec<_> =
            widths.iter().map(|&width| (BigUint::from(1u8) << width) - 2u8 * u8::from(width > 1) - 1u8).collect();
        let words = encode("t", &action, &args).unwrap();
        let bytes: &[u8] = bytemuck::cast_slice(&words);
        assert_eq!(bytes[..2], 0x1fdu16.to_le_bytes());
        let stored: Vec<_> = words.into_iter().map(AtomicU64::new).collect();
        assert_eq!(decode(&action, &stored), args);
    }

    #[test]
    fn arguments_that_do_not_fit_are_refused_by_name() {
        let action = Action::new("a".into(), [("port".to_owned(), 9)]);
        let error = encode("t", &action, &[BigUint::from(512u32)]).unwrap_err();
        assert_eq!(error.to_string(), "t, action a: parameter port is 0x200, which does not fit 9 bits");
        let error = encode("t", &action, &[]).unwrap_err();
        assert_eq!(error.to_string(), "t, action a: parameter list comes with 0 values, not 1");
    }
}
