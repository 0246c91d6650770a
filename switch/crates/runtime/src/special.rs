//! Code that was compiled for what the tables hold, and the guard that keeps packets out of it from the moment that
//! they are to hold something else.
//!
//! Whoever compiles takes the [`Holdings`] of the tables, which marks these tables, and installs the code for them. A
//! write to a marked table first makes the code's number void and waits until no packet runs by it; only then does it
//! change the table. So the code never runs while it is wrong, a packet that comes after a write was answered never
//! meets what was there before it, and none sees a later write without an earlier one.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use std::sync::{Arc, PoisonError};

use ir::{FunctionId, Match, TableId};
use tables::sync::{AtomicU64, Mutex, MutexGuard, thread};

use crate::barrier::Barrier;
use crate::context::Context;
use crate::device::Device;
use crate::writes::Object;
use crate::{Backend, Stop};

/// Tables of more entries are looked up.
pub(crate) const FEW: u64 = 8;

/// What packets find in a table all of whose content is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    /// Those that win first.
    pub entries: Vec<HeldEntry>,
    /// Whether each hit is to be noted ([`Context::note_hit`]): the entries have counters, or are reported when idle.
    pub notes_hits: bool,
    /// What becomes of a packet that finds no entry.
    pub default: Outcome,
}

/// An entry, as long as the table holds what it holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldEntry {
    pub slot: u32,
    /// A match for each key of the table.
    pub keys: Vec<Match>,
    pub outcome: Outcome,
}

/// The action that a lookup ends in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// Its index in the table's actions, or `NO_ACTION`.
    pub action: u32,
    /// Its data, laid out as [`ir::Action`] says.
    pub data: Vec<u64>,
}

/// What the tables held at one time.
#[derive(Debug, Clone)]
pub struct Holdings {
    /// The number of the code when the tables were read.
    number: u64,
    /// By table; `None` for those that code must look up.
    pub tables: Vec<Option<Held>>,
}

/// The code that is installed, and who runs by it.
pub(crate) struct Special {
    /// Odd while code of this number may run; it only grows.
    number: AtomicU64,
    /// The code and its number.
    code: Mutex<(u64, Option<Arc<dyn Backend>>)>,
    running: Mutex<Vec<Arc<Running>>>,
    /// Between what a packet runs by and the number that may run.
    barrier: Barrier,
}

/// The number of the code that a context runs by just now, or 0. Alone on its cache lines.
#[derive(Default)]
#[repr(align(128))]
struct Running(AtomicU64);

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Special {
    pub fn new() -> Self {
        Self {
            number: AtomicU64::default(),
            code: Mutex::default(),
            running: Mutex::default(),
            barrier: Barrier::new(),
        }
    }

    /// Before something changes that was built into code: makes the code void and waits until no packet runs by it. A
    /// packet takes no lock, so whoever calls may hold some.
    pub fn make_void(&self) {
        let before = self.number.fetch_update(SeqCst, SeqCst, |number| Some((number | 1) + 1)).unwrap_or_else(|n| n);
        self.wait_for_all_up_to(before);
    }

    fn wait_for_all_up_to(&self, number: u64) {
        if number == 0 {
            return;
        }
        self.barrier.pass_rarely();
        for running in &*lock(&self.running) {
            while (1..=number).contains(&running.0.load(SeqCst)) {
                thread::yield_now();
            }
        }
    }
}

/// A context's part in running the code.
pub(crate) struct Runner<'d> {
    special: &'d Special,
    running: Arc<Running>,
    number: u64,
    code: Option<Arc<dyn Backend>>,
}

impl<'d> Runner<'d> {
    fn new(special: &'d Special) -> Self {
        let running = Arc::<Running>::default();
        lock(&special.running).push(running.clone());
        Self { special, running, number: 0, code: None }
    }

    /// Takes the code of that number; false if another was installed meanwhile.
    fn take(&mut self, number: u64) -> bool {
        (self.number, self.code) = lock(&self.special.code).clone();
        self.number == number
    }
}

impl Drop for Runner<'_> {
    fn drop(&mut self) {
        // After a panic too.
        self.running.0.store(0, Release);
        lock(&self.special.running).retain(|running| !Arc::ptr_eq(running, &self.running));
    }
}

impl<'d> Context<'d> {
    /// Runs functions by the code compiled for what the tables hold, and answers what [`Backend::run_some`] does; nothing
    /// if there is none that may run now.
    #[inline]
    pub fn run_special(&mut self, functions: &[FunctionId], stop: &mut Stop<'_>) -> Option<usize> {
        let number = self.device.special.number.load(Acquire);
        if number % 2 == 1 { self.run_special_of(number, functions, stop) } else { None }
    }

    fn run_special_of(&mut self, number: u64, functions: &[FunctionId], stop: &mut Stop<'_>) -> Option<usize> {
        let device: &'d Device = self.device;
        let mut runner = self.runner.take().unwrap_or_else(|| Box::new(Runner::new(&device.special)));
        let known = runner.number == number || runner.take(number);
        if let (true, Some(code)) = (known, &runner.code) {
            // Either the writer sees this, and waits, or its number is seen below.
            runner.running.0.store(number, Relaxed);
            device.special.barrier.pass_often();
            let may_run = device.special.number.load(Acquire) == number;
            let ran = may_run.then(|| code.run_some(functions, self, stop));
            runner.running.0.store(0, Release);
            self.runner = Some(runner);
            return ran;
        }
        self.runner = Some(runner);
        None
    }
}

impl Device {
    /// What the tables hold, but for those that are too large or not wanted. Their next change makes the code void that
    /// is or will be installed for it. One caller at a time, until it has installed its code.
    pub fn holdings(&self, wanted: &dyn Fn(TableId) -> bool) -> Holdings {
        let number = self.special.number.load(SeqCst);
        let tables = self.program().tables.keys().map(|id| if wanted(id) { self.hold(id) } else { None }).collect();
        Holdings { number, tables }
    }

    /// Has packets run by code compiled for these holdings; false if the tables hold something else meanwhile.
    pub fn install(&self, holdings: &Holdings, code: Arc<dyn Backend>) -> bool {
        let number = (holdings.number + 1) | 1;
        {
            let mut installed = lock(&self.special.code);
            if self.special.number.compare_exchange(holdings.number, number, SeqCst, SeqCst).is_err() {
                return false;
            }
            *installed = (number, Some(code));
        }
        // The code before this one may have built in more.
        self.special.wait_for_all_up_to(holdings.number);
        for (table, held) in self.tables.iter().zip(&holdings.tables) {
            if held.is_none() {
                table.let_go();
            }
        }
        true
    }

    /// Whether packets run by code that was compiled for what the tables hold.
    pub fn is_special(&self) -> bool {
        self.special.number.load(Acquire) % 2 == 1
    }

    /// How often a table got another content: an entry came, went or changed, or the default action did.
    pub fn changes(&self, table: TableId) -> u64 {
        self.writes.count(Object::Table(table))
    }
}
