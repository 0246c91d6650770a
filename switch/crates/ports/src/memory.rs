//! Memory that is shared with the kernel.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::sync::atomic::AtomicU64;

/// A mapping, taken back on drop.
pub struct Mapping {
    start: *mut u8,
    len: usize,
}

// SAFETY: the memory belongs to this value alone on our side; whoever reads or writes it agrees with the kernel on who
// may by atomic words inside it.
#[allow(unsafe_code)]
unsafe impl Send for Mapping {}

// SAFETY: a shared mapping gives away addresses, and words that are atomic.
#[allow(unsafe_code)]
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps what the socket or the map of bpf(2) offers at the offset.
    pub(crate) fn of_fd(fd: BorrowedFd<'_>, len: usize, offset: libc::off_t) -> io::Result<Self> {
        Self::map(len, libc::MAP_SHARED | libc::MAP_POPULATE, fd.as_raw_fd(), offset)
    }

    /// New memory, all zero.
    pub(crate) fn new(len: usize) -> io::Result<Self> {
        Self::map(len, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_POPULATE, -1, 0)
    }

    #[allow(unsafe_code)]
    fn map(len: usize, flags: libc::c_int, fd: libc::c_int, offset: libc::off_t) -> io::Result<Self> {
        // SAFETY: a new mapping at an address that the kernel chooses touches no memory that is in use.
        let start =
            unsafe { libc::mmap(std::ptr::null_mut(), len, libc::PROT_READ | libc::PROT_WRITE, flags, fd, offset) };
        if start == libc::MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok(Self { start: start.cast(), len }) }
    }

    /// The address of `len` bytes at `offset`, which must be within the mapping.
    #[allow(unsafe_code)]
    pub fn at(&self, offset: usize, len: usize) -> *mut u8 {
        assert!(offset <= self.len && len <= self.len - offset, "{len} bytes at {offset} of {}", self.len);
        // SAFETY: within the mapping, as just checked.
        unsafe { self.start.add(offset) }
    }

    /// The eight octets at `offset`, which must be a multiple of eight and within the mapping.
    #[allow(unsafe_code)]
    pub fn word(&self, offset: usize) -> &AtomicU64 {
        assert!(offset.is_multiple_of(8), "a word at {offset}");
        // SAFETY: within the mapping, which begins at a page and lives as long as the answer; whatever stands there is a
        // number.
        unsafe { AtomicU64::from_ptr(self.at(offset, 8).cast()) }
    }
}

#[allow(unsafe_code)]
impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the mapping made in `map`; whoever took an address from it borrowed it, and is gone.
        unsafe { libc::munmap(self.start.cast(), self.len) };
    }
}
