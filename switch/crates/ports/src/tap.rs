//! A TAP device: a network interface of the kernel whose other end is the switch.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt;

use crate::device::name_bytes;
use crate::{MAX_FRAME, Port};

/// The switch's end of a TAP device.
pub struct Tap {
    file: File,
    buffer: Vec<u8>,
    full: bool,
}

impl Tap {
    /// Opens the device, and makes it if it is not there (which needs CAP_NET_ADMIN).
    pub fn open(name: &str) -> io::Result<Self> {
        let file = OpenOptions::new().read(true).write(true).custom_flags(libc::O_NONBLOCK).open("/dev/net/tun")?;
        let mut request = InterfaceRequest { name: name_bytes(name)?, flags: IFF_TAP | IFF_NO_PI, rest: [0; 22] };
        set_interface(&file, &mut request)?;
        Ok(Self { file, buffer: vec![0; MAX_FRAME], full: false })
    }
}

const IFF_TAP: u16 = 0x0002;
const IFF_NO_PI: u16 = 0x1000;

/// The kernel's `struct ifreq` with its flags.
#[repr(C)]
struct InterfaceRequest {
    name: [u8; 16],
    flags: u16,
    rest: [u8; 22],
}

#[allow(unsafe_code)]
fn set_interface(file: &File, request: &mut InterfaceRequest) -> io::Result<()> {
    // SAFETY: TUNSETIFF reads and writes one `struct ifreq`, which `request` has the size and layout of.
    let result = unsafe { libc::ioctl(file.as_raw_fd(), libc::TUNSETIFF as _, std::ptr::from_mut(request)) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

impl Port for Tap {
    fn receive(&mut self, max: usize, take: &mut dyn FnMut(&[u8])) -> io::Result<usize> {
        for count in 0..max {
            match self.file.read(&mut self.buffer) {
                Ok(bytes) => take(&self.buffer[..bytes]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(count),
                Err(error) => return Err(error),
            }
        }
        Ok(max)
    }

    fn send(&mut self, frame: &[u8], _now: u64) -> io::Result<bool> {
        self.full = false;
        match self.file.write(frame) {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                self.full = true;
                Ok(false)
            }
            // The kernel's end is down (EIO) or refuses the frame as no Ethernet frame (EINVAL): it is lost.
            Err(error) if matches!(error.raw_os_error(), Some(libc::EIO | libc::EINVAL)) => Ok(true),
            Err(error) => Err(error),
        }
    }

    fn flush(&mut self, _now: u64) -> io::Result<()> {
        // Time has passed: the next frame may try again.
        self.full = false;
        Ok(())
    }

    fn ready(&self) -> bool {
        !self.full
    }

    fn fd(&self) -> Option<BorrowedFd<'_>> {
        Some(self.file.as_fd())
    }
}
