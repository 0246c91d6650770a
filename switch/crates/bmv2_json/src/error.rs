//! Why a document cannot be run.

use std::fmt;

pub type Result<T> = std::result::Result<T, Error>;

/// A finding, with the place in the document in front: `action "drop": primitive 2: ...`.
#[derive(Debug, Clone, PartialEq)]
pub struct Error(String);

impl Error {
    pub fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }

    pub fn within(self, place: impl fmt::Display) -> Self {
        Self(format!("{place}: {}", self.0))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Error {}

pub fn fail<T>(message: impl Into<String>) -> Result<T> {
    Err(Error::new(message))
}

/// Adds the place to an error on its way out.
pub trait Within<T> {
    fn within(self, place: impl FnOnce() -> String) -> Result<T>;
}

impl<T> Within<T> for Result<T> {
    fn within(self, place: impl FnOnce() -> String) -> Result<T> {
        self.map_err(|error| error.within(place()))
    }
}
