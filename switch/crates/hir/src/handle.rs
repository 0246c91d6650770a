//! Typed handles into the arenas of a program.

pub use arena::{Arena, Handle};

arena::handles! {
    TypeId
    StructId
    EnumId
    NewTypeId
    ExternId
    VarId
    ExternFnId
    FunctionId
    ActionId
    TableId
    ValueSetId
    ParserId
    ControlId
    PackageId
}
