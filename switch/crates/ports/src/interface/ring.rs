//! The memory that a packet socket shares with the kernel (TPACKET_V2).

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::MAX_FRAME;
use crate::device::{kick, set_option};
use crate::memory::Mapping;
use crate::offload::Offload;

/// Slots in each direction.
pub const SLOTS: usize = 4096;
const BLOCK: usize = 1 << 18;
/// From the start of a slot to what is to be sent: the offload's header, then the frame.
const SEND_OFFSET: usize = libc::TPACKET2_HDRLEN - size_of::<libc::sockaddr_ll>();

/// `SLOTS` slots to receive, then as many to send.
pub struct Ring {
    pub socket: OwnedFd,
    memory: Mapping,
    slot: usize,
    next_receive: usize,
    next_send: usize,
    /// Frames in slots that the kernel was not told of yet.
    unsent: usize,
}

/// What stands in a slot that the kernel gave us.
pub enum Received<'a> {
    /// The offload's header and the frame behind it, and the VLAN tag that was taken off.
    Frame(&'a mut [u8], Option<[u8; 4]>),
    /// The frame is longer than the slot, and waits in the socket's queue.
    Queued(Option<[u8; 4]>),
    /// The frame is longer than the slot, and the queue was full.
    Lost,
}

impl Ring {
    /// Slots for frames of so many bytes, on a socket that is set up but for its rings.
    pub fn new(socket: OwnedFd, longest: usize) -> io::Result<Self> {
        // A frame in a slot stands behind the headers, some 100 bytes.
        let slot = (longest + 128).next_power_of_two().clamp(2048, MAX_FRAME * 2);
        let request = libc::tpacket_req {
            tp_block_size: BLOCK as u32,
            tp_block_nr: (SLOTS * slot / BLOCK) as u32,
            tp_frame_size: slot as u32,
            tp_frame_nr: SLOTS as u32,
        };
        set_option(&socket, libc::SOL_PACKET, libc::PACKET_RX_RING, &request)?;
        set_option(&socket, libc::SOL_PACKET, libc::PACKET_TX_RING, &request)?;
        Self::take_over(socket, [slot, 0, SLOTS, 0].map(|number| number as u64))
    }

    /// The ring of a socket that has one, from a position on.
    pub fn take_over(socket: OwnedFd, position: [u64; 4]) -> io::Result<Self> {
        let [slot, next_receive, next_send, unsent] = position.map(|number| number as usize);
        let memory = Mapping::of_fd(socket.as_fd(), 2 * SLOTS * slot, 0)?;
        Ok(Self { socket, memory, slot, next_receive, next_send, unsent })
    }

    /// The size of a slot, the next ones to receive and to send, and how many the kernel was not told of.
    pub fn position(&self) -> [u64; 4] {
        [self.slot, self.next_receive, self.next_send, self.unsent].map(|number| number as u64)
    }

    /// Puts a frame, which must fit, into the next slot to send; false if that is not free.
    pub fn send(&mut self, frame: &[u8]) -> bool {
        if !self.ready() {
            return false;
        }
        self.put(self.next_send, frame);
        self.status(self.next_send).store(libc::TP_STATUS_SEND_REQUEST, Ordering::Release);
        self.next_send = SLOTS + (self.next_send + 1) % SLOTS;
        self.unsent += 1;
        true
    }

    pub fn ready(&self) -> bool {
        self.status(self.next_send).load(Ordering::Acquire) == libc::TP_STATUS_AVAILABLE
    }

    /// Whether frames wait that the kernel was not told of.
    pub fn waiting(&self) -> bool {
        self.unsent > 0
    }

    /// Has the kernel send what stands in slots.
    pub fn flush(&mut self) -> io::Result<()> {
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

    /// Takes back the frames that the kernel did not get to.
    fn withdraw(&mut self) {
        for _ in 0..self.unsent {
            let last = if self.next_send == SLOTS { 2 * SLOTS - 1 } else { self.next_send - 1 };
            // The kernel takes slots in order and only while we are in its call: from here on backwards none is left.
            if self.status(last).load(Ordering::Acquire) != libc::TP_STATUS_SEND_REQUEST {
                break;
            }
            self.status(last).store(libc::TP_STATUS_AVAILABLE, Ordering::Release);
            self.next_send = last;
        }
        self.unsent = 0;
    }

    /// Gives the slot that [`Ring::received`] answered back to the kernel.
    pub fn release(&mut self) {
        self.status(self.next_receive).store(libc::TP_STATUS_KERNEL, Ordering::Release);
        self.next_receive = (self.next_receive + 1) % SLOTS;
    }

    fn slot(&self, index: usize) -> *mut u8 {
        self.memory.at(index * self.slot, self.slot)
    }

    #[allow(unsafe_code)]
    fn status(&self, index: usize) -> &AtomicU32 {
        // SAFETY: the status is the first, aligned word of the slot, which both sides change atomically.
        unsafe { AtomicU32::from_ptr(self.slot(index).cast()) }
    }

    /// What stands in the next slot, if the kernel gave it to us.
    #[allow(unsafe_code)]
    pub fn received(&mut self) -> Option<Received<'_>> {
        if self.status(self.next_receive).load(Ordering::Acquire) & libc::TP_STATUS_USER == 0 {
            return None;
        }
        let slot = self.slot(self.next_receive);
        // SAFETY: the status says that the slot is ours until we give it back, and the kernel wrote its header.
        let header = unsafe { &*slot.cast::<libc::tpacket2_hdr>() };
        let status = header.tp_status;
        let tag = (status & libc::TP_STATUS_VLAN_VALID != 0).then(|| {
            let tpid = if status & libc::TP_STATUS_VLAN_TPID_VALID != 0 { header.tp_vlan_tpid } else { 0x8100 };
            let ([a, b], [c, d]) = (tpid.to_be_bytes(), header.tp_vlan_tci.to_be_bytes());
            [a, b, c, d]
        });
        let start = usize::from(header.tp_mac);
        let len = header.tp_snaplen as usize;
        if status & libc::TP_STATUS_COPY != 0 {
            return Some(Received::Queued(tag));
        }
        if header.tp_len as usize != len || start < Offload::LEN || start + len > self.slot {
            return Some(Received::Lost);
        }
        // SAFETY: inside the slot, which is ours; the offload's header stands before the frame.
        let bytes = unsafe { std::slice::from_raw_parts_mut(slot.add(start - Offload::LEN), Offload::LEN + len) };
        Some(Received::Frame(bytes, tag))
    }

    /// Writes a frame into a free slot to send, which it must fit.
    #[allow(unsafe_code)]
    fn put(&mut self, index: usize, frame: &[u8]) {
        assert!(SEND_OFFSET + Offload::LEN + frame.len() <= self.slot, "a frame of {} bytes in a slot", frame.len());
        // All of it counts as header: what is not, the kernel would not copy but lend from the slot, and then copy after
        // all, at a page for each frame, when it goes to another interface of this machine.
        let offload = Offload { header_len: frame.len() as u16, ..Offload::default() };
        let slot = self.slot(index);
        // SAFETY: the status says that the slot is free, so the kernel does not look at it, and the frame fits.
        unsafe {
            (*slot.cast::<libc::tpacket2_hdr>()).tp_len = (Offload::LEN + frame.len()) as u32;
            slot.add(SEND_OFFSET).cast::<Offload>().write_unaligned(offload);
            std::ptr::copy_nonoverlapping(frame.as_ptr(), slot.add(SEND_OFFSET + Offload::LEN), frame.len());
        }
    }
}
