//! What a host is told before it starts.

use crate::link::mac_text;
use smoltcp::wire::{EthernetAddress, Ipv6Address, Ipv6Cidr};

/// The least MTU of IPv6 (RFC 8200, section 5).
pub const MIN_MTU: usize = 1280;
/// Frames on a wire may be this long, less the Ethernet header.
pub const MAX_MTU: usize = 9000;
/// Addresses beside the link-local one, which is always there.
pub const MAX_ADDRESSES: usize = 7;

/// A host's place on its link.
#[derive(Debug, Clone)]
pub struct Config {
    pub mac: EthernetAddress,
    /// With the length of the prefix that is on the link. None: the host autoconfigures (RFC 4862).
    pub addresses: Vec<Ipv6Cidr>,
    pub gateway: Option<Ipv6Address>,
    pub mtu: usize,
    /// Decides ports, sequence numbers and other arbitrary choices.
    pub seed: u64,
}

impl Config {
    /// A host with this MAC that autoconfigures.
    pub fn new(mac: EthernetAddress) -> Self {
        Self { mac, addresses: vec![], gateway: None, mtu: 1500, seed: 1 }
    }

    /// From what a person writes; the error says what is wrong with which part.
    pub fn parse(mac: &str, addresses: &[String], gateway: Option<&str>) -> Result<Self, String> {
        let mac = mac.parse().map_err(|()| format!("\"{mac}\" is no MAC address; write it as 02:00:00:00:00:01"))?;
        let addresses = addresses.iter().map(|text| {
            text.parse()
                .map_err(|()| format!("\"{text}\" is no address with a prefix length; write it as 2001:db8::1/64"))
        });
        let gateway = gateway.map(|text| {
            text.parse().map_err(|_| format!("the gateway \"{text}\" is no IPv6 address; write it as 2001:db8::1"))
        });
        let config =
            Self { addresses: addresses.collect::<Result<_, _>>()?, gateway: gateway.transpose()?, ..Self::new(mac) };
        config.check()?;
        Ok(config)
    }

    /// Whether a host can be made of it.
    pub fn check(&self) -> Result<(), String> {
        if !self.mac.is_unicast() || self.mac.0 == [0; 6] {
            return Err(format!(
                "the MAC address {} is none of a single host; its first byte must be even",
                mac_text(self.mac)
            ));
        }
        if self.addresses.len() > MAX_ADDRESSES {
            return Err(format!("{} addresses are too many; a host has at most {MAX_ADDRESSES}", self.addresses.len()));
        }
        let unicast =
            |address: &Ipv6Address| !address.is_multicast() && !address.is_unspecified() && !address.is_loopback();
        if let Some(cidr) = self.addresses.iter().find(|cidr| !unicast(&cidr.address())) {
            return Err(format!("{cidr} is no address of a single host"));
        }
        if let Some(gateway) = self.gateway {
            let on_link =
                gateway.is_unicast_link_local() || self.addresses.iter().any(|cidr| cidr.contains_addr(&gateway));
            if !unicast(&gateway) || !on_link {
                return Err(format!(
                    "the gateway {gateway} is not on the link; give an address in its prefix, or a link-local gateway"
                ));
            }
        }
        if !(MIN_MTU..=MAX_MTU).contains(&self.mtu) {
            return Err(format!("an MTU of {} is impossible; it is from {MIN_MTU} to {MAX_MTU}", self.mtu));
        }
        Ok(())
    }

    /// Whether addresses and routers come from advertisements.
    pub fn autoconfigures(&self) -> bool {
        self.addresses.is_empty() && self.gateway.is_none()
    }
}
