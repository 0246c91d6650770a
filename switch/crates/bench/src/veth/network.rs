//! Namespaces and veth pairs, gone when the value is.

use std::net::Ipv6Addr;
use std::time::Duration;

use anyhow::{Context, Result};
use fastrand::Rng;
use ports::interface::Interface;
use ports::namespace::Namespace;

use bench::traffic::{Ends, MARK, Outcome, QUIET};

/// Prefixes of 48 bits below 2001:db8::/32.
pub const ROUTES: u16 = 64;
/// The contestant's end of the first pair, to which packets are addressed.
pub const WEST: [u8; 6] = [2, 0, 0, 0, 1, 1];
/// The contestant's end of the second pair.
pub const EAST: [u8; 6] = [2, 0, 0, 0, 2, 1];
/// The counter's end of the second pair.
pub const COUNTER: [u8; 6] = [2, 0, 0, 0, 2, 0];

pub struct Network {
    ends: Ends,
    packets: Vec<Vec<u8>>,
    /// Where the contestant runs.
    pub inner: Namespace,
    /// The interfaces of generator and counter live here.
    _outer: Namespace,
}

pub fn prefix(route: u16) -> Ipv6Addr {
    Ipv6Addr::new(0x2001, 0xdb8, route, 0, 0, 0, 0, 0)
}

/// UDP with 64 bytes of payload, each to some host of some route.
pub fn packets(numbers: &mut Rng) -> Vec<Vec<u8>> {
    const PAYLOAD: usize = 64;
    let packet = |_| {
        let mut packet = WEST.to_vec();
        packet.extend([2, 0, 0, 0, 1, 0, 0x86, 0xdd]);
        packet.extend([0x60, 0, 0, 0, 0, PAYLOAD as u8, 17, 64]);
        packet.extend([0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
        let mut destination = prefix(numbers.u16(..ROUTES)).octets();
        destination[6..].copy_from_slice(&numbers.u128(..).to_be_bytes()[..10]);
        packet.extend(destination);
        packet.resize(packet.len() + PAYLOAD - MARK.len(), 0);
        packet.extend(MARK);
        packet
    };
    (0..1024).map(packet).collect()
}

/// As `ip` writes an address.
pub fn text(address: [u8; 6]) -> String {
    address.map(|byte| format!("{byte:02x}")).join(":")
}

impl Network {
    /// One pair, with the generator at one end and the counter at the other.
    pub fn plain(packets: &[Vec<u8>]) -> Result<Self> {
        let (outer, inner) = namespaces()?;
        outer.ip("link add name west0 type veth peer name east0")?;
        up(&outer, &["west0", "east0"])?;
        Self::open(outer, inner, packets)
    }

    /// Two pairs with room for a contestant between them, at `west1` and `east1`.
    pub fn forwarded(packets: &[Vec<u8>]) -> Result<Self> {
        let (outer, inner) = namespaces()?;
        let path = inner.path();
        let (west, east, counter) = (text(WEST), text(EAST), text(COUNTER));
        outer.ip(&format!("link add name west0 type veth peer name west1 address {west} netns {path}"))?;
        outer.ip(&format!(
            "link add name east0 address {counter} type veth peer name east1 address {east} netns {path}"
        ))?;
        up(&inner, &["lo", "west1", "east1"])?;
        up(&outer, &["west0", "east0"])?;
        Self::open(outer, inner, packets)
    }

    fn open(outer: Namespace, inner: Namespace, packets: &[Vec<u8>]) -> Result<Self> {
        let open = |name| outer.enter(|| Interface::open(name))?.context(name);
        let ends = Ends::new(open("west0")?, open("east0")?);
        Ok(Self { ends, packets: packets.to_vec(), inner, _outer: outer })
    }

    /// Sends at a paced rate for so long, and counts what arrives.
    pub fn drive(&mut self, rate: f64, duration: Duration) -> Result<Outcome> {
        self.ends.drive(&self.packets, rate, duration, QUIET)
    }

    /// The same with half of the packets, drawn anew each time.
    pub fn drive_half(&mut self, numbers: &mut Rng, rate: f64, duration: Duration) -> Result<Outcome> {
        let half = numbers.choose_multiple(self.packets.iter().cloned(), self.packets.len() / 2);
        self.ends.drive(&half, rate, duration, QUIET)
    }

    /// After so many packets they begin again.
    pub fn round(&self) -> u64 {
        self.packets.len() as u64
    }

    /// How long one of the packets takes while no other is under way; none if it does not arrive.
    pub fn pass_one(&mut self, number: usize) -> Result<Option<Duration>> {
        self.ends.pass_one(&self.packets[number % self.packets.len()])
    }

    /// Sends single packets until one arrives; false if none does in time.
    pub fn wait_for_first(&mut self, within: Duration) -> Result<bool> {
        Ok(self.ends.wait_for_first(&self.packets, within)?.is_some())
    }

    /// Sets a value below /proc/sys/net/ipv6 for the contestant's namespace.
    pub fn set_inner(&self, name: &str, value: &str) -> Result<()> {
        set(&self.inner, name, value)
    }
}

fn namespaces() -> Result<(Namespace, Namespace)> {
    let (outer, inner) = (Namespace::new()?, Namespace::new()?);
    // The kernel's own IPv6 would spend time on packets that others forward.
    for namespace in [&outer, &inner] {
        set(namespace, "conf/default/disable_ipv6", "1")?;
    }
    Ok((outer, inner))
}

fn set(namespace: &Namespace, name: &str, value: &str) -> Result<()> {
    let path = format!("/proc/sys/net/ipv6/{name}");
    namespace.enter(|| std::fs::write(&path, value))?.with_context(|| path.clone())
}

fn up(namespace: &Namespace, names: &[&str]) -> Result<()> {
    names.iter().try_for_each(|name| Ok(namespace.ip(&format!("link set dev {name} up"))?))
}
