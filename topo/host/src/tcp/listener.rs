//! A port at which connections are taken, and those that no program has taken yet.

use super::ConnectionHandle;
use super::connection::{Settings, State};

/// Connections that wait for the end of their handshake or for a program; what comes beyond is not answered.
const BACKLOG: usize = 1024;

pub struct Listener {
    port: u16,
    settings: Settings,
    waiting: Vec<ConnectionHandle>,
}

impl Listener {
    pub fn new(port: u16, settings: Settings) -> Self {
        Self { port, settings, waiting: vec![] }
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    pub fn settings(&self) -> Settings {
        self.settings
    }

    pub fn has_room(&self) -> bool {
        self.waiting.len() < BACKLOG
    }

    pub fn add(&mut self, handle: ConnectionHandle) {
        self.waiting.push(handle);
    }

    /// The first whose handshake is over.
    pub fn accept(&mut self, state: impl Fn(ConnectionHandle) -> State) -> Option<ConnectionHandle> {
        let is_open = |handle: &ConnectionHandle| !matches!(state(*handle), State::SynReceived | State::Closed(_));
        let index = self.waiting.iter().position(is_open)?;
        Some(self.waiting.remove(index))
    }

    /// Those whose handshake came to nothing.
    pub fn take_failed(&mut self, is_closed: impl Fn(&ConnectionHandle) -> bool) -> Vec<ConnectionHandle> {
        self.waiting.extract_if(.., |handle| is_closed(handle)).collect()
    }

    pub fn into_waiting(self) -> Vec<ConnectionHandle> {
        self.waiting
    }
}
