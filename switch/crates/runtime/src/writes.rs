//! What the control plane writes, object by object, so that what was learned from a packet's run is void in time.
//!
//! A write first makes the version of its object odd, then counts as begun, and only then changes what packets find; at its
//! end the version is even again. Versions only grow. So whoever found an object at the same even version twice knows that
//! packets found the same in it all the time between. And whoever saw so many writes begun, and then an object at its
//! version, need not look at the object again until more have begun: those that are counted had made the versions of their
//! objects odd before, and one that is not counted has changed nothing yet.

use std::sync::atomic::Ordering::{Acquire, Release, SeqCst};

use ir::{Handle, ProfileId, Program, TableId, ValueSetId};
use tables::sync::{AtomicU64, OnceLock, fence};

/// What packets find something in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Object {
    /// Entries and the default action.
    Table(TableId),
    /// Members and groups.
    Profile(ProfileId),
    ValueSet(ValueSetId),
}

/// Counts the writes of each object. Alone on its cache lines: packets read it.
#[repr(align(128))]
pub struct Writes {
    begun: AtomicU64,
    /// By the object's number: tables, profiles, value sets.
    versions: Box<[AtomicU64]>,
    profiles_at: usize,
    value_sets_at: usize,
    elsewhere: OnceLock<Elsewhere>,
}

/// Those who cannot look at versions for each packet, as programs in the kernel: they are told of writes.
struct Elsewhere {
    /// By object: a bit for each of them that it concerns.
    concerned: Box<[AtomicU64]>,
    /// Told of a write by the bits of those whom it concerns, before packets can find another content.
    tell: Box<dyn Fn(u64) + Send + Sync>,
}

impl Writes {
    pub fn new(program: &Program) -> Self {
        let profiles_at = program.tables.len();
        let value_sets_at = profiles_at + program.profiles.len();
        let objects = value_sets_at + program.value_sets.len();
        Self {
            begun: AtomicU64::new(0),
            versions: (0..objects).map(|_| AtomicU64::new(0)).collect(),
            profiles_at,
            value_sets_at,
            elsewhere: OnceLock::new(),
        }
    }

    /// From now on `tell` is called at the beginning of writes, with the bits that [`Self::concern`] gave their object.
    /// There is one who is told: the first.
    pub fn tell(&self, tell: impl Fn(u64) + Send + Sync + 'static) {
        let concerned = self.versions.iter().map(|_| AtomicU64::new(0)).collect();
        self.elsewhere.get_or_init(|| Elsewhere { concerned, tell: Box::new(tell) });
    }

    /// Writes of the objects concern these bits, and no other objects' do. Of a write that is not told, the versions are
    /// those of it for whoever looks at them afterwards.
    pub fn concern(&self, objects: &[u32], bits: u64) {
        let Elsewhere { concerned, .. } = self.elsewhere.get().expect("somebody is told");
        for (object, concerned) in (0..).zip(concerned) {
            if objects.contains(&object) {
                concerned.fetch_or(bits, SeqCst);
            } else {
                concerned.fetch_and(!bits, SeqCst);
            }
        }
        // With the additions of `begin`, which look at the bits afterwards.
        fence(SeqCst);
    }

    /// The number of an object.
    pub fn number(&self, object: Object) -> u32 {
        let number = match object {
            Object::Table(table) => table.index(),
            Object::Profile(profile) => self.profiles_at + profile.index(),
            Object::ValueSet(set) => self.value_sets_at + set.index(),
        };
        number as u32
    }

    /// To be called before packets can find another content, with the object's lock held; what is answered lives until
    /// they do, and no longer than the lock.
    pub fn begin(&self, object: Object) -> Write<'_> {
        let number = self.number(object) as usize;
        let version = &self.versions[number];
        version.fetch_add(1, SeqCst);
        self.begun.fetch_add(1, SeqCst);
        if let Some(Elsewhere { concerned, tell }) = self.elsewhere.get() {
            let bits = concerned[number].load(SeqCst);
            if bits != 0 {
                tell(bits);
            }
        }
        // With that of `are_still`: who finds what is written now finds the version odd, too.
        fence(Release);
        Write(version)
    }

    /// How many there were, of whatever object.
    #[inline]
    pub fn begun(&self) -> u64 {
        self.begun.load(SeqCst)
    }

    /// How often an object was written.
    pub(crate) fn count(&self, object: Object) -> u64 {
        self.versions[self.number(object) as usize].load(Acquire).div_ceil(2)
    }

    /// Notes the version of each object; odd are those that are written just now.
    pub fn note(&self, versions: &mut Vec<u64>) {
        versions.clear();
        versions.extend(self.versions.iter().map(|version| version.load(Acquire)));
    }

    /// Whether none of the objects was written since they had these versions, nor is now.
    pub fn are_still(&self, objects: &[u32], versions: &[u64]) -> bool {
        // What was found in the objects was read before.
        fence(Acquire);
        let is_still = |(object, version): (&u32, &u64)| {
            version.is_multiple_of(2) && self.versions[*object as usize].load(Acquire) == *version
        };
        objects.iter().zip(versions).all(is_still)
    }
}

/// A write that is under way.
pub struct Write<'w>(&'w AtomicU64);

impl Drop for Write<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: u32 = 0;
    const SET: u32 = 3;

    fn writes() -> Writes {
        let mut program = Program::default();
        let tables = [0; 2].map(|_| program.tables.push(ir::Table::default()));
        let profile = program.profiles.push(ir::Profile::default());
        let set = program.value_sets.push(ir::ValueSet::default());
        let writes = Writes::new(&program);
        let objects =
            [Object::Table(tables[0]), Object::Table(tables[1]), Object::Profile(profile), Object::ValueSet(set)];
        assert_eq!(objects.map(|object| writes.number(object)), [TABLE, 1, 2, SET]);
        writes
    }

    #[test]
    fn a_write_concerns_its_object_alone_from_its_beginning_on() {
        let (writes, mut noted) = (writes(), vec![]);
        writes.note(&mut noted);
        let still = |object: u32, noted: &[u64]| writes.are_still(&[object], &noted[object as usize..]);
        let table = Object::Table(TableId::new(TABLE as usize));
        let write = writes.begin(table);
        assert_eq!((still(TABLE, &noted), still(SET, &noted), writes.begun()), (false, true, 1));
        let mut meanwhile = vec![];
        writes.note(&mut meanwhile);
        assert!(!still(TABLE, &meanwhile), "nobody can say what is in it");
        drop(write);
        assert!(!still(TABLE, &noted) && !still(TABLE, &meanwhile));
        writes.note(&mut noted);
        assert!(still(TABLE, &noted));
        assert_eq!((writes.begun(), writes.count(table)), (1, 1));
    }

    #[test]
    fn those_elsewhere_are_told_before_a_write_what_concerns_them() {
        use std::sync::Arc;
        use tables::sync::Mutex;
        let (writes, told) = (writes(), Arc::new(Mutex::new(vec![])));
        let write = |object| drop(writes.begin(object));
        let table = Object::Table(TableId::new(TABLE as usize));
        write(table);
        writes.tell({
            let told = told.clone();
            move |bits| told.lock().unwrap().push(bits)
        });
        writes.concern(&[TABLE, SET], 1);
        writes.concern(&[TABLE], 4);
        write(table);
        write(Object::Table(TableId::new(1)));
        write(Object::ValueSet(ValueSetId::new(0)));
        writes.concern(&[1], 1);
        write(table);
        assert_eq!(*told.lock().unwrap(), [5, 1, 4]);
    }
}
