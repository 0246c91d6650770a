//! A trace as text: a line for each step, further in what belongs to it.

use std::fmt::Write;

use runtime::trace::Event;

use crate::tree::{Node, Trace};

/// A copy of a copy stands further in, down to here: a packet may go round a thousand times.
const DEEPEST: usize = 16;

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
            self.nodes(&packet.steps, depth);
        }
    }

    fn nodes(&mut self, nodes: &[Node], depth: usize) {
        for node in nodes {
            // A program may try a hundred headers; the JSON has them.
            if matches!(node.event, Event::Emit { valid: false, .. }) {
                continue;
            }
            self.line(depth, colour(&node.event), &node.event.to_string());
            if let Event::Lookup { entry: Some(entry), .. } = &node.event {
                self.line(depth + 1, "", &entry.to_string());
            }
            self.nodes(&node.steps, depth + 1);
            if let Event::Copied { packet, .. } = node.event {
                self.packet(packet, (depth + 1).min(DEEPEST));
            }
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
        | Event::NoCloneSession { .. } => "31",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use runtime::trace::Step;

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
    fn colours_are_for_terminals() {
        assert!(text(&trace(), Colour::Always).contains("\x1b[32msent 60 bytes at port 2\x1b[0m\n"));
        assert!(!text(&trace(), Colour::Never).contains('\x1b'));
    }
}
