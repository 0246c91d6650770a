//! What a switch counts, asked at its Unix socket.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;

use anyhow::{Context, Result};

/// Packets by how the flow cache met them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Looked {
    pub in_kernel: u64,
    /// By the process, whether or not it knew their way.
    pub elsewhere: u64,
}

impl Looked {
    pub fn at(socket: &Path) -> Result<Self> {
        let mut stream = UnixStream::connect(socket).with_context(|| socket.display().to_string())?;
        stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: switch\r\nConnection: close\r\n\r\n")?;
        let mut text = String::new();
        stream.read_to_string(&mut text)?;
        Self::read(&text)
    }

    fn read(text: &str) -> Result<Self> {
        let (mut all, mut in_kernel) = (0, None);
        for line in text.lines() {
            let Some(sample) = line.strip_prefix("wayname_switch_flow_cache_packets_total{outcome=\"") else {
                continue;
            };
            let (outcome, count) = sample.split_once("\"} ").context("a sample without a value")?;
            let count: u64 = count.parse()?;
            all += count;
            if outcome == "kernel" {
                in_kernel = Some(count);
            }
        }
        let in_kernel = in_kernel.context("the switch does not count what the kernel forwards for it")?;
        Ok(Self { in_kernel, elsewhere: all - in_kernel })
    }

    pub fn since(&self, before: &Self) -> Self {
        Self { in_kernel: self.in_kernel - before.in_kernel, elsewhere: self.elsewhere - before.elsewhere }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_told_apart_by_who_forwarded_them() {
        let sample = |outcome: &str, count: u64| {
            format!("wayname_switch_flow_cache_packets_total{{outcome=\"{outcome}\"}} {count}\n")
        };
        let others = sample("hit", 5) + &sample("miss", 2) + "# a comment\nwayname_switch_flow_cache_ways 3\n";
        assert!(Looked::read(&others).is_err());
        let before = Looked::read(&(others.clone() + &sample("kernel", 70))).unwrap();
        assert_eq!(before, Looked { in_kernel: 70, elsewhere: 7 });
        let after = Looked::read(&(others + &sample("kernel", 100) + &sample("passed", 1))).unwrap();
        assert_eq!(after.since(&before), Looked { in_kernel: 30, elsewhere: 1 });
    }
}
