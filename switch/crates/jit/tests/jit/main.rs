//! The JIT against the meaning of the flat form.

mod headers;
mod random;
mod straight_line;
