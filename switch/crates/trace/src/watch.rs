//! Who watches, and which packets are traced for them.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwap;
use runtime::Recorder;
use runtime::trace::Step;
use tokio::sync::mpsc::{self, OwnedPermit};

use crate::filter::Filter;
use crate::tree::Trace;

/// Traces on their way to one who watches, those of packets in queues included.
const WAITING: usize = 32;
/// Who may watch at a time.
const MOST_WATCHES: usize = 4;
/// Packets per second that a watch may ask for: each takes as long as hundreds that are not traced.
const MOST_RATE: u32 = 100;

const SECOND: u64 = 1_000_000_000;

/// What somebody wants to see.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    filter: Filter,
    /// The first of so many that the filter chooses.
    one_in: u32,
    /// Of these, so many a second are traced.
    packets_per_second: u32,
}

impl Request {
    /// A request within the limits; the error says which one it is not in.
    pub fn new(filter: Filter, one_in: u32, packets_per_second: u32) -> Result<Self, String> {
        if !(1..=MOST_RATE).contains(&packets_per_second) {
            return Err(format!("{packets_per_second} packets per second: write 1 to {MOST_RATE}"));
        }
        if one_in == 0 {
            return Err("one packet in 0: write 1 or more".into());
        }
        Ok(Self { filter, one_in, packets_per_second })
    }
}

/// What a watch gets.
pub struct Message {
    pub trace: Trace,
    /// Packets since the message before that were chosen but not traced: over the rate, and for want of room.
    pub over_rate: u64,
    pub no_room: u64,
}

/// What the forwarding thread hands over: whoever reads it makes the tree.
struct Recorded {
    at: u64,
    port: u32,
    packet: Vec<u8>,
    steps: Vec<Step>,
    left_out: u64,
}

/// One of them, for one watch.
struct Parcel {
    recorded: Arc<Recorded>,
    over_rate: u64,
    no_room: u64,
}

/// All watches of a switch.
#[derive(Default)]
pub struct Watches {
    any: AtomicBool,
    watchers: ArcSwap<Vec<Arc<Watcher>>>,
    changes: Mutex<()>,
}

struct Watcher {
    request: Request,
    parcels: mpsc::Sender<Parcel>,
    /// Touched by the forwarding thread only.
    bucket: Mutex<Bucket>,
    over_rate: AtomicU64,
    no_room: AtomicU64,
}

/// A token bucket of one second.
struct Bucket {
    seen: u64,
    /// Nanoseconds that are paid for.
    credit: u64,
    filled: u64,
}

impl Watcher {
    /// Room for a trace, if the packet is one of those that were asked for.
    fn chooses(&self, port: u32, packet: &[u8], now: u64) -> Option<OwnedPermit<Parcel>> {
        if !self.request.filter.chooses(port, packet) {
            return None;
        }
        let mut bucket = self.bucket.lock().unwrap_or_else(PoisonError::into_inner);
        bucket.seen += 1;
        if !(bucket.seen - 1).is_multiple_of(u64::from(self.request.one_in)) {
            return None;
        }
        bucket.credit = SECOND.min(bucket.credit.saturating_add(now.saturating_sub(bucket.filled)));
        bucket.filled = now;
        let price = SECOND / u64::from(self.request.packets_per_second);
        if bucket.credit < price {
            self.over_rate.fetch_add(1, Ordering::Relaxed);
            return None;
        }
        let room = self.parcels.clone().try_reserve_owned();
        if room.is_err() {
            self.no_room.fetch_add(1, Ordering::Relaxed);
        } else {
            bucket.credit -= price;
        }
        room.ok()
    }

    fn parcel(&self, recorded: Arc<Recorded>) -> Parcel {
        let over_rate = self.over_rate.swap(0, Ordering::Relaxed);
        Parcel { recorded, over_rate, no_room: self.no_room.swap(0, Ordering::Relaxed) }
    }
}

impl Parcel {
    fn open(self) -> Message {
        let Recorded { at, port, packet, steps, left_out } = &*self.recorded;
        let trace = Trace::new(*at, *port, packet, steps.clone(), *left_out);
        Message { trace, over_rate: self.over_rate, no_room: self.no_room }
    }
}

impl Watches {
    /// Begins to watch, unless too many do.
    pub fn watch(self: &Arc<Self>, request: Request) -> Result<Watch, String> {
        let (parcels, receiver) = mpsc::channel(WAITING);
        let bucket = Mutex::new(Bucket { seen: 0, credit: SECOND, filled: 0 });
        let (over_rate, no_room) = (AtomicU64::new(0), AtomicU64::new(0));
        let watcher = Arc::new(Watcher { request, parcels, bucket, over_rate, no_room });
        let change = self.changes.lock().unwrap_or_else(PoisonError::into_inner);
        let mut watchers = Vec::clone(&self.watchers.load());
        if watchers.len() >= MOST_WATCHES {
            return Err(format!("{MOST_WATCHES} watch already; try again when one has ended"));
        }
        watchers.push(watcher.clone());
        self.set(watchers);
        drop(change);
        Ok(Watch { watches: self.clone(), watcher, receiver })
    }

    fn set(&self, watchers: Vec<Arc<Watcher>>) {
        let any = !watchers.is_empty();
        self.watchers.store(Arc::new(watchers));
        self.any.store(any, Ordering::Release);
    }

    /// Whether somebody watches: to be asked once for a burst of packets.
    #[inline]
    pub fn any(&self) -> bool {
        self.any.load(Ordering::Relaxed)
    }

    /// A recorder for a packet that somebody wants to see.
    pub fn choose(&self, port: u32, packet: &[u8], now: u64) -> Option<Recorder> {
        let watchers = self.watchers.load();
        let choose = |watcher: &Arc<Watcher>| Some((watcher.clone(), watcher.chooses(port, packet, now)?));
        let chosen: Vec<_> = watchers.iter().filter_map(choose).collect();
        if chosen.is_empty() {
            return None;
        }
        let packet = packet.to_vec();
        Some(Recorder::new(move |steps, left_out| {
            let recorded = Arc::new(Recorded { at: now, port, packet, steps, left_out });
            for (watcher, permit) in chosen {
                permit.send(watcher.parcel(recorded.clone()));
            }
        }))
    }
}

/// Traces as they come, until it is dropped.
pub struct Watch {
    watches: Arc<Watches>,
    watcher: Arc<Watcher>,
    receiver: mpsc::Receiver<Parcel>,
}

impl Watch {
    pub async fn next(&mut self) -> Option<Message> {
        self.receiver.recv().await.map(Parcel::open)
    }

    /// What has come.
    pub fn take(&mut self) -> Option<Message> {
        self.receiver.try_recv().ok().map(Parcel::open)
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let _change = self.watches.changes.lock().unwrap_or_else(PoisonError::into_inner);
        let mut watchers = Vec::clone(&self.watches.watchers.load());
        watchers.retain(|other| !Arc::ptr_eq(other, &self.watcher));
        self.watches.set(watchers);
    }
}

#[cfg(test)]
mod tests {
    use runtime::trace::Event;

    use super::*;

    fn request(filter: &str, one_in: u32, packets_per_second: u32) -> Request {
        Request::new(filter.parse().unwrap(), one_in, packets_per_second).unwrap()
    }

    /// A packet comes in and is sent; whether it was traced.
    fn pass(watches: &Watches, port: u32, now: u64) -> bool {
        let recorder = watches.any().then(|| watches.choose(port, &[7], now)).flatten();
        recorder.map(|mut recorder| recorder.event(Event::Sent { port: 9, bytes: 1, lost: None })).is_some()
    }

    #[test]
    fn nobody_sees_what_nobody_asked_for() {
        let watches = Arc::new(Watches::default());
        assert!(!watches.any());
        let mut watch = watches.watch(request("in 1", 1, 10)).unwrap();
        assert!(watches.any() && pass(&watches, 1, 0) && !pass(&watches, 2, 0));
        let message = watch.take().unwrap();
        assert_eq!((message.trace.port, message.trace.bytes.as_str()), (1, "07"));
        assert_eq!(message.trace.packets[0].steps.len(), 1);
        drop(watch);
        assert!(!watches.any() && !pass(&watches, 1, 0));
    }

    #[test]
    fn what_is_over_the_rate_is_counted() {
        let watches = Arc::new(Watches::default());
        let mut watch = watches.watch(request("", 1, 2)).unwrap();
        let traced = |now| (0..5).filter(|_| pass(&watches, 1, now)).count();
        assert_eq!((traced(0), traced(SECOND / 2), traced(10 * SECOND)), (2, 1, 2));
        let counts: Vec<u64> = std::iter::from_fn(|| watch.take().map(|message| message.over_rate)).collect();
        assert_eq!(counts, [0, 0, 3, 4, 0]);
    }

    #[test]
    fn one_in_many_is_traced() {
        let watches = Arc::new(Watches::default());
        let _watch = watches.watch(request("", 4, 100)).unwrap();
        assert_eq!((0..9).map(|_| pass(&watches, 1, 0)).filter(|traced| *traced).count(), 3);
    }

    #[test]
    fn who_does_not_read_holds_nothing_up() {
        let watches = Arc::new(Watches::default());
        let mut watch = watches.watch(request("", 1, 100)).unwrap();
        assert_eq!((0..100).filter(|_| pass(&watches, 1, 0)).count(), WAITING);
        while watch.take().is_some() {}
        assert!(pass(&watches, 1, 0));
        assert_eq!(watch.take().unwrap().no_room, 100 - WAITING as u64);
    }

    #[test]
    fn everybody_gets_what_he_asked_for() {
        let watches = Arc::new(Watches::default());
        let mut all = watches.watch(request("", 1, 10)).unwrap();
        let mut some = watches.watch(request("in 2", 1, 10)).unwrap();
        assert!(pass(&watches, 1, 0) && pass(&watches, 2, 0));
        assert!(all.take().is_some() && all.take().is_some() && some.take().is_some() && some.take().is_none());
    }

    #[test]
    fn there_are_limits() {
        let watches = Arc::new(Watches::default());
        let error = |one_in, rate| Request::new(Filter::default(), one_in, rate).err().unwrap_or_default();
        assert!(error(1, 0).contains("1 to 100") && error(1, 101).contains("1 to 100"));
        assert!(error(0, 1).contains("1 or more"));
        let watching: Vec<_> = (0..MOST_WATCHES).map(|_| watches.watch(request("", 1, 1)).unwrap()).collect();
        assert!(watches.watch(request("", 1, 1)).err().unwrap_or_default().contains("watch already"));
        drop(watching);
        assert!(!watches.any());
    }
}
