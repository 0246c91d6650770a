//! Frames that go from one forwarding thread to another.
//!
//! A port whose flows the kernel does not share out belongs to the first thread. That one takes the frames in and hands those
//! of other threads' flows over; what another thread sends by such a port it hands to the first. Each way is a queue, and
//! all packets of a flow take the same, so they stay in order.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};

use anyhow::{Context, Result};
use ports::{Flows, Port};
use rustix::event::{EventfdFlags, eventfd};

use crate::handle::wake;

/// Frames that are handed over together.
const BATCH: usize = 64;
/// Batches that may wait for a thread: as many frames as a port's memory holds.
const WAITING: usize = 64;

/// Frames of one port, one behind the other.
pub struct Frames {
    /// The port's place among all ports.
    pub port: usize,
    bytes: Vec<u8>,
    /// Where each ends, and when it leaves.
    ends: Vec<(usize, u64)>,
}

impl Frames {
    fn new(port: usize) -> Self {
        Self { port, bytes: vec![], ends: vec![] }
    }

    fn push(&mut self, frame: &[u8], at: u64) {
        self.bytes.extend_from_slice(frame);
        self.ends.push((self.bytes.len(), at));
    }

    fn len(&self) -> usize {
        self.ends.len()
    }

    /// Each frame, and when it leaves.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], u64)> {
        let starts = std::iter::once(0).chain(self.ends.iter().map(|(end, _)| *end));
        starts.zip(&self.ends).map(|(start, (end, at))| (&self.bytes[start..*end], *at))
    }
}

pub enum Handed {
    /// To be run by the program.
    Received(Frames),
    /// To be sent by the port's thread.
    ToSend(Frames),
}

/// Where a thread is handed frames.
#[derive(Clone)]
pub struct Inbox {
    sender: SyncSender<Handed>,
    pub wake: Arc<OwnedFd>,
}

/// For each thread its inbox, and what it takes out of there.
pub fn inboxes(threads: usize) -> Result<Vec<(Inbox, Receiver<Handed>)>> {
    let inbox = |_| {
        let (sender, receiver) = sync_channel(WAITING);
        let wake = eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC).context("eventfd")?;
        Ok((Inbox { sender, wake: Arc::new(wake) }, receiver))
    };
    (0..threads).map(inbox).collect()
}

impl Inbox {
    /// Empties `frames` into the inbox; false if that is full, and nothing was handed over.
    fn hand_over(&self, frames: &mut Frames, kind: fn(Frames) -> Handed) -> bool {
        if frames.len() == 0 {
            return true;
        }
        let empty = Frames::new(frames.port);
        match self.sender.try_send(kind(std::mem::replace(frames, empty))) {
            Ok(()) => {
                wake(&self.wake);
                true
            }
            Err(TrySendError::Full(Handed::Received(back) | Handed::ToSend(back))) => {
                *frames = back;
                false
            }
            // The switch stops.
            Err(TrySendError::Disconnected(_)) => true,
        }
    }
}

/// Chooses the thread of each frame that the first one took in.
pub struct Steering {
    flows: Flows,
    inboxes: Vec<Inbox>,
    /// By thread: what it has not been handed yet. Nothing for the first, whose the frames are.
    frames: Vec<Frames>,
}

impl Steering {
    pub fn new(inboxes: Vec<Inbox>) -> Self {
        let frames = inboxes.iter().map(|_| Frames::new(0)).collect();
        Self { flows: Flows::default(), inboxes, frames }
    }

    /// Puts a frame aside for its thread; false if that is the first.
    pub fn take(&mut self, port: usize, frame: &[u8]) -> bool {
        let thread = (self.flows.number(frame) % self.inboxes.len() as u64) as usize;
        if thread == 0 {
            return false;
        }
        self.frames[thread].port = port;
        self.frames[thread].push(frame, 0);
        true
    }

    /// What was put aside and not handed over yet.
    pub fn waiting(&self) -> impl Iterator<Item = &[u8]> {
        self.frames.iter().flat_map(Frames::iter).map(|(frame, _)| frame)
    }

    /// Hands over what was put aside; false while an inbox is full. Frames of another port must not be taken in before.
    pub fn hand_over(&mut self) -> bool {
        let mut is_done = true;
        for (inbox, frames) in self.inboxes.iter().zip(&mut self.frames) {
            is_done &= inbox.hand_over(frames, Handed::Received);
        }
        is_done
    }

    pub fn is_empty(&self) -> bool {
        self.frames.iter().all(|frames| frames.len() == 0)
    }
}

/// The end of a port that the first thread owns, for another thread to send by.
pub struct Elsewhere {
    inbox: Inbox,
    frames: Frames,
}

impl Elsewhere {
    /// The port at this place among all ports, whose thread has that inbox.
    pub fn new(port: usize, inbox: Inbox) -> Self {
        Self { inbox, frames: Frames::new(port) }
    }
}

impl Port for Elsewhere {
    fn receive(&mut self, _max: usize, _take: &mut dyn FnMut(&[u8])) -> io::Result<usize> {
        Ok(0)
    }

    fn send(&mut self, frame: &[u8], now: u64) -> io::Result<bool> {
        if !self.ready() {
            return Ok(false);
        }
        self.frames.push(frame, now);
        if !self.ready() {
            self.flush(now)?;
        }
        Ok(true)
    }

    fn flush(&mut self, _now: u64) -> io::Result<()> {
        self.inbox.hand_over(&mut self.frames, Handed::ToSend);
        Ok(())
    }

    fn ready(&self) -> bool {
        self.frames.len() < BATCH
    }

    fn next_wakeup(&self) -> Option<u64> {
        (self.frames.len() > 0).then_some(0)
    }

    fn fd(&self) -> Option<BorrowedFd<'_>> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_inbox_refuses_and_loses_nothing() {
        let mut inboxes = inboxes(1).unwrap();
        let (inbox, receiver) = inboxes.remove(0);
        let mut end = Elsewhere::new(3, inbox);
        let mut sent = 0u32;
        while end.send(&sent.to_be_bytes(), u64::from(sent)).unwrap() {
            sent += 1;
        }
        assert_eq!(sent as usize, BATCH * (WAITING + 1));
        assert!(!end.ready() && end.next_wakeup().is_some());
        let mut got = vec![];
        while let Ok(Handed::ToSend(frames)) = receiver.try_recv() {
            assert_eq!(frames.port, 3);
            got.extend(frames.iter().map(|(frame, at)| (frame.to_vec(), at)));
            end.flush(0).unwrap();
        }
        let expected: Vec<_> = (0..sent).map(|i| (i.to_be_bytes().to_vec(), u64::from(i))).collect();
        assert_eq!(got, expected);
    }

    #[test]
    fn frames_of_a_flow_go_one_way_and_the_first_thread_keeps_its_own() {
        let (inboxes, receivers): (Vec<_>, Vec<_>) = inboxes(3).unwrap().into_iter().unzip();
        let mut steering = Steering::new(inboxes);
        let frames = (0..100u8).map(|flow| [[flow; 6], [0; 6], [8, 6, 0, 0, 0, 0]].concat());
        let kept: Vec<_> = frames.clone().filter(|frame| !steering.take(7, frame)).collect();
        assert!(!steering.is_empty() && steering.hand_over() && steering.is_empty());
        let mut sizes = vec![kept.len()];
        for receiver in &receivers[1..] {
            let Ok(Handed::Received(handed)) = receiver.try_recv() else { panic!("nothing for a thread") };
            assert_eq!(handed.port, 7);
            sizes.push(handed.len());
        }
        assert!(receivers[0].try_recv().is_err());
        assert_eq!(sizes.iter().sum::<usize>(), 100);
        assert!(frames.filter(|frame| !steering.take(7, frame)).eq(kept), "the same ones again");
    }
}
