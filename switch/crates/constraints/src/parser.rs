//! From tokens to a tree.

use num_bigint::BigInt;

use crate::address;
use crate::error::Error;
use crate::place::Span;
use crate::token::{Kind, Token, tokens};
use crate::tree::{Comparison, Logic, Node, NodeKind};

/// Levels of a tree: restrictions come from others, and a deep one must not use the stack up.
const MAX_DEPTH: usize = 1000;
/// Parentheses and signs within each other.
const MAX_NESTING: usize = 200;

/// How strongly operators bind; none binds as strongly as `::` behind a key.
const SEMICOLON: u8 = 1;
const IMPLIES: u8 = 2;
const OR: u8 = 3;
const AND: u8 = 4;
const COMPARISON: u8 = 5;
const SIGN: u8 = 6;

enum Operator {
    Logic(Logic),
    Compare(Comparison),
}

pub fn parse(text: &str) -> Result<Node, Error> {
    let mut parser = Parser { text, tokens: tokens(text)?, at: 0, nesting: 0 };
    let node = parser.expression(0)?;
    match parser.peek().kind {
        Kind::End => Ok(node),
        _ => Err(parser.unexpected("an operator or the end")),
    }
}

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Token<'a>>,
    at: usize,
    nesting: usize,
}

impl<'a> Parser<'a> {
    fn peek(&self) -> Token<'a> {
        self.tokens[self.at]
    }

    /// The next token; the end stays.
    fn next(&mut self) -> Token<'a> {
        let token = self.peek();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    fn expect(&mut self, kind: Kind, what: &str) -> Result<Token<'a>, Error> {
        if self.peek().kind == kind { Ok(self.next()) } else { Err(self.unexpected(what)) }
    }

    fn unexpected(&self, expected: &str) -> Error {
        let token = self.peek();
        let found = match token.kind {
            Kind::End => "the end".to_owned(),
            _ => format!("`{}`", &self.text[token.span.start..token.span.end]),
        };
        Error::new(self.text, token.span, format!("expected {expected}, found {found}"))
    }

    fn node(&self, kind: NodeKind, span: Span, within: usize) -> Result<Node, Error> {
        if within >= MAX_DEPTH {
            return Err(Error::new(self.text, span, format!("more than {MAX_DEPTH} operators in a row")));
        }
        Ok(Node { kind, span, depth: within + 1 })
    }

    /// An expression whose operators bind more strongly than `context`.
    fn expression(&mut self, context: u8) -> Result<Node, Error> {
        self.nesting += 1;
        if self.nesting > MAX_NESTING {
            let message = format!("more than {MAX_NESTING} expressions within each other");
            return Err(Error::new(self.text, self.peek().span, message));
        }
        let mut left = self.operand()?;
        while let Some((strength, operator)) = binary(self.peek().kind) {
            let is_chain = matches!(strength, COMPARISON | IMPLIES);
            if strength == context && is_chain {
                let token = self.peek();
                let message = format!("`{}` twice in a row may mean two things; add parentheses", token.text);
                return Err(Error::new(self.text, token.span, message));
            }
            if strength <= context {
                break;
            }
            self.next();
            if strength == SEMICOLON && matches!(self.peek().kind, Kind::End | Kind::Close) {
                break;
            }
            let right = self.expression(strength)?;
            let span = left.span.to(right.span);
            let within = left.depth.max(right.depth);
            let operands = Box::new([left, right]);
            let kind = match operator {
                Operator::Logic(logic) => NodeKind::Logic(logic, operands),
                Operator::Compare(comparison) => NodeKind::Compare(comparison, operands),
            };
            left = self.node(kind, span, within)?;
        }
        self.nesting -= 1;
        Ok(left)
    }

    /// An operand with the parts that are taken of it.
    fn operand(&mut self) -> Result<Node, Error> {
        let mut node = self.simple()?;
        while self.peek().kind == Kind::ColonColon {
            self.next();
            let part = self.expect(Kind::Name, "`value`, `mask`, `prefix_length`, `low` or `high`")?;
            let (span, within) = (node.span.to(part.span), node.depth);
            node = self.node(NodeKind::Part(Box::new(node), part.text.to_owned()), span, within)?;
        }
        Ok(node)
    }

    fn simple(&mut self) -> Result<Node, Error> {
        let token = self.peek();
        let (kind, span, within) = match token.kind {
            Kind::True | Kind::False => {
                self.next();
                (NodeKind::Bool(token.kind == Kind::True), token.span, 0)
            }
            Kind::Number(radix) => {
                self.next();
                let value = BigInt::parse_bytes(token.text.as_bytes(), radix).unwrap_or_default();
                (NodeKind::Int(value), token.span, 0)
            }
            Kind::Text => {
                self.next();
                (NodeKind::Text(token.text.to_owned()), token.span, 0)
            }
            Kind::Name => {
                self.next();
                if self.peek().kind == Kind::Open {
                    let (value, span) = self.address(token)?;
                    (NodeKind::Int(value), span, 0)
                } else {
                    let (name, span) = self.name(token)?;
                    (NodeKind::Name(name), span, 0)
                }
            }
            Kind::ColonColon => {
                self.next();
                let name = self.expect(Kind::Name, "`priority`")?;
                (NodeKind::Attribute(name.text.to_owned()), token.span.to(name.span), 0)
            }
            Kind::Not | Kind::Minus => {
                self.next();
                let operand = self.expression(SIGN)?;
                let (span, within) = (token.span.to(operand.span), operand.depth);
                let operand = Box::new(operand);
                let is_not = token.kind == Kind::Not;
                (if is_not { NodeKind::Not(operand) } else { NodeKind::Minus(operand) }, span, within)
            }
            Kind::Open => {
                self.next();
                let node = self.expression(0)?;
                let close = self.expect(Kind::Close, "`)`")?;
                return Ok(Node { span: token.span.to(close.span), ..node });
            }
            _ => return Err(self.unexpected("a key, a number, `true`, `false`, `::`, `!`, `-` or `(`")),
        };
        self.node(kind, span, within)
    }

    /// The rest of `hdr.ipv4.dst`.
    fn name(&mut self, first: Token<'a>) -> Result<(String, Span), Error> {
        let (mut name, mut span) = (first.text.to_owned(), first.span);
        while self.peek().kind == Kind::Dot {
            self.next();
            let next = self.expect(Kind::Name, "a name behind the dot")?;
            name = format!("{name}.{}", next.text);
            span = span.to(next.span);
        }
        Ok((name, span))
    }

    /// The rest of `ipv4('192.0.2.1')`.
    fn address(&mut self, family: Token<'a>) -> Result<(BigInt, Span), Error> {
        self.next();
        let text = self.expect(Kind::Text, "an address in single quotes")?;
        let close = self.expect(Kind::Close, "`)`")?;
        let span = family.span.to(close.span);
        let value = address::value(family.text, text.text).map_err(|error| Error::new(self.text, span, error))?;
        Ok((value, span))
    }
}

fn binary(kind: Kind) -> Option<(u8, Operator)> {
    let compare = |comparison| Some((COMPARISON, Operator::Compare(comparison)));
    match kind {
        Kind::Semicolon => Some((SEMICOLON, Operator::Logic(Logic::And))),
        Kind::Implies => Some((IMPLIES, Operator::Logic(Logic::Implies))),
        Kind::Or => Some((OR, Operator::Logic(Logic::Or))),
        Kind::And => Some((AND, Operator::Logic(Logic::And))),
        Kind::Eq => compare(Comparison::Eq),
        Kind::Ne => compare(Comparison::Ne),
        Kind::Gt => compare(Comparison::Gt),
        Kind::Ge => compare(Comparison::Ge),
        Kind::Lt => compare(Comparison::Lt),
        Kind::Le => compare(Comparison::Le),
        _ => None,
    }
}
