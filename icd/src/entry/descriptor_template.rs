//! VkDescriptorUpdateTemplate.

use crate::boundary::{creates, destroys, entries};
use crate::device::Device;
use crate::entry::descriptor_set::{self, DescriptorSet};
use crate::error::{Error, Outcome};
use crate::ffi;
use crate::handle::{self, kind, object};
use ash::vk;
use std::ffi::c_void;
use std::sync::Arc;

pub struct DescriptorUpdateTemplate {
    entries: Vec<vk::DescriptorUpdateTemplateEntry>,
}

object!(DescriptorUpdateTemplate, vk::DescriptorUpdateTemplate, kind::UPDATE_TEMPLATE);

impl DescriptorUpdateTemplate {
    /// Updates a set from the application's data.
    ///
    /// # Errors
    /// A handle is not live, or a write does not fit.
    ///
    /// # Safety
    /// `data` is the application's, and laid out as the template says.
    pub unsafe fn apply(&self, set: &DescriptorSet, data: *const c_void) -> Outcome<()> {
        // SAFETY: the contract.
        unsafe {
            use vk::DescriptorType as T;
            for entry in &self.entries {
                if entry.descriptor_type == T::INLINE_UNIFORM_BLOCK {
                    let bytes = ffi::bytes_at(data, entry.offset, entry.descriptor_count as usize);
                    set.write_inline(entry.dst_binding, entry.dst_array_element, bytes)?;
                    continue;
                }
                let immutable =
                    set.layout.binding(entry.dst_binding).is_some_and(|b| !b.immutable.is_empty());
                let slots = (0..entry.descriptor_count as usize)
                    .map(|n| {
                        let at = entry.offset + n * entry.stride;
                        match entry.descriptor_type {
                            T::UNIFORM_TEXEL_BUFFER | T::STORAGE_TEXEL_BUFFER => {
                                descriptor_set::texel_slot(ffi::read_at::<vk::BufferView>(data, at))
                            }
                            T::UNIFORM_BUFFER
                            | T::STORAGE_BUFFER
                            | T::UNIFORM_BUFFER_DYNAMIC
                            | T::STORAGE_BUFFER_DYNAMIC => {
                                descriptor_set::buffer_slot(&ffi::read_at::<vk::DescriptorBufferInfo>(
                                    data, at,
                                ))
                            }
                            kind @ (T::SAMPLER
                            | T::COMBINED_IMAGE_SAMPLER
                            | T::SAMPLED_IMAGE
                            | T::STORAGE_IMAGE
                            | T::INPUT_ATTACHMENT) => descriptor_set::image_slot(
                                kind,
                                immutable,
                                &ffi::read_at::<vk::DescriptorImageInfo>(data, at),
                            ),
                            other => Err(Error::not_implemented(&format!("descriptors of type {other:?}"))),
                        }
                    })
                    .collect::<Outcome<Vec<_>>>()?;
                set.write(entry.dst_binding, entry.dst_array_element, slots)?;
            }
            Ok(())
        }
    }
}

creates! {
    fn create_descriptor_update_template(
        _device,
        info: vk::DescriptorUpdateTemplateCreateInfo<'_>,
    ) -> vk::DescriptorUpdateTemplate {
        let entries = ffi::slice(info.p_descriptor_update_entries, info.descriptor_update_entry_count).to_vec();
        Ok(handle::insert(Arc::new(DescriptorUpdateTemplate { entries })))
    }
}

destroys! {
    fn destroy_descriptor_update_template(DescriptorUpdateTemplate);
}

entries! {
    fn update_descriptor_set_with_template(
        device: Arc<Device>,
        set: vk::DescriptorSet,
        template: Arc<DescriptorUpdateTemplate>,
        data: *const c_void,
    ) {
        let object = handle::get::<DescriptorSet>(set)?;
        for entry in &template.entries {
            let call = "vkUpdateDescriptorSetWithTemplate";
            descriptor_set::changed(&device, set, &object, entry.dst_binding, call);
        }
        template.apply(&object, data)
    }
}
