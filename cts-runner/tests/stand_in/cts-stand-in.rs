//! Speaks the conformance suite's command line and output, and ends each case as the case's name says, so
//! that the runner is tested where there is no suite and no driver.
//!
//! The component of a name behind `dEQP-VK.stand_in` chooses:
//!
//! | component | what the case does |
//! |---|---|
//! | `pass`, `fail`, `not_supported`, `quality_warning`, `resource_error`, `unheard_of` | ends so |
//! | `crash`, `exit` | aborts; exits with status 1 in the middle |
//! | `hang`, `babble` | never ends; never ends and prints all the while |
//! | `flaky` | fails when it first runs, then passes |
//! | `slow` | takes as many milliseconds as the last component says |
//! | `noise` | passes amid a driver's output, with a message of two lines |
//! | `crash_behind`, `abort_session` | ends well, then the process crashes, or ends |
//! | `unknown` | is not known to the binary: never runs |
//! | `option` | passes if the variable `PELLUCID_<NAME>` is the value, in `option.<name>.<value>` |
//! | `manifest` | passes if both variables of the loader name one existing file |
//!
//! The variable `STAND_IN_STATE` names a folder: the run of each case is noted there in `begun.txt` and
//! `ended.txt`, and what flaky cases remember. `STAND_IN_BROKEN` lets every process die before its first
//! case.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{abort, exit};
use std::time::Duration;

const KINDS: [&str; 6] = ["pass", "fail", "not_supported", "quality_warning", "slow", "noise"];

fn main() -> io::Result<()> {
    let mut arguments = Arguments::default();
    for argument in std::env::args().skip(1) {
        if !arguments.take(&argument) {
            writeln!(io::stderr(), "FATAL ERROR: Failed to parse '{argument}'")?;
            exit(1);
        }
    }
    if std::env::var_os("STAND_IN_BROKEN").is_some() {
        writeln!(io::stderr(), "no driver here")?;
        exit(1);
    }
    let mut out = io::stdout();
    if arguments.list {
        for kind in KINDS {
            writeln!(out, "GROUP: dEQP-VK.stand_in.{kind}")?;
            for index in 0..10 {
                let name = format!("dEQP-VK.stand_in.{kind}.{index}");
                if covers(arguments.pattern.as_bytes(), name.as_bytes()) {
                    writeln!(out, "TEST: {name}")?;
                }
            }
        }
        return Ok(());
    }
    let log = arguments.log.clone().unwrap_or_else(|| PathBuf::from("TestResults.qpa"));
    let mut log = OpenOptions::new().create(true).write(true).truncate(true).open(log)?;
    if let Some(path) = &arguments.shader_cache {
        // Two processes with one cache would each find the other's file.
        if path.exists() {
            writeln!(io::stderr(), "{}: another process's shader cache", path.display())?;
            exit(1);
        }
        fs::write(path, "cache")?;
    }
    writeln!(out, "dEQP Core stand-in (0x00000000) starting..\n  target implementation = 'Stand-in'")?;
    let list = fs::read_to_string(arguments.list_file.unwrap_or_default())?;
    let mut failed = false;
    for name in list.lines() {
        if component(name, 2) != "unknown" {
            failed |= run(name, &mut out, &mut log)?;
        }
    }
    writeln!(out, "\nDONE!\n\nTest run totals:\n  Passed:        0/0 (0.0%)")?;
    exit(i32::from(failed))
}

#[derive(Default)]
struct Arguments {
    list_file: Option<PathBuf>,
    log: Option<PathBuf>,
    shader_cache: Option<PathBuf>,
    list: bool,
    pattern: String,
}

impl Arguments {
    fn take(&mut self, argument: &str) -> bool {
        let Some((name, value)) = argument.split_once('=') else { return false };
        match name {
            "--deqp-caselist-file" => self.list_file = Some(value.into()),
            "--deqp-log-filename" => self.log = Some(value.into()),
            "--deqp-shadercache-filename" => self.shader_cache = Some(value.into()),
            "--deqp-runmode" => self.list = value == "stdout-caselist",
            "--deqp-case" => self.pattern = value.to_string(),
            "--deqp-log-images" | "--deqp-log-shader-sources" | "--deqp-vk-library-path" => {}
            _ => return false,
        }
        true
    }
}

fn covers(pattern: &[u8], name: &[u8]) -> bool {
    match (pattern.split_first(), name.split_first()) {
        (None, None) => true,
        (Some((b'*', rest)), _) => covers(rest, name) || (!name.is_empty() && covers(pattern, &name[1..])),
        (Some((a, pattern)), Some((b, name))) => a == b && covers(pattern, name),
        _ => false,
    }
}

fn component(name: &str, index: usize) -> &str {
    name.split('.').nth(index).unwrap_or_default()
}

/// Whether the case failed: as the suite, the process then exits with 1 when it is through.
fn run(name: &str, out: &mut impl Write, log: &mut impl Write) -> io::Result<bool> {
    writeln!(out, "\nTest case '{name}'..")?;
    writeln!(log, "\n#beginTestCaseResult {name}\n<TestCaseResult/>")?;
    let state = std::env::var_os("STAND_IN_STATE").map(PathBuf::from);
    note(state.as_deref(), "begun.txt", name)?;
    let last = name.rsplit('.').next().unwrap_or_default();
    let (status, message) = match component(name, 2) {
        "pass" | "crash_behind" | "abort_session" => ("Pass", "ok"),
        "fail" => ("Fail", "pixels <differ> & \"more\""),
        "not_supported" => ("NotSupported", "no feature at file.cpp:12"),
        "quality_warning" => ("QualityWarning", "coarse"),
        "resource_error" => ("ResourceError", "no memory"),
        "unheard_of" => ("Splendid", "?"),
        "crash" => {
            writeln!(io::stderr(), "about to crash")?;
            abort()
        }
        "exit" => exit(1),
        "hang" => loop {
            std::thread::sleep(Duration::from_secs(60));
        },
        "babble" => loop {
            writeln!(out, "still at it")?;
            std::thread::sleep(Duration::from_millis(20));
        },
        "flaky" if first_time(state.as_deref(), name)? => ("Fail", "flaked"),
        "flaky" => ("Pass", "ok"),
        "slow" => {
            std::thread::sleep(Duration::from_millis(last.parse().unwrap_or(20)));
            ("Pass", "ok")
        }
        "noise" => {
            write!(out, "driver: warning (Fail)\nno line end")?;
            ("Pass", "two\nlines")
        }
        "option" => {
            let value = std::env::var(format!("PELLUCID_{}", component(name, 3).to_uppercase()));
            if value.as_deref() == Ok(last) { ("Pass", "ok") } else { ("Fail", "another value") }
        }
        "manifest" => {
            let (one, two) = (std::env::var_os("VK_ICD_FILENAMES"), std::env::var_os("VK_DRIVER_FILES"));
            let is_file = one.as_ref().is_some_and(|path| Path::new(path).is_file());
            if is_file && one == two { ("Pass", "ok") } else { ("Fail", "no manifest") }
        }
        _ => ("InternalError", "the stand-in does not know this case"),
    };
    note(state.as_deref(), "ended.txt", name)?;
    writeln!(log, "#endTestCaseResult")?;
    writeln!(out, "  {status} ({message})")?;
    match component(name, 2) {
        "crash_behind" => abort(),
        "abort_session" => exit(1),
        _ => Ok(status == "Fail"),
    }
}

fn note(state: Option<&Path>, file: &str, name: &str) -> io::Result<()> {
    let Some(state) = state else { return Ok(()) };
    let mut file = OpenOptions::new().create(true).append(true).open(state.join(file))?;
    file.write_all(format!("{name}\n").as_bytes())
}

fn first_time(state: Option<&Path>, name: &str) -> io::Result<bool> {
    let Some(state) = state else { return Ok(true) };
    let path = state.join(format!("flaky-{name}"));
    let first = !path.exists();
    fs::write(path, "")?;
    Ok(first)
}
