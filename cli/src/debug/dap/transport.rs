//! Messages of the Debug Adapter Protocol: what is read from the client, what is sent to it, and requests
//! that wait.

use parking_lot::Mutex;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::io::{BufRead, Read, Write};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender};
use std::thread::JoinHandle;
use std::time::Duration;

/// The largest message that is read, in bytes.
const MOST_BYTES: usize = 1 << 26;
/// How long the client may take to close a connection that is over.
pub(super) const LAST_WAIT: Duration = Duration::from_secs(2);

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
        let mut guard = self.0.lock();
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
        let mut guard = self.0.lock();
        let (requests, waiting) = &mut *guard;
        with(requests, waiting)
    }

    /// The next one; a disconnect at the end of the connection.
    pub(super) fn next(&self) -> Value {
        let next = self.with(|requests, waiting| waiting.pop_front().or_else(|| requests.recv().ok()));
        next.unwrap_or_else(|| json!({ "command": "disconnect", "seq": 0 }))
    }

    /// The next one, if it comes in time.
    pub(super) fn next_within(&self, time: Duration) -> Option<Value> {
        self.with(|requests, waiting| waiting.pop_front().or_else(|| requests.recv_timeout(time).ok()))
    }

    /// Has `each` look at those that have come since; those that it returns wait.
    pub(super) fn look(&self, mut each: impl FnMut(Value) -> Option<Value>) {
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
