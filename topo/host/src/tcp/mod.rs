//! TCP (RFC 9293) that behaves as Linux's does: what is lost is mended as fast, no more is sent than Linux would.
//!
//! ```text
//!   Tcp          which connection a segment belongs to, listeners, resets
//!   connection   states, the handshake, windows, keep-alives
//!   sender       what may be sent: outgoing, scoreboard, rtt, rack, prr, congestion
//!   receive      what has come, and its holes; acks: when that is told
//!   segment      octets; sequence: numbers
//! ```
//!
//! Segments, commands and the time go in, packets come out: neither sockets nor a clock.

mod acks;
mod congestion;
mod connection;
mod listener;
mod outgoing;
mod prr;
mod rack;
mod receive;
mod rtt;
mod scoreboard;
mod segment;
mod sender;
mod sequence;

use std::collections::BTreeMap;
use std::net::SocketAddrV6;

use smoltcp::wire::{Ipv6Address, Ipv6Packet};

pub use congestion::Congestion;
use connection::Ends;
pub use connection::{Connection, End, Settings, State};
use listener::Listener;
use segment::{Flags, Options, Segment};

/// A connection, as a program knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ConnectionHandle(u64);

/// A listener, as a program knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ListenerHandle(u64);

/// All of a host's TCP.
pub struct Tcp {
    mtu: usize,
    secret: u64,
    last_handle: u64,
    connections: BTreeMap<ConnectionHandle, Connection>,
    /// By local and remote end.
    by_ends: BTreeMap<(SocketAddrV6, SocketAddrV6), ConnectionHandle>,
    listeners: BTreeMap<ListenerHandle, Listener>,
    /// Connections that no program holds any more.
    left: Vec<ConnectionHandle>,
    leaving: Vec<Vec<u8>>,
}

impl Tcp {
    pub fn new(mtu: usize, secret: u64) -> Self {
        Self {
            mtu,
            secret,
            last_handle: 0,
            connections: BTreeMap::new(),
            by_ends: BTreeMap::new(),
            listeners: BTreeMap::new(),
            left: vec![],
            leaving: vec![],
        }
    }

    /// Begins a connection; none if there is one between the two ends already.
    pub fn connect(
        &mut self,
        local: SocketAddrV6,
        remote: SocketAddrV6,
        settings: Settings,
        now: u64,
    ) -> Option<ConnectionHandle> {
        if self.by_ends.contains_key(&(local, remote)) {
            return None;
        }
        let ends = self.ends(local, remote, now);
        Some(self.add(Connection::connect(ends, settings, now)))
    }

    /// Takes connections at a port.
    pub fn listen(&mut self, port: u16, settings: Settings) -> ListenerHandle {
        self.last_handle += 1;
        let handle = ListenerHandle(self.last_handle);
        self.listeners.insert(handle, Listener::new(port, settings));
        handle
    }

    /// A connection that has opened at a listener, if there is one.
    pub fn accept(&mut self, listener: ListenerHandle) -> Option<ConnectionHandle> {
        let connections = &self.connections;
        self.listeners.get_mut(&listener)?.accept(|handle| connections[&handle].state())
    }

    /// Stops listening; connections that no program has yet are broken off.
    pub fn close_listener(&mut self, listener: ListenerHandle, now: u64) {
        for handle in self.listeners.remove(&listener).map(Listener::into_waiting).unwrap_or_default() {
            self.get(handle).abort();
            self.leave(handle, now);
        }
    }

    /// A connection that a program holds.
    pub fn get(&mut self, handle: ConnectionHandle) -> &mut Connection {
        self.connections.get_mut(&handle).expect("a program holds the connections that it has not left")
    }

    /// Gives a connection back: TCP ends it by itself.
    pub fn leave(&mut self, handle: ConnectionHandle, now: u64) {
        self.get(handle).leave(now);
        self.left.push(handle);
    }

    /// Packets are no longer than this from now on.
    pub fn set_mtu(&mut self, mtu: usize) {
        self.mtu = mtu;
        for connection in self.connections.values_mut() {
            connection.set_mtu(mtu);
        }
    }

    /// Takes the payload of a packet.
    pub fn receive(&mut self, packet: &Ipv6Packet<&[u8]>, payload: &[u8], now: u64) {
        let (source, destination) = (packet.src_addr(), packet.dst_addr());
        let unicast = |address: Ipv6Address| !address.is_multicast() && !address.is_unspecified();
        if !unicast(source) || !unicast(destination) {
            return;
        }
        let Some(segment) = Segment::parse(source, destination, payload) else {
            return;
        };
        let ends = (segment.to, segment.from);
        if let Some(handle) = self.by_ends.get(&ends).copied() {
            let connection = self.get(handle);
            let begins = segment.flags.syn && segment.acknowledgement.is_none();
            if !(begins && connection.gives_way_to(&segment)) {
                connection.receive(&segment, now);
                return;
            }
            self.remove(handle);
        }
        self.receive_unknown(&segment, now);
    }

    fn receive_unknown(&mut self, segment: &Segment<'_>, now: u64) {
        if segment.flags.rst {
            return;
        }
        let begins = segment.flags.syn && segment.acknowledgement.is_none() && !segment.flags.fin;
        let found = self.listeners.iter().find(|(_, listener)| listener.port() == segment.to.port());
        let Some((listener, settings)) =
            found.map(|(handle, listener)| (*handle, listener.settings())).filter(|_| begins)
        else {
            self.leaving.push(reset(segment).emit());
            return;
        };
        // Where there is no room the other end asks again.
        if self.listeners[&listener].has_room() {
            let ends = self.ends(segment.to, segment.from, now);
            let handle = self.add(Connection::answer(ends, settings, segment, now));
            self.listeners.entry(listener).and_modify(|listener| listener.add(handle));
        }
    }

    /// Does what is due; packets have room in front for an Ethernet header.
    pub fn poll(&mut self, now: u64, packets: &mut Vec<Vec<u8>>) {
        packets.append(&mut self.leaving);
        for connection in self.connections.values_mut() {
            connection.poll(now, packets);
        }
        let connections = &self.connections;
        let is_closed = |handle: &ConnectionHandle| matches!(connections[handle].state(), State::Closed(_));
        let mut over: Vec<_> = self.left.extract_if(.., |handle| is_closed(handle)).collect();
        for listener in self.listeners.values_mut() {
            over.extend(listener.take_failed(is_closed));
        }
        for handle in over {
            self.remove(handle);
        }
    }

    pub fn next_wake(&self) -> Option<u64> {
        self.connections.values().filter_map(Connection::next_wake).min()
    }

    fn ends(&self, local: SocketAddrV6, remote: SocketAddrV6, now: u64) -> Ends {
        let initial = sequence::initial(self.secret, local, remote, now);
        // Timestamps start elsewhere in each connection (RFC 7323, section 5.4), and grow with one clock.
        let clock = sequence::initial(!self.secret, local, remote, 0);
        Ends { local, remote, initial, clock, mtu: self.mtu }
    }

    fn add(&mut self, connection: Connection) -> ConnectionHandle {
        self.last_handle += 1;
        let handle = ConnectionHandle(self.last_handle);
        self.by_ends.insert((connection.local(), connection.remote()), handle);
        self.connections.insert(handle, connection);
        handle
    }

    fn remove(&mut self, handle: ConnectionHandle) {
        if let Some(connection) = self.connections.remove(&handle) {
            self.by_ends.remove(&(connection.local(), connection.remote()));
        }
        self.left.retain(|left| *left != handle);
    }
}

/// The answer to a segment that belongs to nothing (RFC 9293, section 3.10.7.1).
fn reset(segment: &Segment<'_>) -> Segment<'static> {
    let behind = segment.sequence.wrapping_add(segment.length() as u32);
    Segment {
        from: segment.to,
        to: segment.from,
        sequence: segment.acknowledgement.unwrap_or(0),
        acknowledgement: segment.acknowledgement.is_none().then_some(behind),
        flags: Flags { rst: true, ..Flags::default() },
        window: 0,
        options: Options::default(),
        data: &[],
    }
}
