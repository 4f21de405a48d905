//! Sparse resources and vkQueueBindSparse (*Sparse Resources*).
//!
//! The memory of a sparse buffer or image is addresses alone ([`pellucid_memory::device::sparse`]), from its
//! creation on; for everybody who accesses it, it is bound like any other. A queue binds other memory there.
//!
//! A partially resident image is laid out like others, in rows, with rows of whole pages: a sparse image
//! block is one page wide, so that each of its rows is bound by itself. Levels that are smaller than a block
//! are the mip tail of their layer.

use crate::boundary::entries;
use crate::caps::BIND_ALIGNMENT;
use crate::caps::formats::{self, ImageQuery};
use crate::caps::memory::{SPARSE, SPARSE_BLOCK, SPARSE_ROW};
use crate::check::binding::Changed;
use crate::device::Device;
use crate::entry::buffer::Buffer;
use crate::entry::image::{Image, Layout, MipLevel};
use crate::entry::memory::DeviceMemory;
use crate::entry::physical_device::PhysicalDevice;
use crate::error::{Error, Outcome};
use crate::ffi;
use crate::handle;
use crate::queue::Queue;
use crate::queue::submission::{Use, Work};
use ash::vk;
use parking_lot::Mutex;
use pellucid_memory::commands;
use pellucid_shader_interp::math::format::FormatInfo;
use std::ops::Range;
use std::sync::{Arc, Weak};

/// Bytes of a resource, and where in memory each run of them begins.
type BoundRuns = Vec<(Range<u64>, u64)>;

/// The sparse image blocks of a partially resident image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blocks {
    /// Texels of one (`imageGranularity`).
    pub extent: [u32; 3],
    /// The first level of the mip tail; the number of levels, if there is none.
    pub tail: u32,
    /// The first byte of the mip tail in a layer.
    pub tail_offset: u64,
    /// Bytes of the mip tail of a layer.
    pub tail_size: u64,
}

/// The memory that a sparse resource of so many bytes needs.
pub fn requirements(size: u64) -> vk::MemoryRequirements {
    vk::MemoryRequirements {
        size: size.next_multiple_of(SPARSE_BLOCK),
        alignment: SPARSE_BLOCK,
        memory_type_bits: SPARSE,
    }
}

/// Checks the sparse flags of a resource; those of buffers have the same values as those of images.
///
/// # Errors
/// They do not belong together.
pub fn check_flags(flags: vk::ImageCreateFlags) -> Outcome<()> {
    use vk::ImageCreateFlags as C;
    if flags.intersects(C::SPARSE_RESIDENCY | C::SPARSE_ALIASED) && !flags.contains(C::SPARSE_BINDING) {
        return Err(Error::usage("SPARSE_RESIDENCY or SPARSE_ALIASED without SPARSE_BINDING"));
    }
    Ok(())
}

/// Lays out a partially resident image with blocks of so many texels.
pub fn partly_resident(
    extent: [u32; 3],
    levels: u32,
    layers: u32,
    format: &FormatInfo,
    block: [u32; 3],
) -> (Layout, Blocks) {
    let texel = u64::from(format.texel_bytes);
    let extents = (0..levels).map(|n| extent.map(|e| (e >> n).max(1)));
    let is_tail = |extent: &[u32; 3]| extent.iter().zip(block).any(|(e, b)| *e < b);
    let tail = extents.clone().position(|e| is_tail(&e)).unwrap_or(levels as usize);
    let (mut offset, mut tail_offset) = (0, 0);
    let mut list = Vec::new();
    for (n, extent) in extents.enumerate() {
        if n == tail {
            tail_offset = offset;
        }
        let row = u64::from(extent[0]) * texel;
        let (rows, slices) = (u64::from(extent[1]), u64::from(extent[2]));
        // The last blocks are there as a whole, so that no byte is left to which nothing can be bound.
        let (row, rows, slices, alignment) = if n < tail {
            let [_, height, depth] = block.map(u64::from);
            let (rows, slices) = (rows.next_multiple_of(height), slices.next_multiple_of(depth));
            (row.next_multiple_of(SPARSE_ROW), rows, slices, SPARSE_BLOCK)
        } else {
            (row, rows, slices, BIND_ALIGNMENT)
        };
        let level = MipLevel { extent, blocks: extent, offset, row, slice: row * rows };
        offset = (offset + level.slice * slices).next_multiple_of(alignment);
        list.push(level);
    }
    let layer = offset.next_multiple_of(SPARSE_BLOCK);
    let tail_size = if tail < list.len() { layer - tail_offset } else { 0 };
    let layout =
        Layout { levels: list, texel, block: format.block(), layer, size: layer * u64::from(layers) };
    (layout, Blocks { extent: block, tail: tail as u32, tail_offset, tail_size })
}

impl Blocks {
    fn properties(&self) -> vk::SparseImageFormatProperties {
        properties(self.extent)
    }

    /// Which bytes of an image belong to the blocks that a region touches, and where in the memory that is
    /// bound to them: blocks come in the order x, y, z, their rows in the order y, z. The region begins at a
    /// block; whether it ends at one, too, or where the level does.
    ///
    /// # Errors
    /// The region is not inside the level, or does not begin at a block.
    fn rows(&self, layout: &Layout, bind: &vk::SparseImageMemoryBind) -> Outcome<(BoundRuns, bool)> {
        let of = bind.subresource;
        let level = layout
            .levels
            .get(of.mip_level as usize)
            .filter(|_| of.mip_level < self.tail)
            .ok_or_else(|| Error::usage(format!("level {} has no sparse image blocks", of.mip_level)))?;
        let base = layout.layer.checked_mul(u64::from(of.array_layer)).filter(|base| *base < layout.size);
        let base = base.ok_or_else(|| Error::usage("the image has no such array layer"))? + level.offset;
        let offset = [bind.offset.x, bind.offset.y, bind.offset.z];
        let extent = [bind.extent.width, bind.extent.height, bind.extent.depth];
        let (mut blocks, mut whole) = ([0..0, 0..0, 0..0], true);
        for axis in 0..3 {
            let (size, all) = (self.extent[axis], level.extent[axis]);
            let start = u32::try_from(offset[axis]).ok().filter(|start| start.is_multiple_of(size));
            let end = start.and_then(|start| start.checked_add(extent[axis]));
            let (Some(start), Some(end)) = (start, end) else {
                return Err(Error::usage("the offset is no multiple of the sparse image block"));
            };
            if start >= end || end > all {
                return Err(Error::usage("the region is not inside the level"));
            }
            whole &= end == all || end.is_multiple_of(size);
            blocks[axis] = start / size..end.div_ceil(size);
        }
        let [width, height, depth] = self.extent;
        let (mut rows, mut block) = (Vec::new(), bind.memory_offset);
        let [across, down, deep] = blocks;
        for z in deep {
            for y in down.clone() {
                for x in across.clone() {
                    for (n, (dz, dy)) in
                        (0u64..).zip((0..depth).flat_map(|dz| (0..height).map(move |dy| (dz, dy))))
                    {
                        let (row, slice) = (y * height + dy, z * depth + dz);
                        let start = base
                            + u64::from(slice) * level.slice
                            + u64::from(row) * level.row
                            + u64::from(x) * SPARSE_ROW;
                        debug_assert!(u64::from(width) * layout.texel == SPARSE_ROW);
                        rows.push((start..start + SPARSE_ROW, block + n * SPARSE_ROW));
                    }
                    block = block.checked_add(SPARSE_BLOCK).ok_or_else(|| Error::usage("memoryOffset"))?;
                }
            }
        }
        Ok((rows, whole))
    }
}

fn properties(block: [u32; 3]) -> vk::SparseImageFormatProperties {
    let [width, height, depth] = block;
    vk::SparseImageFormatProperties {
        aspect_mask: vk::ImageAspectFlags::COLOR,
        image_granularity: vk::Extent3D { width, height, depth },
        flags: vk::SparseImageFormatFlags::NONSTANDARD_BLOCK_SIZE,
    }
}

impl Image {
    fn sparse_requirements(&self) -> Vec<vk::SparseImageMemoryRequirements> {
        let requirements = |blocks: &Blocks| vk::SparseImageMemoryRequirements {
            format_properties: blocks.properties(),
            image_mip_tail_first_lod: blocks.tail,
            image_mip_tail_size: blocks.tail_size,
            image_mip_tail_offset: blocks.tail_offset,
            image_mip_tail_stride: self.layout.layer,
        };
        self.sparse.as_ref().map(requirements).into_iter().collect()
    }
}

/// What memory is bound to.
enum Resource {
    Buffer(Arc<Buffer>),
    Image(Arc<Image>),
}

impl Resource {
    fn memory(&self) -> Outcome<&Arc<DeviceMemory>> {
        let (memory, called) = match self {
            Resource::Buffer(buffer) => (buffer.sparse(), "buffer"),
            Resource::Image(image) => (image.sparse_memory(), "image"),
        };
        memory.ok_or_else(|| Error::usage(format!("the {called} was not created with SPARSE_BINDING")))
    }
}

/// Parts of one allocation that are bound to one resource, or parts that are unbound.
struct Bind {
    resource: Resource,
    memory: Option<Arc<DeviceMemory>>,
    runs: BoundRuns,
}

impl Bind {
    fn new(
        resource: Resource,
        memory: vk::DeviceMemory,
        flags: vk::SparseMemoryBindFlags,
        runs: BoundRuns,
    ) -> Outcome<Bind> {
        if flags.contains(vk::SparseMemoryBindFlags::METADATA) {
            return Err(Error::usage("no image has a metadata aspect"));
        }
        let memory = handle::get_optional::<DeviceMemory>(memory)?;
        let all = resource.memory()?.bytes().size();
        for (range, offset) in &runs {
            if range.end > all {
                let text = format!("bytes {}..{} of a resource that has {all}", range.start, range.end);
                return Err(Error::usage(text));
            }
            let Some(memory) = &memory else { continue };
            if memory.host_visible || memory.is_sparse() {
                return Err(Error::usage("the memory's type is not among the resource's memoryTypeBits"));
            }
            let end = offset.checked_add(range.end - range.start);
            let size = memory.bytes().size();
            if !offset.is_multiple_of(SPARSE_ROW) || end.is_none_or(|end| end > size) {
                let size = range.end - range.start;
                return Err(Error::usage(format!(
                    "{size} bytes from offset {offset} do not lie in the memory, or not on its pages"
                )));
            }
        }
        Ok(Bind { resource, memory, runs })
    }

    /// vkSparseMemoryBind.
    fn opaque(resource: Resource, bind: &vk::SparseMemoryBind) -> Outcome<Bind> {
        let all = resource.memory()?.bytes().size();
        let end = bind.resource_offset.saturating_add(bind.size);
        let aligned = |at: u64| at.is_multiple_of(SPARSE_BLOCK);
        // The last block may end where the resource does.
        let ends = aligned(end) || end.next_multiple_of(SPARSE_BLOCK) == all;
        let unbinds = bind.memory == vk::DeviceMemory::null();
        let placed = unbinds || aligned(bind.memory_offset);
        if bind.size == 0 || !aligned(bind.resource_offset) || !placed || !ends {
            return Err(Error::usage(format!(
                "resourceOffset, memoryOffset and size have to be multiples of {SPARSE_BLOCK}"
            )));
        }
        let offset = if unbinds { 0 } else { bind.memory_offset };
        let range = bind.resource_offset..end.next_multiple_of(SPARSE_ROW);
        Bind::new(resource, bind.memory, bind.flags, vec![(range, offset)])
    }

    fn run(&self, changed: &mut Changed) -> Result<(), String> {
        let resource = self.resource.memory().map_err(|error| error.message.unwrap_or_default())?;
        if let Some(memory) = &self.memory {
            memory.bind_sparse(resource);
        }
        for (range, offset) in &self.runs {
            let memory = self.memory.as_ref().map(|memory| (memory.bytes(), *offset));
            match resource.bytes().bind(range, memory) {
                Ok(true) => changed.add(resource, range, memory),
                Ok(false) => return Err("internal error: a sparse binding out of bounds".to_owned()),
                Err(error) => return Err(format!("vkQueueBindSparse: {error}")),
            }
        }
        Ok(())
    }

    /// Whoever shares memory has to say so (*Sparse Memory Aliasing*): all the resources that bytes are bound
    /// to, and the one that they are bound to at several places. To be asked when what belongs together is
    /// bound.
    fn check_aliased(&self, device: &Device) {
        let Some(memory) = &self.memory else { return };
        let start = self.runs.iter().map(|(_, offset)| *offset).min().unwrap_or(0);
        let end =
            self.runs.iter().map(|(range, offset)| offset + (range.end - range.start)).max().unwrap_or(0);
        if memory.is_bound_twice(&(start..end)) {
            let memory = memory.handle();
            device.instance.misuse(&format!(
                "vkQueueBindSparse: VkDeviceMemory {} is bound at two places there, and not both are of \
                 resources with SPARSE_ALIASED",
                handle::number(memory).unwrap_or(memory)
            ));
        }
    }
}

/// What bindings are about, which it does not keep.
enum Named {
    Buffer(Weak<Buffer>),
    Image(Weak<Image>),
    Memory(Weak<DeviceMemory>),
}

impl Named {
    fn of(bind: &Bind) -> impl Iterator<Item = Named> {
        let resource = match &bind.resource {
            Resource::Buffer(buffer) => Named::Buffer(Arc::downgrade(buffer)),
            Resource::Image(image) => Named::Image(Arc::downgrade(image)),
        };
        let memory = bind.memory.as_ref().map(|memory| Named::Memory(Arc::downgrade(memory)));
        std::iter::once(resource).chain(memory)
    }

    fn is(&self, object: *const ()) -> bool {
        match self {
            Named::Buffer(buffer) => buffer.upgrade().is_some_and(|buffer| buffer.is_or_uses(object)),
            Named::Image(image) => image.upgrade().is_some_and(|image| image.is_or_uses(object)),
            Named::Memory(memory) => memory.as_ptr().cast::<()>() == object,
        }
    }
}

/// The bindings of a VkBindSparseInfo.
struct Binds {
    device: Weak<Device>,
    /// Nothing any more, once they are made: who destroys what they name then has it destroyed.
    list: Mutex<Vec<Bind>>,
    named: Vec<Named>,
}

impl Work for Binds {
    fn run(&self, queue: &Queue, labels: &[String]) -> Result<(), String> {
        let list = std::mem::take(&mut *self.list.lock());
        let Some(device) = self.device.upgrade() else { return Ok(()) };
        let mut changed = Changed::default();
        list.iter().try_for_each(|bind| bind.run(&mut changed))?;
        changed.tell(&device, queue, labels)?;
        list.iter().for_each(|bind| bind.check_aliased(&device));
        Ok(())
    }

    fn submit(&self, _queue: u32, _serial: u64) {}

    fn use_of(&self, object: *const ()) -> Option<Use> {
        let used = self.named.iter().any(|named| named.is(object));
        used.then_some(Use { command: "vkQueueBindSparse", index: None })
    }

    fn use_of_ended(&self, object: *const ()) -> Option<Use> {
        self.use_of(object)
    }

    fn bytes_used(&self, _object: *const (), _all: commands::Range, _each: &mut dyn FnMut(commands::Range)) {}

    fn access_of(&self, _bytes: commands::Range) -> Option<Use> {
        None
    }
}

/// The work of a VkBindSparseInfo; `None` if there is none.
///
/// # Errors
/// A binding is outside of its resource or memory.
///
/// # Safety
/// The info is the application's.
pub unsafe fn binds(device: &Arc<Device>, info: &vk::BindSparseInfo<'_>) -> Outcome<Option<Arc<dyn Work>>> {
    let mut list = Vec::new();
    // SAFETY: the contract.
    unsafe {
        for of in ffi::slice(info.p_buffer_binds, info.buffer_bind_count) {
            let buffer = handle::get::<Buffer>(of.buffer)?;
            for bind in ffi::slice(of.p_binds, of.bind_count) {
                list.push(Bind::opaque(Resource::Buffer(buffer.clone()), bind)?);
            }
        }
        for of in ffi::slice(info.p_image_opaque_binds, info.image_opaque_bind_count) {
            let image = handle::get::<Image>(of.image)?;
            for bind in ffi::slice(of.p_binds, of.bind_count) {
                list.push(Bind::opaque(Resource::Image(image.clone()), bind)?);
            }
        }
        for of in ffi::slice(info.p_image_binds, info.image_bind_count) {
            let image = handle::get::<Image>(of.image)?;
            let blocks = image
                .sparse
                .ok_or_else(|| Error::usage("the image was not created with SPARSE_RESIDENCY"))?;
            for bind in ffi::slice(of.p_binds, of.bind_count) {
                let (rows, whole) = blocks.rows(&image.layout, bind)?;
                if !whole {
                    device.instance.misuse(
                        "vkQueueBindSparse: the extent is not a multiple of the sparse image block, nor does \
                         it end where the level does; the whole block is bound",
                    );
                }
                list.push(Bind::new(Resource::Image(image.clone()), bind.memory, bind.flags, rows)?);
            }
        }
    }
    if list.is_empty() {
        return Ok(None);
    }
    let named = list.iter().flat_map(Named::of).collect();
    Ok(Some(Arc::new(Binds { device: Arc::downgrade(device), list: Mutex::new(list), named })))
}

/// The sparse image block of images that are created like this, if there are any.
fn format_properties(
    query: &ImageQuery,
    samples: vk::SampleCountFlags,
) -> Vec<vk::SparseImageFormatProperties> {
    let supported = samples == vk::SampleCountFlags::TYPE_1 && formats::image_properties(query, 0).is_some();
    let block = formats::info(query.format).and_then(|info| formats::sparse_block(info, query.image_type));
    block.filter(|_| supported).map(properties).into_iter().collect()
}

/// The flags of a partially resident image.
const PARTLY: vk::ImageCreateFlags = vk::ImageCreateFlags::from_raw(
    vk::ImageCreateFlags::SPARSE_BINDING.as_raw() | vk::ImageCreateFlags::SPARSE_RESIDENCY.as_raw(),
);

entries! {
    fn get_image_sparse_memory_requirements(
        device: vk::Device,
        image: vk::Image,
        count: *mut u32,
        out: *mut vk::SparseImageMemoryRequirements,
    ) {
        handle::dispatchable::<Device>(device)?;
        ffi::enumerate(&handle::get::<Image>(image)?.sparse_requirements(), count, out).map(|_| ())
    }

    fn get_image_sparse_memory_requirements2(
        device: vk::Device,
        info: *const vk::ImageSparseMemoryRequirementsInfo2<'_>,
        count: *mut u32,
        out: *mut vk::SparseImageMemoryRequirements2<'_>,
    ) {
        handle::dispatchable::<Device>(device)?;
        let all = handle::get::<Image>(ffi::read(info)?.image)?.sparse_requirements();
        ffi::enumerate_with(all.len(), count, out, |n, slot| slot.memory_requirements = all[n]).map(|_| ())
    }

    fn get_device_image_sparse_memory_requirements(
        device: vk::Device,
        info: *const vk::DeviceImageMemoryRequirements<'_>,
        count: *mut u32,
        out: *mut vk::SparseImageMemoryRequirements2<'_>,
    ) {
        let device = handle::dispatchable::<Device>(device)?;
        let all = Image::new(&device, ffi::read(ffi::read(info)?.p_create_info)?)?.sparse_requirements();
        ffi::enumerate_with(all.len(), count, out, |n, slot| slot.memory_requirements = all[n]).map(|_| ())
    }

    fn get_physical_device_sparse_image_format_properties(
        device: vk::PhysicalDevice,
        format: vk::Format,
        image_type: vk::ImageType,
        samples: vk::SampleCountFlags,
        usage: vk::ImageUsageFlags,
        tiling: vk::ImageTiling,
        count: *mut u32,
        out: *mut vk::SparseImageFormatProperties,
    ) {
        handle::dispatchable::<PhysicalDevice>(device)?;
        let query = ImageQuery { format, image_type, tiling, usage, flags: PARTLY };
        ffi::enumerate(&format_properties(&query, samples), count, out).map(|_| ())
    }

    fn get_physical_device_sparse_image_format_properties2(
        device: vk::PhysicalDevice,
        info: *const vk::PhysicalDeviceSparseImageFormatInfo2<'_>,
        count: *mut u32,
        out: *mut vk::SparseImageFormatProperties2<'_>,
    ) {
        handle::dispatchable::<PhysicalDevice>(device)?;
        let info = ffi::read(info)?;
        let query = ImageQuery {
            format: info.format,
            image_type: info.ty,
            tiling: info.tiling,
            usage: info.usage,
            flags: PARTLY,
        };
        let all = format_properties(&query, info.samples);
        ffi::enumerate_with(all.len(), count, out, |n, slot| slot.properties = all[n]).map(|_| ())
    }
}

#[cfg(test)]
mod tests;
