//! Transfers: copies, fills and clears of buffers and images, through the device view.

use super::Cleared;
use crate::caps::formats;
use crate::check::hazards::Transfer;
use crate::device::Device;
use crate::entry::buffer::Buffer;
use crate::entry::image::{Image, MipLevel};
use crate::error::{Error, Outcome};
use ash::vk;
use pellucid_memory::device::Allocation;
use pellucid_shader_interp::math::format::Aspect;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// In check mode: where a command says which bytes it touched.
pub type Touched<'a> = Option<&'a mut Transfer>;

pub(super) fn moved(touched: &mut Touched<'_>, from: (&Allocation, u64), to: (&Allocation, u64), size: u64) {
    if let Some(t) = touched {
        t.read(from.0.address() + from.1, size);
        t.write(to.0.address() + to.1, size);
    }
}

fn written(touched: &mut Touched<'_>, memory: &Allocation, offset: u64, size: u64) {
    if let Some(t) = touched {
        t.write(memory.address() + offset, size);
    }
}

fn outside() -> Error {
    Error::usage("a region is not inside its buffer or image")
}

/// Whether a range is inside a buffer.
fn holds(buffer: &Buffer, offset: u64, size: u64) -> bool {
    offset.checked_add(size).is_some_and(|end| end <= buffer.size)
}

fn done(inside: bool) -> Outcome<()> {
    if inside { Ok(()) } else { Err(outside()) }
}

/// A copy or fill of so many bytes and more is shared out among the host's threads. Of one that fits into
/// caches the threads would take longer to begin than one of them to end it.
const SHARED_OUT: u64 = 4 << 20;

/// Calls `each` with the parts of `size` bytes, their first and their number, on several threads if that
/// pays. True if all calls say so.
fn parts(device: &Device, size: u64, each: impl Fn(u64, u64) -> bool + Sync) -> bool {
    let Some(pool) = (size >= SHARED_OUT).then(|| device.pool()).flatten() else { return each(0, size) };
    let part = size.div_ceil(pool.current_num_threads() as u64).next_multiple_of(4096);
    let all = AtomicBool::new(true);
    pool.scope(|scope| {
        for start in (0..size).step_by(part as usize) {
            let (each, all) = (&each, &all);
            scope.spawn(move |_| {
                if !each(start, part.min(size - start)) {
                    all.store(false, Ordering::Relaxed);
                }
            });
        }
    });
    all.into_inner()
}

/// vkCmdCopyBuffer.
///
/// # Errors
/// A buffer is not bound, or a region is not inside.
pub fn buffers(
    device: &Device,
    from: &Buffer,
    to: &Buffer,
    regions: &[vk::BufferCopy],
    mut touched: Touched<'_>,
) -> Outcome<()> {
    let ((source, s), (target, t)) = (from.memory()?, to.memory()?);
    for region in regions {
        done(holds(from, region.src_offset, region.size) && holds(to, region.dst_offset, region.size))?;
        let (read, write) = (s + region.src_offset, t + region.dst_offset);
        let copy = |first: u64, size: u64| {
            Allocation::copy(source.bytes(), read + first, target.bytes(), write + first, size)
        };
        // One that overlaps itself, which is no valid usage, stays in one piece; sparse and external memory
        // may be the same at two places.
        let known =
            [source, target].iter().all(|memory| !memory.bytes().is_sparse() && !memory.is_external());
        let apart = !Arc::ptr_eq(source.bytes(), target.bytes()) || read.abs_diff(write) >= region.size;
        done(if known && apart { parts(device, region.size, copy) } else { copy(0, region.size) })?;
        moved(&mut touched, (source.bytes(), read), (target.bytes(), write), region.size);
    }
    Ok(())
}

/// vkCmdFillBuffer.
///
/// # Errors
/// The buffer is not bound, or the range is not inside.
pub fn fill(
    device: &Device,
    to: &Buffer,
    offset: u64,
    size: u64,
    data: u32,
    mut touched: Touched<'_>,
) -> Outcome<()> {
    let (memory, base) = to.memory()?;
    done(holds(to, offset, size))?;
    written(&mut touched, memory.bytes(), base + offset, size);
    let fill = |first, size| memory.bytes().fill(base + offset + first, size, &data.to_le_bytes());
    done(parts(device, size, fill))
}

/// vkCmdUpdateBuffer.
///
/// # Errors
/// The buffer is not bound, or the range is not inside.
pub fn update(to: &Buffer, offset: u64, bytes: &[u8], mut touched: Touched<'_>) -> Outcome<()> {
    let (memory, base) = to.memory()?;
    done(holds(to, offset, bytes.len() as u64))?;
    written(&mut touched, memory.bytes(), base + offset, bytes.len() as u64);
    done(memory.bytes().write(base + offset, bytes))
}

/// A box of texel blocks in an image: where its rows are.
pub(super) struct Texels<'a> {
    pub(super) memory: &'a Allocation,
    /// First byte of the box.
    pub(super) start: u64,
    pub(super) row: u64,
    slice: u64,
    layer: u64,
}

/// The blocks that a box of texels is made of, along each axis.
fn blocks(image: &Image, extent: [u32; 3]) -> [u32; 3] {
    std::array::from_fn(|i| extent[i].div_ceil(image.layout.block[i]))
}

/// A box in level `level`, from layer `layer`: its first texel, and its blocks along each axis. Depth slices
/// of a 3D image and layers are both allowed to run.
pub(super) fn texels<'a>(
    image: &'a Image,
    level: u32,
    layer: u32,
    layers: u32,
    offset: vk::Offset3D,
    blocks: [u32; 3],
) -> Outcome<(Texels<'a>, &'a MipLevel)> {
    let (memory, base) = image.memory()?;
    let Some(l) = image.layout.levels.get(level as usize) else { return Err(outside()) };
    let offset = [offset.x, offset.y, offset.z].map(|o| u64::try_from(o).unwrap_or(u64::MAX / 2));
    let block = image.layout.block.map(u64::from);
    if (0..3).any(|i| !offset[i].is_multiple_of(block[i])) {
        return Err(Error::usage("the offset of a region is not a multiple of the texel block's extent"));
    }
    let offset: [u64; 3] = std::array::from_fn(|i| offset[i] / block[i]);
    let inside = (0..3).all(|i| offset[i] + u64::from(blocks[i]) <= u64::from(l.blocks[i]));
    if !inside || layer.saturating_add(layers) > image.layers {
        return Err(outside());
    }
    let start = base
        + l.offset
        + u64::from(layer) * image.layout.layer
        + offset[2] * l.slice
        + offset[1] * l.row
        + offset[0] * image.layout.texel;
    Ok((Texels { memory: memory.bytes(), start, row: l.row, slice: l.slice, layer: image.layout.layer }, l))
}

fn layer_count(image: &Image, base: u32, count: u32) -> u32 {
    if count == vk::REMAINING_ARRAY_LAYERS { image.layers.saturating_sub(base) } else { count }
}

/// vkCmdCopyImage. Layers of one side correspond to depth slices of the other if only one of them is 3D, and
/// blocks of a compressed image to texels of one that is not.
///
/// # Errors
/// An image is not bound, a region is not inside, or the texels differ in size.
pub fn images(from: &Image, to: &Image, regions: &[vk::ImageCopy], mut touched: Touched<'_>) -> Outcome<()> {
    for region in regions {
        let (s, d) = (region.src_subresource, region.dst_subresource);
        let (from, to) = (from.part_of(s.aspect_mask)?, to.part_of(d.aspect_mask)?);
        let ((s_skip, size), (d_skip, d_size)) = (from.part(s.aspect_mask), to.part(d.aspect_mask));
        if size != d_size || from.samples != to.samples {
            return Err(Error::usage("the images' texels differ in size"));
        }
        let e = region.extent;
        // In texels of the source.
        let [width, height, _] = blocks(from, [e.width, e.height, 1]);
        let three = |image: &Image| image.image_type == vk::ImageType::TYPE_3D;
        let s_layers = layer_count(from, s.base_array_layer, s.layer_count);
        let d_layers = layer_count(to, d.base_array_layer, d.layer_count);
        let steps = e.depth.max(s_layers).max(d_layers);
        let depth_of = |image: &Image| if three(image) { steps } else { 1 };
        let layers_of = |image: &Image| if three(image) { 1 } else { steps };
        let (source, _) = texels(
            from,
            s.mip_level,
            s.base_array_layer,
            layers_of(from),
            region.src_offset,
            [width, height, depth_of(from)],
        )?;
        let (target, _) = texels(
            to,
            d.mip_level,
            d.base_array_layer,
            layers_of(to),
            region.dst_offset,
            [width, height, depth_of(to)],
        )?;
        let s_step = if three(from) { source.slice } else { source.layer };
        let d_step = if three(to) { target.slice } else { target.layer };
        let (s_texel, d_texel) = (from.layout.texel, to.layout.texel);
        // Where only an aspect is copied, each sample's bytes by themselves.
        let all = size * u64::from(from.samples);
        let whole = all == s_texel && all == d_texel;
        let samples = u64::from(from.samples);
        let (times, bytes) = match whole {
            true => (1, u64::from(width) * all),
            false => (u64::from(width) * samples, size),
        };
        for z in 0..u64::from(steps) {
            for y in 0..u64::from(height) {
                let read = source.start + z * s_step + y * source.row + s_skip;
                let write = target.start + z * d_step + y * target.row + d_skip;
                for x in 0..times {
                    let (read, write) = (read + x * s_texel / samples, write + x * d_texel / samples);
                    done(Allocation::copy(source.memory, read, target.memory, write, bytes))?;
                    moved(&mut touched, (source.memory, read), (target.memory, write), bytes);
                }
            }
        }
    }
    Ok(())
}

/// A box of an image, and how its texels lie in a buffer or in memory of the application.
pub struct HostRegion {
    /// Texels from row to row; 0: those of the box.
    pub row_length: u32,
    /// Rows from slice to slice; 0: those of the box.
    pub image_height: u32,
    pub subresource: vk::ImageSubresourceLayers,
    pub offset: vk::Offset3D,
    pub extent: vk::Extent3D,
}

impl HostRegion {
    fn of_buffer(region: &vk::BufferImageCopy) -> HostRegion {
        HostRegion {
            row_length: region.buffer_row_length,
            image_height: region.buffer_image_height,
            subresource: region.image_subresource,
            offset: region.image_offset,
            extent: region.image_extent,
        }
    }

    /// Its blocks along each axis.
    fn blocks(&self, image: &Image) -> [u32; 3] {
        blocks(image, [self.extent.width, self.extent.height, self.extent.depth])
    }

    /// Bytes from row to row of blocks, and from slice to slice, outside of the image.
    fn pitches(&self, image: &Image) -> (u64, u64) {
        let pick = |given: u32, extent: u32| if given == 0 { extent } else { given };
        let (width, height) =
            (pick(self.row_length, self.extent.width), pick(self.image_height, self.extent.height));
        let [width, height, _] = blocks(image, [width, height, 1]).map(u64::from);
        let row = width * image.part(self.subresource.aspect_mask).1;
        (row, height.saturating_mul(row))
    }

    fn layers(&self, image: &Image) -> u32 {
        layer_count(image, self.subresource.base_array_layer, self.subresource.layer_count)
    }

    /// Bytes from its first to its last texel outside of the image.
    ///
    /// # Errors
    /// More than there can be.
    pub fn size(&self, image: &Image) -> Outcome<u64> {
        let image = image.part_of(self.subresource.aspect_mask)?;
        let (row, slice) = self.pitches(image);
        let [width, height, depth] = self.blocks(image).map(u64::from);
        let bytes = width * image.part(self.subresource.aspect_mask).1;
        let slices = u64::from(self.layers(image)) * depth;
        let last = slices.saturating_sub(1).checked_mul(slice);
        let rows = height.saturating_sub(1).checked_mul(row);
        let size = last.zip(rows).and_then(|(last, rows)| last.checked_add(rows)?.checked_add(bytes));
        size.ok_or_else(outside)
    }
}

/// Calls `each` with (offset outside, image memory, image offset, bytes) for each row of a region of an
/// image; for each texel where the region has only one aspect of several.
pub(super) fn rows(
    image: &Image,
    region: &HostRegion,
    mut each: impl FnMut(u64, &Allocation, u64, u64) -> bool,
) -> Outcome<()> {
    let image = image.part_of(region.subresource.aspect_mask)?;
    let (sub, layers, blocks) = (region.subresource, region.layers(image), region.blocks(image));
    let (texels, _) = texels(image, sub.mip_level, sub.base_array_layer, layers, region.offset, blocks)?;
    let [width, height, depth] = blocks.map(u64::from);
    let texel = image.layout.texel;
    let (skip, size) = image.part(sub.aspect_mask);
    let (row, slice) = region.pitches(image);
    let bytes = width * size;
    let times = if size == texel { 1 } else { width };
    for layer in 0..u64::from(layers) {
        for z in 0..depth {
            for y in 0..height {
                let at = (layer * depth + z) * slice + y * row;
                let place = texels.start + layer * texels.layer + z * texels.slice + y * texels.row + skip;
                for x in 0..times {
                    done(each(at + x * size, texels.memory, place + x * texel, bytes / times))?;
                }
            }
        }
    }
    Ok(())
}

/// vkCmdCopyBufferToImage.
///
/// # Errors
/// Something is not bound, or a region is not inside.
pub fn buffer_to_image(
    from: &Buffer,
    to: &Image,
    regions: &[vk::BufferImageCopy],
    mut touched: Touched<'_>,
) -> Outcome<()> {
    let (memory, base) = from.memory()?;
    regions.iter().try_for_each(|region| {
        let of_image = HostRegion::of_buffer(region);
        done(holds(from, region.buffer_offset, of_image.size(to)?))?;
        rows(to, &of_image, |at, image, place, bytes| {
            let at = base + region.buffer_offset + at;
            moved(&mut touched, (memory.bytes(), at), (image, place), bytes);
            Allocation::copy(memory.bytes(), at, image, place, bytes)
        })
    })
}

/// vkCmdCopyImageToBuffer.
///
/// # Errors
/// Something is not bound, or a region is not inside.
pub fn image_to_buffer(
    from: &Image,
    to: &Buffer,
    regions: &[vk::BufferImageCopy],
    mut touched: Touched<'_>,
) -> Outcome<()> {
    let (memory, base) = to.memory()?;
    regions.iter().try_for_each(|region| {
        let of_image = HostRegion::of_buffer(region);
        done(holds(to, region.buffer_offset, of_image.size(from)?))?;
        rows(from, &of_image, |at, image, place, bytes| {
            let at = base + region.buffer_offset + at;
            moved(&mut touched, (image, place), (memory.bytes(), at), bytes);
            Allocation::copy(image, place, memory.bytes(), at, bytes)
        })
    })
}

/// A region of vkCopyMemoryToImageEXT, whose bytes are these.
///
/// # Errors
/// The image is not bound, or the region is not inside.
pub fn host_to_image(from: &[u8], to: &Image, region: &HostRegion, touched: &mut Touched<'_>) -> Outcome<()> {
    rows(to, region, |at, image, place, bytes| {
        written(touched, image, place, bytes);
        from.get(at as usize..(at + bytes) as usize).is_some_and(|from| image.write(place, from))
    })
}

/// A region of vkCopyImageToMemoryEXT, whose bytes are these.
///
/// # Errors
/// The image is not bound, or the region is not inside.
pub fn image_to_host(
    from: &Image,
    to: &mut [u8],
    region: &HostRegion,
    touched: &mut Touched<'_>,
) -> Outcome<()> {
    rows(from, region, |at, image, place, bytes| {
        if let Some(t) = touched {
            t.read(image.address() + place, bytes);
        }
        to.get_mut(at as usize..(at + bytes) as usize).is_some_and(|to| image.read(place, to))
    })
}

/// A region of the newer commands.
pub trait Region {
    /// What the older ones have for it.
    type Older;
    /// The same region; the rest is what may extend it, and nothing does.
    fn older(&self) -> Self::Older;
}

macro_rules! regions {
    ($($newer:ident is $older:ident { $($member:ident),* };)*) => { $(
        impl Region for vk::$newer<'_> {
            type Older = vk::$older;
            fn older(&self) -> vk::$older {
                vk::$older { $($member: self.$member),* }
            }
        }
    )* };
}

regions! {
    BufferCopy2 is BufferCopy { src_offset, dst_offset, size };
    ImageCopy2 is ImageCopy { src_subresource, src_offset, dst_subresource, dst_offset, extent };
    ImageBlit2 is ImageBlit { src_subresource, src_offsets, dst_subresource, dst_offsets };
    ImageResolve2 is ImageResolve { src_subresource, src_offset, dst_subresource, dst_offset, extent };
    BufferImageCopy2 is BufferImageCopy {
        buffer_offset, buffer_row_length, buffer_image_height, image_subresource, image_offset, image_extent
    };
}

/// The bytes that a sample of these aspects is cleared to, in the format of the image or of a view of it.
pub(super) fn cleared(
    image: &Image,
    format: vk::Format,
    value: Cleared,
    aspects: vk::ImageAspectFlags,
) -> Outcome<Vec<u8>> {
    if let Some(of) = formats::ycbcr(image.format) {
        return Err(Error::usage(format!("a clear of an image of {}", of.name)));
    }
    let format = formats::info(format).ok_or_else(outside)?;
    if format.compression.is_some() {
        return Err(Error::usage(format!("a clear of an image of {}", format.name)));
    }
    // Of a 64-bit format the first two words are the red component, as they are for `encode`.
    let bytes = match value {
        Cleared::Color(color) => format.encode(color),
        Cleared::DepthStencil(_, stencil) if format.aspect == Aspect::Stencil => {
            format.encode([stencil, 0, 0, 0])
        }
        Cleared::DepthStencil(depth, stencil) => {
            let mut bytes = format.encode([depth.to_bits(), 0, 0, 0]);
            if format.aspect == Aspect::DepthStencil {
                bytes[4] = stencil as u8;
            }
            bytes
        }
    };
    let (skip, size) = image.part(aspects);
    Ok(bytes[skip as usize..(skip + size) as usize].to_vec())
}

/// vkCmdClearColorImage and vkCmdClearDepthStencilImage.
///
/// # Errors
/// The image is not bound, or a range is not inside.
pub fn clear(
    image: &Image,
    value: Cleared,
    ranges: &[vk::ImageSubresourceRange],
    mut touched: Touched<'_>,
) -> Outcome<()> {
    if let Some(range) = ranges.first() {
        cleared(image, image.format, value, range.aspect_mask)?;
    }
    let (memory, base) = image.memory()?;
    let (texel, samples) = (image.layout.texel, u64::from(image.samples));
    for range in ranges {
        let (levels, layers) = image.range(range)?;
        let bytes = cleared(image, image.format, value, range.aspect_mask)?;
        let (skip, size) = image.part(range.aspect_mask);
        for level in &image.layout.levels[levels.start as usize..levels.end as usize] {
            for layer in layers.clone() {
                let start = base + level.offset + u64::from(layer) * image.layout.layer;
                if size * samples == texel {
                    written(&mut touched, memory.bytes(), start, level.size());
                    done(memory.bytes().fill(start, level.size(), &bytes.repeat(image.samples as usize)))?;
                    continue;
                }
                let rows = u64::from(level.extent[1]) * u64::from(level.extent[2]);
                for row in 0..rows {
                    let at = start + row * level.row + skip;
                    clear_row(image, memory.bytes(), (at, level.extent[0]), &bytes, &mut touched)?;
                }
            }
        }
    }
    Ok(())
}

/// Clears a row of texels, which begins at the first byte of the aspects that are cleared, to samples of
/// these bytes.
pub(super) fn clear_row(
    image: &Image,
    memory: &Allocation,
    (start, texels): (u64, u32),
    bytes: &[u8],
    touched: &mut Touched<'_>,
) -> Outcome<()> {
    let count = u64::from(texels) * u64::from(image.samples);
    let (sample, size) = (image.layout.texel / u64::from(image.samples), bytes.len() as u64);
    if size == sample {
        written(touched, memory, start, count * sample);
        return done(memory.fill(start, count * sample, bytes));
    }
    for at in (0..count).map(|n| start + n * sample) {
        written(touched, memory, at, size);
        done(memory.write(at, bytes))?;
    }
    Ok(())
}
