//! Runs the runner on the stand-in for the suite.
#![allow(dead_code)] // Each test binary uses its part.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

pub const RUNNER: &str = env!("CARGO_BIN_EXE_pellucid-cts-runner");
pub const STAND_IN: &str = env!("CARGO_BIN_EXE_cts-stand-in");

/// A folder with a case list, a state folder for the stand-in and room for results.
pub struct Bench {
    folder: TempDir,
}

/// How a command ended.
pub struct Ended {
    pub status: i32,
    pub out: String,
    pub err: String,
}

impl From<Output> for Ended {
    fn from(output: Output) -> Ended {
        Ended {
            status: output.status.code().expect("the runner ends by itself"),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Ended {
    #[track_caller]
    pub fn expect(self, status: i32) -> Ended {
        assert_eq!(self.status, status, "stdout:\n{}\nstderr:\n{}", self.out, self.err);
        self
    }
}

impl Bench {
    /// With the cases `dEQP-VK.stand_in.<each>`.
    pub fn new(cases: &[&str]) -> Bench {
        let bench = Bench { folder: tempfile::tempdir().unwrap() };
        fs::create_dir(bench.path("state")).unwrap();
        let names: Vec<String> = cases.iter().map(|case| format!("dEQP-VK.stand_in.{case}\n")).collect();
        bench.write("cases.txt", &names.concat());
        bench
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, text).unwrap();
        path
    }

    pub fn read(&self, name: &str) -> String {
        let path = self.path(name);
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// The runner, in the bench's folder, with no variable of a job array.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(RUNNER);
        command.current_dir(self.folder.path()).args(arguments).env("STAND_IN_STATE", self.path("state"));
        for (name, _) in std::env::vars() {
            if name.starts_with("SLURM_")
                || name.starts_with("JOB_COMPLETION")
                || name.starts_with("PELLUCID_")
            {
                command.env_remove(name);
            }
        }
        command
    }

    /// `run` over cases.txt into `results`, two jobs, with further arguments.
    pub fn run_command(&self, arguments: &[&str]) -> Command {
        let mut all =
            vec!["run", "--deqp", STAND_IN, "--list", "cases.txt", "--results", "results", "--jobs", "2"];
        all.extend(arguments);
        self.command(&all)
    }

    pub fn run(&self, arguments: &[&str]) -> Ended {
        self.run_command(arguments).output().unwrap().into()
    }

    pub fn call(&self, arguments: &[&str]) -> Ended {
        self.command(arguments).output().unwrap().into()
    }

    /// The statuses in a results folder, by the name behind `dEQP-VK.stand_in.`.
    pub fn statuses(&self, results: &str) -> BTreeMap<String, String> {
        let text = self.read(&format!("{results}/results.csv"));
        let rows = text.lines().map(|line| {
            let mut columns = line.split(',');
            let name = columns.next().unwrap().trim_start_matches("dEQP-VK.stand_in.").to_string();
            (name, columns.next().unwrap().to_string())
        });
        let rows: Vec<_> = rows.collect();
        let count = rows.len();
        let map: BTreeMap<_, _> = rows.into_iter().collect();
        assert_eq!(map.len(), count, "a case is in results.csv twice");
        map
    }

    pub fn status(&self, results: &str, name: &str) -> String {
        self.statuses(results).get(name).cloned().unwrap_or_else(|| panic!("no result of {name}"))
    }

    /// How often the stand-in began (or ended) each case.
    pub fn counts(&self, file: &str) -> BTreeMap<String, usize> {
        let text = fs::read_to_string(self.path("state").join(file)).unwrap_or_default();
        let mut counts = BTreeMap::new();
        for line in text.lines() {
            *counts.entry(line.trim_start_matches("dEQP-VK.stand_in.").to_string()).or_default() += 1;
        }
        counts
    }

    pub fn json(&self, results: &str) -> serde_json::Value {
        serde_json::from_str(&self.read(&format!("{results}/results.json"))).unwrap()
    }

    /// The message of one case in results.json.
    pub fn message(&self, results: &str, name: &str) -> String {
        let json = self.json(results);
        let cases = json["cases"].as_array().unwrap();
        let case = cases.iter().find(|case| case["name"] == format!("dEQP-VK.stand_in.{name}"));
        case.unwrap()["message"].as_str().unwrap_or_default().to_string()
    }
}

/// The root of the repository.
pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_path_buf()
}
