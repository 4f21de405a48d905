//! Queries of formats and of images of a format.

use crate::boundary::entries;
use crate::caps::external::memory_of;
use crate::caps::formats::{self, ImageQuery};
use crate::entry::physical_device::PhysicalDevice;
use crate::error::Outcome;
use crate::ffi;
use crate::handle;
use ash::vk;

fn query(device: vk::PhysicalDevice, query: &ImageQuery) -> Outcome<vk::ImageFormatProperties> {
    let device = handle::dispatchable::<PhysicalDevice>(device)?;
    let known = formats::image_properties(query, device.caps.heap_size);
    known.ok_or_else(|| vk::Result::ERROR_FORMAT_NOT_SUPPORTED.into())
}

entries! {
    fn get_physical_device_format_properties(
        _device: Arc<PhysicalDevice>,
        format: vk::Format,
        out: *mut vk::FormatProperties,
    ) {
        ffi::write(out, formats::properties(format))
    }

    fn get_physical_device_format_properties2(
        _device: Arc<PhysicalDevice>,
        format: vk::Format,
        out: &mut vk::FormatProperties2<'_>,
    ) {
        out.format_properties = formats::properties(format);
        if let Some(three) = ffi::find_mut::<vk::FormatProperties3<'_>>(out.p_next) {
            let known = formats::properties3(format);
            three.linear_tiling_features = known.linear_tiling_features;
            three.optimal_tiling_features = known.optimal_tiling_features;
            three.buffer_features = known.buffer_features;
        }
        Ok(())
    }

    fn get_physical_device_image_format_properties(
        device: vk::PhysicalDevice,
        format: vk::Format,
        image_type: vk::ImageType,
        tiling: vk::ImageTiling,
        usage: vk::ImageUsageFlags,
        flags: vk::ImageCreateFlags,
        out: *mut vk::ImageFormatProperties,
    ) -> vk::Result {
        match query(device, &ImageQuery { format, image_type, tiling, usage, flags }) {
            Ok(known) => ffi::write(out, known),
            Err(error) => {
                ffi::write(out, vk::ImageFormatProperties::default())?;
                Err(error)
            }
        }
    }

    fn get_physical_device_image_format_properties2(
        device: vk::PhysicalDevice,
        info: *const vk::PhysicalDeviceImageFormatInfo2<'_>,
        out: *mut vk::ImageFormatProperties2<'_>,
    ) -> vk::Result {
        let (info, out) = (ffi::read(info)?, ffi::read_mut(out)?);
        if let Some(external) = ffi::find_mut::<vk::ExternalImageFormatProperties<'_>>(out.p_next) {
            external.external_memory_properties = vk::ExternalMemoryProperties::default();
        }
        if let Some(ycbcr) = ffi::find_mut::<vk::SamplerYcbcrConversionImageFormatProperties<'_>>(out.p_next) {
            ycbcr.combined_image_sampler_descriptor_count = 1;
        }
        if let Some(query) = ffi::find_mut::<vk::HostImageCopyDevicePerformanceQueryEXT<'_>>(out.p_next) {
            // In memory all images are alike.
            query.optimal_device_access = vk::TRUE;
            query.identical_memory_layout = vk::TRUE;
        }
        out.image_format_properties = vk::ImageFormatProperties::default();
        let asked = ffi::find::<vk::PhysicalDeviceExternalImageFormatInfo<'_>>(info.p_next);
        if let Some(asked) = asked.filter(|e| !e.handle_type.is_empty()) {
            let Some(known) = memory_of(asked.handle_type) else {
                return Err(vk::Result::ERROR_FORMAT_NOT_SUPPORTED.into());
            };
            if let Some(external) = ffi::find_mut::<vk::ExternalImageFormatProperties<'_>>(out.p_next) {
                external.external_memory_properties = known;
            }
        }
        let stencil = ffi::find::<vk::ImageStencilUsageCreateInfo<'_>>(info.p_next)
            .map_or(vk::ImageUsageFlags::empty(), |s| s.stencil_usage);
        out.image_format_properties = query(
            device,
            &ImageQuery {
                format: info.format,
                image_type: info.ty,
                tiling: info.tiling,
                usage: info.usage | stencil,
                flags: info.flags,
            },
        )?;
        Ok(())
    }
}
