//! The end of an object that the device still uses, as people read it.

use super::api::ApiFinding;
use super::context::Object;
use super::note::{FixKind, Note, NoteKind};
use super::suppress::Subject;
use pellucid_memory::finding::FindingId;
use serde_json::{Value, json};

/// An object that was destroyed, freed, reset or changed while a submission uses it that the host has not
/// seen complete.
#[derive(Clone, Debug)]
pub struct FreedReport {
    /// The entry point that ended it.
    pub call: &'static str,
    /// What the submission still uses.
    pub object: Object,
    /// Its number among those of its type, if its handle is an address.
    pub number: Option<u64>,
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
    fn object(&self) -> String {
        match self.number.filter(|_| self.object.name.is_empty()) {
            Some(number) => format!("{} {number}", self.object.what),
            None => self.object.called(),
        }
    }

    /// What the call does to the object.
    fn does(&self) -> &'static str {
        match self.call {
            "vkBeginCommandBuffer" | "vkResetCommandBuffer" | "vkResetCommandPool" | "vkResetFences" => {
                "resets"
            }
            "vkQueueSubmit" | "vkQueueSubmit2" => "submits again",
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
}

impl ApiFinding for FreedReport {
    fn id(&self) -> FindingId {
        FindingId::FreedInUse
    }

    /// Who ended what kind of object of which name, and what used it.
    fn key(&self) -> String {
        format!("{}|{}|{}|{}", self.call, self.object.what, self.object.name, self.command)
    }

    fn subject(&self) -> Subject {
        Subject { shaders: Vec::new(), names: vec![self.call.into(), self.object.name.clone()] }
    }

    fn objects(&self) -> Vec<Object> {
        vec![self.object.clone()]
    }

    fn notes(&self) -> Vec<Note> {
        let uses = format!(
            "{} {} {}, which {} ({}) uses",
            self.call,
            self.does(),
            self.object(),
            self.command,
            self.position()
        );
        let missing = format!(
            "missing: nothing has told the host that submission {} on {} has completed",
            self.submission, self.queue
        );
        vec![Note::new(NoteKind::Access, uses), Note::new(NoteKind::MissingCompletion, missing)]
    }

    fn help(&self) -> Note<FixKind> {
        let text = format!(
            "before {}, wait for the submission's fence, for a timeline semaphore that it signals, or for the queue to be idle",
            self.call
        );
        Note::new(FixKind::Wait, text)
    }

    fn members(&self) -> Value {
        let handle = self.number.is_none().then(|| format!("{:#x}", self.object.handle));
        json!({
            "call": self.call,
            "object": {
                "what": self.object.what,
                "name": self.object.name,
                "handle": handle,
                "number": self.number,
            },
            "commands": [{ "command": self.command, "position": self.position() }],
        })
    }
}
