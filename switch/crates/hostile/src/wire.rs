//! Changes to a protocol buffer that leave it one: fields dropped, doubled, moved, and given other values.

use prost::encoding::{decode_varint, encode_varint};

use crate::{Random, bytes};

/// A field as it stands on the wire.
#[derive(Clone)]
enum Value {
    Varint(u64),
    Fixed(Vec<u8>),
    Bytes(Vec<u8>),
}

#[derive(Clone)]
struct Field {
    number: u64,
    value: Value,
}

/// Makes one change somewhere in the message; mere bytes where it is none.
pub fn change(message: &[u8], random: &mut Random) -> Vec<u8> {
    let Some(mut fields) = fields(message).filter(|fields| !fields.is_empty()) else {
        let mut changed = message.to_vec();
        bytes::change(&mut changed, random);
        return changed;
    };
    let at = random.below(fields.len());
    match random.below(12) {
        0 => drop(fields.remove(at)),
        1 => fields.insert(at, fields[at].clone()),
        2 => {
            let to = random.below(fields.len());
            fields.swap(at, to);
        }
        3 => {
            let value = Value::Varint(random.edge());
            fields.push(Field { number: 1 + random.below(12) as u64, value });
        }
        4 => fields[at].number = 1 + random.below(12) as u64,
        5 => {
            // A value from elsewhere: ids and keys that mean something meet others that do.
            let other = fields[random.below(fields.len())].value.clone();
            fields[at].value = other;
        }
        _ => match &mut fields[at].value {
            Value::Varint(value) => {
                *value = match random.below(3) {
                    0 => random.edge(),
                    1 => value.wrapping_add(1),
                    _ => value.wrapping_sub(1),
                }
            }
            Value::Fixed(value) => value[0] ^= 1 << random.below(8),
            Value::Bytes(value) => *value = change(value, random),
        },
    }
    let mut changed = Vec::with_capacity(message.len() + 16);
    fields.iter().for_each(|field| put(field, &mut changed));
    changed
}

/// The fields of a message, if it can be one.
fn fields(mut rest: &[u8]) -> Option<Vec<Field>> {
    let mut fields = Vec::new();
    while !rest.is_empty() {
        let key = decode_varint(&mut rest).ok()?;
        let value = match key & 7 {
            0 => Value::Varint(decode_varint(&mut rest).ok()?),
            1 => Value::Fixed(rest.split_off(..8)?.to_vec()),
            2 => {
                let len = decode_varint(&mut rest).ok()?;
                Value::Bytes(rest.split_off(..usize::try_from(len).ok()?)?.to_vec())
            }
            5 => Value::Fixed(rest.split_off(..4)?.to_vec()),
            _ => return None,
        };
        fields.push(Field { number: key >> 3, value });
    }
    Some(fields)
}

fn put(field: &Field, to: &mut Vec<u8>) {
    let key = field.number << 3;
    match &field.value {
        Value::Varint(value) => {
            encode_varint(key, to);
            encode_varint(*value, to);
        }
        Value::Fixed(value) => {
            encode_varint(key | if value.len() == 8 { 1 } else { 5 }, to);
            to.extend(value);
        }
        Value::Bytes(value) => {
            encode_varint(key | 2, to);
            encode_varint(value.len() as u64, to);
            to.extend(value);
        }
    }
}
