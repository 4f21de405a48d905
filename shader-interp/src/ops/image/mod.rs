//! Image instructions: reads, writes, atomics, fetches, sampling and queries, for a subgroup at a time.
//!
//! An instruction is one or more accesses to the memory system, each of them for all lanes at once: lanes
//! whose texels lie side by side give side-by-side offsets. Out-of-bounds texels read as zero, with (0, 0, 1)
//! for the components that the format lacks (*Robust Image Access 2*), and are not written; a modelled memory
//! system hears of such accesses. Conversions between texels and components are those of
//! [`crate::math::format`].
// A lane is one index into several arrays at once.
#![allow(clippy::needless_range_loop)]

mod address;
mod cube;
pub(crate) mod entry;
mod footprint;
pub(crate) mod kind;
pub(crate) mod level;
pub(crate) mod raster;
mod sample;
pub(crate) mod sampled;
#[cfg(test)]
mod tests;
mod texel;
mod usual;
mod ycbcr;

use crate::interface::{Descriptor, Resources};
use crate::ir::{ImageDim, ImageOperand, OpKind, Scalar};
use crate::math::format::{self, FormatInfo};
use address::{Addresses, Shape, Texels};
use pellucid_memory::access::{Access, AtomicOp, Site};
use pellucid_memory::finding::AccessKind;
use pellucid_memory::scope::StorageClasses;
use pellucid_memory::system::{LANES, LaneAccesses, Lanes, Mask, MemoryView, Notice, Pointers, Trap};

/// What an image instruction does.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Operation {
    Read,
    Write,
    Atomic(AtomicOp),
    AtomicLoad,
    AtomicStore,
    Fetch,
    Sample,
    QuerySize { lod: bool },
    QueryLevels,
    QuerySamples,
    QueryLod,
}

/// An image instruction, ready to run.
#[derive(Clone, Debug, PartialEq)]
pub struct ImageInstruction {
    operation: Operation,
    image: ImageOperand,
    access: Access,
    site: Site,
    result_words: usize,
    /// It may be of the case that [`raster`] does.
    raster: bool,
    /// It may be of the case that [`usual`] does.
    usual: bool,
}

impl ImageInstruction {
    /// The instruction of an image operation, `None` for other operations: `result_words` is the number of
    /// registers that the operation defines.
    pub fn of_kind(kind: &OpKind, site: Site, result_words: usize) -> Option<ImageInstruction> {
        let query = Access::plain(StorageClasses::IMAGE, 4, 1);
        let (operation, image, access) = match *kind {
            OpKind::ImageRead { image, access } => (Operation::Read, image, access),
            OpKind::ImageWrite { image, access } => (Operation::Write, image, access),
            OpKind::ImageAtomic { op, image, access } => (Operation::Atomic(op), image, access),
            OpKind::ImageAtomicLoad { image, access } => (Operation::AtomicLoad, image, access),
            OpKind::ImageAtomicStore { image, access } => (Operation::AtomicStore, image, access),
            OpKind::ImageFetch { image, access } => (Operation::Fetch, image, access),
            OpKind::ImageSample { image, access } => (Operation::Sample, image, access),
            OpKind::ImageQuerySize { image, lod } => (Operation::QuerySize { lod }, image, query),
            OpKind::ImageQueryLevels(image) => (Operation::QueryLevels, image, query),
            OpKind::ImageQueryLod(image) => (Operation::QueryLod, image, query),
            OpKind::ImageQuerySamples(image) => (Operation::QuerySamples, image, query),
            _ => return None,
        };
        let (raster, usual) = (raster::may_be(&image), usual::may_be(operation, &image));
        Some(ImageInstruction { operation, image, access, site, result_words, raster, usual })
    }

    /// How it accesses memory.
    pub fn access(&self) -> &Access {
        &self.access
    }

    /// Sets whether an instruction uses what it returns ([`Access::result_used`]).
    pub(crate) fn set_result_used(&mut self, used: bool) {
        self.access.result_used = used;
    }

    fn is_query(&self) -> bool {
        matches!(
            self.operation,
            Operation::QuerySize { .. }
                | Operation::QueryLevels
                | Operation::QuerySamples
                | Operation::QueryLod
        )
    }

    /// It synchronises or may be seen by other invocations in the making: a scheduling point of modelled
    /// execution.
    pub fn is_atomic(&self) -> bool {
        matches!(self.operation, Operation::Atomic(_) | Operation::AtomicLoad | Operation::AtomicStore)
    }

    /// Runs the instruction for the lanes of `mask`.
    ///
    /// `element` and `sampler_element` are the array elements of the bindings, if the operand has them.
    /// `arguments` holds one register for each 32-bit word of the operation's arguments in order, 64-bit
    /// values as low and high word; `out` likewise for the results. Inactive lanes of `out` receive any
    /// value.
    ///
    /// # Errors
    /// Traps of the memory system; [`Trap::NotImplemented`] for a format that Pellucid has no such operation
    /// on.
    #[allow(clippy::too_many_arguments)]
    #[inline(always)]
    pub fn execute<M: LaneAccesses>(
        &self,
        memory: &mut M,
        resources: &Resources,
        mask: Mask,
        element: Option<&Lanes>,
        sampler_element: Option<&Lanes>,
        arguments: &[&Lanes],
        out: &mut [Lanes],
    ) -> Result<(), Trap> {
        if mask == 0 {
            return Ok(());
        }
        let mut left = mask;
        let mut results = [Lanes::ZERO; entry::RESULTS];
        // One round for each descriptor that the lanes use.
        while left != 0 {
            let first = left.trailing_zeros() as usize;
            let alike = same_as(element, first) & same_as(sampler_element, first) & left;
            left &= !alike;
            let image = descriptor(resources, self.image.binding, element, first);
            let sampler =
                self.image.sampler.map(|(binding, _)| descriptor(resources, binding, sampler_element, first));
            let words = out.len().min(results.len());
            let to = if alike == mask { &mut *out } else { &mut results[..words] };
            self.execute_uniform(memory, image, sampler, alike, arguments, to)?;
            if alike == mask {
                return Ok(());
            }
            for (to, from) in out.iter_mut().zip(&results) {
                for lane in 0..LANES {
                    if (alike >> lane) & 1 == 1 {
                        to.0[lane] = from.0[lane];
                    }
                }
            }
        }
        Ok(())
    }

    /// The instruction for lanes that use the same descriptors.
    #[inline(always)]
    fn execute_uniform<M: LaneAccesses>(
        &self,
        memory: &mut M,
        image: &Descriptor,
        sampler: Option<&Descriptor>,
        mask: Mask,
        arguments: &[&Lanes],
        out: &mut [Lanes],
    ) -> Result<(), Trap> {
        let Some(texels) = self.texels(image)? else {
            // None, a null descriptor, or one of another kind: everything is out of bounds.
            if M::MODELLED {
                let shape = Shape::of(self.image.dim, self.image.arrayed, self.image.multisampled);
                let nothing = match image {
                    Descriptor::Null => MemoryView::NULL_DESCRIPTOR,
                    _ => MemoryView::NULL,
                };
                self.tell_outside(memory, &nothing, shape, 0, mask, arguments);
            }
            out.fill(Lanes::ZERO);
            return Ok(());
        };
        match self.operation {
            Operation::QuerySize { lod } => {
                self.query_size(&texels, lod.then(|| arguments[0]), out);
                Ok(())
            }
            Operation::QueryLevels => {
                out.fill(Lanes([texels.levels(); LANES]));
                Ok(())
            }
            Operation::QuerySamples => {
                out.fill(Lanes([texels.samples(); LANES]));
                Ok(())
            }
            Operation::Read => {
                let addresses = texels.storage(arguments);
                self.load_texels(memory, &texels, &addresses, mask, arguments, out)
            }
            Operation::Fetch => {
                let addresses = texels.fetch(arguments);
                self.load_texels(memory, &texels, &addresses, mask, arguments, out)
            }
            Operation::Write => self.write(memory, &texels, mask, arguments),
            Operation::Atomic(op) => self.atomic(memory, op, &texels, mask, arguments, out),
            Operation::AtomicLoad => {
                let access = self.atomic_access(&texels)?;
                let addresses = texels.storage(arguments);
                let inside = self.inside(memory, &texels, &addresses, mask, arguments);
                let mut words = [Lanes::ZERO; 2];
                if inside != 0 {
                    let count = texel::word_count(texels.info);
                    memory.load(
                        self.site,
                        view(&texels.memory, &addresses.offset),
                        inside,
                        &access,
                        &mut words[..count],
                    )?;
                    clear_outside(&mut words, inside);
                }
                for (to, from) in out.iter_mut().zip(words) {
                    *to = from;
                }
                Ok(())
            }
            Operation::AtomicStore => {
                let access = self.atomic_access(&texels)?;
                let coordinates = texels.storage_coordinates();
                let addresses = texels.storage(arguments);
                let inside = self.inside(memory, &texels, &addresses, mask, arguments);
                if inside == 0 {
                    return Ok(());
                }
                let value = gather(&arguments[coordinates..]);
                let words = access.size as usize / 4;
                let to = view(&texels.memory, &addresses.offset);
                memory.store(self.site, to, inside, &access, &value[..words])
            }
            Operation::Sample | Operation::QueryLod => {
                sample::sample(self, memory, &texels, image, sampler, mask, arguments, out)
            }
        }
    }

    /// The texels that a descriptor reaches; `None` if it has none.
    fn texels<'a>(&self, descriptor: &'a Descriptor) -> Result<Option<Texels<'a>>, Trap> {
        let texels = match descriptor {
            Descriptor::TexelBuffer(memory, number, count) => {
                Texels::of_buffer(self.known(*number)?, memory, *count)
            }
            Descriptor::Image(view) | Descriptor::ImageSampler(view, _) => {
                let info = self.known(self.luma(view.format)?)?;
                let ImageOperand { dim, arrayed, multisampled, .. } = self.image;
                Texels::of_image(info, view, dim, arrayed, multisampled)
            }
            Descriptor::Missing | Descriptor::Null | Descriptor::Buffer(_) | Descriptor::Sampler(_) => {
                return Ok(None);
            }
        };
        Ok(Some(texels))
    }

    /// The format of the texels of a view's first plane. What requires sampler Y'CbCr conversion is sampled,
    /// and its size is asked for.
    fn luma(&self, number: i32) -> Result<i32, Trap> {
        let Some(of) = format::ycbcr(number) else { return Ok(number) };
        if self.operation == Operation::Sample || self.is_query() {
            return Ok(of.luma());
        }
        Err(Trap::NotImplemented(format!("image accesses that do not sample an image of {}", of.name)))
    }

    fn known(&self, number: i32) -> Result<&'static FormatInfo, Trap> {
        format::properties(number)
            .ok_or_else(|| Trap::NotImplemented(format!("VkFormat {number} in a shader")))
    }

    /// The access that reads or writes a whole texel.
    fn texel_access(&self, info: &FormatInfo) -> Access {
        Access { size: info.unit, components: info.units(), ..self.access }
    }

    /// The access of an atomic, on one word of 32 or 64 bits.
    fn atomic_access(&self, texels: &Texels<'_>) -> Result<Access, Trap> {
        let info = texels.info;
        let wide = self.image.texel == Scalar::I64;
        if info.units() != 1 || info.unit != if wide { 8 } else { 4 } {
            return Err(Trap::NotImplemented(format!("atomic operation on a texel of {}", info.name)));
        }
        Ok(self.texel_access(info))
    }

    /// What the instruction does to texels, as findings name it; `None` where it names none.
    fn access_kind(&self) -> Option<AccessKind> {
        match self.operation {
            Operation::Read | Operation::Fetch | Operation::AtomicLoad => Some(AccessKind::Read),
            Operation::Write | Operation::AtomicStore => Some(AccessKind::Write),
            Operation::Atomic(op) => Some(AccessKind::ReadModifyWrite(op)),
            Operation::Sample
            | Operation::QuerySize { .. }
            | Operation::QueryLevels
            | Operation::QuerySamples
            | Operation::QueryLod => None,
        }
    }

    /// The lanes of `mask` whose texels exist. A modelled memory system hears of the others.
    fn inside<M: LaneAccesses>(
        &self,
        memory: &mut M,
        texels: &Texels<'_>,
        addresses: &Addresses,
        mask: Mask,
        arguments: &[&Lanes],
    ) -> Mask {
        let outside = mask & !addresses.inside;
        if M::MODELLED && outside != 0 {
            self.tell_outside(
                memory,
                &texels.memory,
                texels.shape,
                texels.info.texel_bytes,
                outside,
                arguments,
            );
        }
        mask & addresses.inside
    }

    #[cold]
    fn tell_outside<M: LaneAccesses>(
        &self,
        memory: &mut M,
        view: &MemoryView<'_>,
        shape: Shape,
        bytes: u8,
        outside: Mask,
        arguments: &[&Lanes],
    ) {
        let Some(kind) = self.access_kind() else { return };
        let notice = Notice::OutsideImage {
            view,
            texels: shape.named(arguments, self.operation == Operation::Fetch),
            bytes,
            kind,
            atomic: self.access.atomic,
        };
        memory.notice(self.site, outside, &notice);
    }

    /// Loads whole texels and takes them apart.
    fn load_texels<M: LaneAccesses>(
        &self,
        memory: &mut M,
        texels: &Texels<'_>,
        addresses: &Addresses,
        mask: Mask,
        arguments: &[&Lanes],
        out: &mut [Lanes],
    ) -> Result<(), Trap> {
        let mut words = [Lanes::ZERO; 4];
        let inside = self.inside(memory, texels, addresses, mask, arguments);
        if inside != 0 {
            let access = self.texel_access(texels.info);
            let count = texel::word_count(texels.info);
            let from = view(&texels.memory, &addresses.offset);
            memory.load(self.site, from, inside, &access, &mut words[..count])?;
            texel::join(texels.info, &mut words);
        }
        if mask & !addresses.inside != 0 {
            clear_outside(&mut words, addresses.inside);
        }
        self.decode(texels, &words, addresses, out);
        if self.image.sparse {
            self.tell_residency(not_resident(texels, &addresses.offset, inside), out);
        }
        Ok(())
    }

    /// Sets the residency code, the last result of the instructions that have one: 1 in the lanes of
    /// `unbound`.
    fn tell_residency(&self, unbound: Mask, out: &mut [Lanes]) {
        if let Some(code) = out.last_mut() {
            *code = Lanes(std::array::from_fn(|lane| (unbound >> lane) & 1));
        }
    }

    /// Texel words to the results, through the view's swizzle.
    fn decode(&self, texels: &Texels<'_>, words: &[Lanes; 4], addresses: &Addresses, out: &mut [Lanes]) {
        let swizzle = texels.swizzle;
        if let Some(compression) = texels.info.compression {
            let mut components = [Lanes::ZERO; 4];
            texel::decode_blocks(texels.info, compression, words, &addresses.within, &mut components);
            // A block of zeros is not one of texels that are zero.
            for (register, _) in components.iter_mut().zip(texels.info.fields).filter(|(_, f)| f.width > 0) {
                clear_outside(std::slice::from_mut(register), addresses.inside);
            }
            for (k, to) in out.iter_mut().enumerate().take(4) {
                *to = match swizzle[k] {
                    1 => Lanes::ZERO,
                    2 => Lanes([texels.info.missing(3); LANES]),
                    component => components[(component as usize).clamp(3, 6) - 3],
                };
            }
            return;
        }
        if self.image.texel == Scalar::I64 {
            let one = Lanes([1; LANES]);
            for (k, pair) in out.chunks_exact_mut(2).enumerate() {
                (pair[0], pair[1]) = match swizzle[k] {
                    3 if texels.info.is_64_bit() => (words[0], words[1]),
                    3 => (words[0], Lanes::ZERO),
                    2 | 6 => (one, Lanes::ZERO),
                    _ => (Lanes::ZERO, Lanes::ZERO),
                };
            }
            return;
        }
        for (k, to) in out.iter_mut().enumerate().take(4) {
            match swizzle[k] {
                1 => *to = Lanes::ZERO,
                2 => *to = Lanes([texels.info.missing(3); LANES]),
                component => texel::decode(texels.info, words, (component as usize).clamp(3, 6) - 3, to),
            }
        }
    }

    fn write<M: LaneAccesses>(
        &self,
        memory: &mut M,
        texels: &Texels<'_>,
        mask: Mask,
        arguments: &[&Lanes],
    ) -> Result<(), Trap> {
        let addresses = texels.storage(arguments);
        let inside = self.inside(memory, texels, &addresses, mask, arguments);
        if inside == 0 {
            return Ok(());
        }
        let components = &arguments[texels.storage_coordinates().min(arguments.len())..];
        let mut words = [Lanes::ZERO; 4];
        texel::encode(texels.info, components, &mut words);
        let access = self.texel_access(texels.info);
        let count = texel::word_count(texels.info);
        let to = view(&texels.memory, &addresses.offset);
        memory.store(self.site, to, inside, &access, &words[..count])
    }

    fn atomic<M: LaneAccesses>(
        &self,
        memory: &mut M,
        op: AtomicOp,
        texels: &Texels<'_>,
        mask: Mask,
        arguments: &[&Lanes],
        out: &mut [Lanes],
    ) -> Result<(), Trap> {
        let access = self.atomic_access(texels)?;
        let words = access.size as usize / 4;
        let addresses = texels.storage(arguments);
        let inside = self.inside(memory, texels, &addresses, mask, arguments);
        let mut original = [Lanes::ZERO; 2];
        if inside != 0 {
            let operands = &arguments[texels.storage_coordinates()..];
            let value = gather(operands);
            let comparator = gather(operands.get(words..).unwrap_or(&[]));
            let comparator = (op == AtomicOp::CompareExchange).then_some(&comparator[..words]);
            let to = view(&texels.memory, &addresses.offset);
            memory.read_modify_write(
                self.site,
                op,
                to,
                inside,
                &access,
                &value[..words],
                comparator,
                &mut original[..words],
            )?;
            clear_outside(&mut original, addresses.inside);
        }
        for (to, from) in out.iter_mut().zip(original) {
            *to = from;
        }
        Ok(())
    }

    /// Width, height, depth as far as the dimensionality has them, then layers (cubes of an arrayed cube
    /// image).
    fn query_size(&self, texels: &Texels<'_>, lod: Option<&Lanes>, out: &mut [Lanes]) {
        let axes = match self.image.dim {
            ImageDim::D1 | ImageDim::Buffer => 1,
            ImageDim::D2 | ImageDim::Cube => 2,
            ImageDim::D3 => 3,
        };
        for (k, to) in out.iter_mut().enumerate() {
            for lane in 0..LANES {
                let level = lod.map_or(0, |lod| lod.0[lane]);
                to.0[lane] = if k < axes {
                    texels.extent(level)[k]
                } else if self.image.dim == ImageDim::Cube {
                    texels.layers / 6
                } else {
                    texels.layers
                };
            }
        }
    }
}

/// Lanes that have the same value as lane `first`: all, if there is no value.
fn same_as(element: Option<&Lanes>, first: usize) -> Mask {
    let Some(element) = element else { return Mask::MAX };
    let value = element.0[first];
    (0..LANES).fold(0, |mask, lane| mask | if element.0[lane] == value { 1 << lane } else { 0 })
}

/// The descriptor that lane `first` uses; none, out of bounds of the array.
fn descriptor<'a>(
    resources: &'a Resources,
    binding: u32,
    element: Option<&Lanes>,
    first: usize,
) -> &'a Descriptor {
    let index = element.map_or(0, |element| element.0[first]) as usize;
    let array = resources.bindings.get(binding as usize).map_or(&[][..], |array| array);
    array.get(index).unwrap_or(&Descriptor::Missing)
}

fn view<'a>(memory: &'a MemoryView<'a>, offset: &'a Lanes) -> Pointers<'a> {
    Pointers::View { view: memory, offset, immediate: 0 }
}

/// The lanes of `mask` whose texels lie where no memory is bound.
fn not_resident(texels: &Texels<'_>, offset: &Lanes, mask: Mask) -> Mask {
    mask & !texels.memory.resident(offset, 0, mask, texels.info.texel_bytes.into())
}

/// Up to two registers side by side.
fn gather(registers: &[&Lanes]) -> [Lanes; 2] {
    let word = |k: usize| registers.get(k).map_or(Lanes::ZERO, |lanes| **lanes);
    [word(0), word(1)]
}

/// Zero in all lanes but those of `inside`.
fn clear_outside(registers: &mut [Lanes], inside: Mask) {
    for register in registers {
        for lane in 0..LANES {
            register.0[lane] &= 0u32.wrapping_sub((inside >> lane) & 1);
        }
    }
}
