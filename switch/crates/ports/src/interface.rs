//! A network interface of the kernel, through AF_PACKET with both directions in one piece of shared memory
//! (TPACKET_V2): receiving takes no system call, sending one for a whole batch.
//!
//! ```text
//!   ring:  | slot | slot | ...   frames from the kernel  ... | slot | slot | ...  frames to the kernel ... |
//!   slot:  | tpacket2_hdr: status, lengths, offsets, VLAN tag | sockaddr_ll | virtio_net_hdr | frame ...    |
//! ```
//!
//! The kernel and this end hand slots to each other by the status word. What the interface's own host sends out of it
//! is not seen. A VLAN tag that the kernel took off is put back, and a checksum that a host left to its card (as it does
//! on veth pairs) is made.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::device::{Device, bind, kick, promiscuous, raw_socket, set_option};
use crate::memory::Mapping;
use crate::{MAX_FRAME, Port};

/// Slots in each direction.
const SLOTS: usize = 4096;
const BLOCK: usize = 1 << 18;
/// From the start of a slot to what is to be sent: the header of offloads, then the frame.
const SEND_OFFSET: usize = libc::TPACKET2_HDRLEN - size_of::<libc::sockaddr_ll>();
const PACKET_IGNORE_OUTGOING: libc::c_int = 23;
/// What the kernel may hold of frames that it has not sent yet: a ring full of them.
const SEND_BUFFER: libc::c_int = 64 << 20;

/// The kernel's `struct virtio_net_hdr`: what is still to be done to a frame.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Offloads {
    flags: u8,
    segmentation: u8,
    header_len: u16,
    segment_size: u16,
    checksum_start: u16,
    checksum_offset: u16,
}

const OFFLOADS: usize = size_of::<Offloads>();
const NEEDS_CHECKSUM: u8 = 1;

pub struct Interface {
    socket: OwnedFd,
    device: Device,
    /// The longest frame that may be sent.
    longest: usize,
    ring: Ring,
    next_receive: usize,
    next_send: usize,
    /// Frames in slots that the kernel was not told of yet.
    unsent: usize,
    tagged: Vec<u8>,
}

/// The memory shared with the kernel: `SLOTS` slots to receive, then as many to send.
struct Ring {
    memory: Mapping,
    slot: usize,
}

impl Interface {
    /// Takes part in the interface's traffic, in promiscuous mode (which needs CAP_NET_RAW).
    pub fn open(name: &str) -> io::Result<Self> {
        let device = Device::open(name)?;
        let longest = device.mtu()? + 18;
        // A frame in a slot stands behind the headers, some 100 bytes.
        let slot = (longest + 128).next_power_of_two().clamp(2048, MAX_FRAME * 2);
        let socket = raw_socket(libc::AF_PACKET)?;
        let set = |option, value: u32| set_option(&socket, libc::SOL_PACKET, option, &value);
        set(libc::PACKET_VERSION, libc::tpacket_versions::TPACKET_V2 as u32)?;
        set(PACKET_IGNORE_OUTGOING, 1)?;
        // Frames go to the driver at once, past queues that would drop them without a word.
        set(libc::PACKET_QDISC_BYPASS, 1)?;
        // A frame that the kernel refuses is lost, and the ring goes on.
        set(libc::PACKET_LOSS, 1)?;
        set(libc::PACKET_VNET_HDR, 1)?;
        let request = libc::tpacket_req {
            tp_block_size: BLOCK as u32,
            tp_block_nr: (SLOTS * slot / BLOCK) as u32,
            tp_frame_size: slot as u32,
            tp_frame_nr: SLOTS as u32,
        };
        set_option(&socket, libc::SOL_PACKET, libc::PACKET_RX_RING, &request)?;
        set_option(&socket, libc::SOL_PACKET, libc::PACKET_TX_RING, &request)?;
        let ring = Ring { memory: Mapping::of_socket(socket.as_fd(), 2 * SLOTS * slot, 0)?, slot };
        // Without the right to exceed the system's limit, sending goes in smaller batches.
        let _ = set_option(&socket, libc::SOL_SOCKET, libc::SO_SNDBUFFORCE, &SEND_BUFFER);
        let address = libc::sockaddr_ll {
            sll_family: libc::AF_PACKET as u16,
            sll_protocol: (libc::ETH_P_ALL as u16).to_be(),
            sll_ifindex: device.index as libc::c_int,
            sll_hatype: 0,
            sll_pkttype: 0,
            sll_halen: 0,
            sll_addr: [0; 8],
        };
        bind(&socket, &address)?;
        promiscuous(&socket, device.index)?;
        Ok(Self { socket, device, longest, ring, next_receive: 0, next_send: SLOTS, unsent: 0, tagged: vec![] })
    }

    /// Takes back the frames that the kernel did not get to.
    fn withdraw(&mut self) {
        for _ in 0..self.unsent {
            let last = if self.next_send == SLOTS { 2 * SLOTS - 1 } else { self.next_send - 1 };
            // The kernel takes slots in order and only while we are in its call: from here on backwards none is left.
            if self.ring.status(last).load(Ordering::Acquire) != libc::TP_STATUS_SEND_REQUEST {
                break;
            }
            self.ring.status(last).store(libc::TP_STATUS_AVAILABLE, Ordering::Release);
            self.next_send = last;
        }
        self.unsent = 0;
    }
}

impl Port for Interface {
    fn receive(&mut self, max: usize, take: &mut dyn FnMut(&[u8])) -> io::Result<usize> {
        for count in 0..max {
            if self.ring.status(self.next_receive).load(Ordering::Acquire) & libc::TP_STATUS_USER == 0 {
                return Ok(count);
            }
            match self.ring.received(self.next_receive) {
                // A frame longer than the interface's MTU (what a host offloads to its card) does not fit: it is lost.
                None => {}
                Some((frame, None)) => take(frame),
                Some((frame, Some(tag))) => {
                    self.tagged.clear();
                    self.tagged.extend_from_slice(&frame[..12.min(frame.len())]);
                    self.tagged.extend_from_slice(&tag);
                    self.tagged.extend_from_slice(frame.get(12..).unwrap_or_default());
                    take(&self.tagged);
                }
            }
            self.ring.status(self.next_receive).store(libc::TP_STATUS_KERNEL, Ordering::Release);
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
        if frame.len() > self.longest {
            // The interface's MTU does not allow it: it is lost, as on any link.
            return Ok(true);
        }
        self.ring.put(self.next_send, frame);
        self.ring.status(self.next_send).store(libc::TP_STATUS_SEND_REQUEST, Ordering::Release);
        self.next_send = SLOTS + (self.next_send + 1) % SLOTS;
        self.unsent += 1;
        Ok(true)
    }

    fn flush(&mut self, _now: u64) -> io::Result<()> {
        if self.unsent == 0 {
            return Ok(());
        }
        match kick(&self.socket) {
            Ok(()) => self.unsent = 0,
            Err(error) => match error.raw_os_error() {
                // The kernel has no buffers for now: it is told again.
                Some(libc::EAGAIN | libc::ENOBUFS | libc::EINTR) => {}
                // The link is down, or the interface is gone: the frames are lost.
                Some(libc::ENETDOWN | libc::ENXIO) => self.withdraw(),
                _ => {
                    self.withdraw();
                    return Err(error);
                }
            },
        }
        Ok(())
    }

    fn next_wakeup(&self) -> Option<u64> {
        (self.unsent > 0).then_some(0)
    }

    fn ready(&self) -> bool {
        self.ring.status(self.next_send).load(Ordering::Acquire) == libc::TP_STATUS_AVAILABLE
    }

    fn fd(&self) -> Option<BorrowedFd<'_>> {
        Some(self.socket.as_fd())
    }

    fn is_up(&self) -> bool {
        // A link that went down leaves an error, for which the descriptor stays readable until it is taken.
        let _ = rustix::net::sockopt::socket_error(&self.socket);
        self.device.is_up()
    }
}

#[allow(unsafe_code)]
impl Ring {
    fn slot(&self, index: usize) -> *mut u8 {
        self.memory.at(index * self.slot, self.slot)
    }

    fn status(&self, index: usize) -> &AtomicU32 {
        // SAFETY: the status is the first, aligned word of the slot, which both sides change atomically.
        unsafe { AtomicU32::from_ptr(self.slot(index).cast()) }
    }

    /// The frame in a slot that the kernel gave us, if it is whole, and the VLAN tag that was taken off.
    fn received(&mut self, index: usize) -> Option<(&[u8], Option<[u8; 4]>)> {
        let slot = self.slot(index);
        // SAFETY: the status says that the slot is ours until we give it back, and the kernel wrote its header.
        let header = unsafe { &*slot.cast::<libc::tpacket2_hdr>() };
        let start = usize::from(header.tp_mac);
        let len = header.tp_snaplen as usize;
        if header.tp_len as usize != len || start < OFFLOADS || start + len > self.slot {
            return None;
        }
        // SAFETY: inside the slot, which is ours; the header of offloads stands before the frame.
        let (offloads, frame) = unsafe {
            (
                slot.add(start - OFFLOADS).cast::<Offloads>().read_unaligned(),
                std::slice::from_raw_parts_mut(slot.add(start), len),
            )
        };
        if offloads.flags & NEEDS_CHECKSUM != 0 {
            make_checksum(frame, offloads.checksum_start.into(), offloads.checksum_offset.into());
        }
        let tag = (header.tp_status & libc::TP_STATUS_VLAN_VALID != 0).then(|| {
            let tpid =
                if header.tp_status & libc::TP_STATUS_VLAN_TPID_VALID != 0 { header.tp_vlan_tpid } else { 0x8100 };
            let ([a, b], [c, d]) = (tpid.to_be_bytes(), header.tp_vlan_tci.to_be_bytes());
            [a, b, c, d]
        });
        Some((frame, tag))
    }

    /// Writes a frame into a free slot to send, which it must fit.
    fn put(&mut self, index: usize, frame: &[u8]) {
        assert!(SEND_OFFSET + OFFLOADS + frame.len() <= self.slot, "a frame of {} bytes in a slot", frame.len());
        // All of it counts as header: what is not, the kernel would not copy but lend from the slot, and then copy after
        // all, at a page for each frame, when it goes to another interface of this machine.
        let offloads = Offloads { header_len: frame.len() as u16, ..Offloads::default() };
        let slot = self.slot(index);
        // SAFETY: the status says that the slot is free, so the kernel does not look at it, and the frame fits.
        unsafe {
            (*slot.cast::<libc::tpacket2_hdr>()).tp_len = (OFFLOADS + frame.len()) as u32;
            slot.add(SEND_OFFSET).cast::<Offloads>().write_unaligned(offloads);
            std::ptr::copy_nonoverlapping(frame.as_ptr(), slot.add(SEND_OFFSET + OFFLOADS), frame.len());
        }
    }
}

/// Replaces the sum of the pseudo header, which stands where the checksum goes, by the checksum (RFC 1071).
fn make_checksum(frame: &mut [u8], start: usize, offset: usize) {
    let Some(covered) = frame.get_mut(start..) else { return };
    let words = covered.chunks(2).map(|word| u64::from(word[0]) << 8 | u64::from(word.get(1).copied().unwrap_or(0)));
    let mut sum: u64 = words.sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    // Zero means that there is none in UDP, and is the same number as this one.
    let checksum = if sum == 0xffff { 0xffff } else { !(sum as u16) };
    if let Some(field) = covered.get_mut(offset..offset + 2) {
        field.copy_from_slice(&checksum.to_be_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A UDP datagram of three bytes from 10.0.0.1 to 10.0.0.2, with the sum of its pseudo header.
    #[test]
    fn a_checksum_completes_the_sum_to_all_ones() {
        let pseudo = [10, 0, 0, 1, 10, 0, 0, 2, 0, 17, 0, 11];
        let sum = |bytes: &[u8]| {
            let sum: u32 =
                bytes.chunks(2).map(|word| u32::from(word[0]) * 256 + word.get(1).map_or(0, |b| (*b).into())).sum();
            (sum & 0xffff) + (sum >> 16)
        };
        let [.., high, low] = sum(&pseudo).to_be_bytes();
        let mut frame = vec![0xee; 34];
        frame.extend([0x30, 0x39, 0x00, 0x50, 0, 11, high, low, 0x61, 0xb2, 0xc3]);
        make_checksum(&mut frame, 34, 6);
        assert_eq!(sum(&[&pseudo[..], &frame[34..]].concat()), 0xffff);
        assert_eq!(frame[..34], [0xee; 34]);
    }

    #[test]
    fn a_checksum_outside_the_frame_is_left() {
        let mut frame = [1, 2, 3];
        make_checksum(&mut frame, 2, 6);
        make_checksum(&mut frame, 9, 0);
        assert_eq!(frame, [1, 2, 3]);
    }
}
