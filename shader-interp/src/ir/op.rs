//! Straight-line operations.

mod image;
mod properties;

pub use self::image::{ImageDim, ImageOperand, ImageSampling};
pub use self::properties::{Effect, Properties, Undefined, Uniform};
use super::alu::Alu;
use super::matrix::MatrixMulAdd;
use super::module::Value;
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

impl Place {
    /// The place without its immediate, and that.
    pub fn apart(mut self) -> (Place, u32) {
        let (Place::Buffer { immediate, .. }
        | Place::Physical { immediate, .. }
        | Place::Workgroup { immediate, .. }
        | Place::Private { immediate, .. }
        | Place::PushConstant { immediate, .. }) = &mut self;
        let taken = std::mem::take(immediate);
        (self, taken)
    }
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
    /// Check mode: of each lane the components that its last followed load read and nothing had written, as
    /// bits from the lowest on, the last one for all others. I32.
    ReadUndefined,
    /// Check mode: the argument is a shadow of `pass::defined`, that of a component of the store to workgroup
    /// memory that follows.
    StoreUndefined {
        /// Which component, from 0 on.
        component: u8,
    },
    /// Check mode: the lanes whose argument, a shadow of `pass::defined`, is not 0 use a value that nothing
    /// has written.
    CheckDefined {
        /// Even if it was loaded along with defined components.
        whole: bool,
    },
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
