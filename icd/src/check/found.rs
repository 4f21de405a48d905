//! What was found, with the names of those who had to do with it.

use super::host::HostCall;
use super::host_calls::{HandedIn, HostStep};
use super::layouts::Mismatch;
use super::named::{Changes, Named};
use super::ownership::{Resource, WrongOwner};
use crate::report::CommandPlace;
use pellucid_memory::commands::{Hazard, HostHazard, Operand, SemaphoreUse};
use std::sync::Arc;

/// A command, as a hazard names it.
#[derive(Clone)]
pub struct CommandName {
    /// The entry point that recorded it.
    pub command: &'static str,
    /// Its queue: debug name, or "queue 0".
    pub queue: String,
    /// The queue's index.
    pub at: u32,
    /// Submission on the queue, from 1.
    pub submission: u64,
    /// Command in the submission, from 1; state commands are not counted.
    pub index: u32,
    /// Command buffer in the submission, from 1; 0 where it is in none.
    pub buffer: u32,
    /// Open debug labels, outermost first.
    pub labels: Vec<String>,
    /// What names a dispatch.
    pub dispatch: Option<Arc<Named>>,
    /// What a barrier does to the memory that it is for.
    pub transition: Option<Changes>,
}

impl CommandName {
    /// Which command it is, of this device.
    pub fn place(&self, device: u64) -> CommandPlace {
        CommandPlace { device, queue: self.at, submission: self.submission, index: self.index }
    }

    /// Where it stands, in words.
    pub fn position(&self) -> String {
        format!("command {} of submission {} on {}", self.index, self.submission, self.queue)
    }

    /// What a sentence calls it.
    pub fn told(&self) -> String {
        format!("{} ({})", self.command, self.position())
    }
}

/// A hazard and what names its commands.
pub struct Found {
    pub hazard: Hazard,
    /// The earlier command.
    pub first: Option<Arc<CommandName>>,
    /// The later command.
    pub second: Option<Arc<CommandName>>,
    /// The barrier that the fix extends.
    pub barrier: Option<Arc<CommandName>>,
    /// The commands from the first to the second, by their tags.
    pub passed: Vec<(u64, Arc<CommandName>)>,
    /// Commands that are left out of them, behind how many.
    pub left_out: (usize, usize),
    /// What the submissions that these are of wait for and signal.
    pub semaphores: Vec<Submitted>,
    /// The calls of the host that handed these in, and those between.
    pub host: Vec<HostStep>,
    /// Calls that are left out of them, behind how many.
    pub host_left_out: (usize, usize),
}

/// A submission, with its semaphores.
#[derive(Clone)]
pub struct Submitted {
    /// Index of the queue.
    pub at: u32,
    /// Submission on the queue, from 1.
    pub submission: u64,
    pub waits: Vec<SemaphoreUse>,
    pub signals: Vec<SemaphoreUse>,
    /// The call of the host that handed it in.
    pub by: Option<HandedIn>,
}

/// An access of the host that is not ordered with one of the device, and what names them.
pub struct HostFound {
    pub hazard: HostHazard,
    /// The device's command.
    pub command: Option<Arc<CommandName>>,
    /// The barrier that the fix extends.
    pub barrier: Option<Arc<CommandName>>,
    /// The host's call before the access.
    pub since: HostCall,
}

/// Who did something, as a finding names it: a command, or the host after a call.
pub enum WhoName {
    /// A command; `None`: too long ago to be named.
    Command(Option<Arc<CommandName>>),
    Host(&'static str),
}

/// A use of an image subresource that is not right, and what names those who had to do with it.
pub struct LayoutFound {
    /// What is wrong.
    pub mismatch: Mismatch,
    /// Who used it.
    pub by: WhoName,
    /// The access of a shader.
    pub operand: Option<Operand>,
    /// Who brought it into its layout; `None`: it is in it since it was created.
    pub since: Option<WhoName>,
}

/// A use of a buffer or image that is not right by its owner, and what names the commands.
pub struct OwnershipFound {
    /// Why the use is not right by the owner.
    pub wrong: WrongOwner,
    pub resource: Resource,
    /// The queue family that uses it.
    pub family: u32,
    /// Who uses it.
    pub by: Option<Arc<CommandName>>,
    /// The access.
    pub operand: Option<Operand>,
    /// The command before, which it is about, too.
    pub before: Option<Arc<CommandName>>,
}
