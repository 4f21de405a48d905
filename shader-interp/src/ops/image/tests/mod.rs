//! Image instructions over a memory of bytes that notes what was asked of it.

mod access;
mod levels;
mod raster;
mod sampling;
mod usual;

use super::ImageInstruction;
use crate::code::{ElementIndex, ImageEntry};
use crate::interface::{Descriptor, ImageView, Reduction, Resources, Sampler};
use crate::ir::{ImageDim, ImageOperand, ImageSampling, OpKind, Scalar, Value};
use crate::math::format::{self, FormatInfo};
use pellucid_memory::access::{Access, AtomicOp, Site};
use pellucid_memory::device::{Allocation, MemoryRange};
use pellucid_memory::finding::{AccessKind, Texel};
use pellucid_memory::scope::{Scope, StorageClasses};
use pellucid_memory::system::{LANES, LaneAccesses, Lanes, Mask, MemoryView, Notice, Pointers, Trap};

/// Bytes at device addresses from 0 on. `MODELLED` hears of out-of-bounds texels.
#[derive(Default)]
struct Bytes<const MODELLED: bool> {
    bytes: Vec<u8>,
    /// Lanes of each access, and those out of bounds.
    accesses: Vec<(Access, Mask, Mask)>,
    /// Lanes that name texels that do not exist, and that of the first of them.
    told: Vec<(Mask, Texel, AccessKind)>,
}

impl<const MODELLED: bool> Bytes<MODELLED> {
    fn new(size: usize) -> Bytes<MODELLED> {
        Bytes { bytes: vec![0; size], ..Bytes::default() }
    }

    /// A range of that size, whose address is what accesses go by.
    fn range(&self) -> MemoryRange {
        self.range_at(0, self.bytes.len())
    }

    fn range_at(&self, address: u64, size: usize) -> MemoryRange {
        let memory = Allocation::private(address, size as u64).expect("memory");
        MemoryRange::new(&memory, 0, size as u64, MemoryView::NULL.reference)
    }

    /// Where an access of each active lane goes.
    fn resolve(&mut self, pointers: &Pointers<'_>, mask: Mask, access: &Access) -> Vec<(usize, usize)> {
        let Pointers::View { view, offset, immediate } = pointers else { panic!("images are views") };
        let length = access.size as u64 * access.components as u64;
        let mut places = Vec::new();
        let mut outside = 0;
        for lane in (0..LANES).filter(|lane| (mask >> lane) & 1 == 1) {
            let at = offset.0[lane].wrapping_add(*immediate) as u64;
            if at + length <= view.size() {
                places.push((lane, (view.address + at) as usize));
            } else {
                outside |= 1 << lane;
            }
        }
        self.accesses.push((*access, mask, outside));
        places
    }

    fn word(&self, at: usize, size: u8) -> u64 {
        (0..size as usize).fold(0, |word, k| word | (self.bytes[at + k] as u64) << (8 * k))
    }

    fn set_word(&mut self, at: usize, size: u8, word: u64) {
        self.bytes[at..at + size as usize].copy_from_slice(&word.to_le_bytes()[..size as usize]);
    }
}

impl<const MODELLED: bool> LaneAccesses for Bytes<MODELLED> {
    const MODELLED: bool = MODELLED;

    fn notice(&mut self, _: Site, mask: Mask, notice: &Notice<'_>) {
        assert!(MODELLED, "nobody asked");
        if let Notice::OutsideImage { texels, kind, .. } = notice {
            self.told.push((mask, texels.of(mask.trailing_zeros() as usize), *kind));
        }
    }

    fn load(
        &mut self,
        _: Site,
        from: Pointers<'_>,
        mask: Mask,
        access: &Access,
        out: &mut [Lanes],
    ) -> Result<(), Trap> {
        let wide = access.size == 8;
        assert_eq!(out.len(), access.components as usize * if wide { 2 } else { 1 });
        // Garbage wherever nothing is promised.
        out.fill(Lanes([0xdead_beef; LANES]));
        for lane in (0..LANES).filter(|lane| (mask >> lane) & 1 == 1) {
            out.iter_mut().for_each(|register| register.0[lane] = 0);
        }
        for (lane, at) in self.resolve(&from, mask, access) {
            for k in 0..access.components as usize {
                let word = self.word(at + k * access.size as usize, access.size);
                if wide {
                    out[2 * k].0[lane] = word as u32;
                    out[2 * k + 1].0[lane] = (word >> 32) as u32;
                } else {
                    out[k].0[lane] = word as u32;
                }
            }
        }
        Ok(())
    }

    fn store(
        &mut self,
        _: Site,
        to: Pointers<'_>,
        mask: Mask,
        access: &Access,
        value: &[Lanes],
    ) -> Result<(), Trap> {
        for (lane, at) in self.resolve(&to, mask, access) {
            for k in 0..access.components as usize {
                let word = if access.size == 8 {
                    value[2 * k].0[lane] as u64 | (value[2 * k + 1].0[lane] as u64) << 32
                } else {
                    value[k].0[lane] as u64
                };
                self.set_word(at + k * access.size as usize, access.size, word);
            }
        }
        Ok(())
    }

    fn read_modify_write(
        &mut self,
        _: Site,
        op: AtomicOp,
        to: Pointers<'_>,
        mask: Mask,
        access: &Access,
        value: &[Lanes],
        comparator: Option<&[Lanes]>,
        out: &mut [Lanes],
    ) -> Result<(), Trap> {
        out.fill(Lanes::ZERO);
        let operand = |registers: &[Lanes], lane: usize| {
            registers.iter().enumerate().fold(0, |word, (k, r)| word | (r.0[lane] as u64) << (32 * k))
        };
        for (lane, at) in self.resolve(&to, mask, access) {
            let old = self.word(at, access.size);
            let new = match op {
                AtomicOp::IAdd => old.wrapping_add(operand(value, lane)),
                AtomicOp::CompareExchange => {
                    let equal = comparator.is_some_and(|comparator| operand(comparator, lane) == old);
                    if equal { operand(value, lane) } else { old }
                }
                _ => panic!("not in these tests"),
            };
            self.set_word(at, access.size, new);
            for (k, register) in out.iter_mut().enumerate() {
                register.0[lane] = (old >> (32 * k)) as u32;
            }
        }
        Ok(())
    }
}

fn info(name: &str) -> &'static FormatInfo {
    let full = format!("VK_FORMAT_{name}");
    format::FORMATS.iter().find(|info| info.name == full).expect("a format of the table")
}

/// A view of a tightly packed image from the start of `memory` on: per layer, its levels one after the other.
fn image(
    memory: MemoryRange,
    info: &FormatInfo,
    extent: [u32; 3],
    layers: u32,
    levels: u32,
    samples: u32,
) -> ImageView {
    let mut view = ImageView {
        memory,
        extent,
        layers,
        format: info.format,
        row_pitch: 0,
        slice_pitch: 0,
        layer_pitch: 0,
        levels,
        level_offsets: [0; 16],
        level_row_pitch: [0; 16],
        level_slice_pitch: [0; 16],
        samples,
        sample_pitch: info.texel_bytes.into(),
        swizzle: [3, 4, 5, 6],
        chroma: Vec::new(),
    };
    let mut end = 0;
    for level in 0..levels as usize {
        let size = extent.map(|size| (size >> level).max(1));
        view.level_offsets[level] = end;
        let blocks: [u32; 3] = std::array::from_fn(|k| size[k].div_ceil(info.block()[k]));
        view.level_row_pitch[level] = blocks[0] * info.texel_bytes as u32 * samples;
        view.level_slice_pitch[level] = view.level_row_pitch[level] * blocks[1];
        end += view.level_slice_pitch[level] * size[2];
    }
    (view.row_pitch, view.slice_pitch) = (view.level_row_pitch[0], view.level_slice_pitch[0]);
    view.layer_pitch = end;
    view
}

/// An operand on binding 0, sampled with its own sampler.
fn operand(dim: ImageDim, arrayed: bool, texel: Scalar) -> ImageOperand {
    ImageOperand {
        binding: 0,
        element: None,
        sampler: None,
        dim,
        arrayed,
        multisampled: false,
        texel,
        signed: false,
        format: 0,
        sampling: ImageSampling::default(),
        sparse: false,
    }
}

const ACCESS: Access = Access::plain(StorageClasses::IMAGE, 4, 1);

fn instruction(kind: OpKind, results: usize) -> ImageInstruction {
    let of = |words| ImageInstruction::of_kind(&kind, Site(1), words).expect("an image operation");
    let (plain, sparse) = (of(0), usize::from(of(0).image.sparse));
    let wide = plain.image.texel == Scalar::I64 && !plain.is_query();
    of((results - sparse) * if wide { 2 } else { 1 } + sparse)
}

/// The instruction as a program's table has it: on registers from 0 on, so many operands and then the
/// results.
fn entry(instruction: ImageInstruction, operands: usize, results: usize) -> ImageEntry {
    ImageEntry {
        site: Site(1),
        instruction,
        element: ElementIndex::Constant(0),
        sampler: None,
        arguments: (0..operands as u32).collect(),
        results: (operands as u32, results as u32),
        visible: false,
    }
}

fn one(descriptor: Descriptor) -> Resources {
    Resources { bindings: vec![vec![descriptor]], ..Resources::default() }
}

fn run<const MODELLED: bool>(
    instruction: &ImageInstruction,
    memory: &mut Bytes<MODELLED>,
    resources: &Resources,
    mask: Mask,
    arguments: &[Lanes],
) -> Vec<Lanes> {
    let arguments: Vec<&Lanes> = arguments.iter().collect();
    let mut out = vec![Lanes::ZERO; instruction.result_words];
    instruction.execute(memory, resources, mask, None, None, &arguments, &mut out).expect("nothing traps");
    out
}

fn lanes(f: impl FnMut(usize) -> u32) -> Lanes {
    Lanes(std::array::from_fn(f))
}

const LINEAR: Sampler = Sampler {
    mag_linear: true,
    min_linear: true,
    mip_linear: false,
    address: [0; 3],
    lod_bias: 0.0,
    min_lod: 0.0,
    max_lod: 1000.0,
    max_anisotropy: 1.0,
    border: [0; 4],
    unnormalized: false,
    non_seamless: false,
    compare: None,
    reduction: Reduction::WeightedAverage,
    conversion: None,
};

const NEAREST: Sampler = Sampler { mag_linear: false, min_linear: false, ..LINEAR };
