//! Flows that an edge with two providers translates (NPTv6): those of the pipeline's own case, of many hosts.

use std::path::Path;

use anyhow::{Context, Result, anyhow};
use pipeline::Loaded;
use stf::script::Command;

use super::crowd::{Crowd, Template};
use crate::{flows, scenes};

const CASE: &str = "borders";
const HOSTS_PORT: u32 = 1;
/// The last two octets of the source's address, and the port behind the header.
const HOST: usize = 14 + 8 + 14;
const SOURCE_PORT: usize = 14 + 40;
const HOSTS: u64 = 512;
const FIRST_PORT: u64 = 1024;

/// Flows of 512 hosts, which are told apart by their ports.
pub fn flows(p4src: &Path, program: &Loaded, members: u32) -> Result<Crowd> {
    let lines = scenes::read(p4src, CASE)?;
    let loaded = program.fresh().map_err(|error| anyhow!("{error}"))?;
    scenes::fill(&loaded, &lines)?;
    scenes::know_sources(&loaded, &lines)?;
    flows::specialise(&loaded, None)?;
    let bytes = lines.iter().find_map(|line| match &line.command {
        Command::Packet { port: HOSTS_PORT, bytes } => Some(bytes.clone()),
        _ => None,
    });
    let bytes = bytes.with_context(|| format!("{CASE} sends nothing"))?;
    Ok(Crowd { loaded, members, templates: vec![Template { port: HOSTS_PORT, bytes, write: write_flow }] })
}

fn write_flow(packet: &mut [u8], member: u64, _turn: u64) {
    let port = FIRST_PORT + member / HOSTS;
    packet[HOST..HOST + 2].copy_from_slice(&((0x100 + member % HOSTS) as u16).to_be_bytes());
    packet[SOURCE_PORT..SOURCE_PORT + 2].copy_from_slice(&(port as u16).to_be_bytes());
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use pipeline::BackendKind;

    use super::*;
    use crate::edge;

    #[test]
    fn flows_of_every_host_leave_by_both_providers() {
        let p4src = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../p4src");
        let program = edge::load(&p4src, BackendKind::Jit, &[]).unwrap();
        let ports = flows(&p4src, &program, 4096).unwrap().ports().unwrap();
        assert_eq!(ports.into_iter().collect::<BTreeSet<_>>(), BTreeSet::from([4, 5]));
    }

    #[test]
    fn every_flow_has_ports_and_host_of_its_own() {
        let of = |member| {
            let mut packet = vec![0; 100];
            write_flow(&mut packet, member, 0);
            packet
        };
        let flows: BTreeSet<Vec<u8>> = [1, 2, 512, 513, 1024, 999_999, 1_000_000].map(of).into();
        assert_eq!(flows.len(), 7);
    }
}
