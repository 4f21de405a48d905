//! One dispatch of somebody's program: the program runs on the driver until it comes there, and waits while
//! the debugger runs a capture of the dispatch in this process.

use crate::host;
use crate::run::{self, Job, Started};
use anyhow::{Context as _, bail};
use rustix::process::{Pid, Signal, kill_process_group};
use std::fs::File;
use std::path::PathBuf;
use std::process::{ChildStderr, ChildStdout, ExitStatus};
use std::time::Duration;
use vulkan_pellucid::capture::{self, replay::Captured};
use vulkan_pellucid::debugger;

/// Between two looks at what the program does.
const POLL: Duration = Duration::from_millis(5);

/// A program that runs, or waits at its dispatch.
pub struct CapturedProgram {
    started: Started,
    dispatch: u32,
    /// Holds the capture.
    folder: tempfile::TempDir,
    /// As long as this is locked, the program waits at its dispatch.
    held: File,
}

impl CapturedProgram {
    /// Starts a program that is to wait at a dispatch; `piped`: its output is for
    /// [`CapturedProgram::output`].
    ///
    /// # Errors
    /// It cannot be started.
    pub fn start(mut job: Job, dispatch: u32, piped: bool) -> anyhow::Result<CapturedProgram> {
        let folder = tempfile::tempdir().context("a temporary folder")?;
        let held = File::create_new(capture::held(folder.path())).context("a temporary file")?;
        held.lock().context("a lock")?;
        job.options.set("capture", format!("{dispatch}:{}", folder.path().display()));
        let started = run::start(&job, piped)?;
        Ok(CapturedProgram { started, dispatch, folder, held })
    }

    /// What it prints, if that is piped.
    pub fn output(&mut self) -> (Option<ChildStdout>, Option<ChildStderr>) {
        (self.started.child.stdout.take(), self.started.child.stderr.take())
    }

    /// Where this program keeps files, which are to be removed with it.
    pub fn folders(&self) -> [PathBuf; 2] {
        [self.started.folder().to_owned(), self.folder.path().to_owned()]
    }

    /// Ends the program and what it has started, as far as that is in its process group.
    pub fn killer(&self) -> impl Fn() + Send + use<> {
        let group = Pid::from_child(&self.started.child);
        move || {
            // It may have ended by itself.
            let _ = kill_process_group(group, Signal::KILL);
        }
    }

    /// Until the program has come to its dispatch.
    ///
    /// # Errors
    /// It ends before, the dispatch cannot be debugged, or `cancelled` says that nobody waits any more.
    pub fn reach(&mut self, cancelled: &mut dyn FnMut() -> bool) -> anyhow::Result<Captured> {
        let path = capture::path(self.folder.path());
        while !path.exists() {
            if let Some(status) = self.started.child.try_wait()? {
                return Err(self.ended(status)?);
            }
            if cancelled() {
                self.killer()();
                bail!("dispatch {} was not reached", self.dispatch);
            }
            std::thread::sleep(POLL);
        }
        Captured::read(&path).map_err(anyhow::Error::msg)
    }

    fn ended(&self, status: ExitStatus) -> anyhow::Result<anyhow::Error> {
        let outcome = self.started.outcome(status)?;
        let total = run::total(&outcome);
        let number = self.dispatch;
        Ok(match outcome.total["dispatches"].as_u64() {
            Some(all @ 1..) => anyhow::anyhow!(
                "there is no dispatch {number}: the program ended after {all} (they count from 0)\n{total}"
            ),
            _ => anyhow::anyhow!("there is no dispatch {number}\n{total}"),
        })
    }

    /// Has the installed debugger run the capture.
    ///
    /// # Errors
    /// There is no device, or the capture does not fit it.
    pub fn debug(&self, captured: &Captured) -> anyhow::Result<()> {
        let outcome = host::with_linked_device(|device| captured.debug(device))?;
        // The program counts what it finds.
        debugger::abandon();
        outcome.map_err(anyhow::Error::msg)
    }

    /// Lets the program go on to its end; its total line.
    ///
    /// # Errors
    /// Its totals cannot be read.
    pub fn finish(mut self, cancelled: &mut dyn FnMut() -> bool) -> anyhow::Result<String> {
        drop(self.held);
        let child = &mut self.started.child;
        let status = loop {
            if let Some(status) = child.try_wait()? {
                break status;
            }
            if cancelled() {
                let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
            }
            std::thread::sleep(POLL);
        };
        Ok(run::total(&self.started.outcome(status)?))
    }
}
