//! VkBufferView.

use crate::boundary::{creates, destroys};
use crate::caps::formats;
use crate::entry::buffer::Buffer;
use crate::error::Error;
use crate::handle::{self, kind, object};
use ash::vk;
use std::sync::Arc;

/// A texel view of a buffer.
pub struct BufferView {
    pub buffer: Arc<Buffer>,
    /// The texels' format.
    pub format: vk::Format,
    /// First byte.
    pub offset: u64,
    /// Bytes: whole texels.
    pub range: u64,
    pub texels: u32,
}

object!(BufferView, vk::BufferView, kind::BUFFER_VIEW);

creates! {
    fn create_buffer_view(_device, info: vk::BufferViewCreateInfo<'_>) -> vk::BufferView {
        let buffer = handle::get::<Buffer>(info.buffer)?;
        let Some(format) = formats::info(info.format) else {
            return Err(Error::not_implemented(&format!("texel buffers of format {:?}", info.format)));
        };
        if info.offset >= buffer.size {
            return Err(Error::usage("offset is not inside the buffer"));
        }
        let room = buffer.size - info.offset;
        let texel = u64::from(format.texel_bytes);
        let range = if info.range == vk::WHOLE_SIZE { room } else { info.range.min(room) } / texel * texel;
        let view = BufferView {
            buffer,
            format: info.format,
            offset: info.offset,
            range,
            texels: u32::try_from(range / texel).unwrap_or(u32::MAX),
        };
        Ok(handle::insert(Arc::new(view)))
    }
}

destroys! {
    fn destroy_buffer_view(BufferView) as "vkDestroyBufferView";
}
