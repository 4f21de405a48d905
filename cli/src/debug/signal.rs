//! Ctrl-C as a flag, and the variables of this process: the one file of the debugger with unsafe code.

use std::ffi::OsString;
use std::fs::File;
use std::os::fd::AsFd as _;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

static FLAG: AtomicPtr<AtomicBool> = AtomicPtr::new(std::ptr::null_mut());

extern "C" fn handler(_: libc::c_int) {
    let flag = FLAG.load(Ordering::Relaxed);
    // SAFETY: null, or what `on_interrupt` was given, which lives for ever.
    if let Some(flag) = unsafe { flag.as_ref() } {
        flag.store(true, Ordering::Relaxed);
    }
}

/// From now on SIGINT sets this flag, and does nothing else.
pub fn on_interrupt(flag: &'static AtomicBool) {
    FLAG.store(std::ptr::from_ref(flag).cast_mut(), Ordering::Relaxed);
    let handler: extern "C" fn(libc::c_int) = handler;
    // SAFETY: the handler only touches atomics, which is async-signal-safe.
    unsafe { libc::signal(libc::SIGINT, handler as libc::sighandler_t) };
}

/// Removes and sets variables of the environment. To be called while there is no other thread.
pub fn set_environment(removed: &[OsString], set: impl Iterator<Item = (String, String)>) {
    for name in removed {
        // SAFETY: the caller's promise: nobody else looks at the environment meanwhile.
        unsafe { std::env::remove_var(name) };
    }
    for (name, value) in set {
        // SAFETY: as above.
        unsafe { std::env::set_var(name, value) };
    }
}

/// Takes standard output: what is printed from now on goes to standard error.
///
/// # Errors
/// There is none.
pub fn take_standard_output() -> std::io::Result<File> {
    let own = std::io::stdout().as_fd().try_clone_to_owned()?;
    // SAFETY: both descriptors are the process's standard ones; nobody holds the replaced one as its own.
    if unsafe { libc::dup2(libc::STDERR_FILENO, libc::STDOUT_FILENO) } < 0 {
        return Err(std::io::Error::last_os_error());
    }
    Ok(File::from(own))
}
