//! The command line of BMv2's `simple_switch_grpc`, under whose name scripts of others start a switch.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::Parser;

use crate::usage;

/// The name by which the switch is started then.
pub const NAME: &str = "simple_switch_grpc";

/// Its options. What the switch has under the same name is told by `wayname-switch --help`.
#[derive(Parser)]
#[command(name = NAME, version, about = "wayname-switch with the options of BMv2's simple_switch_grpc")]
struct Options {
    /// p4c's BMv2 JSON, or P4 source; without one the switch waits for a controller
    program: Option<PathBuf>,
    /// A port: NUMBER@INTERFACE
    #[arg(short, long, value_name = "PORT")]
    interface: Vec<String>,
    #[arg(long, default_value_t = 0)]
    device_id: u64,
    /// Start without a program
    #[arg(long)]
    no_p4: bool,
    /// ADDRESS:PORT; 0.0.0.0 and the like are narrowed to the loopback address
    #[arg(long, default_value = "0.0.0.0:9559")]
    grpc_server_addr: String,
    #[arg(long)]
    cpu_port: Option<u32>,
    /// 511, the only one
    #[arg(long, value_parser = clap::value_parser!(u32).range(511..=511))]
    drop_port: Option<u32>,
    /// Queues always have 8 priorities
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=8))]
    priority_queues: Option<u32>,
    #[arg(long)]
    log_console: bool,
    #[arg(long, short = 'L', default_value = "info")]
    log_level: String,
    /// Nothing is buffered
    #[arg(long)]
    log_flush: bool,
    /// Capture files of each port
    #[arg(long, value_name = "FOLDER", num_args = 0..=1, default_missing_value = ".")]
    pcap: Option<PathBuf>,
    #[arg(long)]
    grpc_server_ssl: bool,
    #[arg(long)]
    grpc_server_cert: Option<PathBuf>,
    #[arg(long)]
    grpc_server_key: Option<PathBuf>,
    #[arg(long)]
    grpc_server_cacert: Option<PathBuf>,
    #[arg(long)]
    grpc_server_with_client_auth: bool,
    /// Taken and not served: P4Runtime does all that Thrift does
    #[arg(long)]
    thrift_port: Option<u16>,
    /// Taken and not served: `wayname-switch trace --target ADDRESS` shows packets
    #[arg(long)]
    nanolog: Option<String>,
    /// Taken and not served
    #[arg(long)]
    notifications_addr: Option<String>,
    /// Refused
    #[arg(long, hide = true)]
    debugger: bool,
    #[arg(long, hide = true)]
    log_file: Option<PathBuf>,
    #[arg(long, hide = true)]
    restore_state: Option<PathBuf>,
    #[arg(long, hide = true)]
    use_files: Option<u32>,
    #[arg(long, hide = true)]
    packet_in: Option<String>,
}

/// Whether the switch was started by that name.
pub fn is_asked(program: Option<&OsString>) -> bool {
    program.and_then(|program| Path::new(program).file_name()).is_some_and(|name| name == NAME)
}

/// The same in the switch's own words. Ends the process where an option has no counterpart.
pub fn translate(words: impl Iterator<Item = OsString>) -> Vec<OsString> {
    // `--` stands before the options of the target, which are options like the others here.
    let options: Options = usage::parse(NAME, words.filter(|word| word != "--"));
    match options.refused() {
        Some(why) => {
            eprintln!("{NAME}: {why}");
            std::process::exit(2);
        }
        None => options.own(),
    }
}

impl Options {
    fn refused(&self) -> Option<&'static str> {
        if self.debugger {
            return Some(
                "there is no --debugger; `wayname-switch trace --target ADDRESS` follows packets step by step",
            );
        }
        if self.log_file.is_some() {
            return Some("there is no --log-file; redirect the output: simple_switch_grpc --log-console ... > FILE");
        }
        if self.restore_state.is_some() {
            return Some("there is no --restore-state; let the controller write the entries again");
        }
        if self.use_files.is_some() {
            return Some("there is no --use-files; give a port capture files: -i 1@pcap:IN,OUT");
        }
        self.packet_in.is_some().then_some("there is no --packet-in; give a port a socket: -i 1@wire:PATH")
    }

    fn own(self) -> Vec<OsString> {
        // Controllers write one flood group to switches with different ports.
        let mut words: Vec<OsString> = vec!["wayname-switch".into(), "--allow-absent-ports".into()];
        let mut say = |flag: &str, value: OsString| words.extend([flag.into(), value]);
        for port in self.interface {
            say("-i", port.into());
        }
        say("--device-id", self.device_id.to_string().into());
        say("--grpc-server-addr", loopback(&self.grpc_server_addr).into());
        say("--log-level", self.log_level.into());
        if let Some(port) = self.cpu_port {
            say("--cpu-port", port.to_string().into());
        }
        let files = [
            ("--pcap", self.pcap),
            ("--grpc-server-cert", self.grpc_server_cert),
            ("--grpc-server-key", self.grpc_server_key),
            ("--grpc-server-cacert", self.grpc_server_cacert),
        ];
        for (flag, file) in files {
            if let Some(file) = file {
                say(flag, file.into());
            }
        }
        let flags = [
            ("--no-p4", self.no_p4),
            ("--log-console", self.log_console),
            ("--grpc-server-ssl", self.grpc_server_ssl),
            ("--grpc-server-with-client-auth", self.grpc_server_with_client_auth),
        ];
        words.extend(flags.into_iter().filter(|(_, set)| *set).map(|(flag, _)| flag.into()));
        words.extend(self.program.map(Into::into));
        words
    }
}

/// Scripts write 0.0.0.0 for a switch of the same machine. Whoever reaches the service can take the switch over, so it
/// is not served to other machines unasked.
fn loopback(address: &str) -> String {
    for (anyone, here) in [("0.0.0.0:", "127.0.0.1:"), ("[::]:", "[::1]:")] {
        if let Some(port) = address.strip_prefix(anyone) {
            eprintln!(
                "{NAME}: P4Runtime is served at {here}{port}, for this machine alone; to serve others, start \
                 wayname-switch with --grpc-server-addr {address} and --grpc-server-with-client-auth"
            );
            return format!("{here}{port}");
        }
    }
    address.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Args;

    fn own(words: &str) -> Vec<String> {
        let words = std::iter::once(NAME).chain(words.split_whitespace()).map(OsString::from);
        translate(words).into_iter().map(|word| word.into_string().unwrap()).collect()
    }

    #[test]
    fn a_script_of_mininet_starts_it() {
        let words = own(
            "-i 1@s1-eth1 -i 2@s1-eth2 --pcap pcaps --nanolog ipc:///tmp/bm-0-log.ipc --device-id 0 build/basic.json \
             --log-console --thrift-port 9090 -- --grpc-server-addr 0.0.0.0:50051 --cpu-port 255 --priority-queues 8",
        );
        let expected = "wayname-switch --allow-absent-ports -i 1@s1-eth1 -i 2@s1-eth2 --device-id 0 --grpc-server-addr 127.0.0.1:50051 \
                        --log-level info --cpu-port 255 --pcap pcaps --log-console build/basic.json";
        assert_eq!(words.join(" "), expected);
        let run = Args::parse_from(&words).run;
        assert_eq!((run.device_id, run.cpu_port, run.interface.len()), (0, 255, 2));
    }

    #[test]
    fn another_address_stays() {
        assert!(own("--no-p4 -- --grpc-server-addr 192.0.2.1:9559").contains(&"192.0.2.1:9559".to_owned()));
    }

    #[test]
    fn options_without_counterpart_say_what_to_do() {
        let refused = |words: &str| {
            let words = std::iter::once(NAME).chain(words.split_whitespace());
            Options::parse_from(words).refused()
        };
        assert!(refused("--no-p4 --debugger").unwrap().contains("wayname-switch trace"));
        assert!(refused("--no-p4 --log-file a.log").unwrap().contains("redirect"));
        assert_eq!(refused("--no-p4"), None);
    }

    #[test]
    fn only_the_name_asks_for_it() {
        assert!(is_asked(Some(&"/usr/bin/simple_switch_grpc".into())));
        assert!(!is_asked(Some(&"/usr/bin/wayname-switch".into())) && !is_asked(None));
    }
}
