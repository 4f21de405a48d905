//! The word stream of a SPIR-V module (SPIR-V 2.3 *Physical Layout*): every instruction that
//! [`Stream::instructions`] gives lies wholly inside the module, so that reading an operand is an error,
//! never a panic.

use crate::CompileError;
use spirv::Op;

/// The largest id bound that is accepted (SPIR-V 2.17 *Universal Limits*).
const MAX_BOUND: u32 = 0x3f_ffff;
/// Words of the header.
const HEADER: usize = 5;
/// OpTypeVectorIdEXT: an OpTypeVector whose count is a constant.
const TYPE_VECTOR_ID: u32 = 5288;
/// OpConstantCompositeReplicateEXT and its likes: one constituent stands for all.
const REPLICATE: std::ops::RangeInclusive<u32> = 4461..=4463;
/// OpUntypedVariableKHR.
pub const UNTYPED_VARIABLE: u32 = 4418;
/// The instructions of SPV_KHR_untyped_pointers that are there: opcode, the typed instruction that they are
/// like, and name without `Op`.
pub const UNTYPED: &[(u32, Op, &str)] = &[
    (4417, Op::TypePointer, "TypeUntypedPointerKHR"),
    (UNTYPED_VARIABLE, Op::Variable, "UntypedVariableKHR"),
    (4419, Op::AccessChain, "UntypedAccessChainKHR"),
    (4420, Op::InBoundsAccessChain, "UntypedInBoundsAccessChainKHR"),
    (4423, Op::PtrAccessChain, "UntypedPtrAccessChainKHR"),
    (4424, Op::InBoundsPtrAccessChain, "UntypedInBoundsPtrAccessChainKHR"),
    (4425, Op::ArrayLength, "UntypedArrayLengthKHR"),
];
/// Instructions that are lowered like older ones: opcode, the older one, and name without `Op`.
pub const NEWER: &[(u32, Op, &str)] = &[
    (TYPE_VECTOR_ID, Op::TypeVector, "TypeVectorIdEXT"),
    (4461, Op::ConstantComposite, "ConstantCompositeReplicateEXT"),
    (4462, Op::SpecConstantComposite, "SpecConstantCompositeReplicateEXT"),
    (4463, Op::CompositeConstruct, "CompositeConstructReplicateEXT"),
];

/// A module's words after the header was checked.
#[derive(Clone, Copy, Default)]
pub(crate) struct Stream<'a> {
    words: &'a [u32],
    /// All ids are below it.
    pub bound: u32,
}

/// An instruction of the module, as words that are read when they are asked for.
#[derive(Clone, Copy)]
pub(crate) struct Instruction<'a> {
    /// Its opcode.
    pub op: Op,
    /// Word offset in the module.
    pub word: u32,
    words: &'a [u32],
    bound: u32,
}

impl<'a> Stream<'a> {
    /// Checks the header.
    pub fn new(words: &'a [u32]) -> Result<Stream<'a>, CompileError> {
        if words.len() < HEADER {
            return Err(CompileError::Invalid(format!("{} words are too few for a module", words.len())));
        }
        if words[0] == spirv::MAGIC_NUMBER.swap_bytes() {
            return Err(CompileError::Invalid("the words are in the other byte order".into()));
        }
        if words[0] != spirv::MAGIC_NUMBER {
            return Err(CompileError::Invalid(format!("magic number {:#010x}", words[0])));
        }
        let (major, minor) = ((words[1] >> 16) & 0xff, (words[1] >> 8) & 0xff);
        if major != 1 || minor > 6 || words[1] & 0xff00_00ff != 0 {
            return Err(CompileError::NotImplemented(format!("SPIR-V version {major}.{minor}")));
        }
        let bound = words[3];
        if bound > MAX_BOUND {
            return Err(CompileError::Limit(format!("id bound {bound}")));
        }
        Ok(Stream { words, bound })
    }

    /// The instruction at a word offset that [`Stream::next`] has visited before.
    pub fn at(&self, word: u32) -> Result<Instruction<'a>, CompileError> {
        let start = word as usize;
        let Some(&first) = self.words.get(start) else {
            return Err(CompileError::Invalid("the module ends inside a function".into()));
        };
        let count = (first >> 16) as usize;
        if count == 0 || start + count > self.words.len() {
            return Err(CompileError::Invalid(format!("word {start}: instruction of {count} words")));
        }
        let opcode = first & 0xffff;
        let newer = NEWER.iter().chain(UNTYPED).find(|(newer, ..)| *newer == opcode).map(|(_, op, _)| *op);
        let op = newer.or_else(|| Op::from_u32(opcode));
        let op =
            op.ok_or_else(|| CompileError::NotImplemented(format!("opcode {opcode} at word {start}")))?;
        Ok(Instruction { op, word, words: &self.words[start..start + count], bound: self.bound })
    }

    /// The first instruction's word offset.
    pub fn start(&self) -> u32 {
        HEADER as u32
    }

    /// Words of the module.
    pub fn end(&self) -> u32 {
        self.words.len() as u32
    }
}

impl<'a> Instruction<'a> {
    /// Number of words, the opcode's included.
    pub fn len(&self) -> usize {
        self.words.len()
    }

    /// Word offset of the next instruction.
    pub fn next(&self) -> u32 {
        self.word + self.words.len() as u32
    }

    /// A literal word; word 0 is the opcode.
    pub fn word(&self, index: usize) -> Result<u32, CompileError> {
        match self.words.get(index) {
            Some(&word) => Ok(word),
            None => Err(self.invalid("has too few operands")),
        }
    }

    pub fn id(&self, index: usize) -> Result<u32, CompileError> {
        let id = self.word(index)?;
        if id == 0 || id >= self.bound {
            return Err(self.invalid(&format!("names id {id}, the bound is {}", self.bound)));
        }
        Ok(id)
    }

    /// It is OpTypeVectorIdEXT.
    pub fn counts_by_id(&self) -> bool {
        self.words[0] & 0xffff == TYPE_VECTOR_ID
    }

    /// It has one constituent for all parts of a composite.
    pub fn replicates(&self) -> bool {
        REPLICATE.contains(&(self.words[0] & 0xffff))
    }

    /// It is one for untyped pointers, lowered like that for typed ones.
    pub fn untyped(&self) -> bool {
        UNTYPED.iter().any(|(opcode, ..)| *opcode == self.words[0] & 0xffff)
    }

    /// Of an access chain, or of the length of an array: the operand that is the pointer. For untyped ones
    /// the type that is pointed to stands before it.
    pub fn base(&self) -> usize {
        if self.untyped() { 4 } else { 3 }
    }

    /// Of an access chain: the first operand of the indices that follow the type of the base.
    pub fn indices(&self) -> usize {
        let element = matches!(self.op, Op::PtrAccessChain | Op::InBoundsPtrAccessChain);
        self.base() + 1 + usize::from(element)
    }

    /// Of a variable: the operand that is its initializer, if it has one.
    pub fn initializer(&self) -> Option<usize> {
        let at = if self.untyped() { 5 } else { 4 };
        (self.len() > at).then_some(at)
    }

    /// The name of the instruction, with `Op`.
    pub fn name(&self) -> String {
        let opcode = self.words[0] & 0xffff;
        match UNTYPED.iter().find(|(untyped, ..)| *untyped == opcode) {
            Some((_, _, name)) => format!("Op{name}"),
            None => format!("Op{:?}", self.op),
        }
    }

    /// The words from `index` on.
    pub fn rest(&self, index: usize) -> &'a [u32] {
        self.words.get(index..).unwrap_or(&[])
    }

    /// A literal string from word `index` on, and the index of the word after it. What is not UTF-8 is
    /// replaced.
    pub fn string(&self, index: usize) -> Result<(String, usize), CompileError> {
        let (bytes, after) = self.literal(index)?;
        Ok((String::from_utf8_lossy(&bytes).into_owned(), after))
    }

    /// The bytes of a literal string from word `index` on, and the index of the word after it.
    pub fn literal(&self, index: usize) -> Result<(Vec<u8>, usize), CompileError> {
        let mut bytes = Vec::new();
        for (k, word) in self.rest(index).iter().enumerate() {
            for byte in word.to_le_bytes() {
                if byte == 0 {
                    return Ok((bytes, index + k + 1));
                }
                bytes.push(byte);
            }
        }
        Err(self.invalid("has a string without an end"))
    }

    /// An error about this instruction.
    pub fn invalid(&self, what: &str) -> CompileError {
        CompileError::Invalid(format!("{} at word {} {what}", self.name(), self.word))
    }

    /// This instruction, or a use of it that `detail` names, is not implemented.
    pub fn refuse(&self, detail: &str) -> CompileError {
        let space = if detail.is_empty() { "" } else { " " };
        CompileError::NotImplemented(format!("{}{space}{detail}", self.name()))
    }

    /// The instruction that an OpSpecConstantOp holds, with the result type and id of the holder.
    pub fn inner(&self) -> Result<Inner, CompileError> {
        let opcode = self.word(3)?;
        let op = Op::from_u32(opcode).ok_or_else(|| self.refuse(&format!("with opcode {opcode}")))?;
        let mut words = vec![opcode, self.word(1)?, self.word(2)?];
        words.extend_from_slice(self.rest(4));
        Ok(Inner { op, words, word: self.word, bound: self.bound })
    }

    /// The result type and result id, for instructions that have them (SPIR-V 2.2.1 *Instructions*).
    pub fn result(&self) -> Result<(Option<u32>, Option<u32>), CompileError> {
        match shape(self.op) {
            Shape::Neither => Ok((None, None)),
            Shape::Result => Ok((None, Some(self.id(1)?))),
            Shape::TypeAndResult => Ok((Some(self.id(1)?), Some(self.id(2)?))),
        }
    }
}

/// An instruction that is not in the stream as such.
pub(crate) struct Inner {
    /// Its opcode.
    pub op: Op,
    words: Vec<u32>,
    word: u32,
    bound: u32,
}

impl Inner {
    /// The instruction.
    pub fn view(&self) -> Instruction<'_> {
        Instruction { op: self.op, word: self.word, words: &self.words, bound: self.bound }
    }
}

/// Which of result type and result id an opcode has.
enum Shape {
    Neither,
    Result,
    TypeAndResult,
}

/// Whether an instruction declares a type that a compute shader can use.
pub(crate) fn declares_type(op: Op) -> bool {
    use Op::*;
    matches!(
        op,
        TypeVoid
            | TypeBool
            | TypeInt
            | TypeFloat
            | TypeVector
            | TypeMatrix
            | TypeImage
            | TypeSampler
            | TypeSampledImage
            | TypeArray
            | TypeRuntimeArray
            | TypeStruct
            | TypePointer
            | TypeFunction
            | TypeCooperativeMatrixKHR
    )
}

fn shape(op: Op) -> Shape {
    use Op::*;
    match op {
        Nop
        | SourceContinued
        | Source
        | SourceExtension
        | Name
        | MemberName
        | Line
        | NoLine
        | Extension
        | MemoryModel
        | EntryPoint
        | ExecutionMode
        | ExecutionModeId
        | Capability
        | ModuleProcessed
        | TypeForwardPointer
        | FunctionEnd
        | Store
        | CopyMemory
        | CopyMemorySized
        | Decorate
        | DecorateId
        | DecorateString
        | MemberDecorate
        | MemberDecorateString
        | GroupDecorate
        | GroupMemberDecorate
        | ImageWrite
        | ControlBarrier
        | MemoryBarrier
        | AtomicStore
        | LoopMerge
        | SelectionMerge
        | Branch
        | BranchConditional
        | Switch
        | Kill
        | Return
        | ReturnValue
        | Unreachable
        | LifetimeStart
        | LifetimeStop
        | TerminateInvocation
        | DemoteToHelperInvocation
        | AssumeTrueKHR
        | AtomicFlagClear
        | EmitVertex
        | EndPrimitive
        | EmitStreamVertex
        | EndStreamPrimitive
        | TraceRayKHR
        | ExecuteCallableKHR
        | IgnoreIntersectionKHR
        | TerminateRayKHR
        | RayQueryInitializeKHR
        | RayQueryTerminateKHR
        | RayQueryGenerateIntersectionKHR
        | RayQueryConfirmIntersectionKHR
        | EmitMeshTasksEXT
        | SetMeshOutputsEXT
        | CooperativeMatrixStoreKHR
        | CooperativeMatrixStoreNV
        | BeginInvocationInterlockEXT
        | EndInvocationInterlockEXT
        | MemoryNamedBarrier => Shape::Neither,
        ExtInstImport
        | String
        | DecorationGroup
        | Label
        | TypeOpaque
        | TypeEvent
        | TypeDeviceEvent
        | TypeReserveId
        | TypeQueue
        | TypePipe
        | TypePipeStorage
        | TypeNamedBarrier
        | TypeCooperativeMatrixNV
        | TypeRayQueryKHR
        | TypeAccelerationStructureKHR
        | TypeHitObjectNV => Shape::Result,
        op if declares_type(op) => Shape::Result,
        _ => Shape::TypeAndResult,
    }
}
