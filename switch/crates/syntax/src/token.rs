//! Tokens of P4, as the lexer makes them and the preprocessor passes them on.

use std::rc::Rc;

use crate::source::Span;

#[derive(Debug, Clone)]
pub struct Token {
    pub kind: TokenKind,
    /// The text as written; a string has its quotes.
    pub text: Rc<str>,
    /// Where it stands in its file; for a token of a macro's body, where the macro is used.
    pub span: Span,
    /// White space, a comment or the start of a line is before it.
    pub space: bool,
    /// It is the first of its line.
    pub line_start: bool,
}

macro_rules! token_kinds {
    (punctuation { $($punct:ident $text:literal)* } keywords { $($kw:ident $word:literal)* }) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum TokenKind {
            /// A name or, before the preprocessor is done, any word.
            Ident,
            /// A number; whether it is a good one, the parser says.
            Number,
            Str,
            /// A string without its closing quote.
            OpenStr,
            /// Lines of a string up to a directive in it.
            StrPart,
            /// The rest of a string that has directives in it.
            StrEnd,
            /// A character that P4 does not have.
            Unknown,
            Eof,
            $($punct,)*
            $($kw,)*
        }

        impl TokenKind {
            /// The text of a token that has only one, quoted; else what it is.
            pub fn describe(self) -> &'static str {
                match self {
                    Self::Ident => "a name",
                    Self::Number => "a number",
                    Self::Str | Self::OpenStr | Self::StrPart | Self::StrEnd => "a string",
                    Self::Unknown => "an unknown character",
                    Self::Eof => "the end of the program",
                    $(Self::$punct => concat!("`", $text, "`"),)*
                    $(Self::$kw => concat!("`", $word, "`"),)*
                }
            }

            /// The keyword of this text, or `Ident`.
            pub fn of_word(word: &str) -> Self {
                match word {
                    $($word => Self::$kw,)*
                    _ => Self::Ident,
                }
            }

            /// A word that the language keeps for itself, in some place at least.
            pub fn is_keyword(self) -> bool {
                matches!(self, $(Self::$kw)|*)
            }
        }

        /// All punctuation, longest first where one starts another.
        pub(crate) const PUNCTUATION: &[(&str, TokenKind)] = &[$(($text, TokenKind::$punct)),*];
    };
}

// `>>` and `>>=` are not here: two `>` may close two lists of type arguments, so the parser joins them.
token_kinds! {
    punctuation {
        AddSatAssign "|+|=" SubSatAssign "|-|="
        AddSat "|+|" SubSat "|-|" Invalid "{#}" Mask "&&&" Dots "..." ShlAssign "<<="
        Le "<=" Ge ">=" Shl "<<" AndAnd "&&" OrOr "||" NotEq "!=" EqEq "==" Concat "++" PlusColon "+:" Range ".."
        AddAssign "+=" SubAssign "-=" MulAssign "*=" DivAssign "/=" ModAssign "%=" AndAssign "&=" OrAssign "|="
        XorAssign "^=" HashHash "##"
        Plus "+" Minus "-" Star "*" Slash "/" Percent "%" Pipe "|" Amp "&" Caret "^" Tilde "~" OpenBracket "["
        CloseBracket "]" OpenBrace "{" CloseBrace "}" Lt "<" Gt ">" OpenParen "(" CloseParen ")" Not "!" Colon ":"
        Comma "," Question "?" Dot "." Assign "=" Semicolon ";" At "@" Hash "#"
    }
    keywords {
        Abstract "abstract" Action "action" Actions "actions" Apply "apply" Bool "bool" Bit "bit" Break "break"
        Const "const" Continue "continue" Control "control" Default "default" Else "else" Entries "entries"
        Enum "enum" Error "error" Exit "exit" Extern "extern" False "false" For "for" Header "header"
        HeaderUnion "header_union" If "if" In "in" InOut "inout" Int "int" Key "key" List "list"
        MatchKind "match_kind" Out "out" Package "package" Parser "parser" Priority "priority" Return "return"
        Select "select" State "state" String "string" Struct "struct" Switch "switch" Table "table" This "this"
        Transition "transition" True "true" Tuple "tuple" Type "type" Typedef "typedef" ValueSet "value_set"
        Varbit "varbit" Void "void" Underscore "_"
    }
}

impl TokenKind {
    /// Keywords that only mean something in their place and are names elsewhere.
    pub fn is_name(self) -> bool {
        matches!(
            self,
            Self::Ident
                | Self::Actions
                | Self::Apply
                | Self::Entries
                | Self::Key
                | Self::List
                | Self::Priority
                | Self::State
                | Self::Type
        )
    }
}

/// Whether two tokens, written without a blank between them, would be read as something else.
pub(crate) fn would_join(left: &str, right: &str) -> bool {
    let (Some(l), Some(r)) = (left.chars().next_back(), right.chars().next()) else {
        return false;
    };
    let word = |c: char| c.is_alphanumeric() || c == '_';
    let operator = |c: char| "+-*/%&|^<>=!.:#".contains(c);
    (word(l) && word(r)) || (operator(l) && operator(r)) || (l == '{' && r == '#') || (l == '#' && r == '}')
}
