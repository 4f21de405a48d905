//! VkImage.
//!
//! Every image is laid out row-major: layer after layer, in each layer the levels from the largest, in each
//! level slice after slice, rows tightly packed; level starts are aligned to 64 bytes. So layouts need no
//! work. In check mode the rows of images with optimal tiling lie apart, and the first one does not come
//! first: who looks at the bytes through something else sees that they are nobody's to interpret.
//!
//! An image of a multi-planar format is made of an image for each plane, of the format that the plane is
//! compatible with: what a command does to a plane, it does to that image. The planes lie one after the
//! other, or are bound one by one if the image is disjoint.

mod layout;

pub use layout::{Layout, MipLevel};

use crate::boundary::{creates, destroys, entries};
use crate::caps::external::check_types;
use crate::caps::formats::{self, ImageQuery};
use crate::caps::{BIND_ALIGNMENT, memory};
use crate::check::layouts::Bound;
use crate::check::ownership::Sharing;
use crate::device::Device;
use crate::entry::buffer;
use crate::entry::destroy::destroy;
use crate::entry::memory::{DeviceMemory, bind_each, no_dedicated};
use crate::entry::sparse::{self, Blocks};
use crate::error::{Error, Outcome};
use crate::ffi;
use crate::handle::{self, kind, object};
use ash::vk;
use pellucid_memory::commands::Range;
use pellucid_memory::heap::Placement;
use pellucid_shader_interp::math::format::Aspect;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, Weak};

/// Where the stencil value of a texel with depth and stencil is: behind the word of depth.
const STENCIL_OFFSET: u64 = 4;

/// Bytes before each row of an image that nobody else is to interpret, in check mode.
const OPAQUE_GAP: u64 = 64;

pub struct Image {
    pub format: vk::Format,
    /// Its dimensions.
    pub image_type: vk::ImageType,
    /// Array layers.
    pub layers: u32,
    /// Samples of a texel.
    pub samples: u32,
    pub usage: vk::ImageUsageFlags,
    /// Creation flags.
    pub flags: vk::ImageCreateFlags,
    pub tiling: vk::ImageTiling,
    /// The layers that a barrier names are depth slices (VK_KHR_maintenance9).
    pub slices: bool,
    /// Which queue families may access it.
    pub sharing: Sharing,
    /// The layout of all subresources at first.
    pub initial_layout: vk::ImageLayout,
    /// Where its bytes are. If it has several planes: the bytes of all, and the rest is of the first one.
    pub layout: Layout,
    /// Its sparse image blocks, if it is partially resident.
    pub sparse: Option<Blocks>,
    /// An image for each plane, if there are several: they have the memory and the layouts.
    planes: Vec<Arc<Image>>,
    /// The image that it is a plane of, and which one.
    plane_of: OnceLock<(Weak<Image>, u32)>,
    /// Its first byte from where the image that it is a plane of is bound.
    start: u64,
    /// Its handle, for messages.
    pub handle: AtomicU64,
    binding: OnceLock<(Arc<DeviceMemory>, u64)>,
    bound: OnceLock<Arc<Bound>>,
}

object!(Image, vk::Image, kind::IMAGE);

impl Image {
    /// The image that this would create.
    ///
    /// # Errors
    /// It is not supported.
    ///
    /// # Safety
    /// `info` is the application's.
    pub unsafe fn new(device: &Device, info: &vk::ImageCreateInfo<'_>) -> Outcome<Image> {
        let query = ImageQuery {
            format: info.format,
            image_type: info.image_type,
            tiling: info.tiling,
            usage: info.usage,
            flags: info.flags,
        };
        let unsupported = || {
            Error::not_implemented(&format!("images of format {:?} used for {:?}", info.format, info.usage))
        };
        sparse::check_flags(info.flags)?;
        let known = formats::image_properties(&query, device.caps.heap_size).ok_or_else(unsupported)?;
        // SAFETY: the contract.
        let external = unsafe { ffi::find::<vk::ExternalMemoryImageCreateInfo<'_>>(info.p_next) };
        check_types("images", external.map_or_else(Default::default, |e| e.handle_types))?;
        let (extent, max) = (info.extent, known.max_extent);
        if extent.width > max.width
            || extent.height > max.height
            || extent.depth > max.depth
            || extent.width * extent.height * extent.depth == 0
            || info.array_layers > known.max_array_layers
            || info.mip_levels > known.max_mip_levels
            || !known.sample_counts.contains(info.samples)
        {
            return Err(Error::usage("the image is over the limits of its format"));
        }
        let samples = info.samples.as_raw();
        let extent = [extent.width, extent.height, extent.depth];
        let opaque = device.checked.is_some() && info.tiling == vk::ImageTiling::OPTIMAL;
        let partly = info.flags.contains(vk::ImageCreateFlags::SPARSE_RESIDENCY);
        let block = formats::info(info.format).filter(|_| partly);
        let block = block.and_then(|format| Some((format, formats::sparse_block(format, info.image_type)?)));
        let laid_out = |extent, format: vk::Format, block: Option<[u32; 3]>| {
            let format = formats::info(format).ok_or_else(unsupported)?;
            let block = block.unwrap_or_else(|| format.block());
            let gap = if opaque { OPAQUE_GAP } else { 0 };
            Ok::<_, Error>(Layout::new(
                extent,
                info.mip_levels,
                info.array_layers,
                samples,
                (format, block),
                gap,
            ))
        };
        // SAFETY: the contract.
        let shared = |preserved| unsafe {
            let families = (info.sharing_mode, info.queue_family_index_count, info.p_queue_family_indices);
            buffer::sharing(device, families, preserved)
        };
        let attachment = vk::ImageUsageFlags::COLOR_ATTACHMENT
            | vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT
            | vk::ImageUsageFlags::TRANSIENT_ATTACHMENT
            | vk::ImageUsageFlags::INPUT_ATTACHMENT;
        let linear = info.tiling == vk::ImageTiling::LINEAR;
        let preserved = device.slices && (linear || !info.usage.intersects(attachment));
        let sharing = shared(preserved);
        let made = |format, (layout, start), planes| Image {
            format,
            image_type: info.image_type,
            layers: info.array_layers,
            samples,
            usage: info.usage,
            flags: info.flags,
            tiling: info.tiling,
            slices: device.slices
                && info.image_type == vk::ImageType::TYPE_3D
                && info.flags.contains(vk::ImageCreateFlags::TYPE_2D_ARRAY_COMPATIBLE),
            sharing: sharing.clone(),
            initial_layout: info.initial_layout,
            layout,
            sparse: None,
            planes,
            plane_of: OnceLock::new(),
            start,
            handle: AtomicU64::new(0),
            binding: OnceLock::new(),
            bound: OnceLock::new(),
        };
        let image = match formats::ycbcr(info.format) {
            None => match block {
                Some((format, block)) => {
                    let (levels, layers) = (info.mip_levels, info.array_layers);
                    let (layout, blocks) = sparse::partly_resident(extent, levels, layers, format, block);
                    Image { sparse: Some(blocks), ..made(info.format, (layout, 0), Vec::new()) }
                }
                None => made(info.format, (laid_out(extent, info.format, None)?, 0), Vec::new()),
            },
            Some(of) => {
                if (0..2).any(|k| !extent[k].is_multiple_of(of.subsampling[k])) {
                    let what =
                        "width and height of the image are no multiples of what its chroma is reduced by";
                    return Err(Error::usage(what));
                }
                let plane = |k: usize| {
                    let block = (k == 0).then(|| of.block());
                    laid_out(of.plane_extent(k, extent), vk::Format::from_raw(of.planes[k]), block)
                };
                let (mut whole, mut planes) = (plane(0)?, Vec::new());
                if of.planes.len() > 1 {
                    whole.size = 0;
                    for (k, format) in of.planes.iter().enumerate() {
                        let layout = plane(k)?;
                        let start =
                            if info.flags.contains(vk::ImageCreateFlags::DISJOINT) { 0 } else { whole.size };
                        whole.size += layout.size;
                        planes.push(Arc::new(made(
                            vk::Format::from_raw(*format),
                            (layout, start),
                            Vec::new(),
                        )));
                    }
                }
                made(info.format, (whole, 0), planes)
            }
        };
        if image.layout.size > device.caps.heap_size {
            return Err(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY.into());
        }
        Ok(image)
    }

    /// The images that have the memory and the layouts of these aspects: the image itself, or its planes. No
    /// aspects and the colour aspect stand for all planes.
    pub fn parts(&self, aspects: vk::ImageAspectFlags) -> impl Iterator<Item = &Image> {
        let all = aspects.is_empty() || aspects.contains(vk::ImageAspectFlags::COLOR);
        let named = (0..).zip(&self.planes).filter(move |(k, _)| all || aspects.contains(plane_aspect(*k)));
        self.planes.is_empty().then_some(self).into_iter().chain(named.map(|(_, plane)| &**plane))
    }

    /// The same as its layouts see them, once they are bound to memory.
    pub fn bounds(&self) -> impl Iterator<Item = &Arc<Bound>> {
        self.parts(vk::ImageAspectFlags::empty()).filter_map(Image::bound)
    }

    /// The image whose texels these aspects of a region are: the image itself, or one of its planes.
    ///
    /// # Errors
    /// It has planes, and no single one is named.
    pub fn part_of(&self, aspects: vk::ImageAspectFlags) -> Outcome<&Image> {
        if self.planes.is_empty() {
            return Ok(self);
        }
        self.plane(aspects).map(|plane| &**plane)
    }

    /// The plane that an aspect names.
    ///
    /// # Errors
    /// There is none.
    pub fn plane(&self, aspect: vk::ImageAspectFlags) -> Outcome<&Arc<Image>> {
        let named = (0..).zip(&self.planes).find(|(k, _)| plane_aspect(*k) == aspect);
        named.map(|(_, plane)| plane).ok_or_else(|| {
            let planes = self.planes.len();
            Error::usage(format!(
                "aspects {aspect:?} of an image with {planes} planes where one of these is named"
            ))
        })
    }

    /// Which plane of an image it is.
    pub fn plane_number(&self) -> Option<u32> {
        self.plane_of.get().map(|(_, k)| *k)
    }

    /// The memory that it is bound to, and where.
    ///
    /// # Errors
    /// It is not bound.
    pub fn memory(&self) -> Outcome<(&Arc<DeviceMemory>, u64)> {
        self.binding
            .get()
            .map(|(memory, offset)| (memory, *offset))
            .ok_or_else(|| Error::usage(format!("VkImage {:#x} is not bound to memory", self.handle())))
    }

    pub fn handle(&self) -> u64 {
        self.handle.load(Ordering::Relaxed)
    }

    /// True if it is, or is bound to, the object at `object`.
    pub fn is_or_uses(self: &Arc<Self>, object: *const ()) -> bool {
        Arc::as_ptr(self).cast::<()>() == object
            || self.plane_of.get().is_some_and(|(image, _)| image.as_ptr().cast::<()>() == object)
            || self.planes.iter().any(|plane| plane.is_or_uses(object))
            || self.binding.get().is_some_and(|(m, _)| Arc::as_ptr(m).cast::<()>() == object)
    }

    /// The image as its layouts see it, once it is bound to memory.
    pub fn bound(&self) -> Option<&Arc<Bound>> {
        self.bound.get()
    }

    /// The memory of a sparse image.
    pub fn sparse_memory(&self) -> Option<&Arc<DeviceMemory>> {
        let part = self.parts(vk::ImageAspectFlags::empty()).next()?;
        part.binding.get().map(|(memory, _)| memory).filter(|memory| memory.is_sparse())
    }

    /// What it needs, or one plane of it if it is disjoint.
    fn requirements(&self, plane: Option<vk::ImageAspectFlags>) -> Outcome<vk::MemoryRequirements> {
        if self.flags.contains(vk::ImageCreateFlags::SPARSE_BINDING) {
            return Ok(sparse::requirements(self.layout.size));
        }
        let part = self.bound_by(plane)?;
        let transient = self.usage.contains(vk::ImageUsageFlags::TRANSIENT_ATTACHMENT);
        Ok(vk::MemoryRequirements {
            size: part.layout.size,
            alignment: BIND_ALIGNMENT,
            memory_type_bits: if transient { memory::TRANSIENT } else { memory::ORDINARY },
        })
    }

    /// What is bound to memory by itself: the image, or one plane if it is disjoint.
    fn bound_by(&self, plane: Option<vk::ImageAspectFlags>) -> Outcome<&Image> {
        match (plane, self.flags.contains(vk::ImageCreateFlags::DISJOINT)) {
            (None, false) => Ok(self),
            // It is an alias of a plane.
            (None | Some(vk::ImageAspectFlags::PLANE_0), true) if self.planes.is_empty() => Ok(self),
            (Some(plane), true) => self.plane(plane).map(|plane| &**plane),
            (None, true) => Err(Error::usage("the planes of a disjoint image have memory of their own")),
            (Some(_), false) => Err(Error::usage("the planes of an image that is not disjoint share memory")),
        }
    }

    fn bind(
        &self,
        memory: vk::DeviceMemory,
        offset: u64,
        plane: Option<vk::ImageAspectFlags>,
    ) -> Outcome<()> {
        let memory = handle::get::<DeviceMemory>(memory)?;
        if self.flags.contains(vk::ImageCreateFlags::SPARSE_BINDING) {
            return Err(Error::usage("memory is bound to a sparse image by vkQueueBindSparse"));
        }
        let part = self.bound_by(plane)?;
        if !offset.is_multiple_of(BIND_ALIGNMENT)
            || offset.saturating_add(part.layout.size) > memory.bytes().size()
        {
            return Err(Error::usage(format!(
                "an image of {} bytes does not fit at offset {offset} of {} bytes of memory",
                part.layout.size,
                memory.bytes().size()
            )));
        }
        part.parts(vk::ImageAspectFlags::empty())
            .try_for_each(|part| part.bind_part(memory.clone(), offset + part.start))
    }

    /// Binds an image without planes.
    fn bind_part(&self, memory: Arc<DeviceMemory>, offset: u64) -> Outcome<()> {
        let alias = self.flags.contains(vk::ImageCreateFlags::ALIAS);
        let bound = Bound {
            handle: self.handle(),
            plane: self.plane_number(),
            sharing: self.sharing.seen(memory.is_device_only() && !self.slices),
            aspect: formats::info(self.format).map_or(Aspect::Color, |info| info.aspect),
            tiling: self.tiling,
            initial_layout: self.initial_layout,
            alias: alias.then_some((self.format, self.image_type, self.usage, self.samples)),
            layers: self.layers,
            slices: self.slices,
            layer: self.layout.layer,
            levels: self.layout.levels.iter().map(|level| (level.offset, level.size())).collect(),
            bytes: Range::new(memory.bytes().address() + offset, self.layout.size),
            ended: AtomicBool::new(false),
        };
        self.binding.set((memory, offset)).map_err(|_| Error::usage("the image is bound already"))?;
        self.bound.get_or_init(|| Arc::new(bound));
        Ok(())
    }

    /// Where a subresource is in a linear image.
    fn subresource(&self, of: &vk::ImageSubresource) -> Outcome<vk::SubresourceLayout> {
        let part = self.part_of(of.aspect_mask)?;
        let level = part.layout.levels.get(of.mip_level as usize);
        let level = level.ok_or_else(|| Error::usage("the image has no such mip level"))?;
        Ok(vk::SubresourceLayout {
            offset: part.start + level.offset + part.layout.layer * u64::from(of.array_layer),
            size: level.size(),
            row_pitch: level.row,
            array_pitch: part.layout.layer,
            depth_pitch: level.slice,
        })
    }

    /// The same with what extends it: a host copy by VK_HOST_IMAGE_COPY_MEMCPY_EXT moves texels without gaps.
    ///
    /// # Safety
    /// `out` is the application's.
    unsafe fn subresource2(
        &self,
        of: &vk::ImageSubresource,
        out: &mut vk::SubresourceLayout2KHR<'_>,
    ) -> Outcome<()> {
        out.subresource_layout = self.subresource(of)?;
        // SAFETY: the contract.
        if let Some(copied) = unsafe { ffi::find_mut::<vk::SubresourceHostMemcpySizeEXT<'_>>(out.p_next) } {
            let part = self.part_of(of.aspect_mask)?;
            let level = &part.layout.levels[of.mip_level as usize];
            copied.size =
                level.blocks.iter().map(|e| u64::from(*e)).product::<u64>() * part.part(of.aspect_mask).1;
        }
        Ok(())
    }

    /// How shaders see an aspect through a view of this format: its first byte in a texel, and the format.
    pub fn seen_as(&self, format: vk::Format, aspects: vk::ImageAspectFlags) -> (u64, vk::Format) {
        match (self.format, aspects) {
            (
                vk::Format::D24_UNORM_S8_UINT | vk::Format::D32_SFLOAT_S8_UINT,
                vk::ImageAspectFlags::STENCIL,
            ) => (STENCIL_OFFSET, vk::Format::S8_UINT),
            (vk::Format::D24_UNORM_S8_UINT, _) => (0, vk::Format::X8_D24_UNORM_PACK32),
            (vk::Format::D32_SFLOAT_S8_UINT, _) => (0, vk::Format::D32_SFLOAT),
            _ => (0, format),
        }
    }

    /// Where the aspects of a texel block are: their first byte, and their bytes.
    pub fn part(&self, aspects: vk::ImageAspectFlags) -> (u64, u64) {
        let combined = matches!(self.format, vk::Format::D24_UNORM_S8_UINT | vk::Format::D32_SFLOAT_S8_UINT);
        let sample = self.layout.texel / u64::from(self.samples);
        match aspects {
            vk::ImageAspectFlags::DEPTH if combined => (0, 4),
            vk::ImageAspectFlags::STENCIL if combined => (STENCIL_OFFSET, 1),
            _ => (0, sample),
        }
    }

    /// Resolves VK_REMAINING_MIP_LEVELS and VK_REMAINING_ARRAY_LAYERS; level and layer ranges inside the
    /// image.
    ///
    /// # Errors
    /// The range is not inside the image.
    pub fn range(
        &self,
        range: &vk::ImageSubresourceRange,
    ) -> Outcome<(std::ops::Range<u32>, std::ops::Range<u32>)> {
        let cut = |base: u32, count: u32, all: u32| {
            let end = if count == vk::REMAINING_MIP_LEVELS { all } else { base.saturating_add(count) };
            if base < end && end <= all {
                Ok(base..end)
            } else {
                Err(Error::usage(format!("levels or layers {base}..{end} of an image that has {all}")))
            }
        };
        let levels = cut(range.base_mip_level, range.level_count, self.layout.levels.len() as u32)?;
        Ok((levels, cut(range.base_array_layer, range.layer_count, self.layers)?))
    }
}

/// VK_IMAGE_ASPECT_PLANE_0_BIT and so on.
fn plane_aspect(plane: u32) -> vk::ImageAspectFlags {
    match plane {
        0 => vk::ImageAspectFlags::PLANE_0,
        1 => vk::ImageAspectFlags::PLANE_1,
        _ => vk::ImageAspectFlags::PLANE_2,
    }
}

creates! {
    fn create_image(device, info: vk::ImageCreateInfo<'_>) -> vk::Image {
        let image = Arc::new(Image::new(&device, info)?);
        let sparse = match image.flags.contains(vk::ImageCreateFlags::SPARSE_BINDING) {
            true => {
                let (anywhere, size) = (Placement::Anywhere, image.layout.size);
                let aliased = image.flags.contains(vk::ImageCreateFlags::SPARSE_ALIASED);
                Some(Arc::new(DeviceMemory::sparse(&device, anywhere, size, aliased)?))
            }
            false => None,
        };
        let handle = handle::insert(image.clone());
        image.handle.store(vk::Handle::as_raw(handle), Ordering::Relaxed);
        for (k, plane) in (0..).zip(&image.planes) {
            plane.handle.store(vk::Handle::as_raw(handle), Ordering::Relaxed);
            plane.plane_of.get_or_init(|| (Arc::downgrade(&image), k));
        }
        if let Some(memory) = sparse {
            if image.sparse.is_none() {
                memory.must_be_whole(&device, (vk::ObjectType::IMAGE, image.handle()));
            }
            image
                .parts(vk::ImageAspectFlags::empty())
                .try_for_each(|part| part.bind_part(memory.clone(), part.start))?;
        }
        Ok(handle)
    }
}

destroys! {
    fn destroy_image(device, image: vk::Image) {
        let ended = destroy::<Image>(&device, image, "vkDestroyImage")?;
        for bound in ended.iter().flat_map(|image| image.bounds()) {
            bound.ended.store(true, Ordering::Relaxed);
        }
        Ok(())
    }
}

entries! {
    fn bind_image_memory(
        _device: Arc<Device>,
        image: Arc<Image>,
        memory: vk::DeviceMemory,
        offset: vk::DeviceSize,
    ) -> vk::Result {
        image.bind(memory, offset, None)
    }

    fn bind_image_memory2(_device: Arc<Device>, infos: &[vk::BindImageMemoryInfo<'_>]) -> vk::Result {
        bind_each(infos, |info| {
            let plane = ffi::find::<vk::BindImagePlaneMemoryInfo<'_>>(info.p_next).map(|p| p.plane_aspect);
            let image = handle::get::<Image>(info.image);
            (image.and_then(|image| image.bind(info.memory, info.memory_offset, plane)), info.p_next)
        })
    }

    fn get_image_memory_requirements(
        _device: Arc<Device>,
        image: vk::Image,
        out: *mut vk::MemoryRequirements,
    ) {
        // Of an object that is not there the application reads zeros, never what its memory held.
        ffi::write(out, vk::MemoryRequirements::default())?;
        ffi::write(out, handle::get::<Image>(image)?.requirements(None)?)
    }

    fn get_image_memory_requirements2(
        _device: Arc<Device>,
        info: *const vk::ImageMemoryRequirementsInfo2<'_>,
        out: &mut vk::MemoryRequirements2<'_>,
    ) {
        out.memory_requirements = vk::MemoryRequirements::default();
        let info = ffi::read(info)?;
        let plane = ffi::find::<vk::ImagePlaneMemoryRequirementsInfo<'_>>(info.p_next).map(|p| p.plane_aspect);
        out.memory_requirements = handle::get::<Image>(info.image)?.requirements(plane)?;
        no_dedicated(ffi::chain_mut(out.p_next));
        Ok(())
    }

    fn get_device_image_memory_requirements(
        device: Arc<Device>,
        info: *const vk::DeviceImageMemoryRequirements<'_>,
        out: &mut vk::MemoryRequirements2<'_>,
    ) {
        let info = ffi::read(info)?;
        let image = Image::new(&device, ffi::read(info.p_create_info)?)?;
        let disjoint = image.flags.contains(vk::ImageCreateFlags::DISJOINT);
        out.memory_requirements = image.requirements(disjoint.then_some(info.plane_aspect))?;
        no_dedicated(ffi::chain_mut(out.p_next));
        Ok(())
    }

    fn get_image_subresource_layout(
        _device: Arc<Device>,
        image: vk::Image,
        subresource: *const vk::ImageSubresource,
        out: *mut vk::SubresourceLayout,
    ) {
        ffi::write(out, vk::SubresourceLayout::default())?;
        let image = handle::get::<Image>(image)?;
        let subresource = ffi::read(subresource)?;
        ffi::write(out, image.subresource(subresource)?)
    }

    /// vkGetImageSubresourceLayout2KHR.
    fn get_image_subresource_layout2(
        _device: Arc<Device>,
        image: Arc<Image>,
        subresource: &vk::ImageSubresource2KHR<'_>,
        out: *mut vk::SubresourceLayout2KHR<'_>,
    ) {
        image.subresource2(&subresource.image_subresource, ffi::read_mut(out)?)
    }

    /// vkGetDeviceImageSubresourceLayoutKHR.
    fn get_device_image_subresource_layout(
        device: Arc<Device>,
        info: &vk::DeviceImageSubresourceInfoKHR<'_>,
        out: *mut vk::SubresourceLayout2KHR<'_>,
    ) {
        let image = Image::new(&device, ffi::read(info.p_create_info)?)?;
        image.subresource2(&ffi::read(info.p_subresource)?.image_subresource, ffi::read_mut(out)?)
    }
}
