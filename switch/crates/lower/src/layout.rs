//! How values of each type stand in the frame.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use hir::{Type, TypeId, Types};
use ir::{Arena, HeaderField, HeaderType, HeaderTypeId, Symbol, SymbolKind, storage_align, storage_size};

/// Size, alignment and parts of a type's storage.
#[derive(Debug)]
pub struct Layout {
    pub size: u32,
    pub align: u32,
    pub shape: Shape,
}

#[derive(Debug)]
pub enum Shape {
    /// A number, bool, error or enum member of any width.
    Scalar {
        width: u32,
        signed: bool,
        kind: SymbolKind,
    },
    Varbit(u32),
    /// A struct or tuple.
    Struct(Vec<Member>),
    Header(HeaderTypeId, Vec<Member>),
    Union(Vec<Member>),
    /// Elements start at `first`; a stack of headers or unions has its `next` counter before them.
    Stack {
        element: TypeId,
        count: u32,
        stride: u32,
        first: u32,
    },
    /// `void`, extern objects: no storage.
    Nothing,
}

#[derive(Debug)]
pub struct Member {
    pub name: String,
    pub ty: TypeId,
    pub offset: u32,
}

/// A scalar, varbit or validity byte inside some type.
#[derive(Debug, Clone)]
pub struct Leaf {
    pub name: String,
    pub offset: u32,
    pub kind: LeafKind,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LeafKind {
    Scalar(u32, SymbolKind),
    Varbit(u32),
    /// The validity of a header.
    Valid,
    /// The counter of a stack.
    Next,
}

impl Leaf {
    pub fn symbol(self) -> Symbol {
        let kind = match self.kind {
            LeafKind::Scalar(_, kind) => kind,
            LeafKind::Varbit(max) => SymbolKind::Varbit(max),
            LeafKind::Valid => SymbolKind::Bool,
            LeafKind::Next => SymbolKind::Bits(32),
        };
        Symbol { name: self.name, offset: self.offset, kind }
    }
}

/// Any variable, whose parts are asked for.
const VARIABLE: &str = "_";
/// Parts of local variables with more bytes have no names.
const MOST_NAMED: u32 = 1 << 16;

/// Sizes stop here, far above what a variable may take, so that no sum of them overflows.
const HUGE: u32 = 1 << 28;

/// Layouts of all types met so far, and the header types that come with them.
#[derive(Default)]
pub struct Layouts {
    known: HashMap<TypeId, Rc<Layout>>,
    parts: HashMap<TypeId, Arc<[Symbol]>>,
    pub headers: Arena<HeaderTypeId, HeaderType>,
}

impl Layouts {
    pub fn get(&mut self, types: &Types, ty: TypeId) -> Rc<Layout> {
        let ty = types.stored(ty);
        if let Some(layout) = self.known.get(&ty) {
            return layout.clone();
        }
        let layout = Rc::new(self.make(types, ty));
        self.known.insert(ty, layout.clone());
        layout
    }

    fn make(&mut self, types: &Types, ty: TypeId) -> Layout {
        match types.get(ty) {
            Type::Bool => scalar(1, false, SymbolKind::Bool),
            Type::Bit(width) => scalar(*width, false, SymbolKind::Bits(*width)),
            Type::Signed(width) => scalar(*width, true, SymbolKind::Bits(*width)),
            // A constant that was never given a width; 32 bits hold any index or amount.
            Type::Int => scalar(32, true, SymbolKind::Bits(32)),
            Type::Error => scalar(32, false, SymbolKind::Error),
            Type::Enum(_) => scalar(32, false, SymbolKind::Bits(32)),
            Type::Varbit(max) => Layout { size: 4 + max.div_ceil(8), align: 4, shape: Shape::Varbit(*max) },
            Type::Struct(_) => {
                let (members, size, align) = self.members(types, named(types, ty), 0);
                Layout { size, align, shape: Shape::Struct(members) }
            }
            Type::Tuple(items) => {
                let items = items.iter().enumerate().map(|(index, item)| (index.to_string(), *item)).collect();
                let (members, size, align) = self.members(types, items, 0);
                Layout { size, align, shape: Shape::Struct(members) }
            }
            Type::HeaderUnion(_) => {
                let (members, size, align) = self.members(types, named(types, ty), 0);
                Layout { size, align, shape: Shape::Union(members) }
            }
            Type::Header(id) => {
                let (members, size, align) = self.members(types, named(types, ty), 1);
                let mut fields = Vec::new();
                for member in &members {
                    let mut leaves = Vec::new();
                    self.leaves(types, member.ty, &member.name, member.offset, &mut leaves);
                    fields.extend(leaves.into_iter().filter_map(header_field));
                }
                let name = types.structs[*id].name.clone();
                let header = self.headers.push(HeaderType { name, fields, size });
                Layout { size, align, shape: Shape::Header(header, members) }
            }
            Type::Stack(element, count) => {
                let (element, count) = (*element, *count);
                let inner = self.get(types, element);
                let counted = matches!(types.get(types.stored(element)), Type::Header(_) | Type::HeaderUnion(_));
                let align = if counted { inner.align.max(4) } else { inner.align };
                let first = if counted { 4u32.next_multiple_of(align) } else { 0 };
                let stride = inner.size.next_multiple_of(inner.align);
                let size = first.saturating_add(stride.saturating_mul(count)).min(HUGE).next_multiple_of(align);
                Layout { size, align, shape: Shape::Stack { element, count, stride, first } }
            }
            _ => Layout { size: 0, align: 1, shape: Shape::Nothing },
        }
    }

    fn members(&mut self, types: &Types, items: Vec<(String, TypeId)>, start: u32) -> (Vec<Member>, u32, u32) {
        let (mut end, mut align) = (start, 1);
        let mut members = Vec::with_capacity(items.len());
        for (name, ty) in items {
            let layout = self.get(types, ty);
            let offset = end.next_multiple_of(layout.align);
            end = offset.saturating_add(layout.size).min(HUGE);
            align = align.max(layout.align);
            members.push(Member { name, ty, offset });
        }
        (members, end.next_multiple_of(align), align)
    }

    /// All scalars of a type, in order, with their names as they follow that of a variable.
    pub fn parts(&mut self, types: &Types, ty: TypeId) -> Arc<[Symbol]> {
        let ty = types.stored(ty);
        if let Some(parts) = self.parts.get(&ty) {
            return parts.clone();
        }
        let mut leaves = Vec::new();
        if self.get(types, ty).size <= MOST_NAMED {
            self.leaves(types, ty, VARIABLE, 0, &mut leaves);
        }
        let symbol = |leaf: Leaf| Symbol { name: leaf.name[VARIABLE.len()..].to_owned(), ..leaf.symbol() };
        let parts: Arc<[Symbol]> = leaves.into_iter().map(symbol).collect();
        self.parts.insert(ty, parts.clone());
        parts
    }

    /// All scalars of a type, in order, with their names behind `name` and their offsets behind `offset`.
    pub fn leaves(&mut self, types: &Types, ty: TypeId, name: &str, offset: u32, out: &mut Vec<Leaf>) {
        let layout = self.get(types, ty);
        let mut leaf = |name: String, kind| out.push(Leaf { name, offset, kind });
        match &layout.shape {
            // `bit<0>` has its value in its type alone.
            Shape::Scalar { width: 0, .. } => {}
            Shape::Scalar { width, kind, .. } => leaf(name.to_string(), LeafKind::Scalar(*width, *kind)),
            Shape::Varbit(max) => leaf(name.to_string(), LeafKind::Varbit(*max)),
            Shape::Header(_, members) => {
                leaf(format!("{name}.$valid"), LeafKind::Valid);
                self.member_leaves(types, members, name, offset, out);
            }
            Shape::Struct(members) | Shape::Union(members) => self.member_leaves(types, members, name, offset, out),
            Shape::Stack { element, count, stride, first } => {
                if *first > 0 {
                    leaf(format!("{name}.$next"), LeafKind::Next);
                }
                for index in 0..*count {
                    let at = offset + first + index * stride;
                    self.leaves(types, *element, &format!("{name}[{index}]"), at, out);
                }
            }
            Shape::Nothing => {}
        }
    }

    fn member_leaves(&mut self, types: &Types, members: &[Member], name: &str, offset: u32, out: &mut Vec<Leaf>) {
        for member in members {
            let name = if name.is_empty() { member.name.clone() } else { format!("{name}.{}", member.name) };
            self.leaves(types, member.ty, &name, offset + member.offset, out);
        }
    }
}

fn scalar(width: u32, signed: bool, kind: SymbolKind) -> Layout {
    Layout { size: storage_size(width), align: storage_align(width), shape: Shape::Scalar { width, signed, kind } }
}

fn named(types: &Types, ty: TypeId) -> Vec<(String, TypeId)> {
    let fields = types.fields(ty).unwrap_or_default();
    fields.iter().map(|field| (field.name.clone(), field.ty)).collect()
}

/// How a scalar or varbit stands on the wire; validity and counters don't.
fn header_field(leaf: Leaf) -> Option<HeaderField> {
    let (width, varbit) = match leaf.kind {
        LeafKind::Scalar(width, _) => (width, false),
        LeafKind::Varbit(max) => (max, true),
        LeafKind::Valid | LeafKind::Next => return None,
    };
    Some(HeaderField { name: leaf.name, offset: leaf.offset, width, varbit })
}
