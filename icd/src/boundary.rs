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
macro_rules! entries {
    ($($(#[$meta:meta])* fn $name:ident($first:ident: $first_type:ty $(, $arg:ident: $type:ty)* $(,)?) $(-> $ret:ty)? $body:block)*) => { $(
        $(#[$meta])*
        ///
        /// # Safety
        /// The valid usage that the specification states for the command's pointers.
        #[allow(unused_unsafe)]
        pub(crate) unsafe extern "system" fn $name($first: $first_type $(, $arg: $type)*) $(-> $ret)? {
            // SAFETY: what a body may follow are the command's pointers, which the contract makes valid.
            $crate::boundary::guard($first, stringify!($name), move || unsafe { $body })
        }
    )* };
}
pub(crate) use entries;
