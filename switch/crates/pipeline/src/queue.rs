//! The output queues: one port, eight strict priorities, a rate and a bound.
//!
//! A port without a rate is never busy, so its queue only fills when the port itself cannot take packets. With a rate,
//! packets leave one after another at the speed of the link, and depth and waiting time are those of a real queue.

use std::collections::{BTreeMap, VecDeque};

/// Priorities of `standard_metadata.priority` (3 bits); 7 leaves first.
pub const PRIORITIES: usize = 8;

/// The queue of a port as the operator sets it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// `None` is a link that is never busy.
    pub bits_per_second: Option<u64>,
    /// Packets that may wait, over all priorities.
    pub packets: usize,
}

impl Default for Shape {
    fn default() -> Self {
        Self { bits_per_second: None, packets: 1024 }
    }
}

impl Shape {
    /// Nanoseconds that `bytes` take on the link.
    pub fn transmission_time(&self, bytes: usize) -> u64 {
        match self.bits_per_second {
            None | Some(0) => 0,
            Some(rate) => u64::try_from(bytes as u128 * 8 * 1_000_000_000 / u128::from(rate)).unwrap_or(u64::MAX),
        }
    }
}

/// Packets that wait for their ports.
#[derive(Debug)]
pub struct Queues<T> {
    ports: BTreeMap<u32, PortQueue<T>>,
    waiting: usize,
}

#[derive(Debug)]
struct PortQueue<T> {
    shape: Shape,
    /// By priority.
    lanes: [VecDeque<Waiting<T>>; PRIORITIES],
    depth: usize,
    /// When the link has sent all it was given.
    free_at: u64,
}

#[derive(Debug)]
struct Waiting<T> {
    since: u64,
    item: T,
}

/// A packet whose turn has come.
#[derive(Debug, PartialEq, Eq)]
pub struct Departure<T> {
    pub port: u32,
    pub item: T,
    /// When it was put in the queue and when it leaves it.
    pub since: u64,
    pub at: u64,
    /// Packets that stay behind on the port.
    pub depth: usize,
}

impl<T> Default for PortQueue<T> {
    fn default() -> Self {
        Self { shape: Shape::default(), lanes: Default::default(), depth: 0, free_at: 0 }
    }
}

impl<T> PortQueue<T> {
    /// When the first packet leaves.
    fn ready_at(&self) -> Option<u64> {
        let first = self.lanes.iter().filter_map(VecDeque::front).map(|waiting| waiting.since).min()?;
        Some(first.max(self.free_at))
    }

    fn pop(&mut self, at: u64) -> Option<Waiting<T>> {
        let lane = self.lanes.iter_mut().rev().find(|lane| lane.front().is_some_and(|waiting| waiting.since <= at))?;
        let waiting = lane.pop_front()?;
        self.depth -= 1;
        Some(waiting)
    }
}

impl<T> Default for Queues<T> {
    fn default() -> Self {
        Self { ports: BTreeMap::new(), waiting: 0 }
    }
}

impl<T> Queues<T> {
    pub fn set_shape(&mut self, port: u32, shape: Shape) {
        self.ports.entry(port).or_default().shape = shape;
    }

    pub fn shape(&self, port: u32) -> Shape {
        self.ports.get(&port).map(|queue| queue.shape).unwrap_or_default()
    }

    pub fn depth(&self, port: u32) -> usize {
        self.ports.get(&port).map_or(0, |queue| queue.depth)
    }

    /// Whether a packet given to the port now would leave at once.
    #[inline]
    pub fn is_idle(&self, port: u32, now: u64) -> bool {
        self.ports.get(&port).is_none_or(|queue| queue.depth == 0 && queue.free_at <= now)
    }

    /// Whether a packet waits for any port.
    #[inline]
    pub fn waits(&self) -> bool {
        self.waiting > 0
    }

    /// Puts a packet in the port's queue; gives it back if the queue is full.
    pub fn push(&mut self, port: u32, priority: u8, item: T, now: u64) -> Result<(), T> {
        let queue = self.ports.entry(port).or_default();
        if queue.depth >= queue.shape.packets {
            return Err(item);
        }
        queue.lanes[usize::from(priority) % PRIORITIES].push_back(Waiting { since: now, item });
        queue.depth += 1;
        self.waiting += 1;
        Ok(())
    }

    /// Says that `bytes` went onto the port's link at `at`; returns when the last bit is out.
    #[inline]
    pub fn transmit(&mut self, port: u32, bytes: usize, at: u64) -> u64 {
        let Some(queue) = self.ports.get_mut(&port) else { return at };
        queue.free_at = at.max(queue.free_at) + queue.shape.transmission_time(bytes);
        queue.free_at
    }

    /// The next packet to leave at or before `now`, over the ports that `ready` says can take one.
    pub fn pop(&mut self, now: u64, ready: impl Fn(u32) -> bool) -> Option<Departure<T>> {
        if self.waiting == 0 {
            return None;
        }
        let (at, port) = self
            .ports
            .iter()
            .filter_map(|(port, queue)| Some((queue.ready_at()?, *port)))
            .filter(|(at, port)| *at <= now && ready(*port))
            .min()?;
        let queue = self.ports.get_mut(&port)?;
        let waiting = queue.pop(at)?;
        self.waiting -= 1;
        Some(Departure { port, item: waiting.item, since: waiting.since, at, depth: queue.depth })
    }

    /// When the next packet leaves, if no port holds it back.
    pub fn next_departure(&self) -> Option<u64> {
        if self.waiting == 0 {
            return None;
        }
        self.ports.values().filter_map(PortQueue::ready_at).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn any(_: u32) -> bool {
        true
    }

    #[test]
    fn a_link_without_rate_is_never_busy() {
        let mut queues = Queues::default();
        queues.push(1, 0, 'a', 5).unwrap();
        assert_eq!(queues.pop(5, any), Some(Departure { port: 1, item: 'a', since: 5, at: 5, depth: 0 }));
        assert_eq!(queues.transmit(1, 1500, 5), 5);
        assert!(queues.is_idle(1, 5));
    }

    #[test]
    fn packets_follow_each_other_at_the_links_rate() {
        let mut queues = Queues::default();
        queues.set_shape(1, Shape { bits_per_second: Some(8_000_000), packets: 10 });
        for item in ['a', 'b', 'c'] {
            queues.push(1, 0, item, 0).unwrap();
        }
        let mut departures = vec![];
        while let Some(next) = queues.next_departure() {
            let departure = queues.pop(next, any).unwrap();
            let end = queues.transmit(1, 1000, departure.at);
            departures.push((departure.item, departure.at, departure.depth, end));
        }
        assert_eq!(
            departures,
            [('a', 0, 2, 1_000_000), ('b', 1_000_000, 1, 2_000_000), ('c', 2_000_000, 0, 3_000_000)]
        );
    }

    #[test]
    fn a_higher_priority_overtakes_but_only_once_it_is_there() {
        let mut queues = Queues::default();
        queues.set_shape(1, Shape { bits_per_second: Some(8_000_000), packets: 10 });
        queues.push(1, 0, "low 1", 0).unwrap();
        queues.push(1, 0, "low 2", 0).unwrap();
        queues.push(1, 7, "high", 500_000).unwrap();
        let mut order = vec![];
        while let Some(departure) = queues.pop(u64::MAX, any) {
            queues.transmit(1, 1000, departure.at);
            order.push(departure.item);
        }
        assert_eq!(order, ["low 1", "high", "low 2"]);
    }

    #[test]
    fn a_full_queue_gives_the_packet_back() {
        let mut queues = Queues::default();
        queues.set_shape(1, Shape { bits_per_second: None, packets: 1 });
        queues.push(1, 0, 'a', 0).unwrap();
        assert_eq!(queues.push(1, 7, 'b', 0), Err('b'));
        assert_eq!(queues.depth(1), 1);
    }

    #[test]
    fn a_port_that_cannot_take_packets_keeps_them() {
        let mut queues = Queues::default();
        queues.push(1, 0, 'a', 0).unwrap();
        queues.push(2, 0, 'b', 0).unwrap();
        assert_eq!(queues.pop(0, |port| port != 1).map(|departure| departure.item), Some('b'));
        assert_eq!(queues.pop(0, |port| port != 1), None);
        assert_eq!(queues.depth(1), 1);
    }
}
