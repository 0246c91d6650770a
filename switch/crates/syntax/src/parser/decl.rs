//! Declarations of the top level.

use super::{Parse, Parser, Stop};
use crate::ast::{
    Annotation, ConstDecl, ControlDecl, Decl, Direction, EnumDecl, EnumMember, Field, Function, Ident, MemberList,
    PackageDecl, Param, ParserDecl, Path, Program, StructDecl, StructKind, Type, TypeKind, TypedefDecl,
};
use crate::diag::Diagnostic;
use crate::source::Span;
use crate::token::TokenKind;

impl Parser<'_> {
    pub(super) fn program(&mut self) -> Program {
        let mut decls = Vec::new();
        while self.kind() != TokenKind::Eof {
            if self.take(TokenKind::Semicolon) {
                continue;
            }
            let start = self.pos;
            if self.declaration(&mut decls).is_err() {
                self.skip_item(start);
                if self.pos == start {
                    // Only a `}` stops there without going on.
                    self.bump();
                }
            }
        }
        Program { decls }
    }

    /// Reads a declaration; `typedef struct` makes two of it.
    fn declaration(&mut self, decls: &mut Vec<Decl>) -> Parse<()> {
        let start = self.span();
        let annotations = self.annotations()?;
        let decl = match self.kind() {
            TokenKind::Const => self.const_decl(annotations, start)?,
            TokenKind::Error if self.nth(1) == TokenKind::OpenBrace => {
                Decl::Error(self.member_list(annotations, start)?)
            }
            TokenKind::MatchKind if self.nth(1) == TokenKind::OpenBrace => {
                Decl::MatchKind(self.member_list(annotations, start)?)
            }
            TokenKind::Typedef | TokenKind::Type => return self.typedef(annotations, start, decls),
            TokenKind::Struct | TokenKind::Header | TokenKind::HeaderUnion => {
                Decl::Struct(self.struct_decl(annotations, start)?)
            }
            TokenKind::Enum => Decl::Enum(self.enum_decl(annotations, start)?),
            TokenKind::Extern => self.extern_decl(annotations, start)?,
            TokenKind::Parser => Decl::Parser(self.parser_decl(annotations, start)?),
            TokenKind::Control => Decl::Control(self.control_decl(annotations, start)?),
            TokenKind::Package => Decl::Package(self.package_decl(annotations, start)?),
            TokenKind::Action => Decl::Action(self.action(annotations, start)?),
            TokenKind::Table => return Err(self.misplaced("a table stands in a control")),
            TokenKind::State if self.nth(1).is_name() => return Err(self.misplaced("a state stands in a parser")),
            TokenKind::CloseBrace => {
                return Err(self.misplaced("this `}` closes nothing"));
            }
            _ => self.function_or_instance(annotations, start)?,
        };
        decls.push(decl);
        Ok(())
    }

    fn misplaced(&mut self, message: &str) -> Stop {
        self.report(Diagnostic::error(self.span(), message))
    }

    /// `type name(params) { ... }` or `Type(args) name;`
    pub(super) fn function_or_instance(&mut self, annotations: Vec<Annotation>, start: Span) -> Parse<Decl> {
        let Some(end) = self.type_end(self.pos) else {
            return Err(match self.kind() {
                _ if self.is_type_at(self.pos) => self.ty().err().unwrap_or(Stop),
                _ => self.expected("a declaration"),
            });
        };
        if self.kind_at(end) == TokenKind::OpenParen {
            return self.instance(annotations, start).map(Decl::Instance);
        }
        if matches!(self.kind_at(end + 1), TokenKind::Assign | TokenKind::Semicolon) && self.kind_at(end).is_name() {
            let error = Diagnostic::error(self.span().to(self.tokens[end].span), "a variable cannot stand here");
            return Err(self.report(error.help("a constant can: `const type name = value;`")));
        }
        let function = self.scoped(|p| {
            let prototype = p.prototype_in_scope(annotations, start)?;
            let body = p.block()?;
            Ok(Function { prototype, body, span: p.since(start) })
        })?;
        self.declare(&function.prototype.name, false);
        Ok(Decl::Function(function))
    }

    pub(super) fn const_decl(&mut self, annotations: Vec<Annotation>, start: Span) -> Parse<Decl> {
        self.bump();
        let ty = self.ty()?;
        let (ty, name) = self.declarator(ty, "the name of a constant")?;
        self.expect(TokenKind::Assign)?;
        let value = self.expr()?;
        self.declare(&name, false);
        self.semicolon("the constant")?;
        Ok(Decl::Const(ConstDecl { annotations, ty, name, value, span: self.since(start) }))
    }

    /// A name, and with `name[size]` the type it makes of `ty`.
    pub(super) fn declarator(&mut self, mut ty: Type, what: &str) -> Parse<(Type, Ident)> {
        let name = self.name(what)?;
        while self.kind() == TokenKind::OpenBracket {
            ty = self.stack(ty)?;
        }
        Ok((ty, name))
    }

    /// `error { A, B }` or `match_kind { a, b }`.
    fn member_list(&mut self, annotations: Vec<Annotation>, start: Span) -> Parse<MemberList> {
        self.bump();
        let members = self.comma_list(|p| p.name("a name"))?;
        Ok(MemberList { annotations, members, span: self.since(start) })
    }

    /// `{a, b}`; a last comma may be there.
    fn comma_list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Parse<T>) -> Parse<Vec<T>> {
        let open = self.expect(TokenKind::OpenBrace)?;
        let mut items = Vec::new();
        while self.kind() != TokenKind::CloseBrace {
            items.push(item(self)?);
            if !self.take(TokenKind::Comma) {
                break;
            }
        }
        self.expect_close(open, TokenKind::CloseBrace, "`,` or ")?;
        Ok(items)
    }

    fn typedef(&mut self, annotations: Vec<Annotation>, start: Span, decls: &mut Vec<Decl>) -> Parse<()> {
        let is_new = self.bump().kind == TokenKind::Type;
        let inner = self.span();
        let inner_annotations = self.annotations()?;
        let derived = match self.kind() {
            TokenKind::Struct | TokenKind::Header | TokenKind::HeaderUnion => {
                Some(Decl::Struct(self.struct_decl(inner_annotations, inner)?))
            }
            TokenKind::Enum => Some(Decl::Enum(self.enum_decl(inner_annotations, inner)?)),
            _ if !inner_annotations.is_empty() => return Err(self.expected("`struct`, `header` or `enum`")),
            _ => None,
        };
        let ty = match derived.as_ref().and_then(Decl::name).cloned() {
            Some(name) => {
                let span = name.span;
                Type { kind: TypeKind::Named { path: Path { global: false, name, span }, args: Vec::new() }, span }
            }
            None => self.ty()?,
        };
        decls.extend(derived);
        let (ty, name) = self.declarator(ty, "the name of a type")?;
        self.declare(&name, true);
        self.semicolon(if is_new { "the type" } else { "the typedef" })?;
        decls.push(Decl::Typedef(TypedefDecl { annotations, is_new, ty, name, span: self.since(start) }));
        Ok(())
    }

    fn struct_decl(&mut self, annotations: Vec<Annotation>, start: Span) -> Parse<StructDecl> {
        let kind = match self.bump().kind {
            TokenKind::Header => StructKind::Header,
            TokenKind::HeaderUnion => StructKind::HeaderUnion,
            _ => StructKind::Struct,
        };
        let name = self.name("the name of a type")?;
        self.declare(&name, true);
        let (type_params, fields) = self.scoped(|p| Ok((p.type_params()?, p.braced(Self::field)?)))?;
        Ok(StructDecl { annotations, kind, name, type_params, fields, span: self.since(start) })
    }

    fn field(&mut self) -> Parse<Field> {
        let start = self.span();
        let annotations = self.annotations()?;
        let ty = self.ty()?;
        let (ty, name) = self.declarator(ty, "the name of a field")?;
        self.semicolon("the field")?;
        Ok(Field { annotations, ty, name, span: self.since(start) })
    }

    fn enum_decl(&mut self, annotations: Vec<Annotation>, start: Span) -> Parse<EnumDecl> {
        self.bump();
        let is_plain = self.nth(1) == TokenKind::OpenBrace;
        let underlying = if is_plain { None } else { Some(self.ty()?) };
        let name = self.name("the name of an enum")?;
        self.declare(&name, true);
        let members = self.comma_list(Self::enum_member)?;
        Ok(EnumDecl { annotations, underlying, name, members, span: self.since(start) })
    }

    fn enum_member(&mut self) -> Parse<EnumMember> {
        let start = self.span();
        let annotations = self.annotations()?;
        let name = self.name("the name of an enum's member")?;
        let value = if self.take(TokenKind::Assign) { Some(self.expr()?) } else { None };
        Ok(EnumMember { annotations, name, value, span: self.since(start) })
    }

    fn parser_decl(&mut self, annotations: Vec<Annotation>, start: Span) -> Parse<ParserDecl> {
        self.bump();
        let name = self.name("the name of a parser")?;
        self.declare(&name, true);
        self.scoped(|p| {
            let (type_params, params, ctor_params) = p.block_params()?;
            let body = if p.ends_as_type()? { None } else { Some(p.parser_body()?) };
            Ok(ParserDecl { annotations, name, type_params, params, ctor_params, body, span: p.since(start) })
        })
    }

    fn control_decl(&mut self, annotations: Vec<Annotation>, start: Span) -> Parse<ControlDecl> {
        self.bump();
        let name = self.name("the name of a control")?;
        self.declare(&name, true);
        self.scoped(|p| {
            let (type_params, params, ctor_params) = p.block_params()?;
            let body = if p.ends_as_type()? { None } else { Some(p.control_body()?) };
            Ok(ControlDecl { annotations, name, type_params, params, ctor_params, body, span: p.since(start) })
        })
    }

    /// `<T>(params)(constructor params)`; only the middle one must be there.
    fn block_params(&mut self) -> Parse<(Vec<Ident>, Vec<Param>, Vec<Param>)> {
        let type_params = self.type_params()?;
        let params = self.params()?;
        let ctor_params = if self.kind() == TokenKind::OpenParen { self.params()? } else { Vec::new() };
        Ok((type_params, params, ctor_params))
    }

    /// Takes the `;` behind a parser or control type; `false` where a body follows.
    fn ends_as_type(&mut self) -> Parse<bool> {
        match self.kind() {
            TokenKind::Semicolon => {
                self.bump();
                Ok(true)
            }
            TokenKind::OpenBrace => Ok(false),
            _ => Err(self.expected("`{` or `;`")),
        }
    }

    fn package_decl(&mut self, annotations: Vec<Annotation>, start: Span) -> Parse<PackageDecl> {
        self.bump();
        let name = self.name("the name of a package")?;
        self.declare(&name, true);
        self.scoped(|p| {
            let type_params = p.type_params()?;
            let params = p.params()?;
            p.semicolon("the package")?;
            Ok(PackageDecl { annotations, name, type_params, params, span: p.since(start) })
        })
    }

    /// `(in bit<8> x, T y = 1)`; declares the names.
    pub(super) fn params(&mut self) -> Parse<Vec<Param>> {
        let open = self.expect(TokenKind::OpenParen)?;
        let mut params = Vec::new();
        if self.take(TokenKind::CloseParen) {
            return Ok(params);
        }
        loop {
            params.push(self.param()?);
            if !self.take(TokenKind::Comma) {
                self.expect_close(open, TokenKind::CloseParen, "`,` or ")?;
                return Ok(params);
            }
        }
    }

    fn param(&mut self) -> Parse<Param> {
        let start = self.span();
        let annotations = self.annotations()?;
        let direction = match self.kind() {
            TokenKind::In => Some(Direction::In),
            TokenKind::Out => Some(Direction::Out),
            TokenKind::InOut => Some(Direction::InOut),
            _ => None,
        };
        if direction.is_some() {
            self.bump();
        }
        let ty = self.ty()?;
        let (ty, name) = self.declarator(ty, "the name of a parameter")?;
        let default = if self.take(TokenKind::Assign) { Some(self.expr()?) } else { None };
        self.declare(&name, false);
        Ok(Param { annotations, direction, ty, name, default, span: self.since(start) })
    }
}
