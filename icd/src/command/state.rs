//! What a command buffer has bound, as the interpreter takes it.

use super::attachment::Rendering;
use super::reach::Reach;
use crate::addresses::AddressMap;
use crate::caps::PUSH_CONSTANTS;
use crate::device::Device;
use crate::entry::buffer::Buffer;
use crate::entry::descriptor_layout::Binding as LayoutBinding;
use crate::entry::descriptor_set::{DescriptorSet, Slot, resolve};
use crate::entry::image_view::ImageView;
use crate::entry::pipeline::Pipeline;
use crate::report::Object;
use crate::report::texel::{self, Layers};
use ash::vk;
use pellucid_memory::access::Reference;
use pellucid_memory::commands::OperationId;
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

    /// The dynamic offset of a binding's element; 0 if it has none.
    fn dynamic(&self, binding: &LayoutBinding, element: usize) -> u64 {
        let offset = self.dynamic.get(binding.first_dynamic as usize + element);
        offset.filter(|_| binding.is_dynamic()).map_or(0, |offset| u64::from(*offset))
    }
}

/// What a command buffer has bound.
pub struct State<'a> {
    pub pipeline: Option<&'a Pipeline>,
    sets: SmallVec<[Option<BoundSet<'a>>; 4]>,
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
}

/// The resources of the last dispatch, as long as nothing changes.
pub struct Ready {
    pub resources: Resources,
}

impl<'a> State<'a> {
    /// Nothing bound, in a submission that reaches `reach`.
    pub fn new(labels: &[String], reach: &'a Reach) -> State<'a> {
        State {
            pipeline: None,
            sets: SmallVec::new(),
            push: [0; PUSH_CONSTANTS as usize],
            push_unset: [1; PUSH_CONSTANTS as usize],
            labels: labels.to_vec(),
            reach,
            ready: None,
            rendering: None,
            instance: None,
        }
    }

    /// Nothing bound, in a secondary command buffer, which goes on with what is being rendered.
    pub fn of_secondary(&self) -> State<'a> {
        let (rendering, instance) = (self.rendering.clone(), self.instance);
        State { rendering, instance, ..State::new(&self.labels, self.reach) }
    }

    /// vkCmdBindPipeline; `None`: vkCmdBindShadersEXT without a compute shader.
    pub fn bind_pipeline(&mut self, pipeline: Option<&'a Pipeline>) {
        self.ready = None;
        self.pipeline = pipeline;
    }

    /// vkCmdBindDescriptorSets.
    pub fn bind_sets(&mut self, first: u32, sets: &'a [Arc<DescriptorSet>], dynamic: &'a [u32]) {
        self.ready = None;
        let mut dynamic = dynamic;
        for (index, set) in sets.iter().enumerate() {
            let number = first as usize + index;
            if self.sets.len() <= number {
                self.sets.resize(number + 1, None);
            }
            let (mine, rest) = dynamic.split_at((set.layout.dynamic_count as usize).min(dynamic.len()));
            dynamic = rest;
            let slots = self.reach.slots(set);
            self.sets[number] = Some(BoundSet { set, slots, dynamic: mine });
        }
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

    fn bound(&self, number: u32) -> Option<&BoundSet<'a>> {
        self.sets.get(number as usize)?.as_ref()
    }

    /// The descriptors of each of the program's bindings.
    pub fn gather(&self, program: &Program, addresses: AddressMap) -> Ready {
        let bindings = program.shader.bindings.iter().map(|wanted| {
            let index = first_of(program, wanted);
            let empty = || vec![Descriptor::Missing; wanted.count.max(1) as usize];
            let Some(bound) = self.bound(wanted.set) else { return empty() };
            let Some(binding) = bound.set.layout.binding(wanted.binding) else { return empty() };
            if binding.is_inline() {
                return vec![Descriptor::Buffer(bound.set.inline_range(binding, reference(index, 0)))];
            }
            let slots = bound.slots(binding);
            let mut out: Vec<Descriptor> = slots
                .iter()
                .enumerate()
                .map(|(element, slot)| {
                    resolve(slot, bound.dynamic(binding, element), reference(index, element))
                })
                .collect();
            // A descriptor array of the shader may be longer than the binding; what is beyond it is never
            // written.
            out.resize(out.len().max(wanted.count as usize), Descriptor::Missing);
            out
        });
        let resources = Resources {
            bindings: bindings.collect(),
            push_constants: self.push.to_vec(),
            push_unset: self.push_unset.to_vec(),
            addresses,
        };
        Ready { resources }
    }

    /// The image view of a reference that means the same in all dispatches, and the layout that the
    /// descriptor names: set, binding and element.
    pub fn image(&self, reference: Reference) -> Option<(Arc<ImageView>, vk::ImageLayout)> {
        let bound = self.bound(reference.0 >> 28)?;
        let binding = bound.set.layout.binding(reference.0 >> 16 & 0xfff)?;
        match bound.slots(binding).get((reference.0 & 0xffff) as usize)? {
            Slot::Image(view, layout) | Slot::ImageSampler(view, layout, _) => Some((view.clone(), *layout)),
            _ => None,
        }
    }

    /// The buffer of a reference that means the same in all dispatches.
    pub fn buffer(&self, reference: Reference) -> Option<&Buffer> {
        let bound = self.bound(reference.0 >> 28)?;
        let binding = bound.set.layout.binding(reference.0 >> 16 & 0xfff)?;
        match bound.slots(binding).get((reference.0 & 0xffff) as usize)? {
            Slot::Buffer(buffer, ..) => Some(buffer),
            Slot::Texels(view) => Some(&view.buffer),
            _ => None,
        }
    }

    /// What the references of this dispatch are, for reports.
    pub fn objects(&self, device: &Device, program: &Program) -> Vec<Object> {
        let mut out = Vec::new();
        for (index, wanted) in program.shader.bindings.iter().enumerate() {
            let Some(bound) = self.bound(wanted.set) else { continue };
            let Some(binding) = bound.set.layout.binding(wanted.binding) else { continue };
            if binding.is_inline() || first_of(program, wanted) != index {
                continue;
            }
            let slots = bound.slots(binding);
            for (element, slot) in slots.iter().enumerate() {
                let (kind, handle, view_type) = match slot {
                    Slot::Buffer(buffer, ..) => (vk::ObjectType::BUFFER, buffer.handle(), None),
                    Slot::Texels(view) => (vk::ObjectType::BUFFER, view.buffer.handle(), None),
                    Slot::Image(view, _) | Slot::ImageSampler(view, ..) => {
                        (vk::ObjectType::IMAGE, view.image.handle(), Some(view.view_type()))
                    }
                    Slot::Empty | Slot::Null | Slot::Sampler(_) => continue,
                };
                let descriptor = resolve(slot, bound.dynamic(binding, element), reference(index, element));
                let what = if slots.len() == 1 {
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
fn texels_of(descriptor: &Descriptor, view_type: Option<vk::ImageViewType>) -> Option<texel::Image> {
    let (Descriptor::Image(view) | Descriptor::ImageSampler(view, _)) = descriptor else {
        return texel::Image::of_buffer(descriptor);
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
    Some(texel::Image::of_view(view, axes, layers))
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
