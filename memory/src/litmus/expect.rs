//! Directories of tests with the answers that are expected.
//!
//! Expectations are a CSV file with the columns `file,property,model,expected`: a property as [`Property`]
//! spells it, the model `chains` or `nochains`, and 1 or 0. Assertions of `.test` files are expectations in
//! themselves.

use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::Test;
use super::run::{self, By, LoadError, Property, Settings};

/// One line of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expectation {
    /// Path of the litmus test.
    pub file: PathBuf,
    /// The question about the test that the line answers.
    pub property: Property,
    /// Whether availability and visibility chains are supported.
    pub chains: bool,
    /// The answer expected; `None` where nothing is.
    pub expected: Option<bool>,
}

/// A line that was checked.
#[derive(Clone, Debug)]
pub struct Checked {
    /// What the file of expectations says.
    pub expectation: Expectation,
    /// The answer, or why there is none.
    pub got: Result<bool, String>,
    /// How long it took.
    pub time: Duration,
}

impl Checked {
    /// Whether the answer is the expected one.
    pub fn as_expected(&self) -> bool {
        match (&self.got, self.expectation.expected) {
            (Ok(got), Some(expected)) => *got == expected,
            (got, None) => got.is_ok(),
            (Err(_), _) => false,
        }
    }

    /// `file property model expected got ms`.
    pub fn line(&self) -> String {
        let answer = |answer: bool| if answer { "1" } else { "0" };
        let got = match &self.got {
            Ok(got) => answer(*got).to_owned(),
            Err(why) => format!("error({why})"),
        };
        format!(
            "{} {} {} {} {} {:.1}",
            self.expectation.file.file_name().unwrap_or_default().to_string_lossy(),
            self.expectation.property,
            if self.expectation.chains { "chains" } else { "nochains" },
            self.expectation.expected.map_or("-", answer),
            got,
            self.time.as_secs_f64() * 1e3
        )
    }
}

/// Why expectations cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ExpectError {
    /// A file or directory cannot be read.
    #[error("{file}: {error}")]
    Read {
        /// Path of the file or directory.
        file: String,
        /// What the operating system says.
        error: std::io::Error,
    },
    /// A directory without any.
    #[error("{0}: no litmus test (.litmus, .test) below it")]
    NoTests(String),
    /// A file that is none.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// A line that is not an expectation.
    #[error("{file}:{line}:{column}: expected {expected}, found `{found}`")]
    Line {
        /// Path.
        file: String,
        /// The line, from 1.
        line: u32,
        /// The column, from 1.
        column: u32,
        /// What should stand there.
        expected: String,
        /// What stands there.
        found: String,
    },
    /// A test that no file below the directory has.
    #[error("{csv}:{line}: no file {file} below {directory}")]
    NoSuchTest {
        /// Path of the file of expectations.
        csv: String,
        /// Its line, from 1.
        line: u32,
        /// The test's path, as the line gives it.
        file: String,
        /// Where it was looked for.
        directory: String,
    },
}

/// The litmus tests below a directory, or the file itself, by path: one at least.
pub fn tests_below(path: &Path) -> Result<Vec<PathBuf>, ExpectError> {
    let mut found = Vec::new();
    collect(path, &mut found)?;
    if found.is_empty() {
        let file = path.display().to_string();
        return Err(if path.is_dir() { ExpectError::NoTests(file) } else { LoadError::Format(file).into() });
    }
    found.sort();
    Ok(found)
}

fn collect(path: &Path, found: &mut Vec<PathBuf>) -> Result<(), ExpectError> {
    let fail = |error| ExpectError::Read { file: path.display().to_string(), error };
    if path.is_dir() {
        for entry in std::fs::read_dir(path).map_err(fail)? {
            collect(&entry.map_err(fail)?.path(), found)?;
        }
    } else {
        std::fs::metadata(path).map_err(fail)?;
        if path.extension().is_some_and(|end| end == "test" || end == "litmus") {
            found.push(path.to_owned());
        }
    }
    Ok(())
}

/// Reads expectations: rows of the CSV text `csv` (called `name` in errors), for tests among `files`.
pub fn expectations(
    name: &str,
    csv: &str,
    directory: &Path,
    files: &[PathBuf],
) -> Result<Vec<Expectation>, ExpectError> {
    let mut rows = Vec::new();
    for (index, line) in csv.lines().enumerate() {
        let number = index as u32 + 1;
        let line = line.trim_end();
        if line.is_empty() || line.starts_with('#') || (index == 0 && line.starts_with("file,")) {
            continue;
        }
        let mut column = 1;
        let mut fields = line.split(',').map(|field| {
            let start = column;
            column += field.chars().count() as u32 + 1;
            (start, field.trim())
        });
        let mut field = |expected: &str| {
            fields.next().ok_or_else(|| ExpectError::Line {
                file: name.to_owned(),
                line: number,
                column: line.chars().count() as u32 + 1,
                expected: expected.to_owned(),
                found: "the end of the line".to_owned(),
            })
        };
        let wrong = |column: u32, expected: &str, found: &str| ExpectError::Line {
            file: name.to_owned(),
            line: number,
            column,
            expected: expected.to_owned(),
            found: found.to_owned(),
        };
        let (_, file) = field("the name of a test")?;
        let (at, property) = field("a property")?;
        let property: Property = property.parse().map_err(|_| {
            wrong(at, "outcome, race-free or terminates-<fair, obe, lobe, hsa or hsa_obe>", property)
        })?;
        let (at, model) = field("chains or nochains")?;
        let chains = match model {
            "chains" => true,
            "nochains" | "no-chains" => false,
            _ => return Err(wrong(at, "chains or nochains", model)),
        };
        let (at, expected) = field("1 or 0")?;
        let expected = match expected {
            "1" => true,
            "0" => false,
            _ => return Err(wrong(at, "1 or 0", expected)),
        };
        let direct = directory.join(file);
        let path = if direct.is_file() {
            Some(direct)
        } else {
            files.iter().find(|path| path.ends_with(file)).cloned()
        };
        let Some(path) = path else {
            return Err(ExpectError::NoSuchTest {
                csv: name.to_owned(),
                line: number,
                file: file.to_owned(),
                directory: directory.display().to_string(),
            });
        };
        rows.push(Expectation { file: path, property, chains, expected: Some(expected) });
    }
    Ok(rows)
}

/// The expectations that `.test` files hold, and for `.litmus` files the questions without an expected answer
/// if `open` is set.
pub fn own_expectations(
    files: &[PathBuf],
    tests: &BTreeMap<PathBuf, Result<Test, String>>,
    open: &[Property],
    chains: bool,
) -> Vec<Expectation> {
    let mut rows = Vec::new();
    for file in files {
        let row = |property, chains, expected| Expectation { file: file.clone(), property, chains, expected };
        match tests.get(file) {
            Some(Ok(Test::Khronos(test))) => {
                for (index, assertion) in test.assertions.iter().enumerate() {
                    rows.push(row(Property::Assertion(index), assertion.chains, Some(true)));
                }
            }
            Some(Ok(Test::Herd(program))) => {
                for property in open {
                    if *property != Property::Outcome || program.question.is_some() {
                        rows.push(row(*property, chains, None));
                    }
                }
            }
            // A file that cannot be read fails once, whatever is asked of it.
            _ => rows.push(row(Property::Outcome, chains, None)),
        }
    }
    rows
}

/// Loads every test once.
pub fn load_all(files: &[PathBuf]) -> BTreeMap<PathBuf, Result<Test, String>> {
    files
        .iter()
        .map(|file| (file.clone(), run::load(file).map_err(|error: LoadError| error.to_string())))
        .collect()
}

/// Checks every row, `threads` at a time. The result has the order of the rows.
pub fn check(
    rows: &[Expectation],
    tests: &BTreeMap<PathBuf, Result<Test, String>>,
    settings: &Settings,
    threads: usize,
) -> Vec<Checked> {
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<(usize, Checked)>> = Mutex::new(Vec::with_capacity(rows.len()));
    let work = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(row) = rows.get(index) else { return };
            let start = Instant::now();
            let got = check_row(row, tests.get(&row.file), settings);
            let checked = Checked { expectation: row.clone(), got, time: start.elapsed() };
            done.lock().push((index, checked));
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads.clamp(1, rows.len().max(1)) {
            scope.spawn(work);
        }
        work();
    });
    let mut done = done.into_inner();
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, checked)| checked).collect()
}

fn check_row(
    row: &Expectation,
    test: Option<&Result<Test, String>>,
    settings: &Settings,
) -> Result<bool, String> {
    let test = match test {
        Some(Ok(test)) => test,
        Some(Err(error)) => return Err(error.clone()),
        None => return Err("not loaded".to_owned()),
    };
    let mut settings = *settings;
    settings.options.chains = row.chains;
    // Assertions are about executions, which only the axioms judge; programs run either way.
    if matches!(row.property, Property::Assertion(_)) {
        settings.by = By::Axioms;
    }
    let answer = run::run(test, row.property, &settings).map_err(|error| error.to_string())?;
    answer.holds.ok_or_else(|| "a bound was hit".to_owned())
}
