//! Macro expansion.

use std::rc::Rc;

use super::macros::{Macro, Params, Piece};
use super::{Frame, Input, MAX_TOKENS, Preprocessor};
use crate::diag::{Diagnostic, Diagnostics};
use crate::lexer::lex;
use crate::source::Span;
use crate::token::{Token, TokenKind};

/// Macro calls within the arguments of each other.
const MAX_ARGUMENT_DEPTH: usize = 64;

impl Preprocessor<'_> {
    /// The next token that is no macro.
    pub(super) fn expanded(&mut self) -> Option<Input> {
        loop {
            let mut input = self.raw()?;
            if input.token.kind != TokenKind::Ident || input.painted {
                return Some(input);
            }
            let name = input.token.text.clone();
            let Some(found) = self.macros.get(&name).cloned() else {
                return Some(self.place_macro(input));
            };
            if self.active.contains(&name) {
                input.painted = true;
                return Some(input);
            }
            let body = match &found.params {
                None => self.substitute(&found, &input.token, input.token.span, &[]),
                Some(params) => {
                    if !self.next_is_open_paren() {
                        return Some(input);
                    }
                    let Some((args, close)) = self.arguments(&input.token, &found, params) else { continue };
                    self.substitute(&found, &input.token, input.token.span.to(close), &args)
                }
            };
            self.active.insert(name.clone());
            self.frames.push(Frame { tokens: body, pos: 0, name: Some(name) });
        }
    }

    /// Expands a list by itself, such as an argument or the condition of an `#if`.
    pub(super) fn expand_list(&mut self, tokens: Vec<Input>) -> Vec<Input> {
        if self.depth >= MAX_ARGUMENT_DEPTH {
            if let Some(first) = tokens.first() {
                let message = format!("more than {MAX_ARGUMENT_DEPTH} macro calls within each other's arguments");
                self.diagnostics.error(first.token.span, message);
            }
            return Vec::new();
        }
        self.depth += 1;
        let frames = std::mem::replace(&mut self.frames, vec![Frame { tokens, pos: 0, name: None }]);
        let in_list = std::mem::replace(&mut self.in_list, true);
        let mut out = Vec::new();
        while let Some(input) = self.expanded() {
            out.push(input);
        }
        self.in_list = in_list;
        self.frames = if self.work > MAX_TOKENS { Vec::new() } else { frames };
        self.depth -= 1;
        out
    }

    /// `__FILE__`, `__LINE__` and `__COUNTER__`; any other word stays.
    fn place_macro(&mut self, input: Input) -> Input {
        let (kind, text) = match &*input.token.text {
            "__FILE__" => (TokenKind::Str, quote(&self.map.shown_line(input.token.span).0)),
            "__LINE__" => (TokenKind::Number, self.map.shown_line(input.token.span).1.to_string()),
            "__COUNTER__" => {
                self.counter += 1;
                (TokenKind::Number, (self.counter - 1).to_string())
            }
            _ => return input,
        };
        Input { token: Token { kind, text: text.into(), ..input.token }, painted: false }
    }

    /// Takes the `(` after the name of a macro, if it is there.
    fn next_is_open_paren(&mut self) -> bool {
        match self.raw() {
            Some(next) if next.token.kind == TokenKind::OpenParen => true,
            Some(next) => {
                self.frames.push(Frame { tokens: vec![next], pos: 0, name: None });
                false
            }
            None => false,
        }
    }

    /// The arguments up to `)`, and the place of that.
    fn arguments(&mut self, name: &Token, found: &Macro, params: &Params) -> Option<(Vec<Vec<Input>>, Span)> {
        let mut args = vec![Vec::new()];
        let mut depth = 0;
        let close = loop {
            let Some(input) = self.raw() else {
                let message = format!("the arguments of macro `{}` have no `)`", name.text);
                self.diagnostics.push(Diagnostic::error(name.span, message).label(found.span, "defined here"));
                return None;
            };
            match input.token.kind {
                TokenKind::OpenParen => depth += 1,
                TokenKind::CloseParen if depth == 0 => break input.token.span,
                TokenKind::CloseParen => depth -= 1,
                TokenKind::Comma if depth == 0 && !(params.variadic && args.len() == params.names.len()) => {
                    args.push(Vec::new());
                    continue;
                }
                _ => {}
            }
            if let Some(last) = args.last_mut() {
                last.push(input);
            }
        };
        if params.names.is_empty() && args.len() == 1 && args[0].is_empty() {
            args.clear();
        }
        if params.variadic && args.len() + 1 == params.names.len() {
            args.push(Vec::new());
        }
        if args.len() != params.names.len() {
            let (takes, given) = (params.names.len(), args.len());
            let message = format!("macro `{}` takes {takes} arguments, not {given}", name.text);
            let error = Diagnostic::error(name.span.to(close), message);
            self.diagnostics.push(error.label(found.span, "defined here"));
            return None;
        }
        Some((args, close))
    }

    /// The body with the arguments in it, its tokens standing at `place`.
    fn substitute(&mut self, found: &Rc<Macro>, name: &Token, place: Span, args: &[Vec<Input>]) -> Vec<Input> {
        let mut expanded: Vec<Option<Vec<Input>>> = vec![None; args.len()];
        let mut out: Vec<Input> = Vec::new();
        let mut paste = false;
        // Whether the operand left of a `##` left anything to paste.
        let mut left = false;
        for (i, piece) in found.body.iter().enumerate() {
            if self.work > MAX_TOKENS {
                break;
            }
            let next_pastes = found.body.get(i + 1) == Some(&Piece::Paste);
            let (mut tokens, space) = match piece {
                Piece::Paste => {
                    paste = true;
                    continue;
                }
                Piece::Token(token) => {
                    let token = Token { span: place, line_start: false, ..token.0.clone() };
                    let space = token.space;
                    (vec![Input { token, painted: false }], space)
                }
                Piece::Stringify(param, space) => (vec![stringify(&args[*param], place)], *space),
                Piece::Param(param, space) if paste || next_pastes => (args[*param].clone(), *space),
                Piece::Param(param, space) => {
                    if expanded[*param].is_none() {
                        expanded[*param] = Some(self.expand_list(args[*param].clone()));
                    }
                    (expanded[*param].clone().unwrap_or_default(), *space)
                }
            };
            self.work += tokens.len();
            if let Some(first) = tokens.first_mut() {
                first.token.space = space;
            }
            if paste && is_variadic(found, piece) && out.last().is_some_and(|l| l.token.kind == TokenKind::Comma) {
                // `, ## __VA_ARGS__`: without arguments the comma goes too.
                if tokens.is_empty() {
                    out.pop();
                }
            } else if paste && left && !tokens.is_empty() {
                let right = tokens.remove(0);
                if let Some(before) = out.pop() {
                    out.extend(Self::paste(before, right));
                }
            }
            left = !tokens.is_empty() || (paste && left);
            paste = false;
            out.extend(tokens);
        }
        for input in &mut out {
            input.token.line_start = false;
        }
        if let Some(first) = out.first_mut() {
            first.token.space = name.space;
            first.token.line_start = name.line_start;
        }
        out
    }

    /// `left ## right`.
    fn paste(left: Input, right: Input) -> Vec<Input> {
        let text = format!("{}{}", left.token.text, right.token.text);
        let mut made = lex(left.token.span.file, &text, &mut Diagnostics::new());
        if made.len() != 1 {
            // C forbids it, but P4 is preprocessed as assembler is: what makes no token just stands side by side.
            let right = Input { token: Token { space: true, ..right.token }, ..right };
            return vec![left, right];
        }
        let Token { kind, text, .. } = made.remove(0);
        vec![Input { token: Token { kind, text, ..left.token }, painted: false }]
    }
}

fn is_variadic(found: &Macro, piece: &Piece) -> bool {
    let Some(params) = &found.params else { return false };
    params.variadic && matches!(piece, Piece::Param(param, _) if param + 1 == params.names.len())
}

/// `#param`: the argument as a string.
fn stringify(arg: &[Input], place: Span) -> Input {
    let mut text = String::new();
    for (i, input) in arg.iter().enumerate() {
        if i > 0 && input.token.space {
            text.push(' ');
        }
        text.push_str(&input.token.text);
    }
    // Outside of strings a backslash has no meaning in P4, so escaping all of them alike is right.
    let text = quote(&text).into();
    Input { token: Token { kind: TokenKind::Str, text, span: place, space: false, line_start: false }, painted: false }
}

/// The text as a string literal.
pub(super) fn quote(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
