//! What the architectures call the things that all of them have: one file for each.

mod psa;
mod v1model;

/// An architecture, by its own words.
#[derive(Debug)]
pub struct Architecture {
    /// As P4Info calls it.
    pub name: &'static str,
    /// The package that `main` is an instance of.
    pub package: &'static str,
    objects: &'static [(&'static str, ObjectKind)],
    properties: &'static [(&'static str, TableProperty)],
}

/// Extern objects that the control plane or the flat form has something for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ObjectKind {
    Counter,
    DirectCounter,
    Meter,
    DirectMeter,
    Register,
    /// Of `packet_buffer.p4`.
    PacketBuffer,
    ActionProfile,
    ActionSelector,
    /// A stream of digests; v1model has a function for it.
    Digest,
}

/// Properties of tables beyond those of the language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TableProperty {
    Implementation,
    DirectCounter,
    DirectMeter,
    IdleTimeout,
}

pub use psa::PSA;
pub use v1model::V1MODEL;

/// The architecture of a package.
pub fn of_package(package: &str) -> Option<&'static Architecture> {
    [&V1MODEL, &PSA].into_iter().find(|architecture| architecture.package == package)
}

impl Architecture {
    pub fn is_psa(&self) -> bool {
        std::ptr::eq(self, &PSA)
    }

    pub fn object(&self, name: &str) -> Option<ObjectKind> {
        find(self.objects, name)
    }

    pub fn property(&self, name: &str) -> Option<TableProperty> {
        find(self.properties, name)
    }
}

fn find<T: Copy>(names: &[(&str, T)], name: &str) -> Option<T> {
    names.iter().find(|(known, _)| *known == name).map(|(_, what)| *what)
}
