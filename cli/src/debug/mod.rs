//! `pellucid debug`: a debugger over check mode's deterministic execution, forward and backward.
//!
//! - [`engine`]: runs a dispatch to where its front end wants to be, [`copies`]: from where it begins;
//! - [`target`] and [`types`]: lines, frames, types and names of what is debugged;
//! - [`values`] and [`texels`]: variables by their names;
//! - [`sees`]: writes of a location, and who sees them;
//! - [`commands`]: what the user may ask, as text;
//! - [`terminal`]: the front end at a prompt;
//! - [`dap`]: the front end for editors, a Debug Adapter Protocol server;
//! - [`program`]: a dispatch of somebody's program.
//!
//! What runs is a program of `pellucid exec`, or a dispatch that was captured, in this process, on the driver
//! that is linked into it.

pub mod commands;
mod copies;
pub mod dap;
pub mod engine;
mod program;
pub mod sees;
mod signal;
mod stop;
pub mod target;
pub mod terminal;
mod texels;
pub mod types;
pub mod values;

use self::engine::{Engine, Wanted};
use self::program::CapturedProgram;
use self::stop::Front;
use self::terminal::Terminal;
use crate::exec::{self, ExecArgs};
use crate::mistaken;
use crate::options::DriverOptions;
use crate::replay;
use crate::report::Report;
use crate::run::{self, Job};
use crate::status::usage;
use anyhow::{Context as _, anyhow, bail};
use clap::{Args, CommandFactory as _, Parser};
use serde_json::{Value, json};
use std::ffi::OsString;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use vulkan_pellucid::config::{Mode, find};
use vulkan_pellucid::debugger;
use vulkan_pellucid::report::replay::{quote, words};

/// Options of the debugger: the program or shader, and where to stop first.
#[derive(Args)]
pub struct DebugArgs {
    /// Run to the first finding before the first prompt
    #[arg(long)]
    run: bool,
    /// Leave so many dispatches alone, of --repeat
    #[arg(long, value_name = "N", default_value_t = 0)]
    skip: u32,
    /// Debug dispatch N of a program, from 0, as reports number them: `--dispatch 3 -- PROGRAM ARGUMENTS`
    #[arg(long, value_name = "N", conflicts_with_all = ["skip", "finding"])]
    dispatch: Option<u32>,
    /// Debug a finding of a report: its number, by default the first; of another program than `pellucid
    /// exec`, that follows: `--finding report.json:2 -- PROGRAM ARGUMENTS`
    #[arg(long, value_name = "REPORT[:N]")]
    finding: Option<String>,
    /// Be a Debug Adapter Protocol server on standard input and output
    #[arg(long)]
    dap: bool,
    /// Be one for the first client that connects to this address
    #[arg(long, value_name = "HOST:PORT", conflicts_with = "dap")]
    listen: Option<String>,
    /// The arguments of `pellucid exec`: a shader, buffers, options of the driver; with --dispatch, options
    /// of the driver, a program and its arguments
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS OF EXEC")]
    arguments: Vec<OsString>,
}

/// The arguments of `pellucid exec`.
#[derive(Parser)]
#[command(name = "pellucid debug", no_binary_name = true)]
struct ExecLine {
    #[command(flatten)]
    options: DriverOptions,
    #[command(flatten)]
    exec: ExecArgs,
}

/// What may follow a shader that is debugged.
pub fn of_shader() -> clap::Command {
    ExecLine::command()
}

/// How a finding comes to be one of an execution that can be debugged.
const WAY_ROUND: &str = "`pellucid hunt --values seeded --report FILE`, with the same shader or program, looks for the \
                         finding in check mode's executions, which `debug --finding FILE` takes";

/// A program and the options to run it with.
#[derive(Parser)]
#[command(name = "pellucid debug --dispatch N", no_binary_name = true)]
struct ProgramLine {
    #[command(flatten)]
    options: DriverOptions,
    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "PROGRAM")]
    program: Vec<OsString>,
}

/// Options that are for the program alone: what it reports, and where.
const OF_PROGRAM: [&str; 7] =
    ["report", "exitcode", "halt-on-error", "suppressions", "validation", "summary", "occurrences"];

/// What is debugged.
enum Subject {
    /// A shader without a program.
    Shader(Box<ExecArgs>),
    /// A dispatch of a program that is still to be started.
    Dispatch(u32, Vec<OsString>),
    /// One of a program that runs.
    Program(Box<CapturedProgram>),
}

/// A program to be debugged.
struct Debuggee {
    options: DriverOptions,
    subject: Subject,
    shown: String,
    skip: u32,
    to_finding: bool,
    wanted: Option<Wanted>,
    /// Holds rules of suppression.
    folder: Option<tempfile::TempDir>,
}

impl Debuggee {
    fn new(options: DriverOptions, subject: Subject, shown: String) -> Debuggee {
        Debuggee { options, subject, shown, skip: 0, to_finding: false, wanted: None, folder: None }
    }

    fn of_line(arguments: &[OsString]) -> anyhow::Result<Debuggee> {
        let ExecLine { options, exec } = ExecLine::try_parse_from(arguments)?;
        let named = exec.file.to_string_lossy();
        let finding = named.rsplit_once(':').filter(|(file, number)| {
            number.parse::<u64>().is_ok() && Path::new(file).is_file() && !exec.file.exists()
        });
        if finding.is_some() {
            return usage(Err(anyhow!("{named}: a finding of a report is debugged by --finding {named}")));
        }
        let shown = format!("pellucid exec {}", quoted(arguments));
        Ok(Debuggee::new(options, Subject::Shader(Box::new(exec)), shown))
    }

    /// A dispatch of a program, by its number.
    fn of_dispatch(number: u32, arguments: &[OsString]) -> anyhow::Result<Debuggee> {
        let ProgramLine { options, program } = ProgramLine::try_parse_from(arguments)?;
        mistaken::program(program.first())?;
        let shown = quoted(&program);
        Ok(Debuggee::new(options, Subject::Dispatch(number, program), shown))
    }

    /// The program of a report, to stop at one of its findings. A program that is not `pellucid exec` is
    /// named by `arguments`: nobody runs what a file says.
    fn of_finding(named: &str, arguments: &[OsString]) -> anyhow::Result<Debuggee> {
        let numbered = named.rsplit_once(':').and_then(|(path, n)| Some((path, n.parse::<u64>().ok()?)));
        let (path, number) = match numbered {
            Some((path, number)) => (path, Some(number)),
            None => (named, None),
        };
        let (report, _) = Report::read(path.as_ref())?;
        let head = report.of_type("run").next().with_context(|| format!("{path}: no run"))?;
        let of = |finding: &&Value| number.is_none_or(|n| finding["number"].as_u64() == Some(n));
        let within = |finding: &&Value| !finding["finding"].is_null();
        let mut findings = report.of_type("finding").filter(of);
        let found = match number {
            None => findings.find(within).with_context(|| {
                format!(
                    "{path}: no finding within a dispatch, at which the debugger could stop, but {} about commands or \
                     the host; --dispatch N debugs a dispatch",
                    report.of_type("finding").count()
                )
            })?,
            Some(number) => {
                let found = findings.next().with_context(|| format!("{path}: no finding {number}"))?;
                if !within(&found) {
                    bail!(
                        "{path}: finding {number} ({}) is about commands or the host, not within a dispatch: \
                         --dispatch N debugs a dispatch",
                        found["id"].as_str().unwrap_or_default()
                    );
                }
                found
            }
        };
        let facts = found["finding"]["facts"].as_array().into_iter().flatten();
        if facts.into_iter().any(|fact| !fact["rehearsal"].is_null()) {
            bail!(
                "not implemented in Pellucid: debugging a rehearsal; this finding is of one, not of the execution that \
                 the program got; {WAY_ROUND}"
            );
        }
        let accesses = found["accesses"].as_array().into_iter().flatten();
        let wanted = Wanted {
            id: found["id"].as_str().unwrap_or_default().to_owned(),
            words: accesses.filter_map(|access| access["word"].as_u64()).collect(),
        };
        let dispatch = found["dispatch"]["number"].as_u64().unwrap_or(0) as u32;
        let line = head["command"].as_str().unwrap_or_default();
        let mut debuggee = match line.strip_prefix("pellucid exec ") {
            Some(_) if !arguments.is_empty() => bail!("{path} names its shader itself: {line}"),
            Some(rest) => {
                let words = words(rest).with_context(|| format!("{path}: bad command {line}"))?;
                let arguments: Vec<OsString> = words.into_iter().map(OsString::from).collect();
                Debuggee { skip: dispatch, ..Debuggee::of_line(&arguments)? }
            }
            None if arguments.is_empty() => bail!(
                "a program has to be named: pellucid debug --finding {named} -- {}",
                if line.is_empty() { "PROGRAM" } else { line }
            ),
            None => Debuggee::of_dispatch(dispatch, arguments)?,
        };
        if !debuggee.options.variables.is_empty() {
            bail!("the options are those of {path}");
        }
        let folder = tempfile::tempdir().context("a temporary folder")?;
        let head = replay::head_of(found, head);
        debuggee.options = replay::restored(&head, folder.path()).with_context(|| path.to_owned())?;
        debuggee.to_finding = true;
        debuggee.wanted = Some(wanted);
        debuggee.folder = Some(folder);
        Ok(debuggee)
    }

    /// Makes this process the one to run the shader in, and starts the program if there is one; `piped`: its
    /// output is kept from this process's. To be called while there is no other thread.
    fn prepare(&mut self, piped: bool) -> anyhow::Result<()> {
        let config = usage(self.options.resolve())?;
        match config.mode {
            Mode::Check => {}
            Mode::Run => bail!("the debugger is for check mode"),
            Mode::Explore => {
                bail!("not implemented in Pellucid: debugging explore mode; {WAY_ROUND}")
            }
        }
        if let Subject::Shader(exec) = &self.subject
            && self.skip >= exec.repeat
        {
            let (skip, repeat) = (self.skip, exec.repeat);
            let times = if repeat == 1 { "once".to_owned() } else { format!("{repeat} times") };
            return usage(Err(anyhow!(
                "--skip {skip}: nothing is left; the shader is dispatched {times}, and --repeat N does so N times"
            )));
        }
        if let Some(rules) = &config.suppressions {
            run::check_rules(rules)?;
        }
        let mut left = Vec::new();
        if let Subject::Dispatch(number, command) = &self.subject {
            let job = Job { options: self.options.clone(), command: command.clone(), shown: None };
            self.subject = Subject::Program(Box::new(CapturedProgram::start(job, *number, piped)?));
            left.extend(OF_PROGRAM.iter().filter_map(|name| Some(find(name)?.variable())));
        }
        let closed = self.options.closed;
        let others = std::env::vars_os().map(|(name, _)| name);
        let removed = |name: &OsString| {
            let name = name.to_string_lossy();
            (closed && name.starts_with("PELLUCID_")) || left.iter().any(|left| *left == name)
        };
        let others: Vec<OsString> = others.filter(removed).collect();
        let variables = self.options.variables.iter().filter(|(name, _)| !left.contains(name));
        let set = variables.map(|(name, value)| (name.clone(), value.clone()));
        let command = ("PELLUCID_COMMAND".to_owned(), self.shown.clone());
        signal::set_environment(&others, set.chain([command]));
        Ok(())
    }

    /// Runs the program under the debugger; what it prints at last goes to `out`, its total to `told`.
    /// `cancelled` says that nobody wants it any more.
    fn run(
        self,
        front: Box<dyn Front>,
        out: &mut dyn Write,
        told: &dyn Fn(&str),
        cancelled: &mut dyn FnMut() -> bool,
    ) -> anyhow::Result<()> {
        let Debuggee { subject, skip, to_finding, wanted, folder, .. } = self;
        let mut folders: Vec<PathBuf> = folder.iter().map(|folder| folder.path().to_owned()).collect();
        let remove = |folders: &[PathBuf]| {
            for folder in folders {
                // What cannot be removed is left to the system.
                let _ = std::fs::remove_dir_all(folder);
            }
        };
        match subject {
            Subject::Shader(exec) => {
                let words = usage(exec::words(&exec))?;
                let at_quit = Box::new(move || remove(&folders));
                let engine = Engine::new(front, &words, skip, to_finding, wanted, at_quit);
                debugger::install(Box::new(engine));
                exec::run_linked(&exec, out)
            }
            Subject::Dispatch(..) => Ok(()),
            Subject::Program(mut program) => {
                let captured = program.reach(cancelled)?;
                folders.extend(program.folders());
                let kill = program.killer();
                let at_quit = Box::new(move || {
                    kill();
                    remove(&folders);
                });
                let engine = Engine::new(front, captured.words(), 0, to_finding, wanted, at_quit);
                debugger::install(Box::new(engine));
                program.debug(&captured)?;
                told(&program.finish(cancelled)?);
                Ok(())
            }
        }
    }
}

fn quoted(words: &[OsString]) -> String {
    let words: Vec<String> = words.iter().map(|a| quote(&a.to_string_lossy())).collect();
    words.join(" ")
}

/// Debugs a program at a prompt.
///
/// # Errors
/// The arguments are wrong, or the program does not run.
pub fn run(arguments: &DebugArgs) -> anyhow::Result<()> {
    let DebugArgs { run, skip, dispatch, finding, .. } = arguments;
    let asked = *run || *skip > 0 || dispatch.is_some() || finding.is_some();
    if (arguments.dap || arguments.listen.is_some()) && (asked || !arguments.arguments.is_empty()) {
        let how = if arguments.dap { "--dap" } else { "--listen" };
        return usage(Err(anyhow!(
            "what is debugged is for the client's launch request to say, not for the words beside {how}"
        )));
    }
    if arguments.dap {
        let output = signal::take_standard_output()?;
        return serve(Box::new(BufReader::new(std::io::stdin())), Box::new(output));
    }
    if let Some(address) = &arguments.listen {
        let listener = TcpListener::bind(address).with_context(|| address.clone())?;
        eprintln!("pellucid: waiting for a debugger's client at {}", listener.local_addr()?);
        let (stream, _) = listener.accept()?;
        stream.set_nodelay(true)?;
        return serve(Box::new(BufReader::new(stream.try_clone()?)), Box::new(stream));
    }
    let mut debuggee = match (&arguments.finding, arguments.dispatch) {
        (Some(named), _) => Debuggee::of_finding(named, &arguments.arguments)?,
        (None, Some(number)) => Debuggee::of_dispatch(number, &arguments.arguments)?,
        (None, None) => Debuggee::of_line(&arguments.arguments)?,
    };
    debuggee.skip = debuggee.skip.max(arguments.skip);
    debuggee.to_finding |= arguments.run;
    terminal::catch_interrupts();
    debuggee.prepare(false)?;
    let told = |total: &str| eprintln!("{total}");
    let front = Box::new(Terminal::default());
    debuggee.run(front, &mut std::io::stdout(), &told, &mut terminal::interrupted)
}

/// What a launch request asks for: `arguments`, those of `pellucid exec`, or `program` and `args`; or
/// `finding`, as `--finding` takes it; or `dispatch`, as `--dispatch` takes it, of `program` with `args`, on
/// the driver with `options`. `cwd` is where relative paths begin.
fn launched(request: &Value) -> anyhow::Result<Debuggee> {
    let given = &request["arguments"];
    if let Some(folder) = given["cwd"].as_str() {
        std::env::set_current_dir(folder).with_context(|| folder.to_owned())?;
    }
    let strings = |name: &str| given[name].as_array().into_iter().flatten().filter_map(Value::as_str);
    let program = given["program"].as_str().into_iter();
    let line = strings("options").chain(program).chain(strings("args")).chain(strings("arguments"));
    let line: Vec<OsString> = line.map(OsString::from).collect();
    let mut debuggee = match (given["finding"].as_str(), &given["dispatch"]) {
        (Some(_), number) if !number.is_null() => bail!("either a finding, or a dispatch"),
        (Some(named), _) => Debuggee::of_finding(named, &line)?,
        (None, Value::Null) => Debuggee::of_line(&line)?,
        (None, number) => {
            let parsed = number.as_u64().and_then(|number| u32::try_from(number).ok());
            Debuggee::of_dispatch(parsed.with_context(|| format!("dispatch: {number} is no number"))?, &line)?
        }
    };
    debuggee.skip = debuggee.skip.max(given["skip"].as_u64().unwrap_or(0) as u32);
    if let Subject::Shader(exec) = &debuggee.subject {
        exec::check(exec)?;
    }
    debuggee.prepare(true)?;
    // The client says first where it wants to stop.
    debuggee.to_finding = false;
    Ok(debuggee)
}

/// A session with one client.
fn serve(mut input: Box<dyn BufRead + Send>, output: Box<dyn Write + Send>) -> anyhow::Result<()> {
    let client = dap::Client::new(output);
    let (debuggee, launch) = loop {
        let Some(request) = dap::read(&mut *input)? else { return Ok(()) };
        match request["command"].as_str().unwrap_or_default() {
            "initialize" => client.answer(&request, Ok(dap::capabilities())),
            "disconnect" | "terminate" => {
                client.answer(&request, Ok(json!({})));
                return Ok(());
            }
            "launch" => match launched(&request) {
                Ok(debuggee) => break (debuggee, request),
                Err(error) => client.answer(&request, Err(format!("{error:#}"))),
            },
            other => {
                client.answer(&request, Err(format!("not implemented in Pellucid: {other} before launch")))
            }
        }
    };
    let (sender, requests) = mpsc::channel();
    std::thread::spawn(move || dap::forward(input, &sender));
    let launch = dap::Launch::new(Some(launch).into());
    let incoming = dap::Incoming::new(requests);
    let mut printers = Vec::new();
    let mut debuggee = debuggee;
    if let Subject::Program(program) = &mut debuggee.subject {
        let (stdout, stderr) = program.output();
        printers.extend(stdout.map(|stream| client.print("stdout", stream)));
        printers.extend(stderr.map(|stream| client.print("stderr", stream)));
    }
    let server = dap::Server::new(client.clone(), incoming.clone(), launch.clone());
    let mut out = Vec::new();
    let told = |total: &str| {
        client.event("output", json!({ "category": "console", "output": format!("{total}\n") }));
    };
    let outcome = debuggee.run(Box::new(server), &mut out, &told, &mut || incoming.ends());
    for printer in printers {
        // What it could not send, nobody waits for.
        let _ = printer.join();
    }
    let text = String::from_utf8_lossy(&out);
    if !text.is_empty() {
        client.event("output", json!({ "category": "stdout", "output": text }));
    }
    if let Err(error) = &outcome {
        let text = format!("pellucid: {error:#}\n");
        client.event("output", json!({ "category": "stderr", "output": text }));
    }
    if let Some(launch) = dap::taken(&launch, Option::take) {
        let why =
            outcome.as_ref().err().map_or_else(|| "nothing was dispatched".to_owned(), |e| format!("{e:#}"));
        client.answer(&launch, Err(why));
    }
    client.event("exited", json!({ "exitCode": i32::from(outcome.is_err()) }));
    client.event("terminated", json!({}));
    incoming.answer_last(&client);
    Ok(())
}
