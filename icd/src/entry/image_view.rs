//! VkImageView.

use crate::boundary::entries;
use crate::caps::formats;
use crate::device::Device;
use crate::entry::destroy::destroy;
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
        let origin = first.offset + layout.layer * u64::from(self.layers.start) + skip;
        let end = last.offset + last.size() + layout.layer * u64::from(self.layers.end - 1);
        let mut view = interface::ImageView {
            memory: MemoryRange::new(memory.bytes(), base + origin, end - origin, reference),
            extent: if self.shows_blocks() { first.blocks } else { first.extent },
            layers: self.layers.len() as u32,
            format: format.as_raw(),
            row_pitch: first.row as u32,
            slice_pitch: first.slice as u32,
            layer_pitch: layout.layer as u32,
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

    /// The dimensions that it shows.
    pub fn view_type(&self) -> vk::ImageViewType {
        self.view_type
    }
}

entries! {
    /// vkCreateImageView.
    fn create_image_view(
        device: vk::Device,
        info: *const vk::ImageViewCreateInfo<'_>,
        _allocator: *const vk::AllocationCallbacks<'_>,
        out: *mut vk::ImageView,
    ) -> vk::Result {
        handle::dispatchable::<Device>(device)?;
        let info = ffi::read(info)?;
        let image = handle::get::<Image>(info.image)?;
        if formats::info(info.format).is_none() {
            return Err(Error::not_implemented(&format!("image views of format {:?}", info.format)));
        }
        // A 2D view of a 3D image: its layers are slices, which the layout stores like layers.
        let sliced = image.image_type == vk::ImageType::TYPE_3D
            && matches!(info.view_type, vk::ImageViewType::TYPE_2D | vk::ImageViewType::TYPE_2D_ARRAY);
        if sliced {
            return Err(Error::not_implemented("2D views of 3D images"));
        }
        let (levels, layers) = image.range(&info.subresource_range)?;
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
        ffi::write(out, handle::insert(Arc::new(view)))
    }

    /// vkDestroyImageView.
    fn destroy_image_view(
        device: vk::Device,
        view: vk::ImageView,
        _allocator: *const vk::AllocationCallbacks<'_>,
    ) {
        destroy::<ImageView>(device, view, "vkDestroyImageView")?;
        Ok(())
    }
}
