//! Annotations: values where they are constant, else their text.

use hir::{Annotation, AnnotationBody, AnnotationValue, Expr, ExprKind, Type};
use syntax::ast;
use syntax::source::Span;

use crate::checker::Checker;
use crate::scope::Symbol;

impl<'a> Checker<'a> {
    pub fn annotations(&mut self, annotations: &'a [ast::Annotation]) -> Vec<Annotation> {
        self.check_annotations(annotations);
        annotations
            .iter()
            .map(|annotation| Annotation {
                name: annotation.name.name.clone(),
                body: self.annotation_body(&annotation.body),
                text: match &annotation.body {
                    ast::AnnotationBody::Free { text, .. } => Some(text.clone()),
                    _ => None,
                },
                span: annotation.span,
            })
            .collect()
    }

    /// A structured annotation stands once; `@name` is a string, `@id` a number.
    fn check_annotations(&mut self, annotations: &'a [ast::Annotation]) {
        let structured =
            |a: &ast::Annotation| matches!(a.body, ast::AnnotationBody::Exprs(_) | ast::AnnotationBody::KeyValues(_));
        for (i, annotation) in annotations.iter().enumerate() {
            let name = &annotation.name.name;
            let before = annotations[..i].iter().find(|a| a.name.name == *name);
            if let Some(before) = before.filter(|before| structured(annotation) || structured(before)) {
                let labels = [(before.span, "first given here".to_owned())];
                self.error_at(annotation.span, format!("the structured annotation `@{name}` is given twice"), &labels);
            }
            let number = match &annotation.body {
                ast::AnnotationBody::Free { args: ast::FreeArgs::Exprs(exprs), .. } => exprs.as_slice(),
                _ => &[],
            };
            if let ("name", [ast::Expr { kind: ast::ExprKind::Int(_) | ast::ExprKind::Bool(_), span }]) =
                (name.as_str(), number)
            {
                self.error_help(*span, "`@name` takes a string", "write it in quotation marks".into());
            }
            if name == "id" && !structured(annotation) {
                self.check_id(annotation.span, number);
            }
        }
    }

    /// As p4c has it, a literal: names and signs are refused.
    fn check_id(&mut self, span: Span, given: &[ast::Expr]) {
        match given {
            [ast::Expr { kind: ast::ExprKind::Int(literal), .. }] if u32::try_from(&literal.value).is_ok() => {}
            [ast::Expr { kind: ast::ExprKind::Int(_), span }] => {
                let help = "P4Runtime's ids have 32 bits; write a smaller number";
                self.error_help(*span, format!("`@id` is above {}", u32::MAX), help.into());
            }
            _ => self.error_help(span, "`@id` takes one number", "write the number itself, as in `@id(5)`".into()),
        }
    }

    fn annotation_body(&mut self, body: &'a ast::AnnotationBody) -> AnnotationBody {
        match body {
            ast::AnnotationBody::Empty => AnnotationBody::Empty,
            ast::AnnotationBody::Free { text, args } => {
                self.free_body(args).unwrap_or_else(|| AnnotationBody::Text(text.clone()))
            }
            ast::AnnotationBody::Exprs(exprs) => {
                AnnotationBody::Exprs(exprs.iter().filter_map(|e| self.structured_value(e)).collect())
            }
            ast::AnnotationBody::KeyValues(pairs) => {
                self.check_distinct(pairs.iter().map(|pair| &pair.key), "key");
                let pairs =
                    pairs.iter().filter_map(|pair| Some((pair.key.name.clone(), self.structured_value(&pair.value)?)));
                AnnotationBody::KeyValues(pairs.collect())
            }
        }
    }

    fn free_body(&mut self, args: &'a ast::FreeArgs) -> Option<AnnotationBody> {
        match args {
            ast::FreeArgs::Exprs(exprs) => {
                exprs.iter().map(|e| self.free_value(e)).collect::<Option<_>>().map(AnnotationBody::Exprs)
            }
            ast::FreeArgs::KeyValues(pairs) => pairs
                .iter()
                .map(|pair| Some((pair.key.name.clone(), self.free_value(&pair.value)?)))
                .collect::<Option<_>>()
                .map(AnnotationBody::KeyValues),
            ast::FreeArgs::Opaque => None,
        }
    }

    /// The value of an expression in an annotation whose tokens may mean anything; unknown names are no error there.
    fn free_value(&mut self, e: &'a ast::Expr) -> Option<AnnotationValue> {
        if !self.is_constant_text(e, 0) {
            return None;
        }
        let value = self.expr(e, None);
        annotation_value(&value)
    }

    fn is_constant_text(&self, e: &ast::Expr, depth: usize) -> bool {
        if depth > crate::checker::MAX_DEPTH {
            return false;
        }
        match &e.kind {
            ast::ExprKind::Bool(_) | ast::ExprKind::Int(_) | ast::ExprKind::Str(_) => true,
            ast::ExprKind::Path(path) => matches!(self.find(path).map(|d| &d.symbol), Some(Symbol::Const(_))),
            ast::ExprKind::Member { base, member } => self.is_enum_member(base, member),
            ast::ExprKind::Cast { ty, operand } => self.is_number_type(ty) && self.is_constant_text(operand, depth + 1),
            ast::ExprKind::Unary { operand, .. } => self.is_constant_text(operand, depth + 1),
            ast::ExprKind::Binary { left, right, .. } => {
                self.is_constant_text(left, depth + 1) && self.is_constant_text(right, depth + 1)
            }
            _ => false,
        }
    }

    fn is_enum_member(&self, base: &ast::Expr, member: &ast::Ident) -> bool {
        let ast::ExprKind::Path(path) = &base.kind else { return false };
        let Some(Symbol::Type(ty)) = self.find(path).map(|declared| &declared.symbol) else { return false };
        let Type::Enum(id) = self.prog.types.get(*ty) else { return false };
        self.prog.types.enums[*id].members.iter().any(|known| known.name == member.name)
    }

    fn is_number_type(&self, ty: &ast::Type) -> bool {
        match &ty.kind {
            ast::TypeKind::Bit(_) | ast::TypeKind::Int(_) => true,
            ast::TypeKind::Named { path, .. } => matches!(self.find(path).map(|d| &d.symbol), Some(Symbol::Type(_))),
            _ => false,
        }
    }

    fn structured_value(&mut self, e: &'a ast::Expr) -> Option<AnnotationValue> {
        let value = self.expr(e, None);
        let converted = annotation_value(&value);
        if converted.is_none() && !self.is_poison(&value) {
            self.error(e.span, "a value in a structured annotation must be a constant string, number or bool");
        }
        converted
    }

    /// Whether a parameter is marked `@optional`.
    pub fn is_optional(annotations: &[ast::Annotation]) -> bool {
        annotations.iter().any(|annotation| annotation.name.name == "optional")
    }
}

fn annotation_value(value: &Expr) -> Option<AnnotationValue> {
    match &value.kind {
        ExprKind::Str(s) => Some(AnnotationValue::Str(s.clone())),
        ExprKind::Int(n) => Some(AnnotationValue::Int(n.clone())),
        ExprKind::Bool(b) => Some(AnnotationValue::Bool(*b)),
        _ => None,
    }
}
