//! The program on the interface: five instructions that give a frame to the socket of its queue.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

use super::step;
use crate::bpf::{Alu, Code, Instruction, Kind, Link, Map, Program, Reg, Size};

/// Puts the program on the interface, with `sockets` by queue.
pub fn attach(interface: u32, sockets: &[BorrowedFd<'_>]) -> io::Result<Link> {
    let map = Map::sockets(sockets.len() as u32).map_err(|error| step("a map of AF_XDP sockets", advise(error)))?;
    for (queue, socket) in (0u32..).zip(sockets) {
        map.put(&queue.to_ne_bytes(), &socket.as_raw_fd().to_ne_bytes())
            .map_err(|error| step("the map of AF_XDP sockets", error))?;
    }
    let program = Program::load(Kind::Xdp, "wayname", &instructions(&map));
    // The link keeps the program, and the program the map.
    let program = program.map_err(|error| step("the XDP program", error))?;
    // In the driver where it can, else on the way from the driver to the stack.
    let link = program.attach_xdp(interface, true).or_else(|error| match error.kind() {
        io::ErrorKind::PermissionDenied => Err(error),
        _ if is_taken(&error) => Err(error),
        _ => program.attach_xdp(interface, false),
    });
    link.map_err(|error| match is_taken(&error) {
        true => io::Error::new(
            error.kind(),
            "another XDP program is on the interface; take it off (ip link set dev IFNAME xdp off) or stop its owner",
        ),
        false => step("the XDP program on the interface", error),
    })
}

fn is_taken(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EBUSY | libc::EEXIST))
}

/// The error, with what to do where there is no bpf(2).
fn advise(error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::Unsupported if error.raw_os_error().is_none() => {
            io::Error::new(error.kind(), format!("{error}; take the interface without xdp:"))
        }
        _ => error,
    }
}

/// A frame goes to the socket in the map's slot of its queue, or on to the kernel where there is none.
fn instructions(map: &Map) -> Vec<Instruction> {
    /// Where the context has the frame's queue.
    const QUEUE: i16 = 16;
    const PASS: i32 = 2;
    const REDIRECT_MAP: i32 = 51;
    let mut code = Code::new();
    code.load(Size::Four, Reg::R2, Reg::R1, QUEUE);
    code.map(Reg::R1, map);
    code.alu(Alu::Move, Reg::R3, PASS);
    code.call(REDIRECT_MAP);
    code.exit();
    code.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_there_is_no_bpf_a_port_works_without() {
        let missing = advise(io::Error::new(io::ErrorKind::Unsupported, "this kernel is built without bpf(2)"));
        assert_eq!(missing.to_string(), "this kernel is built without bpf(2); take the interface without xdp:");
        let other = advise(io::Error::from_raw_os_error(libc::EOPNOTSUPP));
        assert_eq!(other.raw_os_error(), Some(libc::EOPNOTSUPP));
    }
}
