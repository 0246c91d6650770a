//! Makes a written function smaller without changing what it does: empty blocks are skipped, blocks that nothing
//! reaches go, and a block with a single way in joins the one before it.

use ir::{Arena, Block, BlockId, Function, Handle, Terminator};

pub fn cleanup(mut function: Function) -> Function {
    thread_jumps(&mut function);
    merge(&mut function);
    prune(function)
}

fn targets(end: &mut Terminator) -> Vec<&mut BlockId> {
    match end {
        Terminator::Jump(to) => vec![to],
        Terminator::Branch { then, otherwise, .. } => vec![then, otherwise],
        Terminator::Switch { cases, default, .. } => {
            cases.iter_mut().map(|(_, to)| to).chain(std::iter::once(default)).collect()
        }
        Terminator::Return => Vec::new(),
    }
}

/// Leads jumps to a block that only jumps on to where that goes in the end.
fn thread_jumps(function: &mut Function) {
    let count = function.blocks.len();
    let mut goal: Vec<BlockId> = function.blocks.keys().collect();
    for block in function.blocks.keys() {
        let mut at = block;
        // An empty endless loop has no end; more steps than blocks mean one.
        for _ in 0..count {
            let here = &function.blocks[at];
            match here.end {
                Terminator::Jump(to) if here.insts.is_empty() && to != at => at = to,
                _ => break,
            }
        }
        goal[block.index()] = at;
    }
    for block in function.blocks.keys() {
        let end = &mut function.blocks[block].end;
        targets(end).into_iter().for_each(|to| *to = goal[to.index()]);
        let simpler = match end {
            Terminator::Branch { then, otherwise, .. } if then == otherwise => Some(*then),
            Terminator::Switch { cases, default, .. } => {
                let default = *default;
                cases.retain(|(_, to)| *to != default);
                cases.is_empty().then_some(default)
            }
            _ => None,
        };
        if let Some(to) = simpler {
            *end = Terminator::Jump(to);
        }
    }
}

/// Appends a block to the only one that jumps to it.
fn merge(function: &mut Function) {
    let reached = reachable(function);
    let mut ways_in = vec![0usize; function.blocks.len()];
    ways_in[0] = 1;
    for block in &reached {
        for to in targets(&mut function.blocks[*block].end) {
            ways_in[to.index()] += 1;
        }
    }
    for &block in &reached {
        // A block that was already taken up by another is left empty and returns.
        while let Terminator::Jump(next) = function.blocks[block].end {
            if next == block || ways_in[next.index()] != 1 {
                break;
            }
            let taken =
                std::mem::replace(&mut function.blocks[next], Block { insts: Vec::new(), end: Terminator::Return });
            let into = &mut function.blocks[block];
            into.insts.extend(taken.insts);
            into.end = taken.end;
        }
    }
}

fn reachable(function: &mut Function) -> Vec<BlockId> {
    let mut seen = vec![false; function.blocks.len()];
    let mut order = Vec::new();
    let mut open = vec![BlockId::new(0)];
    while let Some(block) = open.pop() {
        if std::mem::replace(&mut seen[block.index()], true) {
            continue;
        }
        order.push(block);
        open.extend(targets(&mut function.blocks[block].end).into_iter().rev().map(|to| *to));
    }
    order
}

/// Keeps the blocks that can be reached, in the order in which a run meets them, and the temps that are left.
fn prune(mut function: Function) -> Function {
    let order = reachable(&mut function);
    let mut place = vec![BlockId::new(0); function.blocks.len()];
    for (index, block) in order.iter().enumerate() {
        place[block.index()] = BlockId::new(index);
    }
    let mut blocks = Arena::default();
    for block in order {
        let taken =
            std::mem::replace(&mut function.blocks[block], Block { insts: Vec::new(), end: Terminator::Return });
        let mut end = taken.end;
        targets(&mut end).into_iter().for_each(|to| *to = place[to.index()]);
        blocks.push(Block { insts: taken.insts, end });
    }
    function.blocks = blocks;
    function
}
