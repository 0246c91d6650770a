//! Values that the control plane and the data plane write differently (`@p4runtime_translation`).

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use num_bigint::BigUint;
use num_traits::One;
use proto::p4::config::v1::p4_new_type_spec::Representation;
use proto::p4::config::v1::p4_new_type_translation::SdnType;
use proto::p4::config::v1::{P4NamedType, P4TypeInfo};

use crate::number;
use crate::status::{Result, Status};

/// The most texts that one translated type may name at a time; a text is never forgotten while the program runs.
const MOST_TEXTS: usize = 65_536;

/// A match key, an action's parameter, or a metadata of packets to and from the controller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    pub id: u32,
    pub name: String,
    /// Bits in the data plane.
    pub width: u32,
    pub form: Form,
}

/// How the control plane writes the values of a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Form {
    /// As the data plane does.
    Plain,
    /// As an integer of another width.
    SdnBits(u32),
    /// As a text; the type of this name has its own texts.
    SdnText(String),
}

impl Form {
    /// The form of a value whose P4Info has this type name.
    pub fn of(type_name: Option<&P4NamedType>, types: Option<&P4TypeInfo>) -> Self {
        let found = type_name.and_then(|name| types?.new_types.get_key_value(&name.name));
        let Some((name, spec)) = found else { return Self::Plain };
        let Some(Representation::TranslatedType(translation)) = &spec.representation else { return Self::Plain };
        match &translation.sdn_type {
            Some(SdnType::SdnBitwidth(width)) => Self::SdnBits(u32::try_from(*width).unwrap_or(0)),
            Some(SdnType::SdnString(_)) => Self::SdnText(name.clone()),
            None => Self::Plain,
        }
    }
}

/// The texts given to values of types that the control plane writes as strings.
///
/// Nothing tells the switch which text means which value, so it hands out values itself: a decimal number stands for
/// itself, every other text gets the highest value of the type that nothing else has.
#[derive(Debug, Default)]
pub struct Texts {
    types: Mutex<HashMap<String, Dictionary>>,
}

#[derive(Debug, Default, Clone)]
struct Dictionary {
    values: HashMap<String, BigUint>,
    texts: HashMap<BigUint, String>,
    /// Every value above it has a text.
    highest_free: Option<BigUint>,
}

impl Texts {
    /// What a value of the control plane means in the data plane.
    pub fn to_data(&self, field: &Field, bytes: &[u8]) -> Result<BigUint> {
        match &field.form {
            Form::Plain => number::decode(bytes, field.width),
            Form::SdnBits(width) => {
                let value = number::decode(bytes, *width)?;
                if value.bits() > u64::from(field.width) {
                    return Err(Status::out_of_range(format!(
                        "is {value:#x}; translated values of this type go up to {:#x}",
                        number::ones(field.width)
                    )));
                }
                Ok(value)
            }
            Form::SdnText(name) => {
                let text = std::str::from_utf8(bytes).ok().filter(|text| !text.is_empty());
                let text = text.ok_or_else(|| Status::invalid("must be a text, not empty and in UTF-8"))?;
                let mut types = self.types.lock().unwrap_or_else(PoisonError::into_inner);
                types.entry(name.clone()).or_default().value(text, field.width)
            }
        }
    }

    /// How the control plane writes a value of the data plane.
    pub fn to_control(&self, field: &Field, value: &BigUint) -> Vec<u8> {
        match &field.form {
            Form::Plain | Form::SdnBits(_) => number::encode(value),
            Form::SdnText(name) => {
                let types = self.types.lock().unwrap_or_else(PoisonError::into_inner);
                let text = types.get(name).and_then(|dictionary| dictionary.texts.get(value).cloned());
                text.unwrap_or_else(|| value.to_string()).into_bytes()
            }
        }
    }

    /// Takes over the texts of the program that ran before.
    pub fn inherit(&self, other: &Self) {
        let other = other.types.lock().unwrap_or_else(PoisonError::into_inner).clone();
        *self.types.lock().unwrap_or_else(PoisonError::into_inner) = other;
    }
}

impl Dictionary {
    fn value(&mut self, text: &str, width: u32) -> Result<BigUint> {
        if let Some(value) = self.values.get(text) {
            return Ok(value.clone());
        }
        if self.values.len() >= MOST_TEXTS {
            return Err(Status::exhausted(format!("is {text:?}, a new text; {MOST_TEXTS} are in use already")));
        }
        let highest = number::ones(width);
        let itself = text.parse::<BigUint>().ok().filter(|value| value.to_string() == text && *value <= highest);
        let value = match itself {
            Some(value) if !self.texts.contains_key(&value) => value,
            _ => self.free(highest).ok_or_else(|| {
                Status::exhausted(format!("is {text:?}, a new text; every value of {width} bits has one already"))
            })?,
        };
        self.values.insert(text.to_owned(), value.clone());
        self.texts.insert(value.clone(), text.to_owned());
        Ok(value)
    }

    /// The highest value without a text; values never lose theirs, so the search never turns back.
    fn free(&mut self, highest: BigUint) -> Option<BigUint> {
        let mut value = self.highest_free.take().unwrap_or(highest);
        while self.texts.contains_key(&value) {
            if number::is_zero(&value) {
                self.highest_free = Some(value);
                return None;
            }
            value -= BigUint::one();
        }
        self.highest_free = Some(value.clone());
        Some(value)
    }
}

#[cfg(test)]
mod tests {
    use proto::google::rpc::Code;

    use super::*;

    fn field(width: u32, form: Form) -> Field {
        Field { id: 1, name: "port".into(), width, form }
    }

    #[test]
    fn an_sdn_integer_must_fit_the_data_plane() {
        let texts = Texts::default();
        let port = field(9, Form::SdnBits(32));
        assert_eq!(texts.to_data(&port, &[0, 0, 1, 0xff]), Ok(BigUint::from(0x1ffu32)));
        assert_eq!(texts.to_data(&port, &[2, 0]).unwrap_err().code, Code::OutOfRange);
        assert_eq!(texts.to_data(&port, &[1, 0, 0, 0, 0]).unwrap_err().code, Code::OutOfRange);
        assert_eq!(texts.to_control(&port, &BigUint::from(7u8)), [7]);
    }

    #[test]
    fn texts_keep_their_values_and_numbers_mean_themselves() {
        let texts = Texts::default();
        let port = field(9, Form::SdnText("port_t".into()));
        let eth0 = texts.to_data(&port, b"eth0").unwrap();
        assert_eq!(eth0, BigUint::from(511u32));
        assert_eq!(texts.to_data(&port, b"3").unwrap(), BigUint::from(3u32));
        assert_eq!(texts.to_data(&port, b"eth1").unwrap(), BigUint::from(510u32));
        assert_eq!(texts.to_data(&port, b"eth0").unwrap(), eth0);
        assert_eq!(texts.to_control(&port, &eth0), b"eth0");
        assert_eq!(texts.to_control(&port, &BigUint::from(8u8)), b"8");
    }

    #[test]
    fn a_number_whose_value_is_taken_gets_another_one() {
        let texts = Texts::default();
        let bit = field(1, Form::SdnText("bit_t".into()));
        assert_eq!(texts.to_data(&bit, b"one").unwrap(), BigUint::from(1u8));
        assert_eq!(texts.to_data(&bit, b"1").unwrap(), BigUint::from(0u8));
        assert_eq!(texts.to_control(&bit, &BigUint::from(0u8)), b"1");
        let full = texts.to_data(&bit, b"two").unwrap_err();
        assert_eq!(full.code, Code::ResourceExhausted);
        assert!(full.message.contains("1 bits"), "{}", full.message);
    }
}
