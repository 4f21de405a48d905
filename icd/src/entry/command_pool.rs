//! VkCommandPool, and the life cycle of its command buffers.

use crate::boundary::{creates, destroys, entries};
use crate::caps::queues;
use crate::command::Recorded;
use crate::command::buffer::CommandBuffer;
use crate::command::family::Family;
use crate::device::Device;
use crate::entry::conditional;
use crate::entry::destroy::{self, ended};
use crate::error::{Error, Outcome, room_for};
use crate::ffi;
use crate::handle::{self, kind, object};
use ash::vk;
use parking_lot::Mutex;
use std::collections::BTreeSet;
use std::sync::Arc;

/// A command pool: the handles of its command buffers.
pub struct CommandPool {
    family: Family,
    buffers: Mutex<BTreeSet<u64>>,
}

object!(CommandPool, vk::CommandPool, kind::COMMAND_POOL);

/// Ends the command buffers that a pool which the application did not destroy still has.
pub fn leave(pool: &CommandPool) {
    for buffer in std::mem::take(&mut *pool.buffers.lock()) {
        // One that is gone needs no end.
        let _ = handle::take_dispatchable::<CommandBuffer>(vk::Handle::from_raw(buffer));
    }
}

/// Ends a command buffer; null is nothing.
fn end(device: &Device, buffer: vk::CommandBuffer, call: &'static str) -> Outcome<()> {
    if let Some(object) = handle::take_dispatchable::<CommandBuffer>(buffer)? {
        gone(device, buffer, object.take_recorded(), call);
        // Its handle may become another one's at once.
        device.handle_ended(vk::ObjectType::COMMAND_BUFFER, vk::Handle::as_raw(buffer), false);
    }
    Ok(())
}

/// What a command buffer held ends.
fn gone(device: &Device, buffer: vk::CommandBuffer, recorded: Option<Arc<Recorded>>, call: &'static str) {
    if let Some(recorded) = recorded {
        let raw = vk::Handle::as_raw(buffer);
        ended(device, call, ("VkCommandBuffer", vk::ObjectType::COMMAND_BUFFER, raw), &recorded);
    }
}

creates! {
    fn create_command_pool(device, info: vk::CommandPoolCreateInfo<'_>) -> vk::CommandPool {
        let index = info.queue_family_index;
        if queues::count(index) == 0 {
            return Err(Error::usage(format!("there is no queue family {index}")));
        }
        let family = Family::new(index, device.caps.pretend_graphics);
        Ok(handle::insert(Arc::new(CommandPool { family, buffers: Mutex::default() })))
    }
}

destroys! {
    fn destroy_command_pool(device, pool: vk::CommandPool) {
        if let Some(pool) = destroy::end::<CommandPool>(&device, pool)? {
            for buffer in std::mem::take(&mut *pool.buffers.lock()) {
                end(&device, vk::Handle::from_raw(buffer), "vkDestroyCommandPool")?;
            }
        }
        Ok(())
    }
}

entries! {
    fn reset_command_pool(
        device: Arc<Device>,
        pool: Arc<CommandPool>,
        _flags: vk::CommandPoolResetFlags,
    ) -> vk::Result {
        for buffer in pool.buffers.lock().iter() {
            let buffer = vk::Handle::from_raw(*buffer);
            let recorded = handle::dispatchable::<CommandBuffer>(buffer)?.reset();
            gone(&device, buffer, recorded, "vkResetCommandPool");
        }
        Ok(())
    }

    /// vkTrimCommandPool: there is nothing to trim.
    fn trim_command_pool(_device: Arc<Device>, _pool: Arc<CommandPool>, _flags: vk::CommandPoolTrimFlags) {
        Ok(())
    }

    fn allocate_command_buffers(
        device: Arc<Device>,
        info: &vk::CommandBufferAllocateInfo<'_>,
        out: *mut vk::CommandBuffer,
    ) -> vk::Result {
        let pool = handle::get::<CommandPool>(info.command_pool)?;
        // A count that cannot succeed is refused before anything is made.
        room_for::<(CommandBuffer, [u64; 24])>(info.command_buffer_count as usize)?;
        for slot in ffi::slice_mut(out, info.command_buffer_count) {
            let buffer = CommandBuffer::new(device.clone(), info.level, pool.family);
            *slot = handle::insert_dispatchable(Arc::new(buffer));
            pool.buffers.lock().insert(vk::Handle::as_raw(*slot));
        }
        Ok(())
    }

    fn free_command_buffers(device: Arc<Device>, pool: Arc<CommandPool>, buffers: &[vk::CommandBuffer]) {
        for buffer in buffers {
            pool.buffers.lock().remove(&vk::Handle::as_raw(*buffer));
            end(&device, *buffer, "vkFreeCommandBuffers")?;
        }
        Ok(())
    }

    fn begin_command_buffer(buffer: vk::CommandBuffer, info: &vk::CommandBufferBeginInfo<'_>) -> vk::Result {
        let object = handle::dispatchable::<CommandBuffer>(buffer)?;
        let secondary = object.level == vk::CommandBufferLevel::SECONDARY;
        let conditional = secondary && conditional::is_inherited(info);
        let recorded = object.begin(info.flags, conditional)?;
        gone(&object.device, buffer, recorded, "vkBeginCommandBuffer");
        Ok(())
    }

    fn end_command_buffer(buffer: vk::CommandBuffer) -> vk::Result {
        handle::dispatchable::<CommandBuffer>(buffer)?.end()
    }

    fn reset_command_buffer(buffer: vk::CommandBuffer, _flags: vk::CommandBufferResetFlags) -> vk::Result {
        let object = handle::dispatchable::<CommandBuffer>(buffer)?;
        gone(&object.device, buffer, object.reset(), "vkResetCommandBuffer");
        Ok(())
    }
}
