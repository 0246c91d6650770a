//! Shim6 sessions of one host: the one of the pipeline's own cases, many times over.

use std::path::Path;

use anyhow::{Context, Result, anyhow};
use pipeline::Loaded;
use stf::script::{self, Command, Line};
use stf::{Nodes, apply};

use super::crowd::{Crowd, Template};
use crate::{flows, scenes};

const CASE: &str = "session_paths";
/// With a packet as the peer sends it.
const ADMITTED: &str = "session_admission";
const HOSTS_PORT: u32 = 1;
const PROVIDERS_PORT: u32 = 4;

const ETHERNET: usize = 14;
const IPV6: usize = 40;
const SHIM6: usize = 8;
/// The destination's low half, and the context tag of a payload header.
const INTERFACE_ID: usize = ETHERNET + 32;
const TAG: usize = ETHERNET + IPV6 + 2;
const NEXT_HEADER: usize = 6;

/// Octets of a segment's payload, and what lies before it.
const SEGMENT: usize = 64;
const TCP: usize = 20;
const SEQUENCE: usize = 4;
const ACKNOWLEDGED: usize = 8;

/// So many schedules, one for each far site; sessions share them.
const SCHEDULES: u64 = 1024;
/// Slot 0 has path 2 and slot 1 path 1: who takes no schedule goes by path 1.
const SLOTS: &str = "paths:0x12,slots:3";
const SCHEDULE_MODE: u64 = 8;
/// Acknowledgements tell of delays, and of paths that are to be closed; times in microseconds.
const FEEDBACK: &str = "feedback:3,tolerance:100000,probe_interval:200000,hold:0";

/// Sessions whose packets go by one path, and come by it.
pub fn plain(p4src: &Path, program: &Loaded, members: u32) -> Result<Crowd> {
    let template = Session::read(p4src)?;
    let loaded = template.load(program, members, &["1"], None)?;
    flows::specialise(&loaded, None)?;
    Ok(Crowd::new(loaded, members, vec![template.outward(), template.inward()]))
}

/// Sessions over two paths each, by a schedule that acknowledgements teach: two segments of TCP, then an acknowledgement
/// of those before.
pub fn scheduled(p4src: &Path, program: &Loaded, members: u32) -> Result<Crowd> {
    let template = Session::read(p4src)?;
    let loaded = template.load(program, members, &["1", "2"], Some(SCHEDULE_MODE))?;
    for schedule in 1..=SCHEDULES {
        put(&loaded, &schedule_entries(schedule))?;
    }
    for session in 1..=u64::from(members) {
        let schedule = 1 + session % SCHEDULES;
        put(&loaded, &format!("add session_schedules session:{session} use_schedule(schedule:{schedule},{SLOTS})"))?;
    }
    flows::specialise(&loaded, None)?;
    let (outward, inward) = (template.outward(), template.inward());
    let first = of_tcp(&outward, ETHERNET + IPV6, SEGMENT, |packet, member, turn| {
        write_member(packet, member, turn);
        write_number(packet, ETHERNET + IPV6 + SEQUENCE, 2 * turn);
    });
    let second = of_tcp(&outward, ETHERNET + IPV6, SEGMENT, |packet, member, turn| {
        write_member(packet, member, turn);
        write_number(packet, ETHERNET + IPV6 + SEQUENCE, 2 * turn + 1);
    });
    let acknowledgement = of_tcp(&inward, ETHERNET + IPV6 + SHIM6, 0, |packet, member, turn| {
        write_tag(packet, member, turn);
        write_number(packet, ETHERNET + IPV6 + SHIM6 + ACKNOWLEDGED, 2 * turn);
    });
    Ok(Crowd::new(loaded, members, vec![first, second, acknowledgement]))
}

/// Two paths of 1 Gbit/s with a delay of 1 ms, fastest first.
fn schedule_entries(schedule: u64) -> String {
    let slot = |slot: u64| {
        format!("add subflow_slots_{slot} schedule:{schedule} set_subflow(delay:1000,inverse_rate:134218,queue:0)\n")
    };
    let shares =
        format!("add schedules schedule:{schedule} fastest_first(generation:1,paths:2,framing:0,{FEEDBACK})\n");
    slot(0) + &slot(1) + &shares
}

fn put(loaded: &Loaded, text: &str) -> Result<()> {
    scenes::fill(loaded, &script::parse(text).map_err(|error| anyhow!("{text}: {error}"))?)
}

fn write_member(packet: &mut [u8], member: u64, _turn: u64) {
    packet[INTERFACE_ID..INTERFACE_ID + 8].copy_from_slice(&member.to_be_bytes());
}

fn write_tag(packet: &mut [u8], member: u64, _turn: u64) {
    // Its first bit says that a payload follows (RFC 5533, section 5.2).
    let tag = (1 << 47 | member).to_be_bytes();
    packet[TAG..TAG + 6].copy_from_slice(&tag[2..]);
}

/// The number of the octet that a segment of the stream begins with.
fn write_number(packet: &mut [u8], at: usize, segment: u64) {
    packet[at..at + 4].copy_from_slice(&((segment * SEGMENT as u64) as u32).to_be_bytes());
}

/// The packet with a TCP segment in place of what it has from there on.
fn of_tcp(template: &Template, at: usize, payload: usize, write: fn(&mut [u8], u64, u64)) -> Template {
    let mut bytes = template.bytes[..at].to_vec();
    // The header before it says what follows: IPv6's, or Shim6's, which begins with it.
    let says = if at == ETHERNET + IPV6 { ETHERNET + NEXT_HEADER } else { at - SHIM6 };
    bytes[says] = 6;
    let (host, peer) = ([3, 232], [0, 80]);
    bytes.extend(if payload > 0 { [host, peer] } else { [peer, host] }.concat());
    // No numbers yet; an acknowledgement in a window of 65535 octets, of which nobody looks at the checksum.
    bytes.extend([0, 0, 0, 0, 0, 0, 0, 0, 5 << 4, 16, 255, 255, 0, 0, 0, 0]);
    bytes.resize(at + TCP + payload, 0);
    let length = (bytes.len() - ETHERNET - IPV6) as u16;
    bytes[ETHERNET + 4..ETHERNET + 6].copy_from_slice(&length.to_be_bytes());
    Template { port: template.port, bytes, write }
}

/// The session of a case: its entries, those of the edge, and its packets.
struct Session {
    /// That of the case.
    number: String,
    entries: Vec<Line>,
    edge: Vec<Line>,
    outward: Vec<u8>,
    inward: Vec<u8>,
}

impl Session {
    fn read(p4src: &Path) -> Result<Self> {
        let lines = scenes::read(p4src, CASE)?;
        let number = lines.iter().find_map(|line| match &line.command {
            Command::Add { table, action, .. } if table == "identities" => value(&action.args, "session"),
            _ => None,
        });
        let number = number.with_context(|| format!("{CASE} has no session"))?.to_owned();
        let is_its = |line: &Line| match &line.command {
            Command::Add { keys, action, .. } => {
                [value(keys, "session"), value(&action.args, "session")].contains(&Some(&number))
            }
            _ => false,
        };
        let (entries, edge) = lines.iter().cloned().partition(is_its);
        let outward = packet(&lines, HOSTS_PORT).with_context(|| format!("{CASE} sends nothing"))?;
        let inward = packet(&scenes::read(p4src, ADMITTED)?, PROVIDERS_PORT);
        let inward = inward.with_context(|| format!("{ADMITTED} sends nothing"))?;
        Ok(Self { number, entries, edge, outward, inward })
    }

    /// A program with the edge and so many sessions, of which only these paths are there.
    fn load(&self, program: &Loaded, members: u32, paths: &[&str], mode: Option<u64>) -> Result<Loaded> {
        let loaded = program.fresh().map_err(|error| anyhow!("{error}"))?;
        scenes::fill(&loaded, &self.edge)?;
        scenes::know_sources(&loaded, &self.packets())?;
        let mut nodes = Nodes::default();
        for line in self.entries.iter().filter(|line| is_of_paths(&line.command, paths)) {
            for member in 1..=u64::from(members) {
                let command = self.as_of(&line.command, member, mode);
                apply(&loaded, &mut nodes, &command).map_err(|error| anyhow!("session {member}: {error}"))?;
            }
        }
        Ok(loaded)
    }

    /// The entry as another session has it: its number is also the tag, and the low half of the peer's address.
    fn as_of(&self, command: &Command, member: u64, mode: Option<u64>) -> Command {
        let mut command = command.clone();
        if let Command::Add { table, keys, action, .. } = &mut command {
            for (name, value) in keys.iter_mut().chain(&mut action.args) {
                match name.as_str() {
                    "session" if *value == self.number => *value = member.to_string(),
                    "remote" => value.replace_range(value.len() - 16.., &format!("{member:016x}")),
                    "tag" if table == "context_tags" => *value = member.to_string(),
                    "mode" => *value = mode.map_or_else(|| value.clone(), |mode| mode.to_string()),
                    _ => {}
                }
            }
        }
        command
    }

    /// As lines of a case.
    fn packets(&self) -> [Line; 2] {
        [(HOSTS_PORT, &self.outward), (PROVIDERS_PORT, &self.inward)]
            .map(|(port, bytes)| Line { number: 0, command: Command::Packet { port, bytes: bytes.clone() } })
    }

    fn outward(&self) -> Template {
        Template { port: HOSTS_PORT, bytes: self.outward.clone(), write: write_member }
    }

    fn inward(&self) -> Template {
        Template { port: PROVIDERS_PORT, bytes: self.inward.clone(), write: write_tag }
    }
}

fn value<'a>(values: &'a [(String, String)], name: &str) -> Option<&'a String> {
    values.iter().find(|(known, _)| known == name).map(|(_, value)| value)
}

/// An entry of no path is of all.
fn is_of_paths(command: &Command, paths: &[&str]) -> bool {
    let Command::Add { table, keys, action, .. } = command else { return false };
    let path = match table.as_str() {
        "paths" => value(keys, "path"),
        "locator_pairs" => value(&action.args, "path"),
        _ => None,
    };
    path.is_none_or(|path| paths.contains(&path.as_str()))
}

/// The first packet that comes by a port.
fn packet(lines: &[Line], by: u32) -> Option<Vec<u8>> {
    lines.iter().find_map(|line| match &line.command {
        Command::Packet { port, bytes } if *port == by => Some(bytes.clone()),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use pipeline::{BackendKind, Message, Sink, Traffic};

    use super::*;
    use crate::edge;

    const MEMBERS: u32 = 40;

    fn p4src() -> std::path::PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../p4src")
    }

    #[test]
    fn packets_of_every_session_leave_by_its_path_and_reach_the_host() {
        let program = edge::load(&p4src(), BackendKind::Jit, &[]).unwrap();
        let ports = plain(&p4src(), &program, MEMBERS).unwrap().ports().unwrap();
        assert_eq!(ports, [4, 1].repeat(MEMBERS as usize));
    }

    #[test]
    fn packets_of_scheduled_sessions_leave_by_their_schedules_first_slot() {
        let program = edge::load(&p4src(), BackendKind::Jit, &[]).unwrap();
        let ports = scheduled(&p4src(), &program, MEMBERS).unwrap().ports().unwrap();
        assert_eq!(ports.len(), 3 * MEMBERS as usize);
        // Path 2, where path 1 is that of who has no schedule; acknowledgements reach the host.
        assert_eq!((ports[0], ports[2]), (5, 1));
    }

    /// How much the controller is told.
    #[derive(Default)]
    struct Told(usize);

    impl Sink for Told {
        fn transmit(&mut self, _port: u32, _bytes: &[u8], _at: u64) {}

        fn message(&mut self, _message: Message) {
            self.0 += 1;
        }
    }

    /// In so many turns of all members' packets.
    fn told(crowd: &Crowd, turns: u64) -> usize {
        let (mut traffic, mut told) = (Traffic::default(), Told::default());
        let mut engine = crowd.engine(&mut traffic);
        for turn in 0..turns {
            for template in &crowd.templates {
                let mut packet = template.bytes.clone();
                (template.write)(&mut packet, 1 + turn % u64::from(MEMBERS), turn);
                // Some 3 ms from a segment to its acknowledgement.
                engine.receive(template.port, &packet, 1_000_000_000 + turn * 80_000, &mut told);
            }
        }
        told.0
    }

    #[test]
    fn nobody_is_told_of_packets_of_sessions() {
        let program = edge::load(&p4src(), BackendKind::Jit, &[]).unwrap();
        assert_eq!(told(&plain(&p4src(), &program, MEMBERS).unwrap(), 1000), 0);
    }

    #[test]
    fn acknowledgements_of_scheduled_sessions_rarely_change_what_is_known_of_paths() {
        let program = edge::load(&p4src(), BackendKind::Jit, &[]).unwrap();
        let told = told(&scheduled(&p4src(), &program, MEMBERS).unwrap(), 8000);
        assert!(told < 400, "{told} messages in 8000 turns");
    }

    #[test]
    fn an_entry_is_rewritten_for_another_session() {
        let session = Session::read(&p4src()).unwrap();
        let text = |command: &Command| format!("{command:?}");
        let identities = session.entries.iter().find(|line| text(&line.command).contains("identities")).unwrap();
        let rewritten = session.as_of(&identities.command, 0x1234, Some(8));
        let Command::Add { keys, action, .. } = &rewritten else { panic!("{rewritten:?}") };
        assert!(value(keys, "remote").unwrap().ends_with("0000000000001234"));
        assert_eq!(value(&action.args, "session").unwrap(), "4660");
        assert_eq!(value(&action.args, "mode").unwrap(), "8");
        assert!(!is_of_paths(&Command::Nothing, &["1"]));
    }
}
