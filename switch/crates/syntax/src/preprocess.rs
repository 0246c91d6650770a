//! The preprocessor: includes, macros and conditional text, as in C.

mod condition;
mod directive;
mod expand;
mod macros;
mod strings;
mod text;

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::rc::Rc;

pub use text::program_text;

use crate::diag::{Diagnostic, Diagnostics};
use crate::lexer::lex;
use crate::source::{FileId, MAX_FILE_BYTES, SourceMap, Span};
use crate::token::{Token, TokenKind};
use directive::Conditional;
use macros::Macro;
use strings::OpenString;

/// What the caller decides.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Where `#include` looks, in this order, before the built-in core.p4 and v1model.p4.
    pub include_dirs: Vec<PathBuf>,
    /// Macros defined before the program: name (or `name(params)`) and body.
    pub defines: Vec<(String, String)>,
    /// Macros undefined after those.
    pub undefines: Vec<String>,
    /// Whether `#include` may read the disk. Without it only built-in files and those already in the source map are
    /// found, which is right for a program that came over the network.
    pub read_files: bool,
}

/// Tokens that one run may read, macro bodies counted each time: a few lines can ask for more than there is memory.
const MAX_TOKENS: usize = 4_000_000;
/// Files open within each other.
const MAX_INCLUDE_DEPTH: usize = 64;
/// All inclusions of a run.
const MAX_INCLUDES: usize = 10_000;

/// Preprocesses `main`: all tokens of the program, `Eof` last, keywords told from names.
pub fn preprocess(map: &mut SourceMap, main: FileId, options: &Options, diagnostics: &mut Diagnostics) -> Vec<Token> {
    let mut run = Preprocessor {
        map,
        options,
        diagnostics,
        macros: HashMap::new(),
        active: HashSet::new(),
        files: Vec::new(),
        frames: Vec::new(),
        in_list: false,
        lexed: HashMap::new(),
        includes: 0,
        work: 0,
        depth: 0,
        counter: 0,
    };
    run.open(main, None);
    let command_line = command_line(options);
    if !command_line.is_empty() {
        let file = run.map.add("<command line>", command_line);
        run.open(file, None);
    }
    let mut tokens = Vec::new();
    while let Some(input) = run.expanded() {
        let mut token = input.token;
        if token.kind == TokenKind::Ident {
            token.kind = TokenKind::of_word(&token.text);
        }
        tokens.push(token);
    }
    let end = map.text(main).trim_end().len().min(MAX_FILE_BYTES) as u32;
    let span = Span { file: main, start: end, end };
    tokens.push(Token { kind: TokenKind::Eof, text: "".into(), span, space: true, line_start: true });
    tokens
}

/// The caller's macros as the lines that would define them.
fn command_line(options: &Options) -> String {
    let one_line = |text: &str| text.replace(['\n', '\r'], " ");
    let defines = options.defines.iter().map(|(name, body)| format!("#define {} {}\n", one_line(name), one_line(body)));
    let undefines = options.undefines.iter().map(|name| format!("#undef {}\n", one_line(name)));
    defines.chain(undefines).collect()
}

struct Preprocessor<'a> {
    map: &'a mut SourceMap,
    options: &'a Options,
    diagnostics: &'a mut Diagnostics,
    macros: HashMap<Rc<str>, Rc<Macro>>,
    /// Macros whose bodies are being read: they do not expand again.
    active: HashSet<Rc<str>>,
    /// Open files, the innermost last.
    files: Vec<OpenFile>,
    /// Macro bodies being read, the innermost last; they come before the files.
    frames: Vec<Frame>,
    /// A list of tokens is being expanded by itself, so the files are out of reach.
    in_list: bool,
    lexed: HashMap<FileId, Rc<[Token]>>,
    includes: usize,
    work: usize,
    /// Nested expansions of macro arguments.
    depth: usize,
    /// What `__COUNTER__` is next.
    counter: usize,
}

struct OpenFile {
    file: FileId,
    tokens: Rc<[Token]>,
    pos: usize,
    conditionals: Vec<Conditional>,
    /// What has been read of a string with directives in it.
    string: Option<OpenString>,
}

struct Frame {
    tokens: Vec<Input>,
    pos: usize,
    /// The macro whose body this is.
    name: Option<Rc<str>>,
}

/// A token on its way through the preprocessor.
#[derive(Debug, Clone)]
struct Input {
    token: Token,
    /// The name of a macro that was met in its own body; it never expands.
    painted: bool,
}

impl Preprocessor<'_> {
    /// Opens a file; `from` is the place of the `#include`.
    fn open(&mut self, file: FileId, from: Option<Span>) {
        if let Some(from) = from {
            self.includes += 1;
            if self.files.len() >= MAX_INCLUDE_DEPTH || self.includes > MAX_INCLUDES {
                let message = if self.includes > MAX_INCLUDES {
                    format!("more than {MAX_INCLUDES} inclusions")
                } else {
                    format!("more than {MAX_INCLUDE_DEPTH} files include each other")
                };
                let help = "guard the file with `#ifndef NAME`, `#define NAME` and `#endif`";
                self.diagnostics.push(Diagnostic::error(from, message).help(help));
                return;
            }
        }
        let tokens = match self.lexed.get(&file) {
            Some(tokens) => tokens.clone(),
            None => {
                let text = self.map.text(file);
                if text.len() > MAX_FILE_BYTES {
                    let place = from.unwrap_or(Span { file, start: 0, end: 0 });
                    self.diagnostics.error(place, format!("the file has more than {MAX_FILE_BYTES} bytes"));
                    return;
                }
                let tokens: Rc<[Token]> = lex(file, &text, self.diagnostics).into();
                self.lexed.insert(file, tokens.clone());
                tokens
            }
        };
        self.files.push(OpenFile { file, tokens, pos: 0, conditionals: Vec::new(), string: None });
    }

    /// The next token before expansion, from a macro body or else from the files.
    fn raw(&mut self) -> Option<Input> {
        while let Some(frame) = self.frames.last_mut() {
            if let Some(input) = frame.tokens.get(frame.pos) {
                let input = input.clone();
                frame.pos += 1;
                return self.count(&input.token).then_some(input);
            }
            if let Some(name) = self.frames.pop().and_then(|f| f.name) {
                self.active.remove(&name);
            }
        }
        if self.in_list {
            return None;
        }
        self.next_of_files().map(|token| Input { token, painted: false })
    }

    /// The next token of the files that no directive takes.
    fn next_of_files(&mut self) -> Option<Token> {
        loop {
            let open = self.files.last_mut()?;
            let Some(token) = open.tokens.get(open.pos) else {
                if let Some(token) = self.end_string() {
                    return Some(token);
                }
                self.close();
                continue;
            };
            let token = token.clone();
            if !self.count(&token) {
                return None;
            }
            let open = self.files.last_mut()?;
            open.pos += 1;
            if token.kind == TokenKind::Hash && token.line_start {
                let rest = &open.tokens[open.pos..];
                let length = rest.iter().position(|t| t.line_start).unwrap_or(rest.len());
                let line = rest[..length].to_vec();
                open.pos += length;
                self.directive(&token, &line);
            } else if open.conditionals.last().is_none_or(Conditional::is_live)
                && let Some(token) = self.string_of_lines(token)
            {
                return Some(token);
            }
        }
    }

    fn close(&mut self) {
        let Some(open) = self.files.pop() else { return };
        for conditional in open.conditionals {
            let message = format!("this `#{}` has no `#endif`", conditional.word);
            self.diagnostics.error(conditional.span, message);
        }
    }

    /// Counts a token; past the bound all input ends.
    fn count(&mut self, token: &Token) -> bool {
        self.work += 1;
        if self.work > MAX_TOKENS {
            if self.work == MAX_TOKENS + 1 {
                let message = format!("the program has more than {MAX_TOKENS} tokens once its macros are expanded");
                self.diagnostics.error(token.span, message);
            }
            self.work = MAX_TOKENS + 2;
            self.frames.clear();
            self.files.clear();
            return false;
        }
        true
    }
}

#[cfg(test)]
mod tests;
