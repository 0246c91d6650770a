//! Where a packet may have a checksum that its host only began.
//!
//! A host behind a veth pair leaves TCP's and UDP's checksums to its network card: the sum of the pseudo header stands in
//! their place. The switch finishes them before a packet is looked at, the kernel does when the packet leaves, and a
//! program at TC cannot tell. So a way is none for the kernel if it looks at such a checksum, or changes what is in it.

use flow_cache::Octets;

const IPV6: [u8; 2] = [0x86, 0xdd];
const HOP_BY_HOP: u8 = 0;
const TCP: u8 = 6;
const UDP: u8 = 17;
const ROUTING: u8 = 43;
const DESTINATION: u8 = 60;

/// What comes at the earliest behind Ethernet's header: IPv4's without options.
const EARLIEST: usize = 14 + 20;

/// Where checksums may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Checksums {
    /// What stands from here on may be in a checksum.
    pub from: usize,
    /// The checksum itself, where its place is known.
    at: Option<usize>,
}

impl Checksums {
    /// In packets that agree with this one in these octets.
    pub fn of(octets: &Octets, packet: &[u8]) -> Self {
        let known = |at: usize| (octets.masks().get(at) == Some(&0xff)).then(|| packet.get(at).copied()).flatten();
        if [12, 13].map(known) != IPV6.map(Some) {
            return Self { from: EARLIEST, at: None };
        }
        let (mut next, mut from) = (known(20), 54);
        loop {
            match next {
                Some(TCP) => return Self { from, at: Some(from + 16) },
                Some(UDP) => return Self { from, at: Some(from + 6) },
                Some(HOP_BY_HOP | ROUTING | DESTINATION) => {
                    let Some(length) = known(from + 1) else { return Self { from, at: None } };
                    next = known(from);
                    from += 8 * usize::from(length) + 8;
                }
                _ => return Self { from, at: None },
            }
        }
    }

    /// Whether one of the octets may be a checksum's.
    pub fn may_be_in(&self, octets: &Octets) -> bool {
        let is_one = |at: usize| match self.at {
            Some(checksum) => (checksum..checksum + 2).contains(&at),
            None => at >= self.from,
        };
        (0..octets.masks().len()).any(|at| octets.masks()[at] != 0 && is_one(at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn octets(ranges: &[(usize, usize)]) -> Octets {
        let mut octets = Octets::default();
        assert!(ranges.iter().all(|(start, end)| octets.add_bits(8 * start, 8 * (end - start))));
        octets
    }

    /// IPv6 with these headers.
    fn packet(first: u8, headers: &[u8]) -> Vec<u8> {
        let mut packet = vec![0; 54];
        packet[12..14].copy_from_slice(&IPV6);
        packet[20] = first;
        packet.extend_from_slice(headers);
        packet.resize(128, 0);
        packet
    }

    #[test]
    fn a_checksum_is_behind_all_headers_that_are_known() {
        let tcp = packet(TCP, &[]);
        let of = |ranges: &[(usize, usize)], packet: &[u8]| Checksums::of(&octets(ranges), packet);
        assert_eq!(of(&[], &tcp), Checksums { from: 34, at: None }, "it may be IPv4");
        assert_eq!(of(&[(12, 14)], &tcp), Checksums { from: 54, at: None });
        assert_eq!(of(&[(12, 14), (20, 21)], &tcp), Checksums { from: 54, at: Some(70) });
        let segments = packet(ROUTING, &[[UDP, 2].as_slice(), &[9; 22]].concat());
        assert_eq!(of(&[(12, 14), (20, 21)], &segments), Checksums { from: 54, at: None });
        assert_eq!(of(&[(12, 14), (20, 21), (54, 56)], &segments), Checksums { from: 78, at: Some(84) });
    }

    #[test]
    fn octets_that_may_be_a_checksum_are_known() {
        let udp = packet(UDP, &[]);
        let may_be = |looked_at: &[(usize, usize)]| {
            let looked_at = octets(looked_at);
            Checksums::of(&looked_at, &udp).may_be_in(&looked_at)
        };
        assert!(!may_be(&[(12, 14), (38, 54)]));
        assert!(may_be(&[(12, 14), (38, 54), (56, 58)]), "it may be another protocol's");
        assert!(!may_be(&[(12, 14), (20, 21), (54, 60)]) && !may_be(&[(12, 14), (20, 21), (62, 64)]));
        assert!(may_be(&[(12, 14), (20, 21), (61, 62)]));
    }
}
