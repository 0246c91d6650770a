//! Probes of the tail (RFC 8985, section 7).

use super::super::scoreboard::Sent;
use super::Sender;
use super::acknowledgement::Acknowledgement;
use super::timers::Timer;

/// A probe of the tail under way.
pub(super) struct Probe {
    end: u64,
    /// It repeats the last segment.
    repeats: bool,
}

impl Sender {
    pub(super) fn probe_tail(&mut self, now: u64) {
        self.timer = Some((now + self.rtt.timeout(), Timer::Retransmit));
        let repeats = self.new_range(true, now).is_none();
        if repeats {
            // Taken for lost so that it is sent again; nothing else is.
            let start =
                self.board.last().map_or(self.una, |last| last.end.saturating_sub(self.mss as u64).max(last.start));
            self.board.split_at(start);
            self.board.lose(|sent| sent.start == start);
        }
        self.probe = Some(Probe { end: self.next, repeats });
        self.forced = true;
    }

    pub(super) fn is_repeated_by_probe(&self, sent: &Sent) -> bool {
        self.probe.as_ref().is_some_and(|probe| probe.repeats && probe.end == sent.end)
    }

    /// Ends the episode of a probe (RFC 8985, section 7.4).
    pub(super) fn end_probe(&mut self, said: &Acknowledgement, advances: bool, in_vain: bool) {
        let Some(probe) = self.probe.as_ref().filter(|probe| said.up_to >= probe.end) else {
            return;
        };
        let mended = probe.repeats && !in_vain && said.up_to > probe.end;
        if !probe.repeats || in_vain || mended || !advances {
            self.probe = None;
        }
        if mended {
            // The probe repaired a loss that nobody else saw.
            self.window.reduce();
            self.window.set(self.window.threshold);
        }
    }
}
