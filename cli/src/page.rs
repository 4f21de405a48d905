//! `--html FILE`: what was found as a page, beside everything else that a command does.

use crate::options::DriverOptions;
use crate::report;
use anyhow::Context as _;
use clap::Args;
use std::path::{Path, PathBuf};

/// What was found, as a page.
#[derive(Args, Debug, Default)]
pub struct Page {
    /// Write what was found to FILE as a page with pictures, for a browser
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

/// A page that is written when a command has found what there is. Without that, no file stays.
pub struct Writing {
    /// A report that nobody asked for goes with it.
    _folder: tempfile::TempDir,
    report: PathBuf,
    html: PathBuf,
    written: bool,
}

impl Page {
    /// Whether one was asked for.
    pub fn is_wanted(&self) -> bool {
        self.html.is_some()
    }

    /// The page, if one was asked for: an empty file, so that nobody waits for a page that cannot be written.
    ///
    /// # Errors
    /// The file cannot be written, or there is no temporary folder.
    pub fn begin(self) -> anyhow::Result<Option<Writing>> {
        let Some(html) = self.html else { return Ok(None) };
        let folder = tempfile::tempdir().context("a temporary folder")?;
        let report = folder.path().join("report.json");
        std::fs::write(&html, "").with_context(|| html.display().to_string())?;
        Ok(Some(Writing { _folder: folder, report, html, written: false }))
    }

    /// Does `run` with a report, and makes the page of it, if one was asked for: the exit status.
    ///
    /// # Errors
    /// Those of `run`; the page's file cannot be written.
    pub fn around(
        self,
        mut options: DriverOptions,
        run: impl FnOnce(DriverOptions) -> anyhow::Result<u8>,
    ) -> anyhow::Result<u8> {
        let Some(mut page) = self.begin()? else { return run(options) };
        match options.resolve()?.report {
            Some(report) => page.report = report,
            None => options.set("report", page.report.display().to_string()),
        }
        let status = run(options)?;
        Ok(page.finish(status))
    }
}

impl Writing {
    /// The report that the page is made of.
    pub fn report(&self) -> &Path {
        &self.report
    }

    /// Writes the page: the exit status of a command that had this one before. A page that cannot be made is
    /// said, and hides no status of what it is about.
    pub fn finish(self, status: u8) -> u8 {
        match self.write() {
            Ok(()) => status,
            Err(error) => {
                eprintln!("pellucid: no page: {error:#}");
                if status == 0 { 1 } else { status }
            }
        }
    }

    /// None where the program wrote no report, as one does that did not use the driver.
    fn write(mut self) -> anyhow::Result<()> {
        if std::fs::metadata(&self.report).map_or(true, |file| file.len() == 0) {
            eprintln!("pellucid: no page: the program wrote no report");
            return Ok(());
        }
        let page = report::page(&self.report)?;
        std::fs::write(&self.html, page).with_context(|| self.html.display().to_string())?;
        self.written = true;
        eprintln!("pellucid: page: {}", self.html.display());
        Ok(())
    }
}

impl Drop for Writing {
    /// What was at the page's place before is about something else. A device or a link is not ours to remove.
    fn drop(&mut self) {
        let file = std::fs::symlink_metadata(&self.html).is_ok_and(|at| at.is_file());
        if file && !self.written {
            drop(std::fs::remove_file(&self.html));
        }
    }
}
