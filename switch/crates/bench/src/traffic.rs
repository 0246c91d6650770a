//! The generator and the counter, each on a thread of its own.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::panic::resume_unwind;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;
use ports::Port;
use ports::interface::Interface;
use rustix::thread::{CpuSet, Pid, sched_getaffinity, sched_setaffinity};

use crate::measure::thread_time;

/// By these bytes at its end a packet is known as ours, whatever was put in front of it.
pub const MARK: &[u8] = b"wayname!";
/// Packets leave in batches, so that the generator may sleep in between.
const TICK: Duration = Duration::from_micros(250);
/// A generator that was held up does not make up for it: the burst would fill the queues of those that have short ones.
const LONGEST_BATCH: u64 = 512;
/// More than any generator reaches.
const FLOOD: f64 = 1e8;
/// No longer than this after a packet the next one comes, as long as one is still under way.
pub const QUIET: Duration = Duration::from_millis(100);
/// What one run may send, whatever the rate.
const MOST: u64 = 20_000_000;

/// Both ends of the way that packets take.
pub struct Ends {
    generator: Interface,
    counter: Interface,
}

pub struct Outcome {
    pub sent: u64,
    pub received: u64,
    /// Of all frames received, together.
    pub octets: u64,
    /// From the first packet sent to the last one received.
    pub passing: Duration,
    /// Packets per second that the generator reached.
    pub rate: f64,
    /// Of generator, counter, and the kernel's threads for packets.
    pub processor_time: Duration,
}

impl Ends {
    pub fn new(generator: Interface, counter: Interface) -> Self {
        Self { generator, counter }
    }

    /// Sends these packets in turn, at a paced rate for so long, and counts what arrives until nothing does for a while.
    pub fn drive(&mut self, packets: &[Vec<u8>], rate: f64, duration: Duration, quiet: Duration) -> Result<Outcome> {
        let Self { generator, counter } = self;
        let finished = AtomicBool::new(false);
        let before = kernel_threads()?;
        let start = Instant::now();
        let (sent, counted) = thread::scope(|scope| {
            let counting = scope.spawn(|| pinned(COUNTER, || count(counter, &finished, quiet)));
            let sending = scope.spawn(|| pinned(GENERATOR, || generate(generator, packets, rate, duration)));
            let sent = sending.join();
            finished.store(true, Ordering::Release);
            (sent, counting.join())
        });
        let sent = sent.unwrap_or_else(|panic| resume_unwind(panic))?;
        let counted = counted.unwrap_or_else(|panic| resume_unwind(panic))?;
        Ok(Outcome {
            sent: sent.packets,
            received: counted.packets,
            octets: counted.octets,
            passing: counted.last.saturating_duration_since(start),
            rate: sent.packets as f64 / sent.took.as_secs_f64(),
            processor_time: sent.processor_time + counted.processor_time + (kernel_threads()? - before),
        })
    }

    /// Sends one packet, and answers after how long it arrived; nothing if it does not. Both ends are this thread's, which does
    /// not sleep meanwhile.
    pub fn pass_one(&mut self, packet: &[u8]) -> Result<Option<Duration>> {
        let Self { generator, counter } = self;
        // What is left of an earlier one.
        counter.receive(usize::MAX, &mut |_| {})?;
        let start = Instant::now();
        generator.send(packet, 0)?;
        generator.flush(0)?;
        let mut arrived = false;
        while start.elapsed() < QUIET {
            counter.receive(usize::MAX, &mut |frame| arrived |= frame.ends_with(MARK))?;
            if arrived {
                return Ok(Some(start.elapsed()));
            }
        }
        Ok(None)
    }

    /// Sends single packets until some arrive, and answers how long they are then; nothing if none does in time.
    pub fn wait_for_first(&mut self, packets: &[Vec<u8>], within: Duration) -> Result<Option<u64>> {
        let end = Instant::now() + within;
        while Instant::now() < end {
            let outcome = self.drive(packets, 1000.0, Duration::from_millis(5), QUIET)?;
            if let Some(length) = outcome.octets.checked_div(outcome.received) {
                return Ok(Some(length));
            }
        }
        Ok(None)
    }
}

struct Sent {
    packets: u64,
    took: Duration,
    processor_time: Duration,
}

fn generate(port: &mut Interface, packets: &[Vec<u8>], rate: f64, duration: Duration) -> Result<Sent> {
    let rate = rate.min(FLOOD);
    let (start, mut sent, mut forgiven) = (Instant::now(), 0, 0);
    // Twice what a tick brings, at least enough to be worth a call.
    let longest = ((2.0 * rate * TICK.as_secs_f64()) as u64).clamp(16, LONGEST_BATCH);
    let mut pause = start;
    while start.elapsed() < duration && sent < MOST {
        let due = (start.elapsed().as_secs_f64() * rate) as u64;
        let behind = due.saturating_sub(sent + forgiven);
        let batch = behind.min(longest);
        forgiven += behind - batch;
        for _ in 0..batch {
            if !port.send(&packets[sent as usize % packets.len()], 0)? {
                break;
            }
            sent += 1;
        }
        port.flush(0)?;
        pause = (pause + TICK).max(Instant::now() - TICK);
        thread::sleep(pause.saturating_duration_since(Instant::now()));
    }
    Ok(Sent { packets: sent, took: start.elapsed(), processor_time: thread_time() })
}

struct Counted {
    packets: u64,
    octets: u64,
    last: Instant,
    processor_time: Duration,
}

/// Counts until told to finish, and nothing has come for a while.
fn count(port: &mut Interface, finished: &AtomicBool, quiet: Duration) -> Result<Counted> {
    let now = Instant::now();
    let mut counted = Counted { packets: 0, octets: 0, last: now, processor_time: Duration::ZERO };
    let mut busy = now;
    loop {
        let before = counted.packets;
        port.receive(usize::MAX, &mut |frame| {
            if frame.ends_with(MARK) {
                counted.packets += 1;
                counted.octets += frame.len() as u64;
            }
        })?;
        if counted.packets > before {
            counted.last = Instant::now();
        }
        if counted.packets > before || !finished.load(Ordering::Acquire) {
            busy = Instant::now();
        } else if busy.elapsed() > quiet {
            counted.processor_time = thread_time();
            return Ok(counted);
        }
        // Its ring is long enough for what comes meanwhile; to be woken for each packet would be part of the cost.
        thread::sleep(Duration::from_micros(500));
    }
}

/// Processor time of the kernel's threads that see to packets when a processor has too many.
fn kernel_threads() -> Result<Duration> {
    let mut sum = Duration::ZERO;
    for process in std::fs::read_dir("/proc")? {
        let path = process?.path();
        let name = std::fs::read_to_string(path.join("comm")).unwrap_or_default();
        if name.starts_with("ksoftirqd/") {
            sum += task_time(&path)?;
        }
    }
    Ok(sum)
}

/// Processor time of the thread of this folder below /proc.
fn task_time(path: &Path) -> Result<Duration> {
    let text = std::fs::read_to_string(path.join("schedstat"))?;
    Ok(Duration::from_nanos(text.split_whitespace().next().unwrap_or("0").parse()?))
}

/// Processor time of a process so far, by thread: threads come and go.
#[derive(Default)]
pub struct ProcessTime(BTreeMap<OsString, Duration>);

impl ProcessTime {
    pub fn of(process: u32) -> Result<Self> {
        let mut times = BTreeMap::new();
        for task in std::fs::read_dir(tasks(process))? {
            let task = task?;
            // A thread may end between the two looks.
            if let Ok(time) = task_time(&task.path()) {
                times.insert(task.file_name(), time);
            }
        }
        Ok(Self(times))
    }

    /// What was used since, by threads that are there now.
    pub fn since(&self, before: &Self) -> Duration {
        let used = |(task, time): (_, &Duration)| time.saturating_sub(before.0.get(task).copied().unwrap_or_default());
        self.0.iter().map(used).sum()
    }
}

fn tasks(process: u32) -> std::path::PathBuf {
    Path::new("/proc").join(process.to_string()).join("task")
}

// Who gets which of the processors that this process may use, from the first again where there are too few. What the
// kernel forwards it forwards on the generator's.
pub const GENERATOR: usize = 0;
const FORWARDER: usize = 1;
const COUNTER: usize = 2;

/// Does the work on a processor of its own; where that cannot be had, on any.
pub fn pinned<R>(role: usize, work: impl FnOnce() -> R) -> R {
    pin(None, role);
    work()
}

/// The name of a thread that does all the forwarding of its process.
pub const FORWARD: &str = "forward";

/// Gives the forwarding thread of a process a processor that the generator does not use. Whoever has none by that name
/// has several, and runs them where the system lets it.
pub fn pin_forwarder(process: u32) -> Result<()> {
    for task in std::fs::read_dir(tasks(process))? {
        let task = task?;
        if std::fs::read_to_string(task.path().join("comm")).unwrap_or_default().trim_end() == FORWARD {
            pin(Pid::from_raw(task.file_name().to_string_lossy().parse()?), FORWARDER);
        }
    }
    Ok(())
}

fn pin(thread: Option<Pid>, role: usize) {
    // Of this process's main thread, which is never pinned itself.
    let Ok(allowed) = sched_getaffinity(Some(rustix::process::getpid())) else { return };
    let mut processors = (0..CpuSet::MAX_CPU).filter(|processor| allowed.is_set(*processor)).cycle();
    if let Some(processor) = processors.nth(role) {
        let mut one = CpuSet::new();
        one.set(processor);
        // A thread that may not be pinned runs where the system lets it.
        let _ = sched_setaffinity(thread, &one);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_that_came_and_went_do_not_count_backwards() {
        let times = |list: &[(&str, u64)]| {
            ProcessTime(list.iter().map(|(task, time)| ((*task).into(), Duration::from_nanos(*time))).collect())
        };
        let (before, after) = (times(&[("1", 10), ("2", 500)]), times(&[("1", 30), ("3", 7)]));
        assert_eq!(after.since(&before), Duration::from_nanos(27));
    }
}
