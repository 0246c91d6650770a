//! Errors and warnings of the check.

use syntax::diag::Diagnostic;
use syntax::source::Span;

use crate::checker::Checker;

impl Checker<'_> {
    pub fn error(&mut self, span: Span, message: impl Into<String>) {
        self.diags.push(Diagnostic::error(span, message));
    }

    /// An error with the mend.
    pub fn error_help(&mut self, span: Span, message: impl Into<String>, help: String) {
        self.diags.push(Diagnostic::error(span, message).help(help));
    }

    /// An error with other places that belong to it.
    pub fn error_at(&mut self, span: Span, message: impl Into<String>, labels: &[(Span, String)]) {
        let mut diagnostic = Diagnostic::error(span, message);
        for (span, message) in labels {
            diagnostic = diagnostic.label(*span, message.clone());
        }
        self.diags.push(diagnostic);
    }

    /// Makes sure that a program with an expression that was given up does not pass for a checked one.
    pub fn check_given_up(&mut self) {
        if let (Some(span), false) = (self.given_up.get(), self.diags.has_errors()) {
            self.error(span, "this expression cannot be checked");
        }
    }

    pub fn warn(&mut self, span: Span, message: impl Into<String>) {
        self.diags.push(Diagnostic::warning(span, message));
    }
}
