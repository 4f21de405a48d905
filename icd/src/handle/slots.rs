//! Generational slots behind non-dispatchable handles.
//!
//! A handle is kind (8 bits), device (6 bits), generation (20 bits), index (30 bits): never 0, never an
//! address. A slot's generation changes when its object is removed, so an old handle finds nothing.

use parking_lot::RwLock;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// The number of a device, from 1, by which handles know whose they are; 0 is none. Numbers come again after
/// 63 devices: a handle of another one is then not told apart.
pub type DeviceNumber = u8;

const DEVICES: DeviceNumber = 63;
const GENERATIONS: u32 = (1 << 20) - 1;
const INDICES: usize = (1 << 30) - 1;

/// The device that a handle is of.
pub fn device_of(handle: u64) -> DeviceNumber {
    (handle >> 50) as DeviceNumber & DEVICES
}

/// A number for a new device.
pub fn new_device() -> DeviceNumber {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    (NEXT.fetch_add(1, Ordering::Relaxed) % u32::from(DEVICES)) as DeviceNumber + 1
}

/// All live objects of one type.
pub struct Table<T> {
    kind: u8,
    inner: RwLock<Inner<T>>,
}

struct Inner<T> {
    slots: Vec<Slot<T>>,
    free: VecDeque<u32>,
}

struct Slot<T> {
    generation: u32,
    device: DeviceNumber,
    object: Option<Arc<T>>,
}

impl<T> Inner<T> {
    /// Ends the handle of a slot.
    fn take(&mut self, index: usize) -> Option<Arc<T>> {
        let slot = self.slots.get_mut(index)?;
        let object = slot.object.take()?;
        slot.generation = (slot.generation + 1) & GENERATIONS;
        self.free.push_back(index as u32);
        Some(object)
    }
}

impl<T> Table<T> {
    /// An empty table whose handles say `kind`, which is not 0.
    pub const fn new(kind: u8) -> Table<T> {
        assert!(kind != 0);
        Table { kind, inner: RwLock::new(Inner { slots: Vec::new(), free: VecDeque::new() }) }
    }

    fn encode(&self, device: DeviceNumber, generation: u32, index: u32) -> u64 {
        let device = u64::from(device & DEVICES);
        u64::from(self.kind) << 56
            | device << 50
            | u64::from(generation & GENERATIONS) << 30
            | u64::from(index)
    }

    fn decode(&self, handle: u64) -> Option<(u32, usize)> {
        (handle >> 56 == u64::from(self.kind))
            .then_some(((handle >> 30) as u32 & GENERATIONS, handle as u32 as usize & INDICES))
    }

    /// Stores an object of a device, or of none; its handle.
    pub fn insert(&self, object: Arc<T>, device: DeviceNumber) -> u64 {
        let mut inner = self.inner.write();
        let index = match inner.free.pop_front() {
            Some(index) => index,
            None => {
                inner.slots.push(Slot { generation: 0, device, object: None });
                inner.slots.len() as u32 - 1
            }
        };
        let slot = &mut inner.slots[index as usize];
        slot.device = device;
        slot.object = Some(object);
        self.encode(device, slot.generation, index)
    }

    /// The object of a live handle.
    pub fn get(&self, handle: u64) -> Option<Arc<T>> {
        let (generation, index) = self.decode(handle)?;
        let inner = self.inner.read();
        let slot = inner.slots.get(index)?;
        if slot.generation == generation { slot.object.clone() } else { None }
    }

    /// All live objects, in the order of slots.
    pub fn all(&self) -> Vec<Arc<T>> {
        let inner = self.inner.read();
        inner.slots.iter().filter_map(|slot| slot.object.clone()).collect()
    }

    /// Removes the object of a live handle.
    pub fn remove(&self, handle: u64) -> Option<Arc<T>> {
        let (generation, index) = self.decode(handle)?;
        let mut inner = self.inner.write();
        let same = inner.slots.get(index)?.generation == generation;
        if same { inner.take(index) } else { None }
    }

    /// Removes all objects of a device.
    pub fn remove_of(&self, device: DeviceNumber) -> Vec<Arc<T>> {
        let mut inner = self.inner.write();
        let of_device: Vec<usize> =
            (0..inner.slots.len()).filter(|index| inner.slots[*index].device == device).collect();
        of_device.into_iter().filter_map(|index| inner.take(index)).collect()
    }
}

#[cfg(test)]
mod tests;
