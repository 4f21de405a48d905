//! The debugger, started and told what to do.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// The folder of the repository, in which the debugger runs.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap()
}

/// `pellucid debug`, which waits for what it is told.
pub fn debugger(arguments: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_pellucid"))
        .arg("debug")
        .args(arguments)
        .current_dir(root())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// What the debugger prints for these commands.
pub fn session(arguments: &[&str], commands: &str) -> String {
    let mut child = debugger(arguments);
    super::tell(&mut child, commands);
    String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap()
}

/// What was printed has all of these in it.
pub fn tells(printed: &str, all: &[&str]) {
    for told in all {
        assert!(printed.contains(told), "{told:?} is not in\n{printed}");
    }
}
