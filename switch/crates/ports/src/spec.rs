//! What an operator writes for a port.
//!
//! ```text
//!   1@veth0                    network interface (AF_PACKET, needs root)
//!   1@xdp:veth0                network interface (AF_XDP, needs root)
//!   1@tap:tap0                 TAP device (needs root to make it)
//!   1@tap:wan0?namespace=edge&mac=02:00:00:00:00:01&mtu=1500&carrier=2&persist=yes
//!                              and what it is on the kernel's side
//!   1@wire:/tmp/link           wire to another process
//!   1@pcap:in.pcap,out.pcap    capture files; either may be left out
//!   ...?delay=10ms&loss=0.5%&rate=10mbit&queue=100     on any of them
//! ```

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::Port;
use crate::impair::{Impaired, Impairment};
use crate::interface::Interface;
use crate::linux_end::LinuxEnd;
use crate::pcap::PcapPort;
use crate::takeover::Takeover;
use crate::tap::Tap;
use crate::wire::Wire;

/// A port as an operator writes it.
#[derive(Debug, Clone, PartialEq)]
pub struct PortSpec {
    pub port: u32,
    pub device: Device,
    pub impairment: Impairment,
    /// Bits per second of the link, for the switch's queue.
    pub rate: Option<u64>,
    /// Packets that may wait in the switch's queue.
    pub queue: Option<usize>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Device {
    Interface(String),
    Xdp(String),
    Tap(String, LinuxEnd),
    Wire(PathBuf),
    Pcap { input: Option<PathBuf>, output: Option<PathBuf> },
}

/// What is wrong with a port as written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("port '{text}': {problem}")]
pub struct SpecError {
    text: String,
    problem: String,
}

/// Ports of v1model have 9 bits; 511 drops.
const LAST_PORT: u32 = 510;
const LINK_OPTIONS: &str = "delay, loss, rate, queue";

impl PortSpec {
    /// How capture files of the port begin: as BMv2's do, so that switches of one machine may share a folder.
    pub fn capture_name(&self) -> String {
        match &self.device {
            Device::Interface(name) | Device::Xdp(name) | Device::Tap(name, _) => name.clone(),
            Device::Wire(_) | Device::Pcap { .. } => format!("port{}", self.port),
        }
    }
}

impl PortSpec {
    /// The same device at the end of a link that does what these options say, and nothing else.
    pub fn with_link(&self, options: &str) -> Result<Self, SpecError> {
        let mut spec = Self { impairment: Impairment::default(), rate: None, queue: None, ..self.clone() };
        let take = |spec: &mut Self| {
            for (key, value) in keys_and_values(options)? {
                if !spec.take(key, value)? {
                    return Err(format!("'{key}' is none of {LINK_OPTIONS}"));
                }
            }
            Ok(())
        };
        take(&mut spec).map_err(|problem| SpecError { text: options.into(), problem })?;
        Ok(spec)
    }

    /// Notes what the link does; false if the key is about something else.
    fn take(&mut self, key: &str, value: &str) -> Result<bool, String> {
        match key {
            "delay" => self.impairment.delay = scaled(value, &[("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s", 1e9)])?,
            "loss" => self.impairment.loss_ppm = loss(value)?,
            "rate" => self.rate = Some(scaled(value, &[("kbit", 1e3), ("mbit", 1e6), ("gbit", 1e9), ("bit", 1.0)])?),
            "queue" => {
                self.queue = Some(value.parse().map_err(|_| format!("queue={value} is not a number of packets"))?);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
}

impl FromStr for PortSpec {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        parse(text).map_err(|problem| SpecError { text: text.into(), problem })
    }
}

fn parse(text: &str) -> Result<PortSpec, String> {
    let (number, rest) = text.split_once('@').ok_or("is written NUMBER@DEVICE, such as 1@veth0 or 1@wire:/tmp/a")?;
    let port = number.parse().ok().filter(|port| *port <= LAST_PORT);
    let port = port.ok_or_else(|| format!("'{number}' is not a port number from 0 to {LAST_PORT}"))?;
    let (device, options) = rest.split_once('?').unwrap_or((rest, ""));
    let mut spec =
        PortSpec { port, device: parse_device(device)?, impairment: Impairment::default(), rate: None, queue: None };
    for (key, value) in keys_and_values(options)? {
        if spec.take(key, value)? {
            continue;
        }
        let (end, known) = match &mut spec.device {
            Device::Tap(_, end) => (Some(end), ", namespace, mac, mtu, carrier, persist"),
            _ => (None, ""),
        };
        if !end.map_or(Ok(false), |end| end.take(key, value))? {
            return Err(format!("'{key}' is none of {LINK_OPTIONS}{known}"));
        }
    }
    Ok(spec)
}

fn keys_and_values(options: &str) -> Result<Vec<(&str, &str)>, String> {
    let options = options.split('&').filter(|option| !option.is_empty());
    options.map(|option| option.split_once('=').ok_or_else(|| format!("'{option}' is not key=value"))).collect()
}

fn parse_device(text: &str) -> Result<Device, String> {
    let (kind, rest) = text.split_once(':').unwrap_or(("", text));
    if rest.is_empty() {
        return Err("names no device".into());
    }
    match kind {
        "" => Ok(Device::Interface(rest.into())),
        "xdp" => Ok(Device::Xdp(rest.into())),
        "tap" => Ok(Device::Tap(rest.into(), LinuxEnd::default())),
        "wire" => Ok(Device::Wire(rest.into())),
        "pcap" => {
            let (input, output) = rest.split_once(',').unwrap_or((rest, ""));
            let path = |text: &str| (!text.is_empty()).then(|| PathBuf::from(text));
            Ok(Device::Pcap { input: path(input), output: path(output) })
        }
        _ => Err(format!("'{kind}' is none of xdp, tap, wire, pcap")),
    }
}

/// A number with one of the units; the first whose name fits the end counts.
fn scaled(text: &str, units: &[(&str, f64)]) -> Result<u64, String> {
    let names = || units.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    let (digits, factor) = units
        .iter()
        .find_map(|(unit, factor)| Some((text.strip_suffix(unit)?, *factor)))
        .ok_or_else(|| format!("'{text}' has none of the units {}", names()))?;
    match digits.parse::<f64>() {
        Ok(value) if value >= 0.0 && value * factor < 1e18 => Ok((value * factor).round() as u64),
        _ => Err(format!("'{text}' is not a number with a unit ({})", names())),
    }
}

fn loss(text: &str) -> Result<u32, String> {
    match text.strip_suffix('%').map(str::parse::<f64>) {
        Some(Ok(percent)) if (0.0..=100.0).contains(&percent) => Ok((percent * 10_000.0).round() as u32),
        _ => Err(format!("loss={text} is not a percentage such as 0.5%")),
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = |path: &Option<PathBuf>| path.as_deref().unwrap_or(Path::new("")).display().to_string();
        match self {
            Self::Interface(name) => f.write_str(name),
            Self::Xdp(name) => write!(f, "xdp:{name}"),
            Self::Tap(name, end) => write!(f, "tap:{name}{end}"),
            Self::Wire(at) => write!(f, "wire:{}", at.display()),
            Self::Pcap { input, output } => write!(f, "pcap:{},{}", path(input), path(output)),
        }
    }
}

impl PortSpec {
    /// The ports whose links this port's carrier stands for; none for a port that shows no carrier.
    pub fn carrier(&self) -> &[u32] {
        if let Device::Tap(_, end) = &self.device { &end.carrier } else { &[] }
    }

    /// How many ends the port has for so many threads.
    pub fn ends(&self, threads: usize) -> usize {
        if matches!(self.device, Device::Interface(_)) { threads } else { 1 }
    }
}

/// Opens the port. `seed` decides which frames a lossy link loses.
pub fn open(spec: &PortSpec, seed: u64) -> io::Result<Box<dyn Port>> {
    open_ends(spec, 1, seed).map(|mut ends| ends.remove(0))
}

/// Opens the port for so many threads. An interface has an end for each, among which the kernel shares out the flows that
/// come in; every other device has one.
pub fn open_ends(spec: &PortSpec, threads: usize, seed: u64) -> io::Result<Vec<Box<dyn Port>>> {
    let ends: Vec<Box<dyn Port>> = match &spec.device {
        Device::Interface(name) => {
            Interface::open_ends(name, threads)?.into_iter().map(|end| Box::new(end) as Box<dyn Port>).collect()
        }
        Device::Xdp(name) => vec![Box::new(crate::xdp::Xdp::open(name)?)],
        Device::Tap(name, end) => vec![Box::new(end.open(name)?)],
        Device::Wire(path) => vec![Box::new(Wire::new(path)?)],
        Device::Pcap { input, output } => vec![Box::new(PcapPort::new(input.as_deref(), output.as_deref())?)],
    };
    if spec.impairment == Impairment::default() {
        return Ok(ends);
    }
    let seeds = (0..).map(|end| seed.wrapping_add(end));
    Ok(ends
        .into_iter()
        .zip(seeds)
        .map(|(end, seed)| Box::new(Impaired::new(end, spec.impairment, seed)) as _)
        .collect())
}

/// The same ends of a port that another process opened and handed over.
pub fn take_over(spec: &PortSpec, ends: Vec<Takeover>) -> io::Result<Vec<Box<dyn Port>>> {
    let take_over = |end| -> io::Result<Box<dyn Port>> {
        Ok(match &spec.device {
            Device::Interface(name) => Box::new(Interface::take_over(name, end)?),
            Device::Tap(..) => Box::new(Tap::take_over(end)?),
            Device::Wire(path) => Box::new(Wire::take_over(path, end)?),
            Device::Xdp(_) | Device::Pcap { .. } => return Err(io::ErrorKind::Unsupported.into()),
        })
    };
    ends.into_iter().map(take_over).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        text.parse::<PortSpec>().unwrap_err().to_string()
    }

    #[test]
    fn every_kind_of_device() {
        for text in
            ["1@veth0", "2@xdp:veth0", "3@tap:tap0", "4@wire:/tmp/a b", "5@pcap:a.pcap,b.pcap", "6@pcap:,b.pcap"]
        {
            let spec: PortSpec = text.parse().unwrap();
            assert_eq!(format!("{}@{}", spec.port, spec.device), text);
        }
    }

    #[test]
    fn capture_files_have_the_name_of_the_interface() {
        for (text, name) in
            [("1@s1-eth1", "s1-eth1"), ("2@xdp:s1-eth2", "s1-eth2"), ("3@tap:tap0", "tap0"), ("4@wire:/tmp/a", "port4")]
        {
            assert_eq!(text.parse::<PortSpec>().unwrap().capture_name(), name);
        }
    }

    #[test]
    fn a_link_may_be_impaired() {
        let spec: PortSpec = "1@wire:/tmp/a?delay=10ms&loss=0.5%&rate=2.5mbit&queue=7".parse().unwrap();
        assert_eq!(spec.impairment, Impairment { delay: 10_000_000, loss_ppm: 5_000 });
        assert_eq!((spec.rate, spec.queue), (Some(2_500_000), Some(7)));
    }

    #[test]
    fn a_link_may_change() {
        let spec: PortSpec = "1@wire:/tmp/a?delay=10ms&loss=0.5%&queue=7".parse().unwrap();
        let changed = spec.with_link("delay=50ms&rate=2mbit").unwrap();
        assert_eq!((changed.port, &changed.device), (1, &spec.device));
        assert_eq!(changed.impairment, Impairment { delay: 50_000_000, loss_ppm: 0 });
        assert_eq!((changed.rate, changed.queue), (Some(2_000_000), None));
        let tap: PortSpec = "1@tap:a".parse().unwrap();
        let refused = tap.with_link("mtu=1400").unwrap_err().to_string();
        assert_eq!(refused, "port 'mtu=1400': 'mtu' is none of delay, loss, rate, queue");
    }

    #[test]
    fn a_tap_device_is_something_to_the_kernel() {
        let text = "101@tap:wan0?namespace=edge&mac=02:00:00:01:00:0a&mtu=1400&carrier=1,2&persist=yes&queue=7";
        let spec: PortSpec = text.parse().unwrap();
        assert_eq!((spec.device.to_string().as_str(), spec.queue), ("tap:wan0 in namespace edge", Some(7)));
        assert_eq!(spec.carrier(), [1, 2]);
        let Device::Tap(_, end) = spec.device else { panic!("no TAP device") };
        assert_eq!((end.mtu, end.persist, end.mac), (Some(1400), true, "02:00:00:01:00:0a".parse().ok()));
        assert_eq!(error("1@tap:a?mtu=9"), "port '1@tap:a?mtu=9': mtu=9 is not a number from 1280 to 65535");
        assert_eq!(
            error("1@tap:a?namespace=../x"),
            "port '1@tap:a?namespace=../x': namespace=../x is no name that `ip netns` lists"
        );
        assert_eq!(
            error("1@tap:a?carrier=x"),
            "port '1@tap:a?carrier=x': carrier=x is not a list of ports such as 1,2"
        );
        assert_eq!(error("1@a?mac=02:00:00:00:00:01"), {
            "port '1@a?mac=02:00:00:00:00:01': 'mac' is none of delay, loss, rate, queue"
        });
    }

    #[test]
    fn errors_say_what_to_write() {
        assert_eq!(error("veth0"), "port 'veth0': is written NUMBER@DEVICE, such as 1@veth0 or 1@wire:/tmp/a");
        assert_eq!(error("511@a"), "port '511@a': '511' is not a port number from 0 to 510");
        assert_eq!(error("1@"), "port '1@': names no device");
        assert_eq!(error("1@dpdk:0"), "port '1@dpdk:0': 'dpdk' is none of xdp, tap, wire, pcap");
        assert_eq!(error("1@a?delay=10"), "port '1@a?delay=10': '10' has none of the units ns, us, ms, s");
        assert_eq!(error("1@a?loss=2"), "port '1@a?loss=2': loss=2 is not a percentage such as 0.5%");
    }
}
