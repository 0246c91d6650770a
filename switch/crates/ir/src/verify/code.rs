//! Rules of a function's shape: blocks, single assignment, dominance, lookups before what needs them.

use super::VerifyError;
use super::inst::Checker;
use crate::flow::Flow;
use crate::text::Names;
use crate::*;

pub fn verify(program: &Program, names: &Names<'_>, function: &Function, errors: &mut Vec<VerifyError>) {
    let mut checker = Checker { program, names, function, errors, at: None };
    for (i, width) in function.temps.iter().enumerate() {
        checker.require((1..=128).contains(width), || format!("%{i} has {width} bits, not 1 to 128"));
    }
    checker.require(!function.blocks.is_empty(), || "it has no block".to_owned());
    let defs = definitions(&mut checker);
    let flow = Flow::new(function);
    let looked = last_lookups(program, function, &flow);
    for (id, block) in function.blocks.iter() {
        let mut looked = looked[id.index()];
        for (i, inst) in block.insts.iter().enumerate() {
            checker.at = Some((id, i));
            let mut used = Vec::new();
            inst.uses(|temp| used.push(temp));
            check_uses(&mut checker, &flow, &defs, &used);
            checker.inst(inst);
            check_lookup(&mut checker, looked, inst);
            if let Inst::Lookup { table, .. } = inst {
                looked = Looked::Table(*table);
            }
        }
        checker.at = Some((id, block.insts.len()));
        let mut used = Vec::new();
        block.end.uses(|temp| used.push(temp));
        check_uses(&mut checker, &flow, &defs, &used);
        checker.terminator(&block.end);
    }
}

/// Where each temp is assigned; reports those assigned twice.
fn definitions(checker: &mut Checker<'_>) -> Vec<Option<(BlockId, usize)>> {
    let function = checker.function;
    let mut defs = vec![None; function.temps.len()];
    for (id, block) in function.blocks.iter() {
        for (i, inst) in block.insts.iter().enumerate() {
            checker.at = Some((id, i));
            inst.defs(|temp| {
                if let Some(def) = defs.get_mut(temp.index()) {
                    let first = def.get_or_insert((id, i));
                    checker.require(*first == (id, i), || format!("%{} is assigned a second time", temp.index()));
                }
            });
        }
    }
    checker.at = None;
    defs
}

fn check_uses(checker: &mut Checker<'_>, flow: &Flow, defs: &[Option<(BlockId, usize)>], used: &[Temp]) {
    let Some((block, at)) = checker.at else { return };
    for temp in used {
        let number = temp.index();
        match defs.get(number) {
            // Reported where widths are checked.
            None => {}
            Some(None) => checker.require(false, || format!("%{number} is used but never assigned")),
            Some(Some((def_block, def_at))) => {
                let before = if *def_block == block { *def_at < at } else { flow.dominates(*def_block, block) };
                let holds = before || !flow.is_reachable(block);
                checker.require(holds, || format!("%{number} may be used before it is assigned"));
            }
        }
    }
}

/// What is known about the last lookup at some point.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Looked {
    /// The point is not reached (yet).
    Unreached,
    /// On some path there is none.
    Never,
    /// It is in this table on every path.
    Table(TableId),
    /// There is one, in different tables.
    Mixed,
}

impl Looked {
    fn join(self, other: Self) -> Self {
        match (self, other) {
            (Looked::Unreached, known) | (known, Looked::Unreached) => known,
            (Looked::Never, _) | (_, Looked::Never) => Looked::Never,
            (a, b) if a == b => a,
            _ => Looked::Mixed,
        }
    }
}

/// The state at the start of each block.
fn last_lookups(program: &Program, function: &Function, flow: &Flow) -> Vec<Looked> {
    let mut start = vec![Looked::Unreached; function.blocks.len()];
    let mut end = start.clone();
    let own: Vec<Option<TableId>> = function
        .blocks
        .iter()
        .map(|(_, block)| {
            block.insts.iter().rev().find_map(|inst| match inst {
                Inst::Lookup { table, .. } if program.tables.is_valid(*table) => Some(*table),
                _ => None,
            })
        })
        .collect();
    let mut changed = true;
    while changed {
        changed = false;
        for (i, block) in flow.order.iter().enumerate() {
            let known = if i == 0 { Looked::Never } else { Looked::Unreached };
            let known = flow.predecessors[block.index()].iter().fold(known, |known, p| known.join(end[p.index()]));
            start[block.index()] = known;
            let after = own[block.index()].map_or(known, Looked::Table);
            changed |= end[block.index()] != after;
            end[block.index()] = after;
        }
    }
    start
}

fn check_lookup(checker: &mut Checker<'_>, looked: Looked, inst: &Inst) {
    let program = checker.program;
    if !matches!(inst, Inst::LoadArg { .. } | Inst::CopyArg { .. } | Inst::DirectMeter { .. }) {
        return;
    }
    let last = match looked {
        Looked::Unreached => return,
        Looked::Table(table) if program.tables.is_valid(table) => table,
        Looked::Table(_) => return,
        Looked::Never => return checker.require(false, || "no lookup comes before it on some path".to_owned()),
        Looked::Mixed => {
            return checker.require(false, || "lookups in different tables come before it".to_owned());
        }
    };
    let table = &program.tables[last];
    let params = || {
        let actions = table.actions.iter().map(|action| action.action);
        actions.filter(|action| program.actions.is_valid(*action)).flat_map(|action| &program.actions[action].params)
    };
    match inst {
        Inst::LoadArg { dst, offset } => {
            let width = checker.width(*dst);
            let found = params().any(|param| param.offset == *offset && Some(param.width) == width);
            checker.require(found, || format!("no action of {} has a parameter of that width at {offset}", table.name));
        }
        Inst::CopyArg { offset, bytes, .. } => {
            let found = params().any(|param| param.offset == *offset && storage_size(param.width) == *bytes);
            checker
                .require(found, || format!("no action of {} has a parameter of {bytes} bytes at {offset}", table.name));
        }
        Inst::DirectMeter { table: metered, .. } => {
            checker.require(*metered == last, || format!("the last lookup was in {}", table.name));
            let has_meter = *metered != last || table.direct_meter.is_some();
            checker.require(has_meter, || format!("{} has no direct meter", table.name));
        }
        _ => {}
    }
}
