//! One report a second of what repeats with every packet.

use std::collections::BTreeMap;
use std::net::Ipv6Addr;

use crate::units::SECOND;

/// Destinations that are remembered at a time.
const MAX_DESTINATIONS: usize = 256;

/// When something about a destination was told last, and how often it happened since.
#[derive(Default)]
pub struct Throttle {
    told: BTreeMap<(&'static str, Ipv6Addr), (u64, u64)>,
}

impl Throttle {
    /// Whether to tell it now: how many were held back since the last time.
    pub fn tell(&mut self, kind: &'static str, destination: Ipv6Addr, now: u64) -> Option<u64> {
        if let Some((last, held_back)) = self.told.get_mut(&(kind, destination)) {
            if now < *last + SECOND {
                *held_back += 1;
                return None;
            }
            *last = now;
            return Some(std::mem::take(held_back));
        }
        if self.told.len() == MAX_DESTINATIONS {
            self.told.clear();
        }
        self.told.insert((kind, destination), (now, 0));
        Some(0)
    }
}
