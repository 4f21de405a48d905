//! Conditional rendering (VK_EXT_conditional_rendering): dispatches, and clears of attachments, that a word
//! in a buffer discards.
//!
//! The word is read where conditional rendering begins. That the word may also be read before each command is
//! the specification's freedom for those who change it in between.

use super::buffer::Buffer;
use crate::boundary::entries;
use crate::command::buffer::{push, record};
use crate::command::{Command, Predicate};
use crate::error::Error;
use crate::ffi;
use crate::handle;
use ash::vk;

/// Whether a secondary command buffer may be executed where conditional rendering is active; not if it says
/// nothing of what it inherits.
///
/// # Safety
/// `info` is the application's, of a secondary command buffer.
pub unsafe fn is_inherited(info: &vk::CommandBufferBeginInfo<'_>) -> bool {
    // SAFETY: the contract.
    let asked = unsafe {
        let inherited = ffi::read(info.p_inheritance_info).ok();
        inherited.and_then(|inherited| {
            ffi::find::<vk::CommandBufferInheritanceConditionalRenderingInfoEXT<'_>>(inherited.p_next)
        })
    };
    asked.is_some_and(|asked| asked.conditional_rendering_enable == vk::TRUE)
}

entries! {
    fn cmd_begin_conditional_rendering(
        buffer: vk::CommandBuffer,
        info: &vk::ConditionalRenderingBeginInfoEXT<'_>,
    ) {
        record(buffer, |r, _| {
            if r.conditional {
                return Err(Error::usage("conditional rendering is active already"));
            }
            let (buffer, offset) = (handle::get::<Buffer>(info.buffer)?, info.offset);
            if !offset.is_multiple_of(4) || offset.saturating_add(4) > buffer.size {
                return Err(Error::usage("the predicate is not inside the buffer, or not aligned to 4 bytes"));
            }
            if !buffer.usage.contains(vk::BufferUsageFlags::CONDITIONAL_RENDERING_EXT) {
                let text = "the predicate's buffer has no VK_BUFFER_USAGE_CONDITIONAL_RENDERING_BIT_EXT";
                return Err(Error::usage(text));
            }
            r.conditional = true;
            let inverted = info.flags.contains(vk::ConditionalRenderingFlagsEXT::INVERTED);
            Ok(Command::BeginConditional(Box::new(Predicate { buffer, offset, inverted })))
        })
    }

    fn cmd_end_conditional_rendering(buffer: vk::CommandBuffer) {
        push(buffer, |r, _| {
            if !std::mem::take(&mut r.conditional) {
                return Err(Error::usage("conditional rendering is not active"));
            }
            r.add(Command::EndConditional);
            Ok(())
        })
    }
}
