//! Records with descriptors between two processes.

use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

use anyhow::{Context, Result, bail};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    Begin = 1,
    Listener = 2,
    State = 3,
    Ready = 4,
    Port = 5,
    Cells = 6,
    Taken = 7,
}

/// Of one record.
const MOST_DESCRIPTORS: usize = 4;
/// Its kind and the length of its payload. The descriptors come with them.
const HEAD: usize = 9;

pub struct Channel(pub UnixStream);

impl Channel {
    pub fn send(&mut self, kind: Kind, payload: &[u8], descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
        let mut head = [kind as u8; HEAD];
        head[1..].copy_from_slice(&(payload.len() as u64).to_le_bytes());
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_DESCRIPTORS))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        if !descriptors.is_empty() && !ancillary.push(SendAncillaryMessage::ScmRights(descriptors)) {
            return Err(io::Error::other("too many descriptors in one record"));
        }
        let sent = rustix::net::sendmsg(&self.0, &[IoSlice::new(&head)], &mut ancillary, SendFlags::NOSIGNAL)?;
        self.0.write_all(&head[sent..])?;
        self.0.write_all(payload)
    }

    pub fn send_json(&mut self, kind: Kind, value: &impl Serialize, descriptors: &[BorrowedFd<'_>]) -> Result<()> {
        Ok(self.send(kind, &serde_json::to_vec(value)?, descriptors)?)
    }

    /// The next record, which must be of this kind.
    pub fn receive(&mut self, kind: Kind) -> Result<(Vec<u8>, Vec<OwnedFd>)> {
        let mut head = [0; HEAD];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_DESCRIPTORS))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let got = {
            let mut parts = [IoSliceMut::new(&mut head)];
            rustix::net::recvmsg(&self.0, &mut parts, &mut ancillary, RecvFlags::CMSG_CLOEXEC)?.bytes
        };
        if got == 0 {
            bail!("the other process ended");
        }
        let mut descriptors = vec![];
        for message in ancillary.drain() {
            if let RecvAncillaryMessage::ScmRights(received) = message {
                descriptors.extend(received);
            }
        }
        self.0.read_exact(&mut head[got..])?;
        let (found, len) = head.split_first_chunk::<1>().context("no head")?;
        if found[0] != kind as u8 {
            bail!("the other process says record {} where {kind:?} comes", found[0]);
        }
        let len = u64::from_le_bytes(len.try_into()?);
        let mut payload = vec![];
        (&self.0).take(len).read_to_end(&mut payload)?;
        if payload.len() as u64 != len {
            bail!("the other process ended");
        }
        Ok((payload, descriptors))
    }

    pub fn receive_json<T: DeserializeOwned>(&mut self, kind: Kind) -> Result<(T, Vec<OwnedFd>)> {
        let (payload, descriptors) = self.receive(kind)?;
        Ok((serde_json::from_slice(&payload)?, descriptors))
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;

    use super::*;

    #[test]
    fn records_come_whole_and_with_their_descriptors() {
        let (one, other) = UnixStream::pair().unwrap();
        let (mut one, mut other) = (Channel(one), Channel(other));
        let (mut written, read) = UnixStream::pair().unwrap();
        let long = vec![7; 1 << 20];
        let sender = std::thread::spawn(move || {
            one.send(Kind::State, &long, &[]).unwrap();
            one.send_json(Kind::Begin, &5, &[read.as_fd(), read.as_fd()]).unwrap();
        });
        assert_eq!(other.receive(Kind::State).unwrap().0, vec![7; 1 << 20]);
        let (number, descriptors) = other.receive_json::<u32>(Kind::Begin).unwrap();
        sender.join().unwrap();
        assert_eq!((number, descriptors.len()), (5, 2));
        written.write_all(b"x").unwrap();
        let mut got = [0];
        UnixStream::from(descriptors.into_iter().next().unwrap()).read_exact(&mut got).unwrap();
        assert_eq!(&got, b"x");
        assert!(other.receive(Kind::Ready).unwrap_err().to_string().contains("ended"));
    }
}
