//! The boundary with C: every `extern "system"` body runs under one guard.
//!
//! Guarantees: no panic unwinds into the application (it becomes `VK_ERROR_UNKNOWN` and a lost device); every
//! error that has something to say reaches the application's debug messengers and standard error, once, from
//! here.

use crate::entry::device::Device;
use crate::entry::instance::Instance;
use crate::message;
use ash::vk;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// Why an entry point failed: the code that the application gets and, unless the code says it all, a message.
#[derive(Clone, Debug)]
pub struct Error {
    /// What the entry point returns, where it returns a code.
    pub code: vk::Result,
    /// What is said to debug messengers and on standard error.
    pub message: Option<String>,
}

impl Error {
    /// An error with a message.
    pub fn new(code: vk::Result, message: impl Into<String>) -> Error {
        Error { code, message: Some(message.into()) }
    }

    /// The application broke a rule of valid usage; there is no specified code for it.
    pub fn usage(message: impl Into<String>) -> Error {
        Error::new(vk::Result::ERROR_UNKNOWN, message)
    }

    /// Something that this driver does not do.
    pub fn not_implemented(what: &str) -> Error {
        Error::new(vk::Result::ERROR_FEATURE_NOT_PRESENT, format!("not implemented in Pellucid: {what}"))
    }
}

impl From<vk::Result> for Error {
    fn from(code: vk::Result) -> Error {
        Error { code, message: None }
    }
}

/// What bodies of entry points return.
pub type Outcome<T> = Result<T, Error>;

/// An empty list with room for `count` elements, for counts that the application chose.
///
/// # Errors
/// VK_ERROR_OUT_OF_HOST_MEMORY.
pub fn room_for<T>(count: usize) -> Outcome<Vec<T>> {
    let mut list = Vec::new();
    list.try_reserve_exact(count).map_err(|_| Error::from(vk::Result::ERROR_OUT_OF_HOST_MEMORY))?;
    Ok(list)
}

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

/// The first argument of an entry point: whose messengers hear of an error, and which device a panic loses.
pub trait Origin: Copy {
    /// The instance, if the handle is live.
    fn instance(self) -> Option<Arc<Instance>> {
        self.device().map(|d| d.instance.clone())
    }

    /// The device, if it has one.
    fn device(self) -> Option<Arc<Device>> {
        None
    }
}

impl<T> Origin for *const T {}
impl<T> Origin for *mut T {}

impl Origin for vk::Instance {
    fn instance(self) -> Option<Arc<Instance>> {
        crate::handle::dispatchable::<Instance>(self).ok()
    }
}

impl Origin for vk::PhysicalDevice {
    fn instance(self) -> Option<Arc<Instance>> {
        crate::handle::dispatchable::<crate::entry::physical_device::PhysicalDevice>(self).ok()?.instance()
    }
}

impl Origin for vk::Device {
    fn device(self) -> Option<Arc<Device>> {
        crate::handle::dispatchable::<Device>(self).ok()
    }
}

impl Origin for vk::Queue {
    fn device(self) -> Option<Arc<Device>> {
        crate::handle::dispatchable::<crate::queue::Queue>(self).ok()?.device()
    }
}

impl Origin for vk::CommandBuffer {
    fn device(self) -> Option<Arc<Device>> {
        crate::handle::dispatchable::<crate::command::CommandBuffer>(self).ok().map(|c| c.device.clone())
    }
}

fn panic_text(payload: &(dyn std::any::Any + Send)) -> &str {
    payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message")
}

/// Runs the body of entry point `name`, which was called on `origin`.
pub fn guard<R: Returned, A: Answers<R>>(
    origin: impl Origin,
    name: &str,
    body: impl FnOnce() -> Outcome<A>,
) -> R {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(answer)) => answer.answer(),
        Ok(Err(error)) => {
            if let Some(text) = &error.message {
                message::error(origin.instance().as_deref(), &format!("{name}: {text}"));
            }
            R::failure(error.code)
        }
        Err(payload) => {
            let text = format!("{name}: internal error: {}", panic_text(payload.as_ref()));
            match origin.device() {
                Some(device) => device.lose(&text),
                None => message::error(origin.instance().as_deref(), &text),
            }
            R::failure(vk::Result::ERROR_UNKNOWN)
        }
    }
}

/// Runs a piece of a queue's work; a panic becomes an error with its text.
///
/// # Errors
/// The text of the panic.
pub fn contain<T>(body: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(body)).map_err(|p| panic_text(p.as_ref()).to_owned())
}

/// Declares entry points: `fn name(arguments) -> type { body }`. The body returns an [`Outcome`] and runs
/// under [`guard`].
macro_rules! entries {
    ($($(#[$meta:meta])* fn $name:ident($first:ident: $first_type:ty $(, $arg:ident: $type:ty)* $(,)?) $(-> $ret:ty)? $body:block)*) => { $(
        $(#[$meta])*
        pub(crate) unsafe extern "system" fn $name($first: $first_type $(, $arg: $type)*) $(-> $ret)? {
            $crate::boundary::guard($first, stringify!($name), move || $body)
        }
    )* };
}
pub(crate) use entries;
