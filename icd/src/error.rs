//! Why something failed: a code for the application and, unless the code says it all, a message.

use ash::vk;
use std::panic::{AssertUnwindSafe, catch_unwind};

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

    /// True if it says that the application broke a rule.
    pub fn is_misuse(&self) -> bool {
        let codes = [vk::Result::ERROR_UNKNOWN, vk::Result::ERROR_MEMORY_MAP_FAILED];
        self.message.is_some() && codes.contains(&self.code)
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

/// What a panic said.
pub fn panic_text(payload: &(dyn std::any::Any + Send)) -> &str {
    payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message")
}

/// Runs what may panic; a panic becomes an error with its text.
///
/// # Errors
/// The text of the panic.
pub fn contain<T>(body: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(body)).map_err(|p| panic_text(p.as_ref()).to_owned())
}
