//! The end of the process: totals are written then, and `exitcode` is obeyed.
//!
//! The library is never unloaded, so a function of ours may be called at exit.

use super::session::Session;
use crate::error::contain;
use std::ffi::{c_int, c_void};
use std::sync::OnceLock;

static AT_EXIT: OnceLock<&'static Session> = OnceLock::new();

unsafe extern "C" {
    fn on_exit(function: extern "C" fn(c_int, *mut c_void), argument: *mut c_void) -> c_int;
}

/// Has `session` finish when the process ends, and the process end with `exitcode` where it would have ended
/// with 0 but had findings.
pub fn register(session: &'static Session) {
    if AT_EXIT.set(session).is_ok() {
        // SAFETY: `finish` is a function of this library, which stays mapped until the process has ended; it
        // takes no argument.
        unsafe { on_exit(finish, std::ptr::null_mut()) };
    }
}

/// The session that finishes at exit.
pub fn session() -> Option<&'static Session> {
    AT_EXIT.get().copied()
}

extern "C" fn finish(status: c_int, _: *mut c_void) {
    let Some(session) = AT_EXIT.get() else { return };
    let code = contain(|| session.finish()).ok().flatten();
    if let (0, Some(code)) = (status, code) {
        // SAFETY: flushing all C streams and leaving are allowed at exit; handlers that were registered
        // before ours do not run.
        unsafe {
            libc::fflush(std::ptr::null_mut());
            libc::_exit(c_int::from(code));
        }
    }
}
