//! What a packet met on its way, step by step, as text (`Display`) or JSON; and who notes it.

mod recorder;

use std::borrow::Cow;
use std::fmt;

use num_bigint::BigUint;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub use recorder::{Recorder, Step};

/// One step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// A packet came in at a port.
    Received {
        port: u32,
        bytes: usize,
    },
    /// A programmable block of the architecture starts.
    Block {
        name: String,
    },
    State {
        name: String,
        at: Location,
    },
    Statement {
        text: String,
        at: Location,
    },
    /// Something is decided; the outcome of a `switch` shows in what follows.
    Condition {
        text: String,
        at: Location,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        outcome: Option<bool>,
    },
    /// A table is applied; its `Lookup` follows.
    Table {
        name: String,
        at: Location,
    },
    Lookup {
        table: String,
        keys: Vec<Named>,
        /// Inputs of the action selector.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        selector: Vec<Number>,
        hit: bool,
        /// What was hit, as it stood in the table then.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        entry: Option<Entry>,
        /// None when nothing matched and the table has no default action.
        action: Option<String>,
        args: Vec<Named>,
    },
    /// The code of an action starts.
    Action {
        name: String,
        at: Location,
    },
    /// The code of the action that started last is over.
    ActionEnd,
    Extract {
        header: String,
        /// A lookahead: the cursor stayed.
        peek: bool,
        fields: Vec<Named>,
        error: Option<String>,
    },
    Advance {
        bits: u32,
        error: Option<String>,
    },
    Emit {
        header: String,
        valid: bool,
        fields: Vec<Named>,
    },
    /// A variable changed.
    Store {
        place: String,
        value: Number,
    },
    /// A call of an extern: `register.read`, `hash`, `clone` and so on.
    Call {
        #[serde(rename = "extern")]
        name: Cow<'static, str>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        object: Option<String>,
        args: Vec<Number>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        result: Option<Number>,
    },
    /// The parser ended with an error.
    ParserError {
        error: String,
    },
    Log {
        text: String,
    },
    AssertFailed {
        text: String,
    },
    /// The packet goes on as another one: `clone`, `replica`, `resubmit` or `recirculate`.
    Copied {
        reason: Cow<'static, str>,
        /// Where the other one is to leave, if that is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        port: Option<u32>,
        /// The number of the other one.
        packet: u32,
    },
    /// A copy was asked for by a session that is not there: none is made.
    NoCloneSession {
        session: u32,
    },
    Sent {
        port: u32,
        bytes: usize,
        /// Why the port did not take it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        lost: Option<Cow<'static, str>>,
    },
    Dropped {
        /// As counters name it.
        reason: Cow<'static, str>,
        why: Cow<'static, str>,
        /// What marked it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<Cause>,
    },
}

/// A place in the source.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Location {
    pub file: String,
    pub line: u32,
}

/// A statement and where it stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cause {
    pub text: String,
    pub at: Location,
}

/// An entry of a table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// By key, as cases write them: `0x0a`, `0x20010db8/32`, `0x0a&&&0xff`, `1..5`, `*`.
    pub keys: Vec<Matched>,
    /// 0 in tables without priorities.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub priority: u32,
    /// From the program.
    #[serde(rename = "const", default, skip_serializing_if = "is_false")]
    pub is_const: bool,
    /// The member of the action profile that it names, or that was chosen from its group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub member: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<u32>,
}

/// What an entry has for one key.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Matched {
    pub name: String,
    #[serde(rename = "match")]
    pub text: String,
}

/// A value; in JSON a string in hexadecimal, since JSON's own numbers are too short.
#[derive(Debug, Clone, PartialEq)]
pub struct Number(pub BigUint);

/// A value with the name of its key, field or parameter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Named {
    pub name: String,
    pub value: Number,
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

fn is_false(truth: &bool) -> bool {
    !truth
}

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<str>::deserialize(deserializer)?;
        let digits = text.strip_prefix("0x").unwrap_or(&text);
        let value = BigUint::parse_bytes(digits.as_bytes(), 16);
        value.map(Self).ok_or_else(|| serde::de::Error::custom(format!("'{text}' is not a hexadecimal number")))
    }
}

impl From<u128> for Number {
    fn from(value: u128) -> Self {
        Self(value.into())
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.name, self.value)
    }
}

impl fmt::Display for Matched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.name, self.text)
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "entry {}", List(&self.keys, " "))?;
        if self.priority != 0 {
            write!(f, " priority {}", self.priority)?;
        }
        if let Some(group) = self.group {
            write!(f, " group {group}")?;
        }
        if let Some(member) = self.member {
            write!(f, " member {member}")?;
        }
        if self.is_const { f.write_str(", of the program") } else { Ok(()) }
    }
}

/// One line, without what an [`Event::Lookup`] says of its entry.
impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Event::Received { port, bytes } => write!(f, "received {bytes} bytes at port {port}"),
            Event::Block { name } => write!(f, "{name}:"),
            Event::State { name, at } => write!(f, "state {name}  ({at})"),
            Event::Statement { text, at } => write!(f, "{text}  ({at})"),
            Event::Condition { text, at, outcome: Some(outcome) } => write!(f, "({text}) is {outcome}  ({at})"),
            Event::Condition { text, at, outcome: None } => write!(f, "({text}) decides  ({at})"),
            Event::Table { name, at } => write!(f, "table {name}  ({at})"),
            Event::Lookup { keys, selector, hit, action, args, .. } => {
                match keys.is_empty() {
                    true => f.write_str("no key")?,
                    false => write!(f, "key {}", List(keys, " "))?,
                }
                if !selector.is_empty() {
                    write!(f, " selector {}", List(selector, " "))?;
                }
                let outcome = if *hit { "hit" } else { "miss" };
                match action {
                    Some(action) => write!(f, ": {outcome}, {action}({})", List(args, ", ")),
                    None => write!(f, ": {outcome}, no action"),
                }
            }
            Event::Action { name, at } => write!(f, "action {name}  ({at})"),
            Event::ActionEnd => f.write_str("end of the action"),
            Event::Extract { header, peek, fields, error } => {
                let verb = if *peek { "look at" } else { "extract" };
                match error {
                    Some(error) => write!(f, "{verb} {header}: {error}"),
                    None => write!(f, "{verb} {header}: {}", List(fields, " ")),
                }
            }
            Event::Advance { bits, error: None } => write!(f, "advance {bits} bits"),
            Event::Advance { bits, error: Some(error) } => write!(f, "advance {bits} bits: {error}"),
            Event::Emit { header, valid: true, fields } => write!(f, "emit {header}: {}", List(fields, " ")),
            Event::Emit { header, valid: false, .. } => write!(f, "skip {header}, which is not valid"),
            Event::Store { place, value } => write!(f, "{place} = {value}"),
            Event::Call { name, object, args, result } => {
                if let Some(object) = object {
                    write!(f, "{object}: ")?;
                }
                write!(f, "{name}({})", List(args, ", "))?;
                result.as_ref().map_or(Ok(()), |result| write!(f, " -> {result}"))
            }
            Event::ParserError { error } => write!(f, "parser error {error}"),
            Event::Log { text } => write!(f, "log: {text}"),
            Event::AssertFailed { text } => write!(f, "failed: {text}"),
            Event::Copied { reason, port: Some(port), .. } => write!(f, "{reason} to port {port}"),
            Event::Copied { reason, port: None, .. } => write!(f, "{reason}"),
            Event::NoCloneSession { session } => write!(f, "no copy: there is no clone session {session}"),
            Event::Sent { port, bytes, lost: None } => write!(f, "sent {bytes} bytes at port {port}"),
            Event::Sent { port, bytes, lost: Some(why) } => write!(f, "lost {bytes} bytes at port {port}: {why}"),
            Event::Dropped { why, by: None, .. } => write!(f, "dropped: {why}"),
            Event::Dropped { why, by: Some(by), .. } => write!(f, "dropped: {why}: {}  ({})", by.text, by.at),
        }
    }
}

/// Items with a separator between.
struct List<'a, T>(&'a [T], &'static str);

impl<T: fmt::Display> fmt::Display for List<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, item) in self.0.iter().enumerate() {
            if i > 0 {
                f.write_str(self.1)?;
            }
            item.fmt(f)?;
        }
        Ok(())
    }
}
