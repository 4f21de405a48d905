//! Buffers and images that change queue families without a transfer of their ownership, as people read it.

use super::api::ApiFinding;
use super::context::Object;
use super::hazard::Side;
use super::note::{FixKind, Note, NoteKind};
use super::suppress::Subject;
use super::text::Shown;
use pellucid_memory::commands::Operand;
use pellucid_memory::finding::FindingId;
use serde_json::{Value, json};

/// What is wrong with the use of a resource.
pub enum OwnershipMistake {
    /// It reads what this family owns.
    NotReleased(String),
    /// It reads what was released to this family, outside of the instance or not, and nobody acquired.
    NotAcquired(String, bool),
    /// It acquires what nobody released; what a release that is like it did otherwise.
    NoRelease(Option<String>),
    /// It acquires what was written since it was released.
    Modified,
    /// Its family is not among those that share the resource.
    NotShared,
}

/// Such a finding and what names its parts.
pub struct OwnershipReport<'a> {
    /// Whose owner it is about.
    pub resource: Object,
    /// It is a buffer, no image.
    pub is_buffer: bool,
    /// Why the use is not right by the owner.
    pub wrong: OwnershipMistake,
    /// The queue family that uses it.
    pub family: u32,
    /// Who uses it.
    pub by: Side<'a>,
    /// The access, where a shader made it.
    pub operand: Option<Operand>,
    /// The command before: what wrote it or released it.
    pub before: Option<Side<'a>>,
}

impl OwnershipReport<'_> {
    fn before(&self) -> String {
        self.before.as_ref().map_or_else(|| "a command".to_owned(), Side::at)
    }

    fn what(&self) -> &'static str {
        match self.wrong {
            OwnershipMistake::NotReleased(_) => "not-released",
            OwnershipMistake::NotAcquired(..) => "not-acquired",
            OwnershipMistake::NoRelease(_) => "no-release",
            OwnershipMistake::Modified => "modified",
            OwnershipMistake::NotShared => "not-shared",
        }
    }
}

impl ApiFinding for OwnershipReport<'_> {
    fn id(&self) -> FindingId {
        match self.wrong {
            // Undefined by the letter, as for images; but no device is known that minds.
            OwnershipMistake::NotReleased(_) if self.is_buffer => FindingId::QueueFamilyNotReleased,
            _ => FindingId::QueueFamilyOwnership,
        }
    }

    /// The resource, what is wrong with it, and who uses it.
    fn key(&self) -> String {
        let shader = self.by.dispatch.as_ref().map_or("", |d| d.shader.name.as_str());
        format!(
            "{}|{}|{}|{}|{shader}|{}",
            self.resource.name,
            self.what(),
            self.family,
            self.by.command,
            self.by.location(self.operand).unwrap_or_default()
        )
    }

    fn subject(&self) -> Subject {
        self.by.subject(&self.resource)
    }

    fn objects(&self) -> Vec<Object> {
        vec![self.resource.clone()]
    }

    fn shown(&self) -> Vec<Shown> {
        self.by.shown_alone(self.operand)
    }

    fn notes(&self) -> Vec<Note> {
        let (by, called, family) = (self.by.at(), self.resource.called(), self.family);
        let reads = format!("{by} reads {called} on queue family {family}");
        let (uses, owner) = match &self.wrong {
            OwnershipMistake::NotReleased(owner) => (
                reads,
                Some(format!(
                    "{owner} owns it since {}: to others what it holds is undefined",
                    self.before()
                )),
            ),
            OwnershipMistake::NotAcquired(to, _) => (
                reads,
                Some(format!(
                    "{} released it to {to}, and no acquire operation followed: what it holds is undefined",
                    self.before()
                )),
            ),
            OwnershipMistake::NoRelease(near) => (
                format!("{by} acquires {called}, and no release operation before it matches"),
                near.as_ref().map(|near| format!("{} releases it {near}", self.before())),
            ),
            OwnershipMistake::Modified => (
                format!("{by} acquires {called}"),
                Some(format!("{} has written it since it was released", self.before())),
            ),
            OwnershipMistake::NotShared => (
                format!(
                    "{by} uses {called} on queue family {family}, which is not among the pQueueFamilyIndices that it was created with"
                ),
                None,
            ),
        };
        let owner = owner.map(|owner| Note::new(NoteKind::Owner, owner));
        [Note::new(NoteKind::Access, uses)].into_iter().chain(owner).collect()
    }

    fn help(&self) -> Note<FixKind> {
        let family = self.family;
        let text = match &self.wrong {
            OwnershipMistake::NotReleased(owner) => format!(
                "release it by a barrier on a queue of {owner} and acquire it by the same barrier on one of queue family {family} (srcQueueFamilyIndex and dstQueueFamilyIndex), with a semaphore between the two, or create it with VK_SHARING_MODE_CONCURRENT"
            ),
            OwnershipMistake::NotAcquired(to, true) => format!(
                "before it, acquire it from {to} by a barrier with the same range and layouts on a queue of queue family {family}, once they have released it there; or do not release it where nobody else uses it"
            ),
            OwnershipMistake::NotAcquired(to, false) => {
                format!("before it, put a barrier with the same queue families, range and layouts on a queue of {to}")
            }
            OwnershipMistake::NoRelease(_) => {
                "before it, release it by a barrier with the same queue families, range and layouts on a queue of the srcQueueFamilyIndex"
                    .to_owned()
            }
            OwnershipMistake::Modified => "write it before it is released, or after it is acquired".to_owned(),
            OwnershipMistake::NotShared => format!("add {family} to its pQueueFamilyIndices"),
        };
        Note::new(FixKind::Ownership, text)
    }

    fn members(&self) -> Value {
        let mut user = self.by.json();
        user["location"] = json!(self.by.location(self.operand));
        json!({
            "resource": {
                "what": self.resource.what,
                "name": self.resource.name,
                "handle": format!("{:#x}", self.resource.handle),
            },
            "wrong": self.what(),
            "queue_family": self.family,
            "commands": [user],
            "since": self.before.as_ref().map(Side::json),
        })
    }
}
