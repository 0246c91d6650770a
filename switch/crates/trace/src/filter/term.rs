//! The terms of a filter, in the words of tcpdump where it has them.

use std::net::IpAddr;

use super::headers::Headers;

pub const TERMS: &str = "in PORT, ip, ip6, arp, tcp, udp, icmp, icmp6, proto N, vlan [N], [src|dst] ADDRESS[/LENGTH], \
                         [src|dst] port N, ether proto N, ether src|dst MAC, or bytes OFFSET HEX (* is any digit)";

const ARP: u16 = 0x0806;
const VLANS: u16 = 4096;
const ICMP: u8 = 1;
const TCP: u8 = 6;
const UDP: u8 = 17;
const ICMPV6: u8 = 58;

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Side {
    Source,
    Destination,
    Either,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Term {
    /// The port of the switch.
    In(u32),
    EtherType(u16),
    Mac(Side, [u8; 6]),
    /// Any VLAN, or one.
    Vlan(Option<u16>),
    Ipv4,
    Ipv6,
    Protocol(u8),
    Address(Side, Prefix),
    Port(Side, u16),
    /// Digits from an octet on; `None` is any.
    Bytes(usize, Vec<Option<u8>>),
}

/// Addresses that begin alike.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prefix {
    address: IpAddr,
    length: u32,
}

impl Prefix {
    fn parse(text: &str) -> Result<Self, String> {
        let wrong = || format!("'{text}' is neither an address nor a prefix");
        let (address, length) = text.split_once('/').map_or((text, None), |(address, length)| (address, Some(length)));
        let address: IpAddr = address.parse().map_err(|_| wrong())?;
        let most = if address.is_ipv4() { 32 } else { 128 };
        let length = length.map_or(Ok(most), str::parse).map_err(|_| wrong())?;
        if length > most {
            return Err(wrong());
        }
        Ok(Self { address, length })
    }

    fn contains(&self, address: IpAddr) -> bool {
        match (self.address, address) {
            (IpAddr::V4(prefix), IpAddr::V4(address)) => {
                same_start(prefix.to_bits().into(), address.to_bits().into(), 32 - self.length)
            }
            (IpAddr::V6(prefix), IpAddr::V6(address)) => {
                same_start(prefix.to_bits(), address.to_bits(), 128 - self.length)
            }
            _ => false,
        }
    }
}

/// Whether two addresses are alike but for their last bits.
fn same_start(prefix: u128, address: u128, last: u32) -> bool {
    (prefix ^ address).checked_shr(last).unwrap_or(0) == 0
}

impl Term {
    /// The term that the words begin with, and the words behind it.
    pub fn parse<'w, 't>(words: &'w [&'t str]) -> Result<(Self, &'w [&'t str]), String> {
        let Some((word, rest)) = words.split_first() else {
            return Err(format!("'and' and 'not' have a term behind it: {TERMS}"));
        };
        let side = match *word {
            "src" => Side::Source,
            "dst" => Side::Destination,
            _ => Side::Either,
        };
        Ok(match (*word, rest) {
            ("ip", _) => (Self::Ipv4, rest),
            ("ip6", _) => (Self::Ipv6, rest),
            ("arp", _) => (Self::EtherType(ARP), rest),
            ("tcp", _) => (Self::Protocol(TCP), rest),
            ("udp", _) => (Self::Protocol(UDP), rest),
            ("icmp", _) => (Self::Protocol(ICMP), rest),
            ("icmp6", _) => (Self::Protocol(ICMPV6), rest),
            ("in", _) => number(word, rest, Self::In)?,
            ("proto", _) => number(word, rest, Self::Protocol)?,
            ("vlan", [next, behind @ ..]) if next.starts_with(|digit: char| digit.is_ascii_digit()) => {
                let (vlan, _) = number(word, rest, |vlan: u16| vlan)?;
                if vlan >= VLANS {
                    return Err(format!("vlan {next}: a VLAN goes to {}", VLANS - 1));
                }
                (Self::Vlan(Some(vlan)), behind)
            }
            ("vlan", _) => (Self::Vlan(None), rest),
            ("ether", ["proto", behind @ ..]) => number("ether proto", behind, Self::EtherType)?,
            ("ether", ["src", mac, behind @ ..]) => (Self::Mac(Side::Source, parse_mac(mac)?), behind),
            ("ether", ["dst", mac, behind @ ..]) => (Self::Mac(Side::Destination, parse_mac(mac)?), behind),
            ("bytes", [at, digits, behind @ ..]) => {
                let at = at.parse().map_err(|_| format!("bytes: '{at}' is not a number of octets"))?;
                (Self::Bytes(at, parse_digits(digits)?), behind)
            }
            ("port", _) => number("port", rest, |port| Self::Port(side, port))?,
            ("src" | "dst", ["port", behind @ ..]) => number("port", behind, |port| Self::Port(side, port))?,
            ("src" | "dst", ["host" | "net", prefix, behind @ ..])
            | ("src" | "dst", [prefix, behind @ ..])
            | ("host" | "net", [prefix, behind @ ..]) => (Self::Address(side, Prefix::parse(prefix)?), behind),
            _ => return Err(format!("'{word}' is no term of a filter; write {TERMS}")),
        })
    }

    pub fn holds(&self, port: u32, packet: &[u8], headers: &Headers) -> bool {
        let either = |side: Side, source: bool, destination: bool| match side {
            Side::Source => source,
            Side::Destination => destination,
            Side::Either => source || destination,
        };
        match self {
            Self::In(wanted) => port == *wanted,
            Self::EtherType(kind) => headers.ether_type == Some(*kind),
            Self::Mac(side, mac) => {
                let at = |from: usize| packet.get(from..from + 6) == Some(&mac[..]);
                either(*side, at(6), at(0))
            }
            Self::Vlan(None) => headers.vlan.is_some(),
            Self::Vlan(vlan) => headers.vlan == *vlan,
            Self::Ipv4 => headers.addresses.is_some_and(|(source, _)| source.is_ipv4()),
            Self::Ipv6 => headers.addresses.is_some_and(|(source, _)| source.is_ipv6()),
            Self::Protocol(protocol) => headers.protocol == Some(*protocol),
            Self::Address(side, prefix) => headers.addresses.is_some_and(|(source, destination)| {
                either(*side, prefix.contains(source), prefix.contains(destination))
            }),
            Self::Port(side, port) => {
                headers.ports.is_some_and(|(source, destination)| either(*side, source == *port, destination == *port))
            }
            Self::Bytes(at, digits) => digits.iter().enumerate().all(|(index, digit)| {
                let found = packet.get(at.saturating_add(index / 2));
                let found = found.map(|byte| if index % 2 == 0 { byte >> 4 } else { byte & 15 });
                found.is_some() && digit.is_none_or(|digit| found == Some(digit))
            }),
        }
    }
}

/// A number in decimal or with 0x.
fn number<'w, 't, N: TryFrom<u64>, T>(
    term: &str,
    words: &'w [&'t str],
    make: impl FnOnce(N) -> T,
) -> Result<(T, &'w [&'t str]), String> {
    let Some((word, behind)) = words.split_first() else { return Err(format!("{term}: a number behind it")) };
    let value = match word.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => word.parse().ok(),
    };
    let value = value.and_then(|value| N::try_from(value).ok());
    value.map(|value| (make(value), behind)).ok_or_else(|| format!("{term}: '{word}' is not a number of its size"))
}

fn parse_mac(text: &str) -> Result<[u8; 6], String> {
    let octets: Option<Vec<u8>> = text.split([':', '-']).map(|octet| u8::from_str_radix(octet, 16).ok()).collect();
    let octets = octets.and_then(|octets| octets.try_into().ok());
    octets.ok_or_else(|| format!("'{text}' is not a MAC address, as 02:00:00:00:00:01"))
}

fn parse_digits(text: &str) -> Result<Vec<Option<u8>>, String> {
    let digit = |digit: char| match digit {
        '*' => Ok(None),
        _ => digit
            .to_digit(16)
            .map(|value| Some(value as u8))
            .ok_or_else(|| format!("'{digit}' is neither a hexadecimal digit nor *")),
    };
    text.chars().map(digit).collect()
}
