//! What measurements have in common.

pub mod measure;
pub mod traffic;
