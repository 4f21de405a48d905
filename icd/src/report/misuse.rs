//! What is wrong with the use of the API itself: calls that break a rule of valid usage, and submitted work
//! that never ran.

use super::json;
use serde_json::{Value, json};

/// The family of these findings.
pub const FAMILY: &str = "api";
/// How many different messages are told apart.
pub const MOST: u64 = 256;

/// A finding about the use of the API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Misuse<'a> {
    /// `api-misuse` or `never-ran`.
    pub id: &'static str,
    /// What kind of mistake it is.
    pub title: &'static str,
    /// What happened.
    pub text: &'a str,
}

impl<'a> Misuse<'a> {
    /// A call that breaks a rule of valid usage.
    pub fn call(text: &'a str) -> Misuse<'a> {
        Misuse { id: "api-misuse", title: "a call breaks a rule of valid usage", text }
    }

    /// Submitted work that never ran.
    pub fn never_ran(text: &'a str) -> Misuse<'a> {
        Misuse { id: "never-ran", title: "submitted work never ran", text }
    }

    /// The diagnostic, ending in a line feed.
    pub fn render(&self) -> String {
        format!("error[{}]: {}\n |\n = note: {}\n", self.id, self.title, self.text)
    }

    /// One line of the report file.
    pub fn json(&self, number: u64, seed: u64, replay: &str) -> Value {
        json!({
            "type": "finding",
            "schema": json::SCHEMA,
            "number": number,
            "id": self.id,
            "family": FAMILY,
            "title": self.title,
            "notes": [self.text],
            "help": [],
            "seed": seed,
            "replay": replay,
            "text": self.render(),
        })
    }
}
