//! From a P4Runtime write to the first packet that leaves by the new entry: a switch in a process of its own, over gRPC,
//! with packets that come steadily by a wire.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use bench::measure::{Effort, Spread, percentile};
use pipeline::BackendKind;
use ports::Port;
use ports::wire::Wire;
use proto::p4::config::v1::P4Info;
use proto::p4::v1::update::Type;
use tokio::runtime::Runtime;

use crate::client::Client;
use crate::goals::Goals;
use crate::packets::{ROUTES, Route, packets, routes};

/// Writes in a draw.
const WRITES: usize = 100;
/// Microseconds from a packet by the new entry to the next write.
const PAUSE: std::ops::Range<u64> = 1000..3000;
/// Between two packets, and no longer than the kernel takes to wake a thread.
const INTERVAL: Duration = Duration::from_micros(20);
const PATIENCE: Duration = Duration::from_secs(10);
const TAIL: f64 = 0.99;
/// Milliseconds, of the slowest in a hundred.
const MOST: f64 = 1.0;
/// Where packets come in, and where they leave by one entry and by the other.
const IN: usize = 1;
const OUT: [usize; 2] = [2, 3];

pub fn run(programs: &Path, effort: Effort, goals: &mut Goals) -> Result<()> {
    println!("P4Runtime write to the first packet by the new entry: {ROUTES} routes, {WRITES} writes in a draw");
    let text = std::fs::read_to_string(programs.join("routing.p4")).context("routing.p4")?;
    let compiled = loader::load(&text, BackendKind::Jit).map_err(|error| anyhow::anyhow!(error))?;
    let p4info = compiled.p4info.clone().context("a program's text has a P4Info")?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let (mut medians, mut all) = (vec![], vec![]);
    for draw in 0..effort.draws {
        let times = measure(&runtime, &p4info, &text, effort, draw)?;
        medians.push(Spread::of(&times).median);
        all.extend(times);
    }
    let tail = percentile(&all, TAIL);
    let spread = Spread::of(&medians);
    println!(
        "  median of a draw {:.3} ms ({}); 99th percentile {tail:.3} ms",
        spread.median,
        spread.around(thousandths)
    );
    println!("  all writes {:.3} ms at most", percentile(&all, 1.0));
    goals.at_most(MOST, "write to first packet by the new entry, 99th percentile", tail, milliseconds);
    Ok(())
}

/// Milliseconds of each write to a switch that was just started.
fn measure(runtime: &Runtime, p4info: &P4Info, text: &str, effort: Effort, draw: usize) -> Result<Vec<f64>> {
    let mut numbers = effort.numbers(draw);
    let routes = routes(ROUTES, &mut numbers);
    let switch = Switch::start(draw)?;
    let mut client = runtime.block_on(switch.client(p4info, text))?;
    runtime.block_on(client.write(Type::Insert, &routes))?;
    // One that no longer prefix takes packets from.
    let longest = routes.iter().map(|route| route.length).max().unwrap_or_default();
    let longest: Vec<&Route> = routes.iter().filter(|route| route.length == longest).collect();
    let mut route = longest[numbers.usize(..longest.len())].clone();
    let packet = packets(std::slice::from_ref(&route), 1, &mut numbers).remove(0);
    let mut stream = Stream { wires: switch.wires()?, packet };
    let mut times = vec![];
    for write in 0..=WRITES {
        let out = write % 2;
        route.port = OUT[out] as u16;
        let (start, changed) = (Instant::now(), route.clone());
        let writing = runtime.spawn(async move {
            client.write(Type::Modify, &[changed]).await?;
            anyhow::Ok(client)
        });
        stream.until(out, start)?;
        let took = start.elapsed();
        client = runtime.block_on(writing)??;
        // Before the first one, packets may have had no way at all.
        if write > 0 {
            times.push(took.as_secs_f64() * 1e3);
        }
        stream.go_on(Duration::from_micros(numbers.u64(PAUSE)))?;
    }
    Ok(times)
}

/// The same packet again and again, and the ends of the wires by which it enters and leaves.
struct Stream {
    wires: [Wire; 3],
    packet: Vec<u8>,
}

impl Stream {
    /// Sends a packet, and says by which entries some have left meanwhile.
    fn step(&mut self) -> Result<[bool; 2]> {
        let [entrance, exits @ ..] = &mut self.wires;
        entrance.send(&self.packet, 0)?;
        entrance.flush(0)?;
        let mut left = [false; 2];
        for (exit, left) in exits.iter_mut().zip(&mut left) {
            *left = exit.receive(usize::MAX, &mut |_| {})? > 0;
        }
        Ok(left)
    }

    fn until(&mut self, out: usize, start: Instant) -> Result<()> {
        while !self.step()?[out] {
            ensure!(start.elapsed() < PATIENCE, "no packet by the new entry after {PATIENCE:?}");
            sleep(INTERVAL);
        }
        Ok(())
    }

    fn go_on(&mut self, time: Duration) -> Result<()> {
        let start = Instant::now();
        while start.elapsed() < time {
            self.step()?;
            sleep(INTERVAL);
        }
        Ok(())
    }
}

/// A switch on three wires without a program, in a folder of its own; both are gone when the value is.
struct Switch {
    process: Child,
    folder: PathBuf,
}

impl Switch {
    fn start(draw: usize) -> Result<Self> {
        let binary = std::env::current_exe()?.with_file_name("wayname-switch");
        ensure!(binary.exists(), "{} is not there; build it with the benchmark", binary.display());
        let folder = std::env::temp_dir().join(format!("wayname-first-packet-{}-{draw}", std::process::id()));
        std::fs::create_dir(&folder).with_context(|| folder.display().to_string())?;
        let mut command = Command::new(binary);
        for port in [IN, OUT[0], OUT[1]] {
            command.arg("-i").arg(format!("{port}@wire:{}", wire(&folder, port).display()));
        }
        command.args(["--grpc-server-addr", &format!("unix:{}", socket(&folder).display())]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Ok(Self { process: command.spawn().context("wayname-switch")?, folder })
    }

    /// As soon as it listens.
    async fn client(&self, p4info: &P4Info, text: &str) -> Result<Client> {
        let start = Instant::now();
        let socket = socket(&self.folder);
        while !socket.exists() {
            if start.elapsed() > PATIENCE {
                bail!("wayname-switch does not listen at {} after {PATIENCE:?}", socket.display());
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        Client::connect(&format!("unix:{}", socket.display()), p4info.clone(), text).await
    }

    fn wires(&self) -> Result<[Wire; 3]> {
        let open = |port| Wire::new(&wire(&self.folder, port)).with_context(|| format!("the wire of port {port}"));
        Ok([open(IN)?, open(OUT[0])?, open(OUT[1])?])
    }
}

impl Drop for Switch {
    fn drop(&mut self) {
        // It may have ended by itself; what is left is in the system's folder for temporary files.
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn wire(folder: &Path, port: usize) -> PathBuf {
    folder.join(port.to_string())
}

fn socket(folder: &Path) -> PathBuf {
    folder.join("p4runtime")
}

fn thousandths(value: f64) -> String {
    format!("{value:.3}")
}

fn milliseconds(value: f64) -> String {
    format!("{value:.3} ms")
}
