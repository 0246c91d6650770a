//! Which frames must stay in order: those of one flow.

use std::hash::{BuildHasher, RandomState};

const VLAN_TAGS: [u16; 2] = [0x8100, 0x88a8];
const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;

/// Numbers flows. Both directions of a flow have one number. It begins anew in each process, so that nobody outside can
/// choose flows that share one.
#[derive(Debug, Clone, Default)]
pub struct Flows(RandomState);

impl Flows {
    /// The number of the frame's flow: of addresses and ports, of the addresses alone where there are no ports or the
    /// packet is a fragment, of the stations where it is not IP.
    pub fn number(&self, frame: &[u8]) -> u64 {
        let [one, other] = ends(frame);
        self.0.hash_one(one).wrapping_add(self.0.hash_one(other))
    }
}

/// An end of a flow: its address and its port.
type End<'f> = (&'f [u8], &'f [u8]);

fn ends(frame: &[u8]) -> [End<'_>; 2] {
    by_ip(frame).unwrap_or_else(|| {
        let (one, rest) = frame.split_at(frame.len().min(6));
        [(one, &[]), (&rest[..rest.len().min(6)], &[])]
    })
}

fn by_ip(frame: &[u8]) -> Option<[End<'_>; 2]> {
    let mut at = 12;
    while VLAN_TAGS.contains(&number(frame, at)?) {
        at += 4;
    }
    let packet = frame.get(at + 2..)?;
    let (addresses, ports) = match number(frame, at)? {
        IPV4 => (packet.get(12..20)?, ipv4_ports(packet)),
        IPV6 => (packet.get(8..40)?, ipv6_ports(packet)),
        _ => return None,
    };
    let (source, destination) = addresses.split_at(addresses.len() / 2);
    let (from, to) = ports.unwrap_or(&[]).split_at(ports.map_or(0, |ports| ports.len() / 2));
    Some([(source, from), (destination, to)])
}

fn number(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..)?.first_chunk().map(|two| u16::from_be_bytes(*two))
}

fn ipv4_ports(packet: &[u8]) -> Option<&[u8]> {
    // More fragments follow, or some went before (RFC 791).
    let is_fragment = number(packet, 6)? & 0x3fff != 0;
    let length = usize::from(packet.first()? & 15) * 4;
    if is_fragment { None } else { ports(*packet.get(9)?, packet.get(length..)?) }
}

fn ipv6_ports(packet: &[u8]) -> Option<&[u8]> {
    let (mut next, mut rest) = (*packet.get(6)?, packet.get(40..)?);
    // Hop-by-hop and destination options, routing, mobility, HIP, Shim6; at most as many as a packet holds.
    while let 0 | 43 | 60 | 135 | 139 | 140 = next {
        let length = (usize::from(*rest.get(1)?) + 1) * 8;
        (next, rest) = (*rest.first()?, rest.get(length..)?);
    }
    ports(next, rest)
}

/// The ports of TCP, UDP, DCCP, SCTP and UDP-Lite.
fn ports(protocol: u8, payload: &[u8]) -> Option<&[u8]> {
    if let 6 | 17 | 33 | 132 | 136 = protocol { payload.get(..4) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ipv6(addresses: [u8; 2], next: u8, payload: &[u8]) -> Vec<u8> {
        let mut frame = vec![0; 12];
        frame.extend([0x86, 0xdd, 0x60, 0, 0, 0, 0, payload.len() as u8, next, 64]);
        addresses.iter().for_each(|address| frame.extend([[*address; 16]].concat()));
        frame.extend(payload);
        frame
    }

    #[test]
    fn both_directions_are_one_flow_and_other_ports_another() {
        let flows = Flows::default();
        let number = |frame: &[u8]| flows.number(frame);
        let there = ipv6([1, 2], 17, &[0, 7, 0, 9, 1, 2]);
        assert_eq!(number(&there), number(&ipv6([2, 1], 17, &[0, 9, 0, 7, 3])));
        assert_ne!(number(&there), number(&ipv6([1, 2], 17, &[0, 7, 0, 8])));
        assert_ne!(number(&there), number(&ipv6([1, 3], 17, &[0, 7, 0, 9])));
        let ipv4 = |ends: [u8; 2], fragment: u8, ports: [u8; 4]| {
            let mut frame = vec![0; 12];
            frame.extend([8, 0, 0x45, 0, 0, 0, 0, 0, 0, fragment, 64, 6, 0, 0]);
            ends.iter().for_each(|end| frame.extend([10, 0, 0, *end]));
            frame.extend(ports);
            frame
        };
        assert_eq!(number(&ipv4([1, 2], 0, [0, 7, 0, 9])), number(&ipv4([2, 1], 0, [0, 9, 0, 7])));
        assert_ne!(number(&ipv4([1, 2], 0, [0, 7, 0, 9])), number(&ipv4([1, 2], 0, [0, 7, 0, 8])));
        assert_eq!(number(&ipv4([1, 2], 5, [0, 7, 0, 9])), number(&ipv4([1, 2], 9, [1, 1, 1, 1])), "fragments");
    }

    #[test]
    fn tags_and_extension_headers_do_not_part_a_flow() {
        let flows = Flows::default();
        let plain = ipv6([1, 2], 6, &[0, 7, 0, 9]);
        let mut tagged = plain.clone();
        tagged.splice(12..12, [0x88, 0xa8, 0, 5, 0x81, 0, 0, 7]);
        let options = ipv6([1, 2], 0, &[60, 0, 1, 4, 0, 0, 0, 0, 6, 0, 1, 4, 0, 0, 0, 0, 0, 7, 0, 9]);
        assert_eq!([&tagged, &options].map(|frame| flows.number(frame)), [flows.number(&plain); 2]);
    }

    #[test]
    fn what_is_no_ip_is_of_its_stations() {
        let flows = Flows::default();
        let arp = |one: u8, other: u8| [[one; 6], [other; 6], [8, 6, 0, 0, 0, 0]].concat();
        assert_eq!(flows.number(&arp(1, 2)), flows.number(&arp(2, 1)));
        assert_ne!(flows.number(&arp(1, 2)), flows.number(&arp(1, 3)));
        for length in 0..60 {
            flows.number(&ipv6([1, 2], 60, &[6; 20])[..length.min(74)]);
        }
    }
}
