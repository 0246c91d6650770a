//! Undoes what was taken for a loss and was none: by timestamps (Eifel, RFC 4015), or by the duplicates that the receiver
//! tells (RFC 3708).

use super::super::congestion::Window;
use super::super::segment::Timestamps;
use super::Sender;
use super::acknowledgement::Acknowledgement;
use super::recovery::Phase;

/// How things were before a loss, in case it was none.
pub(super) struct Undo {
    window: Window,
    from: u64,
    /// The timestamp of the first retransmission.
    pub(super) stamp: Option<u32>,
    /// Retransmissions of which the receiver has not said that they were in vain.
    pub(super) resent: u32,
}

impl Sender {
    pub(super) fn save(&mut self) {
        self.undo = Some(Undo { window: self.window.clone(), from: self.una, stamp: None, resent: 0 });
    }

    /// Whether the first block tells of octets that came twice (RFC 2883, section 4).
    pub(super) fn told_duplicate(&mut self, said: &Acknowledgement) -> bool {
        let Some(first) = said.blocks.first().filter(|_| self.sack) else {
            return false;
        };
        let within = said.blocks.get(1).is_some_and(|second| second.start <= first.start && first.end <= second.end);
        let told = first.start < said.up_to || within;
        if told {
            self.rack.duplicate_told(self.una, self.next);
            if let Some(undo) = self.undo.as_mut().filter(|undo| first.start >= undo.from) {
                undo.resent = undo.resent.saturating_sub(1);
            }
        }
        told
    }

    /// Takes back what was done about a loss that was none.
    pub(super) fn undo_if_in_vain(&mut self, said: &Acknowledgement, advances: bool, in_vain: bool) {
        let Some(undo) = &self.undo else { return };
        let Some(stamp) = undo.stamp else { return };
        let echoes_older = |stamps: Timestamps| stamps.echo.wrapping_sub(stamp).cast_signed() < 0;
        let eifel = advances && self.phase != Phase::Open && said.timestamps.is_some_and(echoes_older);
        if !(eifel || in_vain && undo.resent == 0) {
            return;
        }
        if let Some(undo) = self.undo.take() {
            let size = self.window.size.max(undo.window.size);
            self.window = undo.window;
            self.window.set(size);
        }
        self.board.find();
        self.phase = Phase::Open;
        self.duplicates = 0;
    }
}
