//! What a packet met on its way, step by step: the events that `trace` prints, as text (`Display`) or JSON (`Serialize`).

use std::fmt;
use std::sync::mpsc::Sender;

use num_bigint::BigUint;
use serde::{Serialize, Serializer};

/// Receives the events of one packet, in order.
pub trait Trace: Send {
    fn event(&mut self, event: Event);
}

/// Events go to whoever holds the other end; once that is gone they are dropped.
impl Trace for Sender<Event> {
    fn event(&mut self, event: Event) {
        let _ = self.send(event);
    }
}

/// One step.
#[derive(Debug, Clone, PartialEq, Serialize)]
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
        #[serde(skip_serializing_if = "Option::is_none")]
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
        #[serde(skip_serializing_if = "Vec::is_empty")]
        selector: Vec<Number>,
        hit: bool,
        /// None when nothing matched and the table has no default action.
        action: Option<String>,
        args: Vec<Named>,
    },
    /// The code of an action starts.
    Action {
        name: String,
        at: Location,
    },
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
        name: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        object: Option<String>,
        args: Vec<Number>,
        #[serde(skip_serializing_if = "Option::is_none")]
        result: Option<Number>,
    },
    Log {
        text: String,
    },
    AssertFailed {
        text: String,
    },
    /// The traffic manager made a copy: `clone`, `multicast`, `resubmit` or `recirculate`.
    Copied {
        reason: &'static str,
        port: u32,
    },
    Sent {
        port: u32,
        bytes: usize,
    },
    Dropped {
        reason: &'static str,
    },
}

/// A place in the source.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Location {
    pub file: String,
    pub line: u32,
}

/// A value; in JSON a string in hexadecimal, since JSON's own numbers are too short.
#[derive(Debug, Clone, PartialEq)]
pub struct Number(pub BigUint);

/// A value with the name of its key, field or parameter.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Named {
    pub name: String,
    pub value: Number,
}

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
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

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Event::Received { port, bytes } => write!(f, "received {bytes} bytes at port {port}"),
            Event::Block { name } => write!(f, "{name}:"),
            Event::State { name, at } => write!(f, "  state {name}  ({at})"),
            Event::Statement { text, at } => write!(f, "  {text}  ({at})"),
            Event::Condition { text, at, outcome: Some(outcome) } => write!(f, "  ({text}) is {outcome}  ({at})"),
            Event::Condition { text, at, outcome: None } => write!(f, "  ({text}) decides  ({at})"),
            Event::Table { name, at } => write!(f, "  table {name}  ({at})"),
            Event::Lookup { keys, selector, hit, action, args, .. } => {
                write!(f, "    key {}", List(keys, " "))?;
                if !selector.is_empty() {
                    write!(f, " selector {}", List(selector, " "))?;
                }
                let outcome = if *hit { "hit" } else { "miss" };
                match action {
                    Some(action) => write!(f, ": {outcome}, {action}({})", List(args, ", ")),
                    None => write!(f, ": {outcome}, no action"),
                }
            }
            Event::Action { name, at } => write!(f, "  action {name}  ({at})"),
            Event::Extract { header, peek, fields, error } => {
                let verb = if *peek { "look at" } else { "extract" };
                match error {
                    Some(error) => write!(f, "    {verb} {header}: {error}"),
                    None => write!(f, "    {verb} {header}: {}", List(fields, " ")),
                }
            }
            Event::Advance { bits, error: None } => write!(f, "    advance {bits} bits"),
            Event::Advance { bits, error: Some(error) } => write!(f, "    advance {bits} bits: {error}"),
            Event::Emit { header, valid: true, fields } => write!(f, "    emit {header}: {}", List(fields, " ")),
            Event::Emit { header, valid: false, .. } => write!(f, "    skip {header}, which is not valid"),
            Event::Store { place, value } => write!(f, "    {place} = {value}"),
            Event::Call { name, object, args, result } => {
                write!(f, "    ")?;
                if let Some(object) = object {
                    write!(f, "{object}: ")?;
                }
                write!(f, "{name}({})", List(args, ", "))?;
                result.as_ref().map_or(Ok(()), |result| write!(f, " -> {result}"))
            }
            Event::Log { text } => write!(f, "    log: {text}"),
            Event::AssertFailed { text } => write!(f, "    failed: {text}"),
            Event::Copied { reason, port } => write!(f, "{reason} to port {port}"),
            Event::Sent { port, bytes } => write!(f, "sent {bytes} bytes at port {port}"),
            Event::Dropped { reason } => write!(f, "dropped: {reason}"),
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
