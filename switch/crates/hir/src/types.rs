//! Types: interned, monomorphic, compared by handle.

use std::collections::HashMap;

use syntax::source::Span;

use crate::handle::*;
use crate::{Annotation, ExternParam};

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Type {
    Void,
    Bool,
    /// `int`: infinite precision, compile time only.
    Int,
    /// `bit<W>`.
    Bit(u32),
    /// `int<W>`.
    Signed(u32),
    /// `varbit<W>`.
    Varbit(u32),
    String,
    Error,
    MatchKind,
    Enum(EnumId),
    /// `struct`.
    Struct(StructId),
    Header(StructId),
    HeaderUnion(StructId),
    /// `T[N]`: a stack of headers or header unions, or an array of another type.
    Stack(TypeId, u32),
    Tuple(Vec<TypeId>),
    /// `type T name`: equal to nothing but itself.
    New(NewTypeId),
    /// An extern object type, its type arguments given.
    Extern(ExternId, Vec<TypeId>),
    Parser(ParserId),
    Control(ControlId),
    Package(PackageId),
    /// A parser or control type without a body, such as the type of a constructor parameter. The text is its name.
    ArchBlock(String),
    /// What `t.apply()` yields; the fields `hit`, `miss` and `action_run` have expressions of their own.
    TableResult(TableId),
    /// `_`: an argument or pattern that takes any type.
    Any,
}

/// A struct, header or header union, one for each list of type arguments.
#[derive(Debug, Clone)]
pub struct StructDecl {
    pub name: String,
    pub fields: Vec<Field>,
    pub annotations: Vec<Annotation>,
    pub span: Span,
}

#[derive(Debug, Clone)]
pub struct Field {
    pub name: String,
    pub ty: TypeId,
    pub annotations: Vec<Annotation>,
}

/// `enum E { A, B }` or `enum bit<W> E { A = 1 }`.
#[derive(Debug, Clone)]
pub struct EnumDecl {
    pub name: String,
    /// The underlying type of a serializable enum.
    pub underlying: Option<TypeId>,
    pub members: Vec<EnumMember>,
    pub annotations: Vec<Annotation>,
    pub span: Span,
}

#[derive(Debug, Clone)]
pub struct EnumMember {
    pub name: String,
    /// The value of a serializable enum's member.
    pub value: Option<num_bigint::BigInt>,
    pub annotations: Vec<Annotation>,
}

/// `type T name;`
#[derive(Debug, Clone)]
pub struct NewType {
    pub name: String,
    pub underlying: TypeId,
    pub annotations: Vec<Annotation>,
    pub span: Span,
}

/// An extern object type. Types of its parameters are not kept here: they may name type parameters, and each call
/// carries the types it was checked with.
#[derive(Debug, Clone)]
pub struct ExternDecl {
    pub name: String,
    /// Constructors by their parameters.
    pub constructors: Vec<Vec<ExternParam>>,
    pub methods: Vec<Method>,
    pub annotations: Vec<Annotation>,
    pub span: Span,
}

#[derive(Debug, Clone)]
pub struct Method {
    pub name: String,
    pub params: Vec<ExternParam>,
    pub is_abstract: bool,
    pub annotations: Vec<Annotation>,
}

/// A package type, such as `V1Switch`.
#[derive(Debug, Clone)]
pub struct PackageDecl {
    pub name: String,
    pub params: Vec<String>,
    pub annotations: Vec<Annotation>,
    pub span: Span,
}

/// All types of a program.
#[derive(Debug, Default)]
pub struct Types {
    interned: HashMap<Type, TypeId>,
    types: Arena<TypeId, Type>,
    pub structs: Arena<StructId, StructDecl>,
    pub enums: Arena<EnumId, EnumDecl>,
    pub new_types: Arena<NewTypeId, NewType>,
    pub externs: Arena<ExternId, ExternDecl>,
    pub packages: Arena<PackageId, PackageDecl>,
}

impl Types {
    pub fn intern(&mut self, ty: Type) -> TypeId {
        if let Some(id) = self.interned.get(&ty) {
            return *id;
        }
        let id = self.types.push(ty.clone());
        self.interned.insert(ty, id);
        id
    }

    pub fn get(&self, id: TypeId) -> &Type {
        &self.types[id]
    }

    /// The type under any number of `type` declarations and serializable enums: what is stored.
    pub fn stored(&self, id: TypeId) -> TypeId {
        match self.get(id) {
            Type::New(new) => self.stored(self.new_types[*new].underlying),
            Type::Enum(e) => self.enums[*e].underlying.map_or(id, |underlying| self.stored(underlying)),
            _ => id,
        }
    }

    /// The fields of a struct, header or header union.
    pub fn fields(&self, id: TypeId) -> Option<&[Field]> {
        match self.get(id) {
            Type::Struct(s) | Type::Header(s) | Type::HeaderUnion(s) => Some(&self.structs[*s].fields),
            _ => None,
        }
    }
}
