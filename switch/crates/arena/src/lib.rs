//! Growing lists whose items are named by typed handles: an index of one list is no index of another.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

/// A handle: an index that knows which arena it belongs to.
pub trait Handle: Copy {
    fn new(index: usize) -> Self;
    fn index(self) -> usize;
}

/// Declares handles.
#[macro_export]
macro_rules! handles {
    ($($(#[$doc:meta])* $name:ident)*) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
        pub struct $name(u32);

        impl $crate::Handle for $name {
            fn new(index: usize) -> Self {
                Self(u32::try_from(index).expect("fewer than 2^32 items"))
            }
            fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, "{}({})", stringify!($name), self.0)
            }
        }
    )* };
}

/// A growing list whose items are named by handles.
#[derive(Clone)]
pub struct Arena<H, T> {
    items: Vec<T>,
    handle: PhantomData<H>,
}

impl<H: Handle, T> Arena<H, T> {
    pub fn push(&mut self, item: T) -> H {
        let handle = H::new(self.items.len());
        self.items.push(item);
        handle
    }

    pub fn len(&self) -> usize {
        self.items.len()
    }

    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = (H, &T)> {
        self.items.iter().enumerate().map(|(i, item)| (H::new(i), item))
    }

    pub fn handles(&self) -> impl Iterator<Item = H> + use<H, T> {
        (0..self.items.len()).map(H::new)
    }
}

impl<H, T> Default for Arena<H, T> {
    fn default() -> Self {
        Self { items: Vec::new(), handle: PhantomData }
    }
}

impl<H, T: fmt::Debug> fmt::Debug for Arena<H, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.items.fmt(f)
    }
}

impl<H: Handle, T> Index<H> for Arena<H, T> {
    type Output = T;
    fn index(&self, handle: H) -> &T {
        &self.items[handle.index()]
    }
}

impl<H: Handle, T> IndexMut<H> for Arena<H, T> {
    fn index_mut(&mut self, handle: H) -> &mut T {
        &mut self.items[handle.index()]
    }
}
