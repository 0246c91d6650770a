//! What a TAP device is on the kernel's side: where it is, its MAC, its MTU, and what its carrier follows.

use std::fmt;
use std::io;
use std::str::FromStr;

use crate::device::Device;
use crate::namespace::Namespace;
use crate::tap::Tap;

/// The kernel's end of a TAP device as an operator writes it; what is left out is left to the kernel.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LinuxEnd {
    /// The network namespace, by the name that `ip netns` gives it; none is the switch's own.
    pub namespace: Option<String>,
    pub mac: Option<Mac>,
    pub mtu: Option<u16>,
    /// Whether the device stays when the switch ends, with its addresses and routes.
    pub persist: bool,
    /// The ports whose links its carrier stands for: it is up while one of them is.
    pub carrier: Vec<u32>,
}

impl LinuxEnd {
    /// Takes an option; false if it is none of a TAP device's.
    pub fn take(&mut self, key: &str, value: &str) -> Result<bool, String> {
        match key {
            "namespace" if value.is_empty() || value.contains('/') || value.starts_with('.') => {
                return Err(format!("namespace={value} is no name that `ip netns` lists"));
            }
            "namespace" => self.namespace = Some(value.into()),
            "mac" => self.mac = Some(value.parse()?),
            "mtu" => {
                let mtu = value.parse().ok().filter(|mtu| *mtu >= LEAST_MTU);
                self.mtu = Some(mtu.ok_or_else(|| format!("mtu={value} is not a number from {LEAST_MTU} to 65535"))?);
            }
            "persist" if value == "yes" => self.persist = true,
            "persist" => return Err(format!("persist={value} is not 'yes'; leave it out otherwise")),
            "carrier" => {
                let ports: Result<Vec<u32>, _> = value.split(',').map(str::parse).collect();
                self.carrier = ports.map_err(|_| format!("carrier={value} is not a list of ports such as 1,2"))?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Opens the device and sets it up as it is to be; whether it is up is for Linux to say.
    pub fn open(&self, name: &str) -> io::Result<Tap> {
        match &self.namespace {
            None => self.open_here(name),
            Some(namespace) => Namespace::named(namespace)?.enter(|| self.open_here(name))?,
        }
    }

    fn open_here(&self, name: &str) -> io::Result<Tap> {
        let tap = Tap::open(name)?;
        let device = Device::open(name)?;
        if let Some(Mac(octets)) = self.mac {
            device.set_mac(octets)?;
        }
        if let Some(mtu) = self.mtu {
            device.set_mtu(mtu.into())?;
        }
        if self.persist {
            tap.persist()?;
        }
        Ok(tap)
    }
}

/// What IPv6 needs of a link (RFC 8200, section 5).
const LEAST_MTU: u16 = 1280;

/// The MAC of one station.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mac([u8; 6]);

impl FromStr for Mac {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let octets: Option<Vec<u8>> =
            text.split(':').map(|two| u8::from_str_radix(two, 16).ok().filter(|_| two.len() == 2)).collect();
        match octets.and_then(|octets| <[u8; 6]>::try_from(octets).ok()) {
            Some(octets) if octets[0] & 1 == 0 && octets != [0; 6] => Ok(Self(octets)),
            _ => Err(format!("mac={text} is not the MAC of a station such as 02:00:00:00:00:01")),
        }
    }
}

impl fmt::Display for LinuxEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.namespace.as_ref().map_or(Ok(()), |namespace| write!(f, " in namespace {namespace}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mac_is_one_stations() {
        assert_eq!("02:00:00:00:0a:ff".parse(), Ok(Mac([2, 0, 0, 0, 10, 255])));
        for wrong in
            ["", "02:00:00:00:00", "01:00:00:00:00:01", "00:00:00:00:00:00", "2:0:0:0:0:1", "02:00:00:00:00:0g"]
        {
            assert!(wrong.parse::<Mac>().is_err(), "{wrong}");
        }
    }
}
