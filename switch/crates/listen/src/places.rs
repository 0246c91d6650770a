//! Places for connections, and who has to leave when they are taken: the oldest that nobody holds, of the same peer if
//! that has its share, else of all. So whoever opens thousands of connections keeps none for long, and who comes to
//! ask something gets in.

use std::collections::BTreeMap;
use std::fmt::{self, Display};
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

/// Who is at the other end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    Tcp(SocketAddr),
    /// A process of this machine, on a Unix socket.
    Process(Option<i32>),
}

/// Whose connections are counted together: an address, all of an IPv6 /64 (who has one has all of it), or a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Owner {
    Address(IpAddr),
    Process(Option<i32>),
}

impl Peer {
    pub fn owner(self) -> Owner {
        match self {
            Self::Tcp(address) => Owner::Address(match address.ip().to_canonical() {
                IpAddr::V6(ip) if !ip.is_loopback() => {
                    IpAddr::V6(Ipv6Addr::from_bits(ip.to_bits() & !u128::from(u64::MAX)))
                }
                ip => ip,
            }),
            Self::Process(id) => Owner::Process(id),
        }
    }
}

impl Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => address.fmt(f),
            Self::Process(Some(id)) => write!(f, "process {id}"),
            Self::Process(None) => f.write_str("a process"),
        }
    }
}

pub struct Places {
    most: usize,
    most_of_one: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// By age.
    seats: BTreeMap<u64, Seat>,
    next: u64,
}

struct Seat {
    owner: Owner,
    /// Resolved when the connection has to leave.
    leave: oneshot::Sender<()>,
    holds: usize,
}

/// What became of a request for a place.
pub enum Taken {
    Free(Place),
    /// Another one left for it.
    MadeFree(Place),
    /// All are held.
    No,
}

/// A connection's place, as long as it is there.
pub struct Place {
    places: Arc<Places>,
    number: u64,
    pub left: oneshot::Receiver<()>,
}

impl Places {
    pub fn new(most: usize, most_of_one: usize) -> Arc<Self> {
        Arc::new(Self { most, most_of_one, state: Mutex::default() })
    }

    pub fn take(self: &Arc<Self>, peer: Peer) -> Taken {
        let owner = peer.owner();
        let state = &mut *self.state();
        let of_one = state.seats.values().filter(|seat| seat.owner == owner).count();
        let is_free = of_one < self.most_of_one && state.seats.len() < self.most;
        if !is_free {
            let its_own = of_one >= self.most_of_one;
            let leaves = |seat: &Seat| seat.holds == 0 && (!its_own || seat.owner == owner);
            let Some(number) = state.seats.iter().find(|(_, seat)| leaves(seat)).map(|(number, _)| *number) else {
                return Taken::No;
            };
            if let Some(seat) = state.seats.remove(&number) {
                // It may be about to end by itself.
                let _ = seat.leave.send(());
            }
        }
        let number = state.next;
        state.next += 1;
        let (leave, left) = oneshot::channel();
        state.seats.insert(number, Seat { owner, leave, holds: 0 });
        let place = Place { places: self.clone(), number, left };
        if is_free { Taken::Free(place) } else { Taken::MadeFree(place) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn hold(&self, number: u64) {
        if let Some(seat) = self.state().seats.get_mut(&number) {
            seat.holds += 1;
        }
    }

    fn release(&self, number: u64) {
        if let Some(seat) = self.state().seats.get_mut(&number) {
            seat.holds -= 1;
        }
    }
}

impl Place {
    pub fn caller(&self, peer: Peer) -> Caller {
        Caller { peer, places: self.places.clone(), number: self.number }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.places.state().seats.remove(&self.number);
    }
}

/// Who calls, as tonic tells it with each request.
#[derive(Clone)]
pub struct Caller {
    pub peer: Peer,
    places: Arc<Places>,
    number: u64,
}

impl Caller {
    /// Keeps the caller's connection from having to leave, as long as what is returned is there.
    pub fn hold(&self) -> Hold {
        self.places.hold(self.number);
        Hold(self.clone())
    }
}

pub struct Hold(Caller);

impl Drop for Hold {
    fn drop(&mut self) {
        self.0.places.release(self.0.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peer(last: u8) -> Peer {
        Peer::Tcp(SocketAddr::from(([192, 0, 2, last], 1)))
    }

    fn place(taken: Taken) -> (Place, bool) {
        match taken {
            Taken::Free(place) => (place, false),
            Taken::MadeFree(place) => (place, true),
            Taken::No => panic!("no place"),
        }
    }

    #[test]
    fn the_oldest_that_nobody_holds_leaves() {
        let places = Places::new(3, 3);
        let (mut first, _) = place(places.take(peer(1)));
        let (mut second, _) = place(places.take(peer(2)));
        let (mut third, made_free) = place(places.take(peer(3)));
        assert!(!made_free);
        let hold = first.caller(peer(1)).hold();
        let (_fourth, made_free) = place(places.take(peer(4)));
        assert!(made_free);
        assert!(first.left.try_recv().is_err() && second.left.try_recv().is_ok() && third.left.try_recv().is_err());
        drop(second);
        drop(hold);
        let _fifth = place(places.take(peer(5)));
        assert!(first.left.try_recv().is_ok());
    }

    #[test]
    fn who_has_its_share_takes_from_itself() {
        let places = Places::new(4, 2);
        let (mut other, _) = place(places.take(peer(1)));
        let (mut first, _) = place(places.take(peer(2)));
        let (_second, _) = place(places.take(peer(2)));
        let (_third, made_free) = place(places.take(peer(2)));
        assert!(made_free && other.left.try_recv().is_err() && first.left.try_recv().is_ok());
    }

    #[test]
    fn where_all_are_held_nobody_gets_in_until_one_ends() {
        let places = Places::new(1, 1);
        let (first, _) = place(places.take(peer(1)));
        let _hold = first.caller(peer(1)).hold();
        assert!(matches!(places.take(peer(2)), Taken::No));
        drop(first);
        assert!(matches!(places.take(peer(2)), Taken::Free(_)));
    }

    #[test]
    fn a_64_is_one_peer_and_loopback_addresses_are_themselves() {
        let owner = |text: &str| Peer::Tcp(text.parse().unwrap()).owner();
        assert_eq!(owner("[2001:db8::1]:1"), owner("[2001:db8::2]:2"));
        assert_ne!(owner("[2001:db8::1]:1"), owner("[2001:db8:0:1::1]:1"));
        assert_eq!(owner("[::ffff:192.0.2.1]:1"), owner("192.0.2.1:2"));
        assert_ne!(owner("[::1]:1"), owner("[::2]:1"));
    }
}
