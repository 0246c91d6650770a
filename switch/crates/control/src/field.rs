//! Values that the control plane and the data plane write differently (`@p4runtime_translation`,
//! `@p4runtime_translation_mappings`).

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use num_bigint::BigUint;
use num_traits::One;
use proto::p4::config::v1::p4_new_type_spec::Representation;
use proto::p4::config::v1::p4_new_type_translation::SdnType;
use proto::p4::config::v1::{P4NamedType, P4TypeInfo};

use crate::mappings;
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
/// `@p4runtime_translation_mappings({{"text", value}, ...})` says which text means which value. Of other texts the switch
/// hands out values itself: a decimal number stands for itself, every other text gets the highest value of the type that
/// nothing else has.
#[derive(Debug, Default)]
pub struct Texts {
    types: Mutex<HashMap<String, Dictionary>>,
}

/// Values of nine bits are ports in almost every program. A name must not become the port of packets that are dropped, or
/// the usual one of the controller.
const PORT_BITS: u32 = 9;
const NO_PORTS_FROM: u32 = 510;

#[derive(Debug, Default, Clone)]
struct Dictionary {
    values: HashMap<String, BigUint>,
    texts: HashMap<BigUint, String>,
    /// Every value above it has a text.
    highest_free: Option<BigUint>,
}

impl Texts {
    /// Those that the annotations of types say.
    pub fn new(types: Option<&P4TypeInfo>) -> Result<Self> {
        let mut dictionaries = HashMap::new();
        for (name, spec) in types.into_iter().flat_map(|types| &types.new_types) {
            let mut dictionary = Dictionary::default();
            for (text, value) in mappings::of(name, spec)? {
                if !dictionary.set(text.clone(), value.clone()) {
                    return Err(Status::invalid(format!("type {name} maps {text:?} or {value} twice")));
                }
            }
            dictionaries.insert(name.clone(), dictionary);
        }
        Ok(Self { types: Mutex::new(dictionaries) })
    }

    /// Whether every value that the field's type maps a text to fits the field.
    pub fn check_width(&self, field: &Field) -> Result<()> {
        let Form::SdnText(name) = &field.form else { return Ok(()) };
        let types = self.types.lock().unwrap_or_else(PoisonError::into_inner);
        let mapped = types.get(name).into_iter().flat_map(|dictionary| &dictionary.values);
        match mapped.filter(|(_, value)| value.bits() > u64::from(field.width)).min() {
            Some((text, value)) => Err(Status::invalid(format!(
                "type {name} maps {text:?} to {value}, but {} has {} bits",
                field.name, field.width
            ))),
            None => Ok(()),
        }
    }

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
                let mut types = self.types.lock().unwrap_or_else(PoisonError::into_inner);
                let dictionary = types.entry(name.clone()).or_default();
                let text = std::str::from_utf8(bytes).ok();
                // The empty one means something only where the type says what.
                let text = text.filter(|text| !text.is_empty() || dictionary.values.contains_key(*text));
                let text = text.ok_or_else(|| Status::invalid("must be a text, not empty and in UTF-8"))?;
                dictionary.value(text, field.width)
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
        let other = other.types.lock().unwrap_or_else(PoisonError::into_inner);
        let mut types = self.types.lock().unwrap_or_else(PoisonError::into_inner);
        for (name, before) in &*other {
            let dictionary = types.entry(name.clone()).or_default();
            for (text, value) in &before.values {
                // What this program maps itself stays as it says.
                dictionary.set(text.clone(), value.clone());
            }
        }
    }
}

impl Dictionary {
    /// Lets a text mean a value; false if either has another meaning already.
    fn set(&mut self, text: String, value: BigUint) -> bool {
        if self.values.contains_key(&text) || self.texts.contains_key(&value) {
            return false;
        }
        self.texts.insert(value.clone(), text.clone());
        self.values.insert(text, value);
        true
    }

    fn value(&mut self, text: &str, width: u32) -> Result<BigUint> {
        if let Some(value) = self.values.get(text) {
            return Ok(value.clone());
        }
        if self.values.len() >= MOST_TEXTS {
            return Err(Status::exhausted(format!("is {text:?}, a new text; {MOST_TEXTS} are in use already")));
        }
        let highest = number::ones(width);
        let highest_given = if width == PORT_BITS { BigUint::from(NO_PORTS_FROM - 1) } else { highest.clone() };
        let itself = text.parse::<BigUint>().ok().filter(|value| value.to_string() == text && *value <= highest);
        let value = match itself {
            Some(value) if !self.texts.contains_key(&value) => value,
            _ => self.free(highest_given).ok_or_else(|| {
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
    use proto::p4::config::v1::P4NewTypeSpec;

    use super::*;
    use crate::status::Code;

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
        assert_eq!(eth0, BigUint::from(509u32));
        assert_eq!(texts.to_data(&port, b"3").unwrap(), BigUint::from(3u32));
        assert_eq!(texts.to_data(&port, b"eth1").unwrap(), BigUint::from(508u32));
        assert_eq!(texts.to_data(&port, b"511").unwrap(), BigUint::from(511u32));
        assert_eq!(texts.to_data(&port, b"eth0").unwrap(), eth0);
        assert_eq!(texts.to_control(&port, &eth0), b"eth0");
        assert_eq!(texts.to_control(&port, &BigUint::from(8u8)), b"8");
    }

    #[test]
    fn a_type_says_what_texts_mean() {
        let types = |annotation: &str| {
            let spec = P4NewTypeSpec { annotations: vec![annotation.to_owned()], ..Default::default() };
            P4TypeInfo { new_types: [("vrf_t".to_owned(), spec)].into(), ..Default::default() }
        };
        let annotation = "@p4runtime_translation_mappings({ { \"\" , 0 } , { \"blue\" , 0x7 } , })";
        let texts = Texts::new(Some(&types(annotation))).unwrap();
        let vrf = field(10, Form::SdnText("vrf_t".into()));
        let value = |texts: &Texts, text: &[u8]| texts.to_data(&vrf, text).map(|value| u32::try_from(value).unwrap());
        assert_eq!((value(&texts, b""), value(&texts, b"blue")), (Ok(0), Ok(7)));
        assert_eq!(
            (texts.to_control(&vrf, &0u8.into()), texts.to_control(&vrf, &7u8.into())),
            (vec![], b"blue".into())
        );
        // A number that has another text means some other value.
        assert_eq!((value(&texts, b"0"), value(&texts, b"red")), (Ok(1023), Ok(1022)));
        // The next program keeps texts, but for those that it maps itself.
        let next = Texts::new(Some(&types("@p4runtime_translation_mappings({ { \"red\" , 3 } })"))).unwrap();
        next.inherit(&texts);
        assert_eq!((value(&next, b"red"), value(&next, b"blue"), value(&next, b"0")), (Ok(3), Ok(7), Ok(1023)));
        let mapped = Texts::new(Some(&types("@p4runtime_translation_mappings({ { \"red\" , 10w3 } })"))).unwrap();
        let width = |bits| mapped.check_width(&field(bits, Form::SdnText("vrf_t".into())));
        assert_eq!(width(2), Ok(()));
        assert_eq!(width(1).unwrap_err().message, "type vrf_t maps \"red\" to 3, but port has 1 bits");
        for wrong in ["blue", "{ { blue , 1 } }", "{ { \"a\" , 1 } , { \"b\" , 1 } }", "{ { \"a\" , -1 } }"] {
            let refused = Texts::new(Some(&types(&format!("@p4runtime_translation_mappings({wrong})")))).unwrap_err();
            assert_eq!(refused.code, Code::InvalidArgument);
            assert!(refused.message.contains("type vrf_t"), "{}", refused.message);
        }
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
