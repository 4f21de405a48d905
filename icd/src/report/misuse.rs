//! What is wrong with the use of the API itself: calls that break a rule of valid usage, and submitted work
//! that never ran.

use super::api::ApiFinding;
use super::context::Object;
use super::note::{FixKind, Note, NoteKind};
use super::suppress::Subject;
use pellucid_memory::finding::FindingId;
use serde_json::{Value, json};

/// The family of these findings.
pub const FAMILY: &str = "api";
/// How many different messages are told apart.
pub const MOST: u64 = 256;

/// A finding about the use of the API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Misuse<'a> {
    id: FindingId,
    text: &'a str,
}

impl<'a> Misuse<'a> {
    /// A call that breaks a rule of valid usage, which was said already.
    pub fn call(text: &'a str) -> Misuse<'a> {
        Misuse { id: FindingId::ApiMisuse, text }
    }

    /// Submitted work that never ran.
    pub fn never_ran(text: &'a str) -> Misuse<'a> {
        Misuse { id: FindingId::NeverRan, text }
    }
}

impl ApiFinding for Misuse<'_> {
    fn id(&self) -> FindingId {
        self.id
    }

    fn key(&self) -> String {
        self.text.to_owned()
    }

    fn subject(&self) -> Subject {
        Subject { shaders: Vec::new(), names: vec![self.text.to_owned()] }
    }

    fn objects(&self) -> Vec<Object> {
        Vec::new()
    }

    fn is_said(&self) -> bool {
        self.id == FindingId::ApiMisuse
    }

    fn notes(&self) -> Vec<Note> {
        vec![Note::new(NoteKind::Call, self.text)]
    }

    fn help(&self) -> Note<FixKind> {
        match self.id {
            FindingId::NeverRan => Note::new(
                FixKind::Signal,
                "signal what the work waits for, before the device or the program ends",
            ),
            _ => Note::new(
                FixKind::ValidUsage,
                "see the valid usage of the call; `pellucid run --validation` names its rule, if there is one",
            ),
        }
    }

    fn members(&self) -> Value {
        json!({})
    }
}
