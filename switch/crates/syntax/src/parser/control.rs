//! Controls: actions, tables and the apply block.

use super::{Parse, Parser};
use crate::ast::{
    Action, ActionRef, Annotation, Block, ControlBody, Decl, Entry, Expr, KeyElement, PropertyValue, Table,
    TableProperty,
};
use crate::diag::Diagnostic;
use crate::source::Span;
use crate::token::{Token, TokenKind, would_join};

/// What stands between the braces of a control.
enum Item {
    Local(Box<Decl>),
    Apply(Block),
}

impl Parser<'_> {
    pub(super) fn control_body(&mut self) -> Parse<ControlBody> {
        let open = self.span();
        let mut locals = Vec::new();
        let mut apply: Option<Block> = None;
        let mut failed = false;
        let items = self.braced(|p| {
            let item = p.control_item();
            failed |= item.is_err();
            item
        })?;
        for item in items {
            match item {
                Item::Local(decl) => {
                    if let Some(apply) = &apply {
                        let error = Diagnostic::error(decl.span(), "a declaration must stand before `apply`");
                        self.report(error.label(apply.span, "the apply block"));
                    }
                    locals.push(*decl);
                }
                Item::Apply(block) => match &apply {
                    Some(first) => {
                        let error = Diagnostic::error(block.span, "a second apply block");
                        self.report(error.label(first.span, "the first one"));
                    }
                    None => apply = Some(block),
                },
            }
        }
        let close = self.before();
        let apply = apply.unwrap_or_else(|| {
            // After another error the block may well be in what was skipped.
            if !failed {
                let error = Diagnostic::error(close, "this control has no apply block");
                self.report(error.label(open, "opened here").help("add `apply { }` before the `}`"));
            }
            Block { annotations: Vec::new(), stmts: Vec::new(), span: close }
        });
        Ok(ControlBody { locals, apply })
    }

    fn control_item(&mut self) -> Parse<Item> {
        if self.kind() == TokenKind::Apply && matches!(self.nth(1), TokenKind::OpenBrace | TokenKind::At) {
            self.bump();
            let start = self.span();
            let annotations = self.annotations()?;
            return self.annotated_block(annotations, start).map(Item::Apply);
        }
        let start = self.span();
        let annotations = self.annotations()?;
        let decl = match self.kind() {
            TokenKind::Action => Decl::Action(self.action(annotations, start)?),
            TokenKind::Table => Decl::Table(self.table(annotations, start)?),
            _ => match self.local_decl(annotations, start)? {
                Some(decl) => decl,
                None => return Err(self.expected("`apply` or a declaration of the control")),
            },
        };
        Ok(Item::Local(Box::new(decl)))
    }

    pub(super) fn action(&mut self, annotations: Vec<Annotation>, start: Span) -> Parse<Action> {
        self.bump();
        let name = self.name("the name of an action")?;
        self.declare(&name, false);
        self.scoped(|p| {
            let params = p.params()?;
            let body = p.block()?;
            Ok(Action { annotations, name, params, body, span: p.since(start) })
        })
    }

    fn table(&mut self, annotations: Vec<Annotation>, start: Span) -> Parse<Table> {
        self.bump();
        let name = self.name("the name of a table")?;
        self.declare(&name, false);
        let properties = self.braced(Self::property)?;
        for (i, property) in properties.iter().enumerate() {
            if let Some(first) = properties[..i.min(64)].iter().find(|p| p.name.name == property.name.name) {
                let message = format!("the property `{}` is there twice", property.name.name);
                let error = Diagnostic::error(property.name.span, message);
                self.report(error.label(first.name.span, "first here"));
            }
        }
        Ok(Table { annotations, name, properties, span: self.since(start) })
    }

    fn property(&mut self) -> Parse<TableProperty> {
        let start = self.span();
        let annotations = self.annotations()?;
        let is_const = self.take(TokenKind::Const);
        let kind = self.kind();
        let name = self.name("the name of a table property")?;
        self.expect(TokenKind::Assign)?;
        let value = match kind {
            TokenKind::Key => PropertyValue::Key(self.braced(Self::key_element)?),
            TokenKind::Actions => PropertyValue::Actions(self.braced(Self::listed_action)?),
            TokenKind::Entries => PropertyValue::Entries(self.braced(Self::entry)?),
            _ => {
                let value = self.expr()?;
                self.semicolon("the property")?;
                PropertyValue::Expr(value)
            }
        };
        Ok(TableProperty { annotations, is_const, name, value, span: self.since(start) })
    }

    fn key_element(&mut self) -> Parse<KeyElement> {
        let start = self.span();
        let first = self.pos;
        let expr = self.expr()?;
        let source = joined(&self.tokens[first..self.pos]);
        self.expect(TokenKind::Colon)?;
        let match_kind = self.name("a match kind")?;
        let annotations = self.annotations()?;
        self.semicolon("the key")?;
        Ok(KeyElement { expr, source, match_kind, annotations, span: self.since(start) })
    }

    fn listed_action(&mut self) -> Parse<ActionRef> {
        let start = self.span();
        let annotations = self.annotations()?;
        let mut action = self.action_ref(start)?;
        action.annotations = annotations;
        if self.kind() == TokenKind::Comma {
            let error = self.expected_error("`;` after the action");
            return Err(self.report(error.help("actions are each closed with `;`")));
        }
        self.semicolon("the action")?;
        Ok(action)
    }

    fn action_ref(&mut self, start: Span) -> Parse<ActionRef> {
        let path = self.path("the name of an action")?;
        let args = if self.kind() == TokenKind::OpenParen { Some(self.args()?) } else { None };
        Ok(ActionRef { annotations: Vec::new(), path, args, span: self.since(start) })
    }

    fn entry(&mut self) -> Parse<Entry> {
        let start = self.span();
        let is_const = self.take(TokenKind::Const);
        let mut priority = None;
        if self.kind() == TokenKind::Priority && self.nth(1) == TokenKind::Assign {
            self.bump();
            self.bump();
            priority = Some(self.priority()?);
            self.expect(TokenKind::Colon)?;
        }
        let keys = self.key_sets()?;
        self.expect(TokenKind::Colon)?;
        let action = self.action_ref(self.span())?;
        let annotations = self.annotations()?;
        self.semicolon("the entry")?;
        Ok(Entry { is_const, priority, keys, action, annotations, span: self.since(start) })
    }

    /// A number or a parenthesised expression.
    fn priority(&mut self) -> Parse<Expr> {
        match self.kind() {
            TokenKind::Number | TokenKind::OpenParen => self.postfix(),
            _ => {
                let error = self.expected_error("a number as priority");
                Err(self.report(error.help("put an expression into parentheses: `priority = (expression):`")))
            }
        }
    }
}

/// The tokens as text, a blank only where two would be read as one.
fn joined(tokens: &[Token]) -> String {
    let mut text = String::new();
    for (i, token) in tokens.iter().enumerate() {
        if i > 0 && (token.space || tokens[i - 1].span == token.span) && would_join(&tokens[i - 1].text, &token.text) {
            text.push(' ');
        }
        text.push_str(&token.text);
    }
    text
}
