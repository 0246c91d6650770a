//! A wire between two processes on one machine: a Unix socket that keeps the bounds of frames (SOCK_SEQPACKET).
//!
//! Whoever comes first listens at the path, the other connects; so either end may start, stop and come back in any
//! order. While the other end is away the wire is down and frames are lost, as on a real one.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, Mode, OFlags, fchmod, flock, open};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketAddrUnix, SocketFlags, SocketType, accept_with, bind, connect, listen,
    recv, send, socket_with, sockopt,
};

use crate::{MAX_FRAME, Port, Takeover};

/// What the kernel may hold for the other end, in bytes: it doubles this and counts some 800 for the shortest frame, so that
/// some 1300 frames wait at most, about as many as in a network card. More is only delay where a wire is flooded.
const BUFFER: usize = 512 << 10;

/// One end of a wire.
pub struct Wire {
    path: PathBuf,
    state: State,
    buffer: Vec<u8>,
    /// The last frame was refused because the other end reads too slowly.
    full: bool,
}

enum State {
    Listening(OwnedFd),
    /// With the listening socket if this end made it: it waits there again when the other end leaves.
    Connected(OwnedFd, Option<OwnedFd>),
    /// Neither; the next call tries again.
    Down,
}

impl Wire {
    /// An end of the wire at `path`.
    pub fn new(path: &Path) -> io::Result<Self> {
        let mut wire = Self { path: path.into(), state: State::Down, buffer: vec![0; MAX_FRAME], full: false };
        wire.state = wire.attach()?;
        Ok(wire)
    }

    /// The end that another process had.
    pub(crate) fn take_over(path: &Path, end: Takeover) -> io::Result<Self> {
        let mut descriptors = end.descriptors.into_iter();
        let state = match (end.numbers.first(), descriptors.next()) {
            (Some(1), Some(stream)) => State::Connected(stream, descriptors.next()),
            (_, Some(listener)) => State::Listening(listener),
            _ => State::Down,
        };
        Ok(Self { path: path.into(), state, buffer: vec![0; MAX_FRAME], full: false })
    }

    fn attach(&self) -> io::Result<State> {
        let address = SocketAddrUnix::new(&self.path)?;
        let stream = socket()?;
        // One end after the other: between the other's `bind` and its `listen` the socket would look left behind.
        let _alone = lock_folder(&self.path)?;
        match connect(&stream, &address) {
            Ok(()) => return Ok(State::Connected(stream, None)),
            // Left behind by a process that ended without cleaning up: nobody listens there.
            Err(Errno::CONNREFUSED) => std::fs::remove_file(&self.path).or_else(ignore_missing)?,
            Err(Errno::NOENT) => {}
            Err(error) => return Err(error.into()),
        }
        let listener = socket()?;
        // The file gets the mode of the socket, so nobody else can connect at any moment.
        fchmod(&listener, Mode::RUSR | Mode::WUSR)?;
        match bind(&listener, &address) {
            Ok(()) => {}
            // The other end was quicker; the next call connects.
            Err(Errno::ADDRINUSE) => return Ok(State::Down),
            Err(error) => return Err(error.into()),
        }
        listen(&listener, 1)?;
        Ok(State::Listening(listener))
    }

    /// Brings the wire up if the other end is there; the socket of the wire, if it is up.
    fn peer(&mut self) -> io::Result<Option<&OwnedFd>> {
        self.state = match std::mem::replace(&mut self.state, State::Down) {
            State::Down => self.attach()?,
            State::Listening(listener) => match accept_with(&listener, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC) {
                Ok(stream) => {
                    set_buffers(&stream);
                    State::Connected(stream, Some(listener))
                }
                Err(Errno::AGAIN) => State::Listening(listener),
                Err(error) => return Err(error.into()),
            },
            up => up,
        };
        Ok(match &self.state {
            State::Connected(stream, _) => Some(stream),
            _ => None,
        })
    }

    fn hang_up(&mut self) {
        self.full = false;
        self.state = match std::mem::replace(&mut self.state, State::Down) {
            State::Connected(_, Some(listener)) => State::Listening(listener),
            _ => State::Down,
        };
    }
}

impl Port for Wire {
    fn receive(&mut self, max: usize, take: &mut dyn FnMut(&[u8])) -> io::Result<usize> {
        let mut buffer = std::mem::take(&mut self.buffer);
        let mut count = 0;
        let result = loop {
            if count == max {
                break Ok(count);
            }
            let stream = match self.peer() {
                Ok(Some(stream)) => stream,
                Ok(None) => break Ok(count),
                Err(error) => break Err(error),
            };
            match recv(stream, &mut buffer[..], RecvFlags::DONTWAIT) {
                Ok((_, 0)) | Err(Errno::CONNRESET) => {
                    self.hang_up();
                    break Ok(count);
                }
                Ok((_, bytes)) => {
                    take(&buffer[..bytes.min(MAX_FRAME)]);
                    count += 1;
                }
                Err(Errno::AGAIN) => break Ok(count),
                Err(Errno::INTR) => {}
                Err(error) => break Err(error.into()),
            }
        };
        self.buffer = buffer;
        result
    }

    fn send(&mut self, frame: &[u8], _now: u64) -> io::Result<bool> {
        let Some(stream) = self.peer()? else { return Ok(true) };
        match send(stream, frame, SendFlags::DONTWAIT | SendFlags::NOSIGNAL) {
            Ok(_) => {
                self.full = false;
                Ok(true)
            }
            Err(Errno::AGAIN | Errno::NOBUFS) => {
                self.full = true;
                Ok(false)
            }
            Err(Errno::PIPE | Errno::CONNRESET | Errno::NOTCONN) => {
                self.hang_up();
                Ok(true)
            }
            Err(error) => Err(error.into()),
        }
    }

    fn flush(&mut self, _now: u64) -> io::Result<()> {
        // Time has passed: the next frame may try again.
        self.full = false;
        Ok(())
    }

    fn ready(&self) -> bool {
        !self.full
    }

    fn fd(&self) -> Option<BorrowedFd<'_>> {
        match &self.state {
            State::Listening(fd) | State::Connected(fd, _) => Some(fd.as_fd()),
            State::Down => None,
        }
    }

    fn is_up(&self) -> bool {
        matches!(self.state, State::Connected(..))
    }

    fn hand_over(&mut self) -> io::Result<Takeover> {
        // The file of the listening socket stays where it is.
        Ok(match std::mem::replace(&mut self.state, State::Down) {
            State::Connected(stream, listener) => {
                Takeover { descriptors: std::iter::once(stream).chain(listener).collect(), numbers: vec![1] }
            }
            State::Listening(listener) => Takeover { descriptors: vec![listener], numbers: vec![0] },
            State::Down => Takeover::default(),
        })
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        if matches!(self.state, State::Listening(_) | State::Connected(_, Some(_))) {
            // It may be gone already, and nobody is left to be told.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

fn socket() -> io::Result<OwnedFd> {
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let fd = socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)?;
    set_buffers(&fd);
    Ok(fd)
}

/// Until it is dropped nobody else attaches to a wire in that folder.
fn lock_folder(path: &Path) -> io::Result<OwnedFd> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let folder = open(folder, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    flock(&folder, FlockOperation::LockExclusive)?;
    Ok(folder)
}

/// The kernel grants what its limits allow.
fn set_buffers(fd: &OwnedFd) {
    let _ = sockopt::set_socket_send_buffer_size(fd, BUFFER);
}

fn ignore_missing(error: io::Error) -> io::Result<()> {
    if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(name: &str) -> PathBuf {
        std::env::temp_dir().join(format!("wayname-wire-{name}-{}", std::process::id()))
    }

    fn received(wire: &mut Wire) -> Vec<Vec<u8>> {
        let mut frames = vec![];
        wire.receive(16, &mut |frame| frames.push(frame.to_vec())).unwrap();
        frames
    }

    #[test]
    fn frames_keep_their_bounds_both_ways() {
        let path = path("bounds");
        let (mut a, mut b) = (Wire::new(&path).unwrap(), Wire::new(&path).unwrap());
        assert_eq!(received(&mut a), [[0u8; 0]; 0]);
        assert!(a.send(&[1, 2], 0).unwrap() && a.send(&[3], 0).unwrap() && b.send(&[4; 1500], 0).unwrap());
        assert_eq!(received(&mut b), [vec![1, 2], vec![3]]);
        assert_eq!(received(&mut a), [vec![4; 1500]]);
        assert!(a.is_up() && b.is_up());
    }

    #[test]
    fn an_end_that_comes_back_is_connected_again() {
        let path = path("again");
        let mut a = Wire::new(&path).unwrap();
        let b = Wire::new(&path).unwrap();
        received(&mut a);
        drop(b);
        received(&mut a);
        assert!(!a.is_up());
        assert!(a.send(&[9], 0).unwrap(), "a frame for nobody is lost, not refused");
        let mut b = Wire::new(&path).unwrap();
        received(&mut a);
        a.send(&[5], 0).unwrap();
        assert_eq!(received(&mut b), [[5]]);
        drop(a);
        received(&mut b);
        assert!(!b.is_up());
        let mut a = Wire::new(&path).unwrap();
        received(&mut b);
        received(&mut a);
        b.send(&[6], 0).unwrap();
        received(&mut a);
        b.send(&[7], 0).unwrap();
        assert!(received(&mut a).ends_with(&[vec![7]]));
    }

    #[test]
    fn a_wire_is_for_its_owner_only() {
        use std::os::unix::fs::PermissionsExt;
        let path = path("mode");
        let _wire = Wire::new(&path).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_socket_left_behind_is_replaced() {
        let path = path("stale");
        let listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
        drop(listener);
        let (mut a, mut b) = (Wire::new(&path).unwrap(), Wire::new(&path).unwrap());
        received(&mut a);
        b.send(&[1], 0).unwrap();
        assert_eq!(received(&mut a), [[1]]);
    }

    #[test]
    fn ends_that_come_at_the_same_moment_find_each_other() {
        let path = path("moment");
        for stale in [false, true].repeat(50) {
            if stale {
                drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
            }
            let start = std::sync::Barrier::new(2);
            let attach = || {
                start.wait();
                Wire::new(&path).unwrap()
            };
            let (mut a, mut b) = std::thread::scope(|scope| {
                let (a, b) = (scope.spawn(attach), scope.spawn(attach));
                (a.join().unwrap(), b.join().unwrap())
            });
            received(&mut a);
            received(&mut b);
            assert!(a.is_up() && b.is_up());
        }
    }

    #[test]
    fn an_end_that_does_not_read_holds_frames_back() {
        let path = path("full");
        let (mut a, mut b) = (Wire::new(&path).unwrap(), Wire::new(&path).unwrap());
        received(&mut a);
        let mut sent = 0;
        while sent < 100_000 && a.send(&[0; 1500], 0).unwrap() {
            sent += 1;
        }
        assert!(!a.ready() && sent > 10);
        while !received(&mut b).is_empty() {}
        assert!(a.send(&[1], 0).unwrap() && a.ready());
    }
}
