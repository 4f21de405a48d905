//! VkImageView.

use crate::boundary::{creates, destroys};
use crate::caps::formats;
use crate::described::Creation;
use crate::entry::destroy::destroy_described;
use crate::entry::image::Image;
use crate::entry::sampler::YcbcrConversion;
use crate::error::{Error, Outcome};
use crate::ffi;
use crate::handle::{self, kind, object};
use ash::vk;
use pellucid_memory::access::Reference;
use pellucid_memory::device::MemoryRange;
use pellucid_shader_interp::interface;
use pellucid_shader_interp::math::format::ycbcr::Ycbcr;
use std::sync::Arc;

pub struct ImageView {
    /// The image, or the plane of it that is viewed.
    pub image: Arc<Image>,
    /// The image itself: what views it keeps it.
    _whole: Arc<Image>,
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

/// A component mapping in the interpreter's numbers.
pub fn swizzle(mapping: &vk::ComponentMapping) -> [u8; 4] {
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
        match formats::ycbcr(self.image.format) {
            Some(of) => self.of_planes(of, reference),
            None => {
                let (skip, format) = self.image.seen_as(self.format, self.aspect);
                self.of_image(&self.image, (skip, format.as_raw()), reference)
            }
        }
    }

    /// The same of an image that requires sampler Y'CbCr conversion: luma, with the chroma that belongs to
    /// it.
    fn of_planes(&self, of: &Ycbcr, reference: Reference) -> Outcome<interface::ImageView> {
        let mut planes = self.image.parts(vk::ImageAspectFlags::empty()).zip(of.planes);
        let mut plane = || planes.next().map(|(plane, format)| self.of_image(plane, (0, *format), reference));
        let mut view = plane().unwrap_or_else(|| Err(Error::usage("an image without planes")))?;
        view.format = of.format;
        while let Some(plane) = plane() {
            view.chroma.push(plane?);
        }
        if let Some(packed) = of.packed {
            let value = |place: u32| {
                let mut value =
                    self.of_image(&self.image, (u64::from(place * packed.bytes), packed.value), reference)?;
                value.extent[0] /= of.subsampling[0];
                value.sample_pitch = 4 * packed.bytes;
                Ok::<_, Error>(value)
            };
            let [luma, blue, red] = packed.places;
            view.memory = value(luma)?.memory;
            view.sample_pitch = 2 * packed.bytes;
            view.chroma = vec![value(blue)?, value(red)?];
        }
        Ok(view)
    }

    /// An image, or a plane of one, from a byte of its texels on.
    fn of_image(
        &self,
        image: &Image,
        (skip, format): (u64, i32),
        reference: Reference,
    ) -> Outcome<interface::ImageView> {
        let (memory, base) = image.memory()?;
        let layout = &image.layout;
        let levels = &layout.levels[self.levels.start as usize..self.levels.end as usize];
        let (first, last) = (&levels[0], &levels[levels.len() - 1]);
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
            format,
            row_pitch: first.row as u32,
            slice_pitch: first.slice as u32,
            layer_pitch: layer as u32,
            levels: self.levels.len() as u32,
            level_offsets: [0; 16],
            level_row_pitch: [0; 16],
            level_slice_pitch: [0; 16],
            samples: image.samples,
            sample_pitch: (layout.texel / u64::from(image.samples)) as u32,
            swizzle: self.swizzle,
            chroma: Vec::new(),
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

/// What a view of this format is of: the image, or the plane of it that the aspects name.
fn viewed(
    image: Arc<Image>,
    info: &vk::ImageViewCreateInfo<'_>,
    (usage, converts): (vk::ImageUsageFlags, bool),
) -> Outcome<Arc<Image>> {
    use vk::ImageAspectFlags as A;
    let aspects = info.subresource_range.aspect_mask;
    if aspects.intersects(A::PLANE_0 | A::PLANE_1 | A::PLANE_2) {
        return image.plane(aspects).cloned();
    }
    let name = |of: &Ycbcr| of.name;
    match (formats::ycbcr(image.format), formats::ycbcr(info.format)) {
        (None, None) => {}
        (of, to) if of != to => {
            let names = (to.map_or("another format", name), of.map_or("another format", name));
            return Err(Error::usage(format!("a view of {} of an image of {}", names.0, names.1)));
        }
        (of, _) => {
            let identity = swizzle(&info.components) == [3, 4, 5, 6];
            if of.is_some() && !converts && usage.contains(vk::ImageUsageFlags::SAMPLED) {
                let name = of.map_or("", name);
                return Err(Error::usage(format!("a view of {name} without VkSamplerYcbcrConversionInfo")));
            }
            if converts && !identity {
                return Err(Error::usage("an image view with sampler Y'CbCr conversion swizzles components"));
            }
        }
    }
    Ok(image)
}

creates! {
    fn create_image_view(device, info: vk::ImageViewCreateInfo<'_>) -> vk::ImageView {
        let whole = handle::get::<Image>(info.image)?;
        let conversion = YcbcrConversion::asked_for(info.p_next)?;
        if let Some(conversion) = conversion.as_ref().filter(|conversion| conversion.format != info.format) {
            let formats = (info.format, conversion.format);
            return Err(Error::usage(format!("a view of {:?} with a conversion for {:?}", formats.0, formats.1)));
        }
        let usage = ffi::find::<vk::ImageViewUsageCreateInfo<'_>>(info.p_next).map_or(whole.usage, |u| u.usage);
        let image = viewed(whole.clone(), info, (usage, conversion.is_some()))?;
        if formats::info(info.format).is_none() && formats::ycbcr(info.format).is_none() {
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
            _whole: whole,
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
        let how = Creation::of(info.flags.contains(flag), info.p_next)?;
        let view = Arc::new(view);
        let handle = handle::insert(view.clone());
        if device.describes() {
            let added = device.described.add(handle, &view, how);
            added.inspect_err(|_| drop(handle::take::<ImageView>(handle)))?;
        }
        Ok(handle)
    }
}

destroys! {
    fn destroy_image_view(device, view: vk::ImageView) {
        destroy_described::<ImageView>(&device, view, "vkDestroyImageView")?;
        Ok(())
    }
}
