//! The edge program with a site behind port 0 and its providers behind ports 1 to 4.

use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Result, anyhow};
use compiler::Options;
use pipeline::{BackendKind, Loaded};
use stf::{Nodes, apply, script};

use crate::packets::Route;

/// What `packets` writes into its packets.
const ROUTER: &str = "0x020000000001";
const HOST: &str = "0x020000000002";

/// Compiles the program of a folder like `p4src` and gives it entries. A next hop for each route's port.
pub fn load(p4src: &Path, kind: BackendKind, routes: &[Route]) -> Result<Loaded> {
    let options = Options { include_dirs: vec![p4src.to_owned()], read_files: true, ..Options::default() };
    let compiled =
        compiler::compile_file(&p4src.join("v1model/main.p4"), &options).map_err(|failure| anyhow!("{failure}"))?;
    let loaded = Loaded::new(Arc::new(compiled.program), kind).map_err(|error| anyhow!("{error}"))?;
    fill(&loaded, routes)?;
    Ok(loaded)
}

/// Gives the program its entries.
pub fn fill(loaded: &Loaded, routes: &[Route]) -> Result<()> {
    let mut nodes = Nodes::default();
    for line in script::parse(&entries(routes)?).map_err(|error| anyhow!("{error}"))? {
        apply(loaded, &mut nodes, &line.command).map_err(|error| anyhow!("line {}: {error}", line.number))?;
    }
    Ok(())
}

/// The entries as a case writes them: each port has a VLAN of its own, its number and one.
fn entries(routes: &[Route]) -> Result<String> {
    let mut text = String::new();
    for port in 0..=4 {
        let vlan = port + 1;
        writeln!(text, "add ports port:{port} set_port_vlan(vlan:{vlan})")?;
        writeln!(text, "add vlan_members port:{port} vlan:{vlan} admit_to_vlan()")?;
        writeln!(text, "add vlan_tags port:{port} vlan:{vlan} send_untagged()")?;
        writeln!(
            text,
            "add interfaces vlan:{vlan} set_interface(mac:{ROUTER},address:{:#x})",
            0xfe80u128 << 112 | vlan
        )?;
        writeln!(text, "add source_macs vlan:{vlan} set_source_mac(mac:{ROUTER})")?;
        writeln!(
            text,
            "add neighbours vlan:{vlan} address:{vlan} set_neighbour(port:{port},mac:0x0299000000{vlan:02x})"
        )?;
        writeln!(text, "add nexthops nexthop:{vlan} set_nexthop(vlan:{vlan},address:{vlan})")?;
    }
    writeln!(text, "add learned_macs port:0 vlan:1 source:{HOST} known_mac()")?;
    for route in routes {
        let nexthop = route.port + 1;
        writeln!(text, "add routes destination:{:#x}/{} route_nexthop(nexthop:{nexthop})", route.prefix, route.length)?;
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pipeline_has_the_tables_that_the_edge_fills() {
        let p4src = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../p4src");
        let no_mac = [0; 6];
        let route =
            Route { prefix: 1 << 125, length: 8, port: 1, source: no_mac, destination: no_mac, segments: [0; 3] };
        load(&p4src, BackendKind::Interpreter, &[route]).unwrap();
    }

    #[test]
    fn packets_take_known_ways_through_the_edge_as_the_interpreter_has_them() {
        let p4src = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../p4src");
        let mut numbers = fastrand::Rng::with_seed(1);
        let routes = crate::packets::routes(20, &mut numbers);
        let mut text = entries(&routes).unwrap();
        for packet in crate::packets::packets(&routes, 10, &mut numbers) {
            let digits: String = packet.iter().map(|byte| format!("{byte:02x}")).collect();
            writeln!(text, "packet 0 {digits}").unwrap();
        }
        let script = script::parse(&text).unwrap();
        let reference = load(&p4src, BackendKind::Interpreter, &[]).unwrap().fresh().unwrap();
        for kind in [BackendKind::Flows, BackendKind::CheckedFlows] {
            let tested = reference.as_kind(kind).unwrap();
            let flows = stf::alike::compare(&reference.fresh().unwrap(), &tested, &script, 2000).unwrap();
            assert!(flows.hits > 500, "{flows:?}");
        }
    }
}
