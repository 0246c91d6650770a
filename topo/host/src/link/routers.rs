//! Routers and prefixes of the link, as configured or advertised (RFC 4861, section 6.3).

use smoltcp::wire::{Ipv6Address, Ipv6Cidr, NdiscPrefixInfoFlags, NdiscPrefixInformation};

use super::addresses::{is_link_scoped, until};
use crate::units::SECOND;

/// RFC 7559, section 2: ask again at growing intervals until a router answers.
const FIRST_INTERVAL: u64 = 4 * SECOND;
const LONGEST_INTERVAL: u64 = 3600 * SECOND;

#[derive(Debug)]
struct Router {
    address: Ipv6Address,
    /// None for a configured one.
    until: Option<u64>,
    /// It did not answer the last time; others are better.
    suspect: bool,
}

#[derive(Debug)]
struct Prefix {
    cidr: Ipv6Cidr,
    until: Option<u64>,
}

/// How the set of routers changed.
#[derive(Debug, PartialEq, Eq)]
pub enum Change {
    Added(Ipv6Address),
    Removed(Ipv6Address),
}

pub struct Routers {
    routers: Vec<Router>,
    prefixes: Vec<Prefix>,
    /// When to ask for routers, and how long to wait after that; none where they are not wanted.
    solicit: Option<(u64, u64)>,
    pub changes: Vec<Change>,
}

impl Routers {
    pub fn new(gateway: Option<Ipv6Address>, addresses: &[Ipv6Cidr], autoconfigures: bool) -> Self {
        let routers = gateway.map(|address| Router { address, until: None, suspect: false });
        Self {
            routers: routers.into_iter().collect(),
            prefixes: addresses.iter().map(|cidr| Prefix { cidr: *cidr, until: None }).collect(),
            solicit: autoconfigures.then_some((0, FIRST_INTERVAL)),
            changes: gateway.map(Change::Added).into_iter().collect(),
        }
    }

    pub fn autoconfigures(&self) -> bool {
        self.solicit.is_some()
    }

    pub fn list(&self) -> impl Iterator<Item = Ipv6Address> {
        self.routers.iter().map(|router| router.address)
    }

    /// The neighbour that a packet goes to first; none if no router is known.
    pub fn next_hop(&self, destination: Ipv6Address) -> Option<Ipv6Address> {
        let on_link =
            is_link_scoped(destination) || self.prefixes.iter().any(|prefix| prefix.cidr.contains_addr(&destination));
        if on_link {
            return Some(destination);
        }
        let best = self.routers.iter().min_by_key(|router| router.suspect);
        best.map(|router| router.address)
    }

    /// A router says for how long it is one; 0 takes it back.
    pub fn advertised(&mut self, address: Ipv6Address, lifetime: u64, now: u64) {
        let known = self.routers.iter().position(|router| router.address == address);
        match (known, lifetime) {
            (Some(index), 0) => {
                self.routers.remove(index);
                self.changes.push(Change::Removed(address));
            }
            (Some(index), _) => {
                self.routers[index].until = Some(now + lifetime);
                self.routers[index].suspect = false;
            }
            (None, 0) => {}
            (None, _) => {
                self.routers.push(Router { address, until: Some(now + lifetime), suspect: false });
                self.changes.push(Change::Added(address));
            }
        }
        if lifetime > 0 && self.solicit.is_some() {
            self.solicit = Some((u64::MAX, FIRST_INTERVAL));
        }
    }

    /// A prefix is on the link for so long.
    pub fn prefix_advertised(&mut self, prefix: &NdiscPrefixInformation, now: u64) {
        if !prefix.flags.contains(NdiscPrefixInfoFlags::ON_LINK) || prefix.prefix_len > 128 {
            return;
        }
        let cidr = Ipv6Cidr::new(prefix.prefix, prefix.prefix_len);
        let until = until(prefix.valid_lifetime, now);
        let same = |known: &Prefix| known.cidr.prefix_len() == cidr.prefix_len() && known.cidr.contains_subnet(&cidr);
        self.prefixes.retain(|known| known.until.is_none() || !same(known));
        if until != Some(now) && !self.prefixes.iter().any(same) {
            self.prefixes.push(Prefix { cidr, until });
        }
    }

    /// A neighbour did not answer, or has answered.
    pub fn set_suspect(&mut self, address: Ipv6Address, suspect: bool) {
        for router in self.routers.iter_mut().filter(|router| router.address == address) {
            router.suspect = suspect;
        }
    }

    /// Asks for routers from the beginning, as after the link was away.
    pub fn restart(&mut self) {
        self.solicit = self.solicit.map(|_| (0, FIRST_INTERVAL));
    }

    /// Removes what is over; true if it is time to ask for routers.
    pub fn poll(&mut self, now: u64) -> bool {
        let over = |until: Option<u64>| until.is_some_and(|until| until <= now);
        self.prefixes.retain(|prefix| !over(prefix.until));
        let changes = &mut self.changes;
        self.routers.retain(|router| {
            if over(router.until) {
                changes.push(Change::Removed(router.address));
            }
            !over(router.until)
        });
        let last_gone = self.routers.is_empty() && !self.changes.is_empty();
        match &mut self.solicit {
            Some((due, interval)) if last_gone || *due <= now => {
                *due = now + *interval;
                *interval = (*interval * 2).min(LONGEST_INTERVAL);
                true
            }
            _ => false,
        }
    }

    pub fn next_wake(&self) -> Option<u64> {
        let routers = self.routers.iter().filter_map(|router| router.until);
        let prefixes = self.prefixes.iter().filter_map(|prefix| prefix.until);
        let solicit = self.solicit.map(|(due, _)| due).filter(|due| *due < u64::MAX);
        routers.chain(prefixes).chain(solicit).min()
    }
}
