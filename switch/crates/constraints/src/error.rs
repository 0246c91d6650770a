//! Restrictions that mean nothing.

use std::fmt;

use crate::place::{Place, Span, quote};

/// What is wrong with a restriction, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    pub message: String,
    pub place: Place,
    /// The line, with the part that is meant marked.
    pub quote: String,
}

impl Error {
    pub(crate) fn new(text: &str, span: Span, message: impl Into<String>) -> Self {
        Self { message: message.into(), place: Place::of(text, span.start), quote: quote(text, span) }
    }

    pub(crate) fn too_long(most: usize) -> Self {
        let message = format!("a restriction may have {most} bytes at most");
        Self { message, place: Place { line: 1, column: 1 }, quote: String::new() }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: {}", self.place.line, self.place.column, self.message)?;
        if self.quote.is_empty() { Ok(()) } else { write!(f, "\n{}", self.quote) }
    }
}

impl std::error::Error for Error {}
