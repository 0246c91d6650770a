//! Addresses: `ipv4('192.0.2.1')`, `ipv6('2001:db8::1')`, `mac('02:00:00:00:00:01')`.

use std::net::{Ipv4Addr, Ipv6Addr};

use num_bigint::BigInt;

/// The number that an address is.
pub fn value(family: &str, text: &str) -> Result<BigInt, String> {
    let found = match family {
        "ipv4" => text.parse::<Ipv4Addr>().ok().map(|address| address.to_bits().into()),
        "ipv6" => text.parse::<Ipv6Addr>().ok().map(|address| address.to_bits().into()),
        "mac" => mac(text).map(Into::into),
        _ => return Err(format!("there are no addresses `{family}`; write ipv4('...'), ipv6('...') or mac('...')")),
    };
    found.ok_or_else(|| format!("'{text}' is no {family} address"))
}

fn mac(text: &str) -> Option<u64> {
    let octets: Vec<&str> = text.split(':').collect();
    let is_octet = |octet: &&str| octet.len() == 2 && octet.bytes().all(|byte| byte.is_ascii_hexdigit());
    if octets.len() != 6 || !octets.iter().all(is_octet) {
        return None;
    }
    u64::from_str_radix(&octets.concat(), 16).ok()
}
