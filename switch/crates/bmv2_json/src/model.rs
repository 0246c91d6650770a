//! The document as it stands, its names not yet looked up. Attributes that change nothing for a packet are left out.

mod pipeline;

pub use pipeline::*;
use serde::Deserialize;
use serde_json::Value;

use crate::expr::{Expr, number};

/// The name of what comes next; at the end there is none.
type Next = Option<String>;

#[derive(Debug, Deserialize)]
pub struct Document {
    #[serde(rename = "__meta__", default)]
    pub meta: Meta,
    pub header_types: Vec<HeaderType>,
    pub headers: Vec<Header>,
    #[serde(default)]
    pub header_stacks: Vec<Stack>,
    #[serde(default)]
    pub header_union_types: Vec<UnionType>,
    #[serde(default)]
    pub header_unions: Vec<Union>,
    #[serde(default)]
    pub header_union_stacks: Vec<UnionStack>,
    #[serde(default)]
    pub field_lists: Vec<List>,
    #[serde(default)]
    pub errors: Vec<(String, u32)>,
    pub parsers: Vec<Parser>,
    #[serde(default)]
    pub parse_vsets: Vec<ValueSet>,
    pub deparsers: Vec<Deparser>,
    #[serde(default)]
    pub meter_arrays: Vec<Meter>,
    #[serde(default)]
    pub counter_arrays: Vec<Counter>,
    #[serde(default)]
    pub register_arrays: Vec<Register>,
    #[serde(default)]
    pub calculations: Vec<Calculation>,
    #[serde(default)]
    pub learn_lists: Vec<List>,
    pub actions: Vec<Action>,
    pub pipelines: Vec<Pipeline>,
    #[serde(default)]
    pub checksums: Vec<Checksum>,
    #[serde(default)]
    pub extern_instances: Vec<ExternInstance>,
    #[serde(default)]
    pub field_aliases: Vec<(String, (String, String))>,
}

#[derive(Debug, Default, Deserialize)]
pub struct Meta {
    /// Major and minor; documents older than 2.0 have none.
    #[serde(default)]
    pub version: Vec<u32>,
}

/// Where something stands in the P4 source.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct SourceInfo {
    pub filename: String,
    pub line: u32,
    pub source_fragment: String,
}

#[derive(Debug, Deserialize)]
pub struct HeaderType {
    pub name: String,
    pub fields: Vec<Field>,
    /// Bytes of the longest header, where there is a varbit.
    #[serde(default)]
    pub max_length: Option<u32>,
}

#[derive(Debug, Deserialize)]
#[serde(try_from = "Vec<Value>")]
pub struct Field {
    pub name: String,
    /// `None` of a varbit.
    pub width: Option<u32>,
    pub signed: bool,
}

impl TryFrom<Vec<Value>> for Field {
    type Error = String;

    fn try_from(parts: Vec<Value>) -> Result<Self, String> {
        let wrong = || format!("a field is [name, width, signed], not {}", Value::from(parts.clone()));
        let name = parts.first().and_then(Value::as_str).ok_or_else(wrong)?.to_owned();
        let width = match parts.get(1).ok_or_else(wrong)? {
            Value::String(star) if star == "*" => None,
            width => Some(width.as_u64().and_then(|width| u32::try_from(width).ok()).ok_or_else(wrong)?),
        };
        let signed = parts.get(2).and_then(Value::as_bool).unwrap_or(false);
        Ok(Self { name, width, signed })
    }
}

#[derive(Debug, Deserialize)]
pub struct Header {
    pub name: String,
    pub id: u32,
    pub header_type: String,
    #[serde(default)]
    pub metadata: bool,
}

#[derive(Debug, Deserialize)]
pub struct Stack {
    pub name: String,
    pub header_ids: Vec<u32>,
}

/// A member is its name and the name of its header type.
#[derive(Debug, Deserialize)]
pub struct UnionType {
    pub name: String,
    pub headers: Vec<(String, String)>,
}

#[derive(Debug, Deserialize)]
pub struct Union {
    pub name: String,
    pub id: u32,
    pub header_ids: Vec<u32>,
}

#[derive(Debug, Deserialize)]
pub struct UnionStack {
    pub name: String,
    pub union_type: String,
    pub header_union_ids: Vec<u32>,
}

/// A field list or a learn list.
#[derive(Debug, Deserialize)]
pub struct List {
    pub id: u32,
    pub name: String,
    pub elements: Vec<Input>,
}

/// What a list or a calculation takes in.
#[derive(Debug, Deserialize)]
#[serde(try_from = "Value")]
pub enum Input {
    Value(Expr),
    /// A number of so many bits.
    Number(num_bigint::BigInt, u32),
    /// What follows the parsed headers.
    Payload,
}

impl TryFrom<Value> for Input {
    type Error = String;

    fn try_from(value: Value) -> Result<Self, String> {
        match value["type"].as_str() {
            Some("payload") => Ok(Self::Payload),
            Some("hexstr") => {
                let bits = number(value["value"].as_str().unwrap_or_default())?;
                let width = value["bitwidth"].as_u64().and_then(|width| u32::try_from(width).ok());
                Ok(Self::Number(bits, width.ok_or("a hexstr in a list needs its bitwidth")?))
            }
            _ => Expr::from_value(&value).map(Self::Value),
        }
    }
}

#[derive(Debug, Deserialize)]
pub struct Parser {
    pub init_state: String,
    pub parse_states: Vec<State>,
}

#[derive(Debug, Deserialize)]
pub struct State {
    pub name: String,
    pub parser_ops: Vec<ParserOp>,
    #[serde(default)]
    pub transition_key: Vec<Expr>,
    pub transitions: Vec<Transition>,
}

#[derive(Debug, Deserialize)]
pub struct ParserOp {
    pub op: String,
    #[serde(default)]
    pub parameters: Vec<ParserParameter>,
}

#[derive(Debug, Deserialize)]
#[serde(try_from = "Value")]
pub enum ParserParameter {
    Value(Expr),
    Call(Primitive),
    Bytes(u32),
}

impl TryFrom<Value> for ParserParameter {
    type Error = String;

    fn try_from(value: Value) -> Result<Self, String> {
        if let Some(bytes) = value.as_u64() {
            return u32::try_from(bytes).map(Self::Bytes).map_err(|_| format!("{bytes} bytes are too many"));
        }
        if value.get("type").is_some() {
            return Expr::from_value(&value).map(Self::Value);
        }
        serde_json::from_value(value).map(Self::Call).map_err(|error| error.to_string())
    }
}

#[derive(Debug, Deserialize)]
pub struct Transition {
    #[serde(rename = "type", default = "hexstr")]
    pub kind: String,
    pub value: Option<String>,
    pub mask: Option<String>,
    pub next_state: Next,
}

impl Transition {
    /// Older compilers gave no type and called the value so.
    pub fn is_default(&self) -> bool {
        self.kind == "default" || self.value.as_deref() == Some("default")
    }
}

fn hexstr() -> String {
    "hexstr".to_owned()
}

#[derive(Debug, Deserialize)]
pub struct ValueSet {
    pub name: String,
    #[serde(default)]
    pub max_size: Option<u64>,
}

#[derive(Debug, Deserialize)]
pub struct Deparser {
    pub order: Vec<String>,
    #[serde(default)]
    pub primitives: Vec<Primitive>,
}

#[derive(Debug, Deserialize)]
pub struct Meter {
    pub name: String,
    #[serde(default)]
    pub size: u64,
    #[serde(rename = "type")]
    pub unit: String,
    #[serde(default)]
    pub is_direct: bool,
    #[serde(default)]
    pub result_target: Option<(String, String)>,
}

#[derive(Debug, Deserialize)]
pub struct Counter {
    pub name: String,
    #[serde(default)]
    pub size: u64,
    #[serde(default)]
    pub is_direct: bool,
    #[serde(default)]
    pub binding: Option<String>,
}

#[derive(Debug, Deserialize)]
pub struct Register {
    pub name: String,
    pub size: u64,
    pub bitwidth: u32,
}

#[derive(Debug, Deserialize)]
pub struct Calculation {
    pub name: String,
    pub algo: String,
    pub input: Vec<Input>,
}

#[derive(Debug, Deserialize)]
pub struct Action {
    pub name: String,
    pub id: u32,
    pub runtime_data: Vec<RuntimeData>,
    pub primitives: Vec<Primitive>,
    #[serde(default)]
    pub source_info: SourceInfo,
}

#[derive(Debug, Deserialize)]
pub struct RuntimeData {
    pub name: String,
    pub bitwidth: u32,
}

#[derive(Debug, Deserialize)]
pub struct Primitive {
    pub op: String,
    #[serde(default)]
    pub parameters: Vec<Expr>,
    #[serde(default)]
    pub source_info: SourceInfo,
}

#[derive(Debug, Deserialize)]
pub struct Checksum {
    pub name: String,
    pub target: (String, String),
    pub calculation: String,
    #[serde(default = "yes")]
    pub update: bool,
    #[serde(default = "yes")]
    pub verify: bool,
    #[serde(default)]
    pub if_cond: Option<Expr>,
}

fn yes() -> bool {
    true
}

#[derive(Debug, Deserialize)]
pub struct ExternInstance {
    pub name: String,
    #[serde(rename = "type")]
    pub kind: String,
}
