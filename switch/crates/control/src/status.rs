//! How a request went: a canonical code and a text for people.

pub use proto::google::rpc::Code;
use runtime::WriteError;
use runtime::error::{Problem, What};

/// A canonical code with a text that names what happened, where, and what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Status {
    pub code: Code,
    pub message: String,
}

pub type Result<T> = std::result::Result<T, Status>;

impl Status {
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }

    pub fn ok() -> Self {
        Self::new(Code::Ok, "")
    }

    pub fn is_ok(&self) -> bool {
        self.code == Code::Ok
    }

    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(Code::InvalidArgument, message)
    }

    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(Code::NotFound, message)
    }

    pub fn exists(message: impl Into<String>) -> Self {
        Self::new(Code::AlreadyExists, message)
    }

    pub fn denied(message: impl Into<String>) -> Self {
        Self::new(Code::PermissionDenied, message)
    }

    pub fn unimplemented(message: impl Into<String>) -> Self {
        Self::new(Code::Unimplemented, message)
    }

    pub fn out_of_range(message: impl Into<String>) -> Self {
        Self::new(Code::OutOfRange, message)
    }

    pub fn exhausted(message: impl Into<String>) -> Self {
        Self::new(Code::ResourceExhausted, message)
    }

    /// The same with the place in front: `table t: key k: ...`.
    pub fn within(self, place: impl std::fmt::Display) -> Self {
        Self { code: self.code, message: format!("{place}: {}", self.message) }
    }

    /// The status of one update or request in a batch, as P4Runtime reports it (spec "Error Reporting Messages").
    pub fn to_p4_error(&self) -> proto::p4::v1::Error {
        proto::p4::v1::Error { canonical_code: self.code as i32, message: self.message.clone(), ..Default::default() }
    }
}

impl From<WriteError> for Status {
    fn from(error: WriteError) -> Self {
        let code = match &error {
            WriteError::NotFound { .. } => Code::NotFound,
            WriteError::AlreadyExists { .. } => Code::AlreadyExists,
            WriteError::Full { .. } => Code::ResourceExhausted,
            WriteError::BadValue { problem: Problem::TooWide { .. }, .. } => Code::OutOfRange,
            WriteError::BadValue { what: What::GroupSize, problem: Problem::AboveLimit { .. }, .. } => {
                Code::ResourceExhausted
            }
            WriteError::BadValue { .. }
            | WriteError::BadAction { .. }
            | WriteError::Mixed { .. }
            | WriteError::Unsupported { .. } => Code::InvalidArgument,
            WriteError::ConstTable { .. } | WriteError::ConstDefault { .. } | WriteError::ConstEntry { .. } => {
                Code::PermissionDenied
            }
            WriteError::BadIndex { .. } => Code::OutOfRange,
            WriteError::InUse { .. } => Code::FailedPrecondition,
        };
        Self::new(code, error.to_string())
    }
}
