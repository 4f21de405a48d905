//! What tests of the command share.
// Each test uses a part of it.
#![allow(dead_code)]

pub mod debugger;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The command, without what the environment says to the driver.
pub fn pellucid() -> Command {
    pellucid_as(env!("CARGO_BIN_EXE_pellucid").as_ref())
}

/// A program that starts the command, likewise.
pub fn pellucid_as(program: &std::ffi::OsStr) -> Command {
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os().filter(|(n, _)| n.to_string_lossy().starts_with("PELLUCID_")) {
        command.env_remove(name);
    }
    command
}

/// The folder with the shaders of these tests.
pub fn compute() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/compute")
}

/// `pellucid exec` with one of them, or with one that lies elsewhere.
pub fn exec(shader: impl AsRef<Path>, options: &[&str], arguments: &str) -> Output {
    let mut command = pellucid();
    command.current_dir(compute()).arg("exec").args(options).arg(shader.as_ref());
    command.args(arguments.split_whitespace());
    command.output().expect("pellucid starts")
}

/// What the command says on standard error.
pub fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The values of the buffers that `--dump` printed.
pub fn dumped<T: std::str::FromStr<Err: std::fmt::Debug>>(output: &Output) -> Vec<T> {
    let text = String::from_utf8_lossy(&output.stdout);
    let values = text.lines().filter_map(|line| line.split_once(": ")).map(|(_, values)| values);
    values.flat_map(str::split_whitespace).map(|value| value.parse().expect("a number")).collect()
}

/// Writes `commands` to the standard input of a child and closes it. One that has ended already reads
/// nothing.
pub fn tell(child: &mut std::process::Child, commands: &str) {
    let told = std::io::Write::write_all(&mut child.stdin.take().unwrap(), commands.as_bytes());
    if let Err(error) = told {
        assert_eq!(error.kind(), std::io::ErrorKind::BrokenPipe, "{error}");
    }
}
