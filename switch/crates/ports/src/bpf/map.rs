//! Maps: what programs keep between frames, and share with us.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use super::{Mapping, bpf, new_fd};

// Commands, kinds and flags of linux/bpf.h.
const MAP_CREATE: libc::c_int = 0;
const MAP_LOOKUP_ELEM: libc::c_int = 1;
const MAP_UPDATE_ELEM: libc::c_int = 2;
const MAP_DELETE_ELEM: libc::c_int = 3;
const HASH: u32 = 1;
const ARRAY: u32 = 2;
const PER_CPU_ARRAY: u32 = 6;
const XSKMAP: u32 = 17;
const NO_PREALLOC: u32 = 1 << 0;
const MMAPABLE: u32 = 1 << 10;

/// A map from keys to values of fixed lengths; a key of an array is its index, in 32 bits of the machine's order.
pub struct Map {
    fd: OwnedFd,
    kind: u32,
    key: usize,
    value: usize,
    entries: usize,
}

#[repr(C)]
struct Create {
    kind: u32,
    key_size: u32,
    value_size: u32,
    max_entries: u32,
    flags: u32,
}

#[repr(C, align(8))]
struct Element {
    map: u32,
    padding: u32,
    key: u64,
    value: u64,
    flags: u64,
}

impl Map {
    /// Values, all zero at first, that stand in memory which this process sees too ([`Map::memory`]).
    pub fn array(value: u32, entries: u32) -> io::Result<Self> {
        Self::new(ARRAY, 4, value, entries, MMAPABLE)
    }

    /// Values of which each processor has its own; they are between programs, and not read or written from here.
    pub fn per_cpu_array(value: u32, entries: u32) -> io::Result<Self> {
        Self::new(PER_CPU_ARRAY, 4, value, entries, 0)
    }

    /// At most so many entries, each of which takes memory when it is put.
    pub fn hash(key: u32, value: u32, entries: u32) -> io::Result<Self> {
        Self::new(HASH, key, value, entries, NO_PREALLOC)
    }

    /// AF_XDP sockets, which are put by their descriptors and leave when they are closed.
    pub fn sockets(entries: u32) -> io::Result<Self> {
        Self::new(XSKMAP, 4, 4, entries, 0)
    }

    fn new(kind: u32, key: u32, value: u32, entries: u32, flags: u32) -> io::Result<Self> {
        let create = Create { kind, key_size: key, value_size: value, max_entries: entries, flags };
        let fd = new_fd(MAP_CREATE, &create)?;
        Ok(Self { fd, kind, key: key as usize, value: value as usize, entries: entries as usize })
    }

    /// Sets the value of the key, whether it had one or not.
    pub fn put(&self, key: &[u8], value: &[u8]) -> io::Result<()> {
        self.check_value(value.len());
        bpf(MAP_UPDATE_ELEM, &self.element(key, value.as_ptr() as u64)).map(drop)
    }

    /// The value of the key; none if it has none.
    pub fn get(&self, key: &[u8]) -> io::Result<Option<Vec<u8>>> {
        let mut value = vec![0; self.value];
        self.check_value(value.len());
        let found = bpf(MAP_LOOKUP_ELEM, &self.element(key, value.as_mut_ptr() as u64));
        Ok(unless_missing(found)?.map(|_| value))
    }

    /// Takes the key out; false if it was not there. An array's keys stay.
    pub fn remove(&self, key: &[u8]) -> io::Result<bool> {
        let removed = bpf(MAP_DELETE_ELEM, &self.element(key, 0));
        Ok(unless_missing(removed)?.is_some())
    }

    /// The values of an array: that of index `n` stands at `n` times its length, which is rounded up to eight octets.
    /// Programs and other threads read and write them meanwhile.
    pub fn memory(&self) -> io::Result<Mapping> {
        Mapping::of_fd(self.fd.as_fd(), self.value.next_multiple_of(8) * self.entries, 0)
    }

    fn element(&self, key: &[u8], value: u64) -> Element {
        assert_eq!(key.len(), self.key, "the length of a key");
        Element { map: self.fd.as_raw_fd() as u32, padding: 0, key: key.as_ptr() as u64, value, flags: 0 }
    }

    /// The kernel takes or gives as many octets as it knows the value to have.
    fn check_value(&self, len: usize) {
        assert_ne!(self.kind, PER_CPU_ARRAY, "each processor has a value of its own");
        assert_eq!(len, self.value, "the length of a value");
    }
}

impl AsFd for Map {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

fn unless_missing<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Err(error) if error.raw_os_error() == Some(libc::ENOENT) => Ok(None),
        result => result.map(Some),
    }
}
