//! VK_EXT_host_image_copy: copies between images and memory of the application, and transitions of layouts,
//! that the host makes itself.
//!
//! In check mode they are accesses of the host: work that the host does not know to have completed must not
//! touch the same bytes, and submissions from now on see them.

use crate::boundary::entries;
use crate::check::calls;
use crate::check::commands::discard;
use crate::check::hazards::Transfer;
use crate::check::layouts::ImageUse;
use crate::command::copy::{self, HostRegion};
use crate::device::Device;
use crate::entry::image::Image;
use crate::error::Outcome;
use crate::ffi;
use crate::handle;
use ash::vk;
use pellucid_memory::commands::Accesses;
use std::sync::Arc;

/// A region's part of an image, as check mode takes it.
fn part(
    image: &Image,
    layout: vk::ImageLayout,
    part: &vk::ImageSubresourceLayers,
    writes: bool,
) -> Option<ImageUse> {
    let first = part.base_array_layer;
    Some(ImageUse {
        image: image.part_of(part.aspect_mask).ok()?.bound()?.clone(),
        aspects: part.aspect_mask,
        levels: part.mip_level..part.mip_level.saturating_add(1),
        layers: first..first.saturating_add(part.layer_count).min(image.layers),
        layout,
        writes,
    })
}

/// The region of a VkMemoryToImageCopyEXT or VkImageToMemoryCopyEXT, which have the same members.
macro_rules! host_region {
    ($of:expr) => {
        HostRegion {
            row_length: $of.memory_row_length,
            image_height: $of.memory_image_height,
            subresource: $of.image_subresource,
            offset: $of.image_offset,
            extent: $of.image_extent,
        }
    };
}

/// The host copies: `run` does it and says which bytes of images it touched.
fn copied(
    device: &Device,
    call: &'static str,
    parts: impl FnOnce() -> Vec<Option<ImageUse>>,
    run: impl FnOnce(copy::Touched<'_>) -> Outcome<()>,
) -> Outcome<()> {
    if device.hazards.is_none() {
        return run(None);
    }
    calls::synchronize(device, call);
    let mut transfer = Transfer::new(Accesses::TRANSFER_READ, Accesses::TRANSFER_WRITE);
    let outcome = calls::at_rest(device, || run(Some(&mut transfer)));
    if outcome.is_ok() {
        calls::copied(device, &parts().into_iter().flatten().collect::<Vec<_>>(), &transfer.runs());
    }
    outcome
}

entries! {
    /// vkCopyMemoryToImageEXT.
    fn copy_memory_to_image(device: Arc<Device>, info: &vk::CopyMemoryToImageInfoEXT<'_>) -> vk::Result {
        let image = handle::get::<Image>(info.dst_image)?;
        let regions = ffi::slice(info.p_regions, info.region_count);
        let layout = info.dst_image_layout;
        let parts = || regions.iter().map(|r| part(&image, layout, &r.image_subresource, true)).collect();
        copied(&device, "vkCopyMemoryToImageEXT", parts, |mut touched| {
            for r in regions {
                let region = host_region!(r);
                let bytes = ffi::slice(r.p_host_pointer.cast::<u8>(), region.size(&image)?);
                copy::host_to_image(bytes, &image, &region, &mut touched)?;
            }
            Ok(())
        })
    }

    /// vkCopyImageToMemoryEXT.
    fn copy_image_to_memory(device: Arc<Device>, info: &vk::CopyImageToMemoryInfoEXT<'_>) -> vk::Result {
        let image = handle::get::<Image>(info.src_image)?;
        let regions = ffi::slice(info.p_regions, info.region_count);
        let layout = info.src_image_layout;
        let parts = || regions.iter().map(|r| part(&image, layout, &r.image_subresource, false)).collect();
        copied(&device, "vkCopyImageToMemoryEXT", parts, |mut touched| {
            for r in regions {
                let region = host_region!(r);
                let bytes = ffi::slice_mut(r.p_host_pointer.cast::<u8>(), region.size(&image)?);
                copy::image_to_host(&image, bytes, &region, &mut touched)?;
            }
            Ok(())
        })
    }

    /// vkCopyImageToImageEXT.
    fn copy_image_to_image(device: Arc<Device>, info: &vk::CopyImageToImageInfoEXT<'_>) -> vk::Result {
        let (from, to) = (handle::get::<Image>(info.src_image)?, handle::get::<Image>(info.dst_image)?);
        let regions = ffi::slice(info.p_regions, info.region_count).iter().map(copy::Region::older);
        let regions: Vec<_> = regions.collect();
        let parts = || {
            let both = |r: &vk::ImageCopy| {
                [
                    part(&from, info.src_image_layout, &r.src_subresource, false),
                    part(&to, info.dst_image_layout, &r.dst_subresource, true),
                ]
            };
            regions.iter().flat_map(both).collect()
        };
        copied(&device, "vkCopyImageToImageEXT", parts, |touched| copy::images(&from, &to, &regions, touched))
    }

    /// vkTransitionImageLayoutEXT.
    fn transition_image_layout(
        device: Arc<Device>,
        transitions: &[vk::HostImageLayoutTransitionInfoEXT<'_>],
    ) -> vk::Result {
        calls::synchronize(&device, "vkTransitionImageLayoutEXT");
        for t in transitions {
            let image: Arc<Image> = handle::get::<Image>(t.image)?;
            if device.hazards.is_some() && t.old_layout == vk::ImageLayout::UNDEFINED {
                discard(&device, &image, &t.subresource_range);
            }
            if image.slices {
                continue;
            }
            let (levels, layers) = image.range(&t.subresource_range)?;
            let aspects = t.subresource_range.aspect_mask;
            let parts = (aspects, levels, layers);
            for bound in image.parts(aspects).filter_map(Image::bound) {
                calls::transitioned(&device, bound, &parts, (t.old_layout, t.new_layout));
            }
        }
        Ok(())
    }
}
