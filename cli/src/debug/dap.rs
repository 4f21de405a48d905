//! The debugger as a Debug Adapter Protocol server, over standard streams or TCP: one session.
//!
//! Threads are invocations, frames inlined functions, the exception a finding's second access. What a request
//! cannot say is said by `evaluate` with the commands of the terminal.

mod transport;
mod variables;

use self::transport::LAST_WAIT;
pub use self::transport::{Client, Incoming, forward, read};
use self::variables::{Listed, join};
use super::commands::{self, Answer};
use super::stop::{Accesses, At, Front, Motion, Place, Range, Reason, Resume, Stop};
use super::target::{LISTING, Line, Who};
use super::values::condition::Condition;
use parking_lot::Mutex;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use vulkan_pellucid::report::context::base_name;

/// Invocations that are listed as threads.
const MOST_THREADS: usize = 4096;

/// What the server can do.
pub fn capabilities() -> Value {
    json!({
        "supportsConfigurationDoneRequest": true,
        "supportsConditionalBreakpoints": true,
        "supportsDataBreakpoints": true,
        "supportsEvaluateForHovers": true,
        "supportsExceptionInfoRequest": true,
        "supportsSetVariable": true,
        "supportsStepBack": true,
        "supportsSteppingGranularity": true,
        "supportsTerminateRequest": true,
        "supportTerminateDebuggee": true,
        "exceptionBreakpointFilters": [{
            "filter": "findings",
            "label": "Findings",
            "description": "Stop at the second access of each finding",
            "default": true,
        }],
    })
}

/// The launch request, until it is answered.
pub type Launch = Arc<Mutex<Option<Value>>>;

/// A session with a client.
pub struct Server {
    client: Client,
    incoming: Incoming,
    launch: Launch,
    stop_on_entry: bool,
    configured: bool,
    pausing: bool,
    listed: Vec<Listed>,
    frames: Vec<(Who, usize)>,
    /// Breakpoints by file.
    lines: BTreeMap<String, Vec<u32>>,
    data: Vec<u32>,
    /// The last stop's threads.
    threads: Value,
    workgroup_size: u32,
}

/// What is made of the launch request.
pub fn taken<T>(launch: &Launch, with: impl FnOnce(&mut Option<Value>) -> T) -> T {
    with(&mut launch.lock())
}

impl Server {
    /// A session in which `launch` was asked for and not answered.
    pub fn new(client: Client, incoming: Incoming, launch: Launch) -> Server {
        let entry = taken(&launch, |launch| launch.as_ref()?["arguments"]["stopOnEntry"].as_bool());
        Server {
            client,
            incoming,
            stop_on_entry: entry.unwrap_or(false),
            launch,
            configured: false,
            pausing: false,
            listed: Vec::new(),
            frames: Vec::new(),
            lines: BTreeMap::new(),
            data: Vec::new(),
            threads: json!({ "threads": [] }),
            workgroup_size: 1,
        }
    }

    fn thread(&self, who: Who) -> i64 {
        i64::from(who.workgroup) * i64::from(self.workgroup_size) + i64::from(who.local_index) + 1
    }

    fn who(&self, thread: &Value) -> Option<Who> {
        let number = u64::try_from(thread.as_i64()? - 1).ok()?;
        let size = u64::from(self.workgroup_size.max(1));
        let workgroup = u32::try_from(number / size).ok()?;
        Some(Who { workgroup, local_index: (number % size) as u32 })
    }

    fn list_threads(&mut self, stop: &Stop<'_, '_, '_, '_, '_>) {
        let mut threads = Vec::new();
        if let At::Moment(moment) = &stop.at {
            let focus = stop.session.focus;
            // Those of the workgroup in focus come first: there may be too many.
            let own = moment.strands().filter(|of| of.identity.workgroup == focus.workgroup);
            let others = moment.strands().filter(|of| of.identity.workgroup != focus.workgroup);
            for of in own.chain(others) {
                let [x, y, z] = of.identity.workgroup_id;
                for lane in (0..32).filter(|lane| of.strand.live() >> lane & 1 != 0) {
                    let local_index = of.identity.local_index(lane);
                    let who = Who { workgroup: of.identity.workgroup, local_index };
                    let name = format!(
                        "workgroup ({x},{y},{z}) subgroup {} invocation {local_index}",
                        of.identity.subgroup
                    );
                    threads.push((self.thread(who), name));
                }
            }
        }
        threads.truncate(MOST_THREADS);
        if threads.is_empty() {
            threads.push((1, "the dispatch has ended".to_owned()));
        }
        threads.sort();
        let threads: Vec<Value> =
            threads.into_iter().map(|(id, name)| json!({ "id": id, "name": name })).collect();
        self.threads = json!({ "threads": threads });
    }

    fn stopped_event(&mut self, stop: &mut Stop<'_, '_, '_, '_, '_>) {
        let text = commands::reason(stop);
        let (reason, ids) = match stop.reason {
            Reason::Entry => ("entry", Vec::new()),
            Reason::Breakpoint(id) | Reason::Unjudged(id, _) => ("breakpoint", vec![id]),
            Reason::Data(id) => ("data breakpoint", vec![id]),
            Reason::Finding(_) => ("exception", Vec::new()),
            Reason::Pause | Reason::Ended(_) => ("pause", Vec::new()),
            Reason::Position => ("goto", Vec::new()),
            Reason::Step | Reason::Wrote | Reason::Start | Reason::NeverWritten | Reason::Gone => {
                ("step", Vec::new())
            }
        };
        let ended = matches!(stop.reason, Reason::Ended(_));
        let thread = if ended { 1 } else { self.thread(stop.session.focus) };
        let mut body = json!({
            "reason": reason,
            "threadId": thread,
            "allThreadsStopped": true,
            "hitBreakpointIds": ids,
        });
        if let Some(text) = text {
            body["description"] = json!(text);
            body["text"] = json!(text);
            let output = format!("{text}\n");
            self.client.event("output", json!({ "category": "console", "output": output }));
        }
        self.client.event("stopped", body);
    }

    /// Does what a request asks for. `Some`: the dispatch goes on.
    fn request(&mut self, stop: &mut Stop<'_, '_, '_, '_, '_>, request: &Value) -> Option<Resume> {
        let arguments = &request["arguments"];
        let command = request["command"].as_str().unwrap_or_default();
        if let Some(who) = self.who(&arguments["threadId"])
            && stop.at.standing(who).is_some()
        {
            stop.session.focus = who;
        }
        let motion = |motion| match arguments["granularity"].as_str() {
            Some("instruction") => Motion::Instruction,
            _ => motion,
        };
        let resume = match command {
            "continue" => Some(Resume::Move(Motion::Continue, false)),
            "next" => Some(Resume::Move(motion(Motion::Over), false)),
            "stepIn" => Some(Resume::Move(motion(Motion::In), false)),
            "stepOut" => Some(Resume::Move(Motion::Out, false)),
            "stepBack" => Some(Resume::Move(motion(Motion::Over), true)),
            "reverseContinue" => Some(Resume::Move(Motion::Continue, true)),
            _ => None,
        };
        if let Some(resume) = resume {
            self.client.answer(request, Ok(json!({ "allThreadsContinued": true })));
            return Some(resume);
        }
        let body = match command {
            "configurationDone" => {
                self.configured = true;
                Ok(json!({}))
            }
            "threads" => Ok(self.threads.clone()),
            "pause" => Ok(json!({})),
            "disconnect" | "terminate" => {
                self.client.answer(request, Ok(json!({})));
                self.client.event("terminated", json!({}));
                self.wait_for_end(command == "disconnect");
                return Some(Resume::Quit);
            }
            "setBreakpoints" => self.set_breakpoints(stop, arguments),
            "setFunctionBreakpoints" | "setInstructionBreakpoints"
                if arguments["breakpoints"].as_array().is_none_or(Vec::is_empty) =>
            {
                Ok(json!({ "breakpoints": [] }))
            }
            "setExceptionBreakpoints" => {
                let filters = arguments["filters"].as_array();
                let on = filters.is_some_and(|filters| filters.iter().any(|f| f == "findings"));
                stop.session.ignore_findings = !on;
                Ok(json!({}))
            }
            "dataBreakpointInfo" => self.data_info(stop, arguments),
            "setDataBreakpoints" => self.set_data(stop, arguments),
            "stackTrace" => self.stack(stop, arguments),
            "scopes" => self.scopes(arguments),
            "variables" => self.variables(stop, arguments),
            "setVariable" => self.set_variable(stop, arguments),
            "exceptionInfo" => exception(stop),
            "source" => source(stop, arguments),
            "evaluate" => match self.evaluate(stop, arguments) {
                Ok(Answer::Go(resume)) => {
                    self.client.answer(request, Ok(json!({ "result": "", "variablesReference": 0 })));
                    return Some(resume);
                }
                Ok(Answer::Text(text)) => {
                    let reference = self.reference_of(stop, arguments);
                    Ok(json!({ "result": text, "variablesReference": reference }))
                }
                Err(error) => Err(error),
            },
            other => Err(format!("not implemented in Pellucid: {other}")),
        };
        self.client.answer(request, body);
        None
    }

    /// Until the client closes the connection, or for a while: it may have a last request.
    fn wait_for_end(&mut self, mut disconnected: bool) {
        while !disconnected && let Some(request) = self.incoming.next_within(LAST_WAIT) {
            disconnected = request["command"] == "disconnect";
            self.client.answer(&request, Ok(json!({})));
        }
        while self.incoming.next_within(LAST_WAIT).is_some() {}
    }

    fn set_breakpoints(
        &mut self,
        stop: &mut Stop<'_, '_, '_, '_, '_>,
        arguments: &Value,
    ) -> Result<Value, String> {
        let source = &arguments["source"];
        let name = source["path"].as_str().or(source["name"].as_str()).unwrap_or_default().to_owned();
        let file = base_name(&name).to_owned();
        let old = self.lines.remove(&file).unwrap_or_default();
        stop.session.breakpoints.retain(|of| !old.contains(&of.id));
        let mut ids = Vec::new();
        let answers = set_each(arguments, |wanted| {
            let refused = ["hitCondition", "logMessage"].into_iter().find(|name| wanted[*name].is_string());
            if let Some(name) = refused {
                return Err(format!("not implemented in Pellucid: {name}"));
            }
            let line = wanted["line"].as_u64().unwrap_or(0) as u32;
            let (line, pcs) = commands::lines(stop, Some(&file), line).ok_or("nothing runs there")?;
            let place = Place::Line { shown: format!("line {line}"), pcs };
            let id = commands::add(stop, place, None, condition(wanted)?);
            ids.push(id);
            Ok(json!({ "id": id, "verified": true, "line": line }))
        });
        self.lines.insert(file, ids);
        Ok(answers)
    }

    fn data_info(&mut self, stop: &mut Stop<'_, '_, '_, '_, '_>, arguments: &Value) -> Result<Value, String> {
        let name = arguments["name"].as_str().unwrap_or_default();
        let path = match self.item(&arguments["variablesReference"]) {
            Some(Listed::Item(_, _, _, path)) => join(&path, name),
            _ => name.to_owned(),
        };
        match commands::range(stop, &path) {
            Ok(Range { workgroup, address, bytes }) => {
                let space = workgroup.map_or_else(|| "-".to_owned(), |workgroup| workgroup.to_string());
                Ok(json!({
                    "dataId": format!("{space}:{address}:{bytes}:{path}"),
                    "description": format!("{path}, {bytes} bytes"),
                    "accessTypes": ["read", "write", "readWrite"],
                    "canPersist": false,
                }))
            }
            Err(error) => Ok(json!({ "dataId": null, "description": error })),
        }
    }

    fn set_data(&mut self, stop: &mut Stop<'_, '_, '_, '_, '_>, arguments: &Value) -> Result<Value, String> {
        let old = std::mem::take(&mut self.data);
        stop.session.breakpoints.retain(|of| !old.contains(&of.id));
        Ok(set_each(arguments, |wanted| {
            let id = wanted["dataId"].as_str().unwrap_or_default();
            let parts: Vec<&str> = id.splitn(4, ':').collect();
            let range = match parts[..] {
                [space, address, bytes, _] => address
                    .parse()
                    .ok()
                    .zip(bytes.parse().ok())
                    .map(|(address, bytes)| Range { workgroup: space.parse().ok(), address, bytes }),
                _ => None,
            };
            let range = range.ok_or_else(|| format!("\"{id}\" is no data"))?;
            let accesses = match wanted["accessType"].as_str() {
                Some("read") => Accesses::Read,
                Some("readWrite") => Accesses::Any,
                _ => Accesses::Write,
            };
            let shown = parts.get(3).map_or("", |path| *path).to_owned();
            let id = commands::add(stop, Place::Data { shown, range, accesses }, None, condition(wanted)?);
            self.data.push(id);
            Ok(json!({ "id": id, "verified": true }))
        }))
    }

    fn stack(&mut self, stop: &mut Stop<'_, '_, '_, '_, '_>, arguments: &Value) -> Result<Value, String> {
        let who = self.who(&arguments["threadId"]).unwrap_or_default();
        let Some(spot) = stop.spot(who) else {
            return Ok(json!({ "stackFrames": [], "totalFrames": 0 }));
        };
        let mut frames = Vec::new();
        for (k, (call, line)) in stop.target.frames(spot).into_iter().enumerate() {
            self.frames.push((who, k));
            let mut frame = json!({
                "id": self.frames.len(),
                "name": commands::function(stop, call),
                "line": line.line,
                "column": 1,
            });
            if line.file == LISTING {
                frame["name"] =
                    json!(format!("{}: {}", commands::function(stop, call), stop.target.line_text(line)));
                frame["line"] = json!(0);
                frame["column"] = json!(0);
            } else {
                frame["source"] = source_of(stop, line);
            }
            frames.push(frame);
        }
        let total = frames.len();
        Ok(json!({ "stackFrames": frames, "totalFrames": total }))
    }
}

fn source_of(stop: &Stop<'_, '_, '_, '_, '_>, line: Line) -> Value {
    let file = stop.target.file(line.file);
    let name = base_name(file);
    match Path::new(file).canonicalize() {
        Ok(path) if path.is_file() => json!({ "name": name, "path": path.to_string_lossy() }),
        _ if stop.target.text(line.file).is_some() => {
            json!({ "name": name, "sourceReference": line.file + 1 })
        }
        _ => json!({ "name": name }),
    }
}

fn source(stop: &Stop<'_, '_, '_, '_, '_>, arguments: &Value) -> Result<Value, String> {
    let reference = arguments["source"]["sourceReference"].as_u64().or(arguments["sourceReference"].as_u64());
    let file = reference.and_then(|reference| u32::try_from(reference).ok()?.checked_sub(1));
    let text = file.and_then(|file| stop.target.text(file)).ok_or("there is no such source")?;
    Ok(json!({ "content": text }))
}

/// The answer to a client that sets these breakpoints: what `set` says of each, or why there is none.
fn set_each(arguments: &Value, set: impl FnMut(&Value) -> Result<Value, String>) -> Value {
    let wanted = arguments["breakpoints"].as_array().into_iter().flatten();
    let refused = |message| json!({ "verified": false, "message": message });
    json!({ "breakpoints": wanted.map(set).map(|answer| answer.unwrap_or_else(refused)).collect::<Vec<_>>() })
}

/// The condition of a breakpoint that a client sets.
fn condition(wanted: &Value) -> Result<Option<Condition>, String> {
    wanted["condition"].as_str().filter(|text| !text.is_empty()).map(Condition::parse).transpose()
}

fn exception(stop: &mut Stop<'_, '_, '_, '_, '_>) -> Result<Value, String> {
    let finding = match stop.reason {
        Reason::Finding(_) => stop.session.next.clone(),
        _ => None,
    };
    let finding = finding.ok_or("the dispatch has not stopped at a finding")?;
    Ok(json!({
        "exceptionId": finding.id.name(),
        "description": vulkan_pellucid::report::words::title(finding.id),
        "breakMode": "always",
        "details": { "message": commands::told(stop, &finding) },
    }))
}

impl Front for Server {
    fn stopped(&mut self, stop: &mut Stop<'_, '_, '_, '_, '_>) -> Resume {
        self.listed.clear();
        self.frames.clear();
        self.pausing = false;
        self.workgroup_size = stop.target.workgroup_size().max(1);
        self.list_threads(stop);
        let first = taken(&self.launch, |launch| launch.is_some());
        if first {
            self.client.event("initialized", json!({}));
        } else {
            self.stopped_event(stop);
        }
        loop {
            let request = self.incoming.next();
            if let Some(resume) = self.request(stop, &request) {
                return resume;
            }
            if self.configured
                && let Some(launch) = taken(&self.launch, Option::take)
            {
                self.client.answer(&launch, Ok(json!({})));
                if !self.stop_on_entry {
                    return Resume::Move(Motion::Continue, false);
                }
                self.stopped_event(stop);
            }
        }
    }

    fn interrupts(&mut self) -> bool {
        let (client, threads, mut pausing) = (&self.client, &self.threads, self.pausing);
        self.incoming.look(|request| {
            match request["command"].as_str() {
                Some("pause") => {
                    client.answer(&request, Ok(json!({})));
                    pausing = true;
                }
                Some("disconnect" | "terminate") => {
                    pausing = true;
                    return Some(request);
                }
                Some("threads") => client.answer(&request, Ok(threads.clone())),
                _ => return Some(request),
            }
            None
        });
        self.pausing = pausing;
        pausing
    }
}
