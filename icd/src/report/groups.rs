//! Findings that one change of the program mends: the first is told whole, the others refer to it.

use super::note::{FixKind, Note};
use pellucid_memory::finding::FindingId;
use std::collections::BTreeMap;

/// Where a command stands among those of its device: a queue's index, the submission on it and the command
/// in that, both from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CommandPlace {
    /// The VkDevice that it is of: [`Device::ordinal`](crate::device::Device::ordinal).
    pub device: u64,
    /// The queue's index.
    pub queue: u32,
    /// The number of the submission among those to that queue.
    pub submission: u64,
    /// The number of the command among those of that submission.
    pub index: u32,
}

/// Where a fix is made. Two findings whose help has the same words ask for one change only in one place:
/// "insert a barrier between them" is another barrier for other commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FixPlace {
    /// In the shader of the dispatch with this number, where findings of one id may share a fix.
    Shader(u32, FindingId),
    /// Between two commands. Whether the later one may not read yet, or not write, one barrier mends it.
    Between(CommandPlace, CommandPlace),
    /// In the recording of one command, a barrier that lacks something.
    Command(CommandPlace),
}

/// The fixes that were told so far.
#[derive(Debug, Default)]
pub struct Groups {
    first: BTreeMap<(FixPlace, Vec<Note<FixKind>>), u64>,
}

impl Groups {
    /// The number of the first finding that asks for this fix in this place: `number`, if there was none
    /// before. `None` where there is no fix.
    pub fn join(&mut self, place: FixPlace, fix: Vec<Note<FixKind>>, number: u64) -> Option<u64> {
        (!fix.is_empty()).then(|| *self.first.entry((place, fix)).or_insert(number))
    }
}
