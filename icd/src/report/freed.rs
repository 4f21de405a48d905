//! The end of an object that the device still uses, as people read it.

use super::context::Object;
use super::json;
use super::text::{Notes, diagnostic};
use super::words;
use annotate_snippets::Level;
use pellucid_memory::finding::FindingId;
use serde_json::{Value, json};

/// An object that was destroyed, freed, reset or changed while a submission uses it that the host has not seen
/// complete.
#[derive(Clone, Debug)]
pub struct FreedReport {
    /// The entry point that ended it.
    pub call: &'static str,
    /// The object.
    pub object: Object,
    /// The entry point that recorded the command that uses it, or vkQueueSubmit.
    pub command: &'static str,
    /// The command's place in the submission, from 1, where it has one.
    pub index: Option<u32>,
    /// The submission, from 1 on its queue.
    pub submission: u64,
    /// The queue: `queue 0`, or with its debug name.
    pub queue: String,
}

impl FreedReport {
    /// The identity of the finding.
    pub const ID: FindingId = FindingId::FreedInUse;

    fn object(&self) -> String {
        match self.object.name.as_str() {
            "" => format!("{} {:#x}", self.object.what, self.object.handle),
            name => format!("{} \"{name}\"", self.object.what),
        }
    }

    /// What the call does to the object.
    fn does(&self) -> &'static str {
        match self.call {
            "vkBeginCommandBuffer" | "vkResetCommandBuffer" | "vkResetCommandPool" => "resets",
            "vkUpdateDescriptorSets" | "vkUpdateDescriptorSetWithTemplate" => "changes",
            _ => "ends",
        }
    }

    fn position(&self) -> String {
        let submission = format!("submission {} on {}", self.submission, self.queue);
        match self.index {
            Some(index) => format!("command {index} of {submission}"),
            None => submission,
        }
    }

    /// What happened and what is missing, in the order in which it is shown.
    pub fn notes(&self) -> Vec<String> {
        vec![
            format!(
                "{} {} {}, which {} ({}) uses",
                self.call,
                self.does(),
                self.object(),
                self.command,
                self.position()
            ),
            format!(
                "missing: nothing has told the host that submission {} on {} has completed",
                self.submission, self.queue
            ),
        ]
    }

    /// The smallest fix.
    pub fn help(&self) -> String {
        format!(
            "before {}, wait for the submission's fence, for a timeline semaphore that it signals, or for the queue to be idle",
            self.call
        )
    }

    /// The diagnostic, ending in a line feed.
    pub fn render(&self, replay: &str) -> String {
        let notes = Notes { notes: self.notes(), help: vec![self.help()] };
        diagnostic(Level::ERROR, (Self::ID.name(), words::title(Self::ID)), Vec::new(), notes, Some(replay))
    }

    /// What makes these findings equal: who ended what kind of object of which name, and what used it.
    pub fn key(&self) -> String {
        let object = &self.object;
        format!("{}|{}|{}|{}|{}", Self::ID.name(), self.call, object.what, object.name, self.command)
    }

    /// One line of the report file.
    pub fn json(&self, number: u64, seed: u64, replay: &str, rendered: &str) -> Value {
        json!({
            "type": "finding",
            "schema": json::SCHEMA,
            "number": number,
            "id": Self::ID.name(),
            "family": words::family(Self::ID),
            "title": words::title(Self::ID),
            "call": self.call,
            "object": { "what": self.object.what, "name": self.object.name, "handle": format!("{:#x}", self.object.handle) },
            "commands": [{ "command": self.command, "position": self.position() }],
            "notes": self.notes(),
            "help": [self.help()],
            "seed": seed,
            "replay": replay,
            "text": rendered,
        })
    }
}
