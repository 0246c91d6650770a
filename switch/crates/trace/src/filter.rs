//! Which packets are traced: `in 1 and src 2001:db8::/32 and tcp and dst port 443`.

mod headers;
mod term;

use std::fmt;
use std::str::FromStr;

use headers::Headers;
use term::Term;

/// What a packet has to be, all of it; without a term every packet is chosen.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Filter {
    text: String,
    /// Whether each term must hold or must not.
    terms: Vec<(bool, Term)>,
}

impl Filter {
    /// Whether a packet that came in at a port is chosen.
    pub fn chooses(&self, port: u32, packet: &[u8]) -> bool {
        if self.terms.is_empty() {
            return true;
        }
        let headers = Headers::of(packet);
        self.terms.iter().all(|(wanted, term)| term.holds(port, packet, &headers) == *wanted)
    }
}

impl FromStr for Filter {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let mut rest = &words[..];
        let mut terms = vec![];
        while !rest.is_empty() {
            if !terms.is_empty() && rest[0] == "and" {
                rest = &rest[1..];
            }
            let wanted = rest.first() != Some(&"not");
            if !wanted {
                rest = &rest[1..];
            }
            let (term, behind) = Term::parse(rest)?;
            terms.push((wanted, term));
            rest = behind;
        }
        Ok(Self { text: words.join(" "), terms })
    }
}

impl fmt::Display for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// UDP from 2001:db8::1 port 1000 to 2001:db8:1::2 port 53, VLAN 10, behind a hop-by-hop header.
    fn packet() -> Vec<u8> {
        let mut packet = vec![2; 6];
        packet.extend([4; 6]);
        packet.extend([0x81, 0x00, 0x00, 0x0a, 0x86, 0xdd]);
        packet.extend([0x60, 0, 0, 0, 0, 16, 0, 64]);
        packet.extend("2001:db8::1".parse::<std::net::Ipv6Addr>().unwrap().octets());
        packet.extend("2001:db8:1::2".parse::<std::net::Ipv6Addr>().unwrap().octets());
        packet.extend([17, 0, 1, 4, 0, 0, 0, 0]);
        packet.extend([0x03, 0xe8, 0, 53, 0, 8, 0, 0]);
        packet
    }

    fn chosen(filter: &str) -> bool {
        filter.parse::<Filter>().unwrap_or_else(|error| panic!("{filter}: {error}")).chooses(3, &packet())
    }

    #[test]
    fn each_term_chooses() {
        for filter in [
            "",
            "in 3",
            "ip6",
            "udp",
            "vlan",
            "vlan 10",
            "proto 17",
            "ether proto 0x86dd",
            "ether src 04:04:04:04:04:04",
            "ether dst 02:02:02:02:02:02",
            "src 2001:db8::1",
            "src host 2001:db8::1",
            "dst net 2001:db8:1::/48",
            "host 2001:db8:1::2",
            "port 53",
            "src port 1000",
            "udp dst port 53",
            "bytes 12 8100",
            "bytes 14 0*0a",
            "in 3 and ip6 and not tcp",
            "not arp",
        ] {
            assert!(chosen(filter), "{filter}");
        }
        for filter in [
            "in 2",
            "ip",
            "tcp",
            "icmp6",
            "vlan 11",
            "dst 2001:db8::1",
            "port 54",
            "dst port 1000",
            "bytes 12 0800",
            "bytes 200 00",
            "not udp",
            "in 3 tcp",
            "src 192.0.2.1",
            "ether src 02:02:02:02:02:02",
        ] {
            assert!(!chosen(filter), "{filter}");
        }
    }

    #[test]
    fn a_short_packet_is_no_packet_of_a_protocol() {
        for length in 0..packet().len() {
            let filter: Filter = "udp and dst port 53".parse().unwrap();
            assert!(!filter.chooses(3, &packet()[..length]) || length >= packet().len() - 4, "{length}");
        }
        assert!("not ip6".parse::<Filter>().unwrap().chooses(1, &[]));
    }

    #[test]
    fn an_error_says_what_to_write() {
        for (filter, says) in [
            ("foo", "'foo' is no term of a filter; write"),
            ("in", "in: a number behind it"),
            ("in x", "in: 'x' is not a number"),
            ("src 2001:db8::/129", "'2001:db8::/129' is neither an address nor a prefix"),
            ("bytes 1 0g", "'g' is neither a hexadecimal digit nor *"),
            ("tcp and", "a term behind it"),
            ("not", "a term behind it"),
            ("dst port 70000", "'70000' is not a number"),
            ("vlan 5000", "a VLAN goes to 4095"),
        ] {
            let error = filter.parse::<Filter>().unwrap_err();
            assert!(error.contains(says), "{filter}: {error}");
        }
    }
}
