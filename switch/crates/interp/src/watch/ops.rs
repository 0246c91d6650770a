//! Shadows of what decoded instructions compute.

use ir::*;

use super::Shadow;
use crate::code::{Op, Ref};
use crate::run::Run;

impl Run<'_, '_> {
    fn shadow(&self, operand: Ref) -> Shadow {
        match (operand.split(), &self.watcher) {
            (Ok(temp), Some(watcher)) => watcher.temps[temp],
            _ => Shadow::default(),
        }
    }

    /// To be called before a decoded instruction runs.
    pub fn watch(&mut self, op: Op) {
        if self.watcher.as_ref().is_none_or(|watcher| watcher.gave_up) {
            return;
        }
        let [a, b] = self.operands(op).map(|operand| operand.map_or_else(Shadow::default, |it| self.shadow(it)));
        let constant = |operand: Ref| operand.split().err().map(|number| self.code.constants[number]);
        let place = match op {
            Op::LoadAt { place, .. } | Op::StoreAt { place, .. } => {
                let index = self.shadow(self.code.indexed[place as usize].index);
                Some((index, self.at(place)))
            }
            _ => None,
        };
        let concat_zero = matches!(op, Op::Concat { a, .. } if self.get(a) == 0);
        let chosen = matches!(op, Op::Select { cond, .. } if self.get(cond) != 0);
        let shadow_of = |it: Ref| self.shadow(it);
        let decided = match op {
            Op::Select { cond, .. } | Op::Branch { cond, .. } => shadow_of(cond),
            Op::Switch { value, .. } => shadow_of(value),
            _ => place.map_or_else(Shadow::default, |(index, _)| index),
        };
        let masks = match op {
            Op::Binary { op: BinaryOp::And, a, b, .. } => [constant(a), constant(b)],
            Op::Binary { op: BinaryOp::Shr, b, .. } => [None, constant(b)],
            _ => [None; 2],
        };
        let neutral = match op {
            Op::Binary { op: BinaryOp::Or | BinaryOp::Xor | BinaryOp::Add, a, b, .. } => {
                [constant(a) == Some(0), constant(b) == Some(0)]
            }
            _ => [false; 2],
        };
        let values = self.operands(op).map(|operand| operand.map_or(0, |it| self.get(it)));
        let Some(watcher) = &mut self.watcher else { return };
        watcher.demand(decided);
        let (dst, result) = match op {
            Op::Unary { dst, .. } => (dst, watcher.sets.join([a])),
            Op::Binary { op, width, dst, .. } => (
                dst,
                match (op, masks, neutral) {
                    (BinaryOp::And, [Some(kept), None], _) => watcher.sets.masked(b, kept),
                    (BinaryOp::And, [None, Some(kept)], _) => watcher.sets.masked(a, kept),
                    (BinaryOp::Shr, [None, Some(by)], _) if by < width.into() => {
                        a.slice(u32::from(width) - 1, by as u32)
                    }
                    // Of two that do, the one that asks for less: whether a way can be kept must not depend on the other.
                    _ if absorbs(op, values[1], width.into())
                        && (!absorbs(op, values[0], width.into()) || watcher.sets.asks(b) < watcher.sets.asks(a)) =>
                    {
                        watcher.sets.join([b])
                    }
                    _ if absorbs(op, values[0], width.into()) => watcher.sets.join([a]),
                    (_, _, [true, _]) => b,
                    (_, _, [_, true]) => a,
                    (BinaryOp::Add | BinaryOp::Sub, ..) if watcher.has_form([a, b]) => {
                        watcher.combined(op == BinaryOp::Sub, [a, b], values, width.into())
                    }
                    (BinaryOp::Add, ..) if a.is_fixed() => watcher.sets.plus(b, values[0], width.into()),
                    (BinaryOp::Add, ..) if b.is_fixed() => watcher.sets.plus(a, values[1], width.into()),
                    _ => watcher.sets.join([a, b]),
                },
            ),
            Op::Compare { op, dst, .. } => (dst, watcher.compared(op, [a, b], values)),
            Op::Insert { dst, .. } => (dst, watcher.sets.join([a, b])),
            Op::Resize { signed, from, to, dst, .. } if to > from => {
                (dst, if signed { watcher.sets.join([a]) } else { a })
            }
            Op::Resize { to, dst, .. } => (dst, a.slice(u32::from(to) - 1, 0)),
            Op::Slice { hi, lo, dst, .. } => (dst, a.slice(hi.into(), lo.into())),
            Op::Concat { b_width, dst, .. } => (dst, watcher.sets.concat(a, b, b_width.into(), concat_zero)),
            Op::Select { dst, .. } => (dst, if chosen { a } else { b }),
            Op::Load { width, dst, offset } => (dst, watcher.read(offset, width.into())),
            Op::LoadAt { width, dst, .. } => {
                let offset = place.and_then(|(_, offset)| offset);
                (dst, offset.map_or_else(Shadow::default, |offset| watcher.read(offset, width.into())))
            }
            Op::LoadArg { dst, .. } => (dst, Shadow::default()),
            Op::Store { width, offset, .. } => return watcher.frame.write(offset, width.into(), a),
            Op::StoreAt { width, .. } => {
                if let Some((_, Some(offset))) = place {
                    watcher.frame.write(offset, width.into(), a);
                }
                return;
            }
            Op::Copy { dst, src, bytes } => return watcher.frame.copy(dst, src, bytes),
            Op::Zero { offset, bytes } => return watcher.frame.fix(offset, bytes),
            Op::Other(_) | Op::Jump(_) | Op::Branch { .. } | Op::Switch { .. } | Op::Return => return,
        };
        watcher.temps[dst as usize] = result;
    }

    fn operands(&self, op: Op) -> [Option<Ref>; 2] {
        match op {
            Op::Unary { a, .. } | Op::Resize { a, .. } | Op::Slice { a, .. } => [Some(a), None],
            Op::Binary { a, b, .. } | Op::Compare { a, b, .. } | Op::Concat { a, b, .. } | Op::Select { a, b, .. } => {
                [Some(a), Some(b)]
            }
            Op::Insert { a, value, .. } => [Some(a), Some(value)],
            Op::Store { src, .. } | Op::StoreAt { src, .. } => [Some(src), None],
            _ => [None; 2],
        }
    }
}

/// Whether an operand alone decides what comes out, such as the condition before `&&` that does not hold.
fn absorbs(op: BinaryOp, value: u128, width: u32) -> bool {
    match op {
        BinaryOp::And => value == 0,
        BinaryOp::Or => value == u128::MAX >> (128 - width),
        _ => false,
    }
}
