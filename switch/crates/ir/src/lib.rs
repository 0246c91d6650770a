//! The flat form of a program for v1model or PSA: what the interpreter runs and the JIT compiles.
//!
//! Sub-parsers, sub-controls, functions and actions are written out where they are used, so each programmable block of
//! the architecture is one [`Function`] of basic blocks without calls. All variables lie in one flat piece of memory,
//! the [`Frame`]; scalars up to 128 bits are computed in [`Temp`]s, each assigned at exactly one place that dominates
//! its uses; longer ones are computed in the frame by [`Inst::Wide`].
//!
//! Storage of a value of `width` bits, always masked to its width, whatever its signedness:
//!
//! ```text
//!   width        size             form
//!   1..=8        1 (bool too)     little-endian integer, aligned to its size (16-byte ones to 8)
//!   9..=16       2
//!   17..=32      4
//!   33..=64      8
//!   65..=128     16
//!   129..        8 * ceil(w/64)   little-endian, aligned to 8
//!   varbit<max>  4 + ceil(max/8)  length in bits (u32), then the bytes in wire order; aligned to 4
//!   error, enum  4                index
//!   header       { valid: 1 byte, fields... }
//!   stack        { next: u32, elements at a constant stride }
//!   struct, union, tuple, array   { members... }, each at its alignment
//! ```

pub mod eval;
pub mod flow;
pub mod frame;
pub mod handle;
pub mod inst;
pub mod object;
pub mod psa;
pub mod text;
pub mod verify;
mod visit;

pub use frame::*;
pub use handle::*;
pub use inst::*;
pub use object::*;
pub use psa::*;
pub use verify::{VerifyError, verify};

/// A whole program.
#[derive(Debug, Clone, Default)]
pub struct Program {
    pub frame: Frame,
    pub header_types: Arena<HeaderTypeId, HeaderType>,
    pub functions: Arena<FunctionId, Function>,
    pub blocks: Blocks,
    /// With it the program is one for PSA: its own blocks and metadata take the place of v1model's.
    pub psa: Option<Psa>,
    pub standard_metadata: StandardMetadata,
    /// Names of the errors by index; `NoError` is 0.
    pub errors: Vec<String>,
    pub actions: Arena<ActionId, Action>,
    pub tables: Arena<TableId, Table>,
    pub profiles: Arena<ProfileId, Profile>,
    pub counters: Arena<CounterId, Counter>,
    pub meters: Arena<MeterId, Meter>,
    pub registers: Arena<RegisterId, Register>,
    pub buffers: Arena<BufferId, Buffer>,
    pub value_sets: Arena<ValueSetId, ValueSet>,
    pub digests: Arena<DigestId, Digest>,
    pub externs: Arena<ExternId, Extern>,
    pub field_lists: Arena<FieldListId, FieldList>,
    /// Texts of `log_msg`, `assert` and `assume`.
    pub strings: Arena<StringId, String>,
    /// Places in the source, for traces.
    pub notes: Arena<NoteId, Note>,
    /// Local variables, for traces.
    pub locals: Arena<LocalId, Local>,
    /// The most bytes by which the deparser's output can exceed what the parser took off: the headroom of a packet.
    pub max_growth: u32,
}

/// The functions of the architecture's six programmable blocks.
#[derive(Debug, Clone, Copy, Default)]
pub struct Blocks {
    pub parser: FunctionId,
    pub verify_checksum: FunctionId,
    pub ingress: FunctionId,
    pub egress: FunctionId,
    pub compute_checksum: FunctionId,
    pub deparser: FunctionId,
}

impl Blocks {
    /// In the order in which a packet meets them.
    pub fn in_order(&self) -> [FunctionId; 6] {
        let Self { parser, verify_checksum, ingress, egress, compute_checksum, deparser } = *self;
        [parser, verify_checksum, ingress, egress, compute_checksum, deparser]
    }
}

/// Basic blocks; execution starts at the first.
#[derive(Debug, Clone, Default)]
pub struct Function {
    pub name: String,
    /// Widths of the temps, by index: 1 to 128 bits.
    pub temps: Vec<u8>,
    pub blocks: Arena<BlockId, Block>,
}

#[derive(Debug, Clone)]
pub struct Block {
    pub insts: Vec<Inst>,
    pub end: Terminator,
}

impl Program {
    /// A local variable and all outside of it, from the inside out.
    pub fn locals_from(&self, innermost: Option<LocalId>) -> impl Iterator<Item = &Local> {
        let find = move |id| self.locals.get(id).map(|local| (id, local));
        let outer = move |(id, local): &(LocalId, &Local)| local.outer.filter(|outer| outer < id).and_then(find);
        std::iter::successors(innermost.and_then(find), outer).map(|(_, local)| local)
    }
}
