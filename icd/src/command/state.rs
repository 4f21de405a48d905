//! What a command buffer has bound, as the interpreter takes it.

use super::attachment::Rendering;
use super::in_memory::{Descriptors, Meaning, SetInMemory};
use super::reach::Reach;
use crate::addresses::AddressMap;
use crate::caps::PUSH_CONSTANTS;
use crate::device::Device;
use crate::entry::buffer::Buffer;
use crate::entry::descriptor_layout::{Binding as LayoutBinding, DescriptorSetLayout};
use crate::entry::descriptor_set::{DescriptorSet, Slot, resolve};
use crate::entry::image_view::ImageView;
use crate::entry::pipeline::Pipeline;
use crate::report::Object;
use crate::report::texel::{self, Layers};
use ash::vk;
use pellucid_memory::access::Reference;
use pellucid_memory::commands::{OperationId, Range};
use pellucid_memory::device::MemoryRange;
use pellucid_shader_interp::Program;
use pellucid_shader_interp::interface::{Descriptor, Resources};
use pellucid_shader_interp::ir::Binding;
use smallvec::SmallVec;
use std::sync::Arc;

/// A bound descriptor set, its descriptors and its dynamic offsets.
#[derive(Clone)]
struct BoundSet<'a> {
    set: &'a DescriptorSet,
    slots: &'a [Slot],
    dynamic: &'a [u32],
}

impl BoundSet<'_> {
    /// A binding's descriptors; an inline uniform block has none.
    fn slots(&self, binding: &LayoutBinding) -> &[Slot] {
        let count = self.set.layout.count(binding, self.set.variable) as usize;
        let first = binding.first_slot as usize;
        self.slots.get(first..first + count).unwrap_or_default()
    }

    /// The dynamic offsets of a binding.
    fn dynamic(&self, binding: &LayoutBinding) -> &[u32] {
        let all = self.dynamic.get(binding.first_dynamic as usize..).filter(|_| binding.is_dynamic());
        all.unwrap_or_default()
    }
}

/// What is bound to a set number.
#[derive(Clone)]
enum Bound<'a> {
    /// A descriptor set.
    Set(BoundSet<'a>),
    /// Part of a descriptor buffer, or embedded samplers.
    Memory(SetInMemory<'a>),
}

/// The descriptors of a binding.
struct Slots<'s> {
    slots: &'s [Slot],
    /// The dynamic offsets of its elements, if it has any.
    dynamic: &'s [u32],
}

impl Slots<'_> {
    /// The dynamic offset of an element; 0 if it has none.
    fn dynamic(&self, element: usize) -> u64 {
        self.dynamic.get(element).map_or(0, |offset| u64::from(*offset))
    }
}

/// The parts of a reference that means the same in all dispatches: set, binding and element.
fn parts(reference: Reference) -> (u32, u32, u32) {
    (reference.0 >> 27, reference.0 >> 16 & 0x7ff, reference.0 & 0xffff)
}

/// What a command buffer has bound.
pub struct State<'a> {
    pub pipeline: Option<&'a Pipeline>,
    sets: SmallVec<[Option<Bound<'a>>; 4]>,
    /// Device addresses of the descriptor buffers.
    buffers: &'a [u64],
    push: [u8; PUSH_CONSTANTS as usize],
    /// For each of these bytes: 0 once something has set it. A layout that is not compatible takes nothing
    /// back.
    pub push_unset: [u8; PUSH_CONSTANTS as usize],
    /// Open debug labels, outermost first.
    pub labels: Vec<String>,
    /// What the submission reaches.
    pub reach: &'a Reach,
    /// The resources of the last dispatch, as long as nothing changes.
    pub ready: Option<Ready>,
    /// What is being rendered to.
    pub rendering: Option<Arc<Rendering>>,
    /// The first operation of the render pass instance.
    pub instance: Option<OperationId>,
    /// A predicate discards dispatches and clears of attachments.
    pub discards: bool,
}

/// The resources of the last dispatch, as long as nothing changes.
pub struct Ready {
    pub resources: Resources,
    /// The descriptors in memory, as it read them.
    read: Vec<Descriptors>,
    /// How often the objects had changed that they may name.
    changes: u64,
}

impl Ready {
    /// True if the descriptors that it read are in memory still.
    pub fn is_current(&self, device: &Device, reach: &Reach) -> bool {
        self.read.is_empty()
            || self.changes == device.described.changes()
                && self.read.iter().all(|read| read.are_unchanged(reach.addresses()))
    }
}

impl<'a> State<'a> {
    /// Nothing bound, in a submission that reaches `reach`.
    pub fn new(labels: &[String], reach: &'a Reach) -> State<'a> {
        State {
            pipeline: None,
            sets: SmallVec::new(),
            buffers: &[],
            push: [0; PUSH_CONSTANTS as usize],
            push_unset: [1; PUSH_CONSTANTS as usize],
            labels: labels.to_vec(),
            reach,
            ready: None,
            rendering: None,
            instance: None,
            discards: false,
        }
    }

    /// Nothing bound, in a secondary command buffer, which goes on with what is being rendered and discarded.
    pub fn of_secondary(&self) -> State<'a> {
        let (rendering, instance, discards) = (self.rendering.clone(), self.instance, self.discards);
        State { rendering, instance, discards, ..State::new(&self.labels, self.reach) }
    }

    /// vkCmdBindPipeline; `None`: vkCmdBindShadersEXT without a compute shader.
    pub fn bind_pipeline(&mut self, pipeline: Option<&'a Pipeline>) {
        self.ready = None;
        self.pipeline = pipeline;
    }

    /// vkCmdBindDescriptorSets.
    pub fn bind_sets(&mut self, first: u32, sets: &'a [Arc<DescriptorSet>], dynamic: &'a [u32]) {
        self.ready = None;
        // Sets end what is bound in memory, but for those that are pushed (*Binding Descriptor Buffers*).
        if sets.iter().any(|set| !set.layout.is_pushed()) {
            self.unbind(|bound| matches!(bound, Bound::Memory(_)));
        }
        let mut dynamic = dynamic;
        for (number, set) in (first..).zip(sets) {
            let (mine, rest) = dynamic.split_at((set.layout.dynamic_count as usize).min(dynamic.len()));
            dynamic = rest;
            let slots = self.reach.slots(set);
            self.bind(number, Some(Bound::Set(BoundSet { set, slots, dynamic: mine })));
        }
    }

    fn bind(&mut self, number: u32, bound: Option<Bound<'a>>) {
        let number = number as usize;
        if self.sets.len() <= number {
            self.sets.resize(number + 1, None);
        }
        self.sets[number] = bound;
    }

    fn unbind(&mut self, which: impl Fn(&Bound<'a>) -> bool) {
        for set in &mut self.sets {
            if set.as_ref().is_some_and(&which) {
                *set = None;
            }
        }
    }

    /// vkCmdBindDescriptorBuffersEXT: offsets that were set are no longer valid.
    pub fn bind_descriptor_buffers(&mut self, addresses: &'a [u64]) {
        self.ready = None;
        self.buffers = addresses;
        self.unbind(|bound| matches!(bound, Bound::Memory(set) if set.address.is_some()));
    }

    /// Descriptors in memory end the sets that are bound, but for those that are pushed.
    fn end_sets(&mut self) {
        self.ready = None;
        self.unbind(|bound| matches!(bound, Bound::Set(set) if !set.set.layout.is_pushed()));
    }

    /// vkCmdSetDescriptorBufferOffsetsEXT. Where no descriptor buffer is bound, none is then.
    pub fn set_descriptor_buffer_offsets(
        &mut self,
        first: u32,
        sets: &'a [(Arc<DescriptorSetLayout>, u32, u64)],
    ) {
        self.end_sets();
        for (number, (layout, index, offset)) in (first..).zip(sets) {
            let address = self.buffers.get(*index as usize).map(|buffer| buffer.saturating_add(*offset));
            let set = address.map(|at| Bound::Memory(SetInMemory { layout, address: Some(at) }));
            self.bind(number, set);
        }
    }

    /// vkCmdBindDescriptorBufferEmbeddedSamplersEXT.
    pub fn bind_embedded_samplers(&mut self, number: u32, layout: &'a Arc<DescriptorSetLayout>) {
        self.end_sets();
        self.bind(number, Some(Bound::Memory(SetInMemory { layout, address: None })));
    }

    /// vkCmdPushConstants.
    pub fn push_constants(&mut self, offset: u32, bytes: &[u8]) {
        let start = offset as usize;
        self.push[start..start + bytes.len()].copy_from_slice(bytes);
        self.push_unset[start..start + bytes.len()].fill(0);
        if let Some(ready) = &mut self.ready {
            ready.resources.push_constants.copy_from_slice(&self.push);
            ready.resources.push_unset.copy_from_slice(&self.push_unset);
        }
    }

    /// The push constant bytes that something has set: the first and the last of each run.
    pub fn pushed(&self) -> Vec<(u32, u32)> {
        let mut runs: Vec<(u32, u32)> = Vec::new();
        for at in (0u32..).zip(&self.push_unset).filter(|(_, unset)| **unset == 0).map(|(at, _)| at) {
            match runs.last_mut() {
                Some((_, last)) if *last + 1 == at => *last = at,
                _ => runs.push((at, at)),
            }
        }
        runs
    }

    fn bound(&self, number: u32) -> Option<&Bound<'a>> {
        self.sets.get(number as usize)?.as_ref()
    }

    /// The descriptors in memory of the program's bindings.
    fn read(&self, device: &Device, program: &Program, addresses: &AddressMap) -> Vec<Descriptors> {
        let variables = &program.shader.bindings;
        let mut meaning: Option<Meaning<'_>> = None;
        let mut out = Vec::new();
        for (index, first) in variables.iter().enumerate() {
            let Some(Bound::Memory(set)) = self.bound(first.set) else { continue };
            if first_of(program, first) != index {
                continue;
            }
            let same = |v: &&Binding| (v.set, v.binding) == (first.set, first.binding);
            let shared: Vec<&Binding> = variables.iter().filter(same).collect();
            let meaning = meaning.get_or_insert_with(|| Meaning {
                addresses,
                numbered: [self.reach.described().clone(), device.described.all()],
            });
            let mut wrong = |why| {
                let text = format!("vkCmdDispatch: set {}, binding {}: {why}", first.set, first.binding);
                device.instance.misuse(&text);
            };
            out.extend(Descriptors::read(set, &shared, meaning, &mut wrong));
        }
        out
    }

    /// The descriptors of each of the program's bindings.
    pub fn gather(&self, device: &Device, program: &Program, addresses: AddressMap) -> Ready {
        // What changes from here on is read again.
        let changes = device.described.changes();
        let read = self.read(device, program, &addresses);
        let bindings = program.shader.bindings.iter().map(|wanted| {
            let index = first_of(program, wanted);
            if let Some(block) = self.block(&read, wanted.set, wanted.binding) {
                return vec![Descriptor::Buffer(block.through(reference(index, 0)))];
            }
            let slots = self.slots(&read, wanted.set, wanted.binding);
            let mut out: Vec<Descriptor> = slots.map_or_else(Vec::new, |of| {
                let slots = of.slots.iter().enumerate();
                slots
                    .map(|(element, slot)| resolve(slot, of.dynamic(element), reference(index, element)))
                    .collect()
            });
            // A descriptor array of the shader may be longer than the binding; what is beyond it is never
            // written.
            out.resize(out.len().max(wanted.count.max(1) as usize), Descriptor::Missing);
            out
        });
        let resources = Resources {
            bindings: bindings.collect(),
            push_constants: self.push.to_vec(),
            push_unset: self.push_unset.to_vec(),
            addresses,
        };
        Ready { resources, read, changes }
    }

    /// The inline uniform block of a binding, if it is one.
    fn block(&self, read: &[Descriptors], set: u32, binding: u32) -> Option<MemoryRange> {
        match self.bound(set)? {
            Bound::Set(bound) => {
                let binding = bound.set.layout.binding(binding).filter(|binding| binding.is_inline())?;
                Some(bound.set.inline_range(binding, Reference::PHYSICAL))
            }
            Bound::Memory(_) => read.iter().find(|read| read.are_of(set, binding))?.block().cloned(),
        }
    }

    /// The descriptors of a binding, if it has any; those in memory are in `read`.
    fn slots<'s>(&'s self, read: &'s [Descriptors], set: u32, binding: u32) -> Option<Slots<'s>> {
        match self.bound(set)? {
            Bound::Set(bound) => {
                let binding = bound.set.layout.binding(binding).filter(|binding| !binding.is_inline())?;
                Some(Slots { slots: bound.slots(binding), dynamic: bound.dynamic(binding) })
            }
            Bound::Memory(_) => {
                let read = read.iter().find(|read| read.are_of(set, binding))?;
                Some(Slots { slots: &read.slots, dynamic: &[] })
            }
        }
    }

    /// The descriptors in memory that the last dispatch read.
    fn last_read(&self) -> &[Descriptors] {
        self.ready.as_ref().map_or(&[], |ready| &ready.read)
    }

    /// The descriptors in memory of a reference that means the same in all dispatches, and the element, as
    /// far as these are told apart.
    fn read_of(&self, of: Reference) -> Option<(&Descriptors, u32)> {
        let (set, binding, element) = parts(of);
        let mut named = self.last_read().iter().filter(|read| read.may_be_of(set, binding));
        named
            .next()
            .filter(|read| named.next().is_none() && read.slots.len() <= 1 << 16)
            .map(|read| (read, element))
    }

    /// The descriptor of a reference that means the same in all dispatches.
    fn slot(&self, reference: Reference) -> Option<&Slot> {
        if let Some((read, element)) = self.read_of(reference) {
            return read.slots.get(element as usize);
        }
        let (set, binding, element) = parts(reference);
        self.slots(&[], set, binding)?.slots.get(element as usize)
    }

    /// Where the last dispatch read the descriptor of a reference that means the same in all dispatches, if
    /// that is in memory, and how uses of the objects are noted that it names.
    pub fn descriptor_read(&self, of: Reference) -> Option<(Range, Vec<Range>)> {
        let (read, element) = self.read_of(of)?;
        read.element(element)
    }

    /// Whether a reference that means the same in all dispatches is to an inline uniform block in memory.
    pub fn is_block_in_memory(&self, of: Reference) -> bool {
        self.read_of(of).is_some_and(|(read, _)| read.block().is_some())
    }

    /// The image view of a reference that means the same in all dispatches, and the layout that the
    /// descriptor names: set, binding and element.
    pub fn image(&self, reference: Reference) -> Option<(Arc<ImageView>, vk::ImageLayout)> {
        match self.slot(reference)? {
            Slot::Image(view, layout) | Slot::ImageSampler(view, layout, _) => Some((view.clone(), *layout)),
            _ => None,
        }
    }

    /// The buffer of a reference that means the same in all dispatches.
    pub fn buffer(&self, reference: Reference) -> Option<&Buffer> {
        match self.slot(reference)? {
            Slot::Buffer(buffer, ..) => Some(buffer),
            Slot::Texels(view) => Some(&view.buffer),
            _ => None,
        }
    }

    /// What the references of this dispatch are, for reports.
    pub fn objects(&self, device: &Device, program: &Program) -> Vec<Object> {
        let mut out = Vec::new();
        for (index, wanted) in program.shader.bindings.iter().enumerate() {
            let Some(of) = self.slots(self.last_read(), wanted.set, wanted.binding) else { continue };
            if first_of(program, wanted) != index {
                continue;
            }
            for (element, slot) in of.slots.iter().enumerate() {
                let (kind, handle, view_type) = match slot {
                    Slot::Bytes(bytes) | Slot::TexelBytes(bytes, ..) => {
                        let shows = device.addresses.only(Range::new(bytes.address(), bytes.size()));
                        (vk::ObjectType::BUFFER, shows.unwrap_or_default(), None)
                    }
                    Slot::Buffer(buffer, ..) => (vk::ObjectType::BUFFER, buffer.handle(), None),
                    Slot::Texels(view) => (vk::ObjectType::BUFFER, view.buffer.handle(), None),
                    Slot::Image(view, _) | Slot::ImageSampler(view, ..) => {
                        (vk::ObjectType::IMAGE, view.image.handle(), Some(view.view_type()))
                    }
                    Slot::Empty | Slot::Null | Slot::Sampler(_) => continue,
                };
                let descriptor = resolve(slot, of.dynamic(element), reference(index, element));
                let what = if of.slots.len() == 1 {
                    format!("set {}, binding {}", wanted.set, wanted.binding)
                } else {
                    format!("set {}, binding {}, element {element}", wanted.set, wanted.binding)
                };
                out.push(Object {
                    reference: reference(index, element),
                    what,
                    handle,
                    object_type: kind.as_raw(),
                    name: device.name(kind, handle),
                    address: address_of(&descriptor),
                    texels: texels_of(&descriptor, view_type),
                });
            }
        }
        out
    }
}

/// The device address of the first byte that a descriptor reaches; 0 if it reaches none.
fn address_of(descriptor: &Descriptor) -> u64 {
    match descriptor {
        Descriptor::Buffer(range) | Descriptor::TexelBuffer(range, ..) => range.address(),
        Descriptor::Image(view) | Descriptor::ImageSampler(view, _) => view.memory.address(),
        Descriptor::Missing | Descriptor::Null | Descriptor::Sampler(_) => 0,
    }
}

/// The texels of a descriptor, if it has any.
fn texels_of(
    descriptor: &Descriptor,
    view_type: Option<vk::ImageViewType>,
) -> Option<texel::DescriptorImage> {
    let (Descriptor::Image(view) | Descriptor::ImageSampler(view, _)) = descriptor else {
        return texel::DescriptorImage::of_buffer(descriptor);
    };
    let (axes, layers) = match view_type? {
        vk::ImageViewType::TYPE_1D => (1, Layers::None),
        vk::ImageViewType::TYPE_1D_ARRAY => (1, Layers::Array),
        vk::ImageViewType::TYPE_2D_ARRAY => (2, Layers::Array),
        vk::ImageViewType::TYPE_3D => (3, Layers::None),
        vk::ImageViewType::CUBE => (2, Layers::Faces),
        vk::ImageViewType::CUBE_ARRAY => (2, Layers::Cubes),
        _ => (2, Layers::None),
    };
    Some(texel::DescriptorImage::of_view(view, axes, layers))
}

/// The first of the shader's variables that are bound to the same descriptors: a descriptor is one reference,
/// whatever variables it has (Vulkan memory model, *Reference*).
fn first_of(program: &Program, wanted: &Binding) -> usize {
    let descriptor = |binding: &Binding| (binding.set, binding.binding);
    let same = program.shader.bindings.iter().position(|other| descriptor(other) == descriptor(wanted));
    same.unwrap_or_default()
}

/// The reference of an element of the shader's binding `index`.
fn reference(index: usize, element: usize) -> Reference {
    Reference((index as u32) << 16 | (element as u32 & 0xffff))
}
