//! Which ways the kernel can take, and what is put there for them.

use std::collections::HashMap;

use flow_cache::{End, Offer};

use crate::checksums::Checksums;
use crate::memory::{Edit, MOST_EDITS, MOST_SPAN};
use crate::pattern::Pattern;

/// The interface of a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Port {
    pub interface: u32,
    /// The longest frame that may leave by it.
    pub longest: usize,
}

/// A way as programs in the kernel take it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    pub pattern: Pattern,
    pub key: Vec<u8>,
    /// None for a way that ends with the packet dropped.
    pub out: Option<Port>,
    pub edits: Vec<Edit>,
}

/// VLAN tags are beside a packet in the kernel.
const TAGS: [[u8; 2]; 2] = [[0x81, 0x00], [0x88, 0xa8]];

impl Candidate {
    /// An error says why the kernel cannot do what the way does to all its packets.
    pub fn of(offer: &Offer, ports: &HashMap<u32, Port>) -> Result<Self, &'static str> {
        let Offer { port, octets: packet, key, way, .. } = offer;
        let interface = ports.get(port).ok_or("its port is no interface")?.interface;
        let pattern = Pattern::of(key).ok_or("it looks at too much")?;
        let (first, end) = pattern.span();
        if packet.len() < end || end - first > MOST_SPAN {
            return Err("it looks at too much");
        }
        if packet.get(12..14).is_none_or(|kind| TAGS.iter().any(|tag| tag == kind)) {
            return Err("its packets have VLAN tags");
        }
        if !Pattern::keeps_order(key, packet) {
            return Err("packets of its flow may take another: it looks at lengths, or what stands behind ports");
        }
        let checksums = Checksums::of(&key.octets, packet);
        if checksums.may_be_in(&key.octets) {
            return Err("it looks at what may be a begun checksum");
        }
        let (out, edits) = match way.end {
            End::DroppedInIngress | End::DroppedInEgress(_) => (None, vec![]),
            End::Sent(port) => {
                let out = ports.get(&port).ok_or("it goes to a port that is no interface")?;
                let edits = way.edit.in_place().ok_or("it adds or removes octets")?;
                (Some(*out), edits.map(|(at, keep, set)| Edit { at, keep, set }).collect())
            }
        };
        let is_before =
            |edit: &Edit| (0..8).filter(|at| edit.keep[*at] != 0xff).all(|at| edit.at + at < checksums.from);
        if edits.len() > MOST_EDITS || !edits.iter().all(is_before) {
            return Err("it changes what a begun checksum may be of");
        }
        Ok(Self { key: pattern.key(packet, interface), pattern, out, edits })
    }
}
