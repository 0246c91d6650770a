//! The command line.

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Parser;
use host::Config;

/// An IPv6 host on a wire, without root: answers pings, and does what commands say.
///
/// Commands are JSON lines on standard input (--control -), events are JSON lines on standard output. docs/host.md lists
/// both. Without --address the host autoconfigures itself from router advertisements. It ends with its standard input,
/// or by SIGINT or SIGTERM.
#[derive(Debug, Parser)]
#[command(name = "wayname-host", version)]
pub struct Args {
    /// The wire's path; whoever comes first listens there.
    #[arg(long, value_name = "PATH")]
    pub wire: PathBuf,
    /// The host's MAC address, as 02:00:00:00:00:01.
    #[arg(long)]
    mac: String,
    /// An address with its prefix length, as 2001:db8::1/64; several times for several.
    #[arg(long, value_name = "ADDRESS/LENGTH")]
    address: Vec<String>,
    /// The router for everything that is not on the link.
    #[arg(long, value_name = "ADDRESS")]
    gateway: Option<String>,
    /// The longest packet, in bytes.
    #[arg(long, default_value_t = 1500)]
    mtu: usize,
    /// Decides ports and sequence numbers; from the clock unless given.
    #[arg(long)]
    seed: Option<u64>,
    /// Where commands come from: - is standard input.
    #[arg(long, value_name = "-")]
    control: Option<String>,
}

impl Args {
    pub fn config(&self, clock: u64) -> Result<Config> {
        let mut config =
            Config::parse(&self.mac, &self.address, self.gateway.as_deref()).map_err(anyhow::Error::msg)?;
        config.mtu = self.mtu;
        config.seed = self.seed.unwrap_or(clock);
        config.check().map_err(anyhow::Error::msg)?;
        Ok(config)
    }

    pub fn reads_commands(&self) -> Result<bool> {
        match self.control.as_deref() {
            None => Ok(false),
            Some("-") => Ok(true),
            Some(other) => bail!("--control {other}: commands come from standard input alone; write --control -"),
        }
    }
}
