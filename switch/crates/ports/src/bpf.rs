//! Programs that the kernel runs on frames, and the maps that they share with us: bpf(2).
//!
//! Programs are written here, instruction by instruction ([`Code`]), and loaded by the system call itself: a crate for this
//! brings an ELF reader, BTF and a compiler of its own. The kernel's verifier decides whether a program is safe to run, and
//! [`Program::load`] says what it found.
//!
//! What is loaded belongs to its descriptor: maps and programs go when the last program, link, socket or process that has
//! them is gone.

pub mod assembler;
pub mod map;
pub mod program;

use std::io;
use std::os::fd::{FromRawFd, OwnedFd};

pub use crate::memory::Mapping;
pub use assembler::{Alu, Code, Compare, Instruction, Label, Operand, Reg, Size};
pub use map::Map;
pub use program::{Kind, Link, Program, remove_filter};

/// Runs a command that answers with a new descriptor.
#[allow(unsafe_code)]
fn new_fd<T>(command: libc::c_int, request: &T) -> io::Result<OwnedFd> {
    let fd = bpf(command, request)?;
    // SAFETY: these commands answer with a new descriptor, which nobody else owns.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

#[allow(unsafe_code)]
fn bpf<T>(command: libc::c_int, request: &T) -> io::Result<libc::c_int> {
    // SAFETY: the kernel reads `size_of::<T>()` bytes of the request, which has the start of `union bpf_attr` of that
    // command, and reads or writes what its pointers point at, which the callers keep through the call.
    let result = unsafe { libc::syscall(libc::SYS_bpf, command, std::ptr::from_ref(request), size_of::<T>()) };
    match result {
        0.. => Ok(result as libc::c_int),
        _ => Err(explain(io::Error::last_os_error())),
    }
}

/// The error, in words for what stops every command.
fn explain(error: io::Error) -> io::Error {
    match error.raw_os_error() {
        Some(libc::ENOSYS) => io::Error::new(io::ErrorKind::Unsupported, "this kernel is built without bpf(2)"),
        Some(libc::EPERM) => io::Error::new(
            io::ErrorKind::PermissionDenied,
            format!("{error}: bpf(2) needs CAP_BPF and CAP_NET_ADMIN, and before Linux 5.11 room in RLIMIT_MEMLOCK"),
        ),
        _ => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stops_every_command_is_said_in_words() {
        let text = |code| explain(io::Error::from_raw_os_error(code)).to_string();
        assert_eq!(text(libc::ENOSYS), "this kernel is built without bpf(2)");
        assert!(text(libc::EPERM).contains("CAP_BPF"), "{}", text(libc::EPERM));
        assert_eq!(explain(io::Error::from_raw_os_error(libc::EBUSY)).raw_os_error(), Some(libc::EBUSY));
    }
}
