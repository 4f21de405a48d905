//! What is in the file of a capture: a line of JSON, and behind it the bytes of memory that are not zero.

use crate::entry::pipeline_cache::Key;
use crate::report::texel::Layers;
use pellucid_memory::checked::Robustness;
use pellucid_memory::device::{Allocation, MemoryRange};
use pellucid_memory::host::HostLines;
use pellucid_memory::raw;
use pellucid_shader_interp::interface::{Conversion, Descriptor, ImageView, Sampler};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Bytes that are stored, or left out because they are zero, at once.
const PAGE: u64 = 4096;

/// The line of JSON.
#[derive(Serialize, Deserialize)]
pub struct Head {
    /// The version of Pellucid that wrote it.
    pub pellucid: String,
    /// Why there is nothing behind this line.
    pub refused: Option<String>,
    pub dispatch: Option<Dispatch>,
}

/// All that an execution of it depends on.
#[derive(Serialize, Deserialize)]
pub struct Dispatch {
    pub number: u32,
    pub base: [u32; 3],
    pub groups: [u32; 3],
    pub entry_point: String,
    pub subgroup_size: u32,
    pub push_unset: bool,
    pub notes: bool,
    pub specialization: BTreeMap<u32, Vec<u8>>,
    pub words: Vec<u32>,
    /// Buffers, images, null descriptors.
    pub robust: [bool; 3],
    /// Set and binding of each of the shader's bindings.
    pub places: Vec<(u32, u32)>,
    pub bindings: Vec<Vec<Bound>>,
    pub push_constants: Vec<u8>,
    pub unset_bytes: Vec<u8>,
    pub addresses: Vec<Part>,
    pub pipeline: String,
    pub labels: Vec<String>,
    pub queue: String,
    pub objects: Vec<Object>,
    pub pushed: Vec<(u32, u32)>,
    /// What the host's cache of the machine holds.
    pub host: HostLines,
    pub memory: Vec<Extent>,
}

impl Dispatch {
    /// What its program is compiled from.
    pub fn key(&self) -> Key {
        Key {
            entry_point: self.entry_point.clone(),
            subgroup_size: self.subgroup_size,
            modelled: true,
            push_unset: self.push_unset,
            notes: self.notes,
            specialization: self.specialization.clone(),
            words: self.words.as_slice().into(),
        }
    }

    pub fn robustness(&self) -> Robustness {
        let [buffers, images, null_descriptors] = self.robust;
        Robustness { buffers, images, null_descriptors }
    }
}

/// An object that findings may name; its texels are those of the descriptor.
#[derive(Serialize, Deserialize)]
pub struct Object {
    pub reference: u32,
    pub what: String,
    pub handle: u64,
    pub object_type: i32,
    pub name: String,
    pub address: u64,
    /// Of an image: axes, and what its layers are.
    pub texels: Option<(usize, Layers)>,
}

/// Memory that the dispatch reaches, as it was.
#[derive(Default, Serialize, Deserialize)]
pub struct Extent {
    pub address: u64,
    pub size: u64,
    /// Offset and bytes of what is stored, in order; the rest is zero.
    pub stored: Vec<(u64, u64)>,
    /// First bytes and those behind the last, as offsets, that nothing has written.
    pub unwritten: Vec<(u64, u64)>,
}

/// A part of an extent.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub struct Part {
    /// Index of the extent; `None`: memory of nothing.
    extent: Option<usize>,
    offset: u64,
    size: u64,
    reference: u32,
}

/// A descriptor.
#[derive(Serialize, Deserialize)]
pub enum Bound {
    Missing,
    Null,
    Buffer(Part),
    TexelBuffer(Part, i32, u32),
    Image(Box<View>),
    Sampler(Sampling),
    ImageSampler(Box<View>, Sampling),
}

/// An image view; the fields are those of [`ImageView`].
#[derive(Serialize, Deserialize)]
pub struct View {
    memory: Part,
    extent: [u32; 3],
    layers: u32,
    format: i32,
    row_pitch: u32,
    slice_pitch: u32,
    layer_pitch: u32,
    levels: u32,
    level_offsets: [u32; 16],
    level_row_pitch: [u32; 16],
    level_slice_pitch: [u32; 16],
    samples: u32,
    sample_pitch: u32,
    swizzle: [u8; 4],
    chroma: Vec<View>,
}

/// A sampler; floats are their bits.
#[derive(Serialize, Deserialize)]
pub struct Sampling {
    mag_linear: bool,
    min_linear: bool,
    mip_linear: bool,
    address: [i32; 3],
    /// Bias, least, greatest, and the most anisotropy.
    lod: [u32; 4],
    border: [u32; 4],
    unnormalized: bool,
    compare: Option<i32>,
    conversion: Option<Converting>,
}

/// A sampler Y'CbCr conversion; the fields are those of [`Conversion`].
#[derive(Clone, Copy, Serialize, Deserialize)]
pub struct Converting {
    model: i32,
    narrow: bool,
    swizzle: [u8; 4],
    midpoint: [bool; 2],
    linear: bool,
    explicit: bool,
}

/// The memory of a dispatch while its descriptors become data: which extent each part lies in.
#[derive(Default)]
pub struct Reached {
    /// Allocation, first offset and the one behind the last.
    extents: Vec<(Arc<Allocation>, u64, u64)>,
}

impl Reached {
    /// The memory of these ranges, each allocation's together as far as they meet.
    pub fn of<'a>(ranges: impl Iterator<Item = &'a MemoryRange>) -> Reached {
        let mut found: Vec<(Arc<Allocation>, u64, u64)> = Vec::new();
        for range in ranges {
            let Some(memory) = range.allocation() else { continue };
            let start = range.address() - memory.address();
            // Accesses of less than a word know the rest of it.
            let end = (start + range.size()).next_multiple_of(4).min(memory.size());
            found.push((memory.clone(), start & !3, end));
        }
        // By device address: what is written does not depend on where this process has it. Memory of no heap
        // may share an address.
        let place = |memory: &Arc<Allocation>| (memory.address(), Arc::as_ptr(memory).addr());
        found.sort_by_key(|(memory, start, end)| (place(memory), *start, *end));
        let mut extents: Vec<(Arc<Allocation>, u64, u64)> = Vec::new();
        for (memory, start, end) in found {
            match extents.last_mut() {
                Some((of, _, last)) if Arc::ptr_eq(of, &memory) && start <= *last => *last = end.max(*last),
                _ => extents.push((memory, start, end)),
            }
        }
        Reached { extents }
    }

    fn part(&self, range: &MemoryRange) -> Part {
        let reference = range.view().reference.0;
        let none = Part { extent: None, offset: 0, size: 0, reference };
        let Some(memory) = range.allocation() else { return none };
        let start = range.address() - memory.address();
        let holds = |(of, first, last): &(Arc<Allocation>, u64, u64)| {
            Arc::ptr_eq(of, memory) && *first <= start && start + range.size() <= *last
        };
        match self.extents.iter().position(holds) {
            Some(k) => {
                Part { extent: Some(k), offset: start - self.extents[k].1, size: range.size(), reference }
            }
            None => none,
        }
    }

    /// Device addresses as data.
    pub fn parts(&self, ranges: &[MemoryRange]) -> Vec<Part> {
        ranges.iter().map(|range| self.part(range)).collect()
    }

    /// A descriptor as data.
    pub fn bound(&self, descriptor: &Descriptor) -> Bound {
        match descriptor {
            Descriptor::Missing => Bound::Missing,
            Descriptor::Null => Bound::Null,
            Descriptor::Buffer(range) => Bound::Buffer(self.part(range)),
            Descriptor::TexelBuffer(range, format, texels) => {
                Bound::TexelBuffer(self.part(range), *format, *texels)
            }
            Descriptor::Image(view) => Bound::Image(Box::new(self.view(view))),
            Descriptor::Sampler(sampler) => Bound::Sampler(Sampling::of(sampler)),
            Descriptor::ImageSampler(view, sampler) => {
                Bound::ImageSampler(Box::new(self.view(view)), Sampling::of(sampler))
            }
        }
    }

    fn view(&self, view: &ImageView) -> View {
        View {
            memory: self.part(&view.memory),
            extent: view.extent,
            layers: view.layers,
            format: view.format,
            row_pitch: view.row_pitch,
            slice_pitch: view.slice_pitch,
            layer_pitch: view.layer_pitch,
            levels: view.levels,
            level_offsets: view.level_offsets,
            level_row_pitch: view.level_row_pitch,
            level_slice_pitch: view.level_slice_pitch,
            samples: view.samples,
            sample_pitch: view.sample_pitch,
            swizzle: view.swizzle,
            chroma: view.chroma.iter().map(|plane| self.view(plane)).collect(),
        }
    }

    /// Each extent's first device address, size, and bytes that are not zero: what is stored, and from which
    /// offset on.
    pub fn contents(&self, mut each: impl FnMut(u64, u64, Vec<(u64, Vec<u8>)>)) {
        for (memory, first, last) in &self.extents {
            let mut stored: Vec<(u64, Vec<u8>)> = Vec::new();
            let mut page = vec![0; PAGE as usize];
            let mut at = *first;
            while at < *last {
                let bytes = &mut page[..PAGE.min(last - at) as usize];
                raw::read(&memory.bytes(), at, bytes);
                let offset = at - first;
                at += bytes.len() as u64;
                if bytes.iter().all(|byte| *byte == 0) {
                    continue;
                }
                match stored.last_mut() {
                    Some((start, run)) if *start + run.len() as u64 == offset => run.extend_from_slice(bytes),
                    _ => stored.push((offset, bytes.to_vec())),
                }
            }
            each(memory.address() + first, last - first, stored);
        }
    }
}

impl Sampling {
    fn of(sampler: &Sampler) -> Sampling {
        Sampling {
            mag_linear: sampler.mag_linear,
            min_linear: sampler.min_linear,
            mip_linear: sampler.mip_linear,
            address: sampler.address,
            lod: [sampler.lod_bias, sampler.min_lod, sampler.max_lod, sampler.max_anisotropy]
                .map(f32::to_bits),
            border: sampler.border,
            unnormalized: sampler.unnormalized,
            compare: sampler.compare,
            conversion: sampler.conversion.map(|c| Converting {
                model: c.model,
                narrow: c.narrow,
                swizzle: c.swizzle,
                midpoint: c.midpoint,
                linear: c.linear,
                explicit: c.explicit,
            }),
        }
    }

    fn sampler(&self) -> Sampler {
        let [lod_bias, min_lod, max_lod, max_anisotropy] = self.lod.map(f32::from_bits);
        Sampler {
            mag_linear: self.mag_linear,
            min_linear: self.min_linear,
            mip_linear: self.mip_linear,
            address: self.address,
            lod_bias,
            min_lod,
            max_lod,
            max_anisotropy,
            border: self.border,
            unnormalized: self.unnormalized,
            compare: self.compare,
            conversion: self.conversion.map(|c| Conversion {
                model: c.model,
                narrow: c.narrow,
                swizzle: c.swizzle,
                midpoint: c.midpoint,
                linear: c.linear,
                explicit: c.explicit,
            }),
        }
    }
}

impl Part {
    /// The same part of memory that was made again.
    pub fn range(&self, memory: &[Arc<Allocation>]) -> MemoryRange {
        let reference = pellucid_memory::access::Reference(self.reference);
        match self.extent.and_then(|k| memory.get(k)) {
            Some(memory) => MemoryRange::new(memory, self.offset, self.size, reference),
            None => MemoryRange::NULL,
        }
    }
}

impl Bound {
    /// The same descriptor of memory that was made again.
    pub fn descriptor(&self, memory: &[Arc<Allocation>]) -> Descriptor {
        match self {
            Bound::Missing => Descriptor::Missing,
            Bound::Null => Descriptor::Null,
            Bound::Buffer(part) => Descriptor::Buffer(part.range(memory)),
            Bound::TexelBuffer(part, format, texels) => {
                Descriptor::TexelBuffer(part.range(memory), *format, *texels)
            }
            Bound::Image(view) => Descriptor::Image(view.view(memory)),
            Bound::Sampler(sampling) => Descriptor::Sampler(sampling.sampler()),
            Bound::ImageSampler(view, sampling) => {
                Descriptor::ImageSampler(view.view(memory), sampling.sampler())
            }
        }
    }
}

impl View {
    fn view(&self, memory: &[Arc<Allocation>]) -> ImageView {
        ImageView {
            memory: self.memory.range(memory),
            extent: self.extent,
            layers: self.layers,
            format: self.format,
            row_pitch: self.row_pitch,
            slice_pitch: self.slice_pitch,
            layer_pitch: self.layer_pitch,
            levels: self.levels,
            level_offsets: self.level_offsets,
            level_row_pitch: self.level_row_pitch,
            level_slice_pitch: self.level_slice_pitch,
            samples: self.samples,
            sample_pitch: self.sample_pitch,
            swizzle: self.swizzle,
            chroma: self.chroma.iter().map(|plane| plane.view(memory)).collect(),
        }
    }
}
