//! A connection that has a place: it ends when it has to leave it, and when nothing comes for too long.

use std::io::{self, ErrorKind, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpStream, UnixStream};
use tokio::time::{Instant, Sleep, sleep};
use tonic::transport::server::Connected;

use crate::places::{Caller, Peer, Place};

/// Until the first octets.
const FIRST: Duration = Duration::from_secs(10);

pub enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
}

pub struct Connection {
    stream: Stream,
    peer: Peer,
    place: Place,
    idle: Duration,
    silent_until: Pin<Box<Sleep>>,
    has_to_leave: bool,
}

impl Connection {
    pub(crate) fn new(stream: Stream, peer: Peer, place: Place, idle: Duration) -> Self {
        Self { stream, peer, place, idle, silent_until: Box::pin(sleep(FIRST.min(idle))), has_to_leave: false }
    }

    /// The error with which it ends, if it has to.
    fn poll_end(&mut self, context: &mut Context<'_>) -> Poll<io::Error> {
        self.has_to_leave = self.has_to_leave || Pin::new(&mut self.place.left).poll(context).is_ready();
        if self.has_to_leave {
            return Poll::Ready(io::Error::new(ErrorKind::ConnectionAborted, "gave way to another connection"));
        }
        self.silent_until.as_mut().poll(context).map(|()| io::Error::new(ErrorKind::TimedOut, "silent for too long"))
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if let Poll::Ready(error) = self.poll_end(context) {
            return Poll::Ready(Err(error));
        }
        let before = buffer.filled().len();
        let read = match &mut self.stream {
            Stream::Tcp(stream) => Pin::new(stream).poll_read(context, buffer),
            Stream::Unix(stream) => Pin::new(stream).poll_read(context, buffer),
        };
        if buffer.filled().len() > before {
            let until = Instant::now() + self.idle;
            self.silent_until.as_mut().reset(until);
        }
        read
    }
}

impl AsyncWrite for Connection {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, octets: &[u8]) -> Poll<io::Result<usize>> {
        if let Poll::Ready(error) = self.poll_end(context) {
            return Poll::Ready(Err(error));
        }
        match &mut self.stream {
            Stream::Tcp(stream) => Pin::new(stream).poll_write(context, octets),
            Stream::Unix(stream) => Pin::new(stream).poll_write(context, octets),
        }
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        octets: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        if let Poll::Ready(error) = self.poll_end(context) {
            return Poll::Ready(Err(error));
        }
        match &mut self.stream {
            Stream::Tcp(stream) => Pin::new(stream).poll_write_vectored(context, octets),
            Stream::Unix(stream) => Pin::new(stream).poll_write_vectored(context, octets),
        }
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.stream {
            Stream::Tcp(stream) => Pin::new(stream).poll_flush(context),
            Stream::Unix(stream) => Pin::new(stream).poll_flush(context),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.stream {
            Stream::Tcp(stream) => Pin::new(stream).poll_shutdown(context),
            Stream::Unix(stream) => Pin::new(stream).poll_shutdown(context),
        }
    }
}

impl Connected for Connection {
    type ConnectInfo = Caller;

    fn connect_info(&self) -> Caller {
        self.place.caller(self.peer)
    }
}
