//! Handles: how the numbers that applications hold become objects.
//!
//! Guarantees: a handle that is stale, of another type, or never was one gives an error, never undefined
//! behaviour. Dispatchable handles are addresses inside slabs that are never freed ([`dispatchable`]); the
//! others are generational slots ([`slots`]). Objects are reference-counted: work in flight keeps alive what
//! it uses, whatever the application destroys.

mod dispatchable;
pub(crate) mod kind;
mod slots;

pub use dispatchable::{Slab, number};
pub use slots::{DeviceNumber, Table, new_device};

use crate::error::{Error, Outcome};
use ash::vk;
use std::cell::Cell;
use std::sync::Arc;

/// An object behind a dispatchable handle.
pub trait Dispatchable: Send + Sync + Sized + 'static {
    type Handle: vk::Handle + Copy;
    /// `VkDevice` and so on, for messages.
    const NAME: &'static str;
    /// Where these objects live.
    fn slab() -> &'static Slab<Self>;
    /// The device that it is, or is of.
    fn device(&self) -> DeviceNumber;
}

/// An object behind a non-dispatchable handle.
pub trait Object: Send + Sync + Sized + 'static {
    type Handle: vk::Handle + Copy;
    /// What the header calls the type of the handle, such as `VkBuffer`, for messages.
    const NAME: &'static str;
    /// Where these objects live.
    fn table() -> &'static Table<Self>;
}

/// What an entry point is called with by its handle: an object of either kind.
pub trait Live: Sized {
    type Handle;
    /// The object.
    ///
    /// # Errors
    /// The handle is not live.
    fn of(handle: Self::Handle) -> Outcome<Arc<Self>>;
}

/// Implements [`Object`] for a type, with a table of its own.
macro_rules! object {
    ($type:ty, vk::$handle:ident, $kind:expr) => {
        impl $crate::handle::Object for $type {
            type Handle = ash::vk::$handle;
            const NAME: &'static str = concat!("Vk", stringify!($handle));
            fn table() -> &'static $crate::handle::Table<$type> {
                static TABLE: $crate::handle::Table<$type> = $crate::handle::Table::new($kind);
                &TABLE
            }
        }

        impl $crate::handle::Live for $type {
            type Handle = ash::vk::$handle;
            fn of(handle: ash::vk::$handle) -> $crate::error::Outcome<std::sync::Arc<$type>> {
                $crate::handle::get(handle)
            }
        }
    };
}
pub(crate) use object;

/// Implements [`Dispatchable`] for a type, with a slab of its own. The last argument says which device an
/// object is of.
macro_rules! dispatchable_object {
    ($type:ty, $handle:ty, $device:expr) => {
        impl $crate::handle::Dispatchable for $type {
            type Handle = $handle;
            const NAME: &'static str = concat!("Vk", stringify!($type));
            fn slab() -> &'static $crate::handle::Slab<$type> {
                static SLAB: $crate::handle::Slab<$type> = $crate::handle::Slab::new();
                &SLAB
            }
            fn device(&self) -> $crate::handle::DeviceNumber {
                let device: fn(&$type) -> $crate::handle::DeviceNumber = $device;
                device(self)
            }
        }

        impl $crate::handle::Live for $type {
            type Handle = $handle;
            fn of(handle: $handle) -> $crate::error::Outcome<std::sync::Arc<$type>> {
                $crate::handle::dispatchable(handle)
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
    let object = T::slab().get(raw).ok_or_else(|| dead(T::NAME, raw))?;
    CALLED_ON.with(|called_on| {
        if called_on.get() == 0 {
            called_on.set(object.device());
        }
    });
    Ok(object)
}

thread_local! {
    /// The device of the first dispatchable object that the entry point looked up, which runs on this thread.
    static CALLED_ON: Cell<DeviceNumber> = const { Cell::new(0) };
}

/// A call of an entry point: the first dispatchable object that it looks up says which device its handles
/// have to be of.
pub struct Call {
    outer: DeviceNumber,
}

impl Call {
    /// It begins, maybe inside of another one: a messenger's callback may call.
    pub fn begin() -> Call {
        Call { outer: CALLED_ON.replace(0) }
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        CALLED_ON.set(self.outer);
    }
}

/// # Errors
/// The handle is one of another device than the entry point was called on.
fn of_this_device(name: &str, raw: u64) -> Outcome<()> {
    match (CALLED_ON.get(), slots::device_of(raw)) {
        (called_on, of) if called_on == 0 || of == 0 || called_on == of => Ok(()),
        _ => Err(Error::usage(format!("{name} {raw:#x} is of another VkDevice"))),
    }
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
    let object = T::table().get(raw).ok_or_else(|| dead(T::NAME, raw))?;
    of_this_device(T::NAME, raw)?;
    Ok(object)
}

/// The object of a handle that may be null.
///
/// # Errors
/// The handle is neither null nor live.
pub fn get_optional<T: Object>(handle: T::Handle) -> Outcome<Option<Arc<T>>> {
    if vk::Handle::is_null(handle) { Ok(None) } else { get::<T>(handle).map(Some) }
}

/// Gives an object a handle, of the device that the entry point was called on.
pub fn insert<T: Object>(object: Arc<T>) -> T::Handle {
    vk::Handle::from_raw(T::table().insert(object, CALLED_ON.get()))
}

/// Ends a handle; null is nothing.
///
/// # Errors
/// The handle is neither null nor live.
pub fn take<T: Object>(handle: T::Handle) -> Outcome<Option<Arc<T>>> {
    match vk::Handle::as_raw(handle) {
        0 => Ok(None),
        raw if T::table().get(raw).is_none() => Err(dead(T::NAME, raw)),
        raw => of_this_device(T::NAME, raw).map(|()| T::table().remove(raw)),
    }
}

fn dead(name: &str, raw: u64) -> Error {
    match raw {
        0 => Error::usage(format!("{name} is VK_NULL_HANDLE")),
        // The handle itself may be an address.
        raw => Error::usage(match number(raw) {
            Some(number) => format!("{name} {number} is destroyed"),
            None => format!("{raw:#x} is no live {name}: destroyed, or never created"),
        }),
    }
}
