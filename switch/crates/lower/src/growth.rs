//! By how much a packet can grow on its way through the program: the headroom that it needs.

use std::collections::BTreeMap;
use std::ops::Range;

use ir::{Dest, FunctionId, Inst, Place, Program, storage_size};

/// A varbit field that the deparser emits.
struct Emitted {
    bytes: u32,
    times: u32,
}

/// The sum of all headers that the deparser can emit: no packet grows by more. Bytes of a varbit that nothing but an
/// extraction fills were taken off the packet before, so they count only as often as they are emitted once more.
pub fn growth(program: &Program, deparser: FunctionId) -> u32 {
    let mut sum = 0u32;
    let mut varbits: BTreeMap<u32, Emitted> = BTreeMap::new();
    for (_, block) in program.functions[deparser].blocks.iter() {
        for inst in &block.insts {
            let Inst::Emit { header, place } = inst else { continue };
            let header = &program.header_types[*header];
            sum = sum.saturating_add(header.fixed_bits().div_ceil(8));
            for field in header.fields.iter().filter(|field| field.varbit) {
                let bytes = field.width.div_ceil(8);
                if place.index.is_some() {
                    sum = sum.saturating_add(bytes);
                } else {
                    let at = place.offset + field.offset;
                    varbits.entry(at).or_insert(Emitted { bytes, times: 0 }).times += 1;
                }
            }
        }
    }
    let written: Vec<Range<u32>> = program
        .functions
        .iter()
        .flat_map(|(_, function)| function.blocks.iter())
        .flat_map(|(_, block)| &block.insts)
        .filter_map(|inst| written(program, inst))
        .collect();
    for (at, Emitted { bytes, times }) in varbits {
        let end = at + 4 + bytes;
        let filled = written.iter().any(|range| range.start < end && at < range.end);
        sum = sum.saturating_add(bytes.saturating_mul(if filled { times } else { times - 1 }));
    }
    sum
}

/// What an instruction writes of the frame, but for bytes that it takes off the packet, and for moves within a stack:
/// these multiply nothing.
fn written(program: &Program, inst: &Inst) -> Option<Range<u32>> {
    let range = |place: &Place, bytes: u32| {
        let span = place.index.map_or(0, |index| index.stride * index.count.saturating_sub(1));
        Some(place.offset..place.offset + span + bytes)
    };
    match inst {
        Inst::Store { place, width, .. } => range(place, storage_size(*width)),
        Inst::Copy { dst, bytes, .. } | Inst::CopyArg { dst, bytes, .. } => range(dst, *bytes),
        Inst::Extract { header, place, peek: true, .. } => range(place, program.header_types[*header].size),
        Inst::Wide { dst: Dest::Frame(place, width), .. }
        | Inst::Lookahead { dst: Dest::Frame(place, width), .. }
        | Inst::RegisterRead { dst: Dest::Frame(place, width), .. }
        | Inst::Hash { dst: Dest::Frame(place, width), .. }
        | Inst::Checksum { dst: Dest::Frame(place, width), .. }
        | Inst::Random { dst: Dest::Frame(place, width), .. } => range(place, storage_size(*width)),
        _ => None,
    }
}
