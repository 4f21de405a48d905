//! Slabs behind dispatchable handles.
//!
//! A dispatchable handle is the address of an [`Entry`], whose first word belongs to the loader: it must hold
//! `ICD_LOADER_MAGIC` when the handle is handed out, and the loader overwrites it with its dispatch table.
//! Entries are never freed, so the loader may read that word through any handle that ever was one. An address
//! is checked against the slab's chunks before anything is read through it.

use parking_lot::{Mutex, RwLock};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What the loader finds in the first word of a new dispatchable object.
const ICD_LOADER_MAGIC: usize = 0x01CD_C0DE;
/// Entries in a chunk.
const CHUNK: usize = 256;
/// An entry rests until this many others were freed after it: a stale handle goes on finding nothing for
/// long.
const REST: usize = 1024;

/// The number of the last object that had a handle, from 1 in the order in which those of its type were made.
static NUMBERS: Mutex<BTreeMap<u64, u64>> = Mutex::new(BTreeMap::new());

/// What a dispatchable handle is called in a report: its number among those of its type. The handle itself is
/// an address, which is another one in each run.
pub fn number(handle: u64) -> Option<u64> {
    NUMBERS.lock().get(&handle).copied()
}

/// One dispatchable object: the loader's word, then ours.
#[repr(C)]
pub struct Entry<T> {
    loader: AtomicUsize,
    object: RwLock<Option<Arc<T>>>,
}

/// All dispatchable objects of one type.
pub struct Slab<T: 'static> {
    inner: RwLock<Inner<T>>,
}

struct Inner<T: 'static> {
    chunks: Vec<&'static [Entry<T>]>,
    fresh: usize,
    created: u64,
    free: VecDeque<(usize, usize)>,
}

impl<T: Send + Sync> Slab<T> {
    /// An empty slab.
    pub const fn new() -> Slab<T> {
        Slab {
            inner: RwLock::new(Inner { chunks: Vec::new(), fresh: CHUNK, created: 0, free: VecDeque::new() }),
        }
    }

    /// Stores an object; its handle.
    pub fn insert(&self, object: Arc<T>) -> u64 {
        let mut inner = self.inner.write();
        let (chunk, index) = if inner.free.len() > REST {
            inner.free.pop_front().unwrap_or_default()
        } else {
            if inner.fresh == CHUNK {
                let chunk: Vec<Entry<T>> = (0..CHUNK)
                    .map(|_| Entry { loader: AtomicUsize::new(ICD_LOADER_MAGIC), object: RwLock::new(None) })
                    .collect();
                inner.chunks.push(Box::leak(chunk.into_boxed_slice()));
                inner.fresh = 0;
            }
            inner.fresh += 1;
            (inner.chunks.len() - 1, inner.fresh - 1)
        };
        let entry = &inner.chunks[chunk][index];
        entry.loader.store(ICD_LOADER_MAGIC, Ordering::Relaxed);
        *entry.object.write() = Some(object);
        let handle = std::ptr::from_ref(entry).expose_provenance() as u64;
        inner.created += 1;
        NUMBERS.lock().insert(handle, inner.created);
        handle
    }

    fn locate(inner: &Inner<T>, handle: u64) -> Option<(usize, usize)> {
        let address = usize::try_from(handle).ok()?;
        inner.chunks.iter().enumerate().find_map(|(number, chunk)| {
            let offset = address.checked_sub(chunk.as_ptr().addr())?;
            let index = offset / size_of::<Entry<T>>();
            (index < CHUNK && offset % size_of::<Entry<T>>() == 0).then_some((number, index))
        })
    }

    /// The object of a live handle.
    pub fn get(&self, handle: u64) -> Option<Arc<T>> {
        let inner = self.inner.read();
        let (chunk, index) = Self::locate(&inner, handle)?;
        inner.chunks[chunk][index].object.read().clone()
    }

    /// Removes the object of a live handle.
    pub fn remove(&self, handle: u64) -> Option<Arc<T>> {
        let mut inner = self.inner.write();
        let place = Self::locate(&inner, handle)?;
        let object = inner.chunks[place.0][place.1].object.write().take()?;
        inner.free.push_back(place);
        Some(object)
    }
}

impl<T: Send + Sync> Default for Slab<T> {
    fn default() -> Self {
        Slab::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_live_handles_find_their_object() {
        let slab: Slab<u32> = Slab::new();
        let a = slab.insert(Arc::new(1));
        let b = slab.insert(Arc::new(2));
        assert_eq!(slab.get(a).as_deref(), Some(&1));
        assert_eq!(slab.get(b).as_deref(), Some(&2));
        assert_eq!(slab.get(a + 8), None);
        assert_eq!(slab.get(0), None);
        assert_eq!(slab.remove(a).as_deref(), Some(&1));
        assert_eq!(slab.get(a), None);
        let c = slab.insert(Arc::new(3));
        assert_ne!(c, a, "a fresh stale handle must not come alive again");
    }
}
