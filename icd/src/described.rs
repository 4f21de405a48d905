//! The image views and samplers that descriptors in memory name (VK_EXT_descriptor_buffer).
//!
//! Buffers are named by their addresses. Views and samplers have numbers, which say nothing of the host: a
//! number is the object's handle, or, of an object that was created to be captured, one that a replay chooses
//! again.

use crate::descriptor_bytes::CAPTURE_BYTES;
use crate::error::{Error, Outcome};
use crate::ffi;
use ash::vk;
use parking_lot::Mutex;
use pellucid_memory::commands::Range;
use std::any::Any;
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Numbers of objects that are captured have this bit, which handles do not have.
const CAPTURED: u64 = 1 << 63;

/// An image view or a sampler.
type Object = Arc<dyn Any + Send + Sync>;

/// Image views and samplers, by number.
#[derive(Clone, Default)]
pub struct Numbered {
    views: BTreeMap<u64, Object>,
    samplers: BTreeMap<u64, Object>,
}

impl Numbered {
    /// The image view of a number.
    pub fn view<View: Any + Send + Sync>(&self, number: u64) -> Option<Arc<View>> {
        self.views.get(&number)?.clone().downcast().ok()
    }

    /// True if an image view is `such`, or if there are more than `most` of them.
    pub fn shows<View: Any>(&self, most: usize, such: impl Fn(&View) -> bool) -> bool {
        self.views.len() > most || self.views.values().any(|view| view.downcast_ref().is_some_and(&such))
    }

    /// The sampler of a number.
    pub fn sampler<Sampler: Any + Send + Sync>(&self, number: u64) -> Option<Arc<Sampler>> {
        self.samplers.get(&number)?.clone().downcast().ok()
    }
}

/// How an object is created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Creation {
    /// As most are.
    Plain,
    /// To be captured.
    Captured,
    /// With the number of a captured one.
    Replayed(u64),
}

impl Creation {
    /// How an object is created whose flags say `captured` or do not.
    ///
    /// # Errors
    /// The opaque data is not there.
    ///
    /// # Safety
    /// The chain is the application's.
    pub unsafe fn of(captured: bool, next: *const c_void) -> Outcome<Creation> {
        // SAFETY: the contract; the data was as long as the device's properties say when it was captured.
        unsafe {
            let data = ffi::find::<vk::OpaqueCaptureDescriptorDataCreateInfoEXT<'_>>(next);
            Ok(match data.filter(|_| captured) {
                None if captured => Creation::Captured,
                None => Creation::Plain,
                Some(data) => {
                    let data = data.opaque_capture_descriptor_data.cast::<[u8; CAPTURE_BYTES]>();
                    Creation::Replayed(u64::from_le_bytes(*ffi::read(data)?))
                }
            })
        }
    }
}

#[derive(Default)]
struct State {
    live: Arc<Numbered>,
    /// The numbers of objects whose handles are not their numbers.
    other: BTreeMap<u64, u64>,
}

/// The live image views and samplers of a device that may have descriptors in memory.
#[derive(Default)]
pub struct Described {
    state: Mutex<State>,
    /// How often the objects have changed.
    changes: AtomicU64,
}

impl Described {
    /// All of them, as they are now.
    pub fn all(&self) -> Arc<Numbered> {
        self.state.lock().live.clone()
    }

    /// How often what [`Described::all`] says has changed.
    pub fn changes(&self) -> u64 {
        self.changes.load(Ordering::Acquire)
    }

    /// The number of an object.
    pub fn number(&self, handle: impl vk::Handle) -> u64 {
        let raw = handle.as_raw();
        self.state.lock().other.get(&raw).copied().unwrap_or(raw)
    }

    /// An image view or a sampler is there.
    ///
    /// # Errors
    /// The number that it is to have is none, or another one's.
    pub fn add<H: vk::Handle, T: Any + Send + Sync>(
        &self,
        handle: H,
        object: &Arc<T>,
        how: Creation,
    ) -> Outcome<()> {
        let raw = handle.as_raw();
        let number = match how {
            Creation::Plain => raw,
            Creation::Captured => raw | CAPTURED,
            Creation::Replayed(number) => number,
        };
        let mut state = self.state.lock();
        let live = Arc::make_mut(&mut state.live);
        let all = if H::TYPE == vk::ObjectType::SAMPLER { &mut live.samplers } else { &mut live.views };
        if number & CAPTURED == 0 && how != Creation::Plain || all.contains_key(&number) {
            let text = "opaqueCaptureDescriptorData is of no captured object, or of one that is there";
            return Err(Error::new(vk::Result::ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS, text));
        }
        all.insert(number, object.clone());
        if number != raw {
            state.other.insert(raw, number);
        }
        self.changes.fetch_add(1, Ordering::Release);
        Ok(())
    }

    /// An object is about to end, if it is one of these; its number.
    pub fn remove(&self, handle: impl vk::Handle) -> Option<u64> {
        let mut state = self.state.lock();
        let raw = handle.as_raw();
        let number = state.other.remove(&raw).unwrap_or(raw);
        if !state.live.views.contains_key(&number) && !state.live.samplers.contains_key(&number) {
            return None;
        }
        let live = Arc::make_mut(&mut state.live);
        let ended = (live.views.remove(&number), live.samplers.remove(&number));
        self.changes.fetch_add(1, Ordering::Release);
        drop(state);
        drop(ended);
        Some(number)
    }

    /// The device ends.
    pub fn clear(&self) {
        let ended = std::mem::take(&mut *self.state.lock());
        drop(ended);
    }
}

/// The place by which uses of an image view or sampler are noted, behind all device addresses.
pub fn place(number: u64) -> Range {
    Range::new(number, 1)
}
