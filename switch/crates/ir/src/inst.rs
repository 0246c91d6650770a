//! Instructions and terminators.

use num_bigint::BigUint;

use crate::frame::Place;
use crate::handle::*;

/// A scalar of at most 128 bits. An immediate fits the width its use gives it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Operand {
    Temp(Temp),
    Imm(u128),
}

/// A value of any width, with its width, where an instruction takes values of several.
#[derive(Debug, Clone, PartialEq)]
pub enum Arg {
    /// At most 128 bits.
    Scalar(Operand, u32),
    /// A value in the frame of any width.
    Frame(Place, u32),
    Const(BigUint, u32),
    /// A varbit field in the frame: as many bits as it holds now, at most the given number.
    Varbit(Place, u32),
}

/// Where a result of any width goes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Dest {
    Temp(Temp),
    Frame(Place, u32),
}

#[derive(Debug, Clone, PartialEq)]
pub enum Inst {
    /// Operands have the width of `dst`, but for a shift's amount (`b`), which has any.
    Unary {
        dst: Temp,
        op: UnaryOp,
        a: Operand,
    },
    Binary {
        dst: Temp,
        op: BinaryOp,
        a: Operand,
        b: Operand,
    },
    /// `a` and `b` are `width` bits; `dst` is 1 bit.
    Compare {
        dst: Temp,
        op: CompareOp,
        width: u32,
        a: Operand,
        b: Operand,
    },
    /// `a` of `from` bits becomes `dst`'s width: longer by zeros or the sign, shorter by cutting high bits.
    Resize {
        dst: Temp,
        signed: bool,
        from: u32,
        a: Operand,
    },
    /// `a[hi:lo]`; `dst` is `hi - lo + 1` bits.
    Slice {
        dst: Temp,
        a: Operand,
        hi: u32,
        lo: u32,
    },
    /// `a` with bits `hi..=lo` replaced by `value`; `dst` has `a`'s width.
    Insert {
        dst: Temp,
        a: Operand,
        value: Operand,
        hi: u32,
        lo: u32,
    },
    /// `a ++ b`, `b` of `b_width` bits.
    Concat {
        dst: Temp,
        a: Operand,
        b: Operand,
        b_width: u32,
    },
    /// `cond ? a : b`, both already computed.
    Select {
        dst: Temp,
        cond: Operand,
        a: Operand,
        b: Operand,
    },
    Load {
        dst: Temp,
        place: Place,
    },
    /// `width` bits of `src`.
    Store {
        place: Place,
        width: u32,
        src: Operand,
    },
    /// `bytes` from one place to another, as they were before if the two overlap.
    Copy {
        dst: Place,
        src: Place,
        bytes: u32,
    },
    Zero {
        place: Place,
        bytes: u32,
    },
    /// Anything on values of more than 128 bits, and on varbits.
    Wide {
        op: WideOp,
        dst: Dest,
        args: Vec<Arg>,
    },
    /// Moves the elements of a stack (elements only, `count` of them at `place`) by `by` places towards higher
    /// (`push_front`) or lower (`pop_front`) indices; freed elements become zero.
    StackShift {
        place: Place,
        stride: u32,
        count: u32,
        by: u32,
        push: bool,
    },

    // Parsers. `error` is 32 bits: 0, or the index of the error; then nothing was extracted and the cursor stands.
    /// Takes a header off the packet at the cursor, makes it valid and moves the cursor. `varbit_bits` is the length of
    /// the varbit field in bits (32-bit value). With `peek`, the cursor stands.
    Extract {
        error: Temp,
        header: HeaderTypeId,
        place: Place,
        varbit_bits: Option<Operand>,
        peek: bool,
    },
    /// The next `dst`-width bits, without moving the cursor.
    Lookahead {
        error: Temp,
        dst: Dest,
    },
    /// Moves the cursor; `bits` is a 32-bit value, a multiple of 8.
    Advance {
        error: Temp,
        bits: Operand,
    },
    /// Bytes of the packet (32 bits).
    PacketLength {
        dst: Temp,
    },
    /// Whether the values are in a value set.
    InValueSet {
        dst: Temp,
        set: ValueSetId,
        args: Vec<Arg>,
    },
    /// Uses up one step of the packet's budget of loop turns; `dst` (1 bit) is 1 when none is left.
    Fuel {
        dst: Temp,
    },

    // Deparsers.
    /// Appends the header to the output if it is valid.
    Emit {
        header: HeaderTypeId,
        place: Place,
    },

    // Tables.
    /// Looks the keys up, counts, remembers the entry. `hit` is 1 bit; `action` is 32 bits: an index into
    /// the table's actions, or `NO_ACTION`. `selector` are the selector's inputs, if the table has a selector.
    Lookup {
        table: TableId,
        keys: Vec<Arg>,
        selector: Vec<Arg>,
        hit: Temp,
        action: Temp,
    },
    /// A parameter of the action that the last `Lookup` found, at `offset` in its data; scalars only.
    LoadArg {
        dst: Temp,
        offset: u32,
    },
    /// The same for a parameter of more than 128 bits.
    CopyArg {
        dst: Place,
        offset: u32,
        bytes: u32,
    },

    // Externs.
    Count {
        counter: CounterId,
        index: Operand,
    },
    /// Colour 0 green, 1 yellow, 2 red, in `dst`'s width. `before` is the packet's colour until now; without it, the meter is
    /// colour-blind.
    Meter {
        dst: Temp,
        meter: MeterId,
        index: Operand,
        before: Option<Operand>,
    },
    /// The colour of the entry that the last `Lookup` in the table found.
    DirectMeter {
        dst: Temp,
        table: TableId,
        before: Option<Operand>,
    },
    /// `index` is 32 bits; out of range reads zero and writes nothing.
    RegisterRead {
        dst: Dest,
        register: RegisterId,
        index: Operand,
    },
    RegisterWrite {
        register: RegisterId,
        index: Operand,
        value: Arg,
    },
    /// `base + hash(data) mod max` (`max` 0 means no modulus is taken), cut to `dst`.
    Hash {
        dst: Dest,
        algorithm: HashAlgorithm,
        base: Arg,
        data: Vec<Arg>,
        max: Arg,
    },
    /// A checksum of the data, and of the packet's bytes after the parsed headers if `payload`.
    Checksum {
        dst: Dest,
        algorithm: HashAlgorithm,
        data: Vec<Arg>,
        payload: bool,
    },
    /// Uniform in `lo..=hi`.
    Random {
        dst: Dest,
        lo: Arg,
        hi: Arg,
    },
    Digest {
        digest: DigestId,
        data: Vec<Arg>,
    },
    /// A call of an extern of the program's own. The results stand in the frame: `out` and `inout` parameters, then what
    /// it returns.
    CallExtern {
        function: ExternId,
        args: Vec<Arg>,
        results: Vec<Dest>,
    },
    Clone {
        kind: CloneKind,
        session: Operand,
        fields: Option<FieldListId>,
    },
    Resubmit {
        fields: Option<FieldListId>,
    },
    Recirculate {
        fields: Option<FieldListId>,
    },
    /// Keeps a copy of the packet as it came in, under a number in a queue; `dst` (1 bit) says whether there is room. All
    /// operands are 32 bits.
    BufferKeep {
        dst: Temp,
        buffer: BufferId,
        queue: Operand,
        number: Operand,
        microseconds: Operand,
        fields: FieldListId,
    },
    /// Drops the copies of a queue up to a number.
    BufferRelease {
        buffer: BufferId,
        queue: Operand,
        number: Operand,
    },
    /// Has the copies of a queue up to a number start again.
    BufferSend {
        buffer: BufferId,
        queue: Operand,
        number: Operand,
    },
    /// Cuts the packet to `bytes` (32 bits) when it leaves.
    Truncate {
        bytes: Operand,
    },
    LogMessage {
        format: StringId,
        args: Vec<Arg>,
    },
    /// `assert` or `assume`: when `cond` (1 bit) is 0, the packet is dropped and the failure counted and logged.
    Assert {
        cond: Operand,
        text: StringId,
    },
    /// A place in the source; does nothing but appear in traces.
    Note(NoteId),
    /// The variables that live from here on: this one and those outside of it; only traces ask.
    Locals(Option<LocalId>),
}

/// `action` of a `Lookup` that found no entry in a table without default action.
pub const NO_ACTION: u32 = u32::MAX;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnaryOp {
    Neg,
    /// Bitwise; on 1 bit it is logical not.
    Not,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BinaryOp {
    Add,
    Sub,
    Mul,
    /// Unsigned; by zero gives zero.
    Div,
    Mod,
    And,
    Or,
    Xor,
    /// Shifts by the width or more give 0, or the sign for `Sar`.
    Shl,
    Shr,
    Sar,
    /// Saturating, unsigned and signed.
    AddSatU,
    SubSatU,
    AddSatS,
    SubSatS,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompareOp {
    Eq,
    Ne,
    LtU,
    LeU,
    LtS,
    LeS,
}

/// Operations of `Inst::Wide`. The widths of the arguments and of the destination say the rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WideOp {
    /// One argument, made longer by zeros or the sign, or cut.
    ResizeU,
    ResizeS,
    Unary(UnaryOp),
    Binary(BinaryOp),
    /// Destination of 1 bit. `Eq` and `Ne` also take two varbits (lengths count).
    Compare(CompareOp),
    Slice {
        hi: u32,
        lo: u32,
    },
    /// `(a, value)`.
    Insert {
        hi: u32,
        lo: u32,
    },
    Concat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HashAlgorithm {
    Crc32,
    Crc32Custom,
    Crc16,
    Crc16Custom,
    Random,
    Identity,
    Csum16,
    Xor16,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CloneKind {
    IngressToEgress,
    EgressToEgress,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Terminator {
    Jump(BlockId),
    /// `cond` is 1 bit.
    Branch {
        cond: Operand,
        then: BlockId,
        otherwise: BlockId,
    },
    /// `value` is a scalar of `width` bits; the cases differ.
    Switch {
        value: Operand,
        width: u32,
        cases: Vec<(u128, BlockId)>,
        default: BlockId,
    },
    Return,
}
