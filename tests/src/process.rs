//! A program on the driver with chosen options.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How long a program may take before it counts as hung.
const PATIENCE: Duration = Duration::from_secs(120);

/// What a program printed, and how it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Printed {
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
    /// The exit status; `None` for a signal or a program that was stopped because it hung.
    pub status: Option<i32>,
}

/// The environment without Pellucid's own variables, so that a caller's do not change a test.
fn clean(command: &mut Command) {
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("PELLUCID_") {
            command.env_remove(name);
        }
    }
}

/// Runs `program` with these arguments and `PELLUCID_*` variables in a working directory.
///
/// # Errors
/// It cannot be started.
pub fn run<A: AsRef<OsStr>>(
    program: &Path,
    arguments: &[A],
    variables: &[(&str, &str)],
    directory: &Path,
) -> std::io::Result<Printed> {
    let folder = tempfolder()?;
    let (out, err) = (folder.join("out"), folder.join("err"));
    let mut command = Command::new(program);
    clean(&mut command);
    command.args(arguments).envs(variables.iter().copied()).current_dir(directory);
    command.stdin(Stdio::null()).stdout(std::fs::File::create(&out)?).stderr(std::fs::File::create(&err)?);
    let mut child = command.spawn()?;
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status.code();
        }
        if start.elapsed() > PATIENCE {
            child.kill()?;
            child.wait()?;
            break None;
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    let read = |path: &Path| std::fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let printed = Printed { stdout: read(&out)?, stderr: read(&err)?, status };
    std::fs::remove_dir_all(folder)?;
    Ok(printed)
}

/// A new folder below the system's temporary one.
fn tempfolder() -> std::io::Result<PathBuf> {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let path = std::env::temp_dir().join(format!("pellucid-tests-{}-{number}", std::process::id()));
    std::fs::create_dir_all(&path)?;
    Ok(path)
}
