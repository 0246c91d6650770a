//! Typed handles into the arenas of a program.

pub use arena::{Arena, Handle};

arena::handles! {
    /// A value computed in a function.
    Temp
    BlockId
    FunctionId
    HeaderTypeId
    ActionId
    TableId
    ProfileId
    CounterId
    MeterId
    RegisterId
    ValueSetId
    DigestId
    FieldListId
    StringId
    NoteId
}
