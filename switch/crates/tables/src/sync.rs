//! The words and locks that threads share. Built with `--cfg loom`, they are those of loom, which goes through the orders of
//! the threads' steps and every older value that a load may still see (`make test-loom`).

#[cfg(loom)]
pub use loom::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, fence};
#[cfg(loom)]
pub use loom::sync::{Mutex, MutexGuard};
#[cfg(loom)]
pub use loom::{hint, thread};
#[cfg(not(loom))]
pub use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, fence};
#[cfg(not(loom))]
pub use std::sync::{Mutex, MutexGuard, OnceLock};
#[cfg(not(loom))]
pub use std::{hint, thread};

#[cfg(loom)]
pub use once_lock::OnceLock;

/// So many words that are zero. The memory comes zeroed from the system, so what is not used costs nothing.
pub fn zeroed(len: usize) -> Box<[AtomicU64]> {
    #[cfg(not(loom))]
    return bytemuck::zeroed_slice_box(len);
    #[cfg(loom)]
    return (0..len).map(|_| AtomicU64::new(0)).collect();
}

#[cfg(loom)]
mod once_lock {
    use std::sync::atomic::Ordering::{Acquire, Release};

    use super::{AtomicBool, Mutex};

    /// That of the standard library in words that loom sees; it has none of its own.
    #[derive(Debug, Default)]
    pub struct OnceLock<T> {
        value: std::sync::OnceLock<T>,
        is_made: AtomicBool,
        making: Mutex<()>,
    }

    impl<T> OnceLock<T> {
        pub fn new() -> Self {
            Self { value: std::sync::OnceLock::new(), is_made: AtomicBool::new(false), making: Mutex::new(()) }
        }

        pub fn get(&self) -> Option<&T> {
            self.is_made.load(Acquire).then(|| self.value.get()).flatten()
        }

        pub fn get_or_init(&self, make: impl FnOnce() -> T) -> &T {
            if !self.is_made.load(Acquire) {
                let _making = self.making.lock().expect("no maker panics");
                self.value.get_or_init(make);
                self.is_made.store(true, Release);
            }
            self.value.get().expect("it is made")
        }
    }
}
