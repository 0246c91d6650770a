//! A network interface of the kernel, through AF_XDP: frames bypass the kernel's network stack, which does not see them.
//!
//! ```text
//!   frames:      | 0 | 1 | ...  to receive into ... | SLOTS | ...  to send from (first queue only) ... |
//!   fill:        our end -> kernel   frames that may be received into
//!   receive:     kernel -> our end   frames that came in
//!   transmit:    our end -> kernel   frames to go out
//!   completion:  kernel -> our end   frames that went out
//! ```
//!
//! A small program on the interface gives each frame to the socket of the queue that it came in on. Every receive queue
//! of the interface has a socket; the first one also sends. Frames are copied between the kernel's buffers and ours,
//! which works with every driver.
//!
//! What the kernel carries beside a frame does not come along: a VLAN tag that the card or the other end of a veth pair
//! took off (`ethtool -K IFNAME rxvlan off txvlan off` keeps it in the frame), and that a checksum is still to be made, which
//! is seen by its value ([`crate::offload`]). Unsegmented frames do not come: the program on the interface has the kernel
//! segment them before.

mod program;
mod rings;

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::epoll;

use crate::bpf::Link;
use crate::device::{Device, bind, get_option, kick, promiscuous, raw_socket, set_option};
use crate::memory::Mapping;
use crate::offload::finish_begun_checksum;
use crate::{Carrier, Lost, Port};
use rings::{Giver, Offsets, Taker};

/// Frames in each direction, and entries of each ring.
const SLOTS: u32 = 4096;
/// What the kernel keeps free before a received frame.
const KERNEL_HEADROOM: usize = 256;
/// The longest chunk of memory that holds one frame.
const LONGEST_CHUNK: usize = 4096;
/// The kernel lets go of a queue some time after its socket was closed.
const LET_GO: Duration = Duration::from_millis(300);
const SEND_BUFFER: libc::c_int = 64 << 20;
/// The option by which one call sends more than 32 frames, from Linux 6.17 on.
const XDP_MAX_TX_SKB_BUDGET: libc::c_int = 9;

pub struct Xdp {
    /// Dropped first, so that no frame is given to a socket that goes away.
    _attached: Link,
    device: Device,
    /// The longest frame that may be sent.
    longest: usize,
    queues: Vec<Queue>,
    /// The queue that is received from next.
    turn: usize,
    transmit: Transmit,
    /// Frames to go out that were longer than the MTU.
    too_long: u64,
    /// Readable when a queue is; none where there is one queue, which says so itself. Whoever sends to us would tell it of
    /// each frame, even while we are busy.
    ready: Option<OwnedFd>,
    _promiscuous: OwnedFd,
}

/// A receive queue of the interface.
struct Queue {
    socket: OwnedFd,
    receive: Taker<libc::xdp_desc>,
    fill: Giver<u64>,
    frames: Frames,
}

/// The kernel's `struct xdp_statistics`, since the socket was made.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Statistics {
    received_dropped: u64,
    received_invalid: u64,
    transmit_invalid: u64,
    receive_ring_full: u64,
    fill_ring_empty: u64,
    transmit_ring_empty: u64,
}

/// The sending side of the first queue.
struct Transmit {
    ring: Giver<libc::xdp_desc>,
    completion: Taker<u64>,
    /// Frames that nothing stands in.
    free: Vec<u64>,
}

/// The memory of frames, shared with the kernel.
struct Frames {
    memory: Mapping,
    chunk: usize,
}

impl Xdp {
    /// Takes the interface's traffic away from the kernel (which needs CAP_NET_RAW, CAP_NET_ADMIN and CAP_BPF).
    pub fn open(name: &str) -> io::Result<Self> {
        let device = Device::open(name)?;
        device.enable()?;
        let longest = device.mtu()? + 18;
        let chunk = (longest + KERNEL_HEADROOM).next_power_of_two().max(2048);
        if chunk > LONGEST_CHUNK {
            let most = LONGEST_CHUNK - KERNEL_HEADROOM - 18;
            return Err(io::Error::other(format!(
                "an MTU of {} is too long for AF_XDP; set it to at most {most}, or take the interface without xdp:",
                device.mtu()?
            )));
        }
        let watched = raw_socket(libc::AF_PACKET)?;
        promiscuous(&watched, device.index)?;
        let count = device.receive_queues()?;
        let sockets = (0..count).map(|_| socket()).collect::<io::Result<Vec<_>>>()?;
        let ready = (count > 1).then(|| epoll::create(epoll::CreateFlags::CLOEXEC)).transpose()?;
        let (mut queues, mut transmit) = (vec![], None);
        for (id, socket) in (0..).zip(sockets) {
            let queue = Queue::new(socket, chunk, id == 0)?;
            if id == 0 {
                transmit = Some(Transmit::new(&queue)?);
            }
            queue.bind(&device, id)?;
            if let Some(ready) = &ready {
                epoll::add(ready, &queue.socket, epoll::EventData::new_u64(id.into()), epoll::EventFlags::IN)?;
            }
            queues.push(queue);
        }
        let transmit = transmit.ok_or_else(|| io::Error::other("the interface has no queue"))?;
        let fds: Vec<BorrowedFd<'_>> = queues.iter().map(|queue| queue.socket.as_fd()).collect();
        let attached = program::attach(device.index, &fds)?;
        let (turn, too_long) = (0, 0);
        Ok(Self {
            _attached: attached,
            device,
            longest,
            queues,
            turn,
            transmit,
            too_long,
            ready,
            _promiscuous: watched,
        })
    }
}

fn socket() -> io::Result<OwnedFd> {
    raw_socket(libc::AF_XDP).map_err(|error| match error.raw_os_error() {
        Some(libc::EAFNOSUPPORT) => io::Error::new(
            io::ErrorKind::Unsupported,
            "this kernel is built without AF_XDP (CONFIG_XDP_SOCKETS); take the interface without xdp:",
        ),
        _ => step("an AF_XDP socket", error),
    })
}

/// The error, with what was tried.
fn step(what: &str, error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{what}: {error}"))
}

impl Queue {
    /// A socket with its memory and rings; one that sends has twice as many frames.
    fn new(socket: OwnedFd, chunk: usize, sends: bool) -> io::Result<Self> {
        let slots = if sends { 2 * SLOTS } else { SLOTS };
        let len = slots as usize * chunk;
        let frames = Frames { memory: Mapping::new(len)?, chunk };
        let registration = libc::xdp_umem_reg {
            addr: frames.memory.at(0, len) as u64,
            len: len as u64,
            chunk_size: chunk as u32,
            headroom: 0,
            flags: 0,
            tx_metadata_len: 0,
        };
        let set = |option, what| set_option(&socket, libc::SOL_XDP, option, &SLOTS).map_err(|error| step(what, error));
        set_option(&socket, libc::SOL_XDP, libc::XDP_UMEM_REG, &registration)
            .map_err(|error| step("memory for frames", error))?;
        // The kernel wants both of these rings, even where nothing is sent.
        set(libc::XDP_UMEM_FILL_RING, "the fill ring")?;
        set(libc::XDP_UMEM_COMPLETION_RING, "the completion ring")?;
        set(libc::XDP_RX_RING, "the receive ring")?;
        if sends {
            set(libc::XDP_TX_RING, "the transmit ring")?;
        }
        let offsets = Offsets::of(&socket)?;
        let receive = Taker::map(&socket, &offsets.0.rx, SLOTS, libc::XDP_PGOFF_RX_RING)?;
        let mut fill = Giver::map(&socket, &offsets.0.fr, SLOTS, libc::XDP_UMEM_PGOFF_FILL_RING as libc::off_t)?;
        for slot in 0..u64::from(SLOTS) {
            fill.put(slot * chunk as u64);
        }
        fill.publish();
        Ok(Self { socket, receive, fill, frames })
    }

    fn bind(&self, device: &Device, queue: u32) -> io::Result<()> {
        let address = libc::sockaddr_xdp {
            sxdp_family: libc::AF_XDP as u16,
            sxdp_flags: libc::XDP_COPY | libc::XDP_USE_NEED_WAKEUP,
            sxdp_ifindex: device.index,
            sxdp_queue_id: queue,
            sxdp_shared_umem_fd: 0,
        };
        let end = Instant::now() + LET_GO;
        loop {
            let Err(error) = bind(&self.socket, &address) else { return Ok(()) };
            if error.raw_os_error() != Some(libc::EBUSY) {
                return Err(step(&format!("AF_XDP on queue {queue}"), error));
            }
            if Instant::now() > end {
                let text = format!("queue {queue} is in use by another AF_XDP socket");
                return Err(io::Error::new(error.kind(), text));
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Frames that came while the rings were full.
    fn dropped(&self) -> u64 {
        let nothing = Statistics::default();
        get_option(&self.socket, libc::SOL_XDP, libc::XDP_STATISTICS, nothing)
            .map_or(0, |statistics| statistics.received_dropped + statistics.receive_ring_full)
    }

    fn take(&mut self, max: usize, take: &mut dyn FnMut(&[u8])) -> usize {
        let mut count = 0;
        while count < max
            && let Some(at) = self.receive.next()
        {
            let frame = self.frames.bytes(at.addr, at.len as usize);
            finish_begun_checksum(frame);
            take(frame);
            self.fill.put(at.addr & !(self.frames.chunk as u64 - 1));
            count += 1;
        }
        if count > 0 {
            self.receive.release();
            self.fill.publish();
        }
        count
    }
}

impl Transmit {
    fn new(queue: &Queue) -> io::Result<Self> {
        let offsets = Offsets::of(&queue.socket)?;
        let ring = Giver::map(&queue.socket, &offsets.0.tx, SLOTS, libc::XDP_PGOFF_TX_RING)?;
        let at = libc::XDP_UMEM_PGOFF_COMPLETION_RING as libc::off_t;
        let completion = Taker::map(&queue.socket, &offsets.0.cr, SLOTS, at)?;
        let free = (u64::from(SLOTS)..2 * u64::from(SLOTS)).map(|slot| slot * queue.frames.chunk as u64).collect();
        // Both only make batches longer; the kernel may be too old, or this process without the right.
        let _ = set_option(&queue.socket, libc::SOL_SOCKET, libc::SO_SNDBUFFORCE, &SEND_BUFFER);
        let _ = set_option(&queue.socket, libc::SOL_XDP, XDP_MAX_TX_SKB_BUDGET, &SLOTS);
        Ok(Self { ring, completion, free })
    }

    /// Takes back the frames that went out.
    fn reap(&mut self) {
        while let Some(frame) = self.completion.next() {
            self.free.push(frame);
        }
        self.completion.release();
    }
}

#[allow(unsafe_code)]
impl Frames {
    fn bytes(&mut self, at: u64, len: usize) -> &mut [u8] {
        // SAFETY: within the memory, which `at` checks; the kernel gave us this frame and does not look at it until it
        // is put into the fill ring again, which the caller does after this borrow.
        unsafe { std::slice::from_raw_parts_mut(self.memory.at(at as usize, len), len) }
    }

    /// Copies a frame, no longer than a chunk, to where a free one stands.
    fn write(&mut self, at: u64, bytes: &[u8]) {
        // SAFETY: within the memory, which `at` checks; the frame is free, so the kernel does not look at it.
        unsafe {
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.memory.at(at as usize, bytes.len()), bytes.len());
        }
    }
}

impl Port for Xdp {
    fn receive(&mut self, max: usize, take: &mut dyn FnMut(&[u8])) -> io::Result<usize> {
        let mut count = 0;
        for _ in 0..self.queues.len() {
            count += self.queues[self.turn].take(max - count, take);
            // A queue that has more than its share waits until all others had theirs.
            self.turn = (self.turn + 1) % self.queues.len();
            if count == max {
                break;
            }
        }
        Ok(count)
    }

    fn send(&mut self, frame: &[u8], now: u64) -> io::Result<bool> {
        if frame.len() > self.longest {
            // The interface's MTU does not allow it: it is lost, as on any link.
            self.too_long += 1;
            return Ok(true);
        }
        let Some(at) = self.transmit.free.pop() else {
            self.flush(now)?;
            return if self.transmit.free.is_empty() { Ok(false) } else { self.send(frame, now) };
        };
        self.queues[0].frames.write(at, frame);
        self.transmit.ring.put(libc::xdp_desc { addr: at, len: frame.len() as u32, options: 0 });
        Ok(true)
    }

    fn flush(&mut self, _now: u64) -> io::Result<()> {
        let Self { transmit, queues, .. } = self;
        transmit.ring.publish();
        let mut left = transmit.ring.untaken();
        while left > 0 {
            let result = kick(&queues[0].socket);
            let before = std::mem::replace(&mut left, transmit.ring.untaken());
            let Err(error) = result else { continue };
            match error.raw_os_error() {
                // One call sends a bounded number, or ends with a frame that was lost; the next one goes on.
                Some(libc::EAGAIN | libc::EBUSY) if left < before => {}
                // The kernel has no buffers for now: it is told again with the next flush.
                Some(libc::EAGAIN | libc::ENOBUFS | libc::EBUSY | libc::EINTR) => break,
                // The link is down, or the interface is gone: the frames are lost.
                Some(libc::ENETDOWN | libc::ENXIO) => {
                    transmit.free.extend(transmit.ring.withdraw().map(|lost| lost.addr));
                    break;
                }
                _ => return Err(error),
            }
        }
        transmit.reap();
        Ok(())
    }

    fn ready(&self) -> bool {
        !self.transmit.free.is_empty() || self.transmit.completion.waiting()
    }

    fn next_wakeup(&self) -> Option<u64> {
        (self.transmit.ring.untaken() > 0).then_some(0)
    }

    fn fd(&self) -> Option<BorrowedFd<'_>> {
        Some(self.ready.as_ref().unwrap_or(&self.queues[0].socket).as_fd())
    }

    fn is_up(&self) -> bool {
        self.device.is_up()
    }

    fn carrier(&self) -> io::Result<Option<Carrier>> {
        Carrier::of(&self.device).map(Some)
    }

    fn lost(&mut self) -> Lost {
        let overrun = self.queues.iter().map(Queue::dropped).sum();
        Lost { too_long: self.too_long, overrun, ..Lost::default() }
    }
}
