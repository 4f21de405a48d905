//! Straight-line operations.

use super::alu::Alu;
use super::matrix::MatrixMulAdd;
use super::module::{Scalar, Value};
use pellucid_memory::access::{Access, AtomicOp, Site};
use pellucid_memory::finding::FindingId;
use pellucid_memory::scope::{Scope, Semantics};
use smallvec::SmallVec;

/// One operation: results (new values), arguments, and what it does.
#[derive(Clone, Debug, PartialEq)]
pub struct Op {
    /// The operation, with what belongs to it beside values.
    pub kind: OpKind,
    /// Values that it defines.
    pub results: SmallVec<[Value; 2]>,
    /// Values that it uses, in the order that the kind documents.
    pub arguments: SmallVec<[Value; 4]>,
    /// The static instruction it comes from.
    pub site: Site,
}

/// Where a memory operation goes. Byte offsets are I32 values, added to the immediate with 32-bit
/// wrap-around.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Place {
    /// A buffer descriptor: `binding` indexes `Shader::bindings`.
    Buffer {
        /// Index into `Shader::bindings`.
        binding: u32,
        /// Array element; `None` is element 0. May differ between lanes.
        element: Option<Value>,
        /// Byte offset; `None` is 0.
        offset: Option<Value>,
        /// Added to the offset.
        immediate: u32,
    },
    /// A physical storage buffer address (an I64 value).
    Physical {
        /// Device address, before the immediate is added.
        address: Value,
        /// Added to the address.
        immediate: u32,
    },
    /// Workgroup memory through variable `object` (index into `Shader::workgroup`); offsets count from the
    /// start of workgroup memory.
    Workgroup {
        /// Index into `Shader::workgroup`.
        object: u32,
        /// Byte offset; `None` is 0.
        offset: Option<Value>,
        /// Added to the offset.
        immediate: u32,
    },
    /// Private memory of the lane (index into `Shader::private`); offsets count from the start of the lane's
    /// private memory and are a multiple of the component's size. Not shared: no event of the model.
    Private {
        /// Index into `Shader::private`.
        object: u32,
        /// Byte offset; `None` is 0.
        offset: Option<Value>,
        /// Added to the offset.
        immediate: u32,
    },
    /// The push constant block.
    PushConstant {
        /// Byte offset; `None` is 0.
        offset: Option<Value>,
        /// Added to the offset.
        immediate: u32,
    },
}

/// Built-in variables of compute shaders, one scalar component each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum BuiltIn {
    NumWorkgroups(u8),
    WorkgroupId(u8),
    LocalInvocationId(u8),
    GlobalInvocationId(u8),
    LocalInvocationIndex,
    SubgroupSize,
    NumSubgroups,
    SubgroupId,
    SubgroupLocalInvocationId,
    /// Bits of the invocation mask, component 0 to 3.
    SubgroupEqMask(u8),
    SubgroupGeMask(u8),
    SubgroupGtMask(u8),
    SubgroupLeMask(u8),
    SubgroupLtMask(u8),
    DeviceIndex,
}

/// Group operations over a subgroup (SPIR-V GroupOperation).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GroupKind {
    /// Reduce: the same result in every active lane.
    Reduce,
    /// Of the active lanes up to this one.
    InclusiveScan,
    /// Of the active lanes before this one.
    ExclusiveScan,
    /// ClusteredReduce with this cluster size (a power of two).
    Clustered(u32),
}

/// Binary operations that a group operation folds with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum GroupFold {
    IAdd,
    FAdd,
    IMul,
    FMul,
    SMin,
    UMin,
    FMin,
    SMax,
    UMax,
    FMax,
    And,
    Or,
    Xor,
    LogicalAnd,
    LogicalOr,
    LogicalXor,
}

/// Conversions between scalar types; the source type is the argument's, the target the result's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Conversion {
    /// Integer widths: zero-extending or truncating.
    UConvert,
    /// Integer widths: sign-extending or truncating.
    SConvert,
    /// Float widths, round to nearest even.
    FConvert,
    /// Float widths, toward zero (FPRoundingMode RTZ decoration).
    FConvertRtz,
    FToU,
    FToS,
    UToF,
    SToF,
    /// Same width, other type. 64 bits from or to two I32: see `Pack64` and `Unpack64`.
    Bitcast,
    /// Saturating (Kernel-less uses: none in Vulkan 1.3 shaders but SatConvert on dot products).
    BoolToInt,
}

/// Image dimensions of an image operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum ImageDim {
    D1,
    D2,
    D3,
    Cube,
    Buffer,
}

/// The image that an operation uses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ImageOperand {
    /// Index into `Shader::bindings`.
    pub binding: u32,
    /// Array element; `None` is 0.
    pub element: Option<Value>,
    /// Separate sampler for sampling: binding and element.
    pub sampler: Option<(u32, Option<Value>)>,
    /// 1D, 2D, 3D, cube or buffer.
    pub dim: ImageDim,
    /// Arrayed: one more coordinate, the layer.
    pub arrayed: bool,
    /// One more operand, the sample.
    pub multisampled: bool,
    /// Sampled type: component type of texels (I32, F32, I64; signed or not is the format's matter).
    pub texel: Scalar,
    /// The image's Sampled Type is a signed integer.
    pub signed: bool,
    /// `vkFormat`-independent SPIR-V Image Format as its number; 0 is Unknown.
    pub format: u32,
    /// What a sampling instruction does besides filtering.
    pub sampling: ImageSampling,
}

/// Variants of [`OpKind::ImageSample`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ImageSampling {
    /// OpImageGather and OpImageDrefGather: this component (0 to 3) of four texels of the base level. The lod
    /// argument is there and unused.
    pub gather: Option<u8>,
    /// OpImage*Dref*: compare the texels' depth with a reference value. Without `gather` all four results are
    /// the same.
    pub reference: bool,
    /// Integer offsets: 0 none, 1 one for each axis (Offset, ConstOffset), 4 one for each axis of each texel
    /// of a gather (ConstOffsets).
    pub offsets: u8,
    /// Derivatives of the coordinates (without the layer), those along x and then those along y, in place of
    /// the lod argument.
    pub derivatives: bool,
    /// Bias: one more argument after the lod or the derivatives.
    pub bias: bool,
    /// MinLod: one more after that.
    pub min_lod: bool,
}

/// What an operation does.
#[derive(Clone, Debug, PartialEq)]
pub enum OpKind {
    /// A constant: the bits of the result's type, zero-extended (Bool: 0 or 1).
    Constant(u64),
    /// OpUndef: any value (Pellucid gives 0).
    Undef,
    /// A built-in variable's component: one result, I32.
    BuiltIn(BuiltIn),
    /// Arithmetic and logic. The flag forbids contraction (`NoContraction`).
    Alu(Alu),
    /// A conversion.
    Convert(Conversion),
    /// I64 or F64 from two I32 (low, high).
    Pack64,
    /// Two I32 (low, high) from I64 or F64.
    Unpack64,
    /// `results.len()` is `access.components`; all of one scalar type with `access.size` bytes.
    Load {
        /// Address of the first component.
        place: Place,
        /// Width, memory operands and atomic semantics.
        access: Access,
    },
    /// `arguments` are the components.
    Store {
        /// Address of the first component.
        place: Place,
        /// Width, memory operands and atomic semantics.
        access: Access,
    },
    /// Arguments: value (for CompareExchange: value, comparator). Result: the original value, if used.
    Atomic {
        /// The read-modify-write.
        op: AtomicOp,
        /// Address of the atomic object.
        place: Place,
        /// Width, scope and memory semantics.
        access: Access,
    },
    /// OpArrayLength in *bytes* of the descriptor's range (the front end computes the count from it). Result
    /// I32.
    BufferSize {
        /// Index into `Shader::bindings`.
        binding: u32,
        /// Array element; `None` is 0.
        element: Option<Value>,
    },
    /// OpMemoryBarrier.
    MemoryBarrier {
        /// Memory scope.
        scope: Scope,
        /// What it orders, and of which storage classes.
        semantics: Semantics,
    },
    /// OpControlBarrier.
    ControlBarrier {
        /// Execution scope: Workgroup or Subgroup (wider ones are refused).
        execution: Scope,
        /// Memory scope.
        memory: Scope,
        /// What it orders, and of which storage classes.
        semantics: Semantics,
    },
    /// OpGroupNonUniformElect: Bool.
    Elect,
    /// OpGroupNonUniformAll: Bool to Bool.
    VoteAll,
    /// OpGroupNonUniformAny: Bool to Bool.
    VoteAny,
    /// OpGroupNonUniformAllEqual: any scalar to Bool.
    VoteAllEqual,
    /// OpGroupNonUniformBallot: Bool to 4 x I32.
    Ballot,
    /// OpGroupNonUniformInverseBallot: 4 x I32 to Bool.
    InverseBallot,
    /// OpGroupNonUniformBallotBitExtract: 4 x I32, index to Bool.
    BallotBitExtract,
    /// OpGroupNonUniformBallotBitCount: 4 x I32 to I32.
    BallotBitCount(GroupKind),
    /// OpGroupNonUniformBallotFindLSB: 4 x I32 to I32.
    BallotFindLsb,
    /// OpGroupNonUniformBallotFindMSB: 4 x I32 to I32.
    BallotFindMsb,
    /// OpGroupNonUniformBroadcast / BroadcastFirst (no index argument) : value, lane (I32).
    Broadcast,
    /// OpGroupNonUniformBroadcastFirst: value.
    BroadcastFirst,
    /// OpGroupNonUniformShuffle: value, lane (I32).
    Shuffle,
    /// OpGroupNonUniformShuffleXor: value, mask (I32).
    ShuffleXor,
    /// OpGroupNonUniformShuffleUp: value, delta (I32).
    ShuffleUp,
    /// OpGroupNonUniformShuffleDown: value, delta (I32).
    ShuffleDown,
    /// OpGroupNonUniformRotateKHR: value, delta (I32); cluster size or 0.
    Rotate(u32),
    /// OpGroupNonUniformQuadBroadcast: value, index (I32).
    QuadBroadcast,
    /// OpGroupNonUniformQuadSwap: value; 0 horizontal, 1 vertical, 2 diagonal.
    QuadSwap(u32),
    /// Arithmetic group operations: value.
    Group(GroupFold, GroupKind),
    /// OpCooperativeMatrixMulAddKHR: the lane's components of A, then of B, then of C, to those of the
    /// result.
    MatrixMulAdd(MatrixMulAdd),
    /// OpImageRead: coordinates (I32; then layer, then sample) to 4 texel components.
    ImageRead {
        /// The image's descriptor.
        image: ImageOperand,
        /// How (class IMAGE; size and components are the executor's matter).
        access: Access,
    },
    /// OpImageWrite: coordinates, then 4 texel components (missing ones 0).
    ImageWrite {
        /// The image's descriptor.
        image: ImageOperand,
        /// Memory operands, from the image operands.
        access: Access,
    },
    /// Atomic through OpImageTexelPointer: coordinates (and sample), value (CompareExchange: value,
    /// comparator).
    ImageAtomic {
        /// Which operation; for atomic loads and stores see `ImageAtomicLoad` and `ImageAtomicStore`.
        op: AtomicOp,
        /// The image's descriptor.
        image: ImageOperand,
        /// Width, scope and memory semantics.
        access: Access,
    },
    /// OpAtomicLoad through OpImageTexelPointer: coordinates.
    ImageAtomicLoad {
        /// The image's descriptor.
        image: ImageOperand,
        /// Width, scope and memory semantics.
        access: Access,
    },
    /// OpAtomicStore through OpImageTexelPointer: coordinates, value.
    ImageAtomicStore {
        /// The image's descriptor.
        image: ImageOperand,
        /// Width, scope and memory semantics.
        access: Access,
    },
    /// OpImageFetch: coordinates (I32; layer), lod (I32) or sample to 4 texel components.
    ImageFetch {
        /// The image's descriptor.
        image: ImageOperand,
        /// Memory operands, from the image operands.
        access: Access,
    },
    /// OpImageSample*: coordinates (F32; layer), the reference value (F32) if [`ImageSampling::reference`],
    /// lod (F32) and what else [`ImageSampling`] names (F32), offsets (I32) as [`ImageSampling::offsets`]
    /// says, to 4 texel components.
    ImageSample {
        /// Which image and sampler.
        image: ImageOperand,
        /// Memory operands, from the image operands.
        access: Access,
    },
    /// OpImageQuerySize / QuerySizeLod: (lod, I32, if `lod`) to I32 per dimension.
    ImageQuerySize {
        /// The image's descriptor.
        image: ImageOperand,
        /// A lod argument is there.
        lod: bool,
    },
    /// OpImageQueryLevels: I32.
    ImageQueryLevels(ImageOperand),
    /// OpImageQueryLod: coordinates without the layer and their derivatives along x and along y, to the level
    /// and the LOD (F32).
    ImageQueryLod(ImageOperand),
    /// OpImageQuerySamples: I32.
    ImageQuerySamples(ImageOperand),
    /// OpReadClockKHR: I64 at Subgroup or Device scope; Pellucid counts instructions so that results are
    /// deterministic.
    ReadClock(Scope),
    /// DebugPrintf by a format of `Shader::prints`: WorkgroupId z, y and x and SubgroupId, then the
    /// arguments.
    Print(u32),
    /// With notes: the lanes whose argument, a Bool, holds do what this finding says.
    Note(FindingId),
    /// With notes: the argument selects a descriptor, and is to be equal in all running lanes.
    NoteDiverging,
    /// Check mode: the lanes whose argument, a shadow of `pass::defined`, is not 0 use a value that nothing
    /// has written.
    CheckDefined {
        /// Even if it was loaded along with defined components.
        whole: bool,
    },
}

/// What may be done with an operation besides executing it where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Nothing but its results can be observed, and they depend on its operands alone: it may be dropped, be
    /// moved, and stand for another of equal operands.
    Pure,
    /// It may be dropped if its results are not used.
    Droppable,
    /// It stays where it is.
    Fixed,
}

/// When an operation's results are equal in all active lanes of a subgroup, or in all invocations of a
/// workgroup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Uniform {
    /// Whatever its operands are.
    Always,
    /// If all its operands are.
    WithOperands,
    /// Never for certain.
    Varying,
}

/// What an operation does with values that nothing has written; see `pass::defined`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Undefined {
    /// Its results count as defined, whatever it is given.
    Dropped,
    /// Its results are undefined if an operand is: they are copies of it.
    Copied,
    /// The same, as the row of the arithmetic operation says it.
    Computed(Alu),
    /// Its result is another lane's operand.
    Moved,
    /// Its result is undefined if the operand is in one of the lanes that take part.
    Reduced(GroupFold, GroupKind),
    /// A component of its results is undefined if a component that it hangs on is, in whatever lane.
    Multiplied(MatrixMulAdd),
    /// It must not be given any. `whole`: not even as an argument that was loaded along with defined ones.
    Checked {
        /// See there.
        whole: bool,
    },
}

/// What holds of an operation, for passes and analyses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Properties {
    /// Whether it may be moved or dropped.
    pub effect: Effect,
    /// Uniformity for a subgroup, when memory is flat.
    pub subgroup: Uniform,
    /// Uniformity for a workgroup. Loads of memory that invocations share count as uniform: see
    /// `outline::uniform`.
    pub workgroup: Uniform,
    /// What it does with undefined values.
    pub undefined: Undefined,
}

impl BuiltIn {
    /// Its uniformity for a subgroup and for a workgroup.
    fn uniform(self) -> (Uniform, Uniform) {
        use Uniform::{Always, Varying};
        match self {
            BuiltIn::NumWorkgroups(_)
            | BuiltIn::WorkgroupId(_)
            | BuiltIn::SubgroupSize
            | BuiltIn::NumSubgroups
            | BuiltIn::DeviceIndex => (Always, Always),
            BuiltIn::SubgroupId => (Always, Varying),
            BuiltIn::LocalInvocationId(_)
            | BuiltIn::GlobalInvocationId(_)
            | BuiltIn::LocalInvocationIndex
            | BuiltIn::SubgroupLocalInvocationId
            | BuiltIn::SubgroupEqMask(_)
            | BuiltIn::SubgroupGeMask(_)
            | BuiltIn::SubgroupGtMask(_)
            | BuiltIn::SubgroupLeMask(_)
            | BuiltIn::SubgroupLtMask(_) => (Varying, Varying),
        }
    }
}

impl OpKind {
    /// What holds of the operation: the one table of it. That of arithmetic goes on in [`Alu::row`].
    pub fn properties(&self) -> Properties {
        use Effect::{Droppable, Fixed, Pure};
        use Undefined::{Checked, Computed, Copied, Dropped, Moved, Multiplied, Reduced};
        use Uniform::{Always, Varying, WithOperands};
        let used = Checked { whole: false };
        let used_whole = Checked { whole: true };
        let (effect, subgroup, workgroup, undefined) = match *self {
            OpKind::Constant(_) => (Pure, Always, Always, Dropped),
            OpKind::Undef => (Droppable, Always, Always, Dropped),
            OpKind::BuiltIn(built_in) => {
                let (subgroup, workgroup) = built_in.uniform();
                (Droppable, subgroup, workgroup, Dropped)
            }
            OpKind::Alu(alu) => (Pure, WithOperands, WithOperands, Computed(alu)),
            OpKind::Convert(_) | OpKind::Pack64 | OpKind::Unpack64 => {
                (Pure, WithOperands, WithOperands, Copied)
            }
            OpKind::Load { place: Place::PushConstant { .. }, .. } => {
                (Pure, WithOperands, WithOperands, used)
            }
            OpKind::Load { place: Place::Private { .. }, .. } => (Droppable, Varying, Varying, used),
            // One read for all lanes is one of the executions that flat memory allows.
            OpKind::Load { access, .. } if access.atomic.is_none() && !access.volatile => {
                (Fixed, WithOperands, WithOperands, used)
            }
            OpKind::Load { .. } => (Fixed, Varying, WithOperands, used),
            OpKind::Store { .. } => (Fixed, Varying, Varying, used),
            OpKind::Atomic { .. } => (Fixed, Varying, Varying, used_whole),
            OpKind::BufferSize { .. } => (Pure, WithOperands, WithOperands, used_whole),
            OpKind::MemoryBarrier { .. } | OpKind::ControlBarrier { .. } => {
                (Fixed, Varying, Varying, Dropped)
            }
            OpKind::Elect => (Fixed, Varying, Varying, Dropped),
            OpKind::VoteAll | OpKind::VoteAny | OpKind::VoteAllEqual | OpKind::Ballot => {
                (Fixed, Always, Varying, Dropped)
            }
            OpKind::InverseBallot => (Fixed, Varying, Varying, Dropped),
            OpKind::BallotBitExtract
            | OpKind::BallotBitCount(GroupKind::Reduce)
            | OpKind::BallotFindLsb
            | OpKind::BallotFindMsb => (Fixed, WithOperands, Varying, Dropped),
            OpKind::BallotBitCount(_) => (Fixed, Varying, Varying, Dropped),
            OpKind::Broadcast | OpKind::BroadcastFirst => (Fixed, Always, Varying, Moved),
            OpKind::Shuffle
            | OpKind::ShuffleXor
            | OpKind::ShuffleUp
            | OpKind::ShuffleDown
            | OpKind::Rotate(_)
            | OpKind::QuadBroadcast
            | OpKind::QuadSwap(_) => (Fixed, Varying, Varying, Moved),
            OpKind::Group(fold, kind @ GroupKind::Reduce) => (Fixed, Always, Varying, Reduced(fold, kind)),
            OpKind::Group(fold, kind) => (Fixed, Varying, Varying, Reduced(fold, kind)),
            OpKind::MatrixMulAdd(product) => (Fixed, Varying, Varying, Multiplied(product)),
            OpKind::ImageRead { .. } | OpKind::ImageFetch { .. } | OpKind::ImageSample { .. } => {
                (Fixed, Varying, WithOperands, used)
            }
            OpKind::ImageWrite { .. }
            | OpKind::ImageAtomic { .. }
            | OpKind::ImageAtomicLoad { .. }
            | OpKind::ImageAtomicStore { .. } => (Fixed, Varying, Varying, used),
            OpKind::ImageQuerySize { .. } | OpKind::ImageQueryLevels(_) | OpKind::ImageQuerySamples(_) => {
                (Fixed, WithOperands, WithOperands, Dropped)
            }
            OpKind::ImageQueryLod(_) => (Fixed, WithOperands, WithOperands, used),
            OpKind::ReadClock(_) => (Fixed, Always, Varying, Dropped),
            OpKind::Print(_) | OpKind::Note(_) | OpKind::NoteDiverging | OpKind::CheckDefined { .. } => {
                (Fixed, Varying, Varying, Dropped)
            }
        };
        Properties { effect, subgroup, workgroup, undefined }
    }

    /// True if it can be dropped when its results are not used.
    pub fn is_droppable(&self) -> bool {
        self.properties().effect != Effect::Fixed
    }
}

/// Calls `$f` for the values that an operation's kind names beside its arguments, until it fails.
macro_rules! visit_values {
    ($kind:expr, $image:ident, $iter:ident, $f:expr) => {
        match $kind {
            OpKind::Load { place, .. } | OpKind::Store { place, .. } | OpKind::Atomic { place, .. } => {
                match place {
                    Place::Buffer { element, offset, .. } => {
                        element.$iter().chain(offset.$iter()).try_for_each($f)
                    }
                    Place::Physical { address, .. } => $f(address),
                    Place::Workgroup { offset, .. }
                    | Place::Private { offset, .. }
                    | Place::PushConstant { offset, .. } => offset.$iter().try_for_each($f),
                }
            }
            OpKind::BufferSize { element, .. } => element.$iter().try_for_each($f),
            kind => match kind.$image() {
                Some(ImageOperand { element, sampler, .. }) => {
                    let sampler = sampler.$iter().flat_map(|(_, element)| element.$iter());
                    element.$iter().chain(sampler).try_for_each($f)
                }
                None => Ok(()),
            },
        }
    };
}

impl OpKind {
    /// Calls `f` for the values that the kind names beside the operation's arguments: offsets, addresses,
    /// elements of descriptors.
    pub fn for_each_value(&self, mut f: impl FnMut(Value)) {
        let mut f = |value: &Value| -> Result<(), std::convert::Infallible> {
            f(*value);
            Ok(())
        };
        let Ok(()) = visit_values!(self, image, iter, &mut f);
    }

    /// The same, to change them; stops at an error.
    pub fn try_for_each_value_mut<E>(
        &mut self,
        mut f: impl FnMut(&mut Value) -> Result<(), E>,
    ) -> Result<(), E> {
        visit_values!(self, image_mut, iter_mut, &mut f)
    }

    /// The same, of which none fails.
    pub fn for_each_value_mut(&mut self, mut f: impl FnMut(&mut Value)) {
        let Ok(()) = self.try_for_each_value_mut(|value| {
            f(value);
            Ok::<(), std::convert::Infallible>(())
        });
    }

    /// The values that the kind names beside the operation's arguments.
    pub fn values(&self) -> SmallVec<[Value; 4]> {
        let mut values = SmallVec::new();
        self.for_each_value(|value| values.push(value));
        values
    }

    /// Where a memory operation goes.
    pub fn place_mut(&mut self) -> Option<&mut Place> {
        match self {
            OpKind::Load { place, .. } | OpKind::Store { place, .. } | OpKind::Atomic { place, .. } => {
                Some(place)
            }
            _ => None,
        }
    }
}

/// The operand of an image operation.
macro_rules! image_operand {
    ($kind:expr) => {
        match $kind {
            OpKind::ImageRead { image, .. }
            | OpKind::ImageWrite { image, .. }
            | OpKind::ImageAtomic { image, .. }
            | OpKind::ImageAtomicLoad { image, .. }
            | OpKind::ImageAtomicStore { image, .. }
            | OpKind::ImageFetch { image, .. }
            | OpKind::ImageSample { image, .. }
            | OpKind::ImageQuerySize { image, .. }
            | OpKind::ImageQueryLevels(image)
            | OpKind::ImageQueryLod(image)
            | OpKind::ImageQuerySamples(image) => Some(image),
            _ => None,
        }
    };
}

impl OpKind {
    /// The operand of an image operation.
    pub fn image(&self) -> Option<&ImageOperand> {
        image_operand!(self)
    }

    /// The same, to change it.
    pub fn image_mut(&mut self) -> Option<&mut ImageOperand> {
        image_operand!(self)
    }
}
