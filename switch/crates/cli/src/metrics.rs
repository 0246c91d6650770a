//! Counters in Prometheus' text form.

use std::fmt::Write;
use std::sync::Arc;

use axum::Router;
use axum::http::header::CONTENT_TYPE;
use axum::routing::get;
use listen::Listener;
use pipeline::DropReason;
use tracing::{info, warn};

use crate::forward::{Counters, Handle};

/// Answers `/metrics` until it is aborted.
pub async fn serve(listener: Listener, handle: Arc<Handle>) {
    info!("counters at /metrics of {}", listener.address());
    if let Err(error) = axum::serve(listener, router(handle)).await {
        warn!("counters are no longer served: {error}");
    }
}

/// What `/metrics` answers.
pub fn router(handle: Arc<Handle>) -> Router {
    let answer = move || {
        let text = render(&handle.counters());
        async move { ([(CONTENT_TYPE, "text/plain; version=0.0.4")], text) }
    };
    Router::new().route("/metrics", get(answer))
}

fn render(counters: &Counters) -> String {
    let mut text = String::new();
    let mut family = |name: &str, kind: &str, help: &str, samples: Vec<(String, u64)>| {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "# HELP wayname_switch_{name} {help}\n# TYPE wayname_switch_{name} {kind}");
        for (labels, value) in samples {
            let _ = writeln!(text, "wayname_switch_{name}{labels} {value}");
        }
    };
    let ports = &counters.stats.ports;
    let per_port = |value: fn(&pipeline::PortStats) -> u64| {
        ports.iter().map(|(port, stats)| (format!("{{port=\"{port}\"}}"), value(stats))).collect()
    };
    family("received_packets_total", "counter", "Packets received.", per_port(|port| port.received_packets));
    family("received_bytes_total", "counter", "Bytes received.", per_port(|port| port.received_bytes));
    family("sent_packets_total", "counter", "Packets sent.", per_port(|port| port.sent_packets));
    family("sent_bytes_total", "counter", "Bytes sent.", per_port(|port| port.sent_bytes));
    let label = |port: u32| format!("{{port=\"{port}\"}}");
    let depths = counters.ports.iter().map(|(port, depth, _)| (label(*port), *depth as u64)).collect();
    family("queue_packets", "gauge", "Packets waiting for the port.", depths);
    let links = counters.ports.iter().map(|(port, _, up)| (label(*port), u64::from(*up))).collect();
    family("port_up", "gauge", "Whether the link is up.", links);
    let reason = |name: &str| format!("{{reason=\"{name}\"}}");
    let dropped = DropReason::ALL.map(|why| (reason(why.name()), counters.stats.dropped(why)));
    let lost = [
        (reason("no_port"), counters.lost.no_port),
        (reason("port_refused"), counters.lost.refused + counters.lost.ports.refused),
        (reason("too_long"), counters.lost.ports.too_long),
        (reason("unknown_offload"), counters.lost.ports.offload),
        (reason("overrun"), counters.lost.ports.overrun),
        (reason("controller_slow"), counters.lost.uplink),
    ];
    family(
        "dropped_packets_total",
        "counter",
        "Packets that went no further.",
        dropped.into_iter().chain(lost).collect(),
    );
    let single = |value: u64| vec![(String::new(), value)];
    family("parser_errors_total", "counter", "Packets that the parser rejected.", single(counters.stats.parser_errors));
    family("clones_total", "counter", "Clones made.", single(counters.stats.clones));
    family("resubmitted_total", "counter", "Packets resubmitted.", single(counters.stats.resubmitted));
    family("recirculated_total", "counter", "Packets recirculated.", single(counters.stats.recirculated));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sample_has_a_type_and_a_value() {
        let mut counters = Counters { ports: vec![(1, 3, true)], ..Counters::default() };
        counters.stats.ports.insert(1, pipeline::PortStats { received_packets: 5, ..Default::default() });
        let text = render(&counters);
        assert!(text.contains("wayname_switch_received_packets_total{port=\"1\"} 5\n"));
        assert!(text.contains("wayname_switch_queue_packets{port=\"1\"} 3\n"));
        assert!(text.contains("wayname_switch_dropped_packets_total{reason=\"queue_full\"} 0\n"));
        assert!(text.lines().all(|line| line.starts_with('#') || line.starts_with("wayname_switch_")));
    }
}
