//! The debugger as a Debug Adapter Protocol server, over standard streams or TCP: one session.
//!
//! Threads are invocations, frames inlined functions, the exception a finding's second access. What a request
//! cannot say is said by `evaluate` with the commands of the terminal.

use super::commands::{self, Answer};
use super::stop::{Accesses, At, Front, Motion, Place, Range, Reason, Resume, Stop};
use super::target::{LISTING, Line, Who};
use super::values::{Home, Item};
use serde_json::{Value, json};
use std::collections::{BTreeMap, VecDeque};
use std::io::{BufRead, Read, Write};
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use vulkan_pellucid::report::context::base_name;

/// The largest message that is read, in bytes.
const MOST_BYTES: usize = 1 << 26;
/// How long the client may take to close a connection that is over.
const LAST_WAIT: Duration = Duration::from_secs(2);
/// Invocations that are listed as threads.
const MOST_THREADS: usize = 4096;
/// Elements of an array that are listed if nobody says how many.
const MOST_ELEMENTS: usize = 256;

/// Reads a message; `None` at the end of the stream.
///
/// # Errors
/// The stream fails, or holds something else.
pub fn read(input: &mut dyn BufRead) -> anyhow::Result<Option<Value>> {
    let mut length = None;
    loop {
        let mut line = String::new();
        if input.take(4096).read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let line = line.trim();
        if line.is_empty() {
            match length {
                Some(length) => {
                    let mut bytes = vec![0; length];
                    input.read_exact(&mut bytes)?;
                    return Ok(Some(serde_json::from_slice(&bytes)?));
                }
                None => continue,
            }
        }
        if let Some(("Content-Length", number)) = line.split_once(':') {
            length = Some(number.trim().parse().ok().filter(|n| *n <= MOST_BYTES))
                .flatten()
                .map_or_else(|| Err(anyhow::anyhow!("a message of {number} bytes")), |n| Ok(Some(n)))?;
        }
    }
}

/// The client's side of the connection.
#[derive(Clone)]
pub struct Client(Arc<Mutex<(Box<dyn Write + Send>, u64)>>);

impl Client {
    /// A client that reads what is written there.
    pub fn new(output: Box<dyn Write + Send>) -> Client {
        Client(Arc::new(Mutex::new((output, 0))))
    }

    fn send(&self, mut message: Value) {
        let mut guard = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (output, seq) = &mut *guard;
        *seq += 1;
        message["seq"] = json!(*seq);
        let text = message.to_string();
        // A client that is gone is noticed by the reader.
        let _ = write!(output, "Content-Length: {}\r\n\r\n{text}", text.len());
        let _ = output.flush();
    }

    /// Sends an event.
    pub fn event(&self, name: &str, body: Value) {
        self.send(json!({ "type": "event", "event": name, "body": body }));
    }

    /// Answers a request.
    pub fn answer(&self, request: &Value, body: Result<Value, String>) {
        let mut message = json!({
            "type": "response",
            "request_seq": request["seq"],
            "command": request["command"],
            "success": body.is_ok(),
        });
        match body {
            Ok(body) => message["body"] = body,
            Err(text) => {
                message["message"] = json!(text);
                message["body"] = json!({ "error": { "id": 1, "format": text, "showUser": true } });
            }
        }
        self.send(message);
    }
}

impl Client {
    /// Sends what a stream says as output of a category, on a thread.
    pub fn print(&self, category: &'static str, mut stream: impl Read + Send + 'static) -> JoinHandle<()> {
        let client = self.clone();
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            let mut text = Vec::new();
            while let Ok(read @ 1..) = stream.read(&mut bytes) {
                text.extend_from_slice(&bytes[..read]);
                // A character that is not whole waits for its rest.
                let whole = match std::str::from_utf8(&text) {
                    Err(error) if error.error_len().is_none() => error.valid_up_to(),
                    _ => text.len(),
                };
                let rest = text.split_off(whole);
                let output = String::from_utf8_lossy(&text).into_owned();
                client.event("output", json!({ "category": category, "output": output }));
                text = rest;
            }
        })
    }
}

/// The client's requests, in order.
#[derive(Clone)]
pub struct Incoming(Arc<Mutex<(Receiver<Value>, VecDeque<Value>)>>);

impl Incoming {
    /// What this channel brings.
    pub fn new(requests: Receiver<Value>) -> Incoming {
        Incoming(Arc::new(Mutex::new((requests, VecDeque::new()))))
    }

    fn with<T>(&self, with: impl FnOnce(&Receiver<Value>, &mut VecDeque<Value>) -> T) -> T {
        let mut guard = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (requests, waiting) = &mut *guard;
        with(requests, waiting)
    }

    /// The next one; a disconnect at the end of the connection.
    fn next(&self) -> Value {
        let next = self.with(|requests, waiting| waiting.pop_front().or_else(|| requests.recv().ok()));
        next.unwrap_or_else(|| json!({ "command": "disconnect", "seq": 0 }))
    }

    /// The next one, if it comes in time.
    fn next_within(&self, time: Duration) -> Option<Value> {
        self.with(|requests, waiting| waiting.pop_front().or_else(|| requests.recv_timeout(time).ok()))
    }

    /// Has `each` look at those that have come since; those that it returns wait.
    fn look(&self, mut each: impl FnMut(Value) -> Option<Value>) {
        self.with(|requests, waiting| {
            while let Ok(request) = requests.try_recv() {
                waiting.extend(each(request));
            }
        });
    }

    /// Whether the client wants the session to end.
    pub fn ends(&self) -> bool {
        self.look(Some);
        self.with(|_, waiting| waiting.iter().any(is_end))
    }

    /// Answers what comes after the end of the program, until the client ends the session, or for a while.
    pub fn answer_last(&self, client: &Client) {
        while let Some(request) = self.next_within(LAST_WAIT) {
            let ends = is_end(&request);
            let ended = || Err("the program has ended".to_owned());
            client.answer(&request, if ends { Ok(json!({})) } else { ended() });
            if request["command"] == "disconnect" {
                return;
            }
        }
    }
}

fn is_end(request: &Value) -> bool {
    matches!(request["command"].as_str(), Some("disconnect" | "terminate"))
}

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

/// Sends the messages of a stream on; a disconnect at its end.
pub fn forward(mut input: Box<dyn BufRead + Send>, to: &Sender<Value>) {
    loop {
        let message = read(&mut *input).ok().flatten();
        let ends = message.is_none();
        let message = message.unwrap_or_else(|| json!({ "command": "disconnect", "seq": 0 }));
        if to.send(message).is_err() || ends {
            return;
        }
    }
}

/// The scopes of a frame, as the client shows them and as commands name them.
const SCOPES: [(&str, &str); 5] = [
    ("Locals", "locals"),
    ("Shared", "shared"),
    ("Buffers", "buffers"),
    ("Images", "images"),
    ("Invocation", "builtins"),
];

/// What a variables reference stands for.
#[derive(Clone, Debug)]
enum Listed {
    Scope(&'static str, Who, usize),
    Item(Who, usize, Item, String),
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
    with(&mut launch.lock().unwrap_or_else(PoisonError::into_inner))
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
            Reason::Breakpoint(id) => ("breakpoint", vec![id]),
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
        let mut answers = Vec::new();
        for wanted in arguments["breakpoints"].as_array().into_iter().flatten() {
            let refused = ["hitCondition", "logMessage"].into_iter().find(|name| wanted[*name].is_string());
            if let Some(name) = refused {
                let message = format!("not implemented in Pellucid: {name}");
                answers.push(json!({ "verified": false, "message": message }));
                continue;
            }
            let line = wanted["line"].as_u64().unwrap_or(0) as u32;
            let Some((line, pcs)) = commands::lines(stop, Some(&file), line) else {
                answers.push(json!({ "verified": false, "message": "nothing runs there" }));
                continue;
            };
            let condition = wanted["condition"].as_str().filter(|text| !text.is_empty()).map(str::to_owned);
            let place = Place::Line { shown: format!("line {line}"), pcs };
            let id = commands::add(stop, place, None, condition);
            ids.push(id);
            answers.push(json!({ "id": id, "verified": true, "line": line }));
        }
        self.lines.insert(file, ids);
        Ok(json!({ "breakpoints": answers }))
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
        let mut answers = Vec::new();
        for wanted in arguments["breakpoints"].as_array().into_iter().flatten() {
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
            let Some(range) = range else {
                answers.push(json!({ "verified": false, "message": format!("\"{id}\" is no data") }));
                continue;
            };
            let accesses = match wanted["accessType"].as_str() {
                Some("read") => Accesses::Read,
                Some("readWrite") => Accesses::Any,
                _ => Accesses::Write,
            };
            let condition = wanted["condition"].as_str().filter(|text| !text.is_empty()).map(str::to_owned);
            let shown = parts.get(3).map_or("", |path| *path).to_owned();
            let id = commands::add(stop, Place::Data { shown, range, accesses }, None, condition);
            self.data.push(id);
            answers.push(json!({ "id": id, "verified": true }));
        }
        Ok(json!({ "breakpoints": answers }))
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

    fn list(&mut self, listed: Listed) -> usize {
        self.listed.push(listed);
        self.listed.len()
    }

    fn item(&self, reference: &Value) -> Option<Listed> {
        let k = (reference.as_u64()? as usize).checked_sub(1)?;
        self.listed.get(k).cloned()
    }

    fn scopes(&mut self, arguments: &Value) -> Result<Value, String> {
        let frame = arguments["frameId"].as_u64().unwrap_or(0) as usize;
        let (who, frame) =
            *frame.checked_sub(1).and_then(|k| self.frames.get(k)).ok_or("there is no such frame")?;
        let scopes: Vec<Value> = SCOPES
            .into_iter()
            .map(|(name, scope)| {
                let reference = self.list(Listed::Scope(scope, who, frame));
                json!({ "name": name, "variablesReference": reference, "expensive": false })
            })
            .collect();
        Ok(json!({ "scopes": scopes }))
    }

    fn variables(&mut self, stop: &mut Stop<'_, '_, '_, '_, '_>, arguments: &Value) -> Result<Value, String> {
        let listed = self.item(&arguments["variablesReference"]).ok_or("there are no such variables")?;
        let first = arguments["start"].as_u64().unwrap_or(0) as usize;
        let most = arguments["count"].as_u64().filter(|n| *n > 0).map_or(MOST_ELEMENTS, |n| n as usize);
        let (who, frame) = match listed {
            Listed::Scope(_, who, frame) | Listed::Item(who, frame, ..) => (who, frame),
        };
        let (own_focus, own_frame) = (stop.session.focus, stop.session.frame);
        (stop.session.focus, stop.session.frame) = (who, frame);
        let eyes = stop.eyes();
        let (items, path) = match &listed {
            Listed::Scope("locals", ..) => (eyes.locals(), None),
            Listed::Scope("shared", ..) => (eyes.shared(), None),
            Listed::Scope("buffers", ..) => (eyes.buffers(), None),
            Listed::Scope("images", ..) => (eyes.images(), None),
            Listed::Scope(..) => (eyes.built_ins(), None),
            Listed::Item(_, _, item, path) => (eyes.parts(item, first, most), Some(path.clone())),
        };
        let mut variables = Vec::new();
        for item in items {
            let path = path.as_ref().map_or_else(|| item.name.clone(), |path| join(path, &item.name));
            variables.push(self.variable(stop, item, path));
        }
        (stop.session.focus, stop.session.frame) = (own_focus, own_frame);
        Ok(json!({ "variables": variables }))
    }

    fn variable(&mut self, stop: &mut Stop<'_, '_, '_, '_, '_>, item: Item, path: String) -> Value {
        let (who, frame) = (stop.session.focus, stop.session.frame);
        let mut eyes = stop.eyes();
        let value = eyes.show(&item);
        let (first, count) = (eyes.parts(&item, 0, 1), eyes.count(&item));
        let kind = eyes.target.types.describe(item.ty);
        let array = first.first().is_some_and(|part| part.name.starts_with('['));
        let scalar = eyes.element(&item).is_some();
        let settable = scalar && matches!(item.home, Home::Private(_));
        let name = item.name.clone();
        let reference =
            if first.is_empty() { 0 } else { self.list(Listed::Item(who, frame, item, path.clone())) };
        let mut variable = json!({
            "name": name,
            "value": value,
            "type": kind,
            "evaluateName": path,
            "variablesReference": reference,
        });
        if array {
            variable["indexedVariables"] = json!(count);
        }
        if !settable {
            variable["presentationHint"] = json!({ "attributes": ["readOnly"] });
        }
        variable
    }

    fn set_variable(
        &mut self,
        stop: &mut Stop<'_, '_, '_, '_, '_>,
        arguments: &Value,
    ) -> Result<Value, String> {
        let listed = self.item(&arguments["variablesReference"]).ok_or("there are no such variables")?;
        let name = arguments["name"].as_str().unwrap_or_default();
        let value = arguments["value"].as_str().unwrap_or_default();
        let (who, frame, path) = match listed {
            Listed::Scope(_, who, frame) => (who, frame, name.to_owned()),
            Listed::Item(who, frame, _, path) => (who, frame, join(&path, name)),
        };
        (stop.session.focus, stop.session.frame) = (who, frame);
        commands::assign(stop, &path, value)?;
        let mut eyes = stop.eyes();
        let item = eyes.find(&path)?;
        Ok(json!({ "value": eyes.show(&item) }))
    }

    fn evaluate(&mut self, stop: &mut Stop<'_, '_, '_, '_, '_>, arguments: &Value) -> Result<Answer, String> {
        let text = arguments["expression"].as_str().unwrap_or_default();
        self.look_at_frame(stop, arguments);
        let repl =
            !matches!(arguments["context"].as_str(), Some("hover" | "watch" | "variables" | "clipboard"));
        let mut eyes = stop.eyes();
        let value = match eyes.find(text) {
            Ok(item) => Ok(Answer::Text(eyes.show(&item))),
            Err(error) => Err(error),
        };
        if value.is_ok() || !repl {
            return value;
        }
        let one = text.split_whitespace().count() < 2;
        match commands::command(stop, text) {
            Err(error) if one && error.contains("is no command") => value,
            answer => answer,
        }
    }

    fn look_at_frame(&self, stop: &mut Stop<'_, '_, '_, '_, '_>, arguments: &Value) {
        let frame = arguments["frameId"].as_u64().unwrap_or(0) as usize;
        if let Some((who, frame)) = frame.checked_sub(1).and_then(|k| self.frames.get(k)) {
            (stop.session.focus, stop.session.frame) = (*who, *frame);
        }
    }

    /// What an evaluated variable with parts is listed as; 0 for all else.
    fn reference_of(&mut self, stop: &mut Stop<'_, '_, '_, '_, '_>, arguments: &Value) -> usize {
        let text = arguments["expression"].as_str().unwrap_or_default();
        let (who, frame) = (stop.session.focus, stop.session.frame);
        let mut eyes = stop.eyes();
        match eyes.find(text) {
            Ok(item) if !eyes.parts(&item, 0, 1).is_empty() => {
                self.list(Listed::Item(who, frame, item, text.to_owned()))
            }
            _ => 0,
        }
    }
}

fn join(path: &str, name: &str) -> String {
    let dot = if name.starts_with('[') { "" } else { "." };
    format!("{path}{dot}{name}")
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
