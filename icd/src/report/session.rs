//! One session per process: counts findings, shows each kind once, writes the report file, the totals and
//! what `pellucid run` reads.

use super::api::ApiFinding;
use super::clients::Clients;
use super::context::{Context, DispatchContext, Object};
use super::exit;
use super::explored::Explored;
use super::groups::{FixPlace, Groups};
use super::identity;
use super::json;
use super::misuse::{self, Misuse};
use super::printed::{self, Printed, Turn};
use super::replay;
use super::suppress::{Subject, Suppressions};
use super::text;
use super::total::total_line;
use super::validation::{self, ValidationReport};
use super::verdict::{ReportMessage, Verdict};
use super::words;
use crate::config::{Config, Mode, TellNotes};
use parking_lot::Mutex;
use pellucid_memory::access::Site;
use pellucid_memory::explore::Choices;
use pellucid_memory::finding::{Finding, FindingId, Severity};
use pellucid_memory::input;
use pellucid_memory::system::Trap;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, OpenOptions};
use std::io::{IsTerminal as _, Write};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// Why reports cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// A file of the options cannot be opened.
    #[error("{option}: {path}: {error}", path = path.display())]
    File {
        /// As flags name it.
        option: &'static str,
        /// The file.
        path: PathBuf,
        /// What happened.
        error: std::io::Error,
    },
    /// A suppression file with a line that is no rule.
    #[error("suppressions: {path}: {message}", path = path.display())]
    Suppressions {
        /// The file.
        path: PathBuf,
        /// Which line, and what is valid.
        message: String,
    },
}

/// A finding that is the first of its kind.
struct New {
    /// From 1.
    number: u64,
    /// What it counts as.
    severity: Severity,
    /// `halt-on-error` applies to it.
    halt: bool,
}

/// Counts what a process finds. All methods may be called from any thread.
pub struct Session {
    config: Config,
    replay: String,
    pub(super) state: Mutex<State>,
}

#[derive(Default)]
pub(super) struct State {
    /// By what makes findings equal: number (from 1) and occurrences.
    seen: BTreeMap<String, (u64, u64)>,
    groups: Groups,
    printed: Printed,
    suppressed: BTreeSet<String>,
    /// Pairs of instructions that communicate, as far as they are written.
    communications: BTreeSet<String>,
    families: BTreeMap<&'static str, u64>,
    not_implemented: BTreeSet<String>,
    /// Of `seen`: notes, which are no findings.
    notes: u64,
    dispatches: u64,
    traps: u64,
    /// A finding loses a device, by `halt-on-error`.
    halted: bool,
    suppressions: Suppressions,
    report: Option<File>,
    /// Messages of the validation layer, and how often each came.
    validation: Vec<(ValidationReport, u64)>,
    /// Something that was asked for could not be done.
    incomplete: bool,
    /// Dispatches that explore mode did not explore completely.
    unexplored: u64,
    summary: Option<File>,
    /// Bytes of the longest summary so far.
    longest: usize,
    /// Work that waits in vain, as far as that is known.
    stuck: Vec<String>,
    pub(super) clients: Clients,
    at_end: Option<fn(&Session)>,
    finished: bool,
}

impl State {
    pub(super) fn findings(&self) -> u64 {
        self.seen.len() as u64 + self.validation.len() as u64 - self.notes
    }
}

/// The session of this process. The first call opens it and has it finish at exit; later calls return it
/// whatever they ask for.
///
/// # Errors
/// A file of the options cannot be opened or read.
pub fn session(config: &Config) -> Result<&'static Session, ReportError> {
    static SESSION: OnceLock<Session> = OnceLock::new();
    if let Some(session) = SESSION.get() {
        return Ok(session);
    }
    let session = SESSION.get_or_init(|| Session::new(config, None));
    session.open()?;
    exit::register(session);
    Ok(session)
}

/// Writes one line to standard error, `pellucid: ` before it.
pub fn say(text: &str) {
    print(&format!("pellucid: {text}\n"));
}

/// Counts a message about a call that breaks a rule of valid usage, if this process has a session.
pub fn misuse(text: &str) {
    if let Some(session) = exit::session() {
        session.misuse(text);
    }
}

/// The terminal's last line is one of [`progress`].
static PROGRESS: AtomicBool = AtomicBool::new(false);
/// Back to the beginning of the terminal's line, which is cleared.
const CLEAR: &str = "\r\x1b[K";

/// The only place that writes to standard error; a closed one is no reason to fail.
fn print(text: &str) {
    let clear = if PROGRESS.swap(false, Ordering::Relaxed) { CLEAR } else { "" };
    let _ = std::io::stderr().lock().write_all(format!("{clear}{text}").as_bytes());
}

/// Shows how far something has come in the terminal's last line, until something else is said there; nothing
/// where standard error is no terminal.
pub fn progress(text: &str) {
    if std::io::stderr().is_terminal() {
        print(&format!("{CLEAR}{text}"));
        PROGRESS.store(true, Ordering::Relaxed);
    }
}

impl Session {
    /// A session that has no files open. `replay` is the line that shows a finding again; made of the
    /// configuration where there is none.
    pub fn new(config: &Config, replay: Option<String>) -> Session {
        let replay = replay.unwrap_or_else(|| replay::line(config));
        Session { config: config.clone(), replay, state: Mutex::new(State::default()) }
    }

    /// Opens the files that the configuration names.
    ///
    /// # Errors
    /// A file cannot be opened, or is not what it should be.
    pub fn open(&self) -> Result<(), ReportError> {
        let mut state = self.state.lock();
        if let Some(path) = &self.config.suppressions {
            let file = |error| ReportError::File { option: "suppressions", path: path.clone(), error };
            let rules = input::text(path).map_err(file)?;
            state.suppressions = Suppressions::parse(&rules)
                .map_err(|message| ReportError::Suppressions { path: path.clone(), message })?;
        }
        if let Some(folder) = &self.config.summary {
            let path = folder.join(std::process::id().to_string());
            let file = |error| ReportError::File { option: "summary", path: path.clone(), error };
            state.summary = Some(File::create(&path).map_err(file)?);
            self.summarise(&mut state, false);
        }
        if let Some(path) = &self.config.report {
            // Under `pellucid run` several processes may share the file, which the command has emptied.
            let shared = self.config.summary.is_some();
            let options = if shared {
                OpenOptions::new().append(true).create(true).clone()
            } else {
                OpenOptions::new().write(true).create(true).truncate(true).clone()
            };
            let file = |error| ReportError::File { option: "report", path: path.clone(), error };
            state.report = Some(options.open(path).map_err(file)?);
            let head = json!({
                "type": "run",
                "schema": json::SCHEMA,
                "pellucid": env!("CARGO_PKG_VERSION"),
                "seed": self.config.seed,
                "options": replay::decisive(&self.config),
                "suppressions": state.suppressions.rules(),
                "command": replay::command(&self.config),
                "replay": self.replay,
            });
            self.write_line(&mut state, &head);
        }
        Ok(())
    }

    /// Writes a line of the report. A full disk does not stop the application: that is said once, counted,
    /// and nothing more is written.
    fn write_line(&self, state: &mut State, value: &Value) {
        let Some(file) = &mut state.report else { return };
        if let Err(error) = file.write_all(format!("{value}\n").as_bytes()) {
            state.report = None;
            let path = self.config.report.clone().unwrap_or_default();
            let error = ReportError::File { option: "report", path, error };
            self.cannot(state, &format!("{error}: the report is not whole"));
        }
    }

    fn cannot(&self, state: &mut State, why: &str) {
        state.incomplete = true;
        say(why);
        self.summarise(state, false);
    }

    /// The validation layer was asked for, and is not over an instance.
    pub fn without_validation(&self) {
        let why = "validation: the validation layer is not over this instance: \
            only the Vulkan loader puts it there, and `pellucid run --validation` asks it to";
        self.cannot(&mut self.state.lock(), why);
    }

    /// Reports a message of the validation layer: shown at once, and written to the report behind all
    /// findings, whose order does not depend on the application's threads.
    pub fn validation(&self, report: ValidationReport) {
        let mut state = self.state.lock();
        if let Some((_, count)) = state.validation.iter_mut().find(|(known, _)| *known == report) {
            *count += 1;
            return;
        }
        let subject = Subject { shaders: Vec::new(), names: report.names.clone() };
        if state.suppressions.covers((validation::FAMILY, &report.id), &subject) {
            state.suppressed.insert(report.key());
            return;
        }
        let severity = if report.warning { Severity::Warning } else { Severity::Error };
        if self.counts_as(severity) != Severity::Error {
            state.notes += 1;
        } else {
            *state.families.entry(validation::FAMILY).or_default() += 1;
        }
        let rendered = report.render(&self.replay);
        state.validation.push((report, 1));
        self.summarise(&mut state, false);
        // Its number comes at the end; none is so great.
        let number = u64::MAX - state.validation.len() as u64;
        self.show(&mut state, (number, self.counts_as(severity)), &rendered);
    }

    /// What a finding counts as: notes and warnings are none unless they are asked for.
    fn counts_as(&self, severity: Severity) -> Severity {
        let strict = self.config.strict && severity == Severity::Warning;
        if strict || self.config.notes == TellNotes::Error { Severity::Error } else { severity }
    }

    /// Counts a finding. It is known already, or suppressed, where there is nothing else to do.
    fn count(
        &self,
        state: &mut State,
        id: FindingId,
        (key, times): (String, u64),
        subject: impl FnOnce() -> Subject,
    ) -> Result<New, Verdict> {
        let severity = self.counts_as(id.severity());
        let halt = self.config.halt_on_error && severity == Severity::Error;
        if let Some((number, count)) = state.seen.get_mut(&key) {
            *count += times;
            if self.config.occurrences {
                let line = json!({ "type": "occurrence", "number": *number });
                self.write_line(state, &line);
            }
            return Err(Verdict { message: None, halt });
        }
        if state.suppressions.covers((words::family(id), id.name()), &subject()) {
            state.suppressed.insert(key);
            return Err(Verdict::default());
        }
        let number = state.seen.len() as u64 + 1;
        state.seen.insert(key, (number, times));
        if severity == Severity::Error {
            *state.families.entry(words::family(id)).or_default() += 1;
        } else {
            state.notes += 1;
        }
        Ok(New { number, severity, halt })
    }

    /// Reports a finding: shown when it is the first of its kind, counted always. `choices`: those of the
    /// execution of an explored dispatch that it is of.
    pub fn report(&self, finding: &Finding, context: &Context<'_>, choices: Option<&Choices>) -> Verdict {
        let mut state = self.state.lock();
        let id = finding.id;
        if self.counts_as(id.severity()) == Severity::Note && self.config.notes == TellNotes::Off {
            return Verdict::default();
        }
        let same = (identity::key(finding, context), finding.count.max(1));
        let new = match self.count(&mut state, id, same, || identity::subject(finding, context)) {
            Ok(new) => new,
            Err(verdict) => return verdict,
        };
        let (number, severity) = (new.number, new.severity);
        let dispatch = context.primary(finding).map_or(0, |d| d.number);
        let again = choices.map(|choices| replay::line_of(&self.config, dispatch, choices));
        let again = again.as_ref().unwrap_or(&self.replay);
        let rendered = text::render(finding, context, Some(again));
        let mut line = json::finding(number, finding, context, self.config.seed, again, &rendered);
        if severity != Severity::Error {
            line["level"] = severity.name().into();
        }
        let help = text::notes(finding, context).help;
        let group = state.groups.join(FixPlace::Shader(dispatch, id), help, number);
        line["group"] = json!(group);
        self.write_line(&mut state, &line);
        // Counted first: whoever has seen it finds it counted, too, even if the process ends here.
        self.summarise(&mut state, false);
        // The executions of an exploration have replays of their own.
        let told = group.filter(|_| choices.is_none());
        let short = || text::render_short(finding, context);
        self.show_in_group(&mut state, (number, severity), told, &rendered, short);
        let mut objects: Vec<Object> = Vec::new();
        for object in finding.accesses.iter().filter_map(|a| context.of(a)?.object(a)) {
            if !objects.contains(object) {
                objects.push(object.clone());
            }
        }
        let message = ReportMessage::new(finding.id.name(), rendered, objects, severity);
        Verdict { message: Some(message), halt: new.halt }
    }

    /// Reports what the API's calls, and not a shader's accesses alone, do wrong: shown when it is the first
    /// of its kind, counted always.
    pub fn api(&self, finding: &impl ApiFinding) -> Verdict {
        let id = finding.id();
        let same = (format!("{}|{}", id.name(), finding.key()), 1);
        let mut state = self.state.lock();
        let new = match self.count(&mut state, id, same, || finding.subject().named()) {
            Ok(new) => new,
            Err(verdict) => return verdict,
        };
        let (number, severity) = (new.number, new.severity);
        let rendered = finding.render(&self.replay);
        let mut line = finding.json(number, self.config.seed, &self.replay, &rendered);
        line["level"] = severity.name().into();
        let place = finding.fix_place();
        let group = place.and_then(|place| state.groups.join(place, vec![finding.help()], number));
        line["group"] = json!(group);
        self.write_line(&mut state, &line);
        self.summarise(&mut state, false);
        if !finding.is_said() {
            let short = || finding.render_short();
            self.show_in_group(&mut state, (number, severity), group, &rendered, short);
        }
        let message = ReportMessage::new(id.name(), rendered, finding.objects(), severity);
        Verdict { message: Some(message), halt: new.halt }
    }

    /// Counts a message about a call that breaks a rule of valid usage. Returns whether it has to be said:
    /// the first of its text, unless it is suppressed.
    pub fn misuse(&self, text: &str) -> bool {
        let known = self.state.lock().families.get(misuse::FAMILY).copied().unwrap_or_default();
        let text = if known < misuse::MOST { text } else { "further messages of this kind" };
        self.api(&Misuse::call(text)).message.is_some()
    }

    /// Says that submitted work never ran.
    pub fn never_ran(&self, texts: &[String]) {
        for text in texts {
            self.api(&Misuse::never_ran(text));
        }
    }

    /// Takes note of work that waits for what nothing that is submitted signals, for whoever reads the totals
    /// of a process that is killed.
    pub fn note_stuck(&self, texts: Vec<String>) {
        let mut state = self.state.lock();
        if state.summary.is_some() && state.stuck != texts {
            state.stuck = texts;
            self.summarise(&mut state, false);
        }
    }

    /// A finding of this id, which was told, loses a device by `halt-on-error`: what is said of the device.
    pub fn halted(&self, id: FindingId) -> String {
        self.state.lock().halted = true;
        format!("halt-on-error: {}", id.name())
    }

    /// The device is lost for a reason that no trap and no finding has told.
    pub fn lost(&self, text: &str) {
        let mut state = self.state.lock();
        if state.traps == 0 && !state.halted {
            state.traps += 1;
            let rendered = format!("error[device-lost]: {text}\n");
            let line = json!({ "type": "trap", "message": text, "text": rendered });
            self.write_line(&mut state, &line);
            self.summarise(&mut state, false);
        }
    }

    /// Prints a diagnostic, as long as `max-reports` allows.
    fn show(&self, state: &mut State, (number, severity): (u64, Severity), rendered: &str) {
        let most = self.config.max_reports;
        match state.printed.take(number, severity, most) {
            Turn::Shown => print(&format!("{rendered}\n")),
            Turn::FirstLeftOut => say(&printed::left_out(severity, most)),
            Turn::LeftOut => {}
        }
    }

    /// Prints a diagnostic: whole, or `short` where the first finding of its group was shown before.
    fn show_in_group(
        &self,
        state: &mut State,
        of: (u64, Severity),
        group: Option<u64>,
        whole: &str,
        short: impl FnOnce() -> String,
    ) {
        match group.is_some_and(|first| first < of.0 && state.printed.contains(first)) {
            true => self.show(state, of, &short()),
            false => self.show(state, of, whole),
        }
    }

    /// Says what exploration of a dispatch found.
    pub fn explored(&self, explored: &Explored<'_>) {
        let again = |choices: &Choices| replay::line_of(&self.config, explored.dispatch, choices);
        // What is shown is cut, what is written is not: how much is shown changes no byte of a report.
        let shown = explored.render(self.config.max_reports as usize, &again);
        let mut state = self.state.lock();
        state.unexplored += u64::from(!explored.replayed && !explored.totals.complete());
        self.write_line(&mut state, &explored.json(&again, &explored.render(0, &again)));
        self.summarise(&mut state, false);
        print(&format!("{shown}\n"));
    }

    /// Reports that a dispatch could not go on. The device is lost.
    pub fn trap(&self, trap: &Trap, context: &Context<'_>) -> Verdict {
        let rendered = text::trap(trap, context.dispatches.first());
        let mut state = self.state.lock();
        state.traps += 1;
        // What a finding of that id tells, too.
        let finding = matches!(trap, Trap::Livelock).then(|| FindingId::Livelock.name());
        let message = trap.to_string();
        self.write_line(
            &mut state,
            &json!({ "type": "trap", "message": message, "finding": finding, "text": rendered }),
        );
        print(&format!("{rendered}\n"));
        self.summarise(&mut state, false);
        let message = ReportMessage::new("device-lost", rendered, Vec::new(), Severity::Error);
        Verdict { message: Some(message), halt: true }
    }

    /// Says once that something is our gap; `what` is the whole message, which names it.
    pub fn not_implemented(&self, what: &str) {
        let mut state = self.state.lock();
        if state.not_implemented.insert(what.to_owned()) {
            self.write_line(&mut state, &json!({ "type": "not-implemented", "message": what }));
            say(what);
        }
    }

    /// Reads of a dispatch read from writes of other agents, by these pairs of instructions: a line of the
    /// report for each.
    pub fn communicate(&self, pairs: &BTreeSet<(Site, Site)>, dispatch: &DispatchContext<'_>) {
        let mut state = self.state.lock();
        let side = |site: Site| {
            let info = dispatch.site(site);
            json!({
                "location": dispatch.location(site),
                "word": info.map(|info| info.word),
                "function": info.map(|info| info.function.as_str()),
            })
        };
        for (write, read) in pairs {
            let line = json!({
                "type": "communication",
                "shader": dispatch.shader.name,
                "write": side(*write),
                "read": side(*read),
            });
            if state.communications.insert(line.to_string()) {
                self.write_line(&mut state, &line);
            }
        }
    }

    /// Counts a dispatch that was checked.
    pub fn dispatch_checked(&self) {
        let mut state = self.state.lock();
        state.dispatches += 1;
        self.summarise(&mut state, false);
    }

    fn totals(&self, state: &State, ended: bool) -> Value {
        json!({
            "type": "total",
            "process": std::process::id(),
            "ended": ended,
            "findings": state.findings(),
            "notes": state.notes,
            "families": state.families,
            "suppressed": state.suppressed.len(),
            "seed": self.config.seed,
            "dispatches": state.dispatches,
            "traps": state.traps,
            "unexplored": state.unexplored,
            "not_implemented": state.not_implemented.len(),
            "checked": self.config.mode != Mode::Run,
            "stuck": state.stuck,
        })
    }

    /// Keeps the file that `pellucid run` reads up to date: one JSON object, padded so that a shorter one
    /// hides a longer one.
    pub(super) fn summarise(&self, state: &mut State, ended: bool) {
        let mut totals = self.totals(state, ended);
        totals["incomplete"] = state.incomplete.into();
        totals["devices"] = state.clients.devices.into();
        totals["advice"] = json!(state.clients.advice(&self.config, ended));
        if let Some(file) = &mut state.summary {
            let totals = totals.to_string();
            state.longest = state.longest.max(totals.len()).max(1023);
            let line = format!("{totals:<0$}\n", state.longest);
            // Whoever reads it prints fewer dispatches than there were; the application is not to fail for
            // that.
            let _ = file.write_all_at(line.as_bytes(), 0);
        }
    }

    /// Has `report` called when the process ends, before the totals are written.
    pub fn at_end(&self, report: fn(&Session)) {
        self.state.lock().at_end = Some(report);
    }

    /// No totals are written: the program was left where it stood.
    pub fn abandon(&self) {
        self.state.lock().finished = true;
    }

    /// Writes the totals, once, and names the exit status that the configuration asks for, if it does and
    /// there were findings or a device was lost.
    pub fn finish(&self) -> Option<u8> {
        let report = self.state.lock().at_end.take();
        report.inspect(|report| report(self));
        let mut state = self.state.lock();
        if state.finished {
            return None;
        }
        state.finished = true;
        for (report, count) in std::mem::take(&mut state.validation) {
            let number = state.seen.len() as u64 + 1;
            state.seen.insert(report.key(), (number, count));
            let line = report.json(number, self.config.seed, &self.replay, &report.render(&self.replay));
            self.write_line(&mut state, &line);
        }
        for rule in state.suppressions.unused() {
            say(&format!("unused suppression: {rule}"));
        }
        let mut total = self.totals(&state, true);
        if let Some(object) = total.as_object_mut() {
            object.remove("process");
            object.remove("stuck");
            let counts: BTreeMap<String, u64> =
                state.seen.values().map(|(n, count)| (format!("{n:06}"), *count)).collect();
            object.insert("occurrences".into(), json!(counts.values().collect::<Vec<_>>()));
        }
        self.write_line(&mut state, &total);
        self.summarise(&mut state, true);
        let under_run = self.config.summary.is_some();
        if !under_run && (self.config.mode != Mode::Run || state.traps > 0 || !state.seen.is_empty()) {
            say(&total_line(&total));
        }
        if let Some(advice) = state.clients.unwatched_advice(&self.config).filter(|_| !under_run) {
            say(&advice);
        }
        self.config.exitcode.filter(|_| !under_run && (state.findings() > 0 || state.traps > 0))
    }
}
