//! A TAP device: a network interface of the kernel whose other end is the switch.
//!
//! Before each frame stands what is still to be done to it ([`crate::offload`]): the kernel leaves segmentation and
//! checksums to us, and takes segments of a connection as one frame.

use std::fs::{File, OpenOptions};
use std::io::{self, IoSlice, Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt;

use crate::device::name_bytes;
use crate::offload::coalesce::Coalescer;
use crate::offload::{MAX_SUPER_FRAME, Offload, complete};
use crate::{Lost, Port, ShownCarrier, Takeover};

/// The switch's end of a TAP device.
pub struct Tap {
    file: File,
    buffer: Vec<u8>,
    coalescer: Coalescer,
    full: bool,
    lost: Lost,
}

impl Tap {
    /// Opens the device, and makes it if it is not there (which needs CAP_NET_ADMIN).
    pub fn open(name: &str) -> io::Result<Self> {
        let file = OpenOptions::new().read(true).write(true).custom_flags(libc::O_NONBLOCK).open("/dev/net/tun")?;
        let flags = IFF_TAP | IFF_NO_PI | IFF_VNET_HDR;
        let mut request = InterfaceRequest { name: name_bytes(name)?, flags, rest: [0; 22] };
        set_interface(&file, &mut request)?;
        set_header_len(&file, Offload::LEN as libc::c_int)?;
        let segmentation = TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6 | TUN_F_TSO_ECN;
        // UDP's segmentation came with Linux 6.2; an older kernel does it itself.
        set_offload(&file, segmentation | TUN_F_USO4 | TUN_F_USO6).or_else(|_| set_offload(&file, segmentation))?;
        Ok(Self::on(file))
    }

    /// The end that another process had.
    pub(crate) fn take_over(end: Takeover) -> io::Result<Self> {
        let ([file], []) = end.expect()?;
        Ok(Self::on(file.into()))
    }

    fn on(file: File) -> Self {
        let buffer = vec![0; Offload::LEN + MAX_SUPER_FRAME];
        Self { file, buffer, coalescer: Coalescer::new(), full: false, lost: Lost::default() }
    }

    /// False when the kernel has no room.
    fn write(file: &mut File, parts: &[IoSlice<'_>]) -> io::Result<bool> {
        match file.write_vectored(parts) {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
            // The kernel's end is down (EIO) or refuses the frame as no Ethernet frame (EINVAL): it is lost.
            Err(error) if matches!(error.raw_os_error(), Some(libc::EIO | libc::EINVAL)) => Ok(true),
            Err(error) => Err(error),
        }
    }

    /// Sends what waited for more of its connection.
    fn send_held(&mut self) -> io::Result<()> {
        let Some((_, whole)) = self.coalescer.held() else { return Ok(()) };
        let sent = Self::write(&mut self.file, &[IoSlice::new(whole)]);
        self.full = matches!(sent, Ok(false));
        if !self.full {
            self.coalescer.clear();
        }
        sent.map(drop)
    }
}

impl Tap {
    /// Lets the device stay when this end is closed.
    #[allow(unsafe_code)]
    pub(crate) fn persist(&self) -> io::Result<()> {
        // SAFETY: no memory is passed: TUNSETPERSIST takes the value itself.
        let result = unsafe { libc::ioctl(self.file.as_raw_fd(), libc::TUNSETPERSIST as _, 1) };
        if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }
}

const IFF_TAP: u16 = 0x0002;
const IFF_NO_PI: u16 = 0x1000;
const IFF_VNET_HDR: u16 = 0x4000;
const TUN_F_CSUM: libc::c_ulong = 0x01;
const TUN_F_TSO4: libc::c_ulong = 0x02;
const TUN_F_TSO6: libc::c_ulong = 0x04;
const TUN_F_TSO_ECN: libc::c_ulong = 0x08;
const TUN_F_USO4: libc::c_ulong = 0x20;
const TUN_F_USO6: libc::c_ulong = 0x40;

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

#[allow(unsafe_code)]
fn set_header_len(file: &File, len: libc::c_int) -> io::Result<()> {
    // SAFETY: TUNSETVNETHDRSZ reads one int.
    let result = unsafe { libc::ioctl(file.as_raw_fd(), libc::TUNSETVNETHDRSZ as _, &raw const len) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Says what the kernel may leave to us.
#[allow(unsafe_code)]
fn set_offload(file: &File, offloads: libc::c_ulong) -> io::Result<()> {
    // SAFETY: TUNSETOFFLOAD takes its flags by value.
    let result = unsafe { libc::ioctl(file.as_raw_fd(), libc::TUNSETOFFLOAD as _, offloads) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

impl Port for Tap {
    fn receive(&mut self, max: usize, take: &mut dyn FnMut(&[u8])) -> io::Result<usize> {
        let mut count = 0;
        while count < max {
            let bytes = match self.file.read(&mut self.buffer) {
                Ok(bytes) => bytes,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            };
            let Some((offload, frame)) = self.buffer[..bytes].split_first_chunk_mut() else { continue };
            match complete(&Offload::from_bytes(offload), frame, take) {
                Some(frames) => count += frames,
                None => self.lost.offload += 1,
            }
        }
        Ok(count)
    }

    fn send(&mut self, frame: &[u8], _now: u64) -> io::Result<bool> {
        if self.coalescer.take(frame) {
            return Ok(true);
        }
        self.send_held()?;
        if self.full {
            return Ok(false);
        }
        if self.coalescer.take(frame) {
            return Ok(true);
        }
        let nothing = Offload::default().to_bytes();
        self.full = !Self::write(&mut self.file, &[IoSlice::new(&nothing), IoSlice::new(frame)])?;
        Ok(!self.full)
    }

    fn flush(&mut self, _now: u64) -> io::Result<()> {
        // Time has passed: the next frame may try again.
        self.full = false;
        self.send_held()
    }

    fn next_wakeup(&self) -> Option<u64> {
        (!self.coalescer.is_empty()).then_some(0)
    }

    fn ready(&self) -> bool {
        !self.full
    }

    fn fd(&self) -> Option<BorrowedFd<'_>> {
        Some(self.file.as_fd())
    }

    fn lost(&mut self) -> Lost {
        self.lost
    }

    fn hand_over(&mut self) -> io::Result<Takeover> {
        Ok(Takeover { descriptors: vec![self.file.try_clone()?.into()], numbers: vec![] })
    }

    fn shown_carrier(&self) -> io::Result<Option<ShownCarrier>> {
        self.file.try_clone().map(|file| Some(ShownCarrier(file)))
    }
}
