//! A message of the Khronos validation layer, as one of this report's findings.
//!
//! The layer's text names handles, which differ from run to run; here objects go by their type and debug
//! name.

use super::json;
use super::note::{Note, NoteKind, Notes};
use super::text::{diagnostic, level};
use pellucid_memory::finding::Severity;
use regex::Regex;
use serde_json::Value;
use std::sync::LazyLock;

/// The family of these findings; their ids are the layer's, such as `VUID-vkCmdDispatch-None-02700`.
pub const FAMILY: &str = "validation";

/// A message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValidationReport {
    /// The layer's id.
    pub id: String,
    /// What is wrong.
    pub title: String,
    /// The rule of the specification, and the objects that have names.
    pub notes: Vec<Note>,
    /// Debug names of the objects.
    pub names: Vec<String>,
    /// A warning, not an error.
    pub warning: bool,
}

fn pattern(pattern: &str) -> Option<Regex> {
    Regex::new(pattern).ok()
}

/// Everything before what the message says: `Validation Error: [ VUID ] Object 0: ...; | MessageID = 0x1 | `.
static HEAD: LazyLock<Option<Regex>> =
    LazyLock::new(|| pattern(r"^Validation \w+: \[ [^\]]* \](?:.*?\| MessageID = 0x[0-9a-fA-F]+ \|)? *"));
/// `VkBuffer 0xcb3ee80000000007[name]`.
static HANDLE: LazyLock<Option<Regex>> =
    LazyLock::new(|| pattern(r"\b(Vk\w+) 0x[0-9a-fA-F]+(?:\[([^\]]*)\])?"));
/// An address or a handle without a type.
static ADDRESS: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(r"0x[0-9a-fA-F]{9,}(?:\[\])?"));

fn replaced(regex: &Option<Regex>, text: &str, with: impl regex::Replacer) -> String {
    regex.as_ref().map_or_else(|| text.to_owned(), |regex| regex.replace_all(text, with).into_owned())
}

/// `SHADER_MODULE`, as ash prints object types, as `VkShaderModule`.
fn type_name(constant: &str) -> String {
    let word =
        |word: &str| word.get(..1).unwrap_or_default().to_owned() + &word[1.min(word.len())..].to_lowercase();
    format!("Vk{}", constant.split('_').map(word).collect::<String>())
}

impl ValidationReport {
    /// A message as the layer has it; `objects` are types and names.
    pub fn new(id: &str, message: &str, objects: Vec<(String, String)>, warning: bool) -> ValidationReport {
        let message = replaced(&HEAD, message, "");
        let (said, rule) = match message.split_once("The Vulkan spec states: ") {
            Some((said, rule)) => (said.to_owned(), Some(rule.to_owned())),
            None => (message, None),
        };
        let said = replaced(&HANDLE, &said, |found: &regex::Captures<'_>| {
            match found.get(2).map_or("", |name| name.as_str()) {
                "" => found[1].to_owned(),
                name => format!("{} \"{name}\"", &found[1]),
            }
        });
        let said = replaced(&ADDRESS, &said, "0x...");
        let named = objects.iter().filter(|(_, name)| !name.is_empty());
        let list: Vec<String> = named.map(|(kind, name)| format!("{} \"{name}\"", type_name(kind))).collect();
        let rule =
            rule.map(|rule| Note::new(NoteKind::Rule, format!("the Vulkan specification: {}", rule.trim())));
        let about =
            (!list.is_empty()).then(|| Note::new(NoteKind::Objects, format!("about {}", list.join(", "))));
        ValidationReport {
            id: if id.is_empty() { FAMILY.to_owned() } else { id.to_owned() },
            title: said.split_whitespace().collect::<Vec<_>>().join(" "),
            notes: rule.into_iter().chain(about).collect(),
            names: objects.into_iter().map(|(_, name)| name).filter(|name| !name.is_empty()).collect(),
            warning,
        }
    }

    /// The diagnostic, ending in a line feed.
    pub fn render(&self, replay: &str) -> String {
        let level = level(if self.warning { Severity::Warning } else { Severity::Error });
        let notes = Notes { notes: self.notes.clone(), help: Vec::new() };
        diagnostic(level, (&self.id, &self.title), Vec::new(), notes, Some(replay))
    }

    /// What makes messages equal.
    pub fn key(&self) -> String {
        format!("{}|{}", self.id, self.title)
    }

    /// One line of the report file.
    pub fn json(&self, number: u64, seed: u64, replay: &str, rendered: &str) -> Value {
        let told = json::FindingLine {
            id: &self.id,
            family: FAMILY,
            title: &self.title,
            severity: if self.warning { Severity::Warning } else { Severity::Error },
            notes: Notes { notes: self.notes.clone(), help: Vec::new() },
        };
        told.line(number, seed, replay, rendered)
    }
}

#[cfg(test)]
mod tests;
