//! Lets connections in.

use std::future::poll_fn;
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use tokio::net::{TcpListener, UnixListener};
use tokio::time::{Sleep, sleep};
use tokio_stream::Stream as Incoming;
use tracing::{debug, warn};

use crate::address::{Address, BindError, listen_unix};
use crate::arrivals::Arrivals;
use crate::connection::{Connection, Stream};
use crate::places::{Peer, Places, Taken};
use crate::rate::Rate;

/// After an accept that failed for want of descriptors or memory.
const PAUSE: Duration = Duration::from_millis(500);

/// How many connections there may be, in all and of one peer, for how long each may be silent, and how often one peer on
/// another machine may connect, if that is bounded.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub most: usize,
    pub most_of_one: usize,
    pub idle: Duration,
    pub arrivals: Option<Rate>,
}

pub struct Listener {
    socket: Socket,
    address: Address,
    places: Arc<Places>,
    arrivals: Option<Arrivals>,
    idle: Duration,
    pause: Option<Pin<Box<Sleep>>>,
    stays: Arc<AtomicBool>,
}

/// The socket of a listener, for another process that listens on.
pub struct Shared {
    descriptor: OwnedFd,
    stays: Arc<AtomicBool>,
}

impl Shared {
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }

    /// The other process has it: its file stays when the listener ends here.
    pub fn stays(&self) {
        self.stays.store(true, Ordering::Relaxed);
    }
}

enum Socket {
    Tcp(TcpListener),
    Unix(UnixListener),
}

impl Listener {
    /// Listens; what goes wrong names `flag`, which chooses the address.
    pub async fn bind(address: &Address, flag: &'static str, limits: Limits) -> Result<Self, BindError> {
        let (socket, address) = open(address).await.map_err(|error| address.error(flag, error))?;
        Ok(Self::on(socket, address, limits))
    }

    /// Listens on where another process did.
    pub fn take_over(address: &Address, descriptor: OwnedFd, limits: Limits) -> io::Result<Self> {
        Ok(match address {
            Address::Tcp(_) => {
                let listener = TcpListener::from_std(descriptor.into())?;
                let address = Address::Tcp(listener.local_addr()?);
                Self::on(Socket::Tcp(listener), address, limits)
            }
            Address::Unix(_) => {
                Self::on(Socket::Unix(UnixListener::from_std(descriptor.into())?), address.clone(), limits)
            }
        })
    }

    /// The same socket, for another process.
    pub fn share(&self) -> io::Result<Shared> {
        let descriptor = match &self.socket {
            Socket::Tcp(listener) => listener.as_fd().try_clone_to_owned()?,
            Socket::Unix(listener) => listener.as_fd().try_clone_to_owned()?,
        };
        Ok(Shared { descriptor, stays: self.stays.clone() })
    }

    fn on(socket: Socket, address: Address, limits: Limits) -> Self {
        let places = Places::new(limits.most, limits.most_of_one);
        let arrivals = limits.arrivals.map(Arrivals::new);
        Self { socket, address, places, arrivals, idle: limits.idle, pause: None, stays: Arc::default() }
    }

    /// Where it listens.
    pub fn address(&self) -> &Address {
        &self.address
    }

    fn poll_accept(&mut self, context: &mut Context<'_>) -> Poll<Connection> {
        loop {
            if let Some(pause) = &mut self.pause {
                ready!(pause.as_mut().poll(context));
                self.pause = None;
            }
            match ready!(self.socket.poll_accept(context)) {
                Ok((stream, peer)) => {
                    if let Some(connection) = self.let_in(stream, peer) {
                        return Poll::Ready(connection);
                    }
                }
                Err(error) if is_of_one_connection(&error) => debug!("a connection was gone before it was accepted"),
                Err(error) => {
                    warn!("a connection to {} cannot be accepted: {error}", self.address);
                    self.pause = Some(Box::pin(sleep(PAUSE)));
                }
            }
        }
    }

    fn let_in(&self, stream: Stream, peer: Peer) -> Option<Connection> {
        if self.arrivals.as_ref().is_some_and(|arrivals| !arrivals.may(peer, Instant::now())) {
            warn!("{}: {peer} connects too often and is refused", self.address);
            return None;
        }
        let place = match self.places.take(peer) {
            Taken::Free(place) => place,
            Taken::MadeFree(place) => {
                warn!("{} has as many connections as it takes: one that holds no stream leaves", self.address);
                place
            }
            Taken::No => {
                warn!("{} has as many connections as it takes: {peer} is refused", self.address);
                return None;
            }
        };
        Some(Connection::new(stream, peer, place, self.idle))
    }
}

async fn open(address: &Address) -> io::Result<(Socket, Address)> {
    match address {
        Address::Tcp(address) => {
            let listener = TcpListener::bind(address).await?;
            let address = Address::Tcp(listener.local_addr()?);
            Ok((Socket::Tcp(listener), address))
        }
        Address::Unix(path) => Ok((Socket::Unix(listen_unix(path)?), address.clone())),
    }
}

impl Socket {
    fn poll_accept(&self, context: &mut Context<'_>) -> Poll<io::Result<(Stream, Peer)>> {
        Poll::Ready(match self {
            Self::Tcp(listener) => ready!(listener.poll_accept(context)).and_then(|(stream, peer)| {
                stream.set_nodelay(true)?;
                Ok((Stream::Tcp(stream), Peer::Tcp(peer)))
            }),
            Self::Unix(listener) => ready!(listener.poll_accept(context)).map(|(stream, _)| {
                let process = stream.peer_cred().ok().and_then(|credentials| credentials.pid());
                (Stream::Unix(stream), Peer::Process(process))
            }),
        })
    }
}

/// Whether an error tells of the connection that was to be accepted, and not of us (accept(2)).
fn is_of_one_connection(error: &io::Error) -> bool {
    use ErrorKind::*;
    matches!(
        error.kind(),
        ConnectionAborted | ConnectionRefused | ConnectionReset | Interrupted | InvalidInput | NotConnected | TimedOut
    )
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Address::Unix(path) = &self.address
            && !self.stays.load(Ordering::Relaxed)
        {
            // It may be gone already, and nobody is left to be told.
            let _ = std::fs::remove_file(path);
        }
    }
}

impl Incoming for Listener {
    type Item = io::Result<Connection>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.poll_accept(context).map(|connection| Some(Ok(connection)))
    }
}

impl axum::serve::Listener for Listener {
    type Io = Connection;
    type Addr = Address;

    async fn accept(&mut self) -> (Connection, Address) {
        (poll_fn(|context| self.poll_accept(context)).await, self.address.clone())
    }

    fn local_addr(&self) -> io::Result<Address> {
        Ok(self.address.clone())
    }
}
