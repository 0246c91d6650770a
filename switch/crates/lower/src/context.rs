//! What every part of lowering shares: the program, the function that is being written, and what its names stand for.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;

use hir::instances::{InstanceId, Instances, Value as Constant};
use hir::{ActionId, Expr, FunctionId, TypeId, VarId};
use ir::{BlockId, FieldListId, NoteKind, Operand, Place};
use num_traits::ToPrimitive;
use syntax::diag::{Diagnostic, Diagnostics};
use syntax::source::{SourceMap, Span};

use crate::build::Builder;
use crate::layout::{Layout, Layouts, Shape};
use crate::objects::Objects;

/// A step of lowering; the error is one finding, and the next statement goes on.
pub type R<T> = Result<T, Box<Diagnostic>>;

pub fn fail<T>(span: Span, message: impl Into<String>) -> R<T> {
    Err(Box::new(Diagnostic::error(span, message)))
}

/// What a variable stands for while the body that declares it is being written out.
#[derive(Debug, Clone, Copy)]
pub enum Binding {
    Place(Place),
    /// A scalar that nothing assigns.
    Value(Operand),
    Instance(InstanceId),
    /// `packet_in` or `packet_out`.
    Packet,
}

/// Where `return`, `break` and `continue` go.
#[derive(Debug, Clone, Default)]
pub struct Body {
    pub ret: BlockId,
    /// Where a function leaves its result.
    pub slot: Option<(Place, TypeId)>,
    /// (`break`, `continue`) of each loop around.
    pub loops: Vec<(BlockId, BlockId)>,
}

/// A body that is being written out; one that appears twice is recursive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Active {
    Function(FunctionId),
    Action(ActionId),
}

/// The variables that v1model's blocks share.
#[derive(Debug, Clone, Copy)]
pub struct Shared {
    pub headers: (Place, TypeId),
    pub metadata: (Place, TypeId),
    pub standard: (Place, TypeId),
}

/// The blocks of v1model that some externs are bound to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Block {
    Ingress,
    Egress,
    Other,
}

pub struct Lower<'p> {
    pub hir: &'p hir::Program,
    pub instances: &'p Instances,
    pub sources: &'p SourceMap,
    pub out: ir::Program,
    pub layouts: Layouts,
    pub diagnostics: Diagnostics,
    pub objects: Objects,
    /// Variables that something assigns after their declaration.
    pub written: HashSet<VarId>,
    /// Of a v1model program.
    pub shared: Option<Shared>,
    /// Where the parser that is being written out leaves its error.
    pub parser_error: Option<Place>,
    /// Field lists by the number in `@field_list(n)`.
    pub field_lists: BTreeMap<u8, FieldListId>,

    pub b: Builder,
    pub env: HashMap<VarId, Binding>,
    pub fresh_vars: usize,
    pub instance: InstanceId,
    pub body: Body,
    /// Where `exit` goes.
    pub exit: BlockId,
    /// Which block is being written out: some externs of v1model belong in one alone.
    pub block: Block,
    /// Where a rejected packet goes, inside a parser.
    pub reject: Option<BlockId>,
    pub active: Vec<Active>,
    /// The table whose action is being written out.
    pub running: Option<ir::TableId>,
}

impl Lower<'_> {
    pub fn layout(&mut self, ty: TypeId) -> Rc<Layout> {
        self.layouts.get(&self.hir.types, ty)
    }

    /// Width and signedness of a scalar type.
    pub fn scalar_type(&mut self, ty: TypeId) -> Option<(u32, bool)> {
        match self.layout(ty).shape {
            Shape::Scalar { width, signed, .. } => Some((width, signed)),
            _ => None,
        }
    }

    pub fn width(&mut self, ty: TypeId, span: Span) -> R<u32> {
        match self.scalar_type(ty) {
            Some((width, _)) => Ok(width),
            None => fail(span, "a single value is needed here, not a header, structure or list"),
        }
    }

    pub fn is_signed(&mut self, ty: TypeId) -> bool {
        self.scalar_type(ty).is_some_and(|(_, signed)| signed)
    }

    /// Memory for a value of type `ty`, its contents undefined.
    pub fn alloc(&mut self, ty: TypeId) -> Place {
        let layout = self.layout(ty);
        self.b.alloc(layout.size, layout.align)
    }

    /// Gives memory that [`Self::alloc`] answered the name of a variable, for traces.
    pub fn name(&mut self, place: Place, var: VarId) {
        let decl = &self.hir.vars[var];
        let parts = self.layouts.parts(&self.hir.types, decl.ty);
        let local = ir::Local { outer: self.b.innermost(), name: decl.name.clone(), offset: place.offset, parts };
        let local = self.out.locals.push(local);
        self.b.name(place, local);
    }

    /// The value of a constant expression, constructor parameters included.
    pub fn constant(&self, expr: &Expr) -> Option<Constant> {
        self.instances.evaluate(self.hir, Some(self.instance), expr)
    }

    pub fn constant_number<T: TryFrom<u64>>(&self, expr: &Expr, what: &str) -> R<T> {
        let number = match self.constant(expr) {
            Some(Constant::Int(value)) => value.to_u64().and_then(|value| T::try_from(value).ok()),
            _ => None,
        };
        match number {
            Some(number) => Ok(number),
            None => fail(expr.span, format!("{what} must be a number known when the program is compiled")),
        }
    }

    /// The name of an enum's member that is known at compile time.
    pub fn constant_member(&self, expr: &Expr, what: &str) -> R<&str> {
        if let Some(Constant::EnumMember(ty, index)) = self.constant(expr)
            && let hir::Type::Enum(id) = self.hir.types.get(ty)
            && let Some(member) = self.hir.types.enums[*id].members.get(index)
        {
            return Ok(&member.name);
        }
        fail(expr.span, format!("{what} must be known when the program is compiled"))
    }

    pub fn error_index(&self, name: &str) -> u128 {
        self.out.errors.iter().position(|error| error == name).unwrap_or(0) as u128
    }

    /// The number of an error. `NoError` has 0, also where the program declares errors of its own before core.p4's: it
    /// changes places with the first.
    pub fn error_code(&self, index: usize) -> usize {
        let none = self.hir.errors.iter().position(|error| error == "NoError").unwrap_or(0);
        match index {
            0 => none,
            _ if index == none => 0,
            _ => index,
        }
    }

    pub fn binding(&self, var: VarId) -> Option<Binding> {
        self.env.get(&var).copied().or_else(|| {
            let bound = self.instances.get(self.instance).bindings.get(&var);
            match bound {
                Some(Constant::Instance(id)) => Some(Binding::Instance(*id)),
                _ => self.instances.globals.get(&var).map(|id| Binding::Instance(*id)),
            }
        })
    }

    /// A variable that the program does not have.
    pub fn fresh_var(&mut self, binding: Binding) -> VarId {
        let var = hir::Handle::new(self.hir.vars.len() + self.fresh_vars);
        self.fresh_vars += 1;
        self.env.insert(var, binding);
        var
    }

    /// The instance that an expression names.
    pub fn instance_of(&self, object: &Expr) -> R<InstanceId> {
        if let hir::ExprKind::Var(var) = &object.kind
            && let Some(Binding::Instance(id)) = self.binding(*var)
        {
            return Ok(id);
        }
        fail(object.span, "the object used here is not known when the program is compiled")
    }

    /// Field `name` of `standard_metadata`: its place and width.
    pub fn standard_field(&mut self, name: &str) -> Option<(Place, u32)> {
        let (place, ty) = self.shared?.standard;
        self.field(place, ty, name)
    }

    /// Field `name` of a structure at `place`.
    pub fn field(&mut self, place: Place, ty: TypeId, name: &str) -> Option<(Place, u32)> {
        let layout = self.layout(ty);
        let Shape::Struct(members) = &layout.shape else { return None };
        let member = members.iter().find(|member| member.name == name)?;
        let (width, _) = self.scalar_type(member.ty)?;
        Some((offset(place, member.offset), width))
    }

    /// Ends the block with a parser error.
    pub fn raise(&mut self, error: Operand, reject: BlockId) {
        if let Some(place) = self.parser_error {
            self.b.store(place, 32, error);
        }
        self.b.jump(reject);
    }

    /// Goes on only if `ok`; otherwise the parser ends with the named error.
    pub fn require(&mut self, ok: Operand, error: &str, span: Span) -> R<()> {
        let Some(reject) = self.reject else {
            return fail(span, "this can only be used in a parser");
        };
        let (good, bad) = (self.b.block(), self.b.block());
        self.b.branch(ok, good, bad);
        self.b.enter(bad);
        let error = Operand::Imm(self.error_index(error));
        self.raise(error, reject);
        self.b.enter(good);
        Ok(())
    }

    /// Takes a step of the loop budget; without one the parser times out, and a control is left.
    pub fn fuel(&mut self) {
        let dst = self.b.temp(1);
        self.b.push(ir::Inst::Fuel { dst });
        let (go, stop) = (self.b.block(), self.b.block());
        self.b.branch(Operand::Temp(dst), stop, go);
        self.b.enter(stop);
        match self.reject {
            Some(reject) => {
                let error = Operand::Imm(self.error_index("ParserTimeout"));
                self.raise(error, reject);
            }
            None => self.b.jump(self.exit),
        }
        self.b.enter(go);
    }

    pub fn note(&mut self, kind: NoteKind, text: &str, span: Span) {
        let location = self.sources.location(span);
        let note = ir::Note { kind, text: text.to_string(), file: location.file.to_string(), line: location.line };
        let note = self.out.notes.push(note);
        self.b.push(ir::Inst::Note(note));
    }

    /// A note with the source text under `span`, on one line.
    pub fn note_source(&mut self, kind: NoteKind, span: Span) {
        let text = self.snippet(span);
        self.note(kind, &text, span);
    }

    pub fn snippet(&self, span: Span) -> String {
        let words: Vec<&str> = self.sources.snippet(span).split_whitespace().collect();
        words.join(" ")
    }
}

/// `by` bytes further on.
pub fn offset(place: Place, by: u32) -> Place {
    Place { offset: place.offset + by, ..place }
}
