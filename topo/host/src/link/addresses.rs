//! A host's own addresses: where they come from, how long they last, which of them is the source of a packet.

use smoltcp::wire::{EthernetAddress, Ipv6Address, Ipv6Cidr, NdiscPrefixInformation};

use crate::config::MAX_ADDRESSES;
use crate::units::SECOND;

/// How long a host listens for others that have its address (RFC 4862, RETRANS_TIMER).
const DUPLICATE_DETECTION: u64 = SECOND;
/// An advertisement that nobody signed cannot take an address away sooner (RFC 4862, section 5.5.3 e).
const LEAST_LEFT: u64 = 2 * 3600 * SECOND;

#[derive(Debug, Clone)]
struct Address {
    cidr: Ipv6Cidr,
    /// None lasts for ever.
    preferred_until: Option<u64>,
    valid_until: Option<u64>,
    /// Set when its uniqueness was asked for, none before.
    tentative_until: Option<u64>,
}

/// How the set of addresses changed.
#[derive(Debug, PartialEq, Eq)]
pub enum Change {
    Added(Ipv6Cidr),
    Removed(Ipv6Cidr),
    Duplicate(Ipv6Cidr),
}

pub struct Addresses {
    interface_id: [u8; 8],
    addresses: Vec<Address>,
    pub changes: Vec<Change>,
}

impl Addresses {
    /// The link-local address, and those that were configured.
    pub fn new(mac: EthernetAddress, configured: &[Ipv6Cidr]) -> Self {
        let mut this = Self { interface_id: interface_id(mac), addresses: vec![], changes: vec![] };
        let link_local = this.join(Ipv6Address::new(0xfe80, 0, 0, 0, 0, 0, 0, 0));
        for cidr in [Ipv6Cidr::new(link_local, 64)].iter().chain(configured) {
            if !this.has(cidr.address()) {
                this.add(*cidr, None, None);
            }
        }
        this
    }

    fn add(&mut self, cidr: Ipv6Cidr, preferred_until: Option<u64>, valid_until: Option<u64>) {
        self.addresses.push(Address { cidr, preferred_until, valid_until, tentative_until: None });
        self.changes.push(Change::Added(cidr));
    }

    pub fn has(&self, address: Ipv6Address) -> bool {
        self.addresses.iter().any(|own| own.cidr.address() == address)
    }

    pub fn list(&self) -> impl Iterator<Item = Ipv6Cidr> {
        self.addresses.iter().map(|own| own.cidr)
    }

    /// The address that starts with fe80, if no other host took it.
    pub fn link_local(&self) -> Option<Ipv6Address> {
        self.list().map(|cidr| cidr.address()).find(Ipv6Address::is_unicast_link_local)
    }

    /// Whether this node's address of the interface identifier ends like that of a solicited-node group.
    pub fn in_solicited_group(&self, group: Ipv6Address) -> bool {
        let [.., a, b, c] = group.octets();
        let octets = group.octets();
        octets[..13] == [0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xff]
            && self.list().any(|cidr| cidr.address().octets()[13..] == [a, b, c])
    }

    /// A router advertised a prefix for addresses (RFC 4862, section 5.5.3).
    pub fn advertised(&mut self, prefix: &NdiscPrefixInformation, now: u64) {
        // The interface identifier has 64 bits, so the prefix has the others.
        let of_hosts = !prefix.prefix.is_multicast() && !prefix.prefix.is_unspecified();
        if !prefix.is_valid_prefix_info() || prefix.prefix_len != 64 || !of_hosts {
            return;
        }
        let address = self.join(prefix.prefix);
        let preferred_until = until(prefix.preferred_lifetime, now);
        let valid_until = until(prefix.valid_lifetime, now);
        if let Some(own) = self.addresses.iter_mut().find(|own| own.cidr.address() == address) {
            let Some(old) = own.valid_until else { return };
            own.preferred_until = preferred_until;
            let floor = old.min(now + LEAST_LEFT);
            own.valid_until = valid_until.map(|until| until.max(floor));
        } else if prefix.valid_lifetime.total_micros() > 0 && self.addresses.len() <= MAX_ADDRESSES {
            self.add(Ipv6Cidr::new(address, 64), preferred_until, valid_until);
        }
    }

    /// A server gave an address, or more time for it; which prefixes are on the link routers say.
    pub fn leased(&mut self, address: Ipv6Address, preferred_until: Option<u64>, valid_until: Option<u64>) {
        if let Some(own) = self.addresses.iter_mut().find(|own| own.cidr.address() == address) {
            (own.preferred_until, own.valid_until) = (preferred_until, valid_until);
        } else if self.addresses.len() <= MAX_ADDRESSES {
            self.add(Ipv6Cidr::new(address, 128), preferred_until, valid_until);
        }
    }

    /// Somebody else uses this address, or asks for it to use it (RFC 4862, section 5.4). True if it was tentative here.
    pub fn claimed_by_other(&mut self, address: Ipv6Address, now: u64) -> bool {
        let tentative = |own: &Address| own.tentative_until.is_none_or(|until| now < until);
        let found = self.addresses.iter().position(|own| own.cidr.address() == address && tentative(own));
        if let Some(index) = found {
            let own = self.addresses.remove(index);
            self.changes.push(Change::Duplicate(own.cidr));
        }
        found.is_some()
    }

    /// Removes what is over; answers the addresses whose uniqueness is to be asked for now.
    pub fn poll(&mut self, now: u64) -> Vec<Ipv6Address> {
        let changes = &mut self.changes;
        self.addresses.retain(|own| {
            let valid = own.valid_until.is_none_or(|until| now < until);
            if !valid {
                changes.push(Change::Removed(own.cidr));
            }
            valid
        });
        let new = self.addresses.iter_mut().filter(|own| own.tentative_until.is_none());
        new.map(|own| {
            own.tentative_until = Some(now + DUPLICATE_DETECTION);
            own.cidr.address()
        })
        .collect()
    }

    /// None if nothing is to be done, 0 if at once.
    pub fn next_wake(&self) -> Option<u64> {
        let at = |own: &Address| {
            if own.tentative_until.is_none() { Some(0) } else { own.valid_until }
        };
        self.addresses.iter().filter_map(at).min()
    }

    /// The source of packets to a destination (RFC 6724, section 5: rules 1, 2, 3 and 8).
    pub fn source_for(&self, destination: Ipv6Address, now: u64) -> Option<Ipv6Address> {
        let link_local = is_link_scoped(destination);
        let rank = |own: &&Address| {
            let address = own.cidr.address();
            (
                address == destination,
                address.is_unicast_link_local() == link_local,
                own.preferred_until.is_none_or(|until| now < until),
                common_prefix_length(address, destination),
            )
        };
        // Of equals the first: `max_by_key` takes the last.
        let usable = |own: &&Address| link_local || !own.cidr.address().is_unicast_link_local();
        self.addresses.iter().rev().filter(usable).max_by_key(rank).map(|own| own.cidr.address())
    }

    fn join(&self, prefix: Ipv6Address) -> Ipv6Address {
        let mut octets = prefix.octets();
        octets[8..].copy_from_slice(&self.interface_id);
        octets.into()
    }
}

/// EUI-64 with the universal bit turned (RFC 4291, appendix A).
fn interface_id(mac: EthernetAddress) -> [u8; 8] {
    let [a, b, c, d, e, f] = mac.0;
    [a ^ 2, b, c, 0xff, 0xfe, d, e, f]
}

pub fn is_link_scoped(address: Ipv6Address) -> bool {
    let octets = address.octets();
    address.is_unicast_link_local() || (octets[0] == 0xff && octets[1] & 0xf <= 2)
}

fn common_prefix_length(a: Ipv6Address, b: Ipv6Address) -> u32 {
    (a.to_bits() ^ b.to_bits()).leading_zeros()
}

/// The end of a lifetime of an advertisement; all ones is infinite.
pub fn until(lifetime: smoltcp::time::Duration, now: u64) -> Option<u64> {
    (lifetime.secs() < u64::from(u32::MAX)).then(|| now + lifetime.secs() * SECOND)
}
