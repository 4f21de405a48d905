//! Values, regions and the shader as a whole.

use super::op::Op;
use super::origin::Origins;
use super::shape::{Shape, Variable};
use super::stage::Stage;
use crate::printf::{FormatError, PrintFormat};
use pellucid_memory::access::{Reference, ShaderRead, Site};
use smallvec::SmallVec;
use std::sync::Arc;

/// The most bytes of private memory that an invocation may have: offsets into that of all lanes are signed
/// words of 32 bits.
pub const MAX_PRIVATE: u32 = 1 << 26;

/// A scalar SSA value: an index into [`Shader::values`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Value(pub u32);

/// A block or loop that can be left or repeated. Unique in a shader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Label(pub u32);

/// Scalar types. Integers have no sign: operations do. Values narrower than 32 bits are zero-extended to 32
/// in registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Scalar {
    Bool,
    I8,
    I16,
    I32,
    I64,
    F16,
    F32,
    F64,
}

impl Scalar {
    /// Bytes in memory; 0 for Bool, which has no representation there.
    pub fn bytes(self) -> u32 {
        match self {
            Scalar::Bool => 0,
            Scalar::I8 => 1,
            Scalar::I16 | Scalar::F16 => 2,
            Scalar::I32 | Scalar::F32 => 4,
            Scalar::I64 | Scalar::F64 => 8,
        }
    }

    /// True for floats.
    pub fn is_float(self) -> bool {
        matches!(self, Scalar::F16 | Scalar::F32 | Scalar::F64)
    }
}

/// Nodes in execution order.
pub type Region = Vec<Node>;

/// Arguments of a leave or repeat, results of a block.
pub type Values = SmallVec<[Value; 4]>;

/// One step of a region.
#[derive(Clone, Debug, PartialEq)]
pub enum Node {
    /// A straight-line operation.
    Op(Op),
    /// Lanes where `condition` holds run `then`, the others `otherwise`; those that reach the end of either
    /// go on after the node.
    If {
        /// A Bool.
        condition: Value,
        /// Region of the true lanes.
        then: Region,
        /// Region of the false lanes, often empty.
        otherwise: Region,
    },
    /// Lanes go on after the node when they leave `label`, or reach the end of `body` if there are no
    /// `results`.
    Block {
        /// The block's name.
        label: Label,
        /// Values defined at its end, one for each argument of each [`Node::Leave`].
        results: Values,
        /// What it holds.
        body: Region,
    },
    /// `body` runs with `parameters` = `initial`, and again for lanes that [`Node::Repeat`] it. Lanes that
    /// reach the end of `body` go on after the node.
    Loop {
        /// The loop's name.
        label: Label,
        /// Values defined at its head.
        parameters: Values,
        /// Their values on entry.
        initial: Values,
        /// What it holds.
        body: Region,
    },
    /// Leave one of the surrounding blocks by the value of an integer (32 or 64 bits wide). Nothing is passed
    /// along: the targets are blocks without results.
    Switch {
        /// The integer.
        selector: Value,
        /// Literal (zero-extended from the selector's width) and block to leave.
        cases: Vec<(u64, Label)>,
        /// The block to leave when no literal matches.
        default: Label,
    },
    /// The active lanes go to the end of the surrounding block `label`. Last in its region.
    Leave {
        /// The block.
        label: Label,
        /// One for each result of the block.
        arguments: Values,
    },
    /// The active lanes go back to the head of the surrounding loop `label`. Last in its region.
    Repeat {
        /// The loop.
        label: Label,
        /// One for each parameter of the loop.
        arguments: Values,
    },
    /// The active lanes end (OpUnreachable, OpTerminateInvocation). Last in its region.
    End,
}

/// What a descriptor variable of the shader is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum DescriptorKind {
    /// VK_DESCRIPTOR_TYPE_INLINE_UNIFORM_BLOCK looks like one to the shader.
    UniformBuffer,
    StorageBuffer,
    Sampler,
    SampledImage,
    CombinedImageSampler,
    StorageImage,
    UniformTexelBuffer,
    StorageTexelBuffer,
}

impl DescriptorKind {
    /// The access type of reads through it.
    pub fn read_as(self) -> ShaderRead {
        match self {
            DescriptorKind::UniformBuffer => ShaderRead::Uniform,
            DescriptorKind::SampledImage
            | DescriptorKind::CombinedImageSampler
            | DescriptorKind::UniformTexelBuffer => ShaderRead::Sampled,
            _ => ShaderRead::Storage,
        }
    }
}

/// A descriptor variable that the entry point uses. Operations name it by its index in [`Shader::bindings`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binding {
    /// `DescriptorSet`.
    pub set: u32,
    /// Its decoration `Binding`, within the set.
    pub binding: u32,
    /// What the variable is.
    pub kind: DescriptorKind,
    /// Array elements; 1 for a single descriptor, 0 for a runtime-sized array.
    pub count: u32,
    /// OpName of the variable or of its block type, or "".
    pub name: String,
    /// True if the shader may write through it.
    pub written: bool,
}

/// A variable in Function or Private storage that was not promoted to values: each lane has its own copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrivateObject {
    /// Offset of the object in the lane's private memory, in bytes, 8-byte aligned.
    pub offset: u32,
    /// Bytes.
    pub size: u32,
    /// OpName, or "".
    pub name: String,
    /// The variable's `Result <id>`; 0 for what the compiler made.
    pub variable: u32,
    /// The call that it belongs to, an index into [`Shader::calls`]; `None` for a Private variable.
    pub call: Option<u32>,
}

/// A function that was inlined, for debug information.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Call {
    /// The function's name (OpName), or "".
    pub function: String,
    /// The call that holds the OpFunctionCall; its own index for the entry point.
    pub caller: u32,
    /// The OpFunctionCall, or the DebugInlinedAt; `Site(0)` for the entry point.
    pub site: Site,
    /// A compiler had inlined it before: its variables are among its caller's.
    pub before: bool,
    /// Its parameters that point to the same place all the time.
    pub parameters: Vec<Parameter>,
}

/// A pointer that a function was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// OpName, or "".
    pub name: String,
    /// The type that it points to, by its `Result <id>`.
    pub ty: u32,
    /// The parts of that.
    pub shape: Arc<Shape>,
    /// The variable that it points into.
    pub of: ParameterOf,
    /// The first byte in that.
    pub byte: u32,
}

/// A variable that a parameter points into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterOf {
    /// An index into [`Shader::private`].
    Private(u32),
    /// An index into [`Shader::workgroup`].
    Workgroup(u32),
}

/// A Workgroup variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkgroupObject {
    /// Byte offset in workgroup memory. Aliased blocks (WorkgroupMemoryExplicitLayoutKHR) share offset 0.
    pub offset: u32,
    /// Bytes.
    pub size: u32,
    /// The reference that accesses through this variable have: its index in [`Shader::workgroup`].
    pub reference: Reference,
    /// Has an OpConstantNull initializer (VK 1.3 shaderZeroInitializeWorkgroupMemory).
    pub zeroed: bool,
    /// OpName, or "".
    pub name: String,
}

/// A scalar of the result of a SPIR-V instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValueName {
    /// The `Result <id>`.
    pub id: u32,
    /// Which scalar of it.
    pub component: u32,
    /// The call that it is a result of, an index into [`Shader::calls`]; `None` for a constant of the module.
    pub call: Option<u32>,
    /// What holds that scalar.
    pub value: Value,
}

/// Where a static instruction comes from.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct SiteInfo {
    /// The SPIR-V instruction in assembly-like text, such as `OpStore %42 %17`.
    pub instruction: String,
    /// Word offset of the instruction in the module.
    pub word: u32,
    /// Index into [`Shader::files`] and 1-based line and column (column 0 if unknown), from OpLine or
    /// NonSemantic.Shader.DebugInfo.
    pub source: Option<SourcePosition>,
    /// Name of the function that holds the instruction (OpName), or "".
    pub function: String,
    /// The variable that an access goes through, such as `partial` (OpName), or "".
    pub variable: String,
    /// With debug information: the call that it is in, an index into [`Shader::calls`].
    pub call: u32,
    /// What a load, a store or an atomic of buffers and variables moves, where it is all of one type.
    pub component: Option<Component>,
}

/// The type of a scalar, or of the components of a vector, matrix, array or structure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Component {
    /// Its representation.
    pub scalar: Scalar,
    /// It is a signed integer.
    pub signed: bool,
}

/// A position in a source file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SourcePosition {
    /// Index into [`Shader::files`].
    pub file: u32,
    /// 1-based.
    pub line: u32,
    /// 1-based, 0 if unknown.
    pub column: u32,
}

/// A source file named by debug information, with its text where the module embeds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFile {
    /// Its name as the module says it.
    pub name: String,
    /// Its text (OpSource or DebugSource), if embedded.
    pub text: Option<String>,
}

/// The language that the module says it was compiled from (OpSource).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[allow(missing_docs)]
pub enum SourceLanguage {
    #[default]
    Unknown,
    Glsl,
    Hlsl,
    Slang,
    Other,
}

/// What depends on which lanes of a subgroup are together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Convergence {
    /// Nothing.
    #[default]
    Unseen,
    /// Instructions of it: operations of the subgroup, control barriers of that scope, cooperative matrices.
    /// Where lanes have parted these give what no program means.
    Seen,
    /// The module declares MaximallyReconvergesKHR or SubgroupUniformControlFlowKHR.
    Promised,
}

impl Convergence {
    /// Looks after which lanes that wait for others to reconverge with them go on alone, for the others may
    /// wait for them: `soon`, or `late` where somebody sees it. Where it is promised they wait for as long as
    /// the others get on.
    pub(crate) fn patience(self, soon: u32, late: u32) -> u32 {
        match self {
            Convergence::Unseen => soon,
            Convergence::Seen => late,
            Convergence::Promised => u32::MAX,
        }
    }
}

/// A whole entry point, specialized and inlined, ready for code generation.
#[derive(Clone, Debug, Default)]
pub struct Shader {
    /// Entry point name.
    pub name: String,
    /// What kind of launch runs it.
    pub stage: Stage,
    /// Types of all values.
    pub values: Vec<Scalar>,
    /// For debug information: the values that results are made of.
    pub names: Vec<ValueName>,
    /// For debug information: the functions that were inlined, the entry point's first.
    pub calls: Vec<Call>,
    /// What runs.
    pub body: Region,
    /// The blocks in it that are bodies of functions: whoever leaves one returns.
    pub functions: Vec<Label>,
    /// Descriptor variables.
    pub bindings: Vec<Binding>,
    /// Workgroup variables.
    pub workgroup: Vec<WorkgroupObject>,
    /// Bytes of workgroup memory.
    pub workgroup_bytes: u32,
    /// Objects in each lane's private memory.
    pub private: Vec<PrivateObject>,
    /// Bytes of private memory of one lane.
    pub private_bytes: u32,
    /// What findings name in modelled code: Function and Private variables with their parts, as the module
    /// declares them, once for each call, and the push constant block.
    pub variables: Vec<Variable>,
    /// In modelled code: the Workgroup variables with their parts, as in `workgroup`.
    pub shared: Vec<Variable>,
    /// In modelled code: the blocks of buffer bindings with their parts, as in `bindings`.
    pub blocks: Vec<Option<Variable>>,
    /// Which of the variables is the push constant block, where its bytes are followed.
    pub push_variable: Option<u32>,
    /// The components that loads may find undefined.
    pub origins: Origins,
    /// The plain loads of memory that invocations share that are followed.
    pub followed_loads: Vec<Site>,
    /// Loops whose turns do not count as back-edges, in ascending order: where no variable has to stay in
    /// memory, they are written out.
    pub written_out: Vec<Label>,
    /// In modelled code, if loops are written out: the shader with these loops, of which findings speak.
    pub rolled: Option<Box<Shader>>,
    /// Bytes of the push constant block that are used, 0 if none.
    pub push_constant_bytes: u32,
    /// `LocalSize`, after specialization.
    pub local_size: [u32; 3],
    /// What four lanes in a row are to derivatives, and which invocations they are.
    pub derivative_group: Option<DerivativeGroup>,
    /// What it depends on which lanes are together.
    pub convergence: Convergence,
    /// The module declares the Vulkan memory model (else it was lowered from GLSL450).
    pub vulkan_memory_model: bool,
    /// Of code: its loads and stores of workgroup memory, if all of them are private; else 0.
    pub private_workgroup: u32,
    /// The same of storage buffers.
    pub private_storage: u32,
    /// Static instructions that touch memory or synchronise, or can be named in a message: indexed by `Site`.
    pub sites: Vec<SiteInfo>,
    /// Source files of the debug information.
    pub files: Vec<SourceFile>,
    /// Source language.
    pub language: SourceLanguage,
    /// Execution modes of the float controls.
    pub float_controls: FloatControls,
    /// The formats of DebugPrintf.
    pub prints: Vec<PrintFormat>,
    /// DebugPrintf instructions that print nothing: instruction, format, and what does not fit.
    pub malformed_prints: Vec<(Site, String, FormatError)>,
}

/// Derivative group execution modes (SPV_KHR_compute_shader_derivatives).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DerivativeGroup {
    /// DerivativeGroupLinearKHR: neighbours in LocalInvocationIndex.
    Linear,
    /// DerivativeGroupQuadsKHR: neighbours in x and y of LocalInvocationId.
    Quads,
}

/// Float controls execution modes (SPV_KHR_float_controls), by width 16, 32, 64.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[allow(missing_docs)]
pub struct FloatControls {
    pub denorm_preserve: [bool; 3],
    pub denorm_flush_to_zero: [bool; 3],
    pub signed_zero_inf_nan_preserve: [bool; 3],
    pub rounding_rte: [bool; 3],
    pub rounding_rtz: [bool; 3],
}
