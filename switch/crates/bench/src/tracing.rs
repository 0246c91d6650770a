//! What traces cost the packets that are not traced, and those that are.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Result, anyhow};
use bench::measure::{Contestant, Rates};
use pipeline::{BackendKind, Engine, Traffic};
use runtime::Recorder;
use trace::{Filter, Request, Watches};

use crate::edge;
use crate::forwarding::{BURST, Drawn, Last};

/// The edge program without a way to trace, with nobody who watches, with a filter that no packet passes, and with all
/// packets traced.
pub fn measure(p4src: &Path, drawn: &mut Drawn<'_>, rates: &mut Rates) -> Result<()> {
    let packets = drawn.packets;
    let load = || edge::load(p4src, BackendKind::Jit, drawn.routes);
    let programs = [load()?, load()?, load()?, load()?];
    let mut traffic: [Traffic; 4] = Default::default();
    let mut engines = programs.iter().zip(&mut traffic).map(|(loaded, traffic)| Engine::new(loaded, traffic, 1));
    let mut next = || engines.next().ok_or_else(|| anyhow!("an engine for each"));
    let (mut plain, mut unwatched, mut filtered, mut traced) = (next()?, next()?, next()?, next()?);
    let (nobody, somebody) = (Arc::new(Watches::default()), Arc::new(Watches::default()));
    let filter: Filter = "udp and dst port 1".parse().map_err(anyhow::Error::msg)?;
    let _watch = somebody.watch(Request::new(filter, 1, 1).map_err(anyhow::Error::msg)?).map_err(anyhow::Error::msg)?;
    let contestants = vec![
        Contestant::new("no traces", work(packets, move |_, packet, last| plain.receive(0, packet, 0, last))),
        Contestant::new("unwatched", watched(&nobody, &mut unwatched, packets)),
        Contestant::new("filtered", watched(&somebody, &mut filtered, packets)),
        Contestant::new(
            "traced",
            work(packets, move |_, packet, last| {
                traced.trace_next(Recorder::new(|_, _| {}));
                traced.receive(0, packet, 0, last);
            }),
        ),
    ];
    rates.take_turns(drawn.effort, &mut drawn.numbers, contestants);
    Ok(())
}

/// As the switch's own loop asks for watches.
fn watched<'a>(watches: &'a Watches, engine: &'a mut Engine<'_>, packets: &'a [Vec<u8>]) -> impl FnMut() -> u64 + 'a {
    let mut any = false;
    work(packets, move |first, packet, last| {
        if first {
            any = watches.any();
        }
        if any && let Some(recorder) = watches.choose(0, packet, 0) {
            engine.trace_next(recorder);
        }
        engine.receive(0, packet, 0, last);
    })
}

/// Does something to all packets, and says which is the first of its burst.
fn work<'a>(packets: &'a [Vec<u8>], mut each: impl FnMut(bool, &[u8], &mut Last) + 'a) -> impl FnMut() -> u64 + 'a {
    move || {
        let mut last = Last::default();
        for burst in packets.chunks(BURST) {
            for (index, packet) in burst.iter().enumerate() {
                each(index == 0, packet, &mut last);
            }
        }
        packets.len() as u64
    }
}
