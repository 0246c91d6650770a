//! Runs the switch until a signal ends it.

use std::io::IsTerminal;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};

use anyhow::{Context, Result, anyhow, bail};
use control::Checks;
use pipeline::{Switch, Traffic};
use ports::PortSpec;
use proto::p4::v1::ForwardingPipelineConfig;
use runtime::{Random, Seed};
use service::{Clients, Hub, StateFile, Tls};
use tokio::signal::unix::{SignalKind, signal};
use trace::Watches;
use tracing::warn;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{fmt, registry};

use crate::admin::{self, Links};
use crate::args::Run;
use crate::carriers::Carriers;
use crate::check::program_text;
use crate::clock::Clock;
use crate::forward::{Common, Forwarder};
use crate::handle::Handle;
use crate::handoff::inboxes;
use crate::hot_restart::{Predecessor, Restarts};
use crate::kernel_flows::{keep_kernel_flows, open_kernel};
use crate::listeners::Listeners;
use crate::metrics;
use crate::open_ports::{self, Cuts};
use crate::outputs::{Outputs, Uplink, shape};
use crate::seldom::Seldom;
use crate::service_manager::{ServiceManager, watchdog_period};
use crate::specialise::follow_tables;
use crate::stop;
use crate::target::Target;

/// Messages of the program that may wait for the service.
const UPLINK: usize = 4096;

pub fn run(args: Run) -> Result<ExitCode> {
    start_logging(&args)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let served = runtime.block_on(serve(args));
    // A call that goes on where nobody waits for it, as a compilation, must not hold up the end.
    runtime.shutdown_background();
    served?;
    Ok(ExitCode::SUCCESS)
}

async fn serve(args: Run) -> Result<()> {
    // Before anybody can know this process: one that does not listen to it ends.
    let restart = signal(SignalKind::hangup())?;
    check_who_is_let_in(&args)?;
    let mut predecessor = Predecessor::of_this_process()?;
    let listeners = Listeners::open(&args, &mut predecessor).await?;
    let tls = read_tls(&args)?;
    let clients = Clients::new(args.grpc_server_client.clone());
    let clients = Arc::new(clients.map_err(|error| anyhow!("--grpc-server-client: {error}"))?);
    let config = args.program.as_deref().map(|program| device_config(program, &args)).transpose()?;

    let mut random = Random::new(seed(args.seed)?);
    let (inboxes, handed): (Vec<_>, Vec<_>) = inboxes(args.threads)?.into_iter().unzip();
    open_ports::check(&args)?;
    let cuts: Cuts = args.interface.iter().map(|spec| (spec.port, Arc::default())).collect();
    let (handle, downlink) = Handle::new(cuts.clone(), inboxes.iter().map(|inbox| inbox.wake.clone()));
    // What comes to them waits there until the tables are back. Those of a running switch follow later.
    let mut ports = match &predecessor {
        None => open_ports::open(&args, &inboxes, &cuts, &mut random)?,
        Some(_) => vec![],
    };
    let state = args.state.as_deref().filter(|_| predecessor.is_none());
    let state = state.map(|path| StateFile::open(path, args.device_id)).transpose().map_err(state_error)?;
    let clock = match &predecessor {
        Some(predecessor) => predecessor.clock(),
        None => Clock::start(state.as_ref().and_then(|(_, state)| state.epoch)),
    };
    let switch = Arc::new(Switch::default());
    let (uplink, messages) = sync_channel(UPLINK);
    let watches = Arc::new(Watches::default());
    let own_ports = [args.cpu_port, pipeline::PSA_PORT_CPU, pipeline::PSA_PORT_RECIRCULATE];
    let target = Target {
        switch: switch.clone(),
        handle: handle.clone(),
        clock,
        checks: Checks { restrictions: args.check_restrictions, references: args.check_references },
        backend: args.backend.into(),
        ports: (!args.allow_absent_ports)
            .then(|| Arc::new(args.interface.iter().map(|spec| spec.port).chain(own_ports).collect())),
        threads: args.threads,
        watches: watches.clone(),
    };
    let hub = Hub::new(args.device_id, Arc::new(target), clients);
    let restored = match &mut predecessor {
        Some(predecessor) => hub.take_over(predecessor.state()).map_err(anyhow::Error::msg)?,
        None => state.is_some_and(|(file, state)| hub.restore(file, state)),
    };
    if let Some(config) = config.filter(|_| !restored) {
        hub.start_with(config).map_err(|status| wrong_program(args.program.as_deref(), &status.message))?;
    }
    let mut kept = None;
    if let Some(predecessor) = &mut predecessor {
        kept = args.state.as_deref().map(StateFile::take_over).transpose().map_err(state_error)?;
        predecessor.ready()?;
        ports = open_ports::take_over(&args, &inboxes, &cuts, predecessor)?;
        let cells = predecessor.cells()?;
        if !switch.loaded().is_none_or(|loaded| loaded.device.carry_on(&cells)) {
            warn!("registers and counters of the switch before are not those of this program, and begin anew");
        }
    }
    if let Some(kernel) = open_kernel(&args, &ports)? {
        handle.set_kernel(kernel);
    }
    let carriers = Carriers::of(&mut ports[0])?;
    let shown = carriers.shown();
    let cpu_port = args.cpu_port;
    let common = Common {
        switch: switch.clone(),
        watches: watches.clone(),
        clock,
        cpu_port,
        flow_cache: args.flow_cache,
        busy_poll: u64::from(args.busy_poll) * 1000,
        handle: handle.clone(),
        inboxes,
    };
    let mut downlink = Some(downlink);
    let mut forwarders = vec![];
    for (seat, (ports, handed)) in ports.into_iter().zip(handed).enumerate() {
        let outputs = Outputs::new(ports, cpu_port, uplink.clone());
        let (common, traffic) = (common.clone(), traffic(&args.interface));
        let forwarder = Forwarder::new(common, seat, outputs, traffic, random.fork(), downlink.take(), handed);
        let name = if seat == 0 { "forward".into() } else { format!("forward-{seat}") };
        forwarders.push(std::thread::Builder::new().name(name).spawn(move || forwarder.run())?);
    }
    let is_next = predecessor.is_some();
    if let Some(predecessor) = predecessor {
        predecessor.taken()?;
    }
    if let Some(file) = kept {
        hub.keep_state(file);
    }
    // Those who hold it end with the threads, and the messages with them.
    drop(uplink);
    let mut threads = vec![
        follow_tables(switch.clone(), handle.clone())?,
        spawn_uplink(hub.clone(), messages)?,
        carriers.watch(handle.clone())?,
    ];
    if let Some(kernel) = handle.kernel() {
        threads.push(keep_kernel_flows(kernel.clone(), switch.clone(), handle.clone(), watches, clock)?);
    }
    let restarts = Restarts::new(restart, hub.clone(), clock, listeners.by_flag(), no_hot_restart(&args))?;
    let Listeners { grpc, metrics, admin } = listeners;
    let metrics = metrics.map(|listener| tokio::spawn(metrics::serve(listener, handle.clone(), hub.clone())));
    let links = Links { handle: handle.clone(), ports: args.interface.clone(), threads: args.threads };
    let admin = admin.map(|listener| tokio::spawn(admin::serve(listener, links, hub.clone(), shown)));
    // The listeners are open: who connects from now on is answered.
    let watchdog = ServiceManager::of_this_process()?.and_then(|manager| {
        // The one before says so of the next.
        if !is_next {
            manager.tell("READY=1");
        }
        watchdog_period().map(|period| tokio::spawn(manager.keep_alive(handle.clone(), period)))
    });

    let (decide, mut decided) = tokio::sync::oneshot::channel();
    let asked = stop::asked()?;
    let stop = async move {
        tokio::select! {
            () = asked => {}
            successor = restarts.ready() => {
                successor.leave_sockets();
                // The end of this function waits for it.
                let _ = decide.send(successor);
            }
        }
    };
    let served = service::serve(hub, grpc, tls, stop).await;
    for server in [metrics, admin, watchdog].into_iter().flatten() {
        server.abort();
        // It is gone only now, and its socket's file with it; that it was aborted is no news.
        let _ = server.await;
    }
    // What it forwarded goes through the threads until they end.
    if let Some(kernel) = handle.kernel() {
        kernel.close(clock.now());
    }
    // With the forwarding threads those end that compile for them, read their messages and watch carriers.
    handle.stop();
    let ports = forwarders.into_iter().map(join).collect::<Result<Vec<_>>>()?;
    if let Ok(successor) = decided.try_recv() {
        let cells = switch.loaded().map(|loaded| loaded.device.carried()).unwrap_or_default();
        // The process ends: it waits for no other thread.
        return successor.hand_over(ports, &cells);
    }
    threads.into_iter().try_for_each(join)?;
    served.with_context(|| match (&args.grpc_server_cert, &args.grpc_server_key) {
        (Some(certificate), Some(key)) => {
            format!("P4Runtime with {}, {}", certificate.display(), key.display())
        }
        _ => "P4Runtime".to_owned(),
    })
}

/// Why no other process can take this switch over, if so.
fn no_hot_restart(args: &Run) -> Option<String> {
    if args.pcap.is_some() {
        return Some("--pcap: capture files begin anew".into());
    }
    let stays = args.interface.iter().find_map(|spec| Some((spec, spec.stays()?)));
    if let Some((spec, why)) = stays {
        return Some(format!("port {} is {}: {why}", spec.port, spec.device));
    }
    (std::process::id() == 1).then(|| "all processes here end with this one (process 1)".into())
}

fn join<T>(thread: std::thread::JoinHandle<T>) -> Result<T> {
    thread.join().map_err(|_| anyhow!("a thread of the switch failed; the log says where"))
}

fn state_error(error: String) -> anyhow::Error {
    anyhow!("--state {error}")
}

/// Digests and packets go to the service on a thread of their own, so that forwarding never waits for it.
fn spawn_uplink(hub: Arc<Hub>, messages: Receiver<Uplink>) -> Result<std::thread::JoinHandle<()>> {
    let tell = move || {
        for message in messages {
            match message {
                Uplink::PacketIn(packet) => hub.packet_in(&packet),
                Uplink::Digest { digest, values } => hub.digest(digest, &values),
            }
        }
    };
    Ok(std::thread::Builder::new().name("uplink".into()).spawn(tell)?)
}

/// Whoever reaches the service can become primary, and then owns the switch.
fn check_who_is_let_in(args: &Run) -> Result<()> {
    let address = &args.grpc_server_addr;
    if address.is_local() || args.grpc_server_with_client_auth {
        return Ok(());
    }
    bail!(
        "--grpc-server-addr {address} is reached from other machines, and who reaches it can take the switch over: let \
         in known controllers only, with --grpc-server-ssl --grpc-server-with-client-auth --grpc-server-cacert, or \
         listen at 127.0.0.1:PORT or unix:PATH"
    )
}

/// Where random numbers begin; said if they can be known.
fn seed(number: Option<u64>) -> Result<Seed> {
    let Some(number) = number else { return Seed::from_system().context("random numbers of the operating system") };
    warn!("random numbers begin with --seed {number}: nothing secret may come of them; for tests and labs only");
    Ok(number.into())
}

/// The queues of a forwarding thread.
fn traffic(ports: &[PortSpec]) -> Traffic {
    let mut traffic = Traffic::default();
    for spec in ports {
        traffic.set_shape(spec.port, shape(spec));
    }
    traffic
}

fn device_config(program: &Path, args: &Run) -> Result<ForwardingPipelineConfig> {
    // p4c's JSON stands alone; the text of a program takes what it includes with it.
    let is_json = program.extension().is_some_and(|extension| extension == "json");
    let text = if is_json {
        std::fs::read_to_string(program).with_context(|| program.display().to_string())?
    } else {
        program_text(program, &args.source)?
    };
    Ok(ForwardingPipelineConfig { p4_device_config: text.into_bytes(), ..ForwardingPipelineConfig::default() })
}

/// What is wrong with a program, with its file's name where the message has none.
fn wrong_program(program: Option<&Path>, message: &str) -> anyhow::Error {
    let name = program.map(|program| program.display().to_string()).unwrap_or_default();
    if message.contains(&name) { anyhow!("{message}") } else { anyhow!("{name}: {message}") }
}

fn read_tls(args: &Run) -> Result<Option<Tls>> {
    if !args.grpc_server_ssl {
        return Ok(None);
    }
    let read = |path: &Option<std::path::PathBuf>, flag: &str| {
        let path = path.as_ref().with_context(|| format!("--grpc-server-ssl needs {flag}"))?;
        std::fs::read(path).with_context(|| path.display().to_string())
    };
    Ok(Some(Tls {
        certificate: read(&args.grpc_server_cert, "--grpc-server-cert")?,
        key: read(&args.grpc_server_key, "--grpc-server-key")?,
        client_ca: if args.grpc_server_with_client_auth {
            Some(read(&args.grpc_server_cacert, "--grpc-server-cacert")?)
        } else {
            None
        },
    }))
}

/// What is logged. Below warnings, dependencies tell every frame of HTTP and every function of native code, which hides
/// what the switch does; whoever wants to read that names the dependency.
fn log_filter(log_level: &str) -> Result<Targets> {
    const DEPENDENCIES: [&str; 7] = ["cranelift", "h2", "hyper", "regalloc2", "rustls", "tonic", "tower"];
    let parse = |levels: &str| levels.parse::<Targets>().with_context(|| format!("--log-level {log_level}"));
    let quiet = parse(log_level)?.default_level().unwrap_or(LevelFilter::OFF).min(LevelFilter::WARN);
    // The last level of a name counts.
    let levels: Vec<_> = DEPENDENCIES.iter().map(|name| format!("{name}={quiet}")).collect();
    parse(&format!("{},{log_level}", levels.join(",")))
}

fn start_logging(args: &Run) -> Result<()> {
    let filter = log_filter(&args.log_level)?;
    let console = args.log_console;
    let writer = move || -> Box<dyn std::io::Write> {
        if console { Box::new(std::io::stdout()) } else { Box::new(std::io::stderr()) }
    };
    let is_terminal = if console { std::io::stdout().is_terminal() } else { std::io::stderr().is_terminal() };
    let lines = fmt::layer().with_writer(writer).with_ansi(is_terminal);
    // The last one is asked first.
    if args.log_json {
        registry().with(lines.json()).with(filter).with(Seldom::default()).init()
    } else {
        registry().with(lines).with(filter).with(Seldom::default()).init()
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use tracing::Level;

    use super::log_filter;

    #[test]
    fn dependencies_are_silent_unless_they_are_named() {
        let filter = log_filter("trace").unwrap();
        assert!(filter.would_enable("service::rpc", &Level::TRACE) && filter.would_enable("h2::server", &Level::WARN));
        for target in ["h2::codec::framed_read", "cranelift_codegen::timing", "hyper::proto", "tonic::transport"] {
            assert!(!filter.would_enable(target, &Level::DEBUG), "{target}");
        }
        assert!(log_filter("info,h2=trace").unwrap().would_enable("h2::server", &Level::TRACE));
        assert!(!log_filter("error").unwrap().would_enable("h2::server", &Level::WARN));
        assert!(!log_filter("audit=debug").unwrap().would_enable("h2::server", &Level::ERROR));
    }
}
