//! Commands that copy, fill and clear.

use crate::boundary::entries;
use crate::caps::formats;
use crate::caps::later::{
    CopyMemoryIndirectInfoKHR, CopyMemoryToImageIndirectInfoKHR, ResolveImageModeInfoKHR,
    StridedDeviceAddressRangeKHR,
};
use crate::command::buffer::record;
use crate::command::copy::Region;
use crate::command::indirect::{CopyIndirect, IMAGE_PARAMETERS, MEMORY_PARAMETERS};
use crate::command::{Cleared, Command, ImageIn};
use crate::entry::buffer::Buffer;
use crate::entry::image::Image;
use crate::error::{Error, Outcome};
use crate::ffi;
use crate::handle;
use ash::vk;

/// An image and the layout that a command names.
type Named = (vk::Image, vk::ImageLayout);

fn image((image, layout): Named) -> Outcome<ImageIn> {
    Ok(ImageIn { image: handle::get::<Image>(image)?, layout })
}

fn copy_buffer(
    buffer: vk::CommandBuffer,
    from: vk::Buffer,
    to: vk::Buffer,
    regions: Vec<vk::BufferCopy>,
) -> Outcome<()> {
    record(buffer, |_, _| {
        let (from, to) = (handle::get::<Buffer>(from)?, handle::get::<Buffer>(to)?);
        for region in &regions {
            let fits =
                |offset: u64, size: u64| offset.checked_add(region.size).is_some_and(|end| end <= size);
            if !fits(region.src_offset, from.size) || !fits(region.dst_offset, to.size) {
                return Err(Error::usage("a copied region is not inside its buffer"));
            }
        }
        Ok(Command::CopyBuffer(from, to, regions))
    })
}

/// An indirect copy; `to`: to this image, and these subresources of it.
fn copy_indirect(
    buffer: vk::CommandBuffer,
    (address, stride, count): (u64, u64, u32),
    to: Option<(Named, &[vk::ImageSubresourceLayers])>,
) -> Outcome<()> {
    record(buffer, |_, _| {
        let least = if to.is_some() { IMAGE_PARAMETERS } else { MEMORY_PARAMETERS };
        if !address.is_multiple_of(4) || !stride.is_multiple_of(4) || (count > 0 && stride < least) {
            return Err(Error::usage(format!(
                "the parameters lie at multiples of 4 bytes, {least} or more from one copy to the next"
            )));
        }
        let image = match to {
            Some((named, parts)) => Some((image(named)?, parts.to_vec())),
            None => None,
        };
        Ok(Command::CopyIndirect(Box::new(CopyIndirect { address, stride, count, image })))
    })
}

/// The parameters of an indirect copy in a strided range.
fn parameters(range: &StridedDeviceAddressRangeKHR, count: u32) -> Outcome<(u64, u64, u32)> {
    if u64::from(count).saturating_mul(range.stride) > range.size {
        return Err(Error::usage(format!(
            "copyAddressRange has not room for the parameters of {count} copies"
        )));
    }
    Ok((range.address, range.stride, count))
}

fn copy_image(buffer: vk::CommandBuffer, from: Named, to: Named, regions: Vec<vk::ImageCopy>) -> Outcome<()> {
    record(buffer, |_, _| Ok(Command::CopyImage(image(from)?, image(to)?, regions)))
}

fn buffer_to_image(
    buffer: vk::CommandBuffer,
    from: vk::Buffer,
    to: Named,
    regions: Vec<vk::BufferImageCopy>,
) -> Outcome<()> {
    record(buffer, |_, _| Ok(Command::CopyBufferToImage(handle::get::<Buffer>(from)?, image(to)?, regions)))
}

fn image_to_buffer(
    buffer: vk::CommandBuffer,
    from: Named,
    to: vk::Buffer,
    regions: Vec<vk::BufferImageCopy>,
) -> Outcome<()> {
    record(buffer, |_, _| Ok(Command::CopyImageToBuffer(image(from)?, handle::get::<Buffer>(to)?, regions)))
}

fn blit_image(
    buffer: vk::CommandBuffer,
    from: Named,
    to: Named,
    regions: Vec<vk::ImageBlit>,
    filter: vk::Filter,
) -> Outcome<()> {
    record(buffer, |_, _| Ok(Command::BlitImage(image(from)?, image(to)?, regions, filter)))
}

fn resolve_image(
    buffer: vk::CommandBuffer,
    from: Named,
    to: Named,
    (regions, modes): (Vec<vk::ImageResolve>, Outcome<Option<Modes>>),
) -> Outcome<()> {
    record(buffer, |_, _| {
        let (from, to) = (image(from)?, image(to)?);
        let modes = modes?;
        let integers = formats::info(from.format).is_some_and(|info| info.numeric.is_integer());
        let color = if integers { vk::ResolveModeFlags::SAMPLE_ZERO } else { vk::ResolveModeFlags::AVERAGE };
        let aspects = regions.iter().fold(vk::ImageAspectFlags::empty(), |all, region| {
            all | region.src_subresource.aspect_mask | region.dst_subresource.aspect_mask
        });
        let wanted = [
            (vk::ImageAspectFlags::COLOR, color, modes.map_or(color, |modes| modes[0])),
            (vk::ImageAspectFlags::DEPTH, vk::ResolveModeFlags::SAMPLE_ZERO, modes.unwrap_or_default()[0]),
            (vk::ImageAspectFlags::STENCIL, vk::ResolveModeFlags::SAMPLE_ZERO, modes.unwrap_or_default()[1]),
        ];
        for (aspect, there, mode) in wanted {
            if aspects.contains(aspect) && mode != there {
                let text = format!(
                    "the aspect {aspect:?} of {:?} is resolved by {there:?}, not by {mode:?}",
                    from.format
                );
                return Err(Error::usage(text));
            }
        }
        Ok(Command::ResolveImage(from, to, regions))
    })
}

/// Resolve modes: of color or depth, and of stencil.
type Modes = [vk::ResolveModeFlags; 2];

/// The resolve modes that vkCmdResolveImage2 names, if it does (VK_KHR_maintenance10).
fn resolve_modes(info: Option<&ResolveImageModeInfoKHR>) -> Outcome<Option<Modes>> {
    match info {
        Some(info) if info.flags != 0 => {
            Err(Error::usage("resolveSrgbFormatSupportsTransferFunctionControl is VK_FALSE"))
        }
        _ => Ok(info.map(|info| [info.resolve_mode, info.stencil_resolve_mode])),
    }
}

fn clear(
    buffer: vk::CommandBuffer,
    to: Named,
    ranges: &[vk::ImageSubresourceRange],
    value: impl FnOnce() -> Outcome<Cleared>,
) -> Outcome<()> {
    record(buffer, |_, _| {
        let image = image(to)?;
        for range in ranges {
            image.range(range)?;
        }
        Ok(Command::Clear(image, value()?, ranges.to_vec()))
    })
}

/// The regions of a newer command.
///
/// # Safety
/// The pointer is the application's.
unsafe fn older<R: Region>(regions: *const R, count: u32) -> Vec<R::Older> {
    // SAFETY: the contract.
    unsafe { ffi::slice(regions, count) }.iter().map(R::older).collect()
}

entries! {
    /// vkCmdCopyMemoryIndirectKHR.
    fn cmd_copy_memory_indirect(buffer: vk::CommandBuffer, info: &CopyMemoryIndirectInfoKHR) {
        let parameters = parameters(&info.copy_address_range, info.copy_count);
        parameters.and_then(|parameters| copy_indirect(buffer, parameters, None))
    }

    /// vkCmdCopyMemoryToImageIndirectKHR.
    fn cmd_copy_memory_to_image_indirect(buffer: vk::CommandBuffer, info: &CopyMemoryToImageIndirectInfoKHR) {
        let parts = ffi::slice(info.p_image_subresources, info.copy_count);
        let to = Some(((info.dst_image, info.dst_image_layout), parts));
        let parameters = parameters(&info.copy_address_range, info.copy_count);
        parameters.and_then(|parameters| copy_indirect(buffer, parameters, to))
    }

    /// vkCmdCopyMemoryIndirectNV.
    fn cmd_copy_memory_indirect_nv(
        buffer: vk::CommandBuffer,
        address: vk::DeviceAddress,
        count: u32,
        stride: u32,
    ) {
        copy_indirect(buffer, (address, stride.into(), count), None)
    }

    /// vkCmdCopyMemoryToImageIndirectNV.
    fn cmd_copy_memory_to_image_indirect_nv(
        buffer: vk::CommandBuffer,
        address: vk::DeviceAddress,
        count: u32,
        stride: u32,
        image: vk::Image,
        layout: vk::ImageLayout,
        subresources: *const vk::ImageSubresourceLayers,
    ) {
        let to = Some(((image, layout), ffi::slice(subresources, count)));
        copy_indirect(buffer, (address, stride.into(), count), to)
    }

    fn cmd_copy_buffer(
        buffer: vk::CommandBuffer,
        from: vk::Buffer,
        to: vk::Buffer,
        regions: &[vk::BufferCopy],
    ) {
        copy_buffer(buffer, from, to, regions.to_vec())
    }

    fn cmd_copy_buffer2(buffer: vk::CommandBuffer, info: &vk::CopyBufferInfo2<'_>) {
        copy_buffer(buffer, info.src_buffer, info.dst_buffer, older(info.p_regions, info.region_count))
    }

    fn cmd_fill_buffer(
        buffer: vk::CommandBuffer,
        to: vk::Buffer,
        offset: vk::DeviceSize,
        size: vk::DeviceSize,
        data: u32,
    ) {
        record(buffer, |_, _| {
            let to = handle::get::<Buffer>(to)?;
            let room = to.size.checked_sub(offset).ok_or_else(|| Error::usage("dstOffset is past the buffer"))?;
            let size = if size == vk::WHOLE_SIZE { room / 4 * 4 } else { size };
            if size > room || !offset.is_multiple_of(4) || !size.is_multiple_of(4) {
                return Err(Error::usage("a filled range is not inside its buffer, or not of whole words"));
            }
            Ok(Command::FillBuffer(to, offset, size, data))
        })
    }

    fn cmd_update_buffer(
        buffer: vk::CommandBuffer,
        to: vk::Buffer,
        offset: vk::DeviceSize,
        size: vk::DeviceSize,
        data: *const std::ffi::c_void,
    ) {
        record(buffer, |_, _| {
            let to = handle::get::<Buffer>(to)?;
            if size > 65536 || offset.saturating_add(size) > to.size {
                return Err(Error::usage("an updated range is not inside its buffer, or over 65536 bytes"));
            }
            Ok(Command::UpdateBuffer(to, offset, ffi::slice(data.cast::<u8>(), size).to_vec()))
        })
    }

    fn cmd_copy_image(
        buffer: vk::CommandBuffer,
        from: vk::Image,
        from_layout: vk::ImageLayout,
        to: vk::Image,
        to_layout: vk::ImageLayout,
        regions: &[vk::ImageCopy],
    ) {
        copy_image(buffer, (from, from_layout), (to, to_layout), regions.to_vec())
    }

    fn cmd_copy_image2(buffer: vk::CommandBuffer, info: &vk::CopyImageInfo2<'_>) {
        let regions = older(info.p_regions, info.region_count);
        let (from, to) = ((info.src_image, info.src_image_layout), (info.dst_image, info.dst_image_layout));
        copy_image(buffer, from, to, regions)
    }

    fn cmd_copy_buffer_to_image(
        buffer: vk::CommandBuffer,
        from: vk::Buffer,
        to: vk::Image,
        layout: vk::ImageLayout,
        regions: &[vk::BufferImageCopy],
    ) {
        buffer_to_image(buffer, from, (to, layout), regions.to_vec())
    }

    fn cmd_copy_buffer_to_image2(buffer: vk::CommandBuffer, info: &vk::CopyBufferToImageInfo2<'_>) {
        let regions = older(info.p_regions, info.region_count);
        buffer_to_image(buffer, info.src_buffer, (info.dst_image, info.dst_image_layout), regions)
    }

    fn cmd_copy_image_to_buffer(
        buffer: vk::CommandBuffer,
        from: vk::Image,
        layout: vk::ImageLayout,
        to: vk::Buffer,
        regions: &[vk::BufferImageCopy],
    ) {
        image_to_buffer(buffer, (from, layout), to, regions.to_vec())
    }

    fn cmd_copy_image_to_buffer2(buffer: vk::CommandBuffer, info: &vk::CopyImageToBufferInfo2<'_>) {
        let regions = older(info.p_regions, info.region_count);
        image_to_buffer(buffer, (info.src_image, info.src_image_layout), info.dst_buffer, regions)
    }

    fn cmd_blit_image(
        buffer: vk::CommandBuffer,
        from: vk::Image,
        from_layout: vk::ImageLayout,
        to: vk::Image,
        to_layout: vk::ImageLayout,
        regions: &[vk::ImageBlit],
        filter: vk::Filter,
    ) {
        blit_image(buffer, (from, from_layout), (to, to_layout), regions.to_vec(), filter)
    }

    fn cmd_blit_image2(buffer: vk::CommandBuffer, info: &vk::BlitImageInfo2<'_>) {
        let regions = older(info.p_regions, info.region_count);
        let (from, to) = ((info.src_image, info.src_image_layout), (info.dst_image, info.dst_image_layout));
        blit_image(buffer, from, to, regions, info.filter)
    }

    fn cmd_resolve_image(
        buffer: vk::CommandBuffer,
        from: vk::Image,
        from_layout: vk::ImageLayout,
        to: vk::Image,
        to_layout: vk::ImageLayout,
        regions: &[vk::ImageResolve],
    ) {
        resolve_image(buffer, (from, from_layout), (to, to_layout), (regions.to_vec(), Ok(None)))
    }

    fn cmd_resolve_image2(buffer: vk::CommandBuffer, info: &vk::ResolveImageInfo2<'_>) {
        let modes = resolve_modes(ffi::find::<ResolveImageModeInfoKHR>(info.p_next));
        let regions = older(info.p_regions, info.region_count);
        let (from, to) = ((info.src_image, info.src_image_layout), (info.dst_image, info.dst_image_layout));
        resolve_image(buffer, from, to, (regions, modes))
    }

    fn cmd_clear_color_image(
        buffer: vk::CommandBuffer,
        image: vk::Image,
        layout: vk::ImageLayout,
        color: *const vk::ClearColorValue,
        ranges: &[vk::ImageSubresourceRange],
    ) {
        // All members of the union are four words.
        clear(buffer, (image, layout), ranges, || {
            Ok(Cleared::Color(*ffi::read(color.cast::<[u32; 4]>())?))
        })
    }

    fn cmd_clear_depth_stencil_image(
        buffer: vk::CommandBuffer,
        image: vk::Image,
        layout: vk::ImageLayout,
        value: *const vk::ClearDepthStencilValue,
        ranges: &[vk::ImageSubresourceRange],
    ) {
        clear(buffer, (image, layout), ranges, || {
            let value = ffi::read(value)?;
            Ok(Cleared::DepthStencil(value.depth, value.stencil))
        })
    }
}
