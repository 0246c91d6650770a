//! The program on the interface: five instructions that give a frame to the socket of its queue.
//!
//! Written by hand and loaded by bpf(2): a crate for this brings an ELF reader, BTF and a compiler of its own for what is
//! forty bytes.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use super::step;

/// The program is on the interface for as long as this lives.
pub struct Attached {
    _link: OwnedFd,
}

// Commands, kinds and flags of linux/bpf.h and linux/if_link.h.
const MAP_CREATE: libc::c_int = 0;
const MAP_UPDATE_ELEM: libc::c_int = 2;
const PROG_LOAD: libc::c_int = 5;
const LINK_CREATE: libc::c_int = 28;
const MAP_TYPE_XSKMAP: u32 = 17;
const PROG_TYPE_XDP: u32 = 6;
const ATTACH_TYPE_XDP: u32 = 37;
const FLAG_SKB_MODE: u32 = 1 << 1;
const FLAG_DRV_MODE: u32 = 1 << 2;

#[repr(C)]
struct Instruction {
    code: u8,
    /// Destination in the low half, source in the high half.
    registers: u8,
    offset: i16,
    immediate: i32,
}

#[repr(C)]
struct MapCreate {
    kind: u32,
    key_size: u32,
    value_size: u32,
    max_entries: u32,
    flags: u32,
}

#[repr(C, align(8))]
struct MapUpdate {
    map: u32,
    padding: u32,
    key: u64,
    value: u64,
    flags: u64,
}

#[repr(C, align(8))]
struct ProgLoad {
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

#[repr(C)]
struct LinkCreate {
    program: u32,
    interface: u32,
    attach_type: u32,
    flags: u32,
}

/// Puts the program on the interface, with `sockets` by queue.
pub fn attach(interface: u32, sockets: &[BorrowedFd<'_>]) -> io::Result<Attached> {
    let map =
        MapCreate { kind: MAP_TYPE_XSKMAP, key_size: 4, value_size: 4, max_entries: sockets.len() as u32, flags: 0 };
    let map = new_fd(MAP_CREATE, &map).map_err(|error| step("a map of AF_XDP sockets", error))?;
    for (queue, socket) in (0u32..).zip(sockets) {
        let value = socket.as_raw_fd() as u32;
        let update = MapUpdate {
            map: map.as_raw_fd() as u32,
            padding: 0,
            key: &raw const queue as u64,
            value: &raw const value as u64,
            flags: 0,
        };
        bpf(MAP_UPDATE_ELEM, &update).map_err(|error| step("the map of AF_XDP sockets", error))?;
    }
    let program = load(map.as_fd()).map_err(|error| step("the XDP program", error))?;
    // The link keeps the program, and the program the map.
    let link = |flags| {
        let program = program.as_raw_fd() as u32;
        new_fd(LINK_CREATE, &LinkCreate { program, interface, attach_type: ATTACH_TYPE_XDP, flags })
    };
    // In the driver where it can, else on the way from the driver to the stack.
    let refused = |error: &io::Error| matches!(error.raw_os_error(), Some(libc::EBUSY | libc::EEXIST | libc::EPERM));
    let link = link(FLAG_DRV_MODE).or_else(|error| if refused(&error) { Err(error) } else { link(FLAG_SKB_MODE) });
    match link {
        Ok(link) => Ok(Attached { _link: link }),
        Err(error) if matches!(error.raw_os_error(), Some(libc::EBUSY | libc::EEXIST)) => Err(io::Error::new(
            error.kind(),
            "another XDP program is on the interface; take it off (ip link set dev IFNAME xdp off) or stop its owner",
        )),
        Err(error) => Err(step("the XDP program on the interface", error)),
    }
}

/// A frame goes to the socket in the map's slot of its queue, or on to the kernel where there is none.
fn load(map: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    const QUEUE: i16 = 16;
    const PASS: i32 = 2;
    const REDIRECT_MAP: i32 = 51;
    let instruction = |code, registers, offset, immediate| Instruction { code, registers, offset, immediate };
    let instructions = [
        // r2 = the frame's queue: a word of the context that r1 points at
        instruction(0x61, 0x12, QUEUE, 0),
        // r1 = the map: 64 bits, in two instructions
        instruction(0x18, 0x11, 0, map.as_raw_fd()),
        instruction(0x00, 0x00, 0, 0),
        // r3 = what to do without a socket
        instruction(0xb7, 0x03, 0, PASS),
        // return redirect_map(r1, r2, r3)
        instruction(0x85, 0x00, 0, REDIRECT_MAP),
        instruction(0x95, 0x00, 0, 0),
    ];
    let mut name = [0; 16];
    name[..7].copy_from_slice(b"wayname");
    let load = ProgLoad {
        kind: PROG_TYPE_XDP,
        instruction_count: instructions.len() as u32,
        instructions: instructions.as_ptr() as u64,
        license: c"Apache-2.0".as_ptr() as u64,
        log_level: 0,
        log_size: 0,
        log: 0,
        kernel_version: 0,
        flags: 0,
        name,
        interface: 0,
        expected_attach_type: ATTACH_TYPE_XDP,
    };
    new_fd(PROG_LOAD, &load)
}

#[allow(unsafe_code)]
fn new_fd<T>(command: libc::c_int, request: &T) -> io::Result<OwnedFd> {
    let fd = bpf(command, request)?;
    // SAFETY: these commands answer with a new descriptor, which nobody else owns.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

#[allow(unsafe_code)]
fn bpf<T>(command: libc::c_int, request: &T) -> io::Result<libc::c_int> {
    // SAFETY: the kernel reads `size_of::<T>()` bytes of the request, which has the start of `union bpf_attr` of that
    // command, and what its pointers point at, which the callers keep through the call.
    let result = unsafe { libc::syscall(libc::SYS_bpf, command, std::ptr::from_ref(request), size_of::<T>()) };
    match result {
        0.. => Ok(result as libc::c_int),
        _ => Err(match io::Error::last_os_error() {
            error if error.raw_os_error() == Some(libc::ENOSYS) => io::Error::new(
                io::ErrorKind::Unsupported,
                "this kernel is built without bpf(2); take the interface without xdp:",
            ),
            error => error,
        }),
    }
}
