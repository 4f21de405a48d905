//! VkPipelineLayout.

use crate::boundary::{creates, destroys};
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

creates! {
    fn create_pipeline_layout(_device, info: vk::PipelineLayoutCreateInfo<'_>) -> vk::PipelineLayout {
        let sets = ffi::slice(info.p_set_layouts, info.set_layout_count)
            .iter()
            .map(|s| handle::get_optional::<DescriptorSetLayout>(*s))
            .collect::<Outcome<Vec<_>>>()?;
        Ok(handle::insert(Arc::new(PipelineLayout { sets })))
    }
}

destroys! {
    fn destroy_pipeline_layout(PipelineLayout);
}
