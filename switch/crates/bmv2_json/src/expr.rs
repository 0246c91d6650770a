//! Expressions: type-value objects of the document as a tree.

use num_bigint::{BigInt, Sign};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

#[derive(Debug, Clone, PartialEq)]
pub enum Expr {
    /// A header or metadata instance, and a field of it.
    Field(String, String),
    /// A field of a header that only run time knows.
    Member(Box<Expr>, String),
    Number(BigInt),
    Bool(bool),
    Header(String),
    HeaderStack(String),
    HeaderUnion(String),
    HeaderUnionStack(String),
    /// What the control plane gives an action: `runtime_data` outside of expressions, `local` inside.
    Argument(usize),
    /// A cell of a register.
    Register(String, Box<Expr>),
    /// A field of the last element of a stack.
    StackField(String, String),
    /// A union stack, a member, and a field of it in the last element.
    UnionStackField(String, String, String),
    /// Bits of the packet in front of the parser: how far, how many.
    Lookahead(u32, u32),
    Text(String),
    List(Vec<Expr>),
    /// An object that a primitive works on: its type and its name.
    Object(String, String),
    /// The next element of a stack of unions, and which member.
    NextUnion(String, String),
    Op(Box<Op>),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Op {
    pub name: String,
    /// `None` of an operation with one operand.
    pub left: Option<Expr>,
    pub right: Expr,
    /// Of `?`.
    pub cond: Option<Expr>,
}

impl<'de> Deserialize<'de> for Expr {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::from_value(&Value::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

impl Expr {
    pub fn from_value(value: &Value) -> Result<Self, String> {
        // The number of a field or member stands as it is.
        if let Some(number) = value.as_i64() {
            return Ok(Self::Number(number.into()));
        }
        if value.get("op").is_some() {
            return Self::operation(value);
        }
        let kind = value["type"].as_str().ok_or_else(|| format!("a value has a type, as {value} has not"))?;
        let inner = &value["value"];
        let wrong = || format!("{inner} is no value of type `{kind}`");
        let name = || inner.as_str().map(str::to_owned).ok_or_else(wrong);
        let names = |count: usize| {
            let names: Vec<String> =
                inner.as_array().into_iter().flatten().filter_map(|name| name.as_str().map(str::to_owned)).collect();
            if names.len() == count { Ok(names) } else { Err(wrong()) }
        };
        let index = |value: &Value| value.as_u64().and_then(|index| u32::try_from(index).ok()).ok_or_else(wrong);
        Ok(match kind {
            "field" if inner[0].is_object() => {
                let field = inner[1].as_str().ok_or_else(wrong)?.to_owned();
                Self::Member(Box::new(Self::from_value(&inner[0])?), field)
            }
            "field" => two(names(2)?, Self::Field),
            "stack_field" => two(names(2)?, Self::StackField),
            "union_stack" => two(names(2)?, Self::NextUnion),
            "union_stack_field" => {
                let mut names = names(3)?.into_iter();
                let mut next = || names.next().unwrap_or_default();
                Self::UnionStackField(next(), next(), next())
            }
            "hexstr" => Self::Number(number(inner.as_str().ok_or_else(wrong)?)?),
            "bool" => Self::Bool(inner.as_bool().ok_or_else(wrong)?),
            "header" | "regular" => Self::Header(name()?),
            "header_stack" | "stack" => Self::HeaderStack(name()?),
            "header_union" => Self::HeaderUnion(name()?),
            "header_union_stack" => Self::HeaderUnionStack(name()?),
            "runtime_data" | "local" => Self::Argument(index(inner)? as usize),
            "register" => {
                let register = inner[0].as_str().ok_or_else(wrong)?.to_owned();
                Self::Register(register, Box::new(Self::from_value(&inner[1])?))
            }
            "lookahead" => Self::Lookahead(index(&inner[0])?, index(&inner[1])?),
            "string" => Self::Text(name()?),
            "parameters_vector" => {
                let items = inner.as_array().into_iter().flatten();
                Self::List(items.map(Self::from_value).collect::<Result<_, _>>()?)
            }
            "calculation" | "meter_array" | "counter_array" | "register_array" | "extern" => {
                Self::Object(kind.to_owned(), name()?)
            }
            "expression" => Self::from_value(inner)?,
            _ => return Err(format!("values of type `{kind}` are not supported")),
        })
    }

    fn operation(value: &Value) -> Result<Self, String> {
        let name = value["op"].as_str().ok_or("an operation has a name")?.to_owned();
        let operand = |side: &str| match &value[side] {
            Value::Null => Ok(None),
            inner => Self::from_value(inner).map(Some),
        };
        let right = operand("right")?.ok_or_else(|| format!("`{name}` has no right operand"))?;
        Ok(Self::Op(Box::new(Op { name, left: operand("left")?, right, cond: operand("cond")? })))
    }
}

fn two(names: Vec<String>, make: fn(String, String) -> Expr) -> Expr {
    let mut names = names.into_iter();
    make(names.next().unwrap_or_default(), names.next().unwrap_or_default())
}

/// A number in hexadecimal digits, with `-` in front if it is negative.
pub fn number(text: &str) -> Result<BigInt, String> {
    let (sign, digits) = text.strip_prefix('-').map_or((Sign::Plus, text), |digits| (Sign::Minus, digits));
    let digits = digits.strip_prefix("0x").unwrap_or(digits);
    let value = num_bigint::BigUint::parse_bytes(digits.as_bytes(), 16)
        .ok_or_else(|| format!("`{text}` is no hexadecimal number"))?;
    Ok(BigInt::from_biguint(sign, value))
}
