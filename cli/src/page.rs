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

/// A page that is written when a command has found what there is.
pub struct Writing {
    /// A report that nobody asked for goes with it.
    folder: tempfile::TempDir,
    report: PathBuf,
    html: PathBuf,
}

impl Page {
    /// Whether one was asked for.
    pub fn is_wanted(&self) -> bool {
        self.html.is_some()
    }

    /// The page, if one was asked for.
    ///
    /// # Errors
    /// There is no temporary folder.
    pub fn begin(self) -> anyhow::Result<Option<Writing>> {
        let Some(html) = self.html else { return Ok(None) };
        let folder = tempfile::tempdir().context("a temporary folder")?;
        let report = folder.path().join("report.json");
        Ok(Some(Writing { folder, report, html }))
    }

    /// Does `run` with a report, and makes the page of it, if one was asked for: the exit status.
    ///
    /// # Errors
    /// Those of `run`; the page cannot be written.
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
        page.write()?;
        Ok(status)
    }
}

impl Writing {
    /// The report that the page is made of.
    pub fn report(&self) -> &Path {
        &self.report
    }

    /// Writes the page; none where the program wrote no report, as one does that did not use the driver.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(self) -> anyhow::Result<()> {
        let Writing { folder, report, html } = self;
        if std::fs::metadata(&report).map_or(true, |file| file.len() == 0) {
            eprintln!("pellucid: no page: the program wrote no report");
            return Ok(());
        }
        let page = report::page(&report)?;
        std::fs::write(&html, page).with_context(|| html.display().to_string())?;
        eprintln!("pellucid: page: {}", html.display());
        Ok(folder.close()?)
    }
}
