//! VkDescriptorSet: descriptors, and how they are written and copied.

use crate::boundary::entries;
use crate::device::Device;
use crate::entry::buffer::Buffer;
use crate::entry::buffer_view::BufferView;
use crate::entry::descriptor_layout::{Binding, DescriptorSetLayout, no_binding};
use crate::entry::destroy;
use crate::entry::image_view::ImageView;
use crate::entry::sampler::Sampler;
use crate::error::{Error, Outcome, room_for};
use crate::ffi;
use crate::handle::{self, kind, object};
use ash::vk;
use parking_lot::RwLock;
use pellucid_memory::access::Reference;
use pellucid_memory::commands::Range;
use pellucid_memory::device::{Allocation, HostMemory, MemoryRange};
use pellucid_shader_interp::interface;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// One descriptor.
#[derive(Clone, Default)]
pub enum Slot {
    /// Never written.
    #[default]
    Empty,
    /// VK_NULL_HANDLE.
    Null,
    /// A buffer: offset and range, which may be VK_WHOLE_SIZE.
    Buffer(Arc<Buffer>, u64, u64),
    /// A buffer, by its bytes (VK_EXT_descriptor_buffer).
    Bytes(MemoryRange),
    /// A texel buffer.
    Texels(Arc<BufferView>),
    /// A texel buffer, by its bytes, which are so many texels of a format (VK_EXT_descriptor_buffer).
    TexelBytes(MemoryRange, vk::Format, u32),
    /// An image, and the layout that it is to be in.
    Image(Arc<ImageView>, vk::ImageLayout),
    Sampler(Arc<Sampler>),
    /// An image, the layout that it is to be in, and a sampler.
    ImageSampler(Arc<ImageView>, vk::ImageLayout, Arc<Sampler>),
}

impl Slot {
    /// True if it is, or uses, the object at `object`.
    fn mentions(&self, object: *const ()) -> bool {
        fn is<T>(part: &Arc<T>, object: *const ()) -> bool {
            Arc::as_ptr(part).cast::<()>() == object
        }
        let image = |view: &Arc<ImageView>| is(view, object) || view.image.is_or_uses(object);
        match self {
            Slot::Empty | Slot::Null | Slot::Bytes(_) | Slot::TexelBytes(..) => false,
            Slot::Buffer(buffer, ..) => buffer.is_or_uses(object),
            Slot::Texels(view) => is(view, object) || view.buffer.is_or_uses(object),
            Slot::Image(view, _) => image(view),
            Slot::Sampler(sampler) => is(sampler, object),
            Slot::ImageSampler(view, _, sampler) => image(view) || is(sampler, object),
        }
    }
}

impl Slot {
    /// The bytes of the memory at `object` that it is of; `all` are the memory's addresses.
    pub fn bytes_used(&self, object: *const (), all: Range) -> Option<Range> {
        match self {
            Slot::Buffer(buffer, ..) => buffer.bytes_of(object, 0, vk::WHOLE_SIZE),
            Slot::Texels(view) => view.buffer.bytes_of(object, 0, vk::WHOLE_SIZE),
            _ => self.mentions(object).then_some(all),
        }
    }
}

impl DescriptorSetLayout {
    /// True if one of a set's descriptors is, or uses, the object at `object`. Of bindings whose descriptors
    /// need not be valid as long as no shader uses them, nothing is said.
    pub fn mentions(&self, slots: &[Slot], object: *const ()) -> bool {
        let valid = self.bindings.iter().filter(|b| !b.may_be_unused());
        let mut valid = valid.filter(|b| !b.is_inline());
        valid.any(|binding| slots_of(binding, slots).iter().any(|slot| slot.mentions(object)))
    }

    /// The same of one binding, by its number.
    pub fn mentions_in(&self, number: u32, slots: &[Slot], object: *const ()) -> bool {
        let binding = self.binding(number).filter(|b| !b.may_be_unused() && !b.is_inline());
        binding.is_some_and(|b| slots_of(b, slots).iter().any(|slot| slot.mentions(object)))
    }
}

fn slots_of<'a>(binding: &Binding, slots: &'a [Slot]) -> &'a [Slot] {
    let rest = &slots[(binding.first_slot as usize).min(slots.len())..];
    &rest[..(binding.count as usize).min(rest.len())]
}

pub struct DescriptorSet {
    pub layout: Arc<DescriptorSetLayout>,
    /// The count of its variable binding.
    pub variable: Option<u32>,
    /// A submission keeps the list as it was then: an update while it is pending makes another one.
    slots: RwLock<Arc<Vec<Slot>>>,
    inline: Option<Arc<Allocation>>,
    /// How often it was updated in a way that makes command buffers invalid which bind it.
    updates: AtomicU64,
}

object!(DescriptorSet, vk::DescriptorSet, kind::DESCRIPTOR_SET);

impl DescriptorSet {
    /// An empty set.
    ///
    /// # Errors
    /// No memory for inline uniform blocks.
    pub fn new(
        device: &Device,
        layout: Arc<DescriptorSetLayout>,
        variable: Option<u32>,
    ) -> Outcome<DescriptorSet> {
        let count = layout.slots(variable) as usize;
        let mut slots = room_for(count)?;
        slots.resize(count, Slot::Empty);
        for binding in &layout.bindings {
            for (element, sampler) in binding.immutable.iter().enumerate() {
                if binding.kind == vk::DescriptorType::SAMPLER
                    && let Some(slot) = slots.get_mut(binding.first_slot as usize + element)
                {
                    *slot = Slot::Sampler(sampler.clone());
                }
            }
        }
        let inline = match layout.inline_bytes {
            0 => None,
            bytes => Some(
                Allocation::new(&device.heaps[1], u64::from(bytes), HostMemory::Flat)
                    .map_err(|_| Error::from(vk::Result::ERROR_OUT_OF_HOST_MEMORY))?,
            ),
        };
        Ok(DescriptorSet {
            layout,
            variable,
            slots: RwLock::new(Arc::new(slots)),
            inline,
            updates: AtomicU64::new(0),
        })
    }

    /// A copy of another set's descriptors in a new set of the same layout (push descriptors).
    ///
    /// # Errors
    /// No memory for inline uniform blocks.
    pub fn duplicate(&self, device: &Device) -> Outcome<DescriptorSet> {
        let copy = DescriptorSet::new(device, self.layout.clone(), self.variable)?;
        *copy.slots.write() = self.slots();
        Ok(copy)
    }

    /// Its descriptors, as they are now.
    pub fn slots(&self) -> Arc<Vec<Slot>> {
        self.slots.read().clone()
    }

    /// How often it was updated in a way that makes command buffers invalid which bind it.
    pub fn updates(&self) -> u64 {
        self.updates.load(Ordering::Relaxed)
    }

    /// The bytes of an inline uniform block.
    pub fn inline_range(&self, binding: &Binding, reference: Reference) -> MemoryRange {
        let Some(memory) = &self.inline else { return MemoryRange::NULL };
        let size = u64::from(self.layout.count(binding, self.variable));
        MemoryRange::new(memory, u64::from(binding.inline_offset), size, reference)
    }

    /// Writes consecutive descriptors, from `element` of binding `number` on; past the binding's end the next
    /// binding goes on.
    ///
    /// # Errors
    /// There is no such binding, or the set ends before.
    pub fn write(&self, number: u32, element: u32, mut descriptors: Vec<Slot>) -> Outcome<()> {
        let binding = self.layout.binding(number).ok_or_else(|| no_binding(number))?;
        let first = (binding.first_slot + element) as usize;
        for (index, slot) in descriptors.iter_mut().enumerate() {
            self.apply_immutable(first + index, slot);
        }
        let mut slots = self.slots.write();
        if slots.get(first..first + descriptors.len()).is_none() {
            return Err(Error::usage(format!(
                "descriptors past the end of the set, from binding {number} on"
            )));
        }
        for (to, from) in Arc::make_mut(&mut slots)[first..].iter_mut().zip(descriptors) {
            *to = from;
        }
        Ok(())
    }

    fn apply_immutable(&self, index: usize, slot: &mut Slot) {
        let bindings = &self.layout.bindings;
        let at = bindings.partition_point(|b| b.first_slot as usize <= index);
        // Bindings without elements share their start with the next one: the last of them holds the slot.
        let Some(binding) = at.checked_sub(1).map(|i| &bindings[i]) else { return };
        let Some(sampler) = binding.immutable.get(index - binding.first_slot as usize) else { return };
        *slot = match std::mem::take(slot) {
            Slot::Image(view, layout) | Slot::ImageSampler(view, layout, _) => {
                Slot::ImageSampler(view, layout, sampler.clone())
            }
            Slot::Null => Slot::Null,
            _ => Slot::Sampler(sampler.clone()),
        };
    }

    /// Writes bytes of an inline uniform block.
    ///
    /// # Errors
    /// There is no such binding, or it ends before.
    pub fn write_inline(&self, number: u32, offset: u32, bytes: &[u8]) -> Outcome<()> {
        let binding = self.layout.binding(number).ok_or_else(|| no_binding(number))?;
        let written = binding.is_inline()
            && offset as usize + bytes.len() <= self.layout.count(binding, self.variable) as usize
            && self
                .inline
                .as_ref()
                .is_some_and(|m| m.write(u64::from(binding.inline_offset + offset), bytes));
        if !written {
            return Err(Error::usage(format!("binding {number} is no inline uniform block of that size")));
        }
        Ok(())
    }

    fn copy_from(&self, from: &DescriptorSet, copy: &vk::CopyDescriptorSet<'_>) -> Outcome<()> {
        let source = from.layout.binding(copy.src_binding).ok_or_else(|| no_binding(copy.src_binding))?;
        if source.is_inline() {
            let mut bytes = vec![0; copy.descriptor_count as usize];
            let start = u64::from(source.inline_offset + copy.src_array_element);
            if !from.inline.as_ref().is_some_and(|m| m.read(start, &mut bytes)) {
                return Err(Error::usage("a copy past the end of an inline uniform block"));
            }
            return self.write_inline(copy.dst_binding, copy.dst_array_element, &bytes);
        }
        let first = (source.first_slot + copy.src_array_element) as usize;
        let slots = from.slots().get(first..first + copy.descriptor_count as usize).map(<[Slot]>::to_vec);
        let slots = slots.ok_or_else(|| Error::usage("a copy past the end of the source set"))?;
        self.write(copy.dst_binding, copy.dst_array_element, slots)
    }
}

/// The descriptor of a VkDescriptorBufferInfo.
///
/// # Errors
/// The buffer's handle is not live.
pub fn buffer_slot(info: &vk::DescriptorBufferInfo) -> Outcome<Slot> {
    Ok(match handle::get_optional::<Buffer>(info.buffer)? {
        Some(buffer) => Slot::Buffer(buffer, info.offset, info.range),
        None => Slot::Null,
    })
}

/// The descriptor of a VkBufferView.
///
/// # Errors
/// The handle is not live.
pub fn texel_slot(view: vk::BufferView) -> Outcome<Slot> {
    Ok(handle::get_optional::<BufferView>(view)?.map_or(Slot::Null, Slot::Texels))
}

/// The descriptor of a VkDescriptorImageInfo; a sampler that an immutable one replaces may be anything.
///
/// # Errors
/// A handle is not live.
pub fn image_slot(
    kind: vk::DescriptorType,
    immutable: bool,
    info: &vk::DescriptorImageInfo,
) -> Outcome<Slot> {
    let sampler = || {
        let sampler = if immutable { None } else { handle::get_optional::<Sampler>(info.sampler)? };
        if sampler.as_ref().is_some_and(|sampler| sampler.state.conversion.is_some()) {
            let what = "a sampler that enables sampler Y'CbCr conversion, and is no immutable sampler";
            return Err(Error::usage(format!("a descriptor is written with {what}")));
        }
        Ok(sampler)
    };
    let view = || handle::get_optional::<ImageView>(info.image_view);
    Ok(match kind {
        vk::DescriptorType::SAMPLER => sampler()?.map_or(Slot::Empty, Slot::Sampler),
        vk::DescriptorType::COMBINED_IMAGE_SAMPLER => match (view()?, sampler()?) {
            (Some(view), Some(sampler)) => Slot::ImageSampler(view, info.image_layout, sampler),
            (Some(view), None) => Slot::Image(view, info.image_layout),
            (None, _) => Slot::Null,
        },
        _ => view()?.map_or(Slot::Null, |view| Slot::Image(view, info.image_layout)),
    })
}

/// Applies a VkWriteDescriptorSet to a set.
///
/// # Errors
/// A handle is not live, or the write does not fit.
///
/// # Safety
/// `write` is the application's.
pub unsafe fn apply(set: &DescriptorSet, write: &vk::WriteDescriptorSet<'_>) -> Outcome<()> {
    // SAFETY: the contract.
    unsafe {
        use vk::DescriptorType as T;
        let count = write.descriptor_count;
        let slots = match write.descriptor_type {
            T::INLINE_UNIFORM_BLOCK => {
                let block = ffi::find::<vk::WriteDescriptorSetInlineUniformBlock<'_>>(write.p_next)
                    .ok_or_else(|| Error::usage("an inline uniform block without its data"))?;
                let bytes = ffi::slice(block.p_data.cast::<u8>(), block.data_size);
                return set.write_inline(write.dst_binding, write.dst_array_element, bytes);
            }
            T::UNIFORM_TEXEL_BUFFER | T::STORAGE_TEXEL_BUFFER => ffi::slice(write.p_texel_buffer_view, count)
                .iter()
                .map(|v| texel_slot(*v))
                .collect::<Outcome<Vec<_>>>()?,
            T::UNIFORM_BUFFER | T::STORAGE_BUFFER | T::UNIFORM_BUFFER_DYNAMIC | T::STORAGE_BUFFER_DYNAMIC => {
                ffi::slice(write.p_buffer_info, count).iter().map(buffer_slot).collect::<Outcome<Vec<_>>>()?
            }
            kind @ (T::SAMPLER
            | T::COMBINED_IMAGE_SAMPLER
            | T::SAMPLED_IMAGE
            | T::STORAGE_IMAGE
            | T::INPUT_ATTACHMENT) => {
                let immutable =
                    set.layout.binding(write.dst_binding).is_some_and(|b| !b.immutable.is_empty());
                ffi::slice(write.p_image_info, count)
                    .iter()
                    .map(|info| image_slot(kind, immutable, info))
                    .collect::<Outcome<Vec<_>>>()?
            }
            other => return Err(Error::not_implemented(&format!("descriptors of type {other:?}"))),
        };
        set.write(write.dst_binding, write.dst_array_element, slots)
    }
}

/// The descriptor as the interpreter takes it. `dynamic` is the dynamic offset of a dynamic buffer.
pub fn resolve(slot: &Slot, dynamic: u64, reference: Reference) -> interface::Descriptor {
    use interface::Descriptor as D;
    match slot {
        Slot::Empty => D::Missing,
        Slot::Null => D::Null,
        Slot::Buffer(buffer, offset, range) => D::Buffer(buffer.range(offset + dynamic, *range, reference)),
        Slot::Bytes(bytes) => D::Buffer(bytes.through(reference)),
        Slot::TexelBytes(bytes, format, texels) => {
            D::TexelBuffer(bytes.through(reference), format.as_raw(), *texels)
        }
        Slot::Texels(view) => D::TexelBuffer(
            view.buffer.range(view.offset, view.range, reference),
            view.format.as_raw(),
            view.texels,
        ),
        Slot::Image(view, _) => view.descriptor(reference).map_or(D::Missing, D::Image),
        Slot::Sampler(sampler) => D::Sampler(sampler.state),
        Slot::ImageSampler(view, _, sampler) => {
            view.descriptor(reference).map_or(D::Missing, |v| D::ImageSampler(v, sampler.state))
        }
    }
}

/// A binding is updated: command buffers that bind the set are invalid from now on, unless the binding allows
/// it. Reports an update of descriptors that a submission uses which the host has not seen complete. The
/// submission goes on with the descriptors that it was submitted with.
pub fn changed(
    device: &Device,
    handle: vk::DescriptorSet,
    set: &Arc<DescriptorSet>,
    binding: u32,
    call: &'static str,
) {
    if set.layout.binding(binding).is_some_and(|b| !b.may_change_while_pending()) {
        set.updates.fetch_add(1, Ordering::Relaxed);
        let named = ("VkDescriptorSet", vk::ObjectType::DESCRIPTOR_SET, vk::Handle::as_raw(handle));
        // The table holds it, and the caller.
        if Arc::strong_count(set) > 2 && !device.is_lost() {
            destroy::changed(device, call, named, set);
        }
    }
}

entries! {
    fn update_descriptor_sets(
        device: Arc<Device>,
        writes: &[vk::WriteDescriptorSet<'_>],
        copies: &[vk::CopyDescriptorSet<'_>],
    ) {
        for write in writes {
            let set = handle::get::<DescriptorSet>(write.dst_set)?;
            changed(&device, write.dst_set, &set, write.dst_binding, "vkUpdateDescriptorSets");
            apply(&set, write)?;
        }
        for copy in copies {
            let to = handle::get::<DescriptorSet>(copy.dst_set)?;
            changed(&device, copy.dst_set, &to, copy.dst_binding, "vkUpdateDescriptorSets");
            to.copy_from(&*handle::get::<DescriptorSet>(copy.src_set)?, copy)?;
        }
        Ok(())
    }
}
