//! VkPipelineLayout.

use crate::boundary::entries;
use crate::device::Device;
use crate::entry::descriptor_layout::DescriptorSetLayout;
use crate::error::Outcome;
use crate::ffi;
use crate::handle::{self, kind, object};
use ash::vk;
use std::sync::Arc;

pub struct PipelineLayout {
    /// Set layouts; `None` where the application gave VK_NULL_HANDLE.
    pub sets: Vec<Option<Arc<DescriptorSetLayout>>>,
}

object!(PipelineLayout, vk::PipelineLayout, kind::PIPELINE_LAYOUT);

entries! {
    /// vkCreatePipelineLayout.
    fn create_pipeline_layout(
        device: vk::Device,
        info: *const vk::PipelineLayoutCreateInfo<'_>,
        _allocator: *const vk::AllocationCallbacks<'_>,
        out: *mut vk::PipelineLayout,
    ) -> vk::Result {
        handle::dispatchable::<Device>(device)?;
        let info = ffi::read(info)?;
        let sets = ffi::slice(info.p_set_layouts, info.set_layout_count)
            .iter()
            .map(|s| handle::get_optional::<DescriptorSetLayout>(*s))
            .collect::<Outcome<Vec<_>>>()?;
        ffi::write(out, handle::insert(Arc::new(PipelineLayout { sets })))
    }

    /// vkDestroyPipelineLayout.
    fn destroy_pipeline_layout(
        device: vk::Device,
        layout: vk::PipelineLayout,
        _allocator: *const vk::AllocationCallbacks<'_>,
    ) {
        handle::dispatchable::<Device>(device)?;
        handle::take::<PipelineLayout>(layout)?;
        Ok(())
    }
}
