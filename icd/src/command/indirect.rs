//! Indirect copies: what they copy is told by device addresses, and read in memory when they execute.

use super::ImageIn;
use super::copy::{HostRegion, Touched, rows};
use crate::addresses::AddressMap;
use crate::entry::image::Image;
use crate::error::{Error, Outcome};
use ash::vk;
use pellucid_memory::commands::Range;
use pellucid_memory::raw::{self, MemoryView};

/// vkCmdCopyMemoryIndirectKHR and vkCmdCopyMemoryToImageIndirectKHR.
#[derive(Clone)]
pub struct CopyIndirect {
    /// The device address of the parameters of the first copy.
    pub address: u64,
    /// Bytes from the parameters of one copy to those of the next.
    pub stride: u64,
    /// Copies.
    pub count: u32,
    /// The image that is copied to, if one is, and its subresources, one for each copy.
    pub image: Option<(ImageIn, Vec<vk::ImageSubresourceLayers>)>,
}

/// Bytes of VkCopyMemoryIndirectCommandKHR.
pub const MEMORY_PARAMETERS: u64 = 24;
/// Bytes of VkCopyMemoryToImageIndirectCommandKHR.
pub const IMAGE_PARAMETERS: u64 = 56;

/// The subresources of a copy to an image: of a 3D image the layers that are named are depth slices.
pub fn layers(image: &Image, named: &vk::ImageSubresourceLayers) -> vk::ImageSubresourceLayers {
    match image.image_type {
        vk::ImageType::TYPE_3D => {
            vk::ImageSubresourceLayers { base_array_layer: 0, layer_count: 1, ..*named }
        }
        _ => *named,
    }
}

/// The bytes at a device address.
///
/// # Errors
/// No buffer has them.
pub fn bytes(addresses: &AddressMap, address: u64, size: u64) -> Outcome<MemoryView<'_>> {
    let ends = |start: u64, bytes: u64| address >= start && bytes >= size && address - start <= bytes - size;
    let found = addresses.iter().find(|range| ends(range.address(), range.size()));
    let range = found.ok_or_else(|| {
        Error::usage(format!("no buffer with a device address has {size} bytes at {address:#x}"))
    })?;
    Ok(range.view().part(address - range.address(), size))
}

/// The little-endian word at a byte.
pub(super) fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

fn long(bytes: &[u8], at: usize) -> u64 {
    u64::from(word(bytes, at)) | u64::from(word(bytes, at + 4)) << 32
}

impl CopyIndirect {
    /// The entry point that recorded it.
    pub fn name(&self) -> &'static str {
        match self.image {
            Some(_) => "vkCmdCopyMemoryToImageIndirect",
            None => "vkCmdCopyMemoryIndirect",
        }
    }

    /// Device addresses of the parameters of each copy.
    fn parameters(&self) -> impl Iterator<Item = Range> {
        let size = if self.image.is_some() { IMAGE_PARAMETERS } else { MEMORY_PARAMETERS };
        let last = u64::MAX - size;
        let at = |index: u32| self.address.saturating_add(u64::from(index).saturating_mul(self.stride));
        (0..self.count).map(move |index| Range::new(at(index).min(last), size))
    }

    /// Those that there are.
    pub fn parameters_in(&self, addresses: &AddressMap) -> Vec<Range> {
        let there = |range: &Range| bytes(addresses, range.start, range.end - range.start).is_ok();
        self.parameters().take_while(there).collect()
    }

    /// Runs it.
    ///
    /// # Errors
    /// The parameters, or what they tell, are not in memory with a device address or not in the image.
    pub fn run(&self, addresses: &AddressMap, mut touched: Touched<'_>) -> Outcome<()> {
        for (index, range) in self.parameters().enumerate() {
            let mut parameters = vec![0; (range.end - range.start) as usize];
            raw::read(&bytes(addresses, range.start, range.end - range.start)?, 0, &mut parameters);
            match &self.image {
                None => copy(addresses, &parameters, &mut touched)?,
                Some((image, parts)) => {
                    let part = parts.get(index).copied().unwrap_or_default();
                    to_image(addresses, &parameters, (image, part), &mut touched)?;
                }
            }
        }
        Ok(())
    }
}

fn copy(addresses: &AddressMap, parameters: &[u8], touched: &mut Touched<'_>) -> Outcome<()> {
    let [from, to, size] = [0, 8, 16].map(|at| long(parameters, at));
    if [from, to, size].iter().any(|value| !value.is_multiple_of(4)) {
        return Err(Error::usage("srcAddress, dstAddress and size are multiples of 4"));
    }
    if size == 0 {
        return Ok(());
    }
    let (source, target) = (bytes(addresses, from, size)?, bytes(addresses, to, size)?);
    target.copy_from(&source);
    if let Some(touched) = touched {
        touched.read(from, size);
        touched.write(to, size);
    }
    Ok(())
}

fn to_image(
    addresses: &AddressMap,
    parameters: &[u8],
    (image, part): (&Image, vk::ImageSubresourceLayers),
    touched: &mut Touched<'_>,
) -> Outcome<()> {
    let from = long(parameters, 0);
    let told: [u32; 12] = std::array::from_fn(|i| word(parameters, 8 + 4 * i));
    let [row_length, image_height, aspect, level, layer, count, x, y, z, width, height, depth] = told;
    let named = (part.aspect_mask.as_raw(), part.mip_level, part.base_array_layer, part.layer_count);
    if (aspect, level, layer, count) != named {
        return Err(Error::usage("imageSubresource differs from that of pImageSubresources"));
    }
    let mut offset = vk::Offset3D { x: x as i32, y: y as i32, z: z as i32 };
    let mut extent = vk::Extent3D { width, height, depth };
    if image.image_type == vk::ImageType::TYPE_3D {
        let depth = image.layout.levels.get(level as usize).map_or(0, |level| level.extent[2]);
        let count = if count == vk::REMAINING_ARRAY_LAYERS { depth.saturating_sub(layer) } else { count };
        (offset.z, extent.depth) = (layer as i32, count);
    }
    let region = HostRegion { row_length, image_height, subresource: layers(image, &part), offset, extent };
    if extent.width == 0 || extent.height == 0 || extent.depth == 0 {
        return Ok(());
    }
    let source = bytes(addresses, from, region.size(image)?)?;
    rows(image, &region, |at, memory, place, size| {
        if let Some(touched) = touched {
            touched.read(from + at, size);
            touched.write(memory.address() + place, size);
        }
        memory.copy_from(place, &source.part(at, size))
    })
}
