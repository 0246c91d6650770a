//! When to compile a program anew for what its tables hold.

use std::sync::Arc;
use std::time::{Duration, Instant};

use ir::Handle;
use runtime::Held;

use crate::loaded::Loaded;

/// Time between two looks at the tables.
pub const LOOK: Duration = Duration::from_millis(50);
/// So many looks are waited for tables that keep changing.
const PATIENCE: u32 = 20;
/// A table whose changes made code void so often, or more often, is built in again after 2 to this power looks.
const MOST_RESTLESS: u32 = 10;
/// At most one part in so many of a processor's time is spent on compiling.
const SHARE: u32 = 20;

/// Follows the tables of one program. Whoever owns it calls [`Self::look`] every [`LOOK`].
pub struct Specialiser {
    loaded: Arc<Loaded>,
    tables: Vec<Watched>,
    /// What the installed code was compiled for.
    held: Vec<Option<Held>>,
    /// Looks since the tables had to be compiled for.
    waited: u32,
    /// Before then nothing is compiled.
    rest_until: Option<Instant>,
}

#[derive(Default, Clone)]
struct Watched {
    changes: u64,
    /// Looks since it changed.
    still: u32,
    /// How often it changed after it was built in.
    restless: u32,
    /// Its changes when it was last compiled for.
    wanted: Option<u64>,
}

impl Watched {
    fn look(&mut self, changes: u64, is_held: bool) {
        if self.changes == changes {
            self.still = self.still.saturating_add(1);
            return;
        }
        let was_built_in = is_held && self.wanted == Some(self.changes);
        (self.changes, self.still) = (changes, 0);
        self.restless = MOST_RESTLESS.min(self.restless + u32::from(was_built_in));
    }

    /// Its changes if it is worth compiling for.
    fn wants(&self) -> Option<u64> {
        (self.still >= 1 << self.restless).then_some(self.changes)
    }
}

impl Specialiser {
    pub fn new(loaded: Arc<Loaded>) -> Self {
        let tables = vec![Watched::default(); loaded.program.tables.len()];
        Self { held: vec![None; tables.len()], tables, loaded, waited: 0, rest_until: None }
    }

    /// Whether it follows this program.
    pub fn follows(&self, loaded: &Arc<Loaded>) -> bool {
        Arc::ptr_eq(&self.loaded, loaded)
    }

    /// Looks at the tables, and compiles for what they hold once they are still; answers whether it did.
    pub fn look(&mut self) -> Result<bool, String> {
        let device = &self.loaded.device;
        for ((id, table), held) in self.loaded.program.tables.keys().zip(&mut self.tables).zip(&self.held) {
            table.look(device.changes(id), held.is_some());
        }
        let is_done = device.is_special() && self.tables.iter().all(|table| table.wants() == table.wanted);
        if is_done || self.rest_until.is_some_and(|until| Instant::now() < until) {
            return Ok(false);
        }
        self.waited += 1;
        if self.waited < PATIENCE && self.tables.iter().any(|table| table.still == 0) {
            return Ok(false);
        }
        self.waited = 0;
        self.compile()
    }

    fn compile(&mut self) -> Result<bool, String> {
        let (device, start) = (&self.loaded.device, Instant::now());
        for table in &mut self.tables {
            table.wanted = table.wants();
        }
        let holdings = device.holdings(&|id| self.tables[id.index()].wanted.is_some());
        let nothing = holdings.tables.iter().all(Option::is_none);
        if holdings.tables == self.held && (nothing || device.is_special()) {
            return Ok(false);
        }
        let installed = self.loaded.specialise_for(&holdings)?;
        self.rest_until = Some(start + start.elapsed() * SHARE);
        self.held = holdings.tables;
        Ok(installed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loaded::BackendKind;
    use ir::{ActionId, TableId};
    use runtime::ActionCall;

    const PROGRAM: &str = "
frame 16 persistent 16 {
    0 key: bits 16
    4 number: bits 32
}
errors (NoError, PacketTooShort, NoMatch, StackOutOfBounds, HeaderTooShort, ParserTimeout, ParserInvalidArgument)
action say (number: 32 @ 0)
table one size 16 {
    key key: 16 exact
    action say
    default 0 (0)
}
function main {
b0:
    %0:16 = load key
    %1:1, %2:32 = lookup one (%0:16)
    return
}
blocks main main main main main main
";

    #[test]
    fn tables_that_stand_still_are_compiled_for_again_after_each_change() {
        let loaded = Arc::new(Loaded::new(Arc::new(PROGRAM.parse().unwrap()), BackendKind::Jit).unwrap());
        let mut specialiser = Specialiser::new(loaded.clone());
        let table = TableId::new(0);
        for number in 1..=4u32 {
            while !loaded.device.is_special() {
                specialiser.look().unwrap();
            }
            let call = ActionCall { action: ActionId::new(0), args: vec![number.into()] };
            loaded.device.set_default(table, &call).unwrap();
            assert!(!loaded.device.is_special());
        }
        assert_eq!(specialiser.tables[0].restless, 3, "the last change was not looked at yet");
    }

    #[test]
    fn a_table_that_keeps_changing_is_left_out_for_longer_and_longer() {
        let mut table = Watched::default();
        let mut looks = Vec::new();
        for changes in 1..=20 {
            table.look(changes, true);
            looks.push((1..=2 << MOST_RESTLESS).find(|_| {
                table.look(changes, true);
                table.wants().is_some()
            }));
            table.wanted = table.wants();
        }
        assert_eq!(looks[..4], [Some(1), Some(2), Some(4), Some(8)]);
        assert_eq!(looks[19], Some(1 << MOST_RESTLESS));
    }
}
