//! What the kernel knows of a network interface.
//!
//! Asked by ioctl and not read from `/sys`: that shows the interfaces of the network namespace it was mounted in, which
//! need not be the one this thread is in.

use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};

/// An interface by its name, in the namespace in which it was looked up.
pub(crate) struct Device {
    socket: OwnedFd,
    name: [u8; 16],
    pub index: u32,
}

const ETHTOOL_GLINK: u32 = 0x0a;
const ETHTOOL_GTSO: u32 = 0x1e;
const ETHTOOL_GCHANNELS: u32 = 0x3c;

/// The kernel's `struct ifreq`: a name, and a value that the request gives its meaning.
#[repr(C, align(8))]
struct Request {
    name: [u8; 16],
    value: [u8; 24],
}

/// The kernel's `struct ethtool_channels`.
#[repr(C)]
#[derive(Default)]
struct Channels {
    command: u32,
    max_rx: u32,
    max_tx: u32,
    max_other: u32,
    max_combined: u32,
    rx: u32,
    tx: u32,
    other: u32,
    combined: u32,
}

/// The kernel's `struct packet_mreq`.
#[repr(C)]
struct Membership {
    index: libc::c_int,
    kind: u16,
    address_len: u16,
    address: [u8; 8],
}

impl Device {
    pub fn open(name: &str) -> io::Result<Self> {
        // Any socket answers these requests; a Unix socket needs nothing of the network.
        let socket = socket_with(AddressFamily::UNIX, SocketType::DGRAM, SocketFlags::CLOEXEC, None)?;
        let mut device = Self { socket, name: name_bytes(name)?, index: 0 };
        let value = device.ask(libc::SIOCGIFINDEX).map_err(|error| match error.raw_os_error() {
            Some(libc::ENODEV) => {
                io::Error::new(io::ErrorKind::NotFound, format!("there is no interface '{name}'; `ip link` lists them"))
            }
            _ => error,
        })?;
        device.index = first_word(&value);
        Ok(device)
    }

    /// The longest payload of a frame.
    pub fn mtu(&self) -> io::Result<usize> {
        Ok(first_word(&self.ask(libc::SIOCGIFMTU)?) as usize)
    }

    pub fn set_mtu(&self, mtu: u32) -> io::Result<()> {
        self.tell(libc::SIOCSIFMTU, &mtu.to_ne_bytes())
    }

    /// Gives an Ethernet interface its address.
    pub fn set_mac(&self, mac: [u8; 6]) -> io::Result<()> {
        let [low, high] = libc::ARPHRD_ETHER.to_ne_bytes();
        self.tell(libc::SIOCSIFHWADDR, &[&[low, high][..], &mac].concat())
    }

    pub fn mac(&self) -> io::Result<[u8; 6]> {
        let value = self.ask(libc::SIOCGIFHWADDR)?;
        // Behind the kind of hardware, in two octets.
        Ok([value[2], value[3], value[4], value[5], value[6], value[7]])
    }

    /// None if it is no text, which no interface of an operator's is.
    pub fn name(&self) -> Option<&str> {
        str::from_utf8(&self.name).ok().map(|name| name.trim_end_matches('\0'))
    }

    /// The same interface, for another thread.
    pub fn try_clone(&self) -> io::Result<Self> {
        Ok(Self { socket: self.socket.try_clone()?, name: self.name, index: self.index })
    }

    /// Whether an operator has it up; an interface that is gone is not.
    pub fn is_enabled(&self) -> bool {
        self.ask(libc::SIOCGIFFLAGS).is_ok_and(|value| first_word(&value) & libc::IFF_UP as u32 != 0)
    }

    /// Has it up, as an operator does by `ip link set NAME up`. Who may not leaves it as it is.
    pub fn enable(&self) -> io::Result<()> {
        let flags = first_word(&self.ask(libc::SIOCGIFFLAGS)?) as u16;
        let up = libc::IFF_UP as u16;
        if flags & up != 0 {
            return Ok(());
        }
        match self.tell(libc::SIOCSIFFLAGS, &(flags | up).to_ne_bytes()) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
            Err(error) => Err(io::Error::new(error.kind(), format!("does not come up: {error}"))),
            Ok(()) => Ok(()),
        }
    }

    /// Up, and with a carrier; an interface that is gone is not. The kernel sets the flag for the carrier once a second
    /// at most (linkwatch): [`Device::has_carrier`] knows sooner.
    pub fn is_up(&self) -> bool {
        let wanted = (libc::IFF_UP | libc::IFF_RUNNING) as u32;
        self.ask(libc::SIOCGIFFLAGS).is_ok_and(|value| first_word(&value) & 0xffff & wanted == wanted)
    }

    /// Up, and with a carrier as its driver knows it now. May wait for others who change links or routes: the kernel
    /// asks the driver under the lock that they have.
    pub fn has_carrier(&self) -> bool {
        let mut link = [ETHTOOL_GLINK, 0];
        match self.ethtool(&mut link) {
            Ok(()) => link[1] != 0,
            // A driver that cannot say.
            Err(error) if error.raw_os_error() == Some(libc::EOPNOTSUPP) => self.is_up(),
            Err(_) => false,
        }
    }

    /// Queues on which frames come in.
    pub fn receive_queues(&self) -> io::Result<u32> {
        let mut channels = Channels { command: ETHTOOL_GCHANNELS, ..Channels::default() };
        match self.ethtool(&mut channels) {
            Ok(()) => Ok((channels.rx + channels.combined).max(1)),
            // A driver that has no channels to speak of has one queue.
            Err(error) if error.raw_os_error() == Some(libc::EOPNOTSUPP) => Ok(1),
            Err(error) => Err(error),
        }
    }

    /// Whether the interface takes TCP segments as one frame, and leaves them so or cuts them itself.
    pub fn segments(&self) -> bool {
        let mut setting = [ETHTOOL_GTSO, 0];
        self.ethtool(&mut setting).is_ok() && setting[1] != 0
    }

    /// `value` begins with the command, and is what that one reads and writes.
    fn ethtool<T>(&self, value: &mut T) -> io::Result<()> {
        let mut request = Request { name: self.name, value: [0; 24] };
        request.value[..size_of::<usize>()].copy_from_slice(&(&raw mut *value as usize).to_ne_bytes());
        self.ioctl(libc::SIOCETHTOOL, &mut request)
    }

    fn ask(&self, what: libc::c_ulong) -> io::Result<[u8; 24]> {
        let mut request = Request { name: self.name, value: [0; 24] };
        self.ioctl(what, &mut request)?;
        Ok(request.value)
    }

    fn tell(&self, what: libc::c_ulong, value: &[u8]) -> io::Result<()> {
        let mut request = Request { name: self.name, value: [0; 24] };
        request.value[..value.len()].copy_from_slice(value);
        self.ioctl(what, &mut request)
    }

    #[allow(unsafe_code)]
    fn ioctl(&self, what: libc::c_ulong, request: &mut Request) -> io::Result<()> {
        // SAFETY: all requests of this file read and write one `struct ifreq`, whose size and layout `Request` has; the
        // one that holds a pointer points at a value that its caller keeps through the call.
        let result = unsafe { libc::ioctl(self.socket.as_raw_fd(), what as _, std::ptr::from_mut(request)) };
        if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }
}

fn first_word(value: &[u8; 24]) -> u32 {
    u32::from_ne_bytes([value[0], value[1], value[2], value[3]])
}

/// A name as the kernel's requests carry it.
pub(crate) fn name_bytes(name: &str) -> io::Result<[u8; 16]> {
    let mut bytes = [0; 16];
    if name.is_empty() || name.len() >= bytes.len() || name.contains('\0') {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, format!("'{name}' is no name of an interface")));
    }
    bytes[..name.len()].copy_from_slice(name.as_bytes());
    Ok(bytes)
}

/// Has the interface take in frames for every address, as long as the packet socket is open.
pub(crate) fn promiscuous(socket: &impl AsFd, index: u32) -> io::Result<()> {
    let membership = Membership {
        index: index as libc::c_int,
        kind: libc::PACKET_MR_PROMISC as u16,
        address_len: 0,
        address: [0; 8],
    };
    set_option(socket, libc::SOL_PACKET, libc::PACKET_ADD_MEMBERSHIP, &membership)
}

#[allow(unsafe_code)]
pub(crate) fn raw_socket(family: libc::c_int) -> io::Result<OwnedFd> {
    use std::os::fd::FromRawFd;
    let kind = libc::SOCK_RAW | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
    // SAFETY: no memory is passed. A packet socket of protocol 0 receives nothing until it is bound.
    let fd = unsafe { libc::socket(family, kind, 0) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: just made, owned by nobody else.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

#[allow(unsafe_code)]
pub(crate) fn set_option<T>(socket: &impl AsFd, level: libc::c_int, option: libc::c_int, value: &T) -> io::Result<()> {
    let len = size_of::<T>() as libc::socklen_t;
    let value = std::ptr::from_ref(value).cast();
    // SAFETY: the kernel reads `len` bytes of `value`, which lives through the call.
    let result = unsafe { libc::setsockopt(socket.as_fd().as_raw_fd(), level, option, value, len) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// What a packet socket received and dropped since it was asked last.
pub(crate) fn packet_statistics(socket: &impl AsFd) -> io::Result<libc::tpacket_stats> {
    get_option(socket, libc::SOL_PACKET, libc::PACKET_STATISTICS, libc::tpacket_stats { tp_packets: 0, tp_drops: 0 })
}

/// An option whose value is plain numbers; what the kernel does not write stays as it is.
#[allow(unsafe_code)]
pub(crate) fn get_option<T: Copy>(
    socket: &impl AsFd,
    level: libc::c_int,
    option: libc::c_int,
    mut value: T,
) -> io::Result<T> {
    let mut len = size_of::<T>() as libc::socklen_t;
    let at = std::ptr::from_mut(&mut value).cast();
    // SAFETY: the kernel writes at most `len` bytes of `value`, which lives through the call.
    let result = unsafe { libc::getsockopt(socket.as_fd().as_raw_fd(), level, option, at, &raw mut len) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(value) }
}

#[allow(unsafe_code)]
pub(crate) fn bind<T>(socket: &impl AsFd, address: &T) -> io::Result<()> {
    let len = size_of::<T>() as libc::socklen_t;
    // SAFETY: the kernel reads `len` bytes of `address`, which lives through the call.
    let result = unsafe { libc::bind(socket.as_fd().as_raw_fd(), std::ptr::from_ref(address).cast(), len) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Tells the kernel to send what stands in the shared memory.
#[allow(unsafe_code)]
pub(crate) fn kick(socket: &impl AsFd) -> io::Result<()> {
    // SAFETY: no memory is passed.
    let result = unsafe { libc::send(socket.as_fd().as_raw_fd(), std::ptr::null(), 0, libc::MSG_DONTWAIT) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_interface_is_named() {
        let error = |name| Device::open(name).err().map(|error| error.to_string());
        assert_eq!(
            error("no-such-port").as_deref(),
            Some("there is no interface 'no-such-port'; `ip link` lists them")
        );
        assert!(error("").is_some() && error("a-name-that-is-too-long").is_some());
    }

    #[test]
    fn the_loopback_is_known() {
        let loopback = Device::open("lo").unwrap();
        assert!(loopback.index > 0 && loopback.mtu().unwrap() > 1000);
        assert_eq!(loopback.receive_queues().unwrap(), 1);
    }
}
