//! Flows that an edge with two providers translates (NPTv6): those of the pipeline's own case, of many hosts.

use std::path::Path;

use anyhow::{Context, Result, anyhow};
use pipeline::{Engine, Loaded, Traffic};
use stf::script::Command;

use super::crowd::{BEGIN, Crowd, Template};
use crate::forwarding::Last;
use crate::{flows, scenes};

const CASE: &str = "borders";
const HOSTS_PORT: u32 = 1;
/// The last two octets of the source's address, and the port behind the header.
const HOST: usize = 14 + 8 + 14;
const SOURCE_PORT: usize = 14 + 40;
/// The flags of TCP.
const FLAGS: usize = SOURCE_PORT + 13;
const ACK: u8 = 16;
const HOSTS: u64 = 512;
const FIRST_PORT: u64 = 1024;

/// Who serves all buckets of flows; half of them have their home at another.
const SERVES: &str = "2";

/// Connections of 512 hosts, which are told apart by their ports. They have begun by a provider that is not the home of half of
/// their buckets, so half of them are remembered.
pub fn flows(p4src: &Path, program: &Loaded, members: u32) -> Result<Crowd> {
    let mut lines = scenes::read(p4src, CASE)?;
    lines.iter_mut().for_each(|line| serve(&mut line.command));
    let loaded = program.fresh().map_err(|error| anyhow!("{error}"))?;
    scenes::fill(&loaded, &lines)?;
    scenes::know_sources(&loaded, &lines)?;
    flows::specialise(&loaded, None)?;
    let bytes = lines.iter().find_map(|line| match &line.command {
        Command::Packet { port: HOSTS_PORT, bytes } => Some(bytes.clone()),
        _ => None,
    });
    let mut bytes = bytes.with_context(|| format!("{CASE} sends nothing"))?;
    begin(&loaded, members, &bytes);
    bytes[FLAGS] = ACK;
    Ok(Crowd::new(loaded, members, vec![Template { port: HOSTS_PORT, bytes, write: write_flow }]))
}

/// The bucket that the case gives its home, as one that another serves now.
fn serve(command: &mut Command) {
    if let Command::Add { table, action, .. } = command
        && table == "hash_buckets"
    {
        action.args.iter_mut().filter(|(name, _)| name == "now").for_each(|(_, now)| *now = SERVES.into());
    }
}

/// Sends the SYN of every flow.
fn begin(loaded: &Loaded, members: u32, syn: &[u8]) {
    let mut traffic = Traffic::default();
    let mut engine = Engine::new(loaded, &mut traffic, 1);
    let (mut packet, mut last) = (syn.to_vec(), Last::default());
    for member in 1..=members.into() {
        write_flow(&mut packet, member, 0);
        engine.receive(HOSTS_PORT, &packet, BEGIN, &mut last);
    }
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
    fn connections_of_every_host_stay_with_the_provider_that_they_began_by() {
        let p4src = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../p4src");
        let program = edge::load(&p4src, BackendKind::Jit, &[]).unwrap();
        let ports = flows(&p4src, &program, 4096).unwrap().ports().unwrap();
        // Port 5 is the second provider's; who is not remembered goes by its bucket's home, half of them by the first.
        assert_eq!(ports.into_iter().collect::<BTreeSet<_>>(), BTreeSet::from([5]));
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
