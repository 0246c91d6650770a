//! A trace as text: a line for each step, further in what belongs to it.

use std::collections::HashMap;
use std::fmt::Write;

use runtime::trace::Event;

use crate::tree::{Node, Trace};

/// A copy of a copy stands further in, down to here: a packet may go round a thousand times.
const DEEPEST: usize = 16;

/// A state or statement of a loop is told so many times; later turns are only counted. The JSON has them.
const MOST_TURNS: usize = 32;

/// Whether the text has colours, as terminals have them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colour {
    Never,
    Always,
}

pub fn text(trace: &Trace, colour: Colour) -> String {
    let mut writer = Writer { trace, colour, out: String::new() };
    writer.packet(0, 0);
    if trace.left_out > 0 {
        writer.line(0, "", &format!("{} more steps are left out", trace.left_out));
    }
    writer.out
}

struct Writer<'t> {
    trace: &'t Trace,
    colour: Colour,
    out: String,
}

impl Writer<'_> {
    fn packet(&mut self, number: u32, depth: usize) {
        if let Some(packet) = self.trace.packet(number) {
            packet.steps.iter().for_each(|node| self.node(node, depth));
        }
    }

    fn node(&mut self, node: &Node, depth: usize) {
        let line = node.event.to_string();
        self.line(depth, colour(&node.event), &line);
        if let Event::Lookup { entry: Some(entry), .. } = &node.event {
            self.line(depth + 1, "", &entry.to_string());
        }
        self.inside(&node.steps, depth + 1);
        if let Event::Copied { packet, .. } = node.event {
            self.packet(packet, (depth + 1).min(DEEPEST));
        }
    }

    /// What belongs to a step.
    fn inside(&mut self, nodes: &[Node], depth: usize) {
        let mut turns: HashMap<String, usize> = HashMap::new();
        let mut skipped = 0;
        for node in nodes {
            // A program may try a hundred headers; the JSON has them.
            if matches!(node.event, Event::Emit { valid: false, .. }) {
                continue;
            }
            let turn = turns.entry(node.event.to_string()).or_default();
            *turn += 1;
            if *turn > MOST_TURNS {
                skipped += 1;
                continue;
            }
            self.skipped(&mut skipped, depth);
            self.node(node, depth);
        }
        self.skipped(&mut skipped, depth);
    }

    fn skipped(&mut self, steps: &mut usize, depth: usize) {
        if *steps > 0 {
            self.line(depth, "", &format!("... and so on, {steps} steps"));
            *steps = 0;
        }
    }

    fn line(&mut self, depth: usize, colour: &str, text: &str) {
        let indent = "  ".repeat(depth);
        // Writing to a String cannot fail.
        let _ = match self.colour {
            Colour::Always if !colour.is_empty() => writeln!(self.out, "{indent}\x1b[{colour}m{text}\x1b[0m"),
            _ => writeln!(self.out, "{indent}{text}"),
        };
    }
}

/// What is looked for stands out: where the packet came and went, what tables said.
fn colour(event: &Event) -> &'static str {
    match event {
        Event::Received { .. } | Event::Copied { .. } => "1",
        Event::Block { .. } => "1;34",
        Event::State { .. } | Event::Table { .. } => "36",
        Event::Lookup { hit: true, .. } | Event::Sent { lost: None, .. } => "32",
        Event::Lookup { hit: false, .. } => "33",
        Event::Dropped { .. }
        | Event::Sent { lost: Some(_), .. }
        | Event::AssertFailed { .. }
        | Event::ParserError { .. }
        | Event::NoCloneSession { .. } => "31",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use runtime::trace::{Location, Step};

    use super::*;

    fn trace() -> Trace {
        let event = |packet, event| Step { packet, event };
        let steps = vec![
            event(0, Event::Received { port: 1, bytes: 60 }),
            event(0, Event::Block { name: "ingress".into() }),
            event(0, Event::Copied { reason: "replica".into(), port: Some(2), packet: 1 }),
            event(0, Event::Copied { reason: "replica".into(), port: Some(3), packet: 2 }),
            event(1, Event::Block { name: "egress".into() }),
            event(1, Event::Sent { port: 2, bytes: 60, lost: None }),
            event(2, Event::Sent { port: 3, bytes: 60, lost: Some("there is no such port".into()) }),
        ];
        Trace::new(0, 1, &[], steps, 3)
    }

    #[test]
    fn copies_stand_below_what_made_them() {
        let expected = "\
received 60 bytes at port 1
ingress:
replica to port 2
  egress:
  sent 60 bytes at port 2
replica to port 3
  lost 60 bytes at port 3: there is no such port
3 more steps are left out
";
        assert_eq!(text(&trace(), Colour::Never), expected);
    }

    #[test]
    fn a_loop_is_told_for_some_turns_and_then_counted() {
        let at = || Location { file: "a.p4".into(), line: 7 };
        let state = |name: &str| Step { packet: 0, event: Event::State { name: name.into(), at: at() } };
        let mut steps = vec![state("start")];
        steps.extend((0..1000).map(|_| state("hop")));
        steps.push(Step { packet: 0, event: Event::ParserError { error: "ParserTimeout".into() } });
        steps.insert(0, Step { packet: 0, event: Event::Block { name: "parser".into() } });
        let told = text(&Trace::new(0, 1, &[], steps, 0), Colour::Never);
        assert_eq!(told.matches("state hop").count(), MOST_TURNS);
        assert!(told.ends_with("  ... and so on, 968 steps\n  parser error ParserTimeout\n"), "{told}");
    }

    #[test]
    fn colours_are_for_terminals() {
        assert!(text(&trace(), Colour::Always).contains("\x1b[32msent 60 bytes at port 2\x1b[0m\n"));
        assert!(!text(&trace(), Colour::Never).contains('\x1b'));
    }
}
