//! Which actions of a table read its direct meter.

use std::collections::BTreeSet;

use ir::{BlockId, Function, Inst, Operand, Program, TableId, Terminator};

/// The actions, by index in the table, after which nothing reads the table's direct meter before another lookup. None
/// if the program never looks the table up.
pub fn unmetered(program: &Program, table: TableId) -> BTreeSet<usize> {
    let count = program.tables[table].actions.len();
    let mut looked_up = false;
    let mut readers = BTreeSet::new();
    for (_, function) in program.functions.iter() {
        for (_, block) in function.blocks.iter() {
            for (index, inst) in block.insts.iter().enumerate() {
                let Inst::Lookup { table: of, action, .. } = inst else { continue };
                if *of != table {
                    continue;
                }
                looked_up = true;
                readers.extend(match (first(&block.insts[index + 1..], table), &block.end) {
                    (Some(First::Meter), _) => (0..count).collect(),
                    (Some(First::Lookup), _) => Vec::new(),
                    (None, Terminator::Switch { value, cases, default, .. }) if *value == Operand::Temp(*action) => {
                        let target = |index: &usize| {
                            let case = cases.iter().find(|(value, _)| *value == *index as u128);
                            case.map_or(*default, |(_, block)| *block)
                        };
                        (0..count).filter(|index| reads(function, vec![target(index)], table)).collect()
                    }
                    (None, end) => {
                        if reads(function, end.successors().collect(), table) {
                            (0..count).collect()
                        } else {
                            Vec::new()
                        }
                    }
                });
            }
        }
    }
    if looked_up { (0..count).filter(|index| !readers.contains(index)).collect() } else { BTreeSet::new() }
}

enum First {
    Meter,
    Lookup,
}

/// Which of the two comes first.
fn first(insts: &[Inst], table: TableId) -> Option<First> {
    insts.iter().find_map(|inst| match inst {
        Inst::DirectMeter { table: of, .. } if *of == table => Some(First::Meter),
        Inst::Lookup { .. } => Some(First::Lookup),
        _ => None,
    })
}

/// Whether the meter is read on some way from these blocks, before another lookup.
fn reads(function: &Function, mut next: Vec<BlockId>, table: TableId) -> bool {
    let mut seen = BTreeSet::new();
    while let Some(id) = next.pop() {
        if !seen.insert(ir::Handle::index(id)) {
            continue;
        }
        let block = &function.blocks[id];
        match first(&block.insts, table) {
            Some(First::Meter) => return true,
            Some(First::Lookup) => {}
            None => next.extend(block.end.successors()),
        }
    }
    false
}
