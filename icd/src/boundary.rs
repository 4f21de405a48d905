//! The boundary with C: every `extern "system"` body runs under one guard.
//!
//! Guarantees: no panic unwinds into the application (it becomes `VK_ERROR_UNKNOWN` and a lost device); every
//! error that has something to say reaches the application's debug messengers and standard error, once, from
//! here.

use crate::error::{Outcome, panic_text};
use crate::handle;
use crate::report;
use ash::vk;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A C return type, and what stands for failure in it.
pub trait Returned {
    /// The value that reports this failure.
    fn failure(code: vk::Result) -> Self;
}

impl Returned for vk::Result {
    fn failure(code: vk::Result) -> Self {
        code
    }
}

impl Returned for () {
    fn failure(_: vk::Result) -> Self {}
}

impl Returned for u64 {
    fn failure(_: vk::Result) -> Self {
        0
    }
}

impl Returned for vk::PFN_vkVoidFunction {
    fn failure(_: vk::Result) -> Self {
        None
    }
}

/// A body's success, as the C return type has it.
pub trait Answers<R> {
    /// Converts.
    fn answer(self) -> R;
}

impl Answers<vk::Result> for () {
    fn answer(self) -> vk::Result {
        vk::Result::SUCCESS
    }
}

impl Answers<()> for () {
    fn answer(self) {}
}

impl Answers<vk::Result> for vk::Result {
    fn answer(self) -> vk::Result {
        self
    }
}

impl Answers<u64> for u64 {
    fn answer(self) -> u64 {
        self
    }
}

impl Answers<vk::PFN_vkVoidFunction> for vk::PFN_vkVoidFunction {
    fn answer(self) -> vk::PFN_vkVoidFunction {
        self
    }
}

/// The first argument of an entry point: who hears of an error, and which device a panic loses.
pub trait Origin: Copy {
    /// Tells the application's messengers, if the handle is live, and standard error.
    fn say(self, text: &str) {
        report::say(text);
    }

    /// Loses the device, if it has one, and says why.
    fn lose(self, text: &str) {
        self.say(text);
    }
}

impl<T> Origin for *const T {}
impl<T> Origin for *mut T {}

/// The command of Vulkan that an entry point is: `vkMapMemory` for `map_memory`, and for itself.
fn command(name: &str) -> String {
    if name.starts_with("vk") {
        return name.to_owned();
    }
    let mut begins = true;
    let letters =
        name.chars().filter_map(|letter| match (letter, std::mem::replace(&mut begins, letter == '_')) {
            ('_', _) => None,
            (_, true) => Some(letter.to_ascii_uppercase()),
            _ => Some(letter),
        });
    "vk".chars().chain(letters).collect()
}

/// Runs the body of entry point `name`, which was called on `origin`.
pub fn guard<R: Returned, A: Answers<R>>(
    origin: impl Origin,
    name: &str,
    body: impl FnOnce() -> Outcome<A>,
) -> R {
    let _call = handle::Call::begin();
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(answer)) => answer.answer(),
        Ok(Err(error)) => {
            if let Some(text) = &error.message {
                let text = format!("{}: {text}", command(name));
                origin.say(&text);
                if error.is_misuse() {
                    report::misuse(&text);
                }
            }
            R::failure(error.code)
        }
        Err(payload) => {
            origin.lose(&format!("{}: internal error: {}", command(name), panic_text(payload.as_ref())));
            R::failure(vk::Result::ERROR_UNKNOWN)
        }
    }
}

/// Declares entry points: `fn name(arguments) -> type { body }`. The body returns an [`Outcome`] and runs
/// under [`guard`]. It may follow the application's pointers with the functions of `ffi`.
///
/// Arguments are written as the body has them; C's are made of them, and what is not live, or null, ends the
/// call with an error before the body begins, in the order of the arguments:
///
/// - `Arc<T>`: a handle, and here its object.
/// - `&T` and `&mut T`: a pointer that may not be null.
/// - `&[T]`: a count and a pointer, which may be null only with a count of 0.
/// - Every other type is C's own.
macro_rules! entries {
    ($($(#[$meta:meta])* fn $name:ident($($arguments:tt)*) $(-> $ret:ty)? $body:block)*) => { $(
        $crate::boundary::entry! { { $(#[$meta])* } $name { $(-> $ret)? } $body {} {} $($arguments)* }
    )* };
}
pub(crate) use entries;

/// One entry point: makes C's arguments and the statements that read them, argument by argument.
macro_rules! entry {
    ($declared:tt $name:ident $ret:tt $body:tt { $($c:tt)* } { $($read:tt)* }
        $arg:ident: Arc<$type:ty> $(, $($rest:tt)*)?) => {
        $crate::boundary::entry! {
            $declared $name $ret $body
            { $($c)* $arg: <$type as $crate::handle::Live>::Handle, }
            { $($read)* let $arg = <$type as $crate::handle::Live>::of($arg)?; }
            $($($rest)*)?
        }
    };
    ($declared:tt $name:ident $ret:tt $body:tt { $($c:tt)* } { $($read:tt)* }
        $arg:ident: &[$type:ty] $(, $($rest:tt)*)?) => {
        $crate::boundary::entry! {
            $declared $name $ret $body
            { $($c)* count: u32, $arg: *const $type, }
            { $($read)* let $arg = $crate::ffi::array($arg, count)?; }
            $($($rest)*)?
        }
    };
    ($declared:tt $name:ident $ret:tt $body:tt { $($c:tt)* } { $($read:tt)* }
        $arg:ident: &mut $type:ty $(, $($rest:tt)*)?) => {
        $crate::boundary::entry! {
            $declared $name $ret $body
            { $($c)* $arg: *mut $type, } { $($read)* let $arg = $crate::ffi::read_mut($arg)?; } $($($rest)*)?
        }
    };
    ($declared:tt $name:ident $ret:tt $body:tt { $($c:tt)* } { $($read:tt)* }
        $arg:ident: &$type:ty $(, $($rest:tt)*)?) => {
        $crate::boundary::entry! {
            $declared $name $ret $body
            { $($c)* $arg: *const $type, } { $($read)* let $arg = $crate::ffi::read($arg)?; } $($($rest)*)?
        }
    };
    ($declared:tt $name:ident $ret:tt $body:tt { $($c:tt)* } $read:tt
        $arg:ident: $type:ty $(, $($rest:tt)*)?) => {
        $crate::boundary::entry! { $declared $name $ret $body { $($c)* $arg: $type, } $read $($($rest)*)? }
    };
    ({ $($meta:tt)* } $name:ident { $($ret:tt)* } $body:block
        { $first:ident: $first_type:ty, $($c:tt)* } { $($read:tt)* }) => {
        $($meta)*
        ///
        /// # Safety
        /// The valid usage that the specification states for the command's pointers.
        #[allow(unused_unsafe)]
        pub(crate) unsafe extern "system" fn $name($first: $first_type, $($c)*) $($ret)* {
            // SAFETY: what a body may follow are the command's pointers, which the contract makes valid.
            $crate::boundary::guard($first, stringify!($name), move || unsafe { $($read)* $body })
        }
    };
}
pub(crate) use entry;

/// Declares entry points that create an object of a device: `fn name(device, info: type) -> handle { body }`.
/// The body has the device and the structure, and returns the object's handle.
macro_rules! creates {
    ($($(#[$meta:meta])* fn $name:ident($device:ident, $info:ident: $type:ty $(,)?) -> $handle:ty
        $body:block)*) => {
        $crate::boundary::entries! { $(
            $(#[$meta])*
            fn $name(
                $device: Arc<$crate::device::Device>,
                $info: &$type,
                _allocator: *const ash::vk::AllocationCallbacks<'_>,
                out: *mut $handle,
            ) -> ash::vk::Result {
                let create = || -> $crate::error::Outcome<$handle> { $body };
                $crate::ffi::write(out, create()?)
            }
        )* }
    };
}
pub(crate) use creates;

/// Declares entry points that end an object of a device: `fn name(device, handle: type) { body }`, or for
/// those that do nothing else, `fn name(type);`. Of these, those that name themselves look for submitted work
/// that uses the object.
macro_rules! destroys {
    ($($(#[$meta:meta])* fn $name:ident($device:ident, $handle:ident: $type:ty) $body:block)*) => {
        $crate::boundary::entries! { $(
            $(#[$meta])*
            fn $name(
                $device: Arc<$crate::device::Device>,
                $handle: $type,
                _allocator: *const ash::vk::AllocationCallbacks<'_>,
            ) $body
        )* }
    };
    ($($(#[$meta:meta])* fn $name:ident($type:ty) $(as $call:literal)?;)*) => {
        $crate::boundary::destroys! { $(
            $(#[$meta])*
            fn $name(device, handle: <$type as $crate::handle::Object>::Handle) {
                $crate::boundary::destroys!(@ device handle $type $(, $call)?)
            }
        )* }
    };
    (@ $device:ident $handle:ident $type:ty, $call:literal) => {
        $crate::entry::destroy::destroy::<$type>(&$device, $handle, $call).map(drop)
    };
    (@ $device:ident $handle:ident $type:ty) => {
        $crate::entry::destroy::end::<$type>(&$device, $handle).map(drop)
    };
}
pub(crate) use destroys;
