//! The way of a packet as a picture (SVG): its states and tables from top to bottom, a column for each copy.

use std::fmt::Write;

use runtime::trace::{Event, Location};

use crate::tree::{Node, Trace};

const WIDTH: usize = 380;
const GAP: usize = 40;
const ROW: usize = 44;
const MARGIN: usize = 16;
/// Letters that a box has room for.
const TITLE: usize = 44;
const DETAIL: usize = 60;
/// Columns, and boxes of a column: a program that loops must not draw for ever.
const MOST_COLUMNS: usize = 32;
const MOST_BOXES: usize = 500;

/// A picture that browsers show; it needs nothing besides.
pub fn picture(trace: &Trace) -> String {
    let mut picture = Picture { trace, body: String::new(), columns: 0, height: 0 };
    picture.column(0, MARGIN, None);
    let (width, height) = (picture.columns * (WIDTH + GAP) - GAP + 2 * MARGIN, picture.height + MARGIN);
    let body = picture.body;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"sans-serif\">\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n{body}</svg>\n"
    )
}

struct Picture<'t> {
    trace: &'t Trace,
    body: String,
    columns: usize,
    height: usize,
}

/// What is drawn of a step.
struct Card {
    title: String,
    detail: String,
    fill: &'static str,
}

impl Picture<'_> {
    /// Draws a packet; `from` is where the step stands that made it.
    fn column(&mut self, number: u32, top: usize, from: Option<(usize, usize)>) {
        let Some(packet) = self.trace.packet(number) else { return };
        if self.columns == MOST_COLUMNS {
            return;
        }
        let x = MARGIN + self.columns * (WIDTH + GAP);
        self.columns += 1;
        if let Some((from_x, y)) = from {
            self.line(from_x, y, x, y, " stroke-dasharray=\"4 3\"");
        }
        let mut cards = vec![];
        collect(&packet.steps, &mut cards);
        let left_out = cards.len().saturating_sub(MOST_BOXES);
        cards.truncate(MOST_BOXES);
        let mut y = top;
        for (index, (card, copy)) in cards.iter().enumerate() {
            if index > 0 {
                self.line(x + WIDTH / 2, y - 8, x + WIDTH / 2, y, "");
            }
            self.card(x, y, card);
            if let Some(copy) = copy {
                self.column(*copy, y, Some((x + WIDTH, y + (ROW - 8) / 2)));
            }
            y += ROW;
        }
        if left_out > 0 {
            let _ = writeln!(self.body, "<text x=\"{x}\" y=\"{}\" font-size=\"12\">{left_out} more</text>", y + 8);
            y += ROW;
        }
        self.height = self.height.max(y);
    }

    // Writing to a String cannot fail.

    fn line(&mut self, x1: usize, y1: usize, x2: usize, y2: usize, style: &str) {
        let _ =
            writeln!(self.body, "<line x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\" stroke=\"#667788\"{style}/>");
    }

    fn card(&mut self, x: usize, y: usize, card: &Card) {
        let Card { title, detail, fill } = card;
        let (height, text_x) = (ROW - 8, x + 10);
        let (shown_title, shown_detail) = (cut(title, TITLE), cut(detail, DETAIL));
        let _ = writeln!(
            self.body,
            "<g><title>{}\n{}</title><rect x=\"{x}\" y=\"{y}\" width=\"{WIDTH}\" height=\"{height}\" rx=\"5\" \
             fill=\"{fill}\" stroke=\"#667788\"/><text x=\"{text_x}\" y=\"{}\" font-size=\"13\" \
             font-weight=\"bold\">{shown_title}</text><text x=\"{text_x}\" y=\"{}\" font-size=\"11\">{shown_detail}</text></g>",
            escape(title),
            escape(detail),
            y + 15,
            y + 29,
        );
    }
}

/// The steps that are drawn, each with the copy that it made.
fn collect(nodes: &[Node], cards: &mut Vec<(Card, Option<u32>)>) {
    for node in nodes {
        if let Some(card) = card(node) {
            let copy = match node.event {
                Event::Copied { packet, .. } => Some(packet),
                _ => None,
            };
            cards.push((card, copy));
        }
        collect(&node.steps, cards);
    }
}

fn card(node: &Node) -> Option<Card> {
    let card = |title: String, detail: String, fill| Some(Card { title, detail, fill });
    match &node.event {
        Event::Received { .. } => card(node.event.to_string(), String::new(), "#dde8f7"),
        Event::Copied { .. } => card(node.event.to_string(), String::new(), "#ece4f6"),
        Event::Block { name } => card(name.clone(), String::new(), "#f2f2f2"),
        Event::State { name, at } => card(format!("state {name}"), place(at), "#ffffff"),
        Event::Table { name, at } => {
            let lookup = node.steps.iter().find_map(|inside| match &inside.event {
                Event::Lookup { table, hit, action, .. } => Some((table, hit, action)),
                _ => None,
            });
            match lookup {
                None => card(format!("table {name}"), place(at), "#ffffff"),
                Some((table, hit, action)) => {
                    let action = action.as_deref().unwrap_or("no action");
                    let (outcome, fill) = if *hit { ("hit", "#e0f3e0") } else { ("miss", "#fdf3d8") };
                    card(format!("table {table}"), format!("{outcome}: {action}  ({})", place(at)), fill)
                }
            }
        }
        Event::Sent { port, bytes, lost: None } => {
            card(format!("sent at port {port}"), format!("{bytes} bytes"), "#bfe8bf")
        }
        Event::Sent { port, lost: Some(why), .. } => card(format!("lost at port {port}"), why.to_string(), "#f7d4d4"),
        Event::Dropped { why, by, .. } => {
            let by = by.as_ref().map_or_else(String::new, |by| format!("{}  ({})", by.text, place(&by.at)));
            card(format!("dropped: {why}"), by, "#f7d4d4")
        }
        Event::AssertFailed { .. } | Event::NoCloneSession { .. } | Event::ParserError { .. } => {
            card(node.event.to_string(), String::new(), "#f7d4d4")
        }
        _ => None,
    }
}

fn place(at: &Location) -> String {
    at.to_string()
}

/// The text as far as there is room, for XML.
fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return escape(text);
    }
    let start: String = text.chars().take(most - 1).collect();
    format!("{}\u{2026}", escape(&start))
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use runtime::trace::{Cause, Step};

    use super::*;

    #[test]
    fn each_copy_has_a_column() {
        let at = || Location { file: "main.p4".into(), line: 7 };
        let steps = vec![
            Step { packet: 0, event: Event::Received { port: 1, bytes: 60 } },
            Step { packet: 0, event: Event::State { name: "a<b".into(), at: at() } },
            Step { packet: 0, event: Event::Copied { reason: "clone from ingress".into(), port: None, packet: 1 } },
            Step { packet: 1, event: Event::Sent { port: 2, bytes: 60, lost: None } },
            Step {
                packet: 0,
                event: Event::Dropped {
                    reason: "ingress".into(),
                    why: "marked".into(),
                    by: Some(Cause { text: "mark_to_drop(m);".into(), at: at() }),
                },
            },
        ];
        let svg = picture(&Trace::new(0, 1, &[], steps, 0));
        assert_eq!(svg.matches("<rect x=").count(), 5);
        assert!(svg.contains("state a&lt;b") && svg.contains("mark_to_drop(m);  (main.p4:7)"), "{svg}");
        let second = MARGIN + WIDTH + GAP;
        assert!(svg.contains(&format!("<rect x=\"{second}\"")), "{svg}");
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
    }
}
