//! A network interface of the kernel, through AF_PACKET with both directions in one piece of shared memory
//! (TPACKET_V2): receiving takes no system call, sending one for a whole batch.
//!
//! ```text
//!   ring:  | slot | slot | ...   frames from the kernel  ... | slot | slot | ...  frames to the kernel ... |
//!   slot:  | tpacket2_hdr: status, lengths, offsets, VLAN tag | sockaddr_ll | virtio_net_hdr | frame ...    |
//! ```
//!
//! The kernel and this end hand slots to each other by the status word. What the interface's own host sends out of it
//! is not seen. A VLAN tag that the kernel took off is put back, and what a host left to its card (as it does on veth
//! pairs) is done ([`crate::offload`]).
//!
//! A frame that a host left unsegmented is longer than a slot: the slot only says that it waits, and a call reads it.
//! Segments that go out as one frame are written by a call, to a second socket that has no ring.

mod ring;

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::net::{RecvFlags, SendFlags};

use crate::device::{Device, bind, get_option, packet_statistics, promiscuous, raw_socket, set_option};
use crate::offload::coalesce::Coalescer;
use crate::offload::{MAX_SUPER_FRAME, Offload, complete, segment};
use crate::{Carrier, KernelEnd, Lost, Port, Takeover};
use ring::{Received, Ring};

const PACKET_IGNORE_OUTGOING: libc::c_int = 23;
/// What the kernel may hold of frames that it has not sent yet: a ring full of them.
const SEND_BUFFER: libc::c_int = 64 << 20;
/// What may wait of frames that are longer than a slot.
const RECEIVE_BUFFER: libc::c_int = 32 << 20;

pub struct Interface {
    device: Device,
    /// The longest frame that may be sent.
    longest: usize,
    ring: Ring,
    /// For a frame longer than a slot, behind the offload's header.
    buffer: Vec<u8>,
    /// None where the interface does not take segments as one frame.
    whole: Option<Whole>,
    lost: Lost,
}

/// The way out for segments that are put together.
struct Whole {
    socket: OwnedFd,
    coalescer: Coalescer,
    /// Whether what is held waits for room.
    full: bool,
}

impl Interface {
    /// So many ends of the interface: each sees some of the flows that come in, and sees these alone.
    pub fn open_ends(name: &str, count: usize) -> io::Result<Vec<Self>> {
        let mut ends = (0..count).map(|_| Self::open(name)).collect::<io::Result<Vec<_>>>()?;
        if let [first, others @ ..] = &ends[..]
            && !others.is_empty()
        {
            let group = start_fanout(&first.ring.socket)?;
            others.iter().try_for_each(|end| join_fanout(&end.ring.socket, group))?;
            // Until now each saw all frames. They came while the port was not open yet, and are nobody's.
            for end in &mut ends {
                end.receive(usize::MAX, &mut |_| {})?;
                end.lost = Lost::default();
            }
        }
        Ok(ends)
    }

    /// Takes part in the interface's traffic, in promiscuous mode (which needs CAP_NET_RAW), and has it up (CAP_NET_ADMIN).
    pub fn open(name: &str) -> io::Result<Self> {
        let device = Device::open(name)?;
        device.enable()?;
        let longest = device.mtu()? + 18;
        let socket = sending_socket()?;
        let set = |option, value: u32| set_option(&socket, libc::SOL_PACKET, option, &value);
        set(libc::PACKET_VERSION, libc::tpacket_versions::TPACKET_V2 as u32)?;
        set(PACKET_IGNORE_OUTGOING, 1)?;
        // A frame that the kernel refuses is lost, and the ring goes on.
        set(libc::PACKET_LOSS, 1)?;
        // What is longer than a slot waits in the socket's own queue.
        set(libc::PACKET_COPY_THRESH, 1)?;
        let _ = set_option(&socket, libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, &RECEIVE_BUFFER);
        let ring = Ring::new(socket, longest)?;
        bind(&ring.socket, &address(&device, libc::ETH_P_ALL as u16))?;
        promiscuous(&ring.socket, device.index)?;
        Self::on(device, longest, ring)
    }

    fn on(device: Device, longest: usize, ring: Ring) -> io::Result<Self> {
        let whole = if device.segments() { Some(Whole::open(&device)?) } else { None };
        let buffer = vec![0; Offload::LEN + MAX_SUPER_FRAME];
        Ok(Self { device, longest, ring, buffer, whole, lost: Lost::default() })
    }

    /// The end that another process had: its memory is shared with the kernel, and goes on where that one stopped.
    pub(crate) fn take_over(name: &str, end: Takeover) -> io::Result<Self> {
        let ([socket], [longest, position @ ..]) = end.expect::<1, 5>()?;
        Self::on(Device::open(name)?, longest as usize, Ring::take_over(socket, position)?)
    }

    /// Sends what waited for more of its connection; false when there is no room for it.
    fn send_held(&mut self) -> io::Result<bool> {
        let Self { ring, whole: Some(whole), lost, .. } = self else { return Ok(true) };
        let Some((offload, bytes)) = whole.coalescer.held() else { return Ok(true) };
        let frame = &mut bytes[Offload::LEN..];
        let gone = if offload.segment_size == 0 {
            send_alone(ring, frame)?
        } else {
            // What came before it is in the ring.
            ring.flush()?;
            !ring.waiting()
                && match rustix::net::send(&whole.socket, bytes, SendFlags::DONTWAIT) {
                    Ok(_) => true,
                    Err(rustix::io::Errno::AGAIN) => false,
                    // The link is down, or the interface is gone: the frame is lost.
                    Err(rustix::io::Errno::NETDOWN | rustix::io::Errno::NXIO) => true,
                    // The interface does not take it so, for example since its offloads were turned off.
                    Err(_) => {
                        let send = &mut |frame: &[u8]| lost.refused += u64::from(!ring.send(frame));
                        segment::segment(&offload, &mut bytes[Offload::LEN..], send);
                        true
                    }
                }
        };
        whole.full = !gone;
        if gone {
            whole.coalescer.clear();
        }
        Ok(gone)
    }

    /// Whether the frame was put to what waits for more of its connection, or waits now itself.
    fn hold(&mut self, frame: &[u8]) -> bool {
        self.whole.as_mut().is_some_and(|whole| whole.coalescer.take(frame))
    }
}

impl Whole {
    fn open(device: &Device) -> io::Result<Self> {
        let socket = sending_socket()?;
        // Protocol 0 receives nothing.
        bind(&socket, &address(device, 0))?;
        Ok(Self { socket, coalescer: Coalescer::new(), full: false })
    }
}

/// A packet socket with offloads' headers before frames, which go to the driver at once: queues would drop them without
/// a word, and frames of the two sockets could overtake each other there.
fn sending_socket() -> io::Result<OwnedFd> {
    let socket = raw_socket(libc::AF_PACKET)?;
    set_option(&socket, libc::SOL_PACKET, libc::PACKET_QDISC_BYPASS, &1u32)?;
    set_option(&socket, libc::SOL_PACKET, libc::PACKET_VNET_HDR, &1u32)?;
    // Without the right to exceed the system's limit, sending goes in smaller batches.
    let _ = set_option(&socket, libc::SOL_SOCKET, libc::SO_SNDBUFFORCE, &SEND_BUFFER);
    Ok(socket)
}

/// How ends share frames out: by flow, where both directions of one are one flow, and the fragments of a datagram.
/// PACKET_IGNORE_OUTGOING is a socket's, and the group's is this flag (Linux 6.2, no word of it before).
const FANOUT: u32 = libc::PACKET_FANOUT_HASH | PACKET_FANOUT_FLAG_IGNORE_OUTGOING;
const PACKET_FANOUT_FLAG_IGNORE_OUTGOING: u32 = 0x4000;

/// Has a bound socket share its frames with those that join it.
fn start_fanout(socket: &OwnedFd) -> io::Result<u32> {
    let unique = FANOUT | libc::PACKET_FANOUT_FLAG_UNIQUEID;
    set_option(socket, libc::SOL_PACKET, libc::PACKET_FANOUT, &(unique << 16))?;
    // The group's number, and how it shares out above it.
    Ok(get_option(socket, libc::SOL_PACKET, libc::PACKET_FANOUT, 0u32)? & 0xffff)
}

fn join_fanout(socket: &OwnedFd, group: u32) -> io::Result<()> {
    set_option(socket, libc::SOL_PACKET, libc::PACKET_FANOUT, &(FANOUT << 16 | group))
}

fn address(device: &Device, protocol: u16) -> libc::sockaddr_ll {
    libc::sockaddr_ll {
        sll_family: libc::AF_PACKET as u16,
        sll_protocol: protocol.to_be(),
        sll_ifindex: device.index as libc::c_int,
        sll_hatype: 0,
        sll_pkttype: 0,
        sll_halen: 0,
        sll_addr: [0; 8],
    }
}

/// Sends a frame by the ring; false when that has no room.
fn send_alone(ring: &mut Ring, frame: &[u8]) -> io::Result<bool> {
    if ring.send(frame) {
        return Ok(true);
    }
    ring.flush()?;
    Ok(ring.send(frame))
}

/// The offload's header and the frame that waits longest in the socket's queue, if it fits the buffer.
fn read_queued<'a>(ring: &Ring, buffer: &'a mut [u8]) -> Option<&'a mut [u8]> {
    // With the last, its whole length, also when it does not fit.
    let flags = RecvFlags::DONTWAIT | RecvFlags::TRUNC;
    let read = |buffer: &mut [u8]| rustix::net::recv(&ring.socket, buffer, flags).map(|(_, len)| len);
    // A link that went down is told first.
    let len = read(buffer).or_else(|_| read(buffer)).ok()?;
    buffer.get_mut(..len)
}

/// Does to a frame, which stands behind its offload's header, what is to be done, its VLAN tag first.
fn complete_tagged(bytes: &mut [u8], tag: Option<[u8; 4]>, take: &mut dyn FnMut(&[u8])) -> Option<usize> {
    let (head, frame) = bytes.split_first_chunk_mut()?;
    let mut offload = Offload::from_bytes(head);
    let Some(tag) = tag else { return complete(&offload, frame, take) };
    // The addresses move to where the offload's header ended.
    let start = Offload::LEN - tag.len();
    bytes.copy_within(Offload::LEN..Offload::LEN + 12, start);
    bytes[start + 12..start + 16].copy_from_slice(&tag);
    offload.checksum_start += tag.len() as u16;
    complete(&offload, &mut bytes[start..], take)
}

impl Port for Interface {
    fn receive(&mut self, max: usize, take: &mut dyn FnMut(&[u8])) -> io::Result<usize> {
        let Self { ring, buffer, lost, .. } = self;
        let mut count = 0;
        while count < max
            && let Some(received) = ring.received()
        {
            let frames = match received {
                Received::Frame(bytes, tag) => complete_tagged(bytes, tag, take),
                Received::Queued(tag) => read_queued(ring, buffer).and_then(|frame| complete_tagged(frame, tag, take)),
                Received::Lost => {
                    lost.overrun += 1;
                    Some(0)
                }
            };
            match frames {
                Some(frames) => count += frames,
                None => lost.offload += 1,
            }
            ring.release();
        }
        Ok(count)
    }

    fn send(&mut self, frame: &[u8], _now: u64) -> io::Result<bool> {
        if frame.len() > self.longest {
            // The interface's MTU does not allow it: it is lost, as on any link.
            self.lost.too_long += 1;
            return Ok(true);
        }
        if self.hold(frame) {
            return Ok(true);
        }
        if !self.send_held()? {
            return Ok(false);
        }
        Ok(self.hold(frame) || send_alone(&mut self.ring, frame)?)
    }

    fn flush(&mut self, _now: u64) -> io::Result<()> {
        self.send_held()?;
        self.ring.flush()
    }

    fn next_wakeup(&self) -> Option<u64> {
        let held = self.whole.as_ref().is_some_and(|whole| !whole.coalescer.is_empty());
        (self.ring.waiting() || held).then_some(0)
    }

    fn ready(&self) -> bool {
        self.ring.ready() && !self.whole.as_ref().is_some_and(|whole| whole.full)
    }

    fn fd(&self) -> Option<BorrowedFd<'_>> {
        Some(self.ring.socket.as_fd())
    }

    fn is_up(&self) -> bool {
        // A link that went down leaves an error, for which the descriptor stays readable until it is taken.
        let _ = rustix::net::sockopt::socket_error(&self.ring.socket);
        self.device.is_up()
    }

    fn hand_over(&mut self) -> io::Result<Takeover> {
        let position = self.ring.position();
        let numbers = std::iter::once(self.longest as u64).chain(position).collect();
        Ok(Takeover { descriptors: vec![self.ring.socket.try_clone()?], numbers })
    }

    fn kernel_end(&self) -> io::Result<Option<KernelEnd>> {
        let socket = self.ring.socket.try_clone()?;
        Ok(Some(KernelEnd { interface: self.device.index, longest: self.longest, socket }))
    }

    fn carrier(&self) -> io::Result<Option<Carrier>> {
        Carrier::of(&self.device).map(Some)
    }

    fn lost(&mut self) -> Lost {
        // What the kernel dropped since it was asked last: the ring was full, or it cannot say what is to be done.
        self.lost.overrun += packet_statistics(&self.ring.socket).map_or(0, |statistics| statistics.tp_drops.into());
        self.lost
    }
}
