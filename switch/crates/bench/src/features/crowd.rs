//! Packets of many sessions or flows: for each it is drawn whose it is.

use std::cell::Cell;

use anyhow::{Result, ensure};
use fastrand::Rng;
use pipeline::{Engine, Loaded, Traffic};

use crate::forwarding::{BURST, Last};

/// Draws of members, in turn: more than the caches hold of what a million need.
const DRAWN: usize = 1 << 18;
/// Members between two looks at the clock.
const PIECE: usize = 1 << 12;
/// Nanoseconds from one packet to the next by the switch's clock: about as fast as it forwards.
const INTERVAL: u64 = 400;
pub const BEGIN: u64 = 1_000_000_000;
/// So many members' packets are looked at, whether they leave.
const LOOKED_AT: u64 = 100;

/// A packet of any member: what is written into it says whose it is, and which of its packets.
pub struct Template {
    pub port: u32,
    pub bytes: Vec<u8>,
    pub write: fn(packet: &mut [u8], member: u64, turn: u64),
}

/// A program with the entries of members 1 to `members`, and the packets of one.
pub struct Crowd {
    pub loaded: Loaded,
    pub members: u32,
    pub templates: Vec<Template>,
    /// Registers have times, so it goes on from one engine to the next.
    clock: Cell<u64>,
}

impl Crowd {
    pub fn new(loaded: Loaded, members: u32, templates: Vec<Template>) -> Self {
        Self { loaded, members, templates, clock: Cell::new(BEGIN) }
    }

    /// Draws whose turn it is.
    pub fn draw(&self, numbers: &mut Rng) -> Vec<u32> {
        (0..DRAWN).map(|_| numbers.u32(1..=self.members)).collect()
    }

    pub fn engine<'a>(&'a self, traffic: &'a mut Traffic) -> Engine<'a> {
        Engine::new(&self.loaded, traffic, 1)
    }

    /// The ports by which the packets of some members leave; all of them must.
    pub fn ports(&self) -> Result<Vec<u32>> {
        let mut traffic = Traffic::default();
        let mut engine = self.engine(&mut traffic);
        let mut ports = vec![];
        let looked_at = LOOKED_AT.min(self.members.into());
        for turn in 0..looked_at {
            // From one end of the members to the other.
            let member = 1 + turn * u64::from(self.members) / looked_at;
            for template in &self.templates {
                let mut packet = template.bytes.clone();
                (template.write)(&mut packet, member, turn);
                let mut last = Last::default();
                engine.receive(template.port, &packet, BEGIN, &mut last);
                ensure!(last != Last::default(), "a packet of {member} does not leave: {packet:02x?}");
                ports.push(last.port);
            }
        }
        Ok(ports)
    }

    /// All packets of one member, then those of the next that was drawn.
    pub fn work<'a>(&'a self, engine: &'a mut Engine<'_>, drawn: &'a [u32]) -> impl FnMut() -> u64 + 'a {
        let mut packets: Vec<Vec<u8>> = self.templates.iter().map(|template| template.bytes.clone()).collect();
        let (mut turn, mut at) = (0, 0);
        let of_each = self.templates.len();
        move || {
            let mut last = Last::default();
            for burst in drawn[at..at + PIECE].chunks(BURST / of_each) {
                let now = self.clock.get() + INTERVAL * (burst.len() * of_each) as u64;
                self.clock.set(now);
                for member in burst {
                    for (template, packet) in self.templates.iter().zip(&mut packets) {
                        (template.write)(packet, (*member).into(), turn);
                        engine.receive(template.port, packet, now, &mut last);
                    }
                    turn += 1;
                }
            }
            at = (at + PIECE) % drawn.len();
            (PIECE * of_each) as u64
        }
    }
}
