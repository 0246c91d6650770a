//! Pipelines: tables, conditions and calls of actions, each with the next one to go to.

use std::collections::HashMap;

use ir::{BlockId, Inst, NoteKind, Operand, Place, Terminator};
use lower::value::{self, Values, arg, number};
use num_bigint::BigInt;
use serde_json::Value;

use crate::context::{Argument, Translation};
use crate::error::{Error, Result, Within, fail};
use crate::expr::{self, Expr};
use crate::model::{self, Conditional, Pipeline, Table};

/// A place of a pipeline.
#[derive(Clone, Copy)]
enum Node<'d> {
    Table(&'d Table),
    Conditional(&'d Conditional),
    Call(&'d model::ActionCall),
}

impl<'d> Node<'d> {
    fn nexts(self) -> Vec<&'d Option<String>> {
        match self {
            Self::Table(table) => table.next_tables.values().chain([&table.base_default_next]).collect(),
            Self::Conditional(conditional) => vec![&conditional.true_next, &conditional.false_next],
            Self::Call(call) => vec![&call.next_node],
        }
    }
}

/// The nodes of a pipeline by name, and the block of each.
struct Nodes<'d> {
    nodes: HashMap<&'d str, Node<'d>>,
    blocks: HashMap<&'d str, BlockId>,
    end: BlockId,
}

impl Nodes<'_> {
    /// Where the code of the named node begins; of none, the end of the pipeline.
    fn to(&self, next: &Option<String>) -> BlockId {
        next.as_ref().and_then(|name| self.blocks.get(name.as_str())).copied().unwrap_or(self.end)
    }
}

impl<'d> Translation<'d> {
    pub fn pipeline(&mut self, pipeline: &'d Pipeline) -> Result<()> {
        let tables = pipeline.tables.iter().map(|table| (table.name.as_str(), Node::Table(table)));
        let conditionals = pipeline.conditionals.iter().map(|node| (node.name.as_str(), Node::Conditional(node)));
        let calls = pipeline.action_calls.iter().map(|call| (call.name.as_str(), Node::Call(call)));
        let nodes: HashMap<_, _> = tables.chain(conditionals).chain(calls).collect();
        let order = order(&nodes, &pipeline.init_table)?;
        let blocks = order.iter().map(|name| (*name, self.b.block())).collect();
        let nodes = Nodes { nodes, blocks, end: self.end };
        self.b.jump(nodes.to(&pipeline.init_table));
        for name in order {
            self.b.enter(nodes.blocks[name]);
            let mark = self.b.mark();
            match nodes.nodes[name] {
                Node::Table(table) => self.apply(table, &nodes).within(|| format!("table {name}"))?,
                Node::Conditional(node) => self.decide(node, &nodes).within(|| format!("conditional {name}"))?,
                Node::Call(call) => {
                    let action = self.action(call.action_id)?;
                    let arguments = self.constant_arguments(action, &[])?;
                    self.run_action(action, arguments)?;
                    self.b.jump(nodes.to(&call.next_node));
                }
            }
            self.b.release(mark);
        }
        Ok(())
    }

    fn decide(&mut self, node: &Conditional, nodes: &Nodes<'_>) -> Result<()> {
        let (then, otherwise) = (self.b.block(), self.b.block());
        self.condition(&node.expression, then, otherwise)?;
        let text = &node.source_info.source_fragment;
        let arms = [(then, NoteKind::Holds, &node.true_next), (otherwise, NoteKind::Fails, &node.false_next)];
        for (block, kind, next) in arms {
            self.b.enter(block);
            self.note(kind, text, &node.source_info);
            self.b.jump(nodes.to(next));
        }
        Ok(())
    }

    fn apply(&mut self, table: &'d Table, nodes: &Nodes<'_>) -> Result<()> {
        if let Some(default) = always(table) {
            // Nothing can be found but this: no need to look.
            let action = self.action(default.action_id)?;
            let arguments = self.constant_arguments(action, &default.action_data)?;
            self.run_action(action, arguments)?;
            self.b.jump(nodes.to(next(table, Some(&action.name), false)));
            return Ok(());
        }
        self.note(NoteKind::Table, &table.name, &table.source_info);
        let id = self.objects.tables[&table.name];
        let mut keys = Vec::with_capacity(table.key.len());
        for key in &table.key {
            keys.push(self.key(key)?);
        }
        let mut selector = Vec::new();
        for input in self.selector_inputs(table) {
            selector.push(self.argument_of(input)?);
        }
        let (hit, found) = (self.b.temp(1), self.b.temp(32));
        self.b.push(Inst::Lookup { table: id, keys, selector, hit, action: found });
        let hit = Operand::Temp(hit);
        self.direct_meter(table, id, hit)?;
        let none = self.b.block();
        let actions: Vec<_> = self.out.tables[id].actions.iter().map(|action| action.action).collect();
        let blocks: Vec<BlockId> = actions.iter().map(|_| self.b.block()).collect();
        let cases = blocks.iter().enumerate().map(|(index, block)| (index as u128, *block)).collect();
        self.b.end(Terminator::Switch { value: Operand::Temp(found), width: 32, cases, default: none });
        for ((action, block), id) in actions.into_iter().zip(blocks).zip(&table.action_ids) {
            self.b.enter(block);
            let params = self.out.actions[action].params.iter();
            let arguments = params.map(|param| Argument::Entry { offset: param.offset, width: param.width }).collect();
            let action = self.action(*id)?;
            self.run_action(action, arguments)?;
            self.go_on(table, Some(&action.name), hit, nodes);
        }
        self.b.enter(none);
        self.go_on(table, None, hit, nodes);
        Ok(())
    }

    fn go_on(&mut self, table: &Table, action: Option<&str>, hit: Operand, nodes: &Nodes<'_>) {
        let [on_hit, on_miss] = [true, false].map(|hit| nodes.to(next(table, action, hit)));
        if on_hit == on_miss { self.b.jump(on_hit) } else { self.b.branch(hit, on_hit, on_miss) }
    }

    /// The meter of an entry that was found writes its colour before the action runs.
    fn direct_meter(&mut self, table: &Table, id: ir::TableId, hit: Operand) -> Result<()> {
        let Some(name) = &table.direct_meters else { return Ok(()) };
        let meter = self.document.meter_arrays.iter().find(|meter| meter.name == *name);
        let meter = meter.ok_or_else(|| Error::new(format!("there is no meter {name}")))?;
        let Some((header, field)) = &meter.result_target else { return Ok(()) };
        let spot = self.field(header, field)?;
        let (metered, done) = (self.b.block(), self.b.block());
        self.b.branch(hit, metered, done);
        self.b.enter(metered);
        let dst = self.b.temp(2);
        self.b.push(Inst::DirectMeter { dst, table: id, before: None });
        let value = self.resize(&value::Value::Scalar(Operand::Temp(dst)), 2, spot.width, false);
        self.put(spot, &value);
        self.b.jump(done);
        self.b.enter(done);
        Ok(())
    }

    fn key(&mut self, key: &model::Key) -> Result<ir::Arg> {
        let target = key_target(key)?;
        let spot = self.spot(&target)?;
        if spot.varbit {
            return fail("a field of variable length cannot be a key");
        }
        let mut value = self.load(spot.place, spot.width);
        if let Some(mask) = &key.mask {
            let mask = number(&expr::number(mask).map_err(Error::new)?, spot.width);
            value = self.binary(ir::BinaryOp::And, spot.width, &value, &mask);
        }
        Ok(arg(&value, spot.width))
    }

    /// What a selector of the table computes its hash of.
    pub fn selector_inputs(&self, table: &Table) -> &'d [Expr] {
        let profiles = self.document.pipelines.iter().flat_map(|pipeline| &pipeline.action_profiles);
        let mut named = profiles.filter(|profile| Some(&profile.name) == table.action_profile.as_ref());
        named.find_map(|profile| profile.selector.as_ref()).map_or(&[], |selector| &selector.input)
    }

    /// Checksums that the parser verifies, or the deparser updates.
    pub fn checksums(&mut self, update: bool) -> Result<()> {
        let document = self.document;
        for checksum in &document.checksums {
            if if update { checksum.update } else { checksum.verify } {
                self.checksum(checksum, update).within(|| format!("checksum {}", checksum.name))?;
            }
        }
        Ok(())
    }

    fn checksum(&mut self, checksum: &model::Checksum, update: bool) -> Result<()> {
        let (then, done) = (self.b.block(), self.b.block());
        match &checksum.if_cond {
            Some(cond) => self.condition(cond, then, done)?,
            None => self.b.jump(then),
        }
        self.b.enter(then);
        let target = self.field(&checksum.target.0, &checksum.target.1)?;
        let calculation = self.calculation(&checksum.calculation)?;
        let algorithm = crate::externs::algorithm(&calculation.algo)?;
        let (data, payload) = self.inputs(&calculation.input)?;
        let (dst, value) = self.dest(target.width);
        self.b.push(Inst::Checksum { dst, algorithm, data, payload });
        if update {
            self.put(target, &value);
        } else {
            let stated = self.load(target.place, target.width);
            let differs = self.compare(ir::CompareOp::Ne, target.width, &value, &stated);
            let wrong = self.b.block();
            self.b.branch(differs, wrong, done);
            self.b.enter(wrong);
            let at = self.out.standard_metadata.checksum_error;
            self.b.store(Place::at(at), 1, Operand::Imm(1));
        }
        self.b.jump(done);
        self.b.enter(done);
        Ok(())
    }
}

/// The field that a key matches on.
pub fn key_target(key: &model::Key) -> Result<Expr> {
    match &key.target {
        Value::String(header) => Ok(Expr::Field(header.clone(), "$valid$".to_owned())),
        object @ Value::Object(_) => Expr::from_value(object).map_err(Error::new),
        names => Expr::from_value(&serde_json::json!({"type": "field", "value": names})).map_err(Error::new),
    }
}

/// The action that a table always runs: it has no keys, no state of its own, and its default entry is constant. p4c
/// makes such a table of every statement outside of an action.
fn always(table: &Table) -> Option<&model::DefaultEntry> {
    let plain = table.key.is_empty()
        && table.kind == "simple"
        && !table.with_counters
        && table.direct_meters.is_none()
        && table.entries.is_empty();
    table.default_entry.as_ref().filter(|default| plain && default.action_entry_const)
}

/// The node behind a table.
fn next<'t>(table: &'t Table, action: Option<&str>, hit: bool) -> &'t Option<String> {
    let by_result = table.next_tables.get(if hit { "__HIT__" } else { "__MISS__" });
    let by_action = || action.and_then(|action| table.next_tables.get(action));
    by_result.or_else(by_action).unwrap_or(&table.base_default_next)
}

/// The nodes that are reached. A pipeline that comes back to a node would never end.
fn order<'d>(nodes: &HashMap<&'d str, Node<'d>>, start: &'d Option<String>) -> Result<Vec<&'d str>> {
    let mut order = Vec::new();
    // Whether a node that was met is on the way to where we are.
    let mut on_the_way: HashMap<&str, bool> = HashMap::new();
    let mut path = vec![("", vec![start])];
    while let Some((name, left)) = path.last_mut() {
        let Some(next) = left.pop() else {
            on_the_way.insert(name, false);
            path.pop();
            continue;
        };
        let Some(next) = next.as_deref() else { continue };
        match on_the_way.get(next) {
            Some(true) => return fail(format!("the pipeline comes back to {next}")),
            Some(false) => {}
            None => {
                let node = nodes.get(next);
                let node = node.ok_or_else(|| Error::new(format!("there is no table or conditional {next}")))?;
                on_the_way.insert(next, true);
                order.push(next);
                path.push((next, node.nexts()));
            }
        }
    }
    Ok(order)
}

/// A constant key of so many bits.
pub fn bits(text: &str, width: u32) -> Result<num_bigint::BigUint> {
    let value: BigInt = expr::number(text).map_err(Error::new)?;
    let bits = value.to_biguint().filter(|value| value.bits() <= u64::from(width));
    bits.ok_or_else(|| Error::new(format!("{text} does not fit {width} bits")))
}
