//! The switch that hands over to this one.

use std::collections::BTreeMap;
use std::env;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;

use anyhow::{Context, Result, bail};
use listen::{Address, Limits, Listener};
use ports::Takeover;
use service::State;

use super::channel::{Channel, Kind};
use super::{Begin, PortEnd, VARIABLE, VERSION};
use crate::clock::Clock;

pub struct Predecessor {
    channel: Channel,
    /// By the flag that chose the address.
    listeners: BTreeMap<String, OwnedFd>,
    state: Option<State>,
    clock: Clock,
}

impl Predecessor {
    /// The one that started this process, if a switch did, and what it says at first.
    pub fn of_this_process() -> Result<Option<Self>> {
        if env::var_os(VARIABLE).is_none() {
            return Ok(None);
        }
        Self::meet().context("hot restart").map(Some)
    }

    fn meet() -> Result<Self> {
        let mut channel = Channel(UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?));
        let (begin, _) = channel.receive_json::<Begin>(Kind::Begin)?;
        if begin.version != VERSION {
            bail!("the running switch is of another version; restart it");
        }
        let mut listeners = BTreeMap::new();
        for _ in 0..begin.listeners {
            let (flag, descriptors) = channel.receive_json(Kind::Listener)?;
            listeners.insert(flag, descriptors.into_iter().next().context("a listener without its socket")?);
        }
        let state = State::from_bytes(&channel.receive(Kind::State)?.0).map_err(anyhow::Error::msg)?;
        let (monotonic, epoch) = begin.clock;
        Ok(Self { channel, listeners, state: Some(state), clock: Clock::take_over(monotonic, epoch) })
    }

    pub fn clock(&self) -> Clock {
        self.clock
    }

    /// What it was configured with. To be asked for once.
    pub fn state(&mut self) -> State {
        self.state.take().unwrap_or_default()
    }

    /// Listens where it did; none if it did not.
    pub fn listener(&mut self, flag: &str, address: &Address, limits: Limits) -> Result<Option<Listener>> {
        let socket = self.listeners.remove(flag);
        socket.map(|socket| Listener::take_over(address, socket, limits)).transpose().with_context(|| flag.to_owned())
    }

    /// Says that everything is ready, and waits until it forwards no more.
    pub fn ready(&mut self) -> Result<()> {
        Ok(self.channel.send(Kind::Ready, &[], &[])?)
    }

    /// The ends of a port, and whether its link is cut.
    pub fn port(&mut self, port: u32, ends: usize) -> Result<(Vec<Takeover>, bool)> {
        let mut cut = false;
        let mut take = || {
            let (end, descriptors) = self.channel.receive_json::<PortEnd>(Kind::Port)?;
            if end.port != port {
                bail!("the running switch has port {} where this one has {port}", end.port);
            }
            cut = end.cut;
            Ok(Takeover { descriptors, numbers: end.numbers })
        };
        let ends = (0..ends).map(|_| take()).collect::<Result<_>>()?;
        Ok((ends, cut))
    }

    /// What packets wrote.
    pub fn cells(&mut self) -> Result<Vec<u8>> {
        Ok(self.channel.receive(Kind::Cells)?.0)
    }

    /// Says that this switch forwards now.
    pub fn taken(mut self) -> Result<()> {
        Ok(self.channel.send(Kind::Taken, &[], &[])?)
    }
}
