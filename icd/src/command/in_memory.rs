//! Descriptor sets in memory: what the bytes of a descriptor buffer are when a dispatch executes
//! (VK_EXT_descriptor_buffer).

use super::indirect;
use crate::addresses::AddressMap;
use crate::caps::formats;
use crate::described::{self, Numbered};
use crate::descriptor_bytes::{Encoded, SIZE};
use crate::entry::descriptor_layout::{Binding, DescriptorSetLayout};
use crate::entry::descriptor_set::Slot;
use crate::entry::image_view::ImageView;
use crate::entry::sampler::Sampler;
use ash::vk;
use pellucid_memory::access::Reference;
use pellucid_memory::commands::Range;
use pellucid_memory::device::MemoryRange;
use pellucid_memory::raw;
use pellucid_shader_interp::ir;
use std::sync::Arc;

/// A set in a descriptor buffer, or one whose samplers are embedded in its layout.
#[derive(Clone, Copy)]
pub struct SetInMemory<'a> {
    /// How it is laid out.
    pub layout: &'a DescriptorSetLayout,
    /// The device address of its first byte; `None`: it is in no memory.
    pub address: Option<u64>,
}

/// What the addresses and numbers in descriptors mean to a dispatch.
pub struct Meaning<'a> {
    /// Where device addresses point.
    pub addresses: &'a AddressMap,
    /// The objects of the submission, and those that were created since.
    pub numbered: [Arc<Numbered>; 2],
}

impl Meaning<'_> {
    fn view(&self, number: u64) -> Result<Arc<ImageView>, DescriptorError> {
        let mut found = self.numbered.iter().filter_map(|all| all.view(number));
        found.next().ok_or(DescriptorError::Ended("VkImageView"))
    }

    fn sampler(&self, number: u64) -> Result<Arc<Sampler>, DescriptorError> {
        let mut found = self.numbered.iter().filter_map(|all| all.sampler(number));
        found.next().ok_or(DescriptorError::Ended("VkSampler"))
    }

    /// Up to `size` bytes at a device address.
    fn bytes(&self, address: u64, size: u64) -> Option<MemoryRange> {
        let at = self.addresses.partition_point(|range| range.address() <= address).checked_sub(1)?;
        let range = &self.addresses[at];
        let left = (range.address() + range.size()).checked_sub(address).filter(|left| *left > 0)?;
        let memory = range.allocation()?;
        let offset = address - memory.address();
        Some(MemoryRange::new(memory, offset, size.min(left), Reference::PHYSICAL))
    }
}

/// Why bytes are no descriptor that a shader can use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DescriptorError {
    /// No buffer with a device address holds the set's bytes.
    NoMemory(u64),
    /// Nothing that vkGetDescriptorEXT has written.
    NoDescriptor,
    /// They name an object that is not there any more, or never was.
    Ended(&'static str),
    /// No buffer is at the address that they name.
    NoBuffer(u64),
    /// A texel buffer of a format that there is not.
    NoFormat(i32),
    /// They are a descriptor of another type than the shader uses.
    OtherType,
}

impl std::fmt::Display for DescriptorError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            DescriptorError::NoMemory(at) => {
                write!(f, "no buffer with a device address holds its bytes at {at:#x}")
            }
            DescriptorError::NoDescriptor => f.write_str("its bytes are no descriptor"),
            DescriptorError::Ended(what) => write!(f, "its descriptor names a {what} that is destroyed"),
            DescriptorError::NoBuffer(at) => {
                write!(f, "its descriptor names the address {at:#x}, and no buffer is there")
            }
            DescriptorError::NoFormat(format) => {
                let format = vk::Format::from_raw(*format);
                write!(f, "its descriptor is of texels of format {format:?}")
            }
            DescriptorError::OtherType => f.write_str("its descriptor is of another type"),
        }
    }
}

/// Whether a shader's variable takes such a descriptor.
fn takes(kind: ir::DescriptorKind, descriptor: &Encoded) -> bool {
    use ir::DescriptorKind as K;
    match descriptor {
        Encoded::Null => true,
        Encoded::Buffer { .. } => matches!(kind, K::UniformBuffer | K::StorageBuffer),
        Encoded::Texels { .. } => matches!(kind, K::UniformTexelBuffer | K::StorageTexelBuffer),
        Encoded::Sampler { .. } => matches!(kind, K::Sampler),
        Encoded::Image { .. } | Encoded::ImageSampler { .. } => {
            matches!(kind, K::SampledImage | K::StorageImage | K::CombinedImageSampler)
        }
    }
}

/// The descriptor that bytes are.
fn decode(bytes: &[u8; SIZE as usize], meaning: &Meaning<'_>) -> Result<Slot, DescriptorError> {
    let descriptor = Encoded::of(bytes).ok_or(DescriptorError::NoDescriptor)?;
    let buffer = |address, range| meaning.bytes(address, range).ok_or(DescriptorError::NoBuffer(address));
    Ok(match descriptor {
        Encoded::Null => Slot::Null,
        Encoded::Buffer { address, range } => Slot::Bytes(buffer(address, range)?),
        Encoded::Texels { address, range, format } => {
            let (number, format) = (format, vk::Format::from_raw(format));
            let texel = formats::info(format).ok_or(DescriptorError::NoFormat(number))?.texel_bytes;
            let there = buffer(address, range)?;
            let texels = there.size() / u64::from(texel);
            let whole = buffer(address, texels * u64::from(texel))?;
            Slot::TexelBytes(whole, format, u32::try_from(texels).unwrap_or(u32::MAX))
        }
        Encoded::Image { view, layout } => {
            Slot::Image(meaning.view(view)?, vk::ImageLayout::from_raw(layout))
        }
        Encoded::Sampler { sampler } => Slot::Sampler(meaning.sampler(sampler)?),
        Encoded::ImageSampler { view, layout, sampler } => Slot::ImageSampler(
            meaning.view(view)?,
            vk::ImageLayout::from_raw(layout),
            meaning.sampler(sampler)?,
        ),
    })
}

/// The descriptors of a binding as a dispatch read them.
#[derive(Default)]
pub struct Descriptors {
    set: u32,
    binding: u32,
    /// Where they are; `None`: in no memory.
    place: Option<Range>,
    /// What was read there.
    bytes: Vec<u8>,
    /// Descriptors; those that are none are missing.
    pub slots: Vec<Slot>,
    /// An inline uniform block, which is no descriptor.
    block: Option<MemoryRange>,
}

impl Descriptors {
    /// Reads the descriptors of a set that these variables of a shader use, which share a binding. `wrong`
    /// hears of a descriptor that no shader can use: of one that something has written and whose variable is
    /// alone and no array.
    pub fn read(
        set: &SetInMemory<'_>,
        variables: &[&ir::Binding],
        meaning: &Meaning<'_>,
        wrong: &mut dyn FnMut(DescriptorError),
    ) -> Option<Descriptors> {
        let first = variables.first()?;
        let binding = set.layout.binding(first.binding)?;
        let mut read = Descriptors { set: first.set, binding: first.binding, ..Descriptors::default() };
        let Some(address) = set.address else {
            read.slots = binding.immutable.iter().cloned().map(Slot::Sampler).collect();
            return Some(read);
        };
        let at = address.saturating_add(binding.memory_offset);
        let all = variables.iter().any(|variable| variable.count == 0);
        let most = variables.iter().map(|variable| variable.count).max().filter(|_| !all);
        let count = most.map_or(binding.count, |most| most.min(binding.count));
        let size = if binding.is_inline() { u64::from(binding.count) } else { u64::from(count) * SIZE };
        let Some(memory) = meaning.bytes(at, size) else {
            wrong(DescriptorError::NoMemory(at));
            return Some(read);
        };
        read.place = Some(Range::new(at, memory.size()));
        if binding.is_inline() {
            read.block = Some(memory);
            return Some(read);
        }
        read.bytes.resize(memory.size() as usize, 0);
        raw::read(&memory.view(), 0, &mut read.bytes);
        let (descriptors, _) = read.bytes.as_chunks::<{ SIZE as usize }>();
        let slot = |(element, bytes)| {
            decode(bytes, meaning).map_or(Slot::Empty, |slot| with_immutable(slot, binding, element))
        };
        read.slots = descriptors.iter().enumerate().map(slot).collect();
        if let ([only], Some(bytes)) = (variables, descriptors.first())
            && only.count == 1
            && bytes.iter().any(|byte| *byte != 0)
        {
            let fits = Encoded::of(bytes).is_none_or(|descriptor| takes(only.kind, &descriptor));
            decode(bytes, meaning)
                .err()
                .or((!fits).then_some(DescriptorError::OtherType))
                .into_iter()
                .for_each(wrong);
        }
        Some(read)
    }

    /// True if they are of this set and binding.
    pub fn are_of(&self, set: u32, binding: u32) -> bool {
        (self.set, self.binding) == (set, binding)
    }

    /// True if they may be of this set and binding, of which a reference has the lower bits.
    pub fn may_be_of(&self, set: u32, binding: u32) -> bool {
        (self.set & 0x1f, self.binding & 0x7ff) == (set, binding)
    }

    /// The bytes of an inline uniform block.
    pub fn block(&self) -> Option<&MemoryRange> {
        self.block.as_ref()
    }

    /// True if the same bytes are there now.
    pub fn are_unchanged(&self, addresses: &AddressMap) -> bool {
        let Some(place) = self.place.filter(|_| !self.bytes.is_empty()) else { return true };
        let size = place.end - place.start;
        let mut now = vec![0; self.bytes.len()];
        match indirect::bytes(addresses, place.start, size) {
            Ok(view) => raw::read(&view, 0, &mut now),
            Err(_) => return false,
        };
        now == self.bytes
    }

    /// Where the descriptor of an element is, and the objects that it names, as accesses of them are noted.
    pub fn element(&self, element: u32) -> Option<(Range, Vec<Range>)> {
        let place = self.place?;
        if self.block.is_some() {
            return None;
        }
        let first = place.start + u64::from(element) * SIZE;
        let bytes = self.bytes.as_chunks::<{ SIZE as usize }>().0.get(element as usize)?;
        let named = match Encoded::of(bytes) {
            Some(Encoded::Image { view, .. }) => vec![described::place(view)],
            Some(Encoded::Sampler { sampler }) => vec![described::place(sampler)],
            Some(Encoded::ImageSampler { view, sampler, .. }) => {
                vec![described::place(view), described::place(sampler)]
            }
            _ => Vec::new(),
        };
        Some((Range::new(first, SIZE), named))
    }
}

/// A combined image sampler whose layout has the sampler.
fn with_immutable(slot: Slot, binding: &Binding, element: usize) -> Slot {
    match (slot, binding.immutable.get(element)) {
        (Slot::Image(view, layout) | Slot::ImageSampler(view, layout, _), Some(sampler)) => {
            Slot::ImageSampler(view, layout, sampler.clone())
        }
        (slot, _) => slot,
    }
}
