//! Programs whose host side accesses mapped memory: right ones see right values, in every mode and with or
//! without the kernel's help.
//!
//! Each program runs in a process of its own.

#[path = "../common/mod.rs"]
mod common;
mod program;
mod right;

use program::Program;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Output};

type Case = (&'static str, fn(&Program));

const RIGHT: &[Case] = &[
    ("counter_cleared_again", right::counter_cleared_again),
    ("single_bytes", right::single_bytes),
    ("flush_over_device_writes", right::flush_over_device_writes),
    ("persistent_mapping", right::persistent_mapping),
];

const CASE: &str = "HOST_ACCESS_CASE";

/// The program that the environment names.
#[test]
fn program_of_the_table() {
    let Ok(name) = std::env::var(CASE) else { return };
    let (_, case) = RIGHT.iter().find(|(n, ..)| *n == name).expect("a program of the table");
    case(&Program::new());
}

/// A process that runs a program.
fn process(name: &str, mode: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "program_of_the_table", "--nocapture"]);
    command.env(CASE, name).env("PELLUCID_MODE", mode);
    command
}

fn succeeds(name: &str, output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{name}:\n{text}");
    text
}

#[test]
fn right_programs_see_right_values() {
    for (name, ..) in RIGHT {
        for mode in ["run", "check"] {
            succeeds(name, &process(name, mode).output().unwrap());
        }
    }
}

/// A filter of system calls as containers have it: userfaultfd is not permitted.
fn deny_userfaultfd() -> std::io::Result<()> {
    let step = |code: u32, jt, jf, k| libc::sock_filter { code: code as u16, jt, jf, k };
    let call = libc::SYS_userfaultfd as u32;
    let denied = libc::SECCOMP_RET_ERRNO | libc::EPERM as u32;
    let mut filter = [
        step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        step(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 0, 1, call),
        step(libc::BPF_RET | libc::BPF_K, 0, 0, denied),
        step(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ALLOW),
    ];
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
    // SAFETY: plain system calls; the filter is complete and outlives them.
    let done = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
            && libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) == 0
    };
    if done { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}

#[test]
fn without_the_kernels_help_the_values_are_the_same() {
    for (name, ..) in RIGHT {
        let mut process = process(name, "check");
        // SAFETY: between fork and exec the function makes two system calls and allocates nothing.
        unsafe { process.pre_exec(deny_userfaultfd) };
        let text = succeeds(name, &process.output().unwrap());
        let said = "pellucid: the kernel does not track writes (userfaultfd: Operation not permitted (os error 1)): host writes are found by comparing all bytes\n";
        assert_eq!(text.matches(said).count(), 1, "{text}");
    }
}
