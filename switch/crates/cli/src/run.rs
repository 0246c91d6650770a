//! Runs the switch until a signal ends it.

use std::collections::BTreeSet;
use std::io::IsTerminal;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use control::Checks;
use listen::{Address, Limits, Listener};
use pipeline::{Shape, Switch, Traffic};
use ports::PortSpec;
use proto::p4::v1::ForwardingPipelineConfig;
use runtime::{Random, Seed};
use service::{Clients, Hub, StateFile, Tls};
use trace::Watches;
use tracing::{info, warn};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::admin;
use crate::args::Run;
use crate::carriers::Carriers;
use crate::check::program_text;
use crate::clock::Clock;
use crate::forward::{Common, Forwarder};
use crate::handle::Handle;
use crate::handoff::{Inbox, inboxes};
use crate::metrics;
use crate::outputs::{OpenPort, Outputs, Uplink};
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
    check_who_is_let_in(&args)?;
    let descriptors = listen::raise_limit()?;
    let limits = service::limits(descriptors, args.grpc_server_ssl);
    let listener = Listener::bind(&args.grpc_server_addr, "--grpc-server-addr", limits).await?;
    let asked = |address: Option<Address>, flag| async move {
        match address {
            Some(address) => Listener::bind(&address, flag, http_limits(descriptors)).await.map(Some),
            None => Ok(None),
        }
    };
    let metrics_listener = asked(args.metrics_addr.clone(), "--metrics-addr").await?;
    let admin_listener = asked(args.admin.clone().map(Address::Unix), "--admin").await?;
    let tls = read_tls(&args)?;
    let clients = Clients::new(args.grpc_server_client.clone());
    let clients = Arc::new(clients.map_err(|error| anyhow::anyhow!("--grpc-server-client: {error}"))?);
    let config = args.program.as_deref().map(|program| device_config(program, &args)).transpose()?;

    let mut random = Random::new(seed(args.seed)?);
    let (inboxes, handed): (Vec<_>, Vec<_>) = inboxes(args.threads)?.into_iter().unzip();
    let mut ports = open_ports(&args, &mut random, &inboxes)?;
    let carriers = Carriers::of(&mut ports[0])?;
    let shown = carriers.shown();
    let (handle, packets) = Handle::new(&ports[0], inboxes.iter().map(|inbox| inbox.wake.clone()));
    let state = args.state.as_deref().map(|path| StateFile::open(path, args.device_id)).transpose();
    let state = state.map_err(|error| anyhow::anyhow!("--state {error}"))?;
    let clock = Clock::start(state.as_ref().and_then(|(_, state)| state.epoch));
    let switch = Arc::new(Switch::default());
    let (uplink, messages) = sync_channel(UPLINK);
    let watches = Arc::new(Watches::default());
    let own = [args.cpu_port, pipeline::PSA_PORT_CPU, pipeline::PSA_PORT_RECIRCULATE];
    let target = Target {
        switch: switch.clone(),
        handle: handle.clone(),
        clock,
        checks: Checks { restrictions: args.check_restrictions, references: args.check_references },
        backend: args.backend.into(),
        ports: Arc::new(args.interface.iter().map(|spec| spec.port).chain(own).collect()),
        threads: args.threads,
        watches: watches.clone(),
    };
    let hub = Hub::new(args.device_id, Arc::new(target), clients);
    let restored = state.is_some_and(|(file, state)| hub.restore(file, state));
    if let Some(config) = config.filter(|_| !restored) {
        hub.start_with(config).map_err(|status| anyhow::anyhow!("{}", status.message))?;
    }
    let cpu_port = args.cpu_port;
    let common = Common { switch: switch.clone(), watches, clock, cpu_port, handle: handle.clone(), inboxes };
    let mut packets = Some(packets);
    let mut threads = vec![];
    for (seat, (ports, handed)) in ports.into_iter().zip(handed).enumerate() {
        let outputs = Outputs::new(ports, cpu_port, uplink.clone());
        let (common, traffic) = (common.clone(), traffic(&args.interface));
        let forwarder = Forwarder::new(common, seat, outputs, traffic, random.fork(), packets.take(), handed);
        let name = if seat == 0 { "forward".into() } else { format!("forward-{seat}") };
        threads.push(std::thread::Builder::new().name(name).spawn(move || forwarder.run())?);
    }
    // Those who hold it end with the threads, and the messages with them.
    drop(uplink);
    threads.push(follow_tables(switch, handle.clone())?);
    threads.push(spawn_uplink(hub.clone(), messages)?);
    threads.push(carriers.watch(handle.clone())?);
    let metrics = metrics_listener.map(|listener| tokio::spawn(metrics::serve(listener, handle.clone(), hub.clone())));
    let admin = admin_listener.map(|listener| tokio::spawn(admin::serve(listener, handle.clone(), hub.clone(), shown)));
    // The listeners are open: who connects from now on is answered.
    let watchdog = ServiceManager::of_this_process()?.and_then(|manager| {
        manager.tell("READY=1");
        watchdog_period().map(|period| tokio::spawn(manager.keep_alive(handle.clone(), period)))
    });

    let served = service::serve(hub, listener, tls, stop::asked()?).await;
    for server in [metrics, admin, watchdog].into_iter().flatten() {
        server.abort();
        // It is gone only now, and its socket's file with it; that it was aborted is no news.
        let _ = server.await;
    }
    stop_forwarding(&handle, threads)?;
    served.context("P4Runtime")
}

/// Ends the forwarding threads, and with them those that compile for them, read their messages and watch carriers.
fn stop_forwarding(handle: &Handle, threads: Vec<std::thread::JoinHandle<()>>) -> Result<()> {
    handle.stop();
    for thread in threads {
        if thread.join().is_err() {
            bail!("a thread of the switch failed; the log says where");
        }
    }
    Ok(())
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

/// Counters and administration: who asks, asks at once.
fn http_limits(descriptors: u64) -> Limits {
    let most = usize::try_from(descriptors / 16).map_or(16, |most| most.min(16));
    Limits { most, most_of_one: most.div_ceil(2), idle: Duration::from_secs(10), arrivals: None }
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
        let mut shape = Shape { bits_per_second: spec.rate, ..Shape::default() };
        shape.packets = spec.queue.unwrap_or(shape.packets);
        traffic.set_shape(spec.port, shape);
    }
    traffic
}

/// By thread, its ends of all ports.
fn open_ports(args: &Run, random: &mut Random, inboxes: &[Inbox]) -> Result<Vec<Vec<OpenPort>>> {
    let mut numbers = BTreeSet::new();
    let mut ports: Vec<Vec<OpenPort>> = inboxes.iter().map(|_| vec![]).collect();
    for (index, spec) in args.interface.iter().enumerate() {
        if !numbers.insert(spec.port) {
            bail!("port {} is given twice; each number stands for one device", spec.port);
        }
        if args.cpu_port == spec.port {
            bail!("port {} is the CPU port (--cpu-port) and a device too; give one another number", spec.port);
        }
        if spec.rate.is_some() && inboxes.len() > 1 {
            bail!("port {} has a rate, which one queue of one thread keeps: leave out rate= or --threads", spec.port);
        }
        let ends = OpenPort::open(spec, index, args.pcap.as_deref(), random.next(), inboxes)?;
        ports.iter_mut().zip(ends).for_each(|(ports, end)| ports.push(end));
        info!(port = spec.port, "is {}", spec.device);
    }
    let mut wrong = args
        .interface
        .iter()
        .filter_map(|spec| Some((spec, spec.carrier().iter().find(|port| !numbers.contains(port))?)));
    if let Some((spec, missing)) = wrong.next() {
        bail!("port {}: carrier={missing} names a port that is not there", spec.port);
    }
    Ok(ports)
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

fn start_logging(args: &Run) -> Result<()> {
    // Cranelift tells every function it makes; who wants to read that names it in --log-level.
    let levels = format!("cranelift_jit=warn,cranelift_codegen=warn,{}", args.log_level);
    let filter = EnvFilter::try_new(levels).with_context(|| format!("--log-level {}", args.log_level))?;
    let console = args.log_console;
    let writer = move || -> Box<dyn std::io::Write> {
        if console { Box::new(std::io::stdout()) } else { Box::new(std::io::stderr()) }
    };
    let is_terminal = if console { std::io::stdout().is_terminal() } else { std::io::stderr().is_terminal() };
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(writer).with_ansi(is_terminal);
    if args.log_json {
        builder.json().finish().with(Seldom::default()).init()
    } else {
        builder.finish().with(Seldom::default()).init()
    }
    Ok(())
}
