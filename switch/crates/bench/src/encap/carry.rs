//! Ports without a switch between them: what the way costs whoever takes it, whatever is done with the frames.

use anyhow::{Context, Result};
use bench::traffic::FORWARD;
use ports::{Port, PortSpec};
use rustix::event::{PollFd, PollFlags, poll};

/// As the switch's.
const BURST: usize = 64;

/// Carries every frame from one port to the other, until killed.
pub fn run(from: &PortSpec, to: &PortSpec) -> Result<()> {
    let open = |spec: &PortSpec| ports::open(spec, 0).with_context(|| spec.device.to_string());
    let (mut from, mut to) = (open(from)?, open(to)?);
    let carrying = std::thread::Builder::new().name(FORWARD.into()).spawn(move || carry(&mut *from, &mut *to))?;
    carrying.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

fn carry(from: &mut dyn Port, to: &mut dyn Port) -> Result<()> {
    loop {
        let mut failed = Ok(());
        let received = from.receive(BURST, &mut |frame| {
            // A port without room loses the frame, as it would the switch's.
            if let Err(error) = to.send(frame, 0) {
                failed = Err(error);
            }
        })?;
        failed?;
        to.flush(0)?;
        if received == 0 {
            let fd = from.fd().context("a port that frames come from by themselves")?;
            poll(&mut [PollFd::from_borrowed_fd(fd, PollFlags::IN)], None)?;
        }
    }
}
