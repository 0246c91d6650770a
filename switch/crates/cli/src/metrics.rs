//! Counters in Prometheus' text form.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;

use axum::Router;
use axum::http::header::CONTENT_TYPE;
use axum::routing::get;
use listen::Listener;
use pipeline::{DropReason, FlowStats, PortStats};
use runtime::{BufferCounts, BufferState};
use service::{Hub, Refused};
use tracing::{info, warn};

use crate::handle::{Counters, Handle};

/// Answers `/metrics` until it is aborted.
pub async fn serve(listener: Listener, handle: Arc<Handle>, hub: Arc<Hub>) {
    info!("counters at /metrics of {}", listener.address());
    if let Err(error) = axum::serve(listener, router(handle, hub)).await {
        warn!("counters are no longer served: {error}");
    }
}

/// What `/metrics` answers.
pub fn router(handle: Arc<Handle>, hub: Arc<Hub>) -> Router {
    let answer = move || {
        let text = render(&handle.counters(), &hub.clients().refused(), hub.state_failures());
        async move { ([(CONTENT_TYPE, "text/plain; version=0.0.4")], text) }
    };
    Router::new().route("/metrics", get(answer))
}

type Count = fn(&ports::Lost) -> u64;

/// Why ports lose packets.
const BY_PORTS: [(&str, Count); 4] = [
    ("port_refused", |lost| lost.refused),
    ("too_long", |lost| lost.too_long),
    ("unknown_offload", |lost| lost.offload),
    ("overrun", |lost| lost.overrun),
];

fn render(counters: &Counters, refused: &[(Refused, u64)], state_failures: u64) -> String {
    let mut text = String::new();
    let mut family = |name: &str, kind: &str, help: &str, samples: Vec<(String, u64)>| {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "# HELP wayname_switch_{name} {help}\n# TYPE wayname_switch_{name} {kind}");
        for (labels, value) in samples {
            let _ = writeln!(text, "wayname_switch_{name}{labels} {value}");
        }
    };
    // A port that carried nothing yet counts from zero, and has its counters from the start: a rate needs where it began.
    let mut ports: BTreeMap<u32, PortStats> =
        counters.ports.iter().map(|(port, ..)| (*port, PortStats::default())).collect();
    ports.extend(counters.stats.ports.iter().map(|(port, stats)| (port, *stats)));
    let per_port = |value: fn(&PortStats) -> u64| {
        ports.iter().map(|(port, stats)| (format!("{{port=\"{port}\"}}"), value(stats))).collect()
    };
    family("received_packets_total", "counter", "Packets received.", per_port(|port| port.received_packets));
    family("received_bytes_total", "counter", "Bytes received.", per_port(|port| port.received_bytes));
    family("sent_packets_total", "counter", "Packets sent.", per_port(|port| port.sent_packets));
    family("sent_bytes_total", "counter", "Bytes sent.", per_port(|port| port.sent_bytes));
    let label = |port: u32| format!("{{port=\"{port}\"}}");
    let threads =
        counters.threads.iter().enumerate().map(|(thread, count)| (format!("{{thread=\"{thread}\"}}"), *count));
    family("thread_packets_total", "counter", "Packets that a thread of --threads ran.", threads.collect());
    let depths = counters.ports.iter().map(|(port, depth, _)| (label(*port), *depth as u64)).collect();
    family("queue_packets", "gauge", "Packets waiting for the port.", depths);
    let links = counters.ports.iter().map(|(port, _, up)| (label(*port), u64::from(*up))).collect();
    family("port_up", "gauge", "Whether the link is up.", links);
    let reason = |name: &str| format!("{{reason=\"{name}\"}}");
    let dropped = DropReason::ALL.map(|why| (reason(why.name()), counters.stats.dropped(why)));
    let lost = [
        (reason("no_port"), counters.lost.no_port),
        (reason("controller_slow"), counters.lost.uplink),
        (reason("kernel_memory"), counters.kernel.lost),
    ];
    let by_ports =
        BY_PORTS.map(|(name, lost)| (reason(name), counters.lost.ports.iter().map(|(_, all)| lost(all)).sum()));
    family(
        "dropped_packets_total",
        "counter",
        "Packets that went no further.",
        dropped.into_iter().chain(lost).chain(by_ports).collect(),
    );
    let of_port = |(port, all): &(u32, ports::Lost)| {
        let port = *port;
        BY_PORTS.map(|(name, lost)| (format!("{{port=\"{port}\",reason=\"{name}\"}}"), lost(all)))
    };
    let lost_by_port = counters.lost.ports.iter().flat_map(of_port).collect();
    family("lost_packets_total", "counter", "Packets that a port could not carry.", lost_by_port);
    let of_buffers = |value: fn(&BufferState) -> u64| {
        let buffers = counters.buffers.iter();
        buffers.map(|buffer| (format!("{{buffer={:?}}}", buffer.name), value(buffer))).collect()
    };
    family("buffer_packets", "gauge", "Copies in a packet buffer.", of_buffers(|buffer| buffer.packets));
    family("buffer_octets", "gauge", "Octets that they take.", of_buffers(|buffer| buffer.octets));
    let outcomes = |buffer: &BufferState| {
        let BufferCounts { kept, no_room, refused, released, sent, expired } = buffer.counts;
        let all = [
            ("kept", kept),
            ("no_room", no_room),
            ("refused", refused),
            ("released", released),
            ("sent", sent),
            ("expired", expired),
        ];
        all.map(|(name, count)| (format!("{{buffer={:?},outcome=\"{name}\"}}", buffer.name), count))
    };
    family(
        "buffer_copies_total",
        "counter",
        "Copies asked for of a packet buffer, by whether it kept them, and by what became of those.",
        counters.buffers.iter().flat_map(outcomes).collect(),
    );
    let single = |value: u64| vec![(String::new(), value)];
    let FlowStats { hits, misses, passed, learned, kept_out, forgotten, kept, backed_off } = counters.flows;
    let outcome = |name: &str| format!("{{outcome=\"{name}\"}}");
    family(
        "flow_cache_packets_total",
        "counter",
        "Packets by whether --flow-cache knew their way; those that passed were not looked up, since that finds too little.",
        vec![
            (outcome("hit"), hits),
            (outcome("kernel"), counters.kernel.hits),
            (outcome("miss"), misses),
            (outcome("passed"), passed),
        ],
    );
    family(
        "flow_cache_ways_total",
        "counter",
        "Ways that were learned, that can't be kept, and that were forgotten for a write.",
        vec![(outcome("learned"), learned), (outcome("kept_out"), kept_out), (outcome("forgotten"), forgotten)],
    );
    family("flow_cache_ways", "gauge", "Ways that are kept.", single(kept));
    family("flow_cache_kernel_ways", "gauge", "Those of them that are in the kernel.", single(counters.kernel.ways));
    family(
        "flow_cache_backed_off_threads",
        "gauge",
        "Threads that learn ways more rarely, since those learned last brought less than they cost.",
        single(backed_off),
    );
    family("parser_errors_total", "counter", "Packets that the parser rejected.", single(counters.stats.parser_errors));
    family("clones_total", "counter", "Clones made.", single(counters.stats.clones));
    family("resubmitted_total", "counter", "Packets resubmitted.", single(counters.stats.resubmitted));
    family("recirculated_total", "counter", "Packets recirculated.", single(counters.stats.recirculated));
    let help = "What --state could not keep, or not restore at the start.";
    family("state_failures_total", "counter", help, single(state_failures));
    let of_client = |(Refused { client, call, reason }, count): &(Refused, u64)| {
        // As Rust quotes a string, but for what no name in a certificate of ours has.
        (format!("{{client={client:?},call=\"{call}\",reason=\"{reason}\"}}"), *count)
    };
    family(
        "refused_calls_total",
        "counter",
        "Calls of P4Runtime that a client's certificate does not allow, or that came too often.",
        refused.iter().map(of_client).collect(),
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sample_has_a_type_and_a_value() {
        let mut counters =
            Counters { ports: vec![(1, 3, true), (2, 0, true)], threads: vec![4, 1], ..Counters::default() };
        counters.flows = FlowStats { hits: 8, forgotten: 9, kept: 10, backed_off: 2, ..FlowStats::default() };
        counters.stats.ports.of(1).received_packets = 5;
        counters.lost.ports = vec![
            (1, ports::Lost { too_long: 3, ..Default::default() }),
            (2, ports::Lost { too_long: 4, overrun: 1, ..Default::default() }),
        ];
        let refused = Refused { client: "ops.example.net".into(), call: "Write", reason: "operate" };
        let text = render(&counters, &[(refused, 4)], 7);
        assert!(text.contains("wayname_switch_dropped_packets_total{reason=\"too_long\"} 7\n"));
        assert!(text.contains("wayname_switch_lost_packets_total{port=\"2\",reason=\"too_long\"} 4\n"));
        assert!(text.contains("wayname_switch_lost_packets_total{port=\"2\",reason=\"overrun\"} 1\n"));
        assert!(text.contains("wayname_switch_received_packets_total{port=\"1\"} 5\n"));
        assert!(text.contains("wayname_switch_sent_packets_total{port=\"2\"} 0\n"));
        assert!(text.contains("wayname_switch_thread_packets_total{thread=\"1\"} 1\n"));
        assert!(text.contains("wayname_switch_queue_packets{port=\"1\"} 3\n"));
        assert!(text.contains("wayname_switch_dropped_packets_total{reason=\"queue_full\"} 0\n"));
        assert!(text.contains("wayname_switch_state_failures_total 7\n"));
        assert!(text.contains("wayname_switch_flow_cache_packets_total{outcome=\"hit\"} 8\n"));
        assert!(text.contains("wayname_switch_flow_cache_ways_total{outcome=\"forgotten\"} 9\n"));
        assert!(text.contains("wayname_switch_flow_cache_ways 10\n"));
        assert!(text.contains("wayname_switch_flow_cache_backed_off_threads 2\n"));
        let refused =
            "wayname_switch_refused_calls_total{client=\"ops.example.net\",call=\"Write\",reason=\"operate\"} 4\n";
        assert!(text.contains(refused));
        assert!(text.lines().all(|line| line.starts_with('#') || line.starts_with("wayname_switch_")));
    }
}
