//! Schedules groups of cases on processes, and makes exactly one result of every case.
//!
//! A worker takes a group and starts a process on it. When the process ends before its list does, the case in
//! flight is a Crash or a Timeout, and the cases that were never begun run in a new process. A case that
//! ended badly is tried again with the other bad ones of its group, in a process of their own, when the group
//! is through.

use crate::error::Error;
use crate::journal::CaseResult;
use crate::logs;
use crate::process::{Ended, Ending, Files, Launch, Outcome};
use crate::status::Status;
use parking_lot::Mutex;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

/// How many processes in a row may end before their first case until the run is given up.
const BARREN_LIMIT: u32 = 6;

/// What to run, and how.
pub struct Plan<'a> {
    /// How to start the binary.
    pub launch: Launch,
    /// The cases, in order.
    pub cases: Vec<String>,
    /// The most cases to a process. Smaller groups are made where there would be too few for all jobs.
    pub group_size: usize,
    /// How many processes at a time.
    pub jobs: usize,
    /// How often a case that ended badly is tried again.
    pub retries: u32,
    /// Whether a bad end of a case is worth a retry (one that is expected is not).
    pub retry: &'a (dyn Fn(&str, Status) -> bool + Sync),
    /// The folder for the processes' files.
    pub work: PathBuf,
    /// The folder for the logs of cases that did not pass.
    pub logs: PathBuf,
    /// Keep every process's files.
    pub keep: bool,
}

/// What [`execute`] tells as it goes.
pub enum News {
    /// A case has its final result.
    Result(CaseResult),
    /// Something about a process that no case's result tells.
    Note(String),
    /// Time passed.
    Tick,
}

/// Runs the plan and calls `news` on the calling thread, with a [`News::Tick`] at least every `tick`.
///
/// # Errors
/// The binary cannot be started, or ends again and again before its first case; or `news` failed.
pub fn execute(
    plan: &Plan<'_>,
    tick: Duration,
    news: &mut dyn FnMut(News) -> Result<(), Error>,
) -> Result<(), Error> {
    let jobs = plan.jobs.max(1);
    let group = plan.group_size.min(plan.cases.len().div_ceil(jobs)).max(1);
    let groups: VecDeque<&[String]> = plan.cases.chunks(group).collect();
    let shared = Shared {
        plan,
        groups: Mutex::new(groups),
        processes: AtomicU32::new(0),
        barren: AtomicU32::new(0),
        stop: AtomicBool::new(false),
    };
    let (sender, receiver) = channel();
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            let sender = sender.clone();
            let shared = &shared;
            scope.spawn(move || shared.work(&sender));
        }
        drop(sender);
        let mut failure = None;
        loop {
            let heard = match receiver.recv_timeout(tick) {
                Ok(Ok(heard)) => heard,
                Ok(Err(error)) => {
                    shared.stop.store(true, Ordering::Relaxed);
                    failure = failure.or(Some(error));
                    continue;
                }
                Err(RecvTimeoutError::Timeout) => News::Tick,
                Err(RecvTimeoutError::Disconnected) => break,
            };
            if let Err(error) = news(heard) {
                shared.stop.store(true, Ordering::Relaxed);
                failure = failure.or(Some(error));
            }
        }
        failure.map_or(Ok(()), Err)
    })
}

type Out = Sender<Result<News, Error>>;

struct Shared<'a> {
    plan: &'a Plan<'a>,
    groups: Mutex<VecDeque<&'a [String]>>,
    processes: AtomicU32,
    barren: AtomicU32,
    stop: AtomicBool,
}

impl Shared<'_> {
    fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn work(&self, out: &Out) {
        while !self.stopped() {
            let group = self.groups.lock().pop_front();
            let Some(group) = group else { return };
            if let Err(error) = self.run_group(group, out) {
                self.stop.store(true, Ordering::Relaxed);
                let _ = out.send(Err(error));
                return;
            }
        }
    }

    /// Runs the cases of one group to their final results.
    fn run_group(&self, group: &[String], out: &Out) -> Result<(), Error> {
        let mut again: BTreeMap<String, CaseResult> = BTreeMap::new();
        let names: Vec<&str> = group.iter().map(String::as_str).collect();
        self.drain(&names, out, &mut |result| {
            if self.plan.retries > 0
                && result.status.is_bad()
                && (self.plan.retry)(&result.name, result.status)
            {
                again.insert(result.name.clone(), result);
            } else {
                let _ = out.send(Ok(News::Result(result)));
            }
        })?;
        for attempt in 0..self.plan.retries {
            if again.is_empty() || self.stopped() {
                break;
            }
            let names: Vec<&str> =
                group.iter().map(String::as_str).filter(|name| again.contains_key(*name)).collect();
            self.drain(&names, out, &mut |result| {
                let Some(first) = again.get_mut(&result.name) else { return };
                if result.status.is_bad() {
                    first.tries = attempt + 2;
                    first.micros = result.micros;
                    return;
                }
                let message = format!("{} ({}), then {}", first.status, first.message, result.status);
                again.remove(&result.name);
                let tries = attempt + 2;
                let _ = out.send(Ok(News::Result(CaseResult {
                    status: Status::Flake,
                    tries,
                    message,
                    ..result
                })));
            })?;
        }
        if !self.stopped() {
            for (_, result) in again {
                let _ = out.send(Ok(News::Result(result)));
            }
        }
        Ok(())
    }

    /// Runs `names` in as many processes as that takes and calls `result` once for each; for fewer only when
    /// the run was stopped.
    fn drain(&self, names: &[&str], out: &Out, result: &mut dyn FnMut(CaseResult)) -> Result<(), Error> {
        let mut pending: Vec<&str> = names.to_vec();
        let mut barren = 0;
        while !pending.is_empty() && !self.stopped() {
            let mut open: BTreeSet<&str> = pending.iter().copied().collect();
            let (outcome, strangers) = self.run_process(&pending, &mut |case| {
                if open.remove(case.name.as_str()) {
                    self.barren.store(0, Ordering::Relaxed);
                    result(of_ended(case));
                }
            })?;
            let note = |text: String| drop(out.send(Ok(News::Note(text))));
            for name in strangers {
                note(format!("the suite ran a case that it was not asked for: {name}"));
            }
            let progress = open.len() < pending.len();
            pending.retain(|name| open.contains(name));
            if let Some((name, time)) = &outcome.in_flight
                && let Some(name) = find(&pending, name)
            {
                self.barren.store(0, Ordering::Relaxed);
                barren = 0;
                pending.retain(|pending| *pending != name);
                result(of_lost(name, *time, &outcome));
            } else if outcome.done {
                // An exit status of the suite's own is no news: it is 1 where a case failed.
                if !matches!(outcome.ending, Ending::Exited(_)) {
                    note(format!("after its last case, {}", outcome.ending.describe()));
                }
                missing(&mut pending, result);
            } else if progress {
                let place = if pending.is_empty() { "after its last case" } else { "between two cases" };
                note(format!("{place}, {}", outcome.ending.describe()));
                barren = 0;
            } else {
                // No case was even begun. Once may be chance; twice is the first case, or the driver.
                barren += 1;
                if barren >= 2 {
                    barren = 0;
                    self.blame(&mut pending, &outcome, result)?;
                }
            }
        }
        Ok(())
    }

    /// Decides about a list of which two processes in a row ran nothing.
    fn blame(
        &self,
        pending: &mut Vec<&str>,
        outcome: &Outcome,
        result: &mut dyn FnMut(CaseResult),
    ) -> Result<(), Error> {
        if outcome.ending == Ending::Exited(0) {
            missing(pending, result);
            return Ok(());
        }
        let ending = outcome.ending.describe();
        if self.barren.fetch_add(2, Ordering::Relaxed) + 2 >= BARREN_LIMIT {
            return Err(Error::Suite(format!(
                "{BARREN_LIMIT} processes in a row ended before their first case; the last: {ending}; it said:\n{}",
                outcome.tail
            )));
        }
        let name = pending.remove(0);
        let status = if outcome.ending == Ending::TimedOut { Status::Timeout } else { Status::Crash };
        let message = format!("before the first case began, {ending}{}", quoted(&outcome.tail));
        result(CaseResult { name: name.to_string(), status, micros: 0, tries: 1, message });
        Ok(())
    }

    /// One process over `cases`. Also returns the names that it ran unasked.
    fn run_process(
        &self,
        cases: &[&str],
        on_end: &mut dyn FnMut(Ended),
    ) -> Result<(Outcome, Vec<String>), Error> {
        let number = self.processes.fetch_add(1, Ordering::Relaxed) + 1;
        let files = Files::create(self.plan.work.join(format!("process-{number:06}")))?;
        let asked: BTreeSet<&str> = cases.iter().copied().collect();
        let mut bad = BTreeSet::new();
        let mut strangers = Vec::new();
        let outcome = self.plan.launch.run(cases, &files, &mut |case| {
            match asked.get(case.name.as_str()) {
                Some(name) if case.status.is_bad() => drop(bad.insert(*name)),
                Some(_) => {}
                None => strangers.push(case.name.clone()),
            }
            on_end(case);
        })?;
        if let Some(name) = outcome.in_flight.as_ref().and_then(|(name, _)| asked.get(name.as_str())) {
            bad.insert(name);
        }
        if !bad.is_empty() {
            logs::extract(&files.log(), &bad, &self.plan.logs)?;
        }
        if !self.plan.keep {
            files.remove();
        }
        Ok((outcome, strangers))
    }
}

/// The suite says that it is through, and did not run these.
fn missing(pending: &mut Vec<&str>, result: &mut dyn FnMut(CaseResult)) {
    for name in pending.drain(..) {
        result(CaseResult {
            name: name.to_string(),
            status: Status::Missing,
            micros: 0,
            tries: 1,
            message: "the suite's binary ended well without running it".to_string(),
        });
    }
}

fn find<'a>(pending: &[&'a str], name: &str) -> Option<&'a str> {
    pending.iter().copied().find(|pending| *pending == name)
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

fn of_ended(case: Ended) -> CaseResult {
    CaseResult {
        name: case.name,
        status: case.status,
        micros: micros(case.time),
        tries: 1,
        message: case.message,
    }
}

fn of_lost(name: &str, time: Duration, outcome: &Outcome) -> CaseResult {
    let (status, message) = match outcome.ending {
        Ending::TimedOut => (Status::Timeout, "no end within the time limit".to_string()),
        ending => (Status::Crash, format!("{}{}", ending.describe(), quoted(&outcome.tail))),
    };
    CaseResult { name: name.to_string(), status, micros: micros(time), tries: 1, message }
}

fn quoted(tail: &str) -> String {
    if tail.is_empty() { String::new() } else { format!("; it said:\n{tail}") }
}
