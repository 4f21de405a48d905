//! What the driver hands to the interpreter: specialization, resources, grids.

use crate::code::{ElementIndex, Program, Space};
use pellucid_memory::device::{MemoryRange, sparse};
use pellucid_memory::raw::MemoryView;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Choices at pipeline creation.
#[derive(Clone, Debug)]
pub struct CompileOptions {
    /// Entry point name.
    pub entry_point: String,
    /// `SpecId` to the constant's bytes, little endian, as VkSpecializationInfo gives them (Bool: 4 bytes).
    pub specialization: BTreeMap<u32, Vec<u8>>,
    /// Subgroup size: a power of two, 1 to 32.
    pub subgroup_size: u32,
    /// Generate code for a modelled memory system: every invocation's load is an event of its own.
    pub modelled: bool,
    /// In modelled code: follow push constants that nothing may have set, by [`Resources::push_unset`].
    pub push_unset: bool,
    /// In modelled code: follow what plain loads of memory that invocations share read without anything
    /// having written it to where it is used, as what loads of variables read. The memory system is to say
    /// what they read: [`pellucid_memory::system::MemorySystem::read_undefined`].
    pub follow_loads: bool,
    /// Take accesses of workgroup memory as non-private, and available and visible at the scope Workgroup, in
    /// modules that declare the Vulkan memory model as well: there, only what has NonPrivatePointer is.
    pub coherent_workgroup: bool,
    /// Take accesses of storage buffers and storage images as non-private, and available and visible at the
    /// scope Workgroup, where neither they nor their memory say so.
    pub coherent_storage: bool,
    /// In modelled code: notice what is defined nowhere but is no error of memory, such as a division by
    /// zero.
    pub notes: bool,
    /// Keep [`crate::code::debug::DebugInfo`] with the program. Its code is the same.
    pub debug: bool,
    /// Function and Private variables stay in private memory, where a debugger finds them. What the code does
    /// to memory that others see is the same, in the same order.
    pub keep_variables: bool,
}

/// Entry point `main`, subgroups of 32, code for flat memory.
impl Default for CompileOptions {
    fn default() -> CompileOptions {
        CompileOptions {
            entry_point: "main".into(),
            specialization: BTreeMap::new(),
            subgroup_size: 32,
            modelled: false,
            push_unset: false,
            follow_loads: false,
            coherent_workgroup: false,
            coherent_storage: false,
            notes: false,
            debug: false,
            keep_variables: false,
        }
    }
}

/// How texels of a view are laid out: row-major, tightly packed by pitch. `M` says what memory is.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ImageView<M = MemoryRange> {
    /// All bytes of the view's base level and layers.
    pub memory: M,
    /// Texels at the base level of the view.
    pub extent: [u32; 3],
    /// Layers (cube maps: faces times cubes).
    pub layers: u32,
    /// The texel format, as a VkFormat number (the interpreter decodes it by its own table,
    /// [`crate::math::format`]).
    pub format: i32,
    /// Bytes from one row to the next at the base level; of blocks, if the format is compressed.
    pub row_pitch: u32,
    /// Bytes from one depth slice to the next at the base level.
    pub slice_pitch: u32,
    /// Bytes from one layer to the next.
    pub layer_pitch: u32,
    /// Mip levels of the view; level `k` starts at `level_offsets[k]` relative to the view's memory and has
    /// halved extents and pitches in `level_row_pitch`, `level_slice_pitch`.
    pub levels: u32,
    /// Byte offsets of up to 16 levels.
    pub level_offsets: [u32; 16],
    /// Row pitches of the levels.
    pub level_row_pitch: [u32; 16],
    /// Slice pitches of the levels.
    pub level_slice_pitch: [u32; 16],
    /// Samples per texel.
    pub samples: u32,
    /// Bytes from sample to sample, and from the last of a texel to the first of the next. More than a texel
    /// of [`ImageView::format`] has where the view shows one aspect of several.
    pub sample_pitch: u32,
    /// Component swizzle (VkComponentSwizzle numbers with IDENTITY resolved: 1 zero, 2 one, 3 r, 4 g, 5 b, 6
    /// a).
    pub swizzle: [u8; 4],
    /// Of a format that requires sampler Y'CbCr conversion ([`crate::math::format::ycbcr`]) the texels are
    /// luma values, and these are the chroma values: blue and red together or one after the other; none, if
    /// the texels have them.
    pub chroma: Vec<ImageView<M>>,
}

impl<M> ImageView<M> {
    /// The same view of other memory.
    fn map<N>(&self, memory: &impl Fn(&M) -> N) -> ImageView<N> {
        ImageView {
            memory: memory(&self.memory),
            chroma: self.chroma.iter().map(|plane| plane.map(memory)).collect(),
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
        }
    }
}

impl ImageView {
    /// The memory of its texels, and of the chroma values that belong to them.
    pub fn memory(&self) -> impl Iterator<Item = &MemoryRange> {
        std::iter::once(&self.memory).chain(self.chroma.iter().map(|plane| &plane.memory))
    }
}

/// A sampler Y'CbCr conversion (VkSamplerYcbcrConversionCreateInfo).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SamplerYcbcrConversion {
    /// VkSamplerYcbcrModelConversion.
    pub model: i32,
    /// VK_SAMPLER_YCBCR_RANGE_ITU_NARROW.
    pub narrow: bool,
    /// Component swizzle, as a view's.
    pub swizzle: [u8; 4],
    /// VK_CHROMA_LOCATION_MIDPOINT along x and y.
    pub midpoint: [bool; 2],
    /// The chroma filter is linear.
    pub linear: bool,
    /// Chroma is reconstructed explicitly (`forceExplicitReconstruction`).
    pub explicit: bool,
}

/// How the texels of a filter's footprint become one (VkSamplerReductionMode).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reduction {
    /// The mean, by their weights.
    #[default]
    WeightedAverage,
    /// Of each component the least of those that have a weight.
    Min,
    /// Of each component the greatest of those that have a weight.
    Max,
}

/// A sampler's state that compute sampling needs (VkSamplerCreateInfo).
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Sampler {
    /// Linear instead of nearest, for magnification.
    pub mag_linear: bool,
    /// Linear instead of nearest, for minification.
    pub min_linear: bool,
    /// Linear between mip levels.
    pub mip_linear: bool,
    /// VkSamplerAddressMode numbers for u, v, w.
    pub address: [i32; 3],
    /// Added to the lod.
    #[serde(with = "bits")]
    pub lod_bias: f32,
    /// Clamp of the lod.
    #[serde(with = "bits")]
    pub min_lod: f32,
    /// Clamp of the lod.
    #[serde(with = "bits")]
    pub max_lod: f32,
    /// Samples along the longer derivative, at most; 1 without anisotropy.
    #[serde(with = "bits")]
    pub max_anisotropy: f32,
    /// Border color as raw component bits.
    pub border: [u32; 4],
    /// Coordinates are in texels.
    pub unnormalized: bool,
    /// A face of a cube is an image of its own (VK_SAMPLER_CREATE_NON_SEAMLESS_CUBE_MAP_BIT_EXT).
    #[serde(default)]
    pub non_seamless: bool,
    /// Compare operation (VkCompareOp number) if enabled.
    pub compare: Option<i32>,
    /// What becomes of the texels of a footprint.
    #[serde(default)]
    pub reduction: Reduction,
    /// The conversion of what it samples, if that is enabled.
    pub conversion: Option<SamplerYcbcrConversion>,
}

/// A float as data: its bits, of whatever value.
mod bits {
    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(value: &f32, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_u32(value.to_bits())
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<f32, D::Error> {
        u32::deserialize(from).map(f32::from_bits)
    }
}

/// What is bound to an element of a binding. `M` says what memory is.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Descriptor<M = MemoryRange> {
    /// Never written: every access is out of bounds.
    Missing,
    /// VK_NULL_HANDLE: reads are zero, writes are discarded.
    Null,
    /// Uniform or storage buffer (dynamic offsets already added).
    Buffer(M),
    /// Uniform or storage texel buffer: memory, VkFormat, texels.
    TexelBuffer(M, i32, u32),
    /// Storage or sampled image.
    Image(ImageView<M>),
    /// Sampler alone.
    Sampler(Sampler),
    /// Combined image sampler.
    ImageSampler(ImageView<M>, Sampler),
}

impl<M> Descriptor<M> {
    /// The same descriptor of other memory.
    pub fn map<N>(&self, memory: &impl Fn(&M) -> N) -> Descriptor<N> {
        match self {
            Descriptor::Missing => Descriptor::Missing,
            Descriptor::Null => Descriptor::Null,
            Descriptor::Buffer(range) => Descriptor::Buffer(memory(range)),
            Descriptor::TexelBuffer(range, format, texels) => {
                Descriptor::TexelBuffer(memory(range), *format, *texels)
            }
            Descriptor::Image(view) => Descriptor::Image(view.map(memory)),
            Descriptor::Sampler(sampler) => Descriptor::Sampler(*sampler),
            Descriptor::ImageSampler(view, sampler) => Descriptor::ImageSampler(view.map(memory), *sampler),
        }
    }
}

impl Descriptor {
    /// The memory that it reaches: that of a buffer, or of each plane of an image.
    pub fn memory(&self) -> impl Iterator<Item = &MemoryRange> {
        let (buffer, view) = match self {
            Descriptor::Buffer(range) | Descriptor::TexelBuffer(range, ..) => (Some(range), None),
            Descriptor::Image(view) | Descriptor::ImageSampler(view, _) => (None, Some(view)),
            Descriptor::Missing | Descriptor::Null | Descriptor::Sampler(_) => (None, None),
        };
        buffer.into_iter().chain(view.into_iter().flat_map(ImageView::memory))
    }
}

/// The descriptors of one dispatch: for each entry of `Shader::bindings` its array elements (a runtime array:
/// all that were allocated).
#[derive(Clone, Debug, Default)]
pub struct Resources {
    /// Indexed like `Shader::bindings`, then by array element.
    pub bindings: Vec<Vec<Descriptor>>,
    /// Push constant bytes.
    pub push_constants: Vec<u8>,
    /// For each of them: 0 if something has set it. None at all where they are not followed.
    pub push_unset: Vec<u8>,
    /// Live buffers with device addresses, sorted by address, not overlapping: where physical pointers may
    /// point.
    pub addresses: Arc<Vec<MemoryRange>>,
}

impl Program {
    /// The separate samplers of images of a binding: binding and array element, of those whose element is a
    /// constant. Bindings are indices into `Shader::bindings`.
    pub fn samplers_of(&self, image: u32) -> impl Iterator<Item = (u32, u32)> + '_ {
        let of_image = self.images.iter().filter(move |entry| entry.instruction.binding() == image);
        of_image.filter_map(|entry| match entry.sampler? {
            ElementIndex::Constant(element) => Some((entry.instruction.sampler()?, element)),
            ElementIndex::Register(_) => None,
        })
    }
}

impl Resources {
    /// The device memory that stores and atomics of a modelled program may go to: first bytes and those
    /// behind the last. `None`: any.
    pub fn written_by(&self, program: &Program) -> Option<Vec<(u64, u64)>> {
        if !program.modelled {
            // Its tables list stores among loads.
            return None;
        }
        let mut written = Vec::new();
        let mut add = |binding: u32, element: Option<u32>| {
            let descriptors = self.bindings.get(binding as usize).map_or(&[][..], Vec::as_slice);
            let these = match element {
                Some(element) => descriptors.get(element as usize).map_or(&[][..], std::slice::from_ref),
                None => descriptors,
            };
            for memory in these.iter().flat_map(Descriptor::memory) {
                written.push((memory.address(), memory.address() + memory.size()));
            }
        };
        for entry in program.memory.iter().filter(|entry| entry.writes()) {
            match entry.space {
                Space::View(slot) => {
                    let (binding, element) = program.views[slot as usize];
                    add(binding, Some(element));
                }
                Space::Element { binding, .. } => add(binding, None),
                Space::Physical => return None,
                Space::Workgroup(_) | Space::Private { .. } | Space::Push => {}
            }
        }
        for entry in program.images.iter().filter(|entry| entry.instruction.writes()) {
            add(entry.instruction.binding(), None);
        }
        written.sort_unstable();
        written.dedup();
        Some(written)
    }

    /// Whether a program may write to bytes of sparse resources to which no memory is bound.
    pub fn is_partly_bound(&self, program: &Program) -> bool {
        if !sparse::is_any() {
            return false;
        }
        let buffers = self.bindings.iter().flatten().filter(|of| matches!(of, Descriptor::Buffer(_)));
        let written = program.images.iter().filter(|entry| entry.instruction.writes());
        let images = written.filter_map(|entry| self.bindings.get(entry.instruction.binding() as usize));
        let physical = program.memory.iter().any(|entry| matches!(entry.space, Space::Physical));
        let mut reached = buffers
            .chain(images.flatten())
            .flat_map(Descriptor::memory)
            .chain(self.addresses.iter().filter(|_| physical));
        reached.any(|range| !range.view().is_resident(0, range.size()))
    }

    /// Whether a program may ask for the residency of images to parts of which no memory is bound.
    pub fn tells_unbound(&self, program: &Program) -> bool {
        let asks = program.images.iter().filter(|entry| entry.instruction.tells_residency());
        let images = asks.filter_map(|entry| self.bindings.get(entry.instruction.binding() as usize));
        let mut reached = images.flatten().flat_map(Descriptor::memory);
        sparse::is_any() && reached.any(|range| !range.view().is_resident(0, range.size()))
    }

    /// The memory of a buffer descriptor; nothing if there is none.
    pub(crate) fn view(&self, binding: u32, element: u32) -> MemoryView<'_> {
        match self.bindings.get(binding as usize).and_then(|b| b.get(element as usize)) {
            Some(Descriptor::Buffer(range)) => range.view(),
            Some(Descriptor::Null) => MemoryView::NULL_DESCRIPTOR,
            _ => MemoryView::NULL,
        }
    }
}

/// The push constant offset at which code that follows them finds [`Resources::push_unset`].
pub(crate) const PUSH_UNSET: u32 = 1 << 30;

/// The workgroups of a dispatch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    /// vkCmdDispatchBase.
    pub base: [u32; 3],
    /// `NumWorkgroups`.
    pub groups: [u32; 3],
}
