//! What semaphores and fences share with other devices, instances and processes: their payloads.
//!
//! A payload that is shared is a word of a memory file: the value of a timeline semaphore; 0 or 1 of a binary
//! semaphore or a fence. Others change it at any time and wake nobody here, so a device that has such
//! payloads looks at them every so often ([`Watcher`]).

use crate::error::{Error, Outcome};
use ash::vk;
use parking_lot::Mutex;
use pellucid_memory::shared::SharedWord;
use std::os::fd::{BorrowedFd, IntoRawFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// What a shared payload is of: payloads of different kinds are not exchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum SharedKind {
    Binary = 1,
    Timeline = 2,
    Fence = 3,
}

/// The shared payloads of a semaphore or fence. Until it is exported its payload is its own, whose signals
/// tell what they follow.
#[derive(Default)]
pub struct Payloads {
    /// It was created to be exported.
    exportable: bool,
    permanent: Option<SharedWord>,
    /// Until the next wait for a semaphore, or the next reset of a fence.
    temporary: Option<SharedWord>,
}

fn system(error: &impl std::fmt::Display) -> Error {
    Error::new(vk::Result::ERROR_OUT_OF_HOST_MEMORY, error.to_string())
}

impl Payloads {
    /// Of what was created to be exported.
    pub fn exportable() -> Payloads {
        Payloads { exportable: true, ..Payloads::default() }
    }

    /// The payload, if it is shared.
    pub fn current(&self) -> Option<&SharedWord> {
        self.temporary.as_ref().or(self.permanent.as_ref())
    }

    /// Takes the payload behind a file descriptor.
    ///
    /// # Errors
    /// It is no payload of this kind.
    pub fn import(&mut self, kind: SharedKind, descriptor: BorrowedFd<'_>, temporary: bool) -> Outcome<()> {
        let word = SharedWord::import(kind as u8, descriptor)
            .map_err(|error| Error::new(vk::Result::ERROR_INVALID_EXTERNAL_HANDLE, error.to_string()))?;
        match temporary {
            true => self.temporary = Some(word),
            false => *self = Payloads { permanent: Some(word), temporary: None, ..*self },
        }
        Ok(())
    }

    /// A file descriptor of the payload for somebody else; `value` is what it is while it is not shared.
    ///
    /// # Errors
    /// It was not created to be exported, or the operating system gives no descriptor or memory file.
    pub fn export(&mut self, kind: SharedKind, value: u64) -> Outcome<i32> {
        if self.exportable && self.current().is_none() {
            self.permanent = Some(SharedWord::new(kind as u8, value).map_err(|error| system(&error))?);
        }
        let word = self.current().ok_or_else(|| Error::usage("it was not created to be exported"))?;
        let descriptor =
            word.duplicate().map_err(|e| Error::new(vk::Result::ERROR_TOO_MANY_OBJECTS, e.to_string()))?;
        Ok(descriptor.into_raw_fd())
    }

    /// A temporary payload ends.
    pub fn restore(&mut self) {
        self.temporary = None;
    }
}

/// How often a device looks at the payloads that it shares.
const INTERVAL: Duration = Duration::from_micros(500);

/// Wakes whoever waits on a device that shares payloads.
#[derive(Default)]
pub struct Watcher {
    stop: Arc<AtomicBool>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Watcher {
    /// The device shares payloads from now on: `wake` wakes whoever waits on it, and says whether it is
    /// there.
    ///
    /// # Errors
    /// There is no thread for it.
    pub fn start(&self, wake: impl Fn() -> bool + Send + 'static) -> Outcome<()> {
        let mut thread = self.thread.lock();
        if thread.is_some() {
            return Ok(());
        }
        let stop = self.stop.clone();
        let watch = move || {
            while !stop.load(Ordering::SeqCst) && wake() {
                std::thread::sleep(INTERVAL);
            }
        };
        let named = std::thread::Builder::new().name("pellucid-shared".to_owned());
        *thread = Some(named.spawn(watch).map_err(|error| system(&error))?);
        Ok(())
    }

    /// Ends the thread.
    pub fn end(&self) {
        self.stop.store(true, Ordering::SeqCst);
        let thread = self.thread.lock().take();
        // The thread itself may be the last to hold the device.
        if let Some(thread) = thread.filter(|thread| thread.thread().id() != std::thread::current().id()) {
            let _ = thread.join();
        }
    }
}
