//! Typed handles into the arenas of a program.

pub use cranelift_entity::{EntityRef as Handle, PrimaryMap as Arena};

macro_rules! handles {
    ($($(#[$doc:meta])* $name:ident)*) => { $(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
        pub struct $name(u32);
        cranelift_entity::entity_impl!($name);
    )* };
}

handles! {
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
    BufferId
    ValueSetId
    DigestId
    ExternId
    FieldListId
    StringId
    NoteId
    LocalId
}
