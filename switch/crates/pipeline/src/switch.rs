//! The program that a switch runs now, shared by the threads that forward and those that configure.

use std::sync::Arc;

use arc_swap::ArcSwapOption;

use crate::loaded::Loaded;

/// Holds at most one loaded program; it is replaced as a whole, and whoever forwards takes it up between two packets.
#[derive(Default)]
pub struct Switch {
    loaded: ArcSwapOption<Loaded>,
}

impl Switch {
    pub fn loaded(&self) -> Option<Arc<Loaded>> {
        self.loaded.load_full()
    }

    /// Replaces the program. Packets under way end under the old one.
    pub fn load(&self, loaded: Option<Arc<Loaded>>) {
        self.loaded.store(loaded);
    }

    /// Whether `loaded` is still the one that runs.
    pub fn runs(&self, loaded: &Arc<Loaded>) -> bool {
        self.loaded.load().as_ref().is_some_and(|current| Arc::ptr_eq(current, loaded))
    }
}
