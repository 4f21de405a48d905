//! VkImageView.

use crate::boundary::entries;
use crate::caps::formats;
use crate::device::Device;
use crate::entry::descriptor_buffer::creation;
use crate::entry::destroy::destroy_described;
use crate::entry::image::Image;
use crate::error::{Error, Outcome};
use crate::ffi;
use crate::handle::{self, kind, object};
use ash::vk;
use pellucid_memory::access::Reference;
use pellucid_memory::device::MemoryRange;
use pellucid_shader_interp::interface;
use std::sync::Arc;

pub struct ImageView {
    pub image: Arc<Image>,
    pub format: vk::Format,
    view_type: vk::ImageViewType,
    pub levels: std::ops::Range<u32>,
    /// Its layers; depth slices, if it is a 2D view of a 3D image.
    pub layers: std::ops::Range<u32>,
    /// The aspect that shaders see, of a format that has both depth and stencil.
    aspect: vk::ImageAspectFlags,
    swizzle: [u8; 4],
}

object!(ImageView, vk::ImageView, kind::IMAGE_VIEW);

fn swizzle(mapping: &vk::ComponentMapping) -> [u8; 4] {
    let resolve = |s: vk::ComponentSwizzle, identity: u8| match s {
        vk::ComponentSwizzle::IDENTITY => identity,
        other => other.as_raw() as u8,
    };
    [resolve(mapping.r, 3), resolve(mapping.g, 4), resolve(mapping.b, 5), resolve(mapping.a, 6)]
}

impl ImageView {
    /// The view as the interpreter takes it.
    ///
    /// # Errors
    /// The image is not bound to memory.
    pub fn descriptor(&self, reference: Reference) -> Outcome<interface::ImageView> {
        let (memory, base) = self.image.memory()?;
        let layout = &self.image.layout;
        let levels = &layout.levels[self.levels.start as usize..self.levels.end as usize];
        let (first, last) = (&levels[0], &levels[levels.len() - 1]);
        let (skip, format) = self.image.seen_as(self.format, self.aspect);
        let mut extent = if self.shows_blocks() { first.blocks } else { first.extent };
        // A slice is what a layer is otherwise.
        let (layer, size) = match self.shows_slices() {
            true => (first.slice, first.slice),
            false => (layout.layer, last.size()),
        };
        if self.shows_slices() {
            extent[2] = 1;
        }
        let origin = first.offset + layer * u64::from(self.layers.start) + skip;
        let end = last.offset + size + layer * u64::from(self.layers.end - 1);
        let mut view = interface::ImageView {
            memory: MemoryRange::new(memory.bytes(), base + origin, end - origin, reference),
            extent,
            layers: self.layers.len() as u32,
            format: format.as_raw(),
            row_pitch: first.row as u32,
            slice_pitch: first.slice as u32,
            layer_pitch: layer as u32,
            levels: self.levels.len() as u32,
            level_offsets: [0; 16],
            level_row_pitch: [0; 16],
            level_slice_pitch: [0; 16],
            samples: self.image.samples,
            sample_pitch: (layout.texel / u64::from(self.image.samples)) as u32,
            swizzle: self.swizzle,
        };
        for (n, level) in levels.iter().enumerate().take(16) {
            view.level_offsets[n] = (level.offset - first.offset) as u32;
            view.level_row_pitch[n] = level.row as u32;
            view.level_slice_pitch[n] = level.slice as u32;
        }
        Ok(view)
    }

    /// Its texels are the blocks of an image that is compressed (*Texel Block Views*:
    /// VK_IMAGE_CREATE_BLOCK_TEXEL_VIEW_COMPATIBLE_BIT).
    fn shows_blocks(&self) -> bool {
        let compressed = |format| formats::info(format).is_some_and(|info| info.compression.is_some());
        compressed(self.image.format) && !compressed(self.format)
    }

    /// It is a 2D view of a 3D image (VK_EXT_image_2d_view_of_3d).
    pub fn shows_slices(&self) -> bool {
        self.image.image_type == vk::ImageType::TYPE_3D && self.view_type != vk::ImageViewType::TYPE_3D
    }

    /// The dimensions that it shows.
    pub fn view_type(&self) -> vk::ImageViewType {
        self.view_type
    }
}

/// The level and the slice of a 2D view of a 3D image.
fn slice(
    image: &Image,
    info: &vk::ImageViewCreateInfo<'_>,
) -> Outcome<(std::ops::Range<u32>, std::ops::Range<u32>)> {
    let part = info.subresource_range;
    let compatible = image.flags.contains(vk::ImageCreateFlags::TYPE_2D_VIEW_COMPATIBLE_EXT);
    if info.view_type != vk::ImageViewType::TYPE_2D || !compatible {
        let what = "2D views of 3D images without VK_IMAGE_CREATE_2D_VIEW_COMPATIBLE_BIT_EXT";
        return Err(Error::not_implemented(what));
    }
    let whole = vk::ImageSubresourceRange { base_array_layer: 0, layer_count: 1, ..part };
    let (levels, _) = image.range(&whole)?;
    let depth = image.layout.levels[levels.start as usize].extent[2];
    if levels.len() > 1 || part.layer_count != 1 || part.base_array_layer >= depth {
        return Err(Error::usage("a 2D view of a 3D image shows one slice of one level"));
    }
    Ok((levels, part.base_array_layer..part.base_array_layer + 1))
}

entries! {
    /// vkCreateImageView.
    fn create_image_view(
        device: vk::Device,
        info: *const vk::ImageViewCreateInfo<'_>,
        _allocator: *const vk::AllocationCallbacks<'_>,
        out: *mut vk::ImageView,
    ) -> vk::Result {
        let device = handle::dispatchable::<Device>(device)?;
        let info = ffi::read(info)?;
        let image = handle::get::<Image>(info.image)?;
        if formats::info(info.format).is_none() {
            return Err(Error::not_implemented(&format!("image views of format {:?}", info.format)));
        }
        let part = info.subresource_range;
        let sliced = image.image_type == vk::ImageType::TYPE_3D && info.view_type != vk::ImageViewType::TYPE_3D;
        let (levels, layers) = match sliced {
            false => image.range(&part)?,
            true => slice(&image, info)?,
        };
        let view = ImageView {
            image,
            format: info.format,
            view_type: info.view_type,
            levels,
            layers,
            aspect: info.subresource_range.aspect_mask,
            swizzle: swizzle(&info.components),
        };
        let bytes = |format| formats::info(format).map(|info| (info.texel_bytes, info.compression.is_some()));
        let (of_image, of_view) = (bytes(view.image.format), bytes(view.format));
        if of_image.is_some_and(|of| of_view.is_some_and(|to| of.0 != to.0 || to.1 && !of.1)) {
            let formats = (view.format, view.image.format);
            return Err(Error::usage(format!("a view of format {:?} of an image of {:?}", formats.0, formats.1)));
        }
        if view.shows_blocks() && view.levels.len() > 1 {
            return Err(Error::usage("a view of the blocks of several levels"));
        }
        let flag = vk::ImageViewCreateFlags::DESCRIPTOR_BUFFER_CAPTURE_REPLAY_EXT;
        let how = creation(info.flags.contains(flag), info.p_next)?;
        let view = Arc::new(view);
        let handle = handle::insert(view.clone());
        if device.describes() {
            let added = device.described.add_view(handle, &view, how);
            added.inspect_err(|_| drop(handle::take::<ImageView>(handle)))?;
        }
        ffi::write(out, handle)
    }

    /// vkDestroyImageView.
    fn destroy_image_view(
        device: vk::Device,
        view: vk::ImageView,
        _allocator: *const vk::AllocationCallbacks<'_>,
    ) {
        destroy_described::<ImageView>(device, view, "vkDestroyImageView")?;
        Ok(())
    }
}
