//! One process of the suite's binary over a list of cases, with a watchdog.
//!
//! The process leads its own process group, and the kernel kills it when the runner dies, however the runner
//! dies: no driver goes on burning time behind a run that was killed.

use crate::error::Error;
use crate::output::{Event, Parser};
use crate::status::Status;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, Signal, kill_process_group, set_parent_process_death_signal};
use rustix::time::Timespec;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// How to start the suite's binary.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The suite's executable: `deqp-vk`.
    pub binary: PathBuf,
    /// The folder it starts in: the one with its data.
    pub folder: PathBuf,
    /// Variables beside the runner's own.
    pub environment: Vec<(OsString, OsString)>,
    /// Arguments beside those that name cases and files.
    pub arguments: Vec<OsString>,
    /// The longest time without the begin or the end of a case.
    pub timeout: Duration,
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// By itself, with this exit status.
    Exited(i32),
    /// By a signal.
    Signalled(i32),
    /// The watchdog killed it.
    TimedOut,
}

impl Ending {
    fn of(status: ExitStatus) -> Ending {
        match status.signal() {
            Some(signal) => Ending::Signalled(signal),
            None => Ending::Exited(status.code().unwrap_or(-1)),
        }
    }

    /// In words, for messages.
    pub fn describe(self) -> String {
        match self {
            Ending::Exited(code) => format!("the process exited with status {code}"),
            Ending::Signalled(number) => match signal_name(number) {
                Some(name) => format!("the process ended by {name}"),
                None => format!("the process ended by signal {number}"),
            },
            Ending::TimedOut => "the process was killed by the watchdog".to_string(),
        }
    }
}

fn signal_name(number: i32) -> Option<&'static str> {
    Some(match number {
        4 => "SIGILL",
        5 => "SIGTRAP",
        6 => "SIGABRT",
        7 => "SIGBUS",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        15 => "SIGTERM",
        24 => "SIGXCPU",
        _ => return None,
    })
}

/// A case that came to its end in a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// The case.
    pub name: String,
    /// As the suite printed it.
    pub status: Status,
    /// As the suite printed it.
    pub message: String,
    /// From the begin of the case to its end.
    pub time: Duration,
}

/// What a process left behind.
#[derive(Debug)]
pub struct Outcome {
    /// How it ended.
    pub ending: Ending,
    /// The case that was begun and not ended, and for how long it ran.
    pub in_flight: Option<(String, Duration)>,
    /// Whether the suite said that it ran all that it wanted.
    pub done: bool,
    /// The last that it wrote to its standard error, else to its standard output.
    pub tail: String,
}

/// The files of a process, all in a folder of its own.
pub struct Files {
    /// Nobody else's, as long as the process lives.
    pub folder: PathBuf,
}

impl Files {
    /// Creates the folder.
    ///
    /// # Errors
    /// The folder cannot be created.
    pub fn create(folder: PathBuf) -> Result<Files, Error> {
        fs::create_dir_all(&folder).map_err(Error::io(&folder))?;
        Ok(Files { folder })
    }

    /// The suite's log.
    pub fn log(&self) -> PathBuf {
        self.folder.join("log.qpa")
    }

    fn cases(&self) -> PathBuf {
        self.folder.join("cases.txt")
    }

    fn shader_cache(&self) -> PathBuf {
        self.folder.join("shadercache.bin")
    }

    fn errors(&self) -> PathBuf {
        self.folder.join("stderr.txt")
    }

    /// Removes the folder; what cannot be removed stays, since it does no harm.
    pub fn remove(&self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn option(name: &str, path: &Path) -> OsString {
    let mut text = OsString::from(name);
    text.push("=");
    text.push(path);
    text
}

impl Launch {
    fn command(&self) -> Command {
        let mut command = Command::new(&self.binary);
        command.current_dir(&self.folder).stdin(Stdio::null()).stdout(Stdio::piped());
        for (name, value) in &self.environment {
            command.env(name, value);
        }
        command.process_group(0);
        // SAFETY: the closure runs between fork and exec and makes one system call, without allocation or
        // locks.
        unsafe {
            command.pre_exec(|| set_parent_process_death_signal(Some(Signal::KILL)).map_err(io::Error::from));
        }
        command
    }

    fn start(&self, mut command: Command) -> Result<Child, Error> {
        command
            .spawn()
            .map_err(|error| Error::Suite(format!("{} does not start: {error}", self.binary.display())))
    }

    /// Runs the binary over `cases` and calls `on_end` for each as it ends.
    ///
    /// # Errors
    /// The process cannot be started, or its files cannot be written. Whatever the process itself does is an
    /// [`Outcome`].
    pub fn run(
        &self,
        cases: &[&str],
        files: &Files,
        on_end: &mut dyn FnMut(Ended),
    ) -> Result<Outcome, Error> {
        let list = files.cases();
        fs::write(&list, cases.join("\n") + "\n").map_err(Error::io(&list))?;
        let errors = files.errors();
        let mut command = self.command();
        command.stderr(File::create(&errors).map_err(Error::io(&errors))?);
        command.arg(option("--deqp-caselist-file", &list));
        command.arg(option("--deqp-log-filename", &files.log()));
        command.arg(option("--deqp-shadercache-filename", &files.shader_cache()));
        command.args(&self.arguments);
        let mut child = self.start(command)?;

        let mut listener = Listener::new(on_end);
        let timed_out = self.listen(&mut child, &mut listener);
        let status = child.wait().map_err(Error::io(&self.binary))?;
        let _ = fs::remove_file(files.shader_cache());
        let ending = if timed_out { Ending::TimedOut } else { Ending::of(status) };
        let said = fs::read(&errors).unwrap_or_default();
        let said = String::from_utf8_lossy(&said[said.len().saturating_sub(2000)..]).trim().to_string();
        Ok(Outcome {
            ending,
            in_flight: listener.current.map(|(name, begun)| (name, begun.elapsed())),
            done: listener.done,
            tail: if said.is_empty() { listener.parser.tail() } else { said },
        })
    }

    /// Reads the child's output to its end, and kills its group when that makes no headway. Whether it did.
    fn listen(&self, child: &mut Child, listener: &mut Listener<'_>) -> bool {
        let mut output = child.stdout.take();
        let mut buffer = vec![0; 64 * 1024];
        loop {
            let left = self.timeout.saturating_sub(listener.headway.elapsed());
            if left.is_zero() {
                listener.hear(None);
                kill(child);
                return true;
            }
            let Some(pipe) = &mut output else {
                // The output is closed: the process ends now, or never.
                match child.try_wait() {
                    Ok(None) => std::thread::sleep(left.min(Duration::from_millis(1))),
                    _ => return false,
                }
                continue;
            };
            let wait = Timespec::try_from(left).unwrap_or(Timespec { tv_sec: 1, tv_nsec: 0 });
            match poll(&mut [PollFd::new(&*pipe, PollFlags::IN)], Some(&wait)) {
                Ok(0) => continue,
                Err(error) if error == rustix::io::Errno::INTR => continue,
                _ => {}
            }
            match pipe.read(&mut buffer) {
                Ok(0) => {
                    listener.hear(None);
                    output = None;
                }
                Ok(length) => listener.hear(Some(&buffer[..length])),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => output = None,
            }
        }
    }

    /// The cases of the binary that match `pattern`, as it lists them itself.
    ///
    /// # Errors
    /// The process cannot be started, or does not end well.
    pub fn list(&self, pattern: &str) -> Result<Vec<String>, Error> {
        let mut command = self.command();
        command.arg("--deqp-runmode=stdout-caselist").arg(format!("--deqp-case={pattern}"));
        command.arg("--deqp-log-filename=/dev/null").args(&self.arguments).stderr(Stdio::inherit());
        let child = self.start(command)?;
        let output = child.wait_with_output().map_err(Error::io(&self.binary))?;
        if !output.status.success() {
            let ending = Ending::of(output.status).describe();
            return Err(Error::Suite(format!("asked for its cases, {ending}: {}", self.binary.display())));
        }
        let text = String::from_utf8_lossy(&output.stdout);
        Ok(text
            .lines()
            .filter_map(|line| line.strip_prefix("TEST: "))
            .map(|name| name.trim().to_string())
            .collect())
    }
}

/// Kills the child's group, and the child itself should its group be gone.
fn kill(child: &mut Child) {
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    if let Some(group) = group {
        let _ = kill_process_group(group, Signal::KILL);
    }
    let _ = child.kill();
}

/// Follows a process through its output.
struct Listener<'a> {
    parser: Parser,
    current: Option<(String, Instant)>,
    done: bool,
    /// When a case last began or ended, or else the process.
    headway: Instant,
    on_end: &'a mut dyn FnMut(Ended),
}

impl<'a> Listener<'a> {
    fn new(on_end: &'a mut dyn FnMut(Ended)) -> Listener<'a> {
        Listener { parser: Parser::default(), current: None, done: false, headway: Instant::now(), on_end }
    }

    /// The next bytes of output; `None` for its end.
    fn hear(&mut self, bytes: Option<&[u8]>) {
        let now = Instant::now();
        let Listener { parser, current, done, headway, on_end } = self;
        let mut take = |event| {
            *headway = now;
            match event {
                Event::Begin(name) => *current = Some((name, now)),
                Event::End(status, message) => {
                    if let Some((name, begun)) = current.take() {
                        on_end(Ended { name, status, message, time: now - begun });
                    }
                }
                Event::Done => *done = true,
            }
        };
        match bytes {
            Some(bytes) => parser.feed(bytes, &mut take),
            None => parser.finish(&mut take),
        }
    }
}
