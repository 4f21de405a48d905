//! Variables by their names in the source, and their values in their types.

pub mod condition;
mod expression;

use super::stop::At;
use super::target::{Target, Who};
use super::texels::{Place, Texels, component_name};
use super::types::Type;
use pellucid_memory::access::Reference;
use pellucid_memory::device::MemoryRange;
use pellucid_memory::raw;
use pellucid_shader_interp::code::debug::Register;
use pellucid_shader_interp::exec::modelled::debugged::Standing;
use pellucid_shader_interp::interface::Descriptor;
use pellucid_shader_interp::ir::{ParameterOf, Scalar, Shape};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use vulkan_pellucid::report::element::Element;

/// Where a variable, or a part of one, is.
#[derive(Clone, Debug)]
pub enum Home {
    /// At a byte of the invocation's private memory.
    Private(u32),
    /// At a byte of its workgroup's memory, which a variable reaches through this reference.
    Workgroup(u32, Reference),
    /// At a byte of a descriptor's memory.
    Buffer(MemoryRange, u64),
    /// At a byte of the push constants.
    Push(u32),
    /// All texels of a descriptor.
    Image(Arc<Texels>),
    /// The texel at a byte, or one of its components.
    Texel(Arc<Texels>, Place, Option<usize>),
    /// In no memory: these are its components.
    Known(Vec<Component>, Element),
}

/// A number that an invocation has without memory.
#[derive(Clone, Copy, Debug)]
pub enum Component {
    /// One of its own numbers, and which component of it.
    Own(Numbers, usize),
    /// In a register, and in the next one if it has 64 bits.
    Register(Register, bool),
}

/// `gl_WorkGroupID` and the like: up to three components.
type Numbers = fn(&Target<'_>, Who) -> [u32; 3];

/// The numbers of an invocation: names, components, values.
const BUILT_INS: [(&str, usize, Numbers); 10] = [
    ("gl_GlobalInvocationID", 3, |target, who| {
        let (group, local) = (target.workgroup_id(who.workgroup), target.local_id(who.local_index));
        let shape = target.program.shader.local_size;
        [0, 1, 2].map(|k| group[k] * shape[k] + local[k])
    }),
    ("gl_WorkGroupID", 3, |target, who| target.workgroup_id(who.workgroup)),
    ("gl_LocalInvocationID", 3, |target, who| target.local_id(who.local_index)),
    ("gl_LocalInvocationIndex", 1, |_, who| [who.local_index, 0, 0]),
    ("gl_SubgroupID", 1, |target, who| [lane(target, who).0, 0, 0]),
    ("gl_SubgroupInvocationID", 1, |target, who| [lane(target, who).1, 0, 0]),
    ("gl_NumWorkGroups", 3, |target, _| target.grid.groups),
    ("gl_WorkGroupSize", 3, |target, _| target.program.shader.local_size),
    ("gl_SubgroupSize", 1, |target, _| [target.program.placement().subgroup_size, 0, 0]),
    ("gl_NumSubgroups", 1, |target, _| {
        let size = target.program.placement().subgroup_size.max(1);
        [target.workgroup_size().div_ceil(size), 0, 0]
    }),
];

/// The subgroup of an invocation, and its lane there.
fn lane(target: &Target<'_>, who: Who) -> (u32, u32) {
    let placement = target.program.placement();
    placement.lane(placement.place_of(who.local_index))
}

/// A variable or a part of one.
#[derive(Clone, Debug)]
pub struct Item {
    /// Its own name: `values`, `[3]`, `x`.
    pub name: String,
    /// Its type.
    pub ty: u32,
    /// Its bytes.
    pub shape: Arc<Shape>,
    /// Where its value is kept, if it has one.
    pub home: Home,
}

/// Elements of an array that are shown with it.
const SHOWN: usize = 8;

impl Home {
    fn at(&self, offset: u32) -> Home {
        match self {
            Home::Private(byte) => Home::Private(byte + offset),
            Home::Workgroup(byte, reference) => Home::Workgroup(byte + offset, *reference),
            Home::Buffer(range, byte) => Home::Buffer(range.clone(), byte + u64::from(offset)),
            Home::Push(byte) => Home::Push(byte + offset),
            other @ (Home::Image(_) | Home::Texel(..) | Home::Known(..)) => other.clone(),
        }
    }
}

/// Who looks, and at what moment.
pub struct Eyes<'s, 't, 'a, 'm, 'x> {
    /// What is debugged.
    pub target: &'s Target<'t>,
    /// The moment, or the end.
    pub at: &'s mut At<'x, 'm, 'a>,
    /// Whose variables.
    pub who: Who,
    /// The frame, 0 for the innermost.
    pub frame: usize,
}

impl Eyes<'_, '_, '_, '_, '_> {
    fn standing(&self) -> Option<(Standing<'_>, usize)> {
        self.at.standing(self.who)
    }

    fn private(&self, word: u32) -> Option<u32> {
        let (standing, lane) = self.standing()?;
        Some(standing.strand.private().get(word as usize)?.0[lane])
    }

    fn component(&self, component: Component) -> Option<u64> {
        let (register, wide) = match component {
            Component::Own(numbers, k) => return Some(numbers(self.target, self.who)[k].into()),
            Component::Register(register, wide) => (register, wide),
        };
        let (standing, lane) = self.standing()?;
        let (vectors, masks) = (standing.strand.vectors(), standing.strand.masks());
        let word = |k: u32| vectors.get(k as usize).map_or(0, |lanes| u64::from(lanes.0[lane]));
        Some(match register {
            Register::Constant(bits) => bits,
            Register::Vector(k) if wide => word(k) | word(k + 1) << 32,
            Register::Vector(k) => word(k),
            Register::Mask(k) => masks.get(k as usize).map_or(0, |mask| u64::from(mask >> lane & 1)),
        })
    }

    /// Some bytes of private, workgroup or device memory.
    fn bits(&mut self, home: &Home, bytes: u32) -> Option<u64> {
        let words = |word: &mut dyn FnMut(u32) -> Option<u32>, byte: u32| {
            let low = u64::from(word(byte / 4)?) >> (8 * (byte % 4));
            let high = if bytes > 4 { u64::from(word(byte / 4 + 1)?) << 32 } else { 0 };
            Some(low | high)
        };
        let bits = match home {
            Home::Private(byte) => words(&mut |word| self.private(word), *byte),
            Home::Workgroup(byte, _) => {
                let workgroup = self.who.workgroup;
                let memory = self.at.memory();
                words(&mut |word| memory.workgroup_word(workgroup, u64::from(word) * 4), *byte)
            }
            Home::Buffer(range, byte) => {
                raw::load(&range.view(), *byte, bytes.min(8) as u8, Ordering::Relaxed)
            }
            Home::Push(byte) => {
                let constants = self.target.resources.push_constants.get(*byte as usize..);
                let constants = constants.and_then(|rest| rest.get(..bytes.min(8) as usize));
                constants.map(|of| of.iter().rev().fold(0, |bits, byte| bits << 8 | u64::from(*byte)))
            }
            Home::Texel(texels, byte, _) => {
                raw::load(&texels.memory.view(), byte.offset, bytes.min(8) as u8, Ordering::Relaxed)
            }
            Home::Image(_) => None,
            Home::Known(values, _) => values.first().and_then(|component| self.component(*component)),
        };
        bits.map(|bits| if bytes >= 8 { bits } else { bits & ((1 << (8 * bytes)) - 1) })
    }

    /// How many parts an item has.
    pub fn count(&self, item: &Item) -> usize {
        match (&item.home, self.target.types.get(item.ty), &*item.shape) {
            (Home::Image(texels), ..) => texels.count(),
            (home, Type::Array(_), Shape::Array { length, stride, .. }) => match (home, *length) {
                (Home::Buffer(range, byte), 0) => {
                    (range.size().saturating_sub(*byte) / u64::from((*stride).max(1))) as usize
                }
                (_, length) => length as usize,
            },
            _ => self.parts(item, 0, usize::MAX).len(),
        }
    }

    /// A texel of an image.
    fn texel(texels: &Arc<Texels>, numbers: &[u64]) -> Result<Item, String> {
        let byte = texels.at(numbers)?;
        let names: Vec<String> = numbers.iter().map(u64::to_string).collect();
        let name = format!("[{}]", names.join(","));
        Ok(Item { name, ty: 0, shape: Arc::default(), home: Home::Texel(texels.clone(), byte, None) })
    }

    /// The parts of an item; of an array or image at most `most`, from the `first` on.
    pub fn parts(&self, item: &Item, first: usize, most: usize) -> Vec<Item> {
        let types = self.target.types;
        let part = |name: String, ty: u32, shape: Arc<Shape>, offset: u32| Item {
            name,
            ty,
            shape,
            home: item.home.at(offset),
        };
        if let Home::Image(texels) = &item.home {
            let some = first..texels.count().min(first.saturating_add(most));
            return some.filter_map(|k| Self::texel(texels, &texels.name(k)).ok()).collect();
        }
        if let Home::Texel(texels, byte, component) = &item.home {
            let several = component.is_none() && texels.components() > 1;
            let one = |k: usize| Item {
                name: component_name(k).to_owned(),
                ty: 0,
                shape: Arc::default(),
                home: Home::Texel(texels.clone(), *byte, Some(k)),
            };
            return (0..texels.components()).filter(|_| several).map(one).collect();
        }
        if let Home::Known(values, element) = &item.home {
            let one = |(k, value): (usize, &Component)| Item {
                name: ["x", "y", "z", "w"].get(k).map_or_else(|| format!("[{k}]"), |name| (*name).to_owned()),
                ty: item.ty,
                shape: Arc::default(),
                home: Home::Known(vec![*value], *element),
            };
            let several = values.len() > 1;
            return values.iter().enumerate().filter(|_| several).map(one).collect();
        }
        match (types.get(item.ty), &*item.shape) {
            (Type::Struct, Shape::Struct(parts)) => {
                let member = |(k, of): (usize, &pellucid_shader_interp::ir::Part)| {
                    let name = if of.name.is_empty() { format!("_{k}") } else { of.name.clone() };
                    part(name, types.member(item.ty, k), of.shape.clone(), of.offset)
                };
                parts.iter().enumerate().map(member).collect()
            }
            (Type::Array(of), Shape::Array { stride, element, .. }) => {
                let count = self.count(item);
                let some = first.min(count)..count.min(first.saturating_add(most));
                some.map(|k| part(format!("[{k}]"), of, element.clone(), k as u32 * stride)).collect()
            }
            (Type::Vector(of, count), shape) => {
                let (count, stride) = match shape {
                    Shape::Vector { count, stride } => (*count, *stride),
                    _ => (count, 4),
                };
                let name = |k: u32| {
                    ["x", "y", "z", "w"].get(k as usize).map_or_else(|| k.to_string(), |n| (*n).to_owned())
                };
                (0..count).map(|k| part(name(k), of, Arc::default(), k * stride)).collect()
            }
            (Type::Matrix(of, count), Shape::Matrix { column, row }) => {
                let rows = match types.get(of) {
                    Type::Vector(_, rows) => rows,
                    _ => 0,
                };
                let vector = Arc::new(Shape::Vector { count: rows, stride: *row });
                (0..count).map(|k| part(format!("[{k}]"), of, vector.clone(), k * column)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The scalar type of an item, if it is one.
    pub fn element(&self, item: &Item) -> Option<Element> {
        match (&item.home, self.target.types.get(item.ty)) {
            (Home::Known(values, element), _) => (values.len() == 1).then_some(*element),
            (Home::Texel(texels, _, None), _) => texels.element(),
            (Home::Texel(..) | Home::Image(_), _) => None,
            (_, Type::Number(element)) => Some(element),
            (_, Type::Bool) => Some(Element::U32),
            _ => None,
        }
    }

    /// The bits of a scalar.
    pub fn scalar(&mut self, item: &Item) -> Option<(u64, Element)> {
        let element = self.element(item)?;
        Some((self.bits(&item.home, element.size() as u32)?, element))
    }

    /// The value as text.
    pub fn show(&mut self, item: &Item) -> String {
        if let Some((bits, element)) = self.scalar(item) {
            if self.target.types.get(item.ty) == Type::Bool {
                return (bits != 0).to_string();
            }
            return element.show(bits);
        }
        match &item.home {
            Home::Image(texels) => return texels.describe(),
            Home::Texel(texels, byte, component) => {
                return texels.show(*byte, *component).unwrap_or_else(|| "not known here".to_owned());
            }
            _ => {}
        }
        let parts = self.parts(item, 0, SHOWN + 1);
        if parts.is_empty() {
            return "not known here".to_owned();
        }
        let structure = self.target.types.get(item.ty) == Type::Struct;
        let shown: Vec<String> = parts
            .iter()
            .take(SHOWN)
            .map(|part| {
                let value = self.show(part);
                if structure { format!("{} = {value}", part.name) } else { value }
            })
            .collect();
        let more = if parts.len() > SHOWN { ", ..." } else { "" };
        let [open, close] = match self.target.types.get(item.ty) {
            Type::Struct => ["{", "}"],
            Type::Array(_) => ["[", "]"],
            _ => ["(", ")"],
        };
        format!("{open}{}{more}{close}", shown.join(", "))
    }

    /// The calls whose variables are in scope, innermost first.
    fn calls(&self) -> Vec<u32> {
        let all = &self.target.program.shader.calls;
        let spot = self.standing().and_then(|(standing, _)| {
            let back = u32::from(standing.at_barrier);
            self.target.spot(standing.strand.pc().saturating_sub(back))
        });
        let frames = spot.map(|spot| self.target.frames(spot)).unwrap_or_default();
        // What was inlined before has its variables among those of the function that it was inlined into.
        let own = |call: u32| {
            let mut call = call;
            while let Some(of) = all.get(call as usize).filter(|of| of.before && of.caller != call) {
                call = of.caller;
            }
            call
        };
        let mut calls: Vec<u32> = frames.into_iter().map(|(call, _)| own(call)).skip(self.frame).collect();
        calls.dedup();
        calls
    }

    /// What one of the scopes holds into which front ends sort what there is to see.
    pub fn scope(&self, name: &str) -> Vec<Item> {
        match name {
            "locals" => self.locals(),
            "shared" => self.shared(),
            "buffers" => self.buffers(),
            "images" => self.images(),
            _ => self.built_ins(),
        }
    }

    /// Variables of the frame.
    pub fn locals(&self) -> Vec<Item> {
        let call = self.calls().first().copied();
        call.map_or_else(Vec::new, |call| self.private_of(Some(call)))
    }

    /// The variables of a call, with what it was given, and results; or the Private variables of the module.
    fn private_of(&self, call: Option<u32>) -> Vec<Item> {
        let shader = &self.target.program.shader;
        let objects = shader.private.iter().zip(&shader.variables);
        let kept = objects.filter(|(object, variable)| {
            object.variable != 0 && object.call == call && !variable.name.is_empty()
        });
        let mut items: Vec<Item> = kept
            .map(|(object, variable)| Item {
                name: variable.name.clone(),
                ty: self.target.types.variables.get(&object.variable).map_or(0, |variable| variable.ty),
                shape: variable.shape.clone(),
                home: Home::Private(object.offset),
            })
            .collect();
        if let Some(call) = call {
            items.extend(self.parameters(call));
            items.extend(self.results(call));
        }
        items
    }

    /// What the pointers point to that a call was given.
    fn parameters(&self, call: u32) -> impl Iterator<Item = Item> {
        let shader = &self.target.program.shader;
        let given = shader.calls.get(call as usize).map_or(&[][..], |call| &call.parameters[..]);
        let named = given.iter().filter(|parameter| !parameter.name.is_empty());
        named.filter_map(|parameter| {
            let home = match parameter.of {
                ParameterOf::Private(object) => {
                    Home::Private(shader.private.get(object as usize)?.offset + parameter.byte)
                }
                ParameterOf::Workgroup(object) => {
                    let object = shader.workgroup.get(object as usize)?;
                    Home::Workgroup(object.offset + parameter.byte, object.reference)
                }
            };
            let (name, shape) = (parameter.name.clone(), parameter.shape.clone());
            Some(Item { name, ty: parameter.ty, shape, home })
        })
    }

    /// Results of instructions that have names, where they are in registers now.
    fn results(&self, call: u32) -> Vec<Item> {
        let Some((standing, lane)) = self.standing() else { return Vec::new() };
        let Some(debug) = &self.target.program.debug else { return Vec::new() };
        let strand = standing.strand;
        if strand.mask() >> lane & 1 == 0 {
            return Vec::new();
        }
        let types = self.target.types;
        // By id: the scalars that are somewhere.
        let mut found: BTreeMap<u32, BTreeMap<u32, (Component, Scalar)>> = BTreeMap::new();
        for location in debug.locations_at(strand.pc()) {
            if types.name(location.id).is_empty() || location.call.is_some_and(|of| of != call) {
                continue;
            }
            let component = Component::Register(location.register, location.scalar.bytes() == 8);
            found.entry(location.id).or_default().insert(location.component, (component, location.scalar));
        }
        // Of what some scalars are nowhere of, the others would look like all.
        for name in &self.target.program.shader.names {
            let misses = |of: &BTreeMap<_, _>| !of.contains_key(&name.component);
            if (name.call.is_none() || name.call == Some(call)) && found.get(&name.id).is_some_and(misses) {
                found.remove(&name.id);
            }
        }
        let item = |(id, of): (u32, BTreeMap<u32, (Component, Scalar)>)| {
            let scalar = of.values().next().map_or(Scalar::I32, |(_, scalar)| *scalar);
            let (element, ty) = match scalar {
                Scalar::Bool => (Element::U32, types.bool_type()),
                Scalar::I32 => (Element::U32, 0),
                Scalar::I8 => (Element::U8, 0),
                Scalar::I16 => (Element::U16, 0),
                Scalar::I64 => (Element::U64, 0),
                Scalar::F16 => (Element::F16, 0),
                Scalar::F32 => (Element::F32, 0),
                Scalar::F64 => (Element::F64, 0),
            };
            let values = of.values().map(|(component, _)| *component).collect();
            let name = types.name(id).to_owned();
            Item { name, ty, shape: Arc::default(), home: Home::Known(values, element) }
        };
        found.into_iter().map(item).collect()
    }

    /// Variables of the workgroup, and Private variables of the module.
    pub fn shared(&self) -> Vec<Item> {
        let shader = &self.target.program.shader;
        let types = self.target.types;
        let objects = shader.workgroup.iter().zip(&shader.shared);
        let items = objects.map(|(object, variable)| {
            let mut all = types.variables.values();
            let of = all.find(|of| of.class == 4 && types.name(of.id) == variable.name);
            Item {
                name: variable.name.clone(),
                ty: of.map_or(0, |of| of.ty),
                shape: variable.shape.clone(),
                home: Home::Workgroup(object.offset, object.reference),
            }
        });
        let mut items: Vec<Item> = items.collect();
        items.extend(self.private_of(None));
        items
    }

    /// The push constant block.
    fn push_constants(&self) -> Option<Item> {
        const PUSH_CONSTANT: u32 = 9;
        let types = self.target.types;
        let variable = types.variables.values().find(|of| of.class == PUSH_CONSTANT)?;
        let name = match types.name(variable.id) {
            "" => types.name(variable.ty),
            name => name,
        };
        let (name, shape) = (name.to_owned(), types.shape(variable.ty));
        Some(Item { name, ty: variable.ty, shape, home: Home::Push(0) })
    }

    /// The blocks of buffers, and of push constants.
    pub fn buffers(&self) -> Vec<Item> {
        let shader = &self.target.program.shader;
        let types = self.target.types;
        let mut items = Vec::new();
        for (k, binding) in shader.bindings.iter().enumerate() {
            let Some(Some(variable)) = shader.blocks.get(k) else { continue };
            let at = Some((binding.set, binding.binding));
            let Some(of) = types.variables.values().find(|of| of.at == at) else { continue };
            let descriptors = self.target.resources.bindings.get(k).map_or(&[][..], Vec::as_slice);
            for (element, descriptor) in descriptors.iter().enumerate() {
                let Descriptor::Buffer(range) = descriptor else { continue };
                let ty = match types.get(of.ty) {
                    Type::Array(block) => block,
                    _ => of.ty,
                };
                let own = match variable.name.as_str() {
                    "" => types.name(ty),
                    name => name,
                };
                let name = if descriptors.len() > 1 { format!("{own}[{element}]") } else { own.to_owned() };
                let home = Home::Buffer(range.clone(), 0);
                items.push(self.unwrapped(Item { name, ty, shape: variable.shape.clone(), home }));
            }
        }
        items.extend(self.push_constants());
        items
    }

    /// What is in a block whose only member has no name: a compiler put that around a variable of a language
    /// without blocks.
    fn unwrapped(&self, item: Item) -> Item {
        match &*item.shape {
            Shape::Struct(parts) if parts.len() == 1 && parts[0].name.is_empty() => Item {
                name: item.name,
                ty: self.target.types.member(item.ty, 0),
                home: item.home.at(parts[0].offset),
                shape: parts[0].shape.clone(),
            },
            _ => item,
        }
    }

    /// Images and texel buffers.
    pub fn images(&self) -> Vec<Item> {
        let types = self.target.types;
        let mut items = Vec::new();
        for (k, binding) in self.target.program.shader.bindings.iter().enumerate() {
            let at = Some((binding.set, binding.binding));
            let Some(of) = types.variables.values().find(|of| of.at == at) else { continue };
            let element = match types.get(of.ty) {
                Type::Array(element) => element,
                _ => of.ty,
            };
            let Type::Image(image) = types.get(element) else { continue };
            let descriptors = self.target.resources.bindings.get(k).map_or(&[][..], Vec::as_slice);
            for (number, descriptor) in descriptors.iter().enumerate() {
                let Some(texels) = Texels::of(descriptor, image) else { continue };
                let own = types.name(of.id);
                let several = descriptors.len() > 1;
                let name = if several { format!("{own}[{number}]") } else { own.to_owned() };
                let home = Home::Image(Arc::new(texels));
                items.push(Item { name, ty: element, shape: Arc::default(), home });
            }
        }
        items
    }

    /// The numbers of the invocation.
    pub fn built_ins(&self) -> Vec<Item> {
        let item = |(name, count, numbers): (&str, usize, Numbers)| Item {
            name: name.to_owned(),
            ty: 0,
            shape: Arc::default(),
            home: Home::Known((0..count).map(|k| Component::Own(numbers, k)).collect(), Element::U32),
        };
        BUILT_INS.into_iter().map(item).collect()
    }

    /// The words of memory that an item lies in: whose workgroup memory it is, or device memory; the first
    /// byte's address, and bytes.
    pub fn place(&self, item: &Item) -> Result<(Option<u32>, u64, u64), String> {
        let element = self.element(item);
        let bytes = match element {
            Some(element) => element.size() as u64,
            None => self.bytes(item),
        };
        match &item.home {
            Home::Buffer(range, byte) => Ok((None, range.address() + byte, bytes)),
            Home::Workgroup(byte, _) => Ok((Some(self.who.workgroup), u64::from(*byte), bytes)),
            Home::Texel(texels, byte, component) => {
                let (within, bytes) = match component {
                    Some(component) => texels.bytes_of(*component)?,
                    None => (0, u64::from(texels.info.texel_bytes)),
                };
                Ok((None, texels.memory.address() + byte.offset + within, bytes))
            }
            Home::Image(texels) => Ok((None, texels.memory.address(), texels.memory.size())),
            Home::Push(_) => Err(format!("{} is a push constant: nothing writes it", item.name)),
            Home::Private(_) | Home::Known(..) => {
                Err(format!("{} is the invocation's own: no other one sees it", item.name))
            }
        }
    }

    fn bytes(&self, item: &Item) -> u64 {
        let first = self.parts(item, 0, 1);
        let last = self.parts(item, self.count(item).saturating_sub(1), usize::MAX);
        let (Some(first), Some(last)) = (first.first(), last.last()) else { return 4 };
        let start = |item: &Item| match &item.home {
            Home::Buffer(_, byte) => *byte,
            Home::Workgroup(byte, _) | Home::Private(byte) | Home::Push(byte) => u64::from(*byte),
            Home::Image(_) | Home::Texel(..) | Home::Known(..) => 0,
        };
        let last_bytes = self.element(last).map_or_else(|| self.bytes(last), |element| element.size() as u64);
        start(last) - start(first) + last_bytes
    }
}
