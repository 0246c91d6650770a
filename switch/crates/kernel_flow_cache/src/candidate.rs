//! Which ways the kernel can take, and what is put there for them.

use std::collections::HashMap;

use flow_cache::{End, Offer};

use crate::checksums::Checksums;
use crate::memory::{EDITS, Edit, MOST_SPAN};
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

/// What may change stands before it.
const LONGEST: usize = EDITS[EDITS.len() - 1] + 8;

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
                let changes = way.edit.in_place().ok_or("it adds or removes octets")?;
                let end = checksums.from.min(key.at_least);
                (Some(*out), edits(changes, end).ok_or("it changes what a begun checksum may be of")?)
            }
        };
        Ok(Self { key: pattern.key(packet, interface), pattern, out, edits })
    }
}

/// Changes of eight octets anywhere, as changes where the program makes them; none if one of them is behind the end.
fn edits(changes: impl Iterator<Item = (usize, [u8; 8], [u8; 8])>, end: usize) -> Option<Vec<Edit>> {
    let (mut keep, mut set) = ([0xff; LONGEST], [0; LONGEST]);
    for (at, kept, new) in changes {
        for (octet, (kept, new)) in (at..).zip(kept.into_iter().zip(new)) {
            if kept == 0xff {
                continue;
            }
            *keep.get_mut(octet).filter(|_| octet < end)? = kept;
            set[octet] = new;
        }
    }
    let mut edits = vec![];
    let mut next = 0;
    while let Some(gap) = keep[next..].iter().position(|kept| *kept != 0xff) {
        let first = next + gap;
        let holds = |at: &usize| (*at..at + 8).contains(&first) && at + 8 <= end;
        // The last of them reaches farthest.
        let number = EDITS.iter().rposition(holds)?;
        let at = EDITS[number];
        let of = |octets: &[u8; LONGEST]| octets[at..at + 8].try_into().expect("eight octets");
        edits.push(Edit { number, keep: of(&keep), set: of(&set) });
        next = at + 8;
    }
    Some(edits)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Changes every octet of a range.
    fn changed(start: usize, end: usize) -> impl Iterator<Item = (usize, [u8; 8], [u8; 8])> {
        let first = |octet: u8, others: u8| [octet, others, others, others, others, others, others, others];
        (start..end).map(move |at| (at, first(0, 0xff), first(at as u8 | 0x80, 0)))
    }

    #[test]
    fn octets_change_wherever_they_stand_and_no_others() {
        for end in [14, 34, 54] {
            for (start, stop) in (0..end).flat_map(|start| (start..=end).map(move |stop| (start, stop))) {
                let mut packet: Vec<u8> = (0..end as u8).collect();
                for Edit { number, keep, set } in edits(changed(start, stop), end).unwrap() {
                    let octets = &mut packet[EDITS[number]..EDITS[number] + 8];
                    for (octet, (keep, set)) in octets.iter_mut().zip(keep.iter().zip(set)) {
                        *octet = *octet & keep | set;
                    }
                }
                let expected = |at: usize| at as u8 | if (start..stop).contains(&at) { 0x80 } else { 0 };
                assert_eq!(packet, (0..end).map(expected).collect::<Vec<_>>(), "{start} to {stop} of {end}");
            }
            assert!(edits(changed(end, end + 1), end).is_none());
        }
    }
}
