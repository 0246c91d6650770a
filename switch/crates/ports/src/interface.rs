//! A network interface of the kernel, through AF_PACKET with both directions in one piece of shared memory
//! (TPACKET_V2): receiving takes no system call, sending one for a whole batch.
//!
//! ```text
//!   ring:  | slot | slot | ...   frames from the kernel  ... | slot | slot | ...  frames to the kernel ... |
//!   slot:  | tpacket2_hdr: status, lengths, offsets, VLAN tag | sockaddr_ll | frame ...                     |
//! ```
//!
//! The kernel and this end hand slots to each other by the status word. What the interface's own host sends out of it
//! is not seen. A VLAN tag that the kernel took off is put back.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::{MAX_FRAME, Port};

/// Slots in each direction.
const SLOTS: usize = 4096;
const BLOCK: usize = 1 << 18;
/// From the start of a slot to a frame to send.
const SEND_OFFSET: usize = libc::TPACKET2_HDRLEN - size_of::<libc::sockaddr_ll>();
const PACKET_IGNORE_OUTGOING: libc::c_int = 23;

pub struct Interface {
    socket: OwnedFd,
    ring: Ring,
    next_receive: usize,
    next_send: usize,
    /// Frames in slots that the kernel was not told of yet.
    unsent: usize,
    tagged: Vec<u8>,
}

/// The memory shared with the kernel: `SLOTS` slots to receive, then as many to send.
struct Ring {
    start: *mut u8,
    slot: usize,
}

// SAFETY: the memory belongs to this value alone on our side; the kernel's side is synchronised by the status words.
#[allow(unsafe_code)]
unsafe impl Send for Ring {}

impl Interface {
    /// Takes part in the interface's traffic, in promiscuous mode (which needs CAP_NET_RAW).
    pub fn open(name: &str) -> io::Result<Self> {
        let index = interface_index(name)?;
        let slot = (mtu(name)? + 18 + 128).next_power_of_two().clamp(2048, MAX_FRAME * 2);
        let socket = packet_socket()?;
        set_option(&socket, libc::PACKET_VERSION, &libc::tpacket_versions::TPACKET_V2)?;
        set_option(&socket, PACKET_IGNORE_OUTGOING, &1u32)?;
        // Frames go to the driver at once, past queues that would drop them without a word.
        set_option(&socket, libc::PACKET_QDISC_BYPASS, &1u32)?;
        // A frame that the kernel refuses is lost, and the ring goes on.
        set_option(&socket, libc::PACKET_LOSS, &1u32)?;
        let request = libc::tpacket_req {
            tp_block_size: BLOCK as u32,
            tp_block_nr: (SLOTS * slot / BLOCK) as u32,
            tp_frame_size: slot as u32,
            tp_frame_nr: SLOTS as u32,
        };
        set_option(&socket, libc::PACKET_RX_RING, &request)?;
        set_option(&socket, libc::PACKET_TX_RING, &request)?;
        let ring = Ring::map(&socket, slot)?;
        bind(&socket, index)?;
        let mut membership =
            packet_mreq { mr_ifindex: index, mr_type: libc::PACKET_MR_PROMISC as u16, ..packet_mreq::default() };
        membership.mr_alen = 0;
        set_option(&socket, libc::PACKET_ADD_MEMBERSHIP, &membership)?;
        Ok(Self { socket, ring, next_receive: 0, next_send: SLOTS, unsent: 0, tagged: vec![] })
    }
}

#[repr(C)]
#[derive(Default)]
#[allow(non_camel_case_types)]
struct packet_mreq {
    mr_ifindex: libc::c_int,
    mr_type: u16,
    mr_alen: u16,
    mr_address: [u8; 8],
}

impl Port for Interface {
    fn receive(&mut self, max: usize, take: &mut dyn FnMut(&[u8])) -> io::Result<usize> {
        for count in 0..max {
            if self.ring.status(self.next_receive).load(Ordering::Acquire) & libc::TP_STATUS_USER as u32 == 0 {
                return Ok(count);
            }
            let (frame, tag) = self.ring.received(self.next_receive);
            match tag {
                None => take(frame),
                Some(tag) => {
                    self.tagged.clear();
                    self.tagged.extend_from_slice(&frame[..12.min(frame.len())]);
                    self.tagged.extend_from_slice(&tag);
                    self.tagged.extend_from_slice(frame.get(12..).unwrap_or_default());
                    take(&self.tagged);
                }
            }
            self.ring.status(self.next_receive).store(libc::TP_STATUS_KERNEL as u32, Ordering::Release);
            self.next_receive = (self.next_receive + 1) % SLOTS;
        }
        Ok(max)
    }

    fn send(&mut self, frame: &[u8], now: u64) -> io::Result<bool> {
        if !self.ready() {
            self.flush(now)?;
            if !self.ready() {
                return Ok(false);
            }
        }
        if !self.ring.put(self.next_send, frame) {
            // Longer than the interface's MTU allows: it is lost, as on any link.
            return Ok(true);
        }
        self.ring.status(self.next_send).store(libc::TP_STATUS_SEND_REQUEST as u32, Ordering::Release);
        self.next_send = SLOTS + (self.next_send + 1) % SLOTS;
        self.unsent += 1;
        Ok(true)
    }

    fn flush(&mut self, _now: u64) -> io::Result<()> {
        if self.unsent == 0 {
            return Ok(());
        }
        self.unsent = 0;
        match kick(&self.socket) {
            Ok(()) => Ok(()),
            // The kernel goes on by itself (EAGAIN), is short of buffers (ENOBUFS), or the link is down and the frames lost.
            Err(error)
                if matches!(
                    error.raw_os_error(),
                    Some(libc::EAGAIN | libc::ENOBUFS | libc::ENETDOWN | libc::ENXIO | libc::EMSGSIZE | libc::EINTR)
                ) =>
            {
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    fn ready(&self) -> bool {
        self.ring.status(self.next_send).load(Ordering::Acquire) == libc::TP_STATUS_AVAILABLE as u32
    }

    fn fd(&self) -> Option<BorrowedFd<'_>> {
        Some(self.socket.as_fd())
    }
}

#[allow(unsafe_code)]
impl Ring {
    fn map(socket: &OwnedFd, slot: usize) -> io::Result<Self> {
        // SAFETY: a new mapping of the socket's rings, whose size is what both ring requests asked for.
        let start = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                2 * SLOTS * slot,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED,
                socket.as_raw_fd(),
                0,
            )
        };
        if start == libc::MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok(Self { start: start.cast(), slot }) }
    }

    fn slot(&self, index: usize) -> *mut u8 {
        debug_assert!(index < 2 * SLOTS);
        // SAFETY: `index` is below the number of slots that are mapped.
        unsafe { self.start.add(index * self.slot) }
    }

    fn status(&self, index: usize) -> &AtomicU32 {
        // SAFETY: the status is the first, aligned word of the slot, which both sides change atomically.
        unsafe { AtomicU32::from_ptr(self.slot(index).cast()) }
    }

    /// The frame in a slot that the kernel gave us, and the VLAN tag that it took off.
    fn received(&self, index: usize) -> (&[u8], Option<[u8; 4]>) {
        let slot = self.slot(index);
        // SAFETY: the status says that the slot is ours until we give it back, and the kernel wrote its header.
        let header = unsafe { &*slot.cast::<libc::tpacket2_hdr>() };
        let start = usize::from(header.tp_mac).min(self.slot);
        let len = (header.tp_snaplen as usize).min(self.slot - start);
        // SAFETY: inside the slot, which is ours.
        let frame = unsafe { std::slice::from_raw_parts(slot.add(start), len) };
        let tag = (header.tp_status & libc::TP_STATUS_VLAN_VALID as u32 != 0).then(|| {
            let tpid = if header.tp_status & libc::TP_STATUS_VLAN_TPID_VALID as u32 != 0 {
                header.tp_vlan_tpid
            } else {
                0x8100
            };
            let ([a, b], [c, d]) = (tpid.to_be_bytes(), header.tp_vlan_tci.to_be_bytes());
            [a, b, c, d]
        });
        (frame, tag)
    }

    /// Writes a frame into a free slot to send; false if it does not fit.
    fn put(&self, index: usize, frame: &[u8]) -> bool {
        if SEND_OFFSET + frame.len() > self.slot {
            return false;
        }
        let slot = self.slot(index);
        // SAFETY: the status says that the slot is free, so the kernel does not look at it, and the frame fits.
        unsafe {
            (*slot.cast::<libc::tpacket2_hdr>()).tp_len = frame.len() as u32;
            std::ptr::copy_nonoverlapping(frame.as_ptr(), slot.add(SEND_OFFSET), frame.len());
        }
        true
    }
}

#[allow(unsafe_code)]
impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: the mapping made in `map`, not used after this.
        unsafe { libc::munmap(self.start.cast(), 2 * SLOTS * self.slot) };
    }
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

pub(crate) fn interface_index(name: &str) -> io::Result<libc::c_int> {
    let text = std::fs::read_to_string(format!("/sys/class/net/{}/ifindex", file_name(name)?))
        .map_err(|_| io::Error::new(io::ErrorKind::NotFound, format!("there is no interface '{name}'")))?;
    text.trim().parse().map_err(io::Error::other)
}

fn mtu(name: &str) -> io::Result<usize> {
    let text = std::fs::read_to_string(format!("/sys/class/net/{}/mtu", file_name(name)?))?;
    text.trim().parse().map_err(io::Error::other)
}

/// The name, once it is sure that it stays within its folder.
fn file_name(name: &str) -> io::Result<&str> {
    name_bytes(name)?;
    if name.contains('/') || name.starts_with('.') {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, format!("'{name}' is no name of an interface")));
    }
    Ok(name)
}

#[allow(unsafe_code)]
fn packet_socket() -> io::Result<OwnedFd> {
    let kind = libc::SOCK_RAW | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
    // SAFETY: no memory is passed; a descriptor that is returned is ours alone. Protocol 0 receives nothing until bind.
    let fd = unsafe { libc::socket(libc::AF_PACKET, kind, 0) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: just made, owned by nobody else.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

#[allow(unsafe_code)]
fn set_option<T>(socket: &OwnedFd, option: libc::c_int, value: &T) -> io::Result<()> {
    let len = size_of::<T>() as libc::socklen_t;
    // SAFETY: the kernel reads `len` bytes of `value`, which lives through the call.
    let result = unsafe {
        libc::setsockopt(socket.as_raw_fd(), libc::SOL_PACKET, option, std::ptr::from_ref(value).cast(), len)
    };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

#[allow(unsafe_code)]
fn bind(socket: &OwnedFd, index: libc::c_int) -> io::Result<()> {
    let address = libc::sockaddr_ll {
        sll_family: libc::AF_PACKET as u16,
        sll_protocol: (libc::ETH_P_ALL as u16).to_be(),
        sll_ifindex: index,
        sll_hatype: 0,
        sll_pkttype: 0,
        sll_halen: 0,
        sll_addr: [0; 8],
    };
    let len = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
    // SAFETY: the kernel reads `len` bytes of `address`, which lives through the call.
    let result = unsafe { libc::bind(socket.as_raw_fd(), std::ptr::from_ref(&address).cast(), len) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Tells the kernel to send what stands in the slots.
#[allow(unsafe_code)]
fn kick(socket: &OwnedFd) -> io::Result<()> {
    // SAFETY: no memory is passed.
    let result = unsafe { libc::send(socket.as_raw_fd(), std::ptr::null(), 0, libc::MSG_DONTWAIT) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_interface_is_named() {
        assert_eq!(interface_index("no-such-port").unwrap_err().to_string(), "there is no interface 'no-such-port'");
        assert!(interface_index("../lo").is_err() && interface_index("").is_err());
        assert!(name_bytes("a-name-that-is-too-long").is_err());
    }
}
