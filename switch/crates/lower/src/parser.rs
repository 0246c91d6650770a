//! Parsers: states and their transitions.

use std::collections::HashSet;

use hir::instances::InstanceKind;
use hir::{Expr, KeySet, ParserId, SelectCase, StateRef, Transition};
use ir::{BinaryOp, BlockId, CompareOp, Inst, NoteKind, Operand, Terminator};
use syntax::source::Span;

use crate::context::{Lower, R, fail};
use crate::value::{NARROW, TRUE, Value, Values};

impl Lower<'_> {
    /// Runs a sub-parser: it accepts to the next statement, and rejects for its caller too.
    pub fn apply_parser(&mut self, object: &Expr, args: &[Option<Expr>], span: Span) -> R<()> {
        let id = self.instance_of(object)?;
        let InstanceKind::Parser(parser) = self.instances.get(id).kind else {
            return fail(object.span, "only a parser can be applied here");
        };
        if self.reject.is_none() {
            return fail(span, "a parser cannot be applied in a control");
        }
        let decl = &self.hir.parsers[parser];
        let copies = self.bind(&decl.params, args, true)?;
        let caller = std::mem::replace(&mut self.instance, id);
        let result = self.inlined(copies, None, |lower| lower.parser_body(parser));
        self.instance = caller;
        result
    }

    /// The locals and states of a parser; it accepts where its body returns.
    pub fn parser_body(&mut self, parser: ParserId) -> R<()> {
        let decl = &self.hir.parsers[parser];
        let Some(start) = decl.states.iter().position(|state| state.name == "start") else {
            return fail(decl.span, format!("parser `{}` has no state `start`", decl.name));
        };
        self.clear_checksums();
        for local in &decl.locals {
            self.declare(local.var, local.init.as_ref())?;
        }
        let blocks: Vec<BlockId> = decl.states.iter().map(|_| self.b.block()).collect();
        self.b.jump(blocks[start]);
        let flow = Flow::of(decl, start);
        for &index in &flow.reached {
            let state = &decl.states[index];
            self.b.enter(blocks[index]);
            if flow.heads.contains(&index) {
                self.fuel();
            }
            self.note(NoteKind::ParserState, &state.name, state.span);
            let mark = self.b.mark();
            self.statements_open(&state.body);
            if let Err(error) = self.transition(&state.transition, &blocks) {
                self.diagnostics.push(*error);
            }
            self.b.release(mark);
        }
        // What follows is never reached: every state has gone somewhere.
        Ok(())
    }

    fn target(&self, state: StateRef, blocks: &[BlockId], span: Span) -> R<BlockId> {
        match state {
            StateRef::Accept => Ok(self.body.ret),
            StateRef::Reject => match self.reject {
                Some(reject) => Ok(reject),
                None => fail(span, "only a parser can reject"),
            },
            StateRef::State(index) => Ok(blocks[index]),
        }
    }

    fn transition(&mut self, transition: &Transition, blocks: &[BlockId]) -> R<()> {
        match transition {
            Transition::Direct(state) => {
                let target = self.target(*state, blocks, Span::default())?;
                self.b.jump(target);
                Ok(())
            }
            Transition::Select { exprs, cases } => self.select(exprs, cases, blocks),
        }
    }

    fn select(&mut self, exprs: &[Expr], cases: &[SelectCase], blocks: &[BlockId]) -> R<()> {
        let exprs: Vec<&Expr> = exprs.iter().collect();
        let values = self.operands(&exprs)?;
        let mut rest = cases;
        while let Some((case, more)) = rest.split_first() {
            if let Some(taken) = self.switch_of(&exprs, &values, rest, blocks)? {
                rest = &rest[taken..];
                continue;
            }
            let matches = self.case_matches(&exprs, &values, case)?;
            let target = self.target(case.target, blocks, case.span)?;
            let next = self.b.block();
            self.b.branch(matches, target, next);
            self.b.enter(next);
            rest = more;
        }
        let Some(reject) = self.reject else { return Ok(()) };
        let error = Operand::Imm(self.error_index("NoMatch"));
        self.raise(error, reject);
        Ok(())
    }

    /// Leading cases that are plain numbers, two at least, as one `Switch`; gives how many.
    fn switch_of(
        &mut self,
        exprs: &[&Expr],
        values: &[Value],
        cases: &[SelectCase],
        blocks: &[BlockId],
    ) -> R<Option<usize>> {
        let ([expr], [Value::Scalar(value)]) = (exprs, values) else { return Ok(None) };
        let width = match self.scalar_type(expr.ty) {
            Some((width @ 1..=NARROW, _)) => width,
            _ => return Ok(None),
        };
        let (mut seen, mut labels, mut taken) = (HashSet::new(), Vec::new(), 0);
        for case in cases {
            let [KeySet::Value(label)] = case.keys.as_slice() else { break };
            let Some(bits) = self.constant_label(label, width) else { break };
            taken += 1;
            if seen.insert(bits) {
                labels.push((bits, self.target(case.target, blocks, case.span)?));
            }
        }
        if taken < 2 {
            return Ok(None);
        }
        let default = self.b.block();
        self.b.end(Terminator::Switch { value: *value, width, cases: labels, default });
        self.b.enter(default);
        Ok(Some(taken))
    }

    fn case_matches(&mut self, exprs: &[&Expr], values: &[Value], case: &SelectCase) -> R<Operand> {
        match case.keys.as_slice() {
            [KeySet::Any] => return Ok(TRUE),
            // A value set takes all the selected expressions at once.
            [KeySet::ValueSet(set)] => {
                let Some(&set) = self.objects.value_sets.get(&(self.instance, *set)) else {
                    return fail(case.span, "this value set does not belong to this parser");
                };
                let args = self.value_set_keys(set, exprs, values)?;
                let dst = self.b.temp(1);
                self.b.push(Inst::InValueSet { dst, set, args });
                return Ok(Operand::Temp(dst));
            }
            keys if keys.len() != exprs.len() => {
                return fail(case.span, "the case has another number of values than `select` has expressions");
            }
            _ => {}
        }
        let mut all = TRUE;
        for ((expr, value), key) in exprs.iter().zip(values).zip(&case.keys) {
            let matches = self.key_matches(expr, value, key, case.span)?;
            all = self.b.and(all, matches);
        }
        Ok(all)
    }

    /// The selected values as the keys of a value set, of which one may take several values.
    fn value_set_keys(&mut self, set: ir::ValueSetId, exprs: &[&Expr], values: &[Value]) -> R<Vec<ir::Arg>> {
        let mut selected = exprs.iter().zip(values);
        let widths: Vec<u32> = self.out.value_sets[set].keys.iter().map(|key| key.width).collect();
        let mut args = Vec::with_capacity(widths.len());
        for width in widths {
            let (mut packed, mut have) = (Value::Scalar(Operand::Imm(0)), 0);
            while have < width
                && let Some((expr, value)) = selected.next()
            {
                let more = self.width(expr.ty, expr.span)?;
                packed = self.concat(&packed, have, value, more);
                have += more;
            }
            args.push(crate::value::arg(&packed, width));
        }
        Ok(args)
    }

    fn key_matches(&mut self, expr: &Expr, value: &Value, key: &KeySet, span: Span) -> R<Operand> {
        if let KeySet::Any = key {
            return Ok(TRUE);
        }
        let Some((width, signed)) = self.scalar_type(expr.ty) else {
            return fail(span, "only single values can be compared with the keys of `select`");
        };
        match key {
            KeySet::Any => Ok(TRUE),
            KeySet::Value(label) => {
                let label = self.key_value(label, width)?;
                Ok(self.compare(CompareOp::Eq, width, value, &label))
            }
            KeySet::Mask(label, mask) => {
                let label = self.key_value(label, width)?;
                let mask = self.key_value(mask, width)?;
                let left = self.binary(BinaryOp::And, width, value, &mask);
                let right = self.binary(BinaryOp::And, width, &label, &mask);
                Ok(self.compare(CompareOp::Eq, width, &left, &right))
            }
            KeySet::Range(first, last) => {
                let op = if signed { CompareOp::LeS } else { CompareOp::LeU };
                let first = self.key_value(first, width)?;
                let last = self.key_value(last, width)?;
                let above = self.compare(op, width, &first, value);
                let below = self.compare(op, width, value, &last);
                Ok(self.b.and(above, below))
            }
            KeySet::ValueSet(set) => {
                let Some(&set) = self.objects.value_sets.get(&(self.instance, *set)) else {
                    return fail(span, "this value set does not belong to this parser");
                };
                let dst = self.b.temp(1);
                let args = vec![crate::value::arg(value, width)];
                self.b.push(Inst::InValueSet { dst, set, args });
                Ok(Operand::Temp(dst))
            }
        }
    }

    /// A key of `width` bits; a constant of type `int` has no width of its own.
    fn key_value(&mut self, expr: &Expr, width: u32) -> R<Value> {
        if let hir::ExprKind::Int(value) = &expr.kind {
            return Ok(crate::value::number(value, width));
        }
        self.expr(expr)
    }
}

/// Which states a parser reaches, and which of them close a loop.
struct Flow {
    reached: Vec<usize>,
    heads: HashSet<usize>,
}

impl Flow {
    fn of(parser: &hir::Parser, start: usize) -> Self {
        let mut flow = Flow { reached: Vec::new(), heads: HashSet::new() };
        let mut seen = HashSet::from([start]);
        let mut open = HashSet::from([start]);
        // Depth first with a stack of (state, successors left): a parser may have thousands of states in a row.
        let mut path = vec![(start, successors(parser, start))];
        flow.reached.push(start);
        while let Some((state, left)) = path.last_mut() {
            match left.pop() {
                Some(next) if open.contains(&next) => {
                    flow.heads.insert(next);
                }
                Some(next) if seen.insert(next) => {
                    open.insert(next);
                    flow.reached.push(next);
                    path.push((next, successors(parser, next)));
                }
                Some(_) => {}
                None => {
                    open.remove(state);
                    path.pop();
                }
            }
        }
        flow
    }
}

fn successors(parser: &hir::Parser, state: usize) -> Vec<usize> {
    let index = |state: &StateRef| match state {
        StateRef::State(index) => Some(*index),
        StateRef::Accept | StateRef::Reject => None,
    };
    match &parser.states[state].transition {
        Transition::Direct(next) => index(next).into_iter().collect(),
        Transition::Select { cases, .. } => cases.iter().rev().filter_map(|case| index(&case.target)).collect(),
    }
}
