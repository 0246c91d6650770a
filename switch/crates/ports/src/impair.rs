//! Delay and loss on what leaves a port, where the kernel has no netem or must not be asked.
//!
//! Rate and queue length are not here: a link's queue is the switch's own (`pipeline::Shape`), so that the program sees
//! its depth.

use std::collections::VecDeque;
use std::io;
use std::os::fd::BorrowedFd;

use fastrand::Rng;

use crate::{Carrier, Lost, Port, ShownCarrier};

/// What a link does to frames.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Impairment {
    /// Nanoseconds.
    pub delay: u64,
    /// Of a million frames, so many are lost.
    pub loss_ppm: u32,
}

/// A port behind an impaired link.
pub struct Impaired {
    port: Box<dyn Port>,
    impairment: Impairment,
    random: Rng,
    /// Frames under way, by the time they arrive.
    under_way: VecDeque<(u64, Vec<u8>)>,
}

impl Impaired {
    /// `seed` decides which frames are lost: the same in every run.
    pub fn new(port: Box<dyn Port>, impairment: Impairment, seed: u64) -> Self {
        Self { port, impairment, random: Rng::with_seed(seed), under_way: VecDeque::new() }
    }
}

impl Port for Impaired {
    fn receive(&mut self, max: usize, take: &mut dyn FnMut(&[u8])) -> io::Result<usize> {
        self.port.receive(max, take)
    }

    fn send(&mut self, frame: &[u8], now: u64) -> io::Result<bool> {
        if self.random.u32(..1_000_000) < self.impairment.loss_ppm {
            return Ok(true);
        }
        self.under_way.push_back((now + self.impairment.delay, frame.to_vec()));
        Ok(true)
    }

    fn flush(&mut self, now: u64) -> io::Result<()> {
        while let Some((at, frame)) = self.under_way.front() {
            if *at > now || !self.port.send(frame, now)? {
                break;
            }
            self.under_way.pop_front();
        }
        self.port.flush(now)
    }

    fn next_wakeup(&self) -> Option<u64> {
        let own = self.under_way.front().map(|(at, _)| *at);
        [own, self.port.next_wakeup()].into_iter().flatten().min()
    }

    /// Frames under way keep their times. A link does not reorder: those behind them come no sooner.
    fn impair(&mut self, impairment: Impairment) {
        self.impairment = impairment;
    }

    fn fd(&self) -> Option<BorrowedFd<'_>> {
        self.port.fd()
    }

    fn is_up(&self) -> bool {
        self.port.is_up()
    }

    fn carrier(&self) -> io::Result<Option<Carrier>> {
        self.port.carrier()
    }

    fn shown_carrier(&self) -> io::Result<Option<ShownCarrier>> {
        self.port.shown_carrier()
    }

    fn lost(&mut self) -> Lost {
        self.port.lost()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    type Log = Arc<Mutex<Vec<(u64, Vec<u8>)>>>;

    /// Notes what is sent, and when.
    #[derive(Clone, Default)]
    struct Recorder(Log);

    impl Port for Recorder {
        fn receive(&mut self, _max: usize, _take: &mut dyn FnMut(&[u8])) -> io::Result<usize> {
            Ok(0)
        }
        fn send(&mut self, frame: &[u8], now: u64) -> io::Result<bool> {
            self.0.lock().unwrap().push((now, frame.to_vec()));
            Ok(true)
        }
        fn flush(&mut self, _now: u64) -> io::Result<()> {
            Ok(())
        }
        fn fd(&self) -> Option<BorrowedFd<'_>> {
            None
        }
    }

    #[test]
    fn a_delayed_frame_arrives_when_its_time_has_come() {
        let recorder = Recorder::default();
        let mut port = Impaired::new(Box::new(recorder.clone()), Impairment { delay: 10, loss_ppm: 0 }, 1);
        port.send(&[1], 5).unwrap();
        port.flush(14).unwrap();
        assert_eq!((recorder.0.lock().unwrap().len(), port.next_wakeup()), (0, Some(15)));
        port.flush(15).unwrap();
        assert_eq!(*recorder.0.lock().unwrap(), [(15, vec![1])]);
        assert_eq!(port.next_wakeup(), None);
    }

    #[test]
    fn a_link_that_becomes_shorter_keeps_the_order_of_frames() {
        let recorder = Recorder::default();
        let mut port = Impaired::new(Box::new(recorder.clone()), Impairment { delay: 50, loss_ppm: 0 }, 1);
        port.send(&[1], 0).unwrap();
        port.impair(Impairment { delay: 10, loss_ppm: 0 });
        port.send(&[2], 5).unwrap();
        port.flush(49).unwrap();
        assert!(recorder.0.lock().unwrap().is_empty());
        port.flush(50).unwrap();
        assert_eq!(*recorder.0.lock().unwrap(), [(50, vec![1]), (50, vec![2])]);
        port.impair(Impairment { delay: 0, loss_ppm: 1_000_000 });
        port.send(&[3], 60).unwrap();
        port.flush(60).unwrap();
        assert_eq!(recorder.0.lock().unwrap().len(), 2);
    }

    #[test]
    fn about_as_many_frames_are_lost_as_was_said() {
        let recorder = Recorder::default();
        let mut port = Impaired::new(Box::new(recorder.clone()), Impairment { delay: 0, loss_ppm: 100_000 }, 7);
        for _ in 0..10_000 {
            port.send(&[1], 0).unwrap();
        }
        port.flush(0).unwrap();
        let arrived = recorder.0.lock().unwrap().len();
        assert!((8_800..9_200).contains(&arrived), "{arrived} of 10000 arrived");
    }
}
