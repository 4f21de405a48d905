//! Programs that are started: they do not outlive this process, and signals that ask it to end reach them.
//!
//! A program gets SIGTERM, or where it is a part of Pellucid SIGKILL, when the thread that started it dies,
//! whatever ends that (`PR_SET_PDEATHSIG`). While this process waits for a program, SIGINT, SIGTERM and
//! SIGHUP are passed on to it instead of ending this process: its totals are printed when it has ended. What
//! a terminal sends goes to the program anyway, and is not passed on once more.

use libc::{c_int, sigset_t};
use rustix::process::{Pid, Signal, getppid, kill_process, set_parent_process_death_signal};
use std::io;
use std::mem::MaybeUninit;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, ExitStatus};

/// What ends a program whose parent has died.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// SIGTERM: somebody else's program.
    Ask,
    /// SIGKILL: a part of this one.
    Kill,
}

/// The signals that are passed on.
const PASSED: [c_int; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];

/// Has the program end with the thread that starts it.
pub fn bind(command: &mut Command, end: End) {
    let signal = match end {
        End::Ask => Signal::TERM,
        End::Kill => Signal::KILL,
    };
    let parent = Some(rustix::process::getpid());
    let ends_with_parent = move || {
        set_parent_process_death_signal(Some(signal))?;
        // Another one, if it died before the call above.
        if getppid() == parent { Ok(()) } else { Err(io::Error::from_raw_os_error(libc::ESRCH)) }
    };
    // SAFETY: the closure makes two system calls that are async-signal-safe, and allocates nothing.
    unsafe { command.pre_exec(ends_with_parent) };
}

/// Runs a program to its end and passes signals on to it. To be called by the main thread, while there is no
/// other.
///
/// # Errors
/// It cannot be started.
pub fn status(command: &mut Command, end: End) -> io::Result<ExitStatus> {
    bind(command, end);
    let blocked = Blocked::new();
    blocked.only_here(command);
    let mut child = command.spawn()?;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if let Some(signal) = blocked.next() {
            pass_on(&child, signal);
        }
    }
}

/// Sends a signal to a child that has not been waited for.
fn pass_on(child: &Child, signal: c_int) {
    if let Some(signal) = Signal::from_named_raw(signal) {
        let _ = kill_process(Pid::from_child(child), signal);
    }
}

/// Signals that wait to be asked for, as long as this lives.
struct Blocked {
    signals: sigset_t,
    before: sigset_t,
}

impl Blocked {
    fn new() -> Blocked {
        let mut signals = MaybeUninit::uninit();
        let mut before = MaybeUninit::uninit();
        // SAFETY: sigemptyset initialises the set, the other calls get initialised sets and a place for the
        // one before.
        unsafe {
            libc::sigemptyset(signals.as_mut_ptr());
            libc::sigemptyset(before.as_mut_ptr());
            for signal in PASSED.into_iter().chain([libc::SIGCHLD]) {
                libc::sigaddset(signals.as_mut_ptr(), signal);
            }
            libc::pthread_sigmask(libc::SIG_BLOCK, signals.as_ptr(), before.as_mut_ptr());
            Blocked { signals: signals.assume_init(), before: before.assume_init() }
        }
    }

    /// A program inherits what is blocked: it gets what was blocked before.
    fn only_here(&self, command: &mut Command) {
        let before = self.before;
        let as_before = move || {
            // SAFETY: a set that pthread_sigmask has written.
            match unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, std::ptr::null_mut()) }
            {
                0 => Ok(()),
                error => Err(io::Error::from_raw_os_error(error)),
            }
        };
        // SAFETY: the closure makes a system call that is async-signal-safe, and allocates nothing.
        unsafe { command.pre_exec(as_before) };
    }

    /// Waits for a signal, for a second at most. The signal, if it is one to be passed on.
    fn next(&self) -> Option<c_int> {
        let second = libc::timespec { tv_sec: 1, tv_nsec: 0 };
        let mut info = MaybeUninit::<libc::siginfo_t>::zeroed();
        // SAFETY: a set, a place for the description, and a time that all live here.
        let signal =
            unsafe { libc::sigtimedwait(&raw const self.signals, info.as_mut_ptr(), &raw const second) };
        // SAFETY: zeroes are a valid description, and the call has written one if it succeeded.
        let info = unsafe { info.assume_init() };
        (PASSED.contains(&signal) && info.si_code != libc::SI_KERNEL).then_some(signal)
    }
}

impl Drop for Blocked {
    fn drop(&mut self) {
        // SAFETY: a set that pthread_sigmask has written.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.before, std::ptr::null_mut()) };
    }
}
