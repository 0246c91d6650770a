//! The steps of a packet as a tree: blocks have states and statements, these have what they did.

use std::collections::BTreeMap;

use runtime::trace::{Event, Step};
use serde::{Deserialize, Serialize};

/// What became of one packet that was received.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trace {
    /// Nanoseconds on the switch's clock.
    pub at: u64,
    pub port: u32,
    /// In hexadecimal, as it came in.
    pub bytes: String,
    /// The packet itself, then its copies, in the order in which they were made.
    pub packets: Vec<Packet>,
    /// Steps that there was no room for.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub left_out: u64,
}

/// The packet or one of its copies.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Packet {
    /// 0 is the one that was received; a `copied` step has the number of another one.
    pub packet: u32,
    pub steps: Vec<Node>,
}

/// A step with what belongs to it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Node {
    #[serde(flatten)]
    pub event: Event,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<Node>,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Trace {
    pub fn new(at: u64, port: u32, bytes: &[u8], steps: Vec<Step>, left_out: u64) -> Self {
        let mut packets: BTreeMap<u32, Growing> = BTreeMap::new();
        for step in steps {
            packets.entry(step.packet).or_default().add(step.event);
        }
        let packets = packets.into_iter().map(|(packet, growing)| Packet { packet, steps: growing.finish() }).collect();
        Self { at, port, bytes: bytes.iter().map(|byte| format!("{byte:02x}")).collect(), packets, left_out }
    }

    pub fn packet(&self, number: u32) -> Option<&Packet> {
        self.packets.iter().find(|packet| packet.packet == number)
    }
}

/// How far out a step stands; what is further in belongs to the step before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Packet,
    Block,
    State,
    Statement,
    /// The code of an action, inside the table that applied it.
    Action,
    Effect,
}

fn level(event: &Event) -> Level {
    match event {
        Event::Received { .. }
        | Event::Copied { .. }
        | Event::NoCloneSession { .. }
        | Event::Sent { .. }
        | Event::Dropped { .. } => Level::Packet,
        Event::Block { .. } => Level::Block,
        Event::State { .. } | Event::ParserError { .. } => Level::State,
        Event::Statement { .. } | Event::Condition { .. } | Event::Table { .. } => Level::Statement,
        Event::Action { .. } | Event::ActionEnd => Level::Action,
        _ => Level::Effect,
    }
}

/// A tree while steps are added.
#[derive(Default)]
struct Growing {
    done: Vec<Node>,
    /// From the outermost step to the one that the next may belong to.
    open: Vec<Node>,
}

impl Growing {
    fn add(&mut self, event: Event) {
        let level = level(&event);
        if level == Level::Action {
            // Statements of an action run inside it, and so does what else it applies; then its table goes on.
            if event == Event::ActionEnd {
                while let Some(ended) = self.close()
                    && ended != Level::Action
                {}
                return;
            }
            self.close_while(|open| open > Level::Statement);
        } else if level == Level::Statement {
            self.close_while(|open| open == Level::Statement || open == Level::Effect);
        } else {
            // Nothing is inside of where a packet came in or went.
            self.close_while(|open| open >= level || open == Level::Packet);
        }
        self.open.push(Node { event, steps: Vec::new() });
    }

    /// Closes the innermost step; answers its level.
    fn close(&mut self) -> Option<Level> {
        let node = self.open.pop()?;
        let closed = level(&node.event);
        match self.open.last_mut() {
            Some(outer) => outer.steps.push(node),
            None => self.done.push(node),
        }
        Some(closed)
    }

    fn close_while(&mut self, inside: impl Fn(Level) -> bool) {
        while self.open.last().is_some_and(|open| inside(level(&open.event))) {
            self.close();
        }
    }

    fn finish(mut self) -> Vec<Node> {
        while self.close().is_some() {}
        self.done
    }
}

#[cfg(test)]
mod tests {
    use runtime::trace::Location;

    use super::*;

    fn at() -> Location {
        Location { file: "main.p4".into(), line: 1 }
    }

    fn table(name: &str) -> Event {
        Event::Table { name: name.into(), at: at() }
    }

    fn action(name: &str) -> Event {
        Event::Action { name: name.into(), at: at() }
    }

    fn statement(text: &str) -> Event {
        Event::Statement { text: text.into(), at: at() }
    }

    /// The tree as names with what is inside in brackets.
    fn outline(nodes: &[Node]) -> String {
        let name = |node: &Node| match &node.event {
            Event::Block { name } | Event::Table { name, .. } | Event::Action { name, .. } => name.clone(),
            Event::Statement { text, .. } | Event::Log { text } => text.clone(),
            event => event.to_string(),
        };
        let each = |node: &Node| match node.steps.is_empty() {
            true => name(node),
            false => format!("{}[{}]", name(node), outline(&node.steps)),
        };
        nodes.iter().map(each).collect::<Vec<_>>().join(" ")
    }

    fn trace(events: Vec<Event>) -> Trace {
        let steps = events.into_iter().map(|event| Step { packet: 0, event }).collect();
        Trace::new(1, 2, &[0xab], steps, 0)
    }

    #[test]
    fn an_action_is_inside_its_table_and_ends() {
        let log = |text: &str| Event::Log { text: text.into() };
        let steps = vec![
            Event::Block { name: "ingress".into() },
            table("t"),
            log("key"),
            action("a"),
            statement("x = 1;"),
            log("x"),
            statement("y = 2;"),
            Event::ActionEnd,
            statement("after"),
            table("u"),
            action("b"),
            Event::Block { name: "egress".into() },
            statement("last"),
        ];
        let trace = trace(steps);
        let tree = outline(&trace.packets[0].steps);
        assert_eq!(tree, "ingress[t[key a[x = 1;[x] y = 2;]] after u[b]] egress[last]");
    }

    #[test]
    fn json_is_read_back() {
        let trace = trace(vec![
            Event::Received { port: 2, bytes: 1 },
            Event::Block { name: "parser".into() },
            Event::Store { place: "x".into(), value: 7.into() },
            Event::Dropped { reason: "ingress".into(), why: "marked".into(), by: None },
        ]);
        let json = serde_json::to_string(&trace).unwrap();
        assert_eq!(serde_json::from_str::<Trace>(&json).unwrap(), trace, "{json}");
        assert!(json.contains(r#"{"event":"store","place":"x","value":"0x7"}"#), "{json}");
    }
}
