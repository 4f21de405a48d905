//! `pellucid debug`: a debugger over check mode's deterministic execution, forward and backward.
//!
//! - [`engine`]: runs a dispatch to where its front end wants to be;
//! - [`target`] and [`types`]: lines, frames, types and names of what is debugged;
//! - [`values`]: variables by their names;
//! - [`sees`]: writes of a location, and who sees them;
//! - [`commands`]: what the user may ask, as text;
//! - [`terminal`]: the front end at a prompt;
//! - [`dap`]: the front end for editors, a Debug Adapter Protocol server.
//!
//! The program is that of `pellucid exec`, in this process, on the driver that is linked into it.

pub mod commands;
pub mod dap;
pub mod engine;
pub mod sees;
mod signal;
mod stop;
pub mod target;
pub mod terminal;
pub mod types;
pub mod values;

use self::engine::{Engine, Wanted};
use self::stop::Front;
use self::terminal::Terminal;
use crate::exec::{self, ExecArgs};
use crate::options::DriverOptions;
use crate::replay;
use crate::report::Report;
use anyhow::{Context as _, bail};
use clap::{Args, Parser};
use pellucid_memory::input;
use serde_json::{Value, json};
use std::ffi::OsString;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::sync::mpsc;
use vulkan_pellucid::config::Mode;
use vulkan_pellucid::debugger;
use vulkan_pellucid::report::replay::{quote, words};

/// What to debug.
#[derive(Args)]
pub struct DebugArgs {
    /// Run to the first finding before the first prompt
    #[arg(long)]
    run: bool,
    /// Leave so many dispatches alone, of --repeat
    #[arg(long, value_name = "N", default_value_t = 0)]
    skip: u32,
    /// Debug a finding of a report of `pellucid exec`: its number, by default the first
    #[arg(long, value_name = "REPORT[:N]", conflicts_with = "arguments")]
    finding: Option<String>,
    /// Be a Debug Adapter Protocol server on standard input and output
    #[arg(long)]
    dap: bool,
    /// Be one for the first client that connects to this address
    #[arg(long, value_name = "HOST:PORT", conflicts_with = "dap")]
    listen: Option<String>,
    /// The arguments of `pellucid exec`: a shader, buffers, options of the driver
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

/// A program to be debugged.
struct Debuggee {
    options: DriverOptions,
    exec: ExecArgs,
    shown: String,
    skip: u32,
    to_finding: bool,
    wanted: Option<Wanted>,
    /// Holds rules of suppression.
    folder: Option<tempfile::TempDir>,
}

impl Debuggee {
    fn of_line(arguments: &[OsString]) -> anyhow::Result<Debuggee> {
        let ExecLine { options, exec } = ExecLine::try_parse_from(arguments)?;
        let shown: Vec<String> = arguments.iter().map(|a| quote(&a.to_string_lossy())).collect();
        let shown = format!("pellucid exec {}", shown.join(" "));
        Ok(Debuggee { options, exec, shown, skip: 0, to_finding: false, wanted: None, folder: None })
    }

    /// The program of a report, to stop at one of its findings.
    fn of_finding(named: &str) -> anyhow::Result<Debuggee> {
        let numbered = named.rsplit_once(':').and_then(|(path, n)| Some((path, n.parse::<u64>().ok()?)));
        let (path, number) = match numbered {
            Some((path, number)) => (path, Some(number)),
            None => (named, None),
        };
        let text = input::text(path.as_ref()).with_context(|| path.to_owned())?;
        let report = Report::parse(&text).with_context(|| path.to_owned())?;
        let head = report.of_type("run").next().with_context(|| format!("{path}: no run"))?;
        let line = head["command"].as_str().unwrap_or_default();
        let Some(rest) = line.strip_prefix("pellucid exec ") else {
            bail!(
                "not implemented in Pellucid: debugging a report of another program than pellucid exec ({line})"
            );
        };
        let of = |finding: &&serde_json::Value| number.is_none_or(|n| finding["number"].as_u64() == Some(n));
        let mut findings = report.of_type("finding").filter(|finding| !finding["finding"].is_null());
        let found = findings.find(of).with_context(|| match number {
            Some(number) => format!("{path}: no finding {number} of a dispatch"),
            None => format!("{path}: no finding of a dispatch"),
        })?;
        let facts = found["finding"]["facts"].as_array().into_iter().flatten();
        if facts.into_iter().any(|fact| !fact["rehearsal"].is_null()) {
            bail!(
                "not implemented in Pellucid: debugging a rehearsal; this finding is of one, not of the execution that the program got"
            );
        }
        let accesses = found["accesses"].as_array().into_iter().flatten();
        let wanted = Wanted {
            id: found["id"].as_str().unwrap_or_default().to_owned(),
            words: accesses.filter_map(|access| access["word"].as_u64()).collect(),
        };
        let words = words(rest).with_context(|| format!("{path}: bad command {line}"))?;
        let arguments: Vec<OsString> = words.into_iter().map(OsString::from).collect();
        let folder = tempfile::tempdir().context("a temporary folder")?;
        let mut debuggee = Debuggee::of_line(&arguments)?;
        debuggee.options = replay::restored(head, folder.path()).with_context(|| path.to_owned())?;
        debuggee.skip = found["dispatch"]["number"].as_u64().unwrap_or(0) as u32;
        debuggee.to_finding = true;
        debuggee.wanted = Some(wanted);
        debuggee.folder = Some(folder);
        Ok(debuggee)
    }

    /// Makes this process the one to run the program in. To be called while there is no other thread.
    fn prepare(&mut self) -> anyhow::Result<()> {
        let config = self.options.resolve()?;
        if config.mode != Mode::Check {
            bail!("the debugger is for check mode");
        }
        let closed = self.options.closed;
        let others = std::env::vars_os().map(|(name, _)| name);
        let others: Vec<OsString> =
            others.filter(|name| closed && name.to_string_lossy().starts_with("PELLUCID_")).collect();
        let variables = self.options.variables.iter();
        let set = variables.map(|(name, value)| (name.clone(), value.clone()));
        let command = ("PELLUCID_COMMAND".to_owned(), self.shown.clone());
        signal::set_environment(&others, set.chain([command]));
        Ok(())
    }

    /// Runs the program under the debugger.
    fn run(self, front: Box<dyn Front>, out: &mut dyn Write) -> anyhow::Result<()> {
        let words = exec::words(&self.exec)?;
        let folder = self.folder.as_ref().map(|folder| folder.path().to_owned());
        let engine = Engine::new(front, &words, self.skip, self.to_finding, self.wanted, folder);
        debugger::install(Box::new(engine));
        exec::run_linked(&self.exec, out)
    }
}

/// Debugs a program at a prompt.
///
/// # Errors
/// The arguments are wrong, or the program does not run.
pub fn run(arguments: &DebugArgs) -> anyhow::Result<()> {
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
    let mut debuggee = match &arguments.finding {
        Some(named) => Debuggee::of_finding(named)?,
        None => Debuggee::of_line(&arguments.arguments)?,
    };
    debuggee.skip = debuggee.skip.max(arguments.skip);
    debuggee.to_finding |= arguments.run;
    terminal::catch_interrupts();
    debuggee.prepare()?;
    debuggee.run(Box::new(Terminal::default()), &mut std::io::stdout())
}

/// What a launch request asks for: `arguments`, those of `pellucid exec`, or `program` and `args`; or
/// `finding`, as `--finding` takes it. `cwd` is where relative paths begin.
fn launched(request: &Value) -> anyhow::Result<Debuggee> {
    let given = &request["arguments"];
    if let Some(folder) = given["cwd"].as_str() {
        std::env::set_current_dir(folder).with_context(|| folder.to_owned())?;
    }
    let strings = |name: &str| given[name].as_array().into_iter().flatten().filter_map(Value::as_str);
    let program = given["program"].as_str().into_iter();
    let line = program.chain(strings("args")).chain(strings("arguments")).map(OsString::from);
    let mut debuggee = match given["finding"].as_str() {
        Some(named) => Debuggee::of_finding(named)?,
        None => Debuggee::of_line(&line.collect::<Vec<_>>())?,
    };
    debuggee.skip = debuggee.skip.max(given["skip"].as_u64().unwrap_or(0) as u32);
    exec::check(&debuggee.exec)?;
    debuggee.prepare()?;
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
    let server = dap::Server::new(client.clone(), requests, launch.clone());
    let mut out = Vec::new();
    let outcome = debuggee.run(Box::new(server), &mut out);
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
    Ok(())
}
