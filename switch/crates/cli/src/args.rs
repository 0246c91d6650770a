//! The command line.

use std::path::PathBuf;

use clap::builder::TypedValueParser;
use clap::{Args as Group, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use compiler::Options;
use listen::Address;
use pipeline::{BackendKind, DEFAULT_WAYS};
use ports::PortSpec;
use service::Client;

#[derive(Parser)]
#[command(
    name = "wayname-switch",
    version,
    about = "A P4Runtime switch that compiles P4 itself",
    long_about = "A P4Runtime switch for v1model programs. It compiles P4_16 source itself: the device config of \
                  SetForwardingPipelineConfig is the text of the program. Needs no root unless a port does.\n\n\
                  SIGHUP starts the program that is installed now as the next switch. It takes over the ports and the \
                  tables, and no packet is lost (hot restart); if it cannot, the running switch goes on.",
    args_conflicts_with_subcommands = true
)]
pub struct Args {
    #[command(subcommand)]
    pub command: Option<Command>,
    #[command(flatten)]
    pub run: Run,
}

#[derive(Subcommand)]
pub enum Command {
    /// Check a program; errors name file, line and column
    Check(Check),
    /// Write what the control plane needs: P4Info, the device config, table entries
    Compile(Compile),
    /// Follow packets through a program, step by step; with --target, those of a switch that runs
    Trace(Trace),
    /// Run cases of a program, on the interpreter, in native code and in code for what the tables hold; a packet that fails is traced
    Test(Test),
    /// Where the time of a packet goes, stage by stage: measured in memory, with the entries and packets of a case
    Profile(Profile),
    /// Completion for a shell
    Completion { shell: Shell },
    /// The manual page
    Man,
}

#[derive(Group)]
pub struct Run {
    /// Program to start with (P4 source, or p4c's BMv2 JSON: .json); without one the switch waits for a controller
    pub program: Option<PathBuf>,
    /// A port: NUMBER@INTERFACE, NUMBER@wire:PATH, NUMBER@tap:NAME, NUMBER@xdp:INTERFACE or NUMBER@pcap:IN,OUT, each
    /// with ?delay=10ms&loss=1%&rate=10mbit&queue=100 if wanted, a TAP device also with
    /// ?namespace=NAME&mac=02:00:00:00:00:01&mtu=1500&carrier=PORT,PORT&persist=yes
    #[arg(short, long = "interface", value_name = "PORT")]
    pub interface: Vec<PortSpec>,
    /// Threads that forward; each flow stays with one. Interfaces share flows out by the kernel (PACKET_FANOUT), other devices
    /// by the first thread. Packets that use registers which packets write take turns
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = threads())]
    pub threads: usize,
    /// Keep the ways that packets take, N at most for each thread: those of the same flow that follow take them without a run
    /// of the program. 0 keeps none
    #[arg(long, default_value_t = DEFAULT_WAYS, value_name = "N", value_parser = ways())]
    pub flow_cache: usize,
    /// Forward packets of the flow cache's ways in the kernel, N ways at most: by a BPF program at the TC ingress of ports that are
    /// interfaces, without waking the switch. Needs --flow-cache not to be 0, Linux 6.6 or later and CAP_BPF, CAP_NET_ADMIN. 0 has none there
    #[arg(long, default_value_t = 0, value_name = "N", value_parser = kernel_ways(), conflicts_with = "pcap")]
    pub kernel_flow_cache: usize,
    /// Busy polling: after its last packet, a forwarding thread looks at its ports for so long before it sleeps. Packets that
    /// come meanwhile wait for no wake-up, and the thread takes a whole processor. 0 sleeps at once
    #[arg(long, default_value_t = 0, value_name = "MICROSECONDS")]
    pub busy_poll: u32,
    /// Number by which controllers name this switch; `switch.device_id` of the controller has the same default
    #[arg(long, default_value_t = 1)]
    pub device_id: u64,
    /// Start without a program
    #[arg(long, conflicts_with = "program")]
    pub no_p4: bool,
    /// Serve P4Runtime at ADDR:PORT or unix:PATH; what other machines reach needs --grpc-server-with-client-auth
    #[arg(long, default_value = "127.0.0.1:9559", value_name = "ADDRESS")]
    pub grpc_server_addr: Address,
    /// Port by which the program talks to the controllers
    #[arg(long, default_value_t = 510, value_parser = clap::value_parser!(u32).range(1..=510))]
    pub cpu_port: u32,
    /// Serve with TLS; needs --grpc-server-cert and --grpc-server-key
    #[arg(long, requires = "grpc_server_cert", requires = "grpc_server_key")]
    pub grpc_server_ssl: bool,
    #[arg(long, value_name = "PEM")]
    pub grpc_server_cert: Option<PathBuf>,
    #[arg(long, value_name = "PEM")]
    pub grpc_server_key: Option<PathBuf>,
    /// Certificates of the authorities that controllers' certificates are signed by
    #[arg(long, value_name = "PEM")]
    pub grpc_server_cacert: Option<PathBuf>,
    /// Let in only controllers with a certificate of that authority (mTLS)
    #[arg(long, requires = "grpc_server_cacert", requires = "grpc_server_ssl")]
    pub grpc_server_with_client_auth: bool,
    /// What the controller whose certificate has this name may do: read, operate (write, be primary), capture (see packets);
    /// once for each name. With any, no other name is let in; without, each certificate of that authority may do everything
    #[arg(long, value_name = "NAME=RIGHT,RIGHT", requires = "grpc_server_with_client_auth")]
    pub grpc_server_client: Vec<Client>,
    /// Refuse entries that break the program's @entry_restriction and @action_restriction (p4-constraints), and programs with one
    /// that means nothing. BMv2 ignores them
    #[arg(long)]
    pub check_restrictions: bool,
    /// Refuse entries that refer to entries which are not there (@refers_to), and the deletion of what is referred to. BMv2
    /// ignores that
    #[arg(long)]
    pub check_references: bool,
    /// Take multicast groups, clone sessions and members of groups that name ports the switch does not have, as BMv2 does. What
    /// goes to such a port is dropped and counted
    #[arg(long)]
    pub allow_absent_ports: bool,
    /// Keep the program, what controllers wrote and their election ids in FILE, and go on from it at the next start (warm
    /// restart): what FILE holds goes before PROGRAM. Counters, registers and meters' fill begin anew
    #[arg(long, value_name = "FILE")]
    pub state: Option<PathBuf>,
    /// Serve Prometheus counters at /metrics of ADDR:PORT or unix:PATH
    #[arg(long, value_name = "ADDRESS")]
    pub metrics_addr: Option<Address>,
    /// Serve the counters, PUT of /ports/NUMBER/link, which changes what a link does, and PUT and DELETE of
    /// /ports/NUMBER/cut, on a Unix socket (PATH or unix:PATH): a cut link loses every frame
    #[arg(long, value_name = "PATH", value_parser = unix_address)]
    pub admin: Option<Address>,
    /// Write what passes each port to FOLDER/INTERFACE_in.pcap and INTERFACE_out.pcap; portN where it has no interface
    #[arg(long, value_name = "FOLDER")]
    pub pcap: Option<PathBuf>,
    #[arg(long, value_enum, default_value_t)]
    pub backend: Backend,
    /// Begin the program's random numbers and the losses of lossy links with this number: the same in each run, and known to
    /// whoever knows it. For tests and labs; without it they come from the operating system
    #[arg(long)]
    pub seed: Option<u64>,
    /// Log to standard output instead of standard error
    #[arg(long)]
    pub log_console: bool,
    /// error, warn, info, debug or trace, also per part: info,service=debug. Dependencies say no more than warnings, unless
    /// they are parts that are named: debug,h2=debug
    #[arg(long, short = 'L', default_value = "info", value_name = "LEVEL", value_parser = log_level)]
    pub log_level: String,
    /// One JSON object a line instead of text
    #[arg(long)]
    pub log_json: bool,
    #[command(flatten)]
    pub source: Source,
}

/// Each has 16 MiB of rings for each interface, so that more than 64 are a mistake.
fn threads() -> impl TypedValueParser<Value = usize> {
    clap::value_parser!(u64).range(1..=64).map(|threads| threads as usize)
}

/// A way takes some hundred octets.
fn ways() -> impl TypedValueParser<Value = usize> {
    clap::value_parser!(u64).range(0..=1 << 20).map(|ways| ways as usize)
}

/// Each has its counts for each processor.
fn kernel_ways() -> impl TypedValueParser<Value = usize> {
    clap::value_parser!(u64).range(0..=1 << 14).map(|ways| ways as usize)
}

/// A Unix socket alone, with or without what says so of other addresses.
fn unix_address(text: &str) -> Result<Address, String> {
    format!("unix:{}", text.strip_prefix("unix:").unwrap_or(text)).parse()
}

/// A word that is no level would be taken for a part's name, and all others were silent.
fn log_level(text: &str) -> Result<String, String> {
    const LEVELS: [&str; 6] = ["error", "warn", "info", "debug", "trace", "off"];
    let is_level = |word: &str| LEVELS.iter().any(|level| word.eq_ignore_ascii_case(level));
    match text.split(',').find(|part| !is_level(part.rsplit('=').next().unwrap_or(part))) {
        Some(part) => {
            Err(format!("'{part}' names no level; write error, warn, info, debug, trace or off, or PART=LEVEL"))
        }
        None => Ok(text.to_owned()),
    }
}

/// How the source is read.
#[derive(Group)]
pub struct Source {
    /// Folder in which #include looks
    #[arg(short = 'I', value_name = "FOLDER")]
    pub include: Vec<PathBuf>,
    /// Define a macro: NAME or NAME=VALUE
    #[arg(short = 'D', value_name = "MACRO")]
    pub define: Vec<String>,
    /// Undefine a macro
    #[arg(short = 'U', value_name = "NAME")]
    pub undefine: Vec<String>,
}

impl Source {
    pub fn options(&self) -> Options {
        let define = |text: &String| {
            let (name, value) = text.split_once('=').unwrap_or((text, "1"));
            (name.to_string(), value.to_string())
        };
        Options {
            include_dirs: self.include.clone(),
            defines: self.define.iter().map(define).collect(),
            undefines: self.undefine.clone(),
            read_files: true,
        }
    }
}

#[derive(Group)]
pub struct Check {
    pub program: PathBuf,
    /// Findings as JSON, one object a line
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub source: Source,
}

#[derive(Group)]
pub struct Compile {
    pub program: PathBuf,
    /// P4Info, in protobuf's text form if the name ends with .txt, .txtpb or .textproto, else binary; - is standard output
    #[arg(long, value_name = "FILE")]
    pub p4info: Option<PathBuf>,
    /// The program as one text, which is the device config
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// The flat form that the switch runs
    #[arg(long, value_name = "FILE")]
    pub flat: Option<PathBuf>,
    #[command(flatten)]
    pub source: Source,
}

#[derive(Group)]
pub struct Trace {
    /// A program, and an STF file with table entries and packets; or with --target, which packets: in PORT, ip6, tcp, vlan N,
    /// src PREFIX, dst port N, ether proto N, bytes OFFSET HEX and others, with `and` and `not`
    #[arg(value_name = "PROGRAM [CASES] | FILTER")]
    pub words: Vec<String>,
    /// Live packets of the switch that serves P4Runtime at ADDR:PORT or unix:PATH, until Ctrl-C
    #[arg(long, value_name = "ADDRESS", conflicts_with_all = ["packet", "pcap", "port"])]
    pub target: Option<Address>,
    /// End after so many packets
    #[arg(long, value_name = "N", requires = "target", value_parser = clap::value_parser!(u64).range(1..))]
    pub count: Option<u64>,
    /// Packets per second at most; the switch counts the others
    #[arg(long, value_name = "N", default_value_t = 10, requires = "target")]
    pub rate: u32,
    /// One of so many packets that the filter chooses
    #[arg(long, value_name = "N", default_value_t = 1, requires = "target")]
    pub one_in: u32,
    /// Connect with TLS: certificates of the authorities that the switch's certificate is signed by
    #[arg(long, value_name = "PEM", requires = "target")]
    pub cacert: Option<PathBuf>,
    /// The certificate to show to the switch, and its key
    #[arg(long, value_name = "PEM", requires = "cacert", requires = "key")]
    pub cert: Option<PathBuf>,
    #[arg(long, value_name = "PEM", requires = "cert")]
    pub key: Option<PathBuf>,
    /// A packet in hexadecimal, sent after those of the cases
    #[arg(long, value_name = "HEX")]
    pub packet: Vec<String>,
    /// Packets of a capture file, sent last
    #[arg(long, value_name = "FILE")]
    pub pcap: Option<PathBuf>,
    /// Port at which --packet and --pcap enter
    #[arg(long, default_value_t = 1)]
    pub port: u32,
    /// Traces as JSON, one object a line
    #[arg(long)]
    pub json: bool,
    /// A picture of the way of the last packet
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    #[command(flatten)]
    pub source: Source,
}

#[derive(Group)]
pub struct Test {
    pub program: PathBuf,
    /// STF files: table entries, packets, and what is expected
    #[arg(required = true)]
    pub cases: Vec<PathBuf>,
    /// A JSON object a line for each case: failures by engine, and the traces of their packets
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub source: Source,
}

#[derive(Group)]
pub struct Profile {
    pub program: PathBuf,
    /// STF file: table entries, and packets, which are sent again and again in turn
    pub case: PathBuf,
    /// Seconds to measure; more give smaller errors
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=600))]
    pub seconds: u32,
    #[command(flatten)]
    pub source: Source,
}

#[derive(Clone, Copy, Default, ValueEnum)]
pub enum Backend {
    /// Native code
    #[default]
    Jit,
    /// The reference, about ten times slower
    Interpreter,
}

impl From<Backend> for BackendKind {
    fn from(backend: Backend) -> Self {
        match backend {
            Backend::Jit => Self::Jit,
            Backend::Interpreter => Self::Interpreter,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unix_socket_alone_is_written_with_unix_or_without() {
        for text in ["/run/admin", "unix:/run/admin"] {
            assert_eq!(unix_address(text), Ok(Address::Unix("/run/admin".into())));
        }
        assert!(unix_address("").is_err() && unix_address("unix:").is_err());
    }
}
