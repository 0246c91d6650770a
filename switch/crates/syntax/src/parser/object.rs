//! Externs and instances.

use super::{Parse, Parser};
use crate::ast::{Annotation, Constructor, Decl, ExternObject, Instance, Method, Prototype};
use crate::diag::Diagnostic;
use crate::source::Span;
use crate::token::TokenKind;

/// A member of an extern object.
enum Member {
    Constructor(Constructor),
    Method(Method),
}

impl Parser<'_> {
    pub(super) fn extern_decl(&mut self, annotations: Vec<Annotation>, start: Span) -> Parse<Decl> {
        self.bump();
        if self.is_extern_object() {
            return self.extern_object(annotations, start).map(Decl::ExternObject);
        }
        let mut function = self.prototype(annotations, start)?;
        self.declare(&function.name, false);
        self.semicolon("the extern function")?;
        function.span = self.since(start);
        Ok(Decl::ExternFunction(function))
    }

    /// Whether `name {`, `name;` or `name<A, B> {` stands here.
    fn is_extern_object(&self) -> bool {
        if !self.kind().is_name() {
            return false;
        }
        let mut at = self.pos + 1;
        if self.kind_at(at) == TokenKind::Lt {
            at += 1;
            while self.kind_at(at).is_name() || self.kind_at(at) == TokenKind::Comma {
                at += 1;
            }
            if self.kind_at(at) != TokenKind::Gt {
                return false;
            }
            at += 1;
        }
        matches!(self.kind_at(at), TokenKind::OpenBrace | TokenKind::Semicolon)
    }

    fn extern_object(&mut self, annotations: Vec<Annotation>, start: Span) -> Parse<ExternObject> {
        let name = self.name("the name of an extern")?;
        self.declare(&name, true);
        let (type_params, members) = self.scoped(|p| {
            let type_params = p.type_params()?;
            if p.take(TokenKind::Semicolon) {
                return Ok((type_params, Vec::new()));
            }
            Ok((type_params, p.braced(|p| p.member(&name.name))?))
        })?;
        let (mut constructors, mut methods) = (Vec::new(), Vec::new());
        for member in members {
            match member {
                Member::Constructor(constructor) => constructors.push(constructor),
                Member::Method(method) => methods.push(method),
            }
        }
        Ok(ExternObject { annotations, name, type_params, constructors, methods, span: self.since(start) })
    }

    fn member(&mut self, object: &str) -> Parse<Member> {
        let start = self.span();
        let annotations = self.annotations()?;
        let is_abstract = self.take(TokenKind::Abstract);
        if self.kind().is_name() && self.nth(1) == TokenKind::OpenParen {
            if *self.token().text != *object {
                let message = format!("the return type of `{}` is missing", self.token().text);
                let error = Diagnostic::error(self.span(), message);
                let help = format!("write `void` before it; a constructor has the name `{object}`");
                return Err(self.report(error.help(help)));
            }
            self.bump();
            let params = self.params()?;
            self.semicolon("the constructor")?;
            return Ok(Member::Constructor(Constructor { annotations, params, span: self.since(start) }));
        }
        let mut prototype = self.prototype(annotations, start)?;
        self.semicolon("the method")?;
        prototype.span = self.since(start);
        Ok(Member::Method(Method { is_abstract, prototype }))
    }

    /// `type name<T>(params)`.
    fn prototype(&mut self, annotations: Vec<Annotation>, start: Span) -> Parse<Prototype> {
        self.scoped(|p| p.prototype_in_scope(annotations, start))
    }

    /// The same; the parameters stay in scope, for a body.
    pub(super) fn prototype_in_scope(&mut self, annotations: Vec<Annotation>, start: Span) -> Parse<Prototype> {
        let ret = self.ty()?;
        let name = self.name("the name of a function")?;
        let type_params = self.type_params()?;
        let params = self.params()?;
        Ok(Prototype { annotations, ret, name, type_params, params, span: self.since(start) })
    }

    /// `Type(args) name;` or `Type(args) name = { ... };`
    pub(super) fn instance(&mut self, annotations: Vec<Annotation>, start: Span) -> Parse<Instance> {
        let ty = self.ty()?;
        let args = self.args()?;
        let (ty, name) = self.declarator(ty, "the name of an instance")?;
        let init =
            if self.take(TokenKind::Assign) { Some(self.scoped(|p| p.braced(Self::object_item))?) } else { None };
        self.declare(&name, false);
        self.semicolon("the instance")?;
        Ok(Instance { annotations, ty, args, name, init, span: self.since(start) })
    }

    /// A function or instance in the braces of an instance.
    fn object_item(&mut self) -> Parse<Decl> {
        let start = self.span();
        let annotations = self.annotations()?;
        self.function_or_instance(annotations, start)
    }
}
