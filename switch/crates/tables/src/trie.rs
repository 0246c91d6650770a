//! Longest prefix match: a trie of six bits a step whose one-way stretches are pressed together.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use crate::blocks::Arena;
use crate::key::bits;
use crate::segments::Words;
use crate::sync::AtomicU64;

/// Bits a node branches on.
const STEP: u32 = 6;
/// The most steps a node can skip: 54 bits fit beside their number in one word.
const MAX_SKIP: u32 = 9;
/// First word of a node's values, the children follow.
const LISTS: usize = 3;

/// Where the number of a trie's first block stands, 0 for an empty trie: in a word of its own, or in half of one.
///
/// A node is a block of words that never changes but for the values and child numbers in it; a node that
/// gains or loses one of them is replaced by a new block.
///
/// ```text
///   0   skipped bits << 10 | number of values << 4 | skipped steps
///   1   prefixes that end here, by length and bits: of length l (0..=5) and bits b, bit 2^l - 1 + b
///   2   children, by the next six bits
///   3   values of the prefixes (slot << 32 | body), then blocks of the children, each in the order of its bit
/// ```
#[derive(Clone, Copy)]
pub(crate) struct Place<'a> {
    pub word: &'a AtomicU64,
    /// 0 or 32.
    pub shift: u32,
}

impl<'a> Place<'a> {
    pub fn of(word: &'a AtomicU64) -> Self {
        Self { word, shift: 0 }
    }

    #[inline]
    pub fn load(self) -> u32 {
        (self.word.load(Acquire) >> self.shift) as u32
    }

    /// Only for the writer.
    pub fn store(self, number: u32) {
        let other = self.word.load(Relaxed) & !(u64::from(u32::MAX) << self.shift);
        self.word.store(other | u64::from(number) << self.shift, Release);
    }
}

/// Skipped steps of a node, of its first word.
#[inline]
fn steps_of(head: u64) -> u32 {
    head as u32 & 15
}

/// Number of a node's values, of its first word.
#[inline]
fn values_of(head: u64) -> usize {
    (head >> 4) as usize & 63
}

/// Skipped bits of a node, of its first word.
#[inline]
fn skipped_of(head: u64) -> u64 {
    head >> 10
}

/// For six bits: the prefixes of them that can end in a node.
const ENDINGS: [u64; 64] = {
    let mut endings = [0; 64];
    let mut six = 0;
    while six < 64 {
        let mut len = 0;
        while len < STEP {
            endings[six] |= 1 << ((1 << len) - 1 + (six >> (STEP - len)));
            len += 1;
        }
        six += 1;
    }
    endings
};

#[inline(always)]
fn below(bit: u32) -> u64 {
    (1 << bit) - 1
}

#[inline(always)]
fn rank(map: u64, bit: u32) -> usize {
    (map & below(bit)).count_ones() as usize
}

/// The value of the longest prefix of the key in the trie that begins with this block, behind `depth` bits.
#[inline]
pub(crate) fn find(blocks: &Words, root: u32, depth: u32, key: &[u64]) -> Option<u64> {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("popcnt") && is_x86_feature_detected!("bmi2") && is_x86_feature_detected!("lzcnt") {
        #[allow(unsafe_code, reason = "ranks are what a lookup spends its time on")]
        // SAFETY: the processor has these instructions, as was just asked.
        return unsafe { find_with_bit_counts(blocks, root, depth, key) };
    }
    walk(blocks, root, depth, key)
}

/// The same with instructions that every x86-64 processor since 2013 has, but compilers must not assume.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "popcnt,bmi2,lzcnt")]
fn find_with_bit_counts(blocks: &Words, root: u32, depth: u32, key: &[u64]) -> Option<u64> {
    walk(blocks, root, depth, key)
}

#[inline(always)]
fn walk(blocks: &Words, mut block: u32, mut depth: u32, key: &[u64]) -> Option<u64> {
    // The last node with a prefix of the key; which of its values that is, is worked out once, at the end.
    let mut best = None;
    while block != 0 {
        let node = blocks.tail(block);
        let head = node[0].load(Relaxed);
        let steps = steps_of(head);
        if steps != 0 {
            if bits(key, depth, steps * STEP) != skipped_of(head) {
                break;
            }
            depth += steps * STEP;
        }
        let six = bits(key, depth, STEP) as u32;
        let endings = node[1].load(Relaxed) & ENDINGS[six as usize];
        if endings != 0 {
            best = Some((node, endings));
        }
        let children = node[2].load(Relaxed);
        if children >> six & 1 == 0 {
            break;
        }
        block = node[LISTS + values_of(head) + rank(children, six)].load(Acquire) as u32;
        depth += STEP;
    }
    best.map(|(node, endings)| node[LISTS + rank(node[1].load(Relaxed), endings.ilog2())].load(Acquire))
}

/// The word that holds the value of exactly this prefix.
pub(crate) fn exact<'a>(
    blocks: &'a Words,
    mut block: u32,
    mut depth: u32,
    key: &[u64],
    length: u32,
) -> Option<&'a AtomicU64> {
    while block != 0 {
        let node = blocks.tail(block);
        let head = node[0].load(Relaxed);
        let steps = steps_of(head);
        if depth + steps * STEP > length || (steps != 0 && bits(key, depth, steps * STEP) != skipped_of(head)) {
            return None;
        }
        depth += steps * STEP;
        let (prefixes, children) = (node[1].load(Relaxed), node[2].load(Relaxed));
        if length - depth < STEP {
            let ending = ending(key, depth, length);
            return (prefixes >> ending & 1 == 1).then(|| &node[LISTS + rank(prefixes, ending)]);
        }
        let six = bits(key, depth, STEP) as u32;
        if children >> six & 1 == 0 {
            return None;
        }
        block = node[LISTS + values_of(head) + rank(children, six)].load(Acquire) as u32;
        depth += STEP;
    }
    None
}

/// The bit of a prefix that ends in a node at `depth`.
fn ending(key: &[u64], depth: u32, length: u32) -> u32 {
    let len = length - depth;
    (1 << len) - 1 + if len == 0 { 0 } else { bits(key, depth, len) as u32 }
}

/// A node taken apart.
#[derive(Debug, Clone, Default)]
struct Node {
    steps: u32,
    skipped: u64,
    prefixes: u64,
    children: u64,
    values: Vec<u64>,
    blocks: Vec<u64>,
}

impl Node {
    fn read(block: &[AtomicU64]) -> Self {
        let word = |i: usize| block[i].load(Relaxed);
        let (head, prefixes, children) = (word(0), word(1), word(2));
        let blocks = LISTS + values_of(head);
        Self {
            steps: steps_of(head),
            skipped: skipped_of(head),
            prefixes,
            children,
            values: (LISTS..blocks).map(word).collect(),
            blocks: (blocks..blocks + children.count_ones() as usize).map(word).collect(),
        }
    }

    fn words(&self) -> Vec<u64> {
        let mut words = Vec::with_capacity(self.len());
        let head = self.skipped << 10 | (self.values.len() as u64) << 4 | u64::from(self.steps);
        words.extend([head, self.prefixes, self.children]);
        words.extend(&self.values);
        words.extend(&self.blocks);
        words
    }

    fn len(&self) -> usize {
        LISTS + self.values.len() + self.blocks.len()
    }

    fn add_value(&mut self, ending: u32, value: u64) {
        self.values.insert(rank(self.prefixes, ending), value);
        self.prefixes |= 1 << ending;
    }

    fn add_child(&mut self, six: u32, block: u32) {
        self.blocks.insert(rank(self.children, six), u64::from(block));
        self.children |= 1 << six;
    }

    /// The first steps skipped that agree with the key, as far as the prefix goes.
    fn common(&self, key: &[u64], depth: u32, length: u32) -> u32 {
        let most = self.steps.min((length - depth) / STEP);
        (0..most).find(|&step| self.skipped_step(step) != bits(key, depth + step * STEP, STEP)).unwrap_or(most)
    }

    fn skipped_step(&self, step: u32) -> u64 {
        self.skipped >> ((self.steps - 1 - step) * STEP) & 63
    }
}

/// A new branch for the rest of a prefix from `depth` on.
fn branch(arena: &mut Arena<'_>, key: &[u64], depth: u32, length: u32, value: u64) -> u32 {
    let mut depths = vec![depth];
    let mut at = depth;
    while (length - at) / STEP > MAX_SKIP {
        at += (MAX_SKIP + 1) * STEP;
        depths.push(at);
    }
    // From the end up, so each node knows its child.
    let mut child = None;
    while let Some(depth) = depths.pop() {
        let steps = ((length - depth) / STEP).min(MAX_SKIP);
        let mut node = Node { steps, ..Node::default() };
        if steps != 0 {
            node.skipped = bits(key, depth, steps * STEP);
        }
        let end = depth + steps * STEP;
        match child {
            None => node.add_value(ending(key, end, length), value),
            Some(child) => node.add_child(bits(key, end, STEP) as u32, child),
        }
        child = Some(arena.put(&node.words()));
    }
    child.expect("at least one node")
}

/// Adds a prefix that is not there to the trie at a place, which begins behind `depth` bits.
pub(crate) fn insert(arena: &mut Arena<'_>, root: Place<'_>, depth: u32, key: &[u64], length: u32, value: u64) {
    let (mut place, mut depth) = (root, depth);
    loop {
        let block = place.load();
        if block == 0 {
            place.store(branch(arena, key, depth, length, value));
            return;
        }
        let words = arena.words.tail(block);
        let head = words[0].load(Relaxed);
        let steps = steps_of(head);
        let same = steps == 0 || (depth + steps * STEP <= length && bits(key, depth, steps * STEP) == skipped_of(head));
        if same && length - depth - steps * STEP >= STEP {
            let children = words[2].load(Relaxed);
            let six = bits(key, depth + steps * STEP, STEP) as u32;
            if children >> six & 1 == 1 {
                depth += (steps + 1) * STEP;
                place = Place::of(&words[LISTS + values_of(head) + rank(children, six)]);
                continue;
            }
        }
        let old = Node::read(words);
        let mut node = if same { old.clone() } else { split(arena, &old, key, depth, length) };
        let end = depth + node.steps * STEP;
        if length - end < STEP {
            node.add_value(ending(key, end, length), value);
        } else {
            let branch = branch(arena, key, end + STEP, length, value);
            node.add_child(bits(key, end, STEP) as u32, branch);
        }
        place.store(arena.put(&node.words()));
        arena.retire(block, old.len());
        return;
    }
}

/// A node for the part of the skipped steps that agrees with the key, above a copy of the old node with the rest.
fn split(arena: &mut Arena<'_>, old: &Node, key: &[u64], depth: u32, length: u32) -> Node {
    let common = old.common(key, depth, length);
    let mut lower = old.clone();
    lower.steps = old.steps - common - 1;
    lower.skipped = old.skipped & below(lower.steps * STEP);
    let lower_block = arena.put(&lower.words());
    let mut upper = Node { steps: common, skipped: old.skipped >> ((old.steps - common) * STEP), ..Node::default() };
    upper.add_child(old.skipped_step(common) as u32, lower_block);
    upper
}

/// Takes out a prefix that is there.
pub(crate) fn remove(arena: &mut Arena<'_>, root: Place<'_>, depth: u32, key: &[u64], length: u32) {
    // The way down: where each node's number stands, and its depth.
    let mut path = vec![(root, depth)];
    loop {
        let (place, depth) = path[path.len() - 1];
        let node = arena.words.tail(place.load());
        let head = node[0].load(Relaxed);
        let end = depth + steps_of(head) * STEP;
        if length - end < STEP {
            break;
        }
        let six = bits(key, end, STEP) as u32;
        let children = LISTS + values_of(head);
        path.push((Place::of(&node[children + rank(node[2].load(Relaxed), six)]), end + STEP));
    }
    // The way up: what has nothing left goes, and its parent loses a child. Nothing is retired before the store that
    // makes all of it unreachable.
    let mut unreachable = Vec::new();
    let mut lost_child = false;
    while let Some((place, depth)) = path.pop() {
        let block = place.load();
        let mut node = Node::read(arena.words.tail(block));
        unreachable.push((block, node.len()));
        let end = depth + node.steps * STEP;
        if lost_child {
            let six = bits(key, end, STEP) as u32;
            node.blocks.remove(rank(node.children, six));
            node.children &= !(1 << six);
        } else {
            let ending = ending(key, end, length);
            node.values.remove(rank(node.prefixes, ending));
            node.prefixes &= !(1 << ending);
        }
        lost_child = node.prefixes == 0 && node.children == 0;
        if lost_child && !path.is_empty() {
            continue;
        }
        let new = if lost_child {
            0
        } else {
            unreachable.extend(merge(arena.words, &mut node));
            arena.put(&node.words())
        };
        place.store(new);
        break;
    }
    unreachable.into_iter().for_each(|(block, len)| arena.retire(block, len));
}

/// If a node has become a mere step to its only child, makes it that child with a longer skip. Answers the child's
/// block and length, since nothing will lead there any more.
fn merge(blocks: &Words, node: &mut Node) -> Option<(u32, usize)> {
    if node.prefixes != 0 || node.children.count_ones() != 1 {
        return None;
    }
    let block = node.blocks[0] as u32;
    let mut child = Node::read(blocks.tail(block));
    if node.steps + 1 + child.steps > MAX_SKIP {
        return None;
    }
    let len = child.len();
    let upper = node.skipped << STEP | u64::from(node.children.trailing_zeros());
    child.skipped |= upper << (child.steps * STEP);
    child.steps += node.steps + 1;
    *node = child;
    Some((block, len))
}

/// Takes all blocks of a trie back that nothing leads to any more.
pub(crate) fn retire(arena: &mut Arena<'_>, root: u32) {
    let mut left = vec![root];
    while let Some(block) = left.pop().filter(|block| *block != 0) {
        let node = Node::read(arena.words.tail(block));
        left.extend(node.blocks.iter().map(|block| *block as u32));
        arena.retire(block, node.len());
    }
}
