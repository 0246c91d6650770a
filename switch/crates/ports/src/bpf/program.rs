//! Programs in the kernel, and what they run on.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use super::{Instruction, new_fd};
use crate::device::set_option;

// Commands, kinds and flags of linux/bpf.h and linux/if_link.h.
const PROG_LOAD: libc::c_int = 5;
const LINK_CREATE: libc::c_int = 28;
const PROG_TYPE_SOCKET_FILTER: u32 = 1;
const PROG_TYPE_SCHED_CLS: u32 = 3;
const PROG_TYPE_XDP: u32 = 6;
const ATTACH_TYPE_XDP: u32 = 37;
const ATTACH_TYPE_TCX_INGRESS: u32 = 46;
const FLAG_SKB_MODE: u32 = 1 << 1;
const FLAG_DRV_MODE: u32 = 1 << 2;
const FLAG_BEFORE: u32 = 1 << 3;

/// Room for the verifier's log: one that is longer, kernels before 6.4 cut off at its end.
const LOG: usize = 4 << 20;
/// How much of the log's end an error shows.
const LAST_LINES: usize = 8;
/// The verifier gives up while a signal waits for this thread.
const TRIES: usize = 5;

/// Where a program runs, which says what its context is and its answer means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// On frames as the driver receives them.
    Xdp,
    /// On packets of the kernel's stack, as they come in from an interface.
    Tc,
    /// On packets for a socket: the answer is how many octets of it the socket gets.
    SocketFilter,
}

/// A program that the verifier let pass.
pub struct Program {
    kind: Kind,
    fd: OwnedFd,
}

/// A program is on the interface for as long as this lives.
pub struct Link {
    _fd: OwnedFd,
}

#[repr(C, align(8))]
struct Load {
    kind: u32,
    instruction_count: u32,
    instructions: u64,
    license: u64,
    log_level: u32,
    log_size: u32,
    log: u64,
    kernel_version: u32,
    flags: u32,
    name: [u8; 16],
    interface: u32,
    expected_attach_type: u32,
}

/// What all kinds of links begin with. What follows for tcx, the kernel takes as zero: behind the programs that are there.
#[repr(C)]
struct LinkCreate {
    program: u32,
    interface: u32,
    attach_type: u32,
    flags: u32,
}

impl Program {
    /// Gives the instructions to the verifier. `name` has at most 15 letters, digits, `_` and `.`, and is what `bpftool prog`
    /// shows. If the verifier refuses the program, the error's text ends with the last lines of its log.
    pub fn load(kind: Kind, name: &str, instructions: &[Instruction]) -> io::Result<Self> {
        let (program_type, expected_attach_type) = match kind {
            Kind::Xdp => (PROG_TYPE_XDP, ATTACH_TYPE_XDP),
            Kind::Tc => (PROG_TYPE_SCHED_CLS, ATTACH_TYPE_TCX_INGRESS),
            Kind::SocketFilter => (PROG_TYPE_SOCKET_FILTER, 0),
        };
        let mut load = Load {
            kind: program_type,
            instruction_count: instructions.len() as u32,
            instructions: instructions.as_ptr() as u64,
            license: c"Apache-2.0".as_ptr() as u64,
            log_level: 0,
            log_size: 0,
            log: 0,
            kernel_version: 0,
            flags: 0,
            name: name_bytes(name)?,
            interface: 0,
            expected_attach_type,
        };
        let error = match verify(&load) {
            Ok(fd) => return Ok(Self { kind, fd }),
            Err(error) => error,
        };
        // The log costs more than the verification; it is written only where it will be read.
        let mut log = vec![0; LOG];
        (load.log_level, load.log_size, load.log) = (1, LOG as u32, log.as_mut_ptr() as u64);
        match verify(&load) {
            Ok(fd) => Ok(Self { kind, fd }),
            Err(_) => Err(with_log(error, &log)),
        }
    }

    /// Runs the program on what comes in at the interface of this index: in its driver, or on the way from there to the
    /// stack, which every interface can.
    pub fn attach_xdp(&self, interface: u32, in_driver: bool) -> io::Result<Link> {
        assert_eq!(self.kind, Kind::Xdp);
        self.link(interface, ATTACH_TYPE_XDP, if in_driver { FLAG_DRV_MODE } else { FLAG_SKB_MODE })
    }

    /// Runs the program on what comes in at the interface of this index, before the programs that are there: as packet
    /// sockets see what comes in before them.
    pub fn attach_tc_ingress(&self, interface: u32) -> io::Result<Link> {
        assert_eq!(self.kind, Kind::Tc);
        self.link(interface, ATTACH_TYPE_TCX_INGRESS, FLAG_BEFORE).map_err(|error| match error.raw_os_error() {
            Some(libc::EINVAL) => {
                io::Error::new(io::ErrorKind::Unsupported, "this kernel has no tcx (Linux 6.6 or later)")
            }
            _ => error,
        })
    }

    fn link(&self, interface: u32, attach_type: u32, flags: u32) -> io::Result<Link> {
        let program = self.fd.as_raw_fd() as u32;
        let fd = new_fd(LINK_CREATE, &LinkCreate { program, interface, attach_type, flags })?;
        Ok(Link { _fd: fd })
    }

    /// Runs the program on what comes to the socket, in place of the filter that it has.
    pub fn filter(&self, socket: &impl AsFd) -> io::Result<()> {
        set_option(socket, libc::SOL_SOCKET, libc::SO_ATTACH_BPF, &self.fd.as_raw_fd())
    }
}

impl AsFd for Program {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// Lets all packets come to the socket, whether it has a filter or not.
pub fn remove_filter(socket: &impl AsFd) -> io::Result<()> {
    // The kernel wants a number, and does not look at it.
    match set_option(socket, libc::SOL_SOCKET, libc::SO_DETACH_FILTER, &0i32) {
        Err(error) if error.raw_os_error() == Some(libc::ENOENT) => Ok(()),
        result => result,
    }
}

fn verify(load: &Load) -> io::Result<OwnedFd> {
    let mut tries = 1;
    loop {
        match new_fd(PROG_LOAD, load) {
            Err(error) if error.raw_os_error() == Some(libc::EAGAIN) && tries < TRIES => tries += 1,
            result => return result,
        }
    }
}

fn name_bytes(name: &str) -> io::Result<[u8; 16]> {
    let mut bytes = [0; 16];
    let known = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.');
    if name.len() >= bytes.len() || !name.bytes().all(known) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, format!("'{name}' is no name of a program")));
    }
    bytes[..name.len()].copy_from_slice(name.as_bytes());
    Ok(bytes)
}

/// The error, with what the verifier said last.
fn with_log(error: io::Error, log: &[u8]) -> io::Error {
    let end = log.iter().position(|byte| *byte == 0).unwrap_or(log.len());
    let log = String::from_utf8_lossy(&log[..end]);
    // It ends with what the verification took, which is no reason.
    let lines: Vec<&str> = log.lines().filter(|line| !line.starts_with("processed ")).collect();
    let last = &lines[lines.len().saturating_sub(LAST_LINES)..];
    if last.is_empty() {
        return error;
    }
    io::Error::new(error.kind(), format!("the verifier refuses it: {error}\n{}", last.join("\n")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_ends_with_what_the_verifier_said_last() {
        let error = || io::Error::from_raw_os_error(libc::EACCES);
        let steps: String = (0..20).map(|step| format!("{step}: (b7) r0 = 0\n")).collect();
        let text = with_log(error(), format!("{steps}R3 !read_ok\nprocessed 21 insns\n\0\0").as_bytes()).to_string();
        assert!(text.ends_with("\n19: (b7) r0 = 0\nR3 !read_ok"), "{text}");
        assert_eq!(text.lines().count(), 1 + LAST_LINES);
        assert_eq!(with_log(error(), &[0; 4]).raw_os_error(), Some(libc::EACCES));
    }

    #[test]
    fn a_name_is_one_that_the_kernel_takes() {
        assert!(name_bytes("wayname_0.1").is_ok() && name_bytes("fifteen_letters").is_ok());
        assert!(name_bytes("sixteen_letters_").is_err() && name_bytes("way-name").is_err());
    }
}
