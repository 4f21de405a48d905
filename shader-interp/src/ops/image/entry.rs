//! Image operations by table entry: registers to arguments, results to registers.

use super::{ImageInstruction, Operation};
use crate::code::{ElementIndex, ImageEntry};
use crate::exec::context::Context;
use crate::exec::waiting::Operand;
use crate::interface::Resources;
use pellucid_memory::access::{Access, AtomicOp};
use pellucid_memory::finding::Place;
use pellucid_memory::raw;
use pellucid_memory::scope::StorageClasses;
use pellucid_memory::system::{LANES, LaneAccesses, Lanes, Mask, Trap};
use smallvec::SmallVec;

/// Most result words: a texel of 64-bit components and a residency code.
pub(super) const RESULTS: usize = 9;

/// Runs the operation of `entry` on the registers of a strand. Returns whether any lane may have changed
/// memory.
///
/// # Errors
/// Traps of the memory system, and [`Trap::NotImplemented`] for formats without such an operation.
#[inline(always)]
pub(crate) fn execute<M: LaneAccesses>(
    context: &Context<'_>,
    entry: &ImageEntry,
    vectors: &mut [Lanes],
    mask: Mask,
    memory: &mut M,
) -> Result<bool, Trap> {
    if let Some(done) = super::raster::execute(entry, context.resources, vectors, mask, memory) {
        return done;
    }
    if let Some(done) = super::usual::execute(entry, context.resources, vectors, mask, memory) {
        return done;
    }
    general(context, entry, vectors, mask, memory)
}

/// The same in general.
///
/// # Errors
/// As for [`execute`].
#[inline(always)]
pub(crate) fn general<M: LaneAccesses>(
    context: &Context<'_>,
    entry: &ImageEntry,
    vectors: &mut [Lanes],
    mask: Mask,
    memory: &mut M,
) -> Result<bool, Trap> {
    let results = entry.results.1 as usize;
    let instruction = &entry.instruction;
    let arguments: SmallVec<[&Lanes; 16]> = entry.arguments.iter().map(|&k| &vectors[k as usize]).collect();
    let register_of = |index: ElementIndex| match index {
        ElementIndex::Constant(0) => None,
        ElementIndex::Constant(element) => Some(Lanes([element; LANES])),
        ElementIndex::Register(register) => Some(vectors[register as usize]),
    };
    let element = register_of(entry.element);
    let sampler_element = entry.sampler.and_then(register_of);
    // The original value of an atomic is wanted even if the shader does not use it.
    let mut words = [Lanes::ZERO; RESULTS];
    let out = &mut words[..if results > 0 { results.min(RESULTS) } else { 2 }];
    instruction.execute(
        memory,
        context.resources,
        mask,
        element.as_ref(),
        sampler_element.as_ref(),
        &arguments,
        out,
    )?;
    let changed = match instruction.operation {
        Operation::Write | Operation::AtomicStore => true,
        Operation::Atomic(op) => !M::MODELLED || instruction.changes(op, &arguments, out, mask),
        _ => false,
    };
    drop(arguments);
    let start = entry.results.0 as usize;
    for (to, from) in vectors.iter_mut().skip(start).take(results).zip(&words) {
        *to = *from;
    }
    Ok(changed)
}

impl ImageEntry {
    /// The texel that one lane reads, writes or modifies. `None` for queries, for sampling, which reads
    /// several, and for texels that do not exist.
    pub(crate) fn operand(
        &self,
        resources: &Resources,
        vectors: &[Lanes],
        lane: usize,
    ) -> Option<(Operand, Access)> {
        let instruction = &self.instruction;
        let kind = instruction.access_kind()?;
        let arguments: Option<SmallVec<[&Lanes; 16]>> =
            self.arguments.iter().map(|&k| vectors.get(k as usize)).collect();
        let arguments = arguments?;
        let element = match self.element {
            ElementIndex::Constant(element) => element,
            ElementIndex::Register(register) => vectors.get(register as usize)?.0[lane],
        };
        let element = Lanes([element; LANES]);
        let image = super::descriptor(resources, instruction.image.binding, Some(&element), 0);
        let texels = instruction.texels(image).ok()??;
        let addresses = match instruction.operation {
            Operation::Fetch => texels.fetch(&arguments),
            _ => texels.storage(&arguments),
        };
        if addresses.inside >> lane & 1 == 0 {
            return None;
        }
        let offset = u64::from(addresses.offset.0[lane]);
        let place = Place {
            class: StorageClasses::IMAGE,
            reference: texels.memory.reference,
            address: texels.memory.address + offset,
            offset,
            size: u32::from(texels.info.texel_bytes),
        };
        let access = instruction.texel_access(texels.info);
        Some((Operand { kind, atomic: access.atomic, place, value: None }, access))
    }
}

impl ImageInstruction {
    /// Whether it writes and does not read.
    pub(crate) fn stores(&self) -> bool {
        matches!(self.operation, Operation::Write | Operation::AtomicStore)
    }

    /// As many other instructions take as long in the interpreter, about.
    pub(crate) fn weight(&self) -> u64 {
        match self.operation {
            Operation::Sample => 256,
            _ => 16,
        }
    }

    /// Index of its binding into `Shader::bindings`.
    pub(crate) fn binding(&self) -> u32 {
        self.image.binding
    }

    /// Index of the binding of its separate sampler into `Shader::bindings`, if it has one.
    pub(crate) fn sampler(&self) -> Option<u32> {
        self.image.sampler.map(|(binding, _)| binding)
    }

    /// Whether it may write.
    pub(crate) fn writes(&self) -> bool {
        self.stores() || matches!(self.operation, Operation::Atomic(_))
    }

    /// Whether it has a residency code.
    pub(crate) fn tells_residency(&self) -> bool {
        self.image.sparse
    }

    /// Whether a read-modify-write that found `original` left something else in any lane.
    fn changes(&self, op: AtomicOp, arguments: &[&Lanes], original: &[Lanes], mask: Mask) -> bool {
        let wide = self.image.texel == crate::ir::Scalar::I64;
        let words = if wide { 2 } else { 1 };
        let operands = match op {
            AtomicOp::CompareExchange => 2 * words,
            _ => words,
        };
        let operands = &arguments[arguments.len().saturating_sub(operands)..];
        let number = |at: usize, lane: usize| {
            let word = |k: usize| operands.get(at + k).map_or(0, |word| u64::from(word.0[lane]));
            word(0) | if wide { word(1) << 32 } else { 0 }
        };
        (0..LANES).filter(|lane| (mask >> lane) & 1 == 1).any(|lane| {
            let word = |k: usize| original.get(k).map_or(0, |word| u64::from(word.0[lane]));
            let old = word(0) | if wide { word(1) << 32 } else { 0 };
            let size = if wide { 8 } else { 4 };
            raw::apply(op, size, old, number(0, lane), number(words, lane)) != old
        })
    }
}
