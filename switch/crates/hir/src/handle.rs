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
