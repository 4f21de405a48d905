//! VkCommandBuffer as an object: its life cycle and what has been recorded.
//!
//! A submission keeps what was recorded when it was handed in. So a command buffer that is begun or reset
//! while it is pending, which is a mistake of the application, harms nothing here; that it is one is judged
//! by what the host was told, and not by how far a queue has come.

use super::family::Family;
use super::pass::Recording;
use super::{BoundSet, Command, Recorded};
use crate::boundary::Origin;
use crate::device::Device;
use crate::entry::descriptor_set::DescriptorSet;
use crate::error::{Error, Outcome};
use crate::handle::{self, dispatchable_object};
use crate::report;
use ash::vk;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;

/// States of the life cycle; *pending* is executable with work in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LifecycleState {
    /// Nothing recorded.
    Initial,
    /// Between begin and end.
    Recording,
    /// Ended without error.
    Executable,
    /// Poisoned.
    Invalid,
    /// A one-time buffer after its submission.
    Submitted,
}

pub struct CommandBuffer {
    pub device: Arc<Device>,
    /// Primary or secondary.
    pub level: vk::CommandBufferLevel,
    /// That of its pool.
    pub family: Family,
    recorder: Mutex<Recorder>,
}

dispatchable_object!(CommandBuffer, vk::CommandBuffer, |buffer| buffer.device.number);

/// What a command buffer is recording or has recorded.
pub struct Recorder {
    /// That of the command buffer.
    pub family: Family,
    state: LifecycleState,
    flags: vk::CommandBufferUsageFlags,
    commands: Vec<Command>,
    recorded: Option<Arc<Recorded>>,
    error: Option<Error>,
    /// The sets that vkCmdPushDescriptorSetKHR made, by set number.
    pub pushed: BTreeMap<u32, Arc<DescriptorSet>>,
    bound: Vec<BoundSet>,
    /// What is being rendered.
    pub rendering: Option<Recording>,
    /// Conditional rendering is active: it began in this command buffer.
    pub conditional: bool,
    /// It may be active around a secondary command buffer.
    inherits_conditional: bool,
}

impl Recorder {
    fn new(family: Family, state: LifecycleState, flags: vk::CommandBufferUsageFlags) -> Recorder {
        Recorder {
            family,
            state,
            flags,
            commands: Vec::new(),
            recorded: None,
            error: None,
            pushed: BTreeMap::new(),
            bound: Vec::new(),
            rendering: None,
            conditional: false,
            inherits_conditional: false,
        }
    }

    /// Appends a command.
    pub fn add(&mut self, command: Command) {
        self.commands.push(command);
    }

    /// Takes note of a set that vkCmdBindDescriptorSets binds.
    pub fn bind(&mut self, handle: vk::DescriptorSet, set: &Arc<DescriptorSet>) {
        self.bound.push(BoundSet { handle, set: set.clone(), updates: set.updates() });
    }
}

impl CommandBuffer {
    /// A new command buffer.
    pub fn new(device: Arc<Device>, level: vk::CommandBufferLevel, family: Family) -> CommandBuffer {
        let recorder = Recorder::new(family, LifecycleState::Initial, vk::CommandBufferUsageFlags::empty());
        CommandBuffer { device, level, family, recorder: Mutex::new(recorder) }
    }

    /// Takes what was recorded, when the command buffer ends.
    pub fn take_recorded(&self) -> Option<Arc<Recorded>> {
        self.recorder.lock().recorded.take()
    }

    /// vkBeginCommandBuffer: what was recorded, which ends. With `conditional`, it may be executed where
    /// conditional rendering is active.
    ///
    /// # Errors
    /// It is recording already.
    pub fn begin(
        &self,
        flags: vk::CommandBufferUsageFlags,
        conditional: bool,
    ) -> Outcome<Option<Arc<Recorded>>> {
        let mut recorder = self.recorder.lock();
        if recorder.state == LifecycleState::Recording {
            return Err(Error::usage("the command buffer is recording already"));
        }
        let before = recorder.recorded.take();
        *recorder = Recorder::new(self.family, LifecycleState::Recording, flags);
        recorder.inherits_conditional = conditional;
        Ok(before)
    }

    /// vkEndCommandBuffer.
    ///
    /// # Errors
    /// It is not recording, or a command failed.
    pub fn end(&self) -> Outcome<()> {
        let mut recorder = self.recorder.lock();
        if recorder.state != LifecycleState::Recording {
            return Err(Error::usage("the command buffer is not recording"));
        }
        recorder.pushed.clear();
        recorder.rendering = None;
        let conditional = std::mem::take(&mut recorder.conditional);
        if let Some(error) = recorder.error.take() {
            recorder.state = LifecycleState::Invalid;
            return Err(Error { code: error.code, message: None });
        }
        if conditional {
            recorder.state = LifecycleState::Invalid;
            return Err(Error::usage("conditional rendering is active at the end"));
        }
        let (commands, bound) = (std::mem::take(&mut recorder.commands), std::mem::take(&mut recorder.bound));
        let (flags, conditional) = (recorder.flags, recorder.inherits_conditional);
        recorder.recorded = Some(Arc::new(Recorded::new(commands, bound, flags, conditional)));
        recorder.state = LifecycleState::Executable;
        Ok(())
    }

    /// vkResetCommandBuffer: what was recorded, which ends.
    pub fn reset(&self) -> Option<Arc<Recorded>> {
        let mut recorder = self.recorder.lock();
        recorder.state = LifecycleState::Initial;
        recorder.commands.clear();
        recorder.bound.clear();
        recorder.error = None;
        recorder.pushed.clear();
        recorder.rendering = None;
        recorder.conditional = false;
        recorder.recorded.take()
    }

    /// The commands, for a submission or a primary command buffer.
    ///
    /// # Errors
    /// It is not executable.
    pub fn executable(&self) -> Outcome<Arc<Recorded>> {
        let mut recorder = self.recorder.lock();
        if recorder.state == LifecycleState::Submitted {
            return Err(Error::usage(
                "the command buffer was recorded with ONE_TIME_SUBMIT and has been submitted before",
            ));
        }
        if recorder.state != LifecycleState::Executable {
            return Err(Error::usage(format!(
                "the command buffer is not executable but {:?}",
                recorder.state
            )));
        }
        let recorded =
            recorder.recorded.clone().ok_or_else(|| Error::usage("the command buffer is empty"))?;
        if recorded.is_one_time() && self.level == vk::CommandBufferLevel::PRIMARY {
            recorder.state = LifecycleState::Submitted;
        }
        Ok(recorded)
    }
}

impl Origin for vk::CommandBuffer {
    fn say(self, text: &str) {
        match handle::dispatchable::<CommandBuffer>(self) {
            Ok(buffer) => buffer.device.instance.say(text),
            Err(_) => report::say(text),
        }
    }

    fn lose(self, text: &str) {
        match handle::dispatchable::<CommandBuffer>(self) {
            Ok(buffer) => buffer.device.lose(text),
            Err(_) => report::say(text),
        }
    }
}

/// Records into a command buffer; a failure poisons it, and a command that its queue family does not support
/// is one.
///
/// # Errors
/// What `record` says, or the command buffer is not live or not recording.
pub fn push(
    buffer: vk::CommandBuffer,
    record: impl FnOnce(&mut Recorder, &Arc<Device>) -> Outcome<()>,
) -> Outcome<()> {
    let buffer = handle::dispatchable::<CommandBuffer>(buffer)?;
    let mut recorder = buffer.recorder.lock();
    if recorder.state != LifecycleState::Recording {
        return Err(Error::usage(format!("the command buffer is not recording but {:?}", recorder.state)));
    }
    let before = recorder.commands.len();
    let outcome = record(&mut recorder, &buffer.device);
    let supported = || recorder.commands[before..].iter().try_for_each(|c| buffer.family.supports(c));
    let outcome = outcome.and_then(|()| supported());
    if let Err(error) = &outcome
        && recorder.error.is_none()
    {
        recorder.error = Some(error.clone());
    }
    outcome
}

/// Records the command that `made` makes.
///
/// # Errors
/// What `made` says, and those of [`push`].
pub fn record(
    buffer: vk::CommandBuffer,
    made: impl FnOnce(&mut Recorder, &Arc<Device>) -> Outcome<Command>,
) -> Outcome<()> {
    push(buffer, |recorder, device| {
        let command = made(recorder, device)?;
        recorder.add(command);
        Ok(())
    })
}
