//! The host in real time: sleeps until a frame, a command, a signal or a timer comes.

use std::collections::VecDeque;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::Path;

use anyhow::{Context, Result};
use host::Host;
use ports::Port;
use ports::wire::Wire;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::time::{ClockId, clock_gettime};
use signal_hook::consts::{SIGINT, SIGTERM};

use crate::args::Args;
use crate::control::{Lines, write_events};

/// Frames taken before the host deals with them.
const BURST: usize = 256;
/// How often an end that neither is connected nor listens tries again.
const RECONNECT: u64 = 20_000_000;

struct Runner {
    host: Host,
    wire: Wire,
    up: bool,
    /// Frames that the wire had no room for.
    leaving: VecDeque<Vec<u8>>,
    lines: Option<Lines>,
    /// Readable when a signal came.
    signals: UnixStream,
}

/// Runs until the end of the input or a signal.
pub fn run(args: &Args) -> Result<()> {
    let lines = args.reads_commands()?.then(Lines::new);
    let host = Host::new(&args.config(now())?).map_err(anyhow::Error::msg)?;
    let (signals, sender) = UnixStream::pair().context("signals")?;
    for signal in [SIGINT, SIGTERM] {
        signal_hook::low_level::pipe::register(signal, sender.try_clone()?).context("signals")?;
    }
    let wire = open_wire(&args.wire)?;
    let runner = Runner { host, wire, up: false, leaving: VecDeque::new(), lines, signals };
    runner.run().with_context(|| format!("the wire {}", args.wire.display()))
}

fn open_wire(path: &Path) -> Result<Wire> {
    Wire::new(path).with_context(|| {
        format!(
            "the wire {}: its folder must be there, its path below 108 bytes, and no file in the way",
            path.display()
        )
    })
}

impl Runner {
    fn run(mut self) -> Result<()> {
        loop {
            let time = now();
            let received = self.receive(time)?;
            self.watch_link(time);
            // While the wire is full, TCP's buffers hold back what programs send.
            if self.leaving.is_empty() {
                let mut frames = vec![];
                self.host.poll(time, &mut frames);
                self.leaving.extend(frames);
            }
            self.send(time)?;
            let events = self.host.take_events();
            if !events.is_empty() && !write_events(&events)? {
                return Ok(());
            }
            if !self.wait(received == BURST)? {
                return Ok(());
            }
        }
    }

    fn receive(&mut self, time: u64) -> Result<usize> {
        let host = &mut self.host;
        Ok(self.wire.receive(BURST, &mut |frame| host.receive(frame, time))?)
    }

    fn watch_link(&mut self, time: u64) {
        if self.wire.is_up() != self.up {
            self.up = self.wire.is_up();
            self.host.set_link(self.up, time);
        }
    }

    fn send(&mut self, time: u64) -> Result<()> {
        while let Some(frame) = self.leaving.front() {
            if !self.wire.send(frame, time)? {
                break;
            }
            self.leaving.pop_front();
        }
        Ok(self.wire.flush(time)?)
    }

    /// Sleeps until there is something to do, and carries out commands; false when it is time to end.
    fn wait(&mut self, more: bool) -> Result<bool> {
        let time = now();
        let full = !self.leaving.is_empty();
        let wake = if full { None } else { self.host.next_wake(time) };
        let reconnect = self.wire.fd().is_none().then_some(time + RECONNECT);
        let until = if more { Some(time) } else { wake.into_iter().chain(reconnect).min() };
        let timeout = until.map(|until| timespec(until.saturating_sub(time)));

        let signals = self.signals.as_fd();
        let mut fds = vec![PollFd::new(&signals, PollFlags::IN)];
        let input = self.lines.as_ref().map(Lines::fd);
        fds.extend(input.map(|input| PollFd::from_borrowed_fd(input, PollFlags::IN)));
        let flags = if full { PollFlags::IN | PollFlags::OUT } else { PollFlags::IN };
        fds.extend(self.wire.fd().map(|fd| PollFd::from_borrowed_fd(fd, flags)));
        match poll(&mut fds, timeout.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        if !fds[0].revents().is_empty() {
            return Ok(false);
        }
        let command = input.is_some() && !fds[1].revents().is_empty();
        if let Some(lines) = self.lines.as_mut().filter(|_| command) {
            return Ok(lines.carry_out(&mut self.host, now())?);
        }
        Ok(true)
    }
}

/// Nanoseconds of the clock that all processes of this machine share, so that times of two hosts can be compared.
fn now() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

fn timespec(nanoseconds: u64) -> Timespec {
    Timespec { tv_sec: (nanoseconds / 1_000_000_000) as i64, tv_nsec: (nanoseconds % 1_000_000_000) as i64 }
}
