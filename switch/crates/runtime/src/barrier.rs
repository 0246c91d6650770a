//! A barrier between packets, which pass it each, and writers, which pass it rarely: the writers pay for both.
//!
//! Each side stores something and then looks at what the other one stores. One of the two must see the other's store, so no
//! processor may put the look first. A packet would wait for its store to reach the cache each time. With membarrier(2) the
//! kernel makes all threads of this process pass a full barrier when a writer asks for it, and a packet passes none.

use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::compiler_fence;

use rustix::thread::{MembarrierCommand, membarrier};
use tables::sync::fence;

#[derive(Debug)]
pub(crate) struct Barrier {
    /// Whether the kernel does that. If not, both sides have a barrier of their own.
    by_kernel: bool,
}

impl Barrier {
    pub fn new() -> Self {
        Self { by_kernel: !cfg!(loom) && membarrier(MembarrierCommand::RegisterPrivateExpedited).is_ok() }
    }

    /// Between a packet's store and its look.
    #[inline]
    pub fn pass_often(&self) {
        if self.by_kernel {
            compiler_fence(SeqCst);
        } else {
            fence(SeqCst);
        }
    }

    /// Between a writer's store and its look.
    pub fn pass_rarely(&self) {
        fence(SeqCst);
        if self.by_kernel {
            membarrier(MembarrierCommand::PrivateExpedited).expect("the process is registered for it");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering::Relaxed;
    use std::thread;
    use tables::sync::AtomicU64;

    use super::*;

    /// With either kind of barrier, one side sees the other's store.
    #[test]
    fn one_of_two_that_pass_sees_the_other() {
        for barrier in [Barrier::new(), Barrier { by_kernel: false }] {
            let rounds = 500;
            let [packet, writer, round] = [const { AtomicU64::new(0) }; 3];
            let seen: Vec<[u64; 2]> = thread::scope(|scope| {
                let often = scope.spawn(|| {
                    (1..=rounds)
                        .map(|number| {
                            wait_for(&round, number);
                            packet.store(number, Relaxed);
                            barrier.pass_often();
                            writer.load(Relaxed)
                        })
                        .collect::<Vec<_>>()
                });
                let rarely: Vec<u64> = (1..=rounds)
                    .map(|number| {
                        round.store(number, SeqCst);
                        writer.store(number, Relaxed);
                        barrier.pass_rarely();
                        packet.load(Relaxed)
                    })
                    .collect();
                let often = often.join().expect("it only stores and looks");
                often.into_iter().zip(rarely).map(|(often, rarely)| [often, rarely]).collect()
            });
            for (number, seen) in (1..).zip(seen) {
                assert!(seen.iter().any(|seen| *seen >= number), "round {number}: {seen:?}");
            }
        }
    }

    fn wait_for(round: &AtomicU64, number: u64) {
        while round.load(SeqCst) < number {
            std::hint::spin_loop();
        }
    }
}
