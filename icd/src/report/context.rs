//! What the driver knows about a finding beyond the memory model: the shader, its dispatch and the
//! debug-utils names of objects.

use super::element::{Element, ValueType};
use super::texel::DescriptorImage;
use pellucid_memory::access::{Reference, Site};
use pellucid_memory::commands::Range;
use pellucid_memory::finding::{AccessInfo, Finding, Place, Texel};
use pellucid_memory::scope::StorageClasses;
use pellucid_memory::system::MemoryView;
use pellucid_shader_interp::ir::{Binding, Shader, SiteInfo};

/// The dispatches that the accesses of a finding name.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// At least one; looked up by [`pellucid_memory::agent::Invocation::dispatch`].
    pub dispatches: &'a [DispatchContext<'a>],
}

/// One dispatch, as a message names it.
#[derive(Clone, Copy, Debug)]
pub struct DispatchContext<'a> {
    /// Its number on its device, from 0 in submission order.
    pub number: u32,
    /// The shader that ran.
    pub shader: &'a Shader,
    /// The pipeline's debug-utils name, or "".
    pub pipeline: &'a str,
    /// The debug-utils labels that were open, outermost first.
    pub labels: &'a [String],
    /// The queue's debug-utils name, or what it is: "queue 0".
    pub queue: &'a str,
    /// What the references of this dispatch are.
    pub objects: &'a [Object],
    /// The buffers that findings reach by device address, by what they reach, where it is known which one.
    pub addressed: &'a [(Range, Object)],
    /// Push constant bytes that vkCmdPushConstants set: first and last of each run.
    pub pushed: &'a [(u32, u32)],
}

/// A descriptor or buffer that a reference of the model stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    /// By which accesses name it.
    pub reference: Reference,
    /// Where the shader finds it: "set 0, binding 1".
    pub what: String,
    /// The Vulkan object behind it.
    pub handle: u64,
    /// Its `VkObjectType`.
    pub object_type: i32,
    /// Its debug-utils name, or "".
    pub name: String,
    /// The device address of the first byte that the descriptor reaches.
    pub address: u64,
    /// Its texels, if it is an image or a texel buffer.
    pub texels: Option<DescriptorImage>,
}

impl Object {
    /// What it is, and its name or its handle.
    pub fn called(&self) -> String {
        match self.name.as_str() {
            "" => format!("{} {:#x}", self.what, self.handle),
            name => format!("{} \"{name}\"", self.what),
        }
    }
}

impl<'a> Context<'a> {
    /// The dispatch of that number; the first one where it is not listed.
    pub fn dispatch(&self, number: u32) -> Option<&'a DispatchContext<'a>> {
        self.dispatches.iter().find(|d| d.number == number).or(self.dispatches.first())
    }

    /// The dispatch of an access.
    pub fn of(&self, access: &AccessInfo) -> Option<&'a DispatchContext<'a>> {
        self.dispatch(access.by.dispatch)
    }

    /// The dispatch whose shader the synchronising instructions of a finding belong to: that of its last
    /// access.
    pub fn primary(&self, finding: &Finding) -> Option<&'a DispatchContext<'a>> {
        finding.accesses.last().and_then(|a| self.of(a)).or(self.dispatches.first())
    }
}

impl<'a> DispatchContext<'a> {
    /// The row of a site; `None` for the site that stands for none.
    pub fn site(&self, site: Site) -> Option<&'a SiteInfo> {
        self.shader.sites.get(site.0 as usize).filter(|info| !info.instruction.is_empty())
    }

    /// "reduce.comp:41", or the function and word where there is no source line.
    pub fn location(&self, site: Site) -> String {
        location(self.shader, site)
    }

    /// The dispatch with its name: the innermost label, else the pipeline's name.
    pub fn title(&self) -> String {
        match self.labels.last().map(String::as_str).or((!self.pipeline.is_empty()).then_some(self.pipeline))
        {
            Some(name) => format!("dispatch {} \"{name}\"", self.number),
            None => format!("dispatch {}", self.number),
        }
    }

    /// The descriptor or buffer that an access reached; `None` for variables of the workgroup and the
    /// invocation, whose references are numbered apart, and for device addresses of more than one buffer.
    pub fn object(&self, access: &AccessInfo) -> Option<&'a Object> {
        let place = &access.place;
        if place.class == StorageClasses::WORKGROUP || place.class.is_empty() {
            return None;
        }
        if place.reference == Reference::PHYSICAL {
            let reached = Range::new(place.address, place.size.into());
            return self.addressed.iter().find(|(bytes, _)| *bytes == reached).map(|(_, buffer)| buffer);
        }
        self.objects.iter().find(|o| o.reference == place.reference)
    }

    /// The part of a variable or block that an access reached, such as `table[3]`; `None` for what has no
    /// parts, and where it is not known.
    pub fn element(&self, access: &AccessInfo) -> Option<String> {
        let place = &access.place;
        let number = place.reference.0 as usize;
        if place.size == 0 {
            return None;
        }
        if place.class.is_empty() {
            return self.shader.variables.get(number)?.part(u32::try_from(place.offset).ok()?);
        }
        let offset = u32::try_from(self.offset(access)?).ok()?;
        if place.class == StorageClasses::WORKGROUP {
            return self.shader.shared.get(number)?.part(offset);
        }
        let block = place.class == StorageClasses::UNIFORM && place.reference != Reference::PHYSICAL;
        if !block || self.object(access).is_none() {
            return None;
        }
        // Variables of one binding are one reference: which of them it was is not known.
        let index = number >> 16;
        let binding = self.shader.bindings.get(index)?;
        let same = |other: &&Binding| (other.set, other.binding) == (binding.set, binding.binding);
        let only = self.shader.bindings.iter().filter(same).count() == 1;
        self.shader.blocks.get(index).filter(|_| only)?.as_ref()?.part(offset)
    }

    /// The type of the values of an access: of a buffer or variable what the instruction moves, of an image
    /// its texels; `None` where these are not of one type, and where the access is to a part of them.
    pub fn value_type(&self, access: &AccessInfo) -> Option<ValueType> {
        let element = if access.place.class == StorageClasses::IMAGE {
            Element::of_format(self.object(access)?.texels.as_ref()?.format)?
        } else {
            match ValueType::of_component(self.site(access.site)?.component?) {
                ValueType::Bool => return Some(ValueType::Bool),
                ValueType::Element(element) => element,
            }
        };
        (element.size() == access.place.size as usize).then_some(ValueType::Element(element))
    }

    /// Whether an access reads push constants.
    pub fn is_push_constant(&self, access: &AccessInfo) -> bool {
        access.place.class.is_empty() && self.shader.push_variable == Some(access.place.reference.0)
    }

    /// The first byte that an access reached, from the start of its descriptor or variable; `None` where it
    /// named a texel that does not exist.
    pub fn offset(&self, access: &AccessInfo) -> Option<u64> {
        if access.texel.is_some() {
            return None;
        }
        // The place of a race is that of the later access: the earlier one may go through another descriptor.
        let object = self.object(access);
        Some(object.map_or(access.place.offset, |object| access.place.address.wrapping_sub(object.address)))
    }

    /// A place in workgroup memory, of which only the address is known, with its offset in its variable; any
    /// other as it is.
    pub fn within_variable(&self, place: Place) -> Place {
        let mut variables = self.shader.workgroup.iter().filter(|_| place.class == StorageClasses::WORKGROUP);
        let variable = variables.find(|variable| variable.reference == place.reference);
        let start = variable.map(|variable| u64::from(variable.offset));
        Place { offset: start.map_or(place.offset, |start| place.address.wrapping_sub(start)), ..place }
    }

    /// The texel that an access reached or named; `None` for what has no texels.
    pub fn texel(&self, access: &AccessInfo) -> Option<Texel> {
        if access.texel.is_some() {
            return access.texel.clone();
        }
        if access.place.class != StorageClasses::IMAGE {
            return None;
        }
        self.object(access)?.texels.as_ref()?.texel_at(self.offset(access)?)
    }

    /// What an access reached, in words, such as `buffer "partials" (set 0, binding 1)`.
    pub fn place(&self, access: &AccessInfo) -> String {
        let place = &access.place;
        if place.class == StorageClasses::WORKGROUP {
            let variable = self.shader.workgroup.iter().find(|w| w.reference == place.reference);
            return match variable.map(|w| w.name.as_str()).filter(|name| !name.is_empty()) {
                Some(name) => format!("workgroup variable \"{name}\""),
                None => "workgroup memory".to_owned(),
            };
        }
        if self.is_push_constant(access) {
            return "the push constants".to_owned();
        }
        if place.class.is_empty() {
            return match self.site(access.site).map(|info| info.variable.as_str()).filter(|v| !v.is_empty()) {
                Some(name) => format!("variable \"{name}\" of the invocation"),
                None => "a variable of the invocation".to_owned(),
            };
        }
        let object = self.object(access);
        if place.reference == Reference::PHYSICAL && object.is_none() {
            return format!("device address {:#x}", place.address);
        }
        let kind = match object.and_then(|object| object.texels.as_ref()) {
            Some(image) if image.buffer => "texel buffer",
            _ if place.class == StorageClasses::IMAGE => "image",
            _ => "buffer",
        };
        match object {
            Some(object) if object.name.is_empty() => format!("{kind} at {}", object.what),
            Some(object) => format!("{kind} \"{}\" ({})", object.name, object.what),
            None if [MemoryView::NULL.reference, Reference::NULL_DESCRIPTOR].contains(&place.reference) => {
                match self.site(access.site).map(|info| info.variable.as_str()).filter(|v| !v.is_empty()) {
                    Some(variable) => format!("{kind} variable \"{variable}\""),
                    None => format!("the {kind} variable"),
                }
            }
            None => format!("{kind} at device address {:#x}", place.address),
        }
    }
}

/// "reduce.comp:41", or the instruction and its word where there is no source line.
pub fn location(shader: &Shader, site: Site) -> String {
    let Some(info) = shader.sites.get(site.0 as usize) else { return "an unnamed instruction".to_owned() };
    match info.source.and_then(|p| Some((shader.files.get(p.file as usize)?, p.line))) {
        Some((file, line)) => format!("{}:{line}", base_name(&file.name)),
        None => format!("{} (word {})", info.instruction, info.word),
    }
}

/// The last component of a path, whichever separator it uses.
pub fn base_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}
