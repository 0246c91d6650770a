//! The rings by which frames change hands between this process and the kernel.
//!
//! One end puts entries in and moves the producer's position, the other takes them out and moves the consumer's. Both
//! positions only ever grow; they wrap with their 32 bits, and the ring's length is a power of two.

use std::io;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::memory::Mapping;

/// Where the parts of each ring are, as the kernel says.
pub struct Offsets(pub libc::xdp_mmap_offsets);

impl Offsets {
    #[allow(unsafe_code)]
    pub fn of(socket: &OwnedFd) -> io::Result<Self> {
        let mut offsets = MaybeUninit::<libc::xdp_mmap_offsets>::zeroed();
        let whole = size_of::<libc::xdp_mmap_offsets>() as libc::socklen_t;
        let mut len = whole;
        // SAFETY: the kernel writes at most `len` bytes, which `offsets` has.
        let result = unsafe {
            libc::getsockopt(
                socket.as_raw_fd(),
                libc::SOL_XDP,
                libc::XDP_MMAP_OFFSETS,
                offsets.as_mut_ptr().cast(),
                &raw mut len,
            )
        };
        if result < 0 {
            return Err(io::Error::last_os_error());
        }
        if len != whole {
            return Err(io::Error::new(io::ErrorKind::Unsupported, "AF_XDP needs Linux 5.4 or later"));
        }
        // SAFETY: plain numbers, zero at first and then written by the kernel.
        Ok(Self(unsafe { offsets.assume_init() }))
    }
}

struct Ring<T> {
    memory: Mapping,
    producer: usize,
    consumer: usize,
    entries: usize,
    mask: u32,
    entry: PhantomData<T>,
}

#[allow(unsafe_code)]
impl<T: Copy> Ring<T> {
    /// `slots` is what the ring was made with, a power of two.
    fn map(socket: &OwnedFd, at: &libc::xdp_ring_offset, slots: u32, offset: libc::off_t) -> io::Result<Self> {
        let len = at.desc as usize + slots as usize * size_of::<T>();
        let memory = Mapping::of_fd(socket.as_fd(), len, offset)?;
        Ok(Self {
            memory,
            producer: at.producer as usize,
            consumer: at.consumer as usize,
            entries: at.desc as usize,
            mask: slots - 1,
            entry: PhantomData,
        })
    }

    fn position(&self, at: usize) -> &AtomicU32 {
        // SAFETY: an aligned word that the kernel named, within the mapping (`at` checks), which both sides change
        // atomically.
        unsafe { AtomicU32::from_ptr(self.memory.at(at, 4).cast()) }
    }

    fn producer(&self) -> &AtomicU32 {
        self.position(self.producer)
    }

    fn consumer(&self) -> &AtomicU32 {
        self.position(self.consumer)
    }

    fn entry(&self, position: u32) -> *mut T {
        self.memory.at(self.entries + (position & self.mask) as usize * size_of::<T>(), size_of::<T>()).cast()
    }

    fn read(&self, position: u32) -> T {
        // SAFETY: an aligned entry of the ring, between the two positions: whoever asks owns it.
        unsafe { self.entry(position).read() }
    }

    fn write(&mut self, position: u32, value: T) {
        // SAFETY: as for `read`.
        unsafe { self.entry(position).write(value) }
    }
}

/// Our end of a ring that we put entries into.
pub struct Giver<T> {
    ring: Ring<T>,
    next: u32,
}

impl<T: Copy> Giver<T> {
    pub fn map(socket: &OwnedFd, at: &libc::xdp_ring_offset, slots: u32, offset: libc::off_t) -> io::Result<Self> {
        Ok(Self { ring: Ring::map(socket, at, slots, offset)?, next: 0 })
    }

    /// Puts an entry in; the kernel sees it after `publish`. There are no more frames than slots, so there is room.
    pub fn put(&mut self, value: T) {
        self.ring.write(self.next, value);
        self.next = self.next.wrapping_add(1);
    }

    pub fn publish(&mut self) {
        self.ring.producer().store(self.next, Ordering::Release);
    }

    /// Entries that the kernel has not taken yet.
    pub fn untaken(&self) -> u32 {
        self.next.wrapping_sub(self.ring.consumer().load(Ordering::Acquire))
    }

    /// Takes back what the kernel has not taken. Only while it does not take: it does so in our calls alone.
    pub fn withdraw(&mut self) -> impl Iterator<Item = T> + '_ {
        let (start, count) = (self.ring.consumer().load(Ordering::Acquire), self.untaken());
        self.next = start;
        self.publish();
        (0..count).map(move |i| self.ring.read(start.wrapping_add(i)))
    }
}

/// Our end of a ring that we take entries out of.
pub struct Taker<T> {
    ring: Ring<T>,
    next: u32,
    /// Entries before this one are there, as last looked.
    end: u32,
}

impl<T: Copy> Taker<T> {
    pub fn map(socket: &OwnedFd, at: &libc::xdp_ring_offset, slots: u32, offset: libc::off_t) -> io::Result<Self> {
        Ok(Self { ring: Ring::map(socket, at, slots, offset)?, next: 0, end: 0 })
    }

    pub fn waiting(&self) -> bool {
        self.next != self.ring.producer().load(Ordering::Acquire)
    }

    /// The next entry; its slot is the kernel's again after `release`.
    pub fn next(&mut self) -> Option<T> {
        if self.next == self.end {
            self.end = self.ring.producer().load(Ordering::Acquire);
            if self.next == self.end {
                return None;
            }
        }
        let entry = self.ring.read(self.next);
        self.next = self.next.wrapping_add(1);
        Some(entry)
    }

    pub fn release(&mut self) {
        self.ring.consumer().store(self.next, Ordering::Release);
    }
}
