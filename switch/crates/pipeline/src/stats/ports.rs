//! What is counted by port.

use std::collections::BTreeMap;

/// Ports below have a place of their own in an array: all that v1model's nine bits can name.
const IN_ARRAY: usize = 512;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PortStats {
    pub received_packets: u64,
    pub received_bytes: u64,
    pub sent_packets: u64,
    pub sent_bytes: u64,
}

/// Counts of ports that packets came in by or left by.
#[derive(Debug, Clone, Default)]
pub struct Ports {
    /// By number, as far as the highest below [`IN_ARRAY`] that was asked for.
    array: Vec<PortStats>,
    /// Those of higher numbers: PSA's of the controller and of recirculation, or what an operator chose.
    others: BTreeMap<u32, PortStats>,
}

impl Ports {
    /// The counts of a port, to change.
    #[inline]
    pub fn of(&mut self, port: u32) -> &mut PortStats {
        let index = port as usize;
        if index >= self.array.len() {
            return self.beyond(port);
        }
        &mut self.array[index]
    }

    /// One that has no place in the array, or none yet.
    #[cold]
    fn beyond(&mut self, port: u32) -> &mut PortStats {
        let index = port as usize;
        if index >= IN_ARRAY {
            return self.others.entry(port).or_default();
        }
        self.array.resize(index + 1, PortStats::default());
        &mut self.array[index]
    }

    /// The ports that counted something, ascending.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &PortStats)> {
        let others = self.others.iter().map(|(port, stats)| (*port, stats));
        (0..).zip(&self.array).chain(others).filter(|(_, stats)| **stats != PortStats::default())
    }
}

/// They are the same where they counted the same, whatever ports were asked for.
impl PartialEq for Ports {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for Ports {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_of_any_number_are_counted_apart_and_told_in_order() {
        let numbers = [u32::MAX - 5, 3, 511, 0, 512];
        let mut ports = Ports::default();
        for (count, port) in (1..).zip(numbers) {
            ports.of(port).sent_packets += count;
            ports.of(port).sent_bytes += 10 * count;
        }
        let told: Vec<_> = ports.iter().map(|(port, stats)| (port, stats.sent_packets, stats.sent_bytes)).collect();
        assert_eq!(told, [(0, 4, 40), (3, 2, 20), (511, 3, 30), (512, 5, 50), (u32::MAX - 5, 1, 10)]);
    }

    #[test]
    fn a_port_that_was_only_asked_for_makes_no_difference() {
        let [mut one, mut other] = [Ports::default(), Ports::default()];
        one.of(2).received_packets += 1;
        other.of(7);
        other.of(2).received_packets += 1;
        assert_eq!(one, other);
        other.of(7).received_bytes += 1;
        assert_ne!(one, other);
    }
}
