//! Who forwards: started in a network of their own, stopped when the value is dropped.

use std::fs::File;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use fastrand::Rng;

use super::metrics::Looked;
use super::network::{COUNTER, EAST, Network, ROUTES, prefix, text};
use bench::traffic::{ProcessTime, pin_forwarder};

#[derive(Clone)]
pub enum Kind {
    /// The embedded switch, with what stands before the interfaces' names.
    Ours {
        binary: PathBuf,
        device: &'static str,
        /// Microseconds of `--busy-poll`.
        busy_poll: u32,
        /// With `--kernel-flow-cache`, and nothing is measured before the kernel knows the packets' ways.
        in_kernel: bool,
    },
    Kernel,
    Bmv2,
}

/// `--flow-cache` and `--kernel-flow-cache`: more than there are packets.
const WAYS: &str = "16384";
/// The switch is taught at this rate, for so long between two looks at what it counts.
const TEACHING_RATE: f64 = 200_000.0;
const TEACHING_STEP: Duration = Duration::from_millis(200);
/// Some seconds are usual: it learns no faster than its hits pay for.
const LEARNS_WITHIN: Duration = Duration::from_secs(120);
/// The kernel's counts are fetched now and then.
const COUNTED_WITHIN: Duration = Duration::from_secs(3);

/// What a signal that ends the benchmark must clear away: processes and folders.
static STARTED: Mutex<(Vec<u32>, Vec<PathBuf>)> = Mutex::new((vec![], vec![]));

/// Stops all that runs and removes what was written.
pub fn clear_away() {
    let started = STARTED.lock().unwrap_or_else(PoisonError::into_inner);
    for process in started.0.iter().filter_map(|id| rustix::process::Pid::from_raw(*id as i32)) {
        // It may have ended by itself.
        let _ = rustix::process::kill_process(process, rustix::process::Signal::KILL);
    }
    for folder in &started.1 {
        let _ = std::fs::remove_dir_all(folder);
    }
}

fn change_started(change: impl FnOnce(&mut Vec<u32>, &mut Vec<PathBuf>)) {
    let mut started = STARTED.lock().unwrap_or_else(PoisonError::into_inner);
    let (processes, folders) = &mut *started;
    change(processes, folders);
}

/// A contestant at work.
pub struct Running {
    pub network: Network,
    /// Only where the kernel is to forward the packets.
    pub learned: Option<Learned>,
    process: Option<Child>,
    folder: Folder,
}

/// What was known when the kernel forwarded all packets.
pub struct Learned {
    /// Since the start of the switch.
    pub took: Duration,
    looked: Looked,
}

/// Those that this machine has; says which it has not.
pub fn available() -> Vec<Kind> {
    let mut kinds = vec![];
    let binary = std::env::current_exe().unwrap_or_default().with_file_name("wayname-switch");
    if binary.exists() {
        let ours = |(device, in_kernel)| Kind::Ours { binary: binary.clone(), device, busy_poll: 0, in_kernel };
        kinds.extend([("", false), ("xdp:", false), ("", true)].map(ours));
    } else {
        println!("  the switch is left out: {} is not there; build it with the benchmark", binary.display());
    }
    kinds.push(Kind::Kernel);
    if on_path("simple_switch_grpc") && on_path("p4c-bm2-ss") {
        kinds.push(Kind::Bmv2);
    } else {
        println!("  BMv2 is left out: simple_switch_grpc and p4c-bm2-ss are not both on PATH");
    }
    kinds
}

fn on_path(name: &str) -> bool {
    std::env::var_os("PATH").is_some_and(|path| std::env::split_paths(&path).any(|folder| folder.join(name).exists()))
}

impl Kind {
    pub fn name(&self) -> &'static str {
        match self {
            Self::Ours { in_kernel: true, .. } => "the switch, hits in the kernel, learned before",
            Self::Ours { device: "", busy_poll: 0, .. } => "the switch, AF_PACKET",
            Self::Ours { busy_poll: 0, .. } => "the switch, AF_XDP",
            Self::Ours { device: "", .. } => "the switch, AF_PACKET, busy polling",
            Self::Ours { .. } => "the switch, AF_XDP, busy polling",
            Self::Kernel => "the Linux kernel",
            Self::Bmv2 => "simple_switch_grpc",
        }
    }

    pub fn is_ours(&self) -> bool {
        matches!(self, Self::Ours { .. })
    }

    pub fn polls_busily(&self) -> bool {
        matches!(self, Self::Ours { busy_poll: 1.., .. })
    }

    pub fn hits_in_kernel(&self) -> bool {
        matches!(self, Self::Ours { in_kernel: true, .. })
    }

    /// The same with `--busy-poll`; none of what has no such option, or needs none.
    pub fn polling_busily(&self, busy_poll: u32) -> Option<Self> {
        match self {
            Self::Ours { binary, device, in_kernel: false, .. } => {
                Some(Self::Ours { binary: binary.clone(), device, busy_poll, in_kernel: false })
            }
            Self::Ours { .. } | Self::Kernel | Self::Bmv2 => None,
        }
    }

    /// Starts it and waits until packets pass.
    pub fn start(&self, programs: &Path, packets: &[Vec<u8>]) -> Result<Running> {
        let folder = Folder::new()?;
        let network = Network::forwarded(packets)?;
        let command = match self {
            Self::Kernel => {
                route(&network)?;
                None
            }
            Self::Ours { binary, device, busy_poll, in_kernel } => {
                let mut command = Command::new(binary);
                command.args(["--busy-poll", &busy_poll.to_string()]);
                if *in_kernel {
                    command.args(["--flow-cache", WAYS, "--kernel-flow-cache", WAYS]);
                    command.args(["--metrics-addr", &format!("unix:{}", folder.metrics().display())]);
                }
                command.arg(folder.program(programs)?);
                command.args(["-i", &format!("1@{device}west1"), "-i", &format!("2@{device}east1")]);
                Some(command)
            }
            Self::Bmv2 => {
                let (program, json) = (folder.program(programs)?, folder.0.join("routing.json"));
                let mut compile = Command::new("p4c-bm2-ss");
                let status = compile.arg("--std").arg("p4-16").arg("-o").arg(&json).arg(program).status()?;
                ensure!(status.success(), "p4c-bm2-ss: {status}");
                mend_entries(&json)?;
                // It looks into /sys for its interfaces, and must find those of its namespace there.
                let mut command = Command::new("unshare");
                command.args([
                    "--mount",
                    "sh",
                    "-c",
                    "mount -t sysfs sysfs /sys && exec simple_switch_grpc \"$@\"",
                    "sh",
                ]);
                command.arg(json).args(["-i", "1@west1", "-i", "2@east1", "--"]);
                Some(command)
            }
        };
        let start = Instant::now();
        let process = command.map(|mut command| {
            let log = File::create(folder.log())?;
            command.args(["--grpc-server-addr", "127.0.0.1:9559"]);
            command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
            let process = network.inner.enter(|| command.spawn())?.with_context(|| self.name())?;
            change_started(|processes, _| processes.push(process.id()));
            anyhow::Ok(process)
        });
        let mut running = Running { network, learned: None, process: process.transpose()?, folder };
        if !running.network.wait_for_first(Duration::from_secs(10))? {
            bail!("{} forwards nothing; it says:\n{}", self.name(), running.says());
        }
        if let Some(process) = &running.process {
            pin_forwarder(process.id())?;
        }
        if self.hits_in_kernel() {
            let looked = running.teach()?;
            running.learned = Some(Learned { took: start.elapsed(), looked });
        }
        Ok(running)
    }
}

/// p4c 1.2.5 writes a constant entry's prefix length of a 128-bit key as 0, by which all entries are the same.
fn mend_entries(json: &Path) -> Result<()> {
    let text = std::fs::read_to_string(json)?;
    let mended = text.replace("\"prefix_length\" : 0", "\"prefix_length\" : 48");
    let entries = mended.matches("\"prefix_length\" : 48").count();
    ensure!(entries == usize::from(ROUTES), "{}: {entries} entries in place of {ROUTES}", json.display());
    Ok(std::fs::write(json, mended)?)
}

/// Has the kernel forward between the two pairs.
fn route(network: &Network) -> Result<()> {
    network.set_inner("conf/all/forwarding", "1")?;
    for name in ["west1", "east1"] {
        network.set_inner(&format!("conf/{name}/accept_dad"), "0")?;
        network.set_inner(&format!("conf/{name}/disable_ipv6"), "0")?;
    }
    network.inner.ip("-6 address add fd00:1::1/64 dev west1 nodad")?;
    network.inner.ip("-6 address add fd00:2::1/64 dev east1 nodad")?;
    network.inner.ip(&format!("-6 neighbour add fd00:2::2 lladdr {} dev east1 nud permanent", text(COUNTER)))?;
    (0..ROUTES).try_for_each(|route| {
        Ok(network.inner.ip(&format!("-6 route add {}/48 via fd00:2::2 dev east1", prefix(route)))?)
    })
}

impl Running {
    /// Sends the packets until the kernel forwards all of them.
    fn teach(&mut self) -> Result<Looked> {
        let (end, mut numbers) = (Instant::now() + LEARNS_WITHIN, Rng::with_seed(0));
        let mut before = Looked::at(&self.folder.metrics())?;
        loop {
            // Of flows that share a place in the switch's memory of flows to learn, none stays there while all come in turn.
            let sent = self.network.drive_half(&mut numbers, TEACHING_RATE, TEACHING_STEP)?.sent;
            before = self.looked(before, sent)?;
            let sent = self.network.drive(TEACHING_RATE, TEACHING_STEP)?.sent;
            let now = self.looked(before, sent)?;
            let looked = now.since(&before);
            if looked == (Looked { in_kernel: sent, elsewhere: 0 }) && sent >= self.network.round() {
                return Ok(now);
            }
            ensure!(
                Instant::now() < end,
                "of {sent} packets the kernel forwarded {} and the process {}, {LEARNS_WITHIN:?} after the first; it says:\n{}",
                looked.in_kernel,
                looked.elsewhere,
                self.says()
            );
            before = now;
        }
    }

    /// What is counted once so many packets were, or one was by the process; the switch may have lost some.
    fn looked(&self, before: Looked, sent: u64) -> Result<Looked> {
        let end = Instant::now() + COUNTED_WITHIN;
        loop {
            let now = Looked::at(&self.folder.metrics())?;
            let looked = now.since(&before);
            if looked.in_kernel >= sent || looked.elsewhere > 0 || Instant::now() > end {
                return Ok(now);
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Packets that went through the process since the kernel forwarded all of them.
    pub fn strayed(&self) -> Result<u64> {
        let Some(learned) = &self.learned else { return Ok(0) };
        Ok(Looked::at(&self.folder.metrics())?.since(&learned.looked).elsewhere)
    }

    /// The beginning of its log.
    fn says(&self) -> String {
        let log = std::fs::read_to_string(self.folder.log()).unwrap_or_default();
        log.lines().take(20).collect::<Vec<_>>().join("\n")
    }

    /// Of all threads of the process so far; the kernel has none.
    pub fn processor_time(&self) -> Result<Option<ProcessTime>> {
        self.process.as_ref().map(|process| ProcessTime::of(process.id())).transpose()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(process) = &mut self.process {
            change_started(|processes, _| processes.retain(|id| *id != process.id()));
            // It may have ended by itself, and then there is nothing left to stop.
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

/// A folder for the program with its entries, removed on drop.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Result<Self> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("wayname-bench-{}-{number}", std::process::id()));
        // What runs as root is started from it: for the owner only, and never one that somebody else made.
        std::fs::DirBuilder::new().mode(0o700).create(&path).with_context(|| path.display().to_string())?;
        change_started(|_, folders| folders.push(path.clone()));
        Ok(Self(path))
    }

    fn log(&self) -> PathBuf {
        self.0.join("log")
    }

    fn metrics(&self) -> PathBuf {
        self.0.join("metrics")
    }

    /// `routing.p4` with the routes as constant entries.
    fn program(&self, programs: &Path) -> Result<PathBuf> {
        let source = std::fs::read_to_string(programs.join("routing.p4")).context("routing.p4")?;
        let number = |address: [u8; 6]| format!("0x{}", text(address).replace(':', ""));
        let entries: String = (0..ROUTES)
            .map(|route| {
                let prefix = u128::from(prefix(route));
                let mask = u128::MAX << 80;
                format!("0x{prefix:x} &&& 0x{mask:x}: forward(2, {}, {});\n", number(EAST), number(COUNTER))
            })
            .collect();
        let size = "size = 600000;";
        ensure!(source.contains(size), "routing.p4 has no line '{size}' to put entries in place of");
        let path = self.0.join("routing.p4");
        std::fs::write(&path, source.replace(size, &format!("const entries = {{\n{entries}}}")))?;
        Ok(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // Whatever is left of it is in the system's folder for temporary files.
        let _ = std::fs::remove_dir_all(&self.0);
        change_started(|_, folders| folders.retain(|folder| *folder != self.0));
    }
}
