//! What a queue family lets be recorded for it.

use super::{Command, Dependency};
use crate::caps::queues;
use crate::error::{Error, Outcome};
use ash::vk;
use vk::PipelineStageFlags2 as Stages;
use vk::QueueFlags as Flags;

/// The queue family of a command buffer.
#[derive(Clone, Copy, Debug)]
pub struct Family {
    /// Among the physical device's families.
    pub index: u32,
    /// What its queues can do.
    pub flags: Flags,
}

impl Family {
    /// A family of a device that shows GRAPHICS or does not.
    pub fn new(index: u32, graphics: bool) -> Family {
        Family { index, flags: queues::flags(index, graphics) }
    }

    /// Checks that a command may be recorded for it.
    ///
    /// # Errors
    /// Its queues do not support the command.
    pub fn supports(&self, command: &Command) -> Outcome<()> {
        let needed = command.needs();
        if self.flags.intersects(needed) {
            return Ok(());
        }
        Err(Error::usage(format!(
            "queue family {} supports {}, and the command needs {}",
            self.index,
            queues::flags_text(self.flags),
            queues::flags_text(needed)
        )))
    }

    /// Tells of stages that its queues do not have.
    pub fn misused_stages(&self, stages: Stages) -> Option<String> {
        let missing = queues::unsupported_stages(self.flags, stages);
        (!missing.is_empty()).then(|| {
            format!(
                "queue family {} supports {}, and its queues have no stage {missing:?}",
                self.index,
                queues::flags_text(self.flags)
            )
        })
    }
}

impl Dependency {
    /// All stages that it names.
    pub fn stages_named(&self) -> Stages {
        let both = self.stages.map_or(Stages::empty(), |(from, to)| from | to);
        self.barriers.iter().fold(both, |all, b| all | b.from.stages | b.to.stages)
    }
}

impl Command {
    /// What a queue needs for it: one of these (the table *Command Properties* of each command). Blits,
    /// resolves, attachments and clears of depth and stencil, which need GRAPHICS by that table, run on
    /// compute queues, too: there may be no others. The conformance suite begins and ends conditional
    /// rendering on transfer queues, where it discards nothing.
    fn needs(&self) -> Flags {
        let all = Flags::GRAPHICS | Flags::COMPUTE | Flags::TRANSFER;
        match self {
            Command::CopyBuffer(..)
            | Command::FillBuffer(..)
            | Command::UpdateBuffer(..)
            | Command::CopyImage(..)
            | Command::CopyBufferToImage(..)
            | Command::CopyImageToBuffer(..)
            | Command::CopyIndirect(_)
            | Command::Barrier(_)
            | Command::WriteTimestamp(..)
            | Command::Execute(_)
            | Command::BeginConditional(_)
            | Command::EndConditional
            | Command::BeginLabel(_)
            | Command::EndLabel => all,
            Command::Dispatch(..) | Command::DispatchIndirect(..) => Flags::COMPUTE,
            _ => Flags::GRAPHICS | Flags::COMPUTE,
        }
    }
}
