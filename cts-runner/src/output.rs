//! Reads the suite's output as it comes.
//!
//! The suite prints `Test case 'NAME'..` when it begins a case and `  Status (message)` when it ends it.
//! Between the two, and even within a line, whatever the driver writes to the standard output can appear; a
//! message can span lines.

use crate::status::Status;

/// What a stretch of output said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The suite begins the case of this name.
    Begin(String),
    /// The case begun last ended.
    End(Status, String),
    /// The suite says that it ran all that it wanted to run.
    Done,
}

/// The state between two stretches of output.
#[derive(Debug, Default)]
pub struct Parser {
    line: Vec<u8>,
    in_case: bool,
    tail: Vec<String>,
}

/// How many lines [`Parser::tail`] keeps.
const TAIL_LINES: usize = 12;
/// What is kept of one line: a driver may write without ever ending a line.
const LINE_LIMIT: usize = 64 * 1024;

impl Parser {
    /// Takes the next bytes and calls `event` for everything that they complete.
    pub fn feed(&mut self, bytes: &[u8], event: &mut dyn FnMut(Event)) {
        for piece in bytes.split_inclusive(|&byte| byte == b'\n') {
            let (text, ended) = match piece.split_last() {
                Some((b'\n', text)) => (text, true),
                _ => (piece, false),
            };
            let room = LINE_LIMIT.saturating_sub(self.line.len());
            self.line.extend_from_slice(&text[..text.len().min(room)]);
            if ended {
                let line = std::mem::take(&mut self.line);
                self.read_line(&String::from_utf8_lossy(&line), event);
            }
        }
    }

    /// Takes what is left of a last line that was never ended.
    pub fn finish(&mut self, event: &mut dyn FnMut(Event)) {
        if !self.line.is_empty() {
            let line = std::mem::take(&mut self.line);
            self.read_line(&String::from_utf8_lossy(&line), event);
        }
    }

    /// The last lines of output that are neither the begin nor the end of a case.
    pub fn tail(&self) -> String {
        self.tail.join("\n")
    }

    fn read_line(&mut self, line: &str, event: &mut dyn FnMut(Event)) {
        let line = line.trim_end_matches('\r');
        if let Some(name) = begin(line) {
            self.in_case = true;
            event(Event::Begin(name.to_string()));
        } else if let Some((status, message)) = self.in_case.then(|| end(line)).flatten() {
            self.in_case = false;
            event(Event::End(status, message));
        } else if line == "DONE!" {
            event(Event::Done);
        } else if !line.trim().is_empty() {
            if self.tail.len() == TAIL_LINES {
                self.tail.remove(0);
            }
            self.tail.push(line.chars().take(400).collect());
        }
    }
}

/// The name in `Test case 'NAME'..`, wherever in the line that begins: a driver's text without a line end may
/// stand before it.
fn begin(line: &str) -> Option<&str> {
    let rest = line.strip_suffix("'..")?;
    let at = rest.find("Test case '")?;
    let name = &rest[at + "Test case '".len()..];
    (!name.is_empty() && !name.contains(['\'', ' '])).then_some(name)
}

/// The status and message in `  Status (message)`. A status at the start of the line may be one that this
/// runner does not know; behind other text in the line only the known ones count.
fn end(line: &str) -> Option<(Status, String)> {
    let at_start = line.strip_prefix("  ").and_then(|rest| split_status(rest));
    if let Some((word, message)) = at_start {
        return Some(match word.parse::<Status>() {
            Ok(status) => (status, message.to_string()),
            Err(_) => (Status::Unknown, format!("{word} ({message})")),
        });
    }
    line.match_indices("  ").find_map(|(at, _)| {
        let (word, message) = split_status(&line[at + 2..])?;
        let status = Status::ALL.iter().copied().find(|status| status.name() == word)?;
        Some((status, message.to_string()))
    })
}

/// `Word (message)`, the word in the manner of the suite's statuses; a message that goes on in the next line
/// lacks its `)`.
fn split_status(text: &str) -> Option<(&str, &str)> {
    let (word, message) = text.split_once(" (")?;
    let camel =
        word.starts_with(|c: char| c.is_ascii_uppercase()) && word.chars().all(|c| c.is_ascii_alphabetic());
    camel.then(|| (word, message.strip_suffix(')').unwrap_or(message)))
}

#[cfg(test)]
mod tests;
