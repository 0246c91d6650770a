//! Network namespaces: of their own, in which tests and measurements make interfaces without meeting those of the machine; and
//! with a name, in which an operator wants TAP devices.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::process::{Command, Stdio};

use rustix::thread::{LinkNameSpaceType, UnshareFlags, move_into_link_name_space};

/// A network namespace. It ends, with all interfaces in it, when this value and everything that runs in it has ended.
pub struct Namespace {
    file: File,
}

impl Namespace {
    /// A new namespace with nothing but a loopback that is down (which needs CAP_SYS_ADMIN).
    pub fn new() -> io::Result<Self> {
        on_own_thread(|| {
            unshare_network()?;
            Ok(Self { file: File::open("/proc/thread-self/ns/net")? })
        })
    }

    /// The namespace that `ip netns` gives this name.
    pub fn named(name: &str) -> io::Result<Self> {
        let path = format!("/run/netns/{name}");
        let file = File::open(&path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => io::Error::new(
                io::ErrorKind::NotFound,
                format!("there is no network namespace '{name}'; make it by `ip netns add {name}`"),
            ),
            _ => error,
        })?;
        Ok(Self { file })
    }

    /// Runs `work` on a thread in the namespace; what it opens and the processes it starts stay there.
    pub fn enter<R: Send>(&self, work: impl FnOnce() -> R + Send) -> io::Result<R> {
        on_own_thread(|| {
            move_into_link_name_space(self.file.as_fd(), Some(LinkNameSpaceType::Network))?;
            Ok(work())
        })
    }

    /// Runs `ip` in the namespace.
    pub fn ip(&self, arguments: &str) -> io::Result<()> {
        let mut command = Command::new("ip");
        command.args(arguments.split_whitespace()).stdin(Stdio::null()).stderr(Stdio::piped());
        let output = self.enter(|| command.output())??;
        if output.status.success() {
            return Ok(());
        }
        Err(io::Error::other(format!("ip {arguments}: {}", String::from_utf8_lossy(&output.stderr).trim())))
    }

    /// What other processes may call the namespace while this value lives.
    pub fn path(&self) -> String {
        format!("/proc/{}/fd/{}", std::process::id(), self.file.as_raw_fd())
    }
}

fn on_own_thread<R: Send>(work: impl FnOnce() -> io::Result<R> + Send) -> io::Result<R> {
    std::thread::scope(|scope| scope.spawn(work).join()).unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

#[allow(unsafe_code)]
fn unshare_network() -> io::Result<()> {
    // SAFETY: changes the network namespace of this thread alone; memory and descriptors stay shared.
    Ok(unsafe { rustix::thread::unshare_unsafe(UnshareFlags::NEWNET) }?)
}
