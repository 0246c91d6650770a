//! The control flow of a function: reachable blocks, predecessors, dominators.

use crate::Function;
use crate::handle::*;

/// Computed once for a function. Targets that do not exist are left out.
pub struct Flow {
    /// Reachable blocks, each before its successors where there are no loops.
    pub order: Vec<BlockId>,
    /// By block; of reachable blocks only.
    pub predecessors: Vec<Vec<BlockId>>,
    /// By block: when a walk through the dominator tree enters and leaves it; `None` for unreachable blocks.
    spans: Vec<Option<(u32, u32)>>,
}

impl Flow {
    pub fn new(function: &Function) -> Self {
        let order = reverse_postorder(function);
        let mut predecessors = vec![Vec::new(); function.blocks.len()];
        for block in &order {
            for next in successors(function, *block) {
                predecessors[next.index()].push(*block);
            }
        }
        let parents = immediate_dominators(&order, &predecessors);
        let spans = spans(&order, &parents, function.blocks.len());
        Self { order, predecessors, spans }
    }

    pub fn is_reachable(&self, block: BlockId) -> bool {
        self.spans[block.index()].is_some()
    }

    /// By block: whether it is reached, and no way to it passes a loop. Whatever leads to it stands before it in the order.
    pub fn before_loops(&self) -> Vec<bool> {
        let mut before = vec![false; self.predecessors.len()];
        for block in &self.order {
            before[block.index()] = self.predecessors[block.index()].iter().all(|other| before[other.index()]);
        }
        before
    }

    /// Whether every path to `b` passes `a`; true of all when `b` is never reached.
    pub fn dominates(&self, a: BlockId, b: BlockId) -> bool {
        match (self.spans[a.index()], self.spans[b.index()]) {
            (_, None) => true,
            (None, Some(_)) => false,
            (Some(a), Some(b)) => a.0 <= b.0 && b.1 <= a.1,
        }
    }
}

fn successors(function: &Function, block: BlockId) -> impl Iterator<Item = BlockId> + '_ {
    function.blocks[block].end.successors().filter(|next| next.index() < function.blocks.len())
}

fn reverse_postorder(function: &Function) -> Vec<BlockId> {
    let mut order = Vec::new();
    let Some(entry) = function.blocks.keys().next() else { return order };
    let mut seen = vec![false; function.blocks.len()];
    seen[entry.index()] = true;
    let mut stack = vec![(entry, successors(function, entry))];
    while let Some((block, nexts)) = stack.last_mut() {
        match nexts.next() {
            Some(next) if seen[next.index()] => {}
            Some(next) => {
                seen[next.index()] = true;
                stack.push((next, successors(function, next)));
            }
            None => {
                order.push(*block);
                stack.pop();
            }
        }
    }
    order.reverse();
    order
}

/// By place in `order`: the place of the immediate dominator; the entry is its own. The iteration is that of Cooper,
/// Harvey and Kennedy, "A Simple, Fast Dominance Algorithm".
fn immediate_dominators(order: &[BlockId], predecessors: &[Vec<BlockId>]) -> Vec<usize> {
    const UNKNOWN: usize = usize::MAX;
    let mut place = vec![UNKNOWN; predecessors.len()];
    for (i, block) in order.iter().enumerate() {
        place[block.index()] = i;
    }
    let mut parents = vec![UNKNOWN; order.len()];
    if let Some(entry) = parents.first_mut() {
        *entry = 0;
    }
    let mut changed = true;
    while changed {
        changed = false;
        for (i, block) in order.iter().enumerate().skip(1) {
            let known =
                predecessors[block.index()].iter().map(|block| place[block.index()]).filter(|p| parents[*p] != UNKNOWN);
            let parent = known.reduce(|mut a, mut b| {
                while a != b {
                    if a > b {
                        a = parents[a];
                    } else {
                        b = parents[b];
                    }
                }
                a
            });
            let parent = parent.expect("a reachable block follows one that comes earlier");
            if parents[i] != parent {
                parents[i] = parent;
                changed = true;
            }
        }
    }
    parents
}

fn spans(order: &[BlockId], parents: &[usize], blocks: usize) -> Vec<Option<(u32, u32)>> {
    let mut children = vec![Vec::new(); order.len()];
    for (i, parent) in parents.iter().enumerate().skip(1) {
        children[*parent].push(i);
    }
    let mut spans = vec![None; blocks];
    let mut clock = 0;
    let mut stack: Vec<(usize, usize, u32)> = Vec::new();
    if !order.is_empty() {
        stack.push((0, 0, 0));
    }
    while let Some((block, child, entered)) = stack.last_mut() {
        clock += 1;
        if let Some(next) = children[*block].get(*child) {
            *child += 1;
            stack.push((*next, 0, clock));
        } else {
            spans[order[*block].index()] = Some((*entered, clock));
            stack.pop();
        }
    }
    spans
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Block, Operand, Terminator};

    fn function(ends: impl IntoIterator<Item = Terminator>) -> Function {
        let mut function = Function::default();
        for end in ends {
            function.blocks.push(Block { insts: Vec::new(), end });
        }
        function
    }

    fn branch(then: usize, otherwise: usize) -> Terminator {
        Terminator::Branch { cond: Operand::Imm(0), then: BlockId::new(then), otherwise: BlockId::new(otherwise) }
    }

    fn dominated_by(flow: &Flow, a: usize) -> Vec<usize> {
        (0..flow.spans.len()).filter(|b| flow.dominates(BlockId::new(a), BlockId::new(*b))).collect()
    }

    #[test]
    fn arms_of_a_branch_do_not_dominate_what_follows_it() {
        let jump = |to| Terminator::Jump(BlockId::new(to));
        let flow = Flow::new(&function([branch(1, 2), jump(3), jump(3), Terminator::Return]));
        assert_eq!(dominated_by(&flow, 0), [0, 1, 2, 3]);
        assert_eq!(dominated_by(&flow, 1), [1]);
        assert_eq!(dominated_by(&flow, 3), [3]);
        assert_eq!(flow.predecessors[3].len(), 2);
        assert_eq!(flow.before_loops(), [true; 4]);
    }

    #[test]
    fn a_loop_is_dominated_by_its_head() {
        let jump = |to| Terminator::Jump(BlockId::new(to));
        let flow = Flow::new(&function([jump(1), branch(2, 3), jump(1), Terminator::Return]));
        assert_eq!(dominated_by(&flow, 1), [1, 2, 3]);
        assert_eq!(dominated_by(&flow, 2), [2]);
        assert_eq!(flow.before_loops(), [true, false, false, false], "the loop, and what comes behind it");
        let itself = Terminator::Jump(BlockId::new(0));
        assert_eq!(Flow::new(&function([itself])).before_loops(), [false]);
    }

    #[test]
    fn what_a_loop_cannot_reach_stands_before_it() {
        let jump = |to| Terminator::Jump(BlockId::new(to));
        let flow = Flow::new(&function([branch(1, 2), branch(1, 3), jump(3), Terminator::Return]));
        assert_eq!(flow.before_loops(), [true, false, true, false], "one of the ways to the last passes the loop");
    }

    #[test]
    fn blocks_that_are_never_reached_are_left_out() {
        let flow = Flow::new(&function([Terminator::Return, Terminator::Jump(BlockId::new(0))]));
        assert_eq!(flow.order, [BlockId::new(0)]);
        assert!(!flow.is_reachable(BlockId::new(1)) && flow.predecessors[0].is_empty());
        assert!(!flow.dominates(BlockId::new(1), BlockId::new(0)));
    }
}
