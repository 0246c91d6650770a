//! The whole program: what its blocks share, and the function of each.

use std::collections::{BTreeMap, HashMap};

use hir::TypeId;
use hir::instances::{InstanceId, InstanceKind, Instances};
use ir::{FunctionId, Place};
use syntax::diag::Diagnostics;
use syntax::source::{SourceMap, Span};

use crate::build::Builder;
use crate::cleanup::cleanup;
use crate::context::{Block, Body, Lower, R, fail};
use crate::effects::written_vars;
use crate::layout::{Layouts, Leaf};
use crate::objects::Objects;

/// Bytes that one variable may take.
const MAX_VARIABLE: u32 = 1 << 20;

/// Turns a checked program into its flat form.
pub fn lower(hir: &hir::Program, instances: &Instances, sources: &SourceMap) -> Result<ir::Program, Diagnostics> {
    let mut lower = start(hir, instances, sources);
    let result = match hir::architecture::of_package(&instances.package) {
        Some(architecture) if architecture.is_psa() => lower.psa(),
        Some(_) => lower.v1model(),
        None => {
            let message = format!(
                "`main` is a `{}`; only v1model's `V1Switch` and PSA's `PSA_Switch` can be loaded",
                instances.package
            );
            fail(lower.main_span(), message)
        }
    };
    if let Err(error) = result {
        lower.diagnostics.push(*error);
    }
    if lower.diagnostics.has_errors() { Err(lower.diagnostics) } else { Ok(lower.out) }
}

fn start<'p>(hir: &'p hir::Program, instances: &'p Instances, sources: &'p SourceMap) -> Lower<'p> {
    let mut errors = hir.errors.clone();
    if let Some(none) = errors.iter().position(|error| error == "NoError") {
        errors.swap(0, none);
    }
    Lower {
        hir,
        instances,
        sources,
        out: ir::Program { errors, ..ir::Program::default() },
        layouts: Layouts::default(),
        diagnostics: Diagnostics::new(),
        objects: Objects::default(),
        written: written_vars(hir),
        shared: None,
        parser_error: None,
        field_lists: BTreeMap::new(),
        b: Builder::new(String::new(), 0),
        env: HashMap::new(),
        fresh_vars: 0,
        instance: InstanceId(0),
        body: Body::default(),
        exit: ir::BlockId::default(),
        block: Block::Other,
        reject: None,
        active: Vec::new(),
        running: None,
    }
}

impl Lower<'_> {
    pub fn main_span(&self) -> Span {
        self.hir.main.map_or(Span::default(), |main| self.hir.vars[main].span)
    }

    /// Refuses variables that would take too much memory.
    pub fn check_sizes(&mut self) -> R<()> {
        for (_, var) in self.hir.vars.iter() {
            if self.layouts.get(&self.hir.types, var.ty).size > MAX_VARIABLE {
                return fail(var.span, format!("`{}` takes more memory than a variable may: 1 MiB", var.name));
            }
        }
        Ok(())
    }

    /// Writes a block of the architecture as a function. `body` binds the block's parameters and writes its code.
    pub fn function(&mut self, name: &str, id: InstanceId, body: impl FnOnce(&mut Self) -> R<()>) -> R<FunctionId> {
        self.b = Builder::new(name.to_string(), self.out.frame.persistent);
        self.env.clear();
        self.instance = id;
        let done = self.b.block();
        self.body = Body { ret: done, ..Body::default() };
        self.exit = done;
        self.reject = matches!(self.instances.get(id).kind, InstanceKind::Parser(_)).then_some(done);
        body(self)?;
        self.b.jump(done);
        self.b.enter(done);
        self.b.end(ir::Terminator::Return);
        let builder = std::mem::replace(&mut self.b, Builder::new(String::new(), 0));
        let (function, end) = builder.finish();
        self.out.frame.size = self.out.frame.size.max(end);
        Ok(self.out.functions.push(cleanup(function)))
    }

    /// Memory that lives as long as a packet, for a variable of a type; `name` is what traces call it.
    pub fn persistent(&mut self, ty: TypeId, name: &str) -> Place {
        let at = Place::at(self.out.frame.persistent);
        let layout = self.layout(ty);
        let mut leaves = Vec::new();
        self.layouts.leaves(&self.hir.types, ty, name, at.offset, &mut leaves);
        self.out.frame.symbols.extend(leaves.into_iter().map(Leaf::symbol));
        self.extend_persistent(layout.size);
        at
    }

    /// Makes the part of the frame that lives as long as a packet longer.
    pub fn extend_persistent(&mut self, bytes: u32) {
        let end = self.out.frame.persistent.saturating_add(bytes).next_multiple_of(8);
        (self.out.frame.persistent, self.out.frame.size) = (end, end);
    }
}
