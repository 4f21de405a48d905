//! Handles: how the numbers that applications hold become objects.
//!
//! Guarantees: a handle that is stale, of another type, or never was one gives an error, never undefined
//! behaviour. Dispatchable handles are addresses inside slabs that are never freed ([`dispatchable`]); the
//! others are generational slots ([`slots`]). Objects are reference-counted: work in flight keeps alive what
//! it uses, whatever the application destroys.

mod dispatchable;
pub(crate) mod kind;
mod slots;

pub use dispatchable::Slab;
pub use slots::Table;

use crate::error::{Error, Outcome};
use ash::vk;
use std::sync::Arc;

/// An object behind a dispatchable handle.
pub trait Dispatchable: Send + Sync + Sized + 'static {
    /// The handle.
    type Handle: vk::Handle + Copy;
    /// `VkDevice` and so on, for messages.
    const NAME: &'static str;
    /// Where these objects live.
    fn slab() -> &'static Slab<Self>;
}

/// An object behind a non-dispatchable handle.
pub trait Object: Send + Sync + Sized + 'static {
    /// The handle.
    type Handle: vk::Handle + Copy;
    /// `VkBuffer` and so on, for messages.
    const NAME: &'static str;
    /// Where these objects live.
    fn table() -> &'static Table<Self>;
}

/// Implements [`Object`] for a type, with a table of its own.
macro_rules! object {
    ($type:ty, $handle:ty, $kind:expr) => {
        impl $crate::handle::Object for $type {
            type Handle = $handle;
            const NAME: &'static str = concat!("Vk", stringify!($type));
            fn table() -> &'static $crate::handle::Table<$type> {
                static TABLE: $crate::handle::Table<$type> = $crate::handle::Table::new($kind);
                &TABLE
            }
        }
    };
}
pub(crate) use object;

/// Implements [`Dispatchable`] for a type, with a slab of its own.
macro_rules! dispatchable_object {
    ($type:ty, $handle:ty) => {
        impl $crate::handle::Dispatchable for $type {
            type Handle = $handle;
            const NAME: &'static str = concat!("Vk", stringify!($type));
            fn slab() -> &'static $crate::handle::Slab<$type> {
                static SLAB: $crate::handle::Slab<$type> = $crate::handle::Slab::new();
                &SLAB
            }
        }
    };
}
pub(crate) use dispatchable_object;

/// The object of a dispatchable handle.
///
/// # Errors
/// The handle is not live.
pub fn dispatchable<T: Dispatchable>(handle: T::Handle) -> Outcome<Arc<T>> {
    let raw = vk::Handle::as_raw(handle);
    T::slab().get(raw).ok_or_else(|| dead(T::NAME, raw))
}

/// Gives an object a dispatchable handle.
pub fn insert_dispatchable<T: Dispatchable>(object: Arc<T>) -> T::Handle {
    vk::Handle::from_raw(T::slab().insert(object))
}

/// Ends a dispatchable handle; null is nothing.
///
/// # Errors
/// The handle is not live.
pub fn take_dispatchable<T: Dispatchable>(handle: T::Handle) -> Outcome<Option<Arc<T>>> {
    match vk::Handle::as_raw(handle) {
        0 => Ok(None),
        raw => T::slab().remove(raw).map(Some).ok_or_else(|| dead(T::NAME, raw)),
    }
}

/// The object of a handle.
///
/// # Errors
/// The handle is not live.
pub fn get<T: Object>(handle: T::Handle) -> Outcome<Arc<T>> {
    let raw = vk::Handle::as_raw(handle);
    T::table().get(raw).ok_or_else(|| dead(T::NAME, raw))
}

/// The object of a handle that may be null.
///
/// # Errors
/// The handle is neither null nor live.
pub fn get_optional<T: Object>(handle: T::Handle) -> Outcome<Option<Arc<T>>> {
    if vk::Handle::is_null(handle) { Ok(None) } else { get::<T>(handle).map(Some) }
}

/// Gives an object a handle.
pub fn insert<T: Object>(object: Arc<T>) -> T::Handle {
    vk::Handle::from_raw(T::table().insert(object))
}

/// Ends a handle; null is nothing.
///
/// # Errors
/// The handle is neither null nor live.
pub fn take<T: Object>(handle: T::Handle) -> Outcome<Option<Arc<T>>> {
    match vk::Handle::as_raw(handle) {
        0 => Ok(None),
        raw => T::table().remove(raw).map(Some).ok_or_else(|| dead(T::NAME, raw)),
    }
}

fn dead(name: &str, raw: u64) -> Error {
    match raw {
        0 => Error::usage(format!("{name} is VK_NULL_HANDLE")),
        raw => Error::usage(format!("{raw:#x} is no live {name}: destroyed, or never created")),
    }
}
