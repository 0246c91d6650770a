//! Packets of a switch that runs.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, anyhow, bail};
use listen::Address;
use proto::trace::packet_traces_client::PacketTracesClient;
use proto::trace::{Form, WatchRequest, WatchResponse};
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint, Identity};
use tonic::{Code, Status};
use trace::Filter;

use super::output::Output;
use crate::args::Trace;

/// A long trace is longer than the four megabytes that gRPC takes by itself.
const MOST_MESSAGE: usize = 64 << 20;

pub fn trace(args: &Trace, target: &Address) -> Result<ExitCode> {
    let filter: Filter = args.words.join(" ").parse().map_err(anyhow::Error::msg)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(watch(args, target, &filter))?;
    Ok(ExitCode::SUCCESS)
}

async fn watch(args: &Trace, target: &Address, filter: &Filter) -> Result<()> {
    let channel = connect(args, target).await?;
    let mut client = PacketTracesClient::new(channel).max_decoding_message_size(MOST_MESSAGE);
    let request = WatchRequest {
        filter: filter.to_string(),
        one_in: args.one_in,
        packets_per_second: args.rate,
        form: Form::Json.into(),
    };
    let said = |status: Status| match status.code() {
        Code::Unimplemented => anyhow!("{target} traces no packets: it is no wayname-switch, or an older one"),
        _ => anyhow!("{target}: {}", status.message()),
    };
    let mut answers = client.watch(request).await.map_err(said)?.into_inner();
    let mut output = Output::new(args);
    while let Some(answer) = answers.message().await.map_err(said)? {
        tell_missed(&answer);
        if answer.trace.is_empty() {
            let which = if args.words.is_empty() { "all packets".to_owned() } else { filter.to_string() };
            eprintln!("wayname-switch: watching {target}: {which}; Ctrl-C ends");
            continue;
        }
        output.show(&serde_json::from_str(&answer.trace).context("a trace that is not understood")?)?;
        if args.count == Some(output.shown) {
            return Ok(());
        }
    }
    bail!("{target} ended the trace")
}

/// Says how many packets were not traced though the filter chose them.
fn tell_missed(answer: &WatchResponse) {
    for (missed, why) in [(answer.over_rate, "over --rate"), (answer.no_room, "for want of room")] {
        if missed > 0 {
            eprintln!("wayname-switch: {missed} packets before this one were not traced, {why}");
        }
    }
}

async fn connect(args: &Trace, target: &Address) -> Result<Channel> {
    let uri = match (target, &args.cacert) {
        (Address::Unix(path), _) => format!("unix:{}", path.display()),
        (Address::Tcp(address), None) => format!("http://{address}"),
        (Address::Tcp(address), Some(_)) => format!("https://{address}"),
    };
    let mut endpoint = Endpoint::from_shared(uri)?;
    if let Some(ca) = &args.cacert {
        let mut tls = ClientTlsConfig::new().ca_certificate(Certificate::from_pem(read(ca)?));
        if let (Some(certificate), Some(key)) = (&args.cert, &args.key) {
            tls = tls.identity(Identity::from_pem(read(certificate)?, read(key)?));
        }
        endpoint = endpoint.tls_config(tls)?;
    }
    // Each layer below says the same once more.
    let why = |error| anyhow!("{target}: no switch answers there: {}", anyhow::Error::from(error).root_cause());
    endpoint.connect().await.map_err(why)
}

fn read(path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path).with_context(|| path.display().to_string())
}
