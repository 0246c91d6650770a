//! Where headers, stacks and metadata stand in the frame.

use std::collections::HashMap;
use std::rc::Rc;

use ir::{Arena, HeaderField, HeaderType, HeaderTypeId, Symbol, SymbolKind, storage_align, storage_size};

use crate::error::{Error, Result, Within, fail};
use crate::model::{self, Document};

/// Bytes that all variables may take together.
const MAX_FRAME: u32 = 1 << 22;
/// Every header starts at a multiple of this.
const ALIGN: u32 = 8;

/// A type of headers or metadata.
#[derive(Debug)]
pub struct Type {
    pub id: HeaderTypeId,
    pub name: String,
    pub fields: Vec<Field>,
    pub size: u32,
}

#[derive(Debug)]
pub struct Field {
    pub name: String,
    /// Behind the validity byte.
    pub offset: u32,
    pub width: u32,
    pub signed: bool,
    pub varbit: bool,
}

/// A header or a structure of metadata.
#[derive(Debug, Clone)]
pub struct Header {
    pub offset: u32,
    pub ty: Rc<Type>,
    /// Where the other members of its union stand, relative to it.
    pub siblings: Vec<i64>,
}

/// Elements at a constant stride, with a counter of those in use before them.
#[derive(Debug, Clone)]
pub struct Stack {
    pub offset: u32,
    pub stride: u32,
    pub count: u32,
    /// The first element, or its members where it is a union, and their names then.
    pub members: Vec<Header>,
    pub names: Vec<String>,
}

impl Stack {
    /// The first element's offset from the counter.
    pub const FIRST: u32 = ALIGN;
}

#[derive(Debug, Default)]
pub struct Layout {
    pub types: Arena<HeaderTypeId, HeaderType>,
    pub headers: HashMap<String, Header>,
    pub stacks: HashMap<String, Stack>,
    /// Their members in order.
    pub unions: HashMap<String, Vec<Header>>,
    pub symbols: Vec<Symbol>,
    /// Where headers end and metadata begins, and where that ends.
    pub headers_end: u32,
    pub end: u32,
}

impl Layout {
    pub fn new(document: &Document) -> Result<Self> {
        let mut layout = Self::default();
        let mut types = HashMap::new();
        for ty in &document.header_types {
            let made = layout.make_type(ty).within(|| format!("header type {}", ty.name))?;
            types.insert(ty.name.as_str(), Rc::new(made));
        }
        let by_id: HashMap<u32, &model::Header> = document.headers.iter().map(|header| (header.id, header)).collect();
        let unions: HashMap<u32, &model::Union> =
            document.header_unions.iter().map(|union| (union.id, union)).collect();
        let header = |id: &u32| by_id.get(id).copied().ok_or_else(|| Error::new(format!("there is no header {id}")));
        for stack in &document.header_stacks {
            let elements: Vec<_> = stack.header_ids.iter().map(|id| Ok(vec![header(id)?])).collect::<Result<_>>()?;
            layout.place_stack(&stack.name, Vec::new(), elements, &types)?;
        }
        for stack in &document.header_union_stacks {
            let ty = document.header_union_types.iter().find(|ty| ty.name == stack.union_type);
            let names = ty.into_iter().flat_map(|ty| &ty.headers).map(|(name, _)| name.clone()).collect();
            let mut elements = Vec::new();
            for id in &stack.header_union_ids {
                let union = unions.get(id).ok_or_else(|| Error::new(format!("there is no header union {id}")))?;
                elements.push(union.header_ids.iter().map(header).collect::<Result<Vec<_>>>()?);
            }
            layout.place_stack(&stack.name, names, elements, &types)?;
        }
        for union in &document.header_unions {
            let members = union.header_ids.iter().map(header).collect::<Result<Vec<_>>>()?;
            layout.place_union(&union.name, &members, &types)?;
        }
        for header in document.headers.iter().filter(|header| !header.metadata) {
            layout.place(header, &types)?;
        }
        layout.headers_end = layout.end;
        for header in document.headers.iter().filter(|header| header.metadata) {
            layout.place(header, &types)?;
        }
        layout.symbols.sort_by_key(|symbol| symbol.offset);
        Ok(layout)
    }

    fn make_type(&mut self, ty: &model::HeaderType) -> Result<Type> {
        let fixed: u32 = ty.fields.iter().filter_map(|field| field.width).fold(0, u32::saturating_add);
        let (mut fields, mut end) = (Vec::new(), 1u32);
        for field in &ty.fields {
            let (width, varbit) = match (field.width, ty.max_length) {
                (Some(0), _) => return fail(format!("field {} has no bits", field.name)),
                (Some(width), _) => (width, false),
                (None, Some(max)) => (max.saturating_mul(8).saturating_sub(fixed), true),
                (None, None) => return fail(format!("field {} is a varbit: `max_length` is missing", field.name)),
            };
            let (size, align) = match varbit {
                _ if width > MAX_FRAME => return fail(format!("field {} is too long", field.name)),
                true => (4 + width.div_ceil(8), 4),
                false => (storage_size(width), storage_align(width)),
            };
            let offset = end.next_multiple_of(align);
            end = offset.saturating_add(size);
            fields.push(Field { name: field.name.clone(), offset, width, signed: field.signed, varbit });
        }
        if fields.iter().filter(|field| field.varbit).count() > 1 {
            return fail("a header has one varbit at most");
        }
        let size = end.min(MAX_FRAME).next_multiple_of(ALIGN);
        let made = fields.iter().map(|field| HeaderField {
            name: field.name.clone(),
            offset: field.offset,
            width: field.width,
            varbit: field.varbit,
        });
        let id = self.types.push(HeaderType { name: ty.name.clone(), fields: made.collect(), size });
        Ok(Type { id, name: ty.name.clone(), fields, size })
    }

    fn place_stack(
        &mut self,
        name: &str,
        names: Vec<String>,
        elements: Vec<Vec<&model::Header>>,
        types: &HashMap<&str, Rc<Type>>,
    ) -> Result<()> {
        let kinds = |element: &[&model::Header]| -> Vec<String> {
            element.iter().map(|header| header.header_type.clone()).collect()
        };
        let Some(first) = elements.first().filter(|first| !first.is_empty()) else {
            return fail(format!("stack {name} has no elements"));
        };
        if elements.iter().any(|element| kinds(element) != kinds(first)) {
            return fail(format!("the elements of stack {name} have several types"));
        }
        let offset = self.end;
        self.symbols.push(Symbol { name: format!("{name}.$next"), offset, kind: SymbolKind::Bits(32) });
        self.end += Stack::FIRST;
        for element in &elements {
            self.place_members(element, types)?;
        }
        let members: Vec<Header> = first.iter().map(|header| self.headers[&header.name].clone()).collect();
        let stride = members.iter().map(|member| member.ty.size).sum();
        let stack = Stack { offset, stride, count: elements.len() as u32, members, names };
        self.stacks.insert(name.to_owned(), stack);
        Ok(())
    }

    fn place_union(&mut self, name: &str, members: &[&model::Header], types: &HashMap<&str, Rc<Type>>) -> Result<()> {
        // Those of a stack are placed already.
        if members.iter().any(|member| !self.headers.contains_key(&member.name)) {
            self.place_members(members, types)?;
        }
        let members = members.iter().map(|member| self.headers[&member.name].clone()).collect();
        self.unions.insert(name.to_owned(), members);
        Ok(())
    }

    /// Places the members of a union one behind the other.
    fn place_members(&mut self, members: &[&model::Header], types: &HashMap<&str, Rc<Type>>) -> Result<()> {
        for member in members {
            self.place(member, types)?;
        }
        let offsets: Vec<i64> = members.iter().map(|member| i64::from(self.headers[&member.name].offset)).collect();
        for (member, own) in members.iter().zip(&offsets) {
            let siblings = offsets.iter().filter(|other| *other != own).map(|other| other - own).collect();
            if let Some(header) = self.headers.get_mut(&member.name) {
                header.siblings = siblings;
            }
        }
        Ok(())
    }

    fn place(&mut self, header: &model::Header, types: &HashMap<&str, Rc<Type>>) -> Result<()> {
        if self.headers.contains_key(&header.name) {
            return Ok(());
        }
        let Some(ty) = types.get(header.header_type.as_str()) else {
            return fail(format!("header {} is of type {}, which is not there", header.name, header.header_type));
        };
        let offset = self.end;
        if !header.metadata {
            self.symbols.push(Symbol { name: format!("{}.$valid", header.name), offset, kind: SymbolKind::Bool });
        }
        self.symbols.extend(ty.fields.iter().map(|field| Symbol {
            name: format!("{}.{}", header.name, field.name),
            offset: offset + field.offset,
            kind: if field.varbit { SymbolKind::Varbit(field.width) } else { SymbolKind::Bits(field.width) },
        }));
        self.end += ty.size;
        if self.end > MAX_FRAME {
            return fail(format!("headers and metadata take more than {MAX_FRAME} bytes"));
        }
        self.headers.insert(header.name.clone(), Header { offset, ty: ty.clone(), siblings: Vec::new() });
        Ok(())
    }

    /// Memory for what the architecture writes and the program does not have.
    pub fn reserve(&mut self, width: u32) -> u32 {
        let offset = self.end;
        self.end += storage_size(width).next_multiple_of(ALIGN);
        offset
    }
}
