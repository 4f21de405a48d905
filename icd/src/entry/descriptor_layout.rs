//! VkDescriptorSetLayout.

use crate::boundary::{creates, destroys, entries};
use crate::caps::{INLINE_BLOCK, UPDATE_AFTER_BIND};
use crate::descriptor_bytes;
use crate::device::Device;
use crate::entry::sampler::Sampler;
use crate::error::{Error, Outcome};
use crate::ffi;
use crate::handle::{self, kind, object};
use ash::vk;
use std::sync::Arc;

/// One binding of a layout.
pub struct Binding {
    pub number: u32,
    /// Its type.
    pub kind: vk::DescriptorType,
    /// Array elements; bytes of an inline uniform block.
    pub count: u32,
    /// Its slots start here in the set; a set's slots are in the order of binding numbers.
    pub first_slot: u32,
    /// Bytes from the start of the set's inline data.
    pub inline_offset: u32,
    /// Bytes from the start of the set in a descriptor buffer.
    pub memory_offset: u64,
    /// Its dynamic offsets start here among the set's.
    pub first_dynamic: u32,
    /// VkDescriptorBindingFlags.
    pub flags: vk::DescriptorBindingFlags,
    /// Immutable samplers, one for each element, or none.
    pub immutable: Vec<Arc<Sampler>>,
}

impl Binding {
    /// Descriptor slots that it takes, with this count.
    pub fn slots(&self, count: u32) -> u32 {
        if self.is_inline() { 1 } else { count }
    }

    /// Bytes that it takes in a descriptor buffer.
    pub fn memory_bytes(&self) -> u64 {
        let count = u64::from(self.count);
        if self.is_inline() { count.next_multiple_of(16) } else { count * descriptor_bytes::SIZE }
    }

    /// The last binding, whose count is chosen at allocation.
    fn is_variable(&self) -> bool {
        self.flags.contains(vk::DescriptorBindingFlags::VARIABLE_DESCRIPTOR_COUNT)
    }

    /// Its descriptors may be updated before the submissions that bind them have completed.
    pub fn may_change_while_pending(&self) -> bool {
        self.flags.intersects(
            vk::DescriptorBindingFlags::UPDATE_AFTER_BIND
                | vk::DescriptorBindingFlags::UPDATE_UNUSED_WHILE_PENDING,
        )
    }

    /// Its descriptors need not be valid as long as no shader uses them.
    pub fn may_be_unused(&self) -> bool {
        self.flags.intersects(
            vk::DescriptorBindingFlags::PARTIALLY_BOUND
                | vk::DescriptorBindingFlags::UPDATE_UNUSED_WHILE_PENDING,
        )
    }

    /// VK_DESCRIPTOR_TYPE_INLINE_UNIFORM_BLOCK.
    pub fn is_inline(&self) -> bool {
        self.kind == vk::DescriptorType::INLINE_UNIFORM_BLOCK
    }

    /// A dynamic uniform or storage buffer.
    pub fn is_dynamic(&self) -> bool {
        matches!(
            self.kind,
            vk::DescriptorType::UNIFORM_BUFFER_DYNAMIC | vk::DescriptorType::STORAGE_BUFFER_DYNAMIC
        )
    }
}

/// A descriptor set layout: bindings in the order of their numbers.
#[derive(Default)]
pub struct DescriptorSetLayout {
    pub bindings: Vec<Binding>,
    /// Dynamic offsets that a set of this layout takes.
    pub dynamic_count: u32,
    /// Bytes of inline uniform blocks.
    pub inline_bytes: u32,
    /// Bytes of a set in a descriptor buffer.
    pub memory_bytes: u64,
    flags: vk::DescriptorSetLayoutCreateFlags,
}

object!(DescriptorSetLayout, vk::DescriptorSetLayout, kind::SET_LAYOUT);

impl DescriptorSetLayout {
    /// # Safety
    /// `info` is the application's.
    unsafe fn new(info: &vk::DescriptorSetLayoutCreateInfo<'_>) -> Outcome<DescriptorSetLayout> {
        // SAFETY: the contract.
        let (flags, bindings) = unsafe {
            let flags = ffi::find::<vk::DescriptorSetLayoutBindingFlagsCreateInfo<'_>>(info.p_next)
                .map_or(&[][..], |f| ffi::slice(f.p_binding_flags, f.binding_count));
            (flags, ffi::slice(info.p_bindings, info.binding_count))
        };
        let mut rows: Vec<(usize, &vk::DescriptorSetLayoutBinding<'_>)> =
            bindings.iter().enumerate().collect();
        rows.sort_by_key(|(_, b)| b.binding);
        let mut layout = DescriptorSetLayout { flags: info.flags, ..DescriptorSetLayout::default() };
        let mut slot = 0;
        for (index, row) in rows {
            let sampler = matches!(
                row.descriptor_type,
                vk::DescriptorType::SAMPLER | vk::DescriptorType::COMBINED_IMAGE_SAMPLER
            );
            let immutable = if sampler {
                // SAFETY: the contract.
                unsafe { ffi::slice(row.p_immutable_samplers, row.descriptor_count) }
                    .iter()
                    .map(|s| handle::get::<Sampler>(*s))
                    .collect::<Outcome<Vec<_>>>()?
            } else {
                Vec::new()
            };
            let binding = Binding {
                number: row.binding,
                kind: row.descriptor_type,
                count: row.descriptor_count,
                first_slot: slot,
                inline_offset: layout.inline_bytes,
                memory_offset: layout.memory_bytes,
                first_dynamic: layout.dynamic_count,
                flags: flags.get(index).copied().unwrap_or_default(),
                immutable,
            };
            let many = || Error::new(vk::Result::ERROR_OUT_OF_HOST_MEMORY, "over 2^32 descriptors in a set");
            let add = |sum: u32, more: u32| sum.checked_add(more).ok_or_else(many);
            slot = add(slot, binding.slots(binding.count))?;
            layout.memory_bytes += binding.memory_bytes();
            if binding.is_dynamic() {
                layout.dynamic_count = add(layout.dynamic_count, binding.count)?;
            }
            if binding.is_inline() {
                let bytes = binding.count.checked_next_multiple_of(16).ok_or_else(many)?;
                layout.inline_bytes = add(layout.inline_bytes, bytes)?;
            }
            layout.bindings.push(binding);
        }
        Ok(layout)
    }

    /// The binding of this number.
    pub fn binding(&self, number: u32) -> Option<&Binding> {
        self.bindings.binary_search_by_key(&number, |b| b.number).ok().map(|i| &self.bindings[i])
    }

    /// VK_DESCRIPTOR_SET_LAYOUT_CREATE_DESCRIPTOR_BUFFER_BIT_EXT: its sets are in descriptor buffers.
    pub fn is_in_memory(&self) -> bool {
        self.flags.contains(vk::DescriptorSetLayoutCreateFlags::DESCRIPTOR_BUFFER_EXT)
    }

    /// VK_DESCRIPTOR_SET_LAYOUT_CREATE_PUSH_DESCRIPTOR_BIT: its descriptors are pushed.
    pub fn is_pushed(&self) -> bool {
        self.flags.contains(vk::DescriptorSetLayoutCreateFlags::PUSH_DESCRIPTOR_KHR)
    }

    /// VK_DESCRIPTOR_SET_LAYOUT_CREATE_EMBEDDED_IMMUTABLE_SAMPLERS_BIT_EXT: its samplers are in no memory.
    pub fn is_embedded(&self) -> bool {
        self.flags.contains(vk::DescriptorSetLayoutCreateFlags::EMBEDDED_IMMUTABLE_SAMPLERS_EXT)
    }

    /// A binding's count in a set that was allocated with this variable count.
    pub fn count(&self, binding: &Binding, variable: Option<u32>) -> u32 {
        match variable {
            Some(count) if binding.is_variable() => count.min(binding.count),
            _ => binding.count,
        }
    }

    /// Slots of such a set.
    pub fn slots(&self, variable: Option<u32>) -> u32 {
        self.bindings.last().map_or(0, |last| last.first_slot + last.slots(self.count(last, variable)))
    }
}

creates! {
    fn create_descriptor_set_layout(
        _device,
        info: vk::DescriptorSetLayoutCreateInfo<'_>,
    ) -> vk::DescriptorSetLayout {
        Ok(handle::insert(Arc::new(DescriptorSetLayout::new(info)?)))
    }
}

destroys! {
    fn destroy_descriptor_set_layout(DescriptorSetLayout);
}

entries! {
    fn get_descriptor_set_layout_support(
        _device: Arc<Device>,
        info: *const vk::DescriptorSetLayoutCreateInfo<'_>,
        out: *mut vk::DescriptorSetLayoutSupport<'_>,
    ) {
        let (info, out) = (ffi::read(info)?, ffi::read_mut(out)?);
        let rows = ffi::slice(info.p_bindings, info.binding_count);
        let inline = |b: &vk::DescriptorSetLayoutBinding<'_>| {
            b.descriptor_type == vk::DescriptorType::INLINE_UNIFORM_BLOCK
        };
        let total: u64 = rows.iter().filter(|b| !inline(b)).map(|b| u64::from(b.descriptor_count)).sum();
        // VUID-VkDescriptorSetLayoutBinding-descriptorType-08004: that limit is of sets in no memory.
        let in_memory = info.flags.contains(vk::DescriptorSetLayoutCreateFlags::DESCRIPTOR_BUFFER_EXT);
        let block = |b: &vk::DescriptorSetLayoutBinding<'_>| in_memory || b.descriptor_count <= INLINE_BLOCK;
        let blocks = rows.iter().filter(|b| inline(b)).all(block);
        out.supported = (blocks && total <= u64::from(UPDATE_AFTER_BIND)).into();
        if let Some(variable) =
            ffi::find_mut::<vk::DescriptorSetVariableDescriptorCountLayoutSupport<'_>>(out.p_next)
        {
            let flags = ffi::find::<vk::DescriptorSetLayoutBindingFlagsCreateInfo<'_>>(info.p_next)
                .map_or(&[][..], |f| ffi::slice(f.p_binding_flags, f.binding_count));
            let last = flags
                .iter()
                .position(|f| f.contains(vk::DescriptorBindingFlags::VARIABLE_DESCRIPTOR_COUNT))
                .and_then(|i| rows.get(i));
            variable.max_variable_descriptor_count = match last {
                Some(b) if inline(b) => INLINE_BLOCK,
                Some(b) => UPDATE_AFTER_BIND - (total - u64::from(b.descriptor_count)).min(u64::from(UPDATE_AFTER_BIND)) as u32,
                None => 0,
            };
        }
        Ok(())
    }
}

/// The error of a binding that the layout does not have.
pub fn no_binding(number: u32) -> Error {
    Error::usage(format!("the descriptor set layout has no binding {number}"))
}
