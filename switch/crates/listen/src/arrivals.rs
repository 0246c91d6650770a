//! How often one peer may connect. A connection with TLS costs signatures before anybody knows whose it is.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use crate::places::{Owner, Peer};
use crate::rate::{Bucket, Rate};

/// Peers that are remembered; then the one that has been quiet for longest is forgotten.
const MOST: usize = 1024;

pub struct Arrivals {
    rate: Rate,
    of: Mutex<HashMap<Owner, Bucket>>,
}

impl Arrivals {
    pub fn new(rate: Rate) -> Self {
        Self { rate, of: Mutex::default() }
    }

    /// Whether this peer may connect once more now. A process of this machine may: it has the socket's permissions.
    pub fn may(&self, peer: Peer, now: Instant) -> bool {
        let owner @ Owner::Address(_) = peer.owner() else { return true };
        let mut of = self.of.lock().unwrap_or_else(PoisonError::into_inner);
        if !of.contains_key(&owner)
            && of.len() >= MOST
            && let Some(quiet) = of.iter().min_by_key(|(_, bucket)| bucket.filled).map(|(owner, _)| *owner)
        {
            of.remove(&quiet);
        }
        of.entry(owner).or_insert_with(|| Bucket::new(self.rate, now)).take(now)
    }
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, SocketAddr};
    use std::time::Duration;

    use super::*;

    const RATE: Rate = Rate { per_second: 1, at_once: 3 };

    fn peer(number: u32) -> Peer {
        Peer::Tcp(SocketAddr::from((Ipv4Addr::from_bits(0x0a00_0000 + number), 1)))
    }

    #[test]
    fn who_connects_too_often_waits_and_nobody_else() {
        let (arrivals, now) = (Arrivals::new(RATE), Instant::now());
        let passed = |who| (0..10).filter(|_| arrivals.may(peer(who), now)).count();
        assert_eq!((passed(1), passed(2), passed(1)), (3, 3, 0));
        assert!((0..10).all(|_| arrivals.may(Peer::Process(Some(1)), now)));
        assert!(arrivals.may(peer(1), now + Duration::from_secs(1)));
    }

    #[test]
    fn so_many_peers_are_remembered() {
        let (arrivals, now) = (Arrivals::new(RATE), Instant::now());
        for number in 0..2 * MOST as u32 {
            assert!(arrivals.may(peer(number), now + Duration::from_millis(u64::from(number))));
        }
        assert_eq!(arrivals.of.lock().unwrap().len(), MOST);
    }
}
