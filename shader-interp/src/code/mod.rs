//! Code: fixed-size instructions and the generator that makes them of the intermediate representation.
//!
//! Stages: [`simplify`] (equal operations merged, loop invariants moved), [`uniform`] (which values and
//! branches are uniform), [`plan`] (which operations are fused), [`lower`] (the tree becomes a line of
//! instructions over virtual registers), [`allocate`] (registers), and [`verify`], after which the executor
//! indexes registers and tables unchecked.
//!
//! **Registers.** All values of 32 bits or less live in one vector register (a word for each lane), 64-bit
//! values in two, Bool values in a mask register (a bit for each lane). Operations compute all 32 lanes
//! whatever the running mask, so a register that other lanes still need is never given away: live intervals
//! are taken on the order of the instructions, stretched over loops, and a value that lanes carry out of a
//! loop at different times is copied under the mask to a *home* register that lives for the whole loop.
//! Constants, built-in variables and push constants are *pinned*: registers that are written before the code
//! runs and never by it.
//!
//! **Control: park and join.** One mask runs. Lanes that have to wait stand in a *park* register, which
//! belongs to a join: `Split` parks the lanes where a condition fails, `Park` all running lanes; `Join` takes
//! the parked lanes back. An empty mask goes on to the next join that may have lanes. Nothing else is saved,
//! so the lanes of a divergent spin can be told apart from those that wait, see [`crate::exec`].

mod access;
mod allocate;
mod barrier;
mod control;
pub mod debug;
#[allow(clippy::neg_cmp_op_on_partial_ord, clippy::double_comparisons)]
pub mod isa;
mod lower;
mod plan;
pub(crate) mod select;
mod simplify;
mod uniform;
pub mod verify;

pub use isa::{Inst, Opcode, OperandKind};
pub(crate) use verify::Marked;
pub use verify::Program;

use crate::error::CompileError;
use crate::interface::CompileOptions;
use crate::ir::{BuiltIn, DerivativeGroup, GroupFold, GroupKind, MatrixMulAdd, Scalar, Shader};
use crate::ops::image::ImageInstruction;
use crate::outline::ShaderOutline;
use pellucid_memory::access::{Access, AtomicOp, Reference, Site};
use pellucid_memory::agent::Placement;
use pellucid_memory::finding::FindingId;
use pellucid_memory::scope::{Scope, Semantics, StorageClasses};
use smallvec::SmallVec;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Findings that instructions name by their place here.
pub const NOTES: [FindingId; 6] = [
    FindingId::DivideByZero,
    FindingId::ShiftOutOfRange,
    FindingId::ConversionOutOfRange,
    FindingId::CooperativeMatrixDivergence,
    FindingId::DerivativeDivergence,
    FindingId::ImplicitDerivativeDivergence,
];

/// What the generator makes of an entry point: metadata and code. As a [`Program`] it may be run.
#[derive(Clone, Debug)]
pub struct Code {
    /// Metadata (bindings, workgroup objects, sites, local size ...); the body is empty.
    pub shader: Shader,
    /// Subgroup size: a power of two, 1 to 32.
    pub subgroup_size: u32,
    /// Generated for a modelled memory system.
    pub modelled: bool,
    /// Instructions; execution starts at the first.
    pub code: Vec<Inst>,
    /// Memory operations.
    pub memory: Vec<MemoryEntry>,
    /// Memory barriers and control barriers, by the immediate of their instructions.
    pub barriers: Vec<BarrierEntry>,
    /// Image operations.
    pub images: Vec<ImageEntry>,
    /// DebugPrintf instructions.
    pub prints: Vec<PrintEntry>,
    /// Descriptors that the code names by slot: index into `Shader::bindings` and array element.
    pub views: Vec<(u32, u32)>,
    /// What the first vector registers hold when the code starts.
    pub pins: Vec<Pin>,
    /// Vector registers of a subgroup, the pinned ones included.
    pub vectors: u32,
    /// Mask registers of a subgroup, the park registers included.
    pub masks: u32,
    /// The first `parks` mask registers are park registers; the next two are pinned: no lanes, all lanes.
    pub parks: u32,
    /// Back-edges in ascending order of instruction, each with the join where lanes that do not take it may
    /// wait.
    pub back_edges: Vec<(u32, u32)>,
    /// Reductions and scans.
    pub groups: Vec<(GroupFold, GroupKind, Scalar)>,
    /// Products of cooperative matrices.
    pub matrices: Vec<MatrixEntry>,
    /// There is a workgroup control barrier.
    pub workgroup_barriers: bool,
    /// For a modelled memory system: what the shader's text says about its instructions.
    pub outline: Option<Arc<ShaderOutline>>,
    /// With [`CompileOptions::debug`]: where values and instructions are.
    pub debug: Option<Arc<debug::DebugInfo>>,
}

impl Code {
    /// What a vector register holds in every lane, if that is a constant.
    pub fn constant(&self, register: u32) -> Option<u32> {
        match self.pins.get(register as usize)? {
            Pin::Word(word) => Some(*word),
            _ => None,
        }
    }

    /// Which lane each invocation of a workgroup is.
    pub fn placement(&self) -> Placement {
        let [width, height, _] = self.shader.local_size;
        let quads = self.shader.derivative_group == Some(DerivativeGroup::Quads);
        Placement { subgroup_size: self.subgroup_size, quads: quads.then_some([width, height]) }
    }

    /// The storage classes of the semantics of atomics, memory barriers and control barriers, ascending.
    pub fn semantics(&self) -> Vec<StorageClasses> {
        let mut classes: Vec<StorageClasses> = self
            .accesses()
            .flat_map(|access| [access.semantics.classes, access.unequal.classes])
            .chain(self.barriers.iter().map(|barrier| barrier.semantics.classes))
            .filter(|classes| !classes.is_empty())
            .collect();
        classes.sort();
        classes.dedup();
        classes
    }

    /// Whether subgroups may meet at barriers of their own, or at one that orders inside of each alone.
    pub fn has_subgroup_barriers(&self) -> bool {
        self.barriers.iter().any(BarrierEntry::is_of_subgroups)
    }

    /// Whether control barriers of whole workgroups alone order accesses of different invocations.
    pub fn barriers_alone(&self) -> bool {
        barriers_alone(self.accesses(), &self.barriers)
    }

    /// Whether no access of workgroup memory is private.
    pub fn has_no_private_workgroup(&self) -> bool {
        self.plain_workgroup().all(|entry| entry.access.non_private)
    }

    /// The loads and stores of workgroup memory that are not atomic.
    fn plain_workgroup(&self) -> impl Iterator<Item = &MemoryEntry> {
        let workgroup = |access: &Access| access.class.intersects(StorageClasses::WORKGROUP);
        self.memory.iter().filter(move |entry| workgroup(&entry.access) && entry.access.atomic.is_none())
    }

    /// Those of storage buffers.
    fn plain_storage(&self) -> impl Iterator<Item = &MemoryEntry> {
        let buffer = |access: &Access| access.class == StorageClasses::UNIFORM && access.is_of_storage();
        self.memory.iter().filter(move |entry| buffer(&entry.access) && entry.access.atomic.is_none())
    }

    fn accesses(&self) -> impl Iterator<Item = &Access> {
        let buffers = self.memory.iter().map(|entry| &entry.access);
        buffers.chain(self.images.iter().map(|entry| entry.instruction.access()))
    }

    /// Whether nothing orders its stores to buffers and images before it ends, so that they may become
    /// visible in any order.
    pub(crate) fn streams(&self) -> bool {
        self.semantics().iter().all(|classes| StorageClasses::WORKGROUP.contains(*classes))
    }

    /// Calls `each` with the vector registers that `inst` reads by the entry which it names.
    pub(crate) fn listed_reads(&self, inst: &Inst, mut each: impl FnMut(u32)) {
        let entry = inst.imm as usize;
        match inst.op.shape()[5] {
            OperandKind::Memory => {
                let entry = &self.memory[entry];
                entry.values.iter().chain(&entry.comparator).for_each(|register| each(*register));
                each(entry.offset);
                match entry.space {
                    Space::Element { element, .. } => each(element),
                    Space::Physical => each(entry.offset + 1),
                    _ => {}
                }
            }
            OperandKind::Image => {
                let entry = &self.images[entry];
                entry.arguments.iter().for_each(|register| each(*register));
                for element in [Some(entry.element), entry.sampler].into_iter().flatten() {
                    if let ElementIndex::Register(register) = element {
                        each(register);
                    }
                }
            }
            OperandKind::Print => self.prints[entry].registers.iter().for_each(|register| each(*register)),
            OperandKind::Matrix => {
                self.matrices[entry].operands.iter().flatten().for_each(|register| each(*register));
            }
            _ => {}
        }
    }
}

/// What a pinned register holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pin {
    /// A constant word in every lane.
    Word(u32),
    /// A push constant of 1, 2 or 4 bytes.
    Push {
        /// Byte offset.
        offset: u32,
        /// Bytes.
        size: u32,
    },
    /// A built-in variable's component.
    BuiltIn(BuiltIn),
}

/// The memory that an access goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    /// The descriptor in this slot of [`Code::views`].
    View(u16),
    /// A descriptor array, indexed by a register.
    Element {
        /// Index into `Shader::bindings`.
        binding: u32,
        /// Register.
        element: u32,
    },
    /// Workgroup memory.
    Workgroup(Reference),
    /// Physical addresses; the offset register is the first of the pair.
    Physical,
    /// Private memory: the object's bytes.
    Private {
        /// First byte.
        start: u32,
        /// One past the last byte.
        end: u32,
    },
    /// Push constants.
    Push,
}

/// One memory operation. Registers are numbers of vector registers.
#[derive(Clone, Debug, PartialEq)]
pub struct MemoryEntry {
    /// The static instruction.
    pub site: Site,
    /// Its width, and its memory operands.
    pub access: Access,
    /// The kind of memory, and the descriptor or view that it is reached through.
    pub space: Space,
    /// Register of byte offsets (Physical: of addresses).
    pub offset: u32,
    /// The offsets are shifted left by this many bits first.
    pub shift: u32,
    /// Added to the offsets after that.
    pub immediate: u32,
    /// First result register.
    pub result: u32,
    /// Registers of the values, low words before high words.
    pub values: SmallVec<[u32; 4]>,
    /// Registers of the comparator of a compare-exchange.
    pub comparator: SmallVec<[u32; 2]>,
    /// The operation of a read-modify-write.
    pub atomic: Option<AtomicOp>,
    /// A scheduling point of the modelled mode: atomic, or with availability or visibility.
    pub visible: bool,
}

impl MemoryEntry {
    /// Whether it may write: a store or a read-modify-write.
    pub fn writes(&self) -> bool {
        !self.values.is_empty() || self.atomic.is_some()
    }
}

/// A memory barrier or a control barrier, as the program's table has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BarrierEntry {
    /// The static instruction.
    pub site: Site,
    /// Execution scope; `None` for a memory barrier.
    pub execution: Option<Scope>,
    /// Memory scope.
    pub memory: Scope,
    /// What it orders, and of which storage classes.
    pub semantics: Semantics,
    /// Park registers of lanes that have returned from the shader, at a control barrier.
    pub returned: SmallVec<[u16; 2]>,
    /// Of a memory barrier: whether it is beside a control barrier of the workgroup.
    pub beside: Beside,
    /// Of a control barrier of the workgroup: the memory barriers directly behind it, by their numbers.
    pub behind: SmallVec<[u32; 1]>,
}

/// Where a memory barrier is, with nothing but others in between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beside {
    /// Directly before a control barrier that does as much ([`BarrierEntry::covers`]): it does nothing.
    Covered,
    /// Directly before a control barrier of the workgroup.
    Before,
    /// Directly behind one: nothing comes to it but what has passed that one.
    Behind,
    /// Neither.
    Apart,
}

/// See [`Code::barriers_alone`]. Atomics order others by their semantics, or by fences around them. Fences
/// order others at a control barrier as well, which says nothing more where all of these order as much.
fn barriers_alone<'a>(accesses: impl Iterator<Item = &'a Access>, barriers: &[BarrierEntry]) -> bool {
    let (mut atomics, mut synchronises) = (false, false);
    for access in accesses.filter(|access| access.atomic.is_some()) {
        atomics = true;
        synchronises |= !(access.semantics.classes | access.unequal.classes).is_empty();
    }
    let effective = barriers.iter().filter(|entry| entry.beside != Beside::Covered);
    let (fences, controls): (Vec<_>, Vec<_>) = effective.partition(|entry| entry.execution.is_none());
    let fenced = fences.iter().fold(StorageClasses::empty(), |all, fence| all | fence.semantics.classes);
    let covered = || controls.iter().all(|barrier| barrier.orders_workgroup(fenced));
    let of_subgroups = barriers.iter().any(BarrierEntry::is_of_subgroups);
    !synchronises && !of_subgroups && (fences.is_empty() || (!atomics && covered()))
}

impl BarrierEntry {
    /// A control barrier of each subgroup, or one that orders inside of each alone.
    fn is_of_subgroups(&self) -> bool {
        let near = self.memory < Scope::Workgroup && !self.semantics.classes.is_empty();
        self.execution.is_some_and(|scope| scope < Scope::Workgroup || near)
    }

    /// A control barrier of the workgroup that orders all of its accesses to these classes.
    fn orders_workgroup(&self, all: StorageClasses) -> bool {
        let Semantics { acquire, release, classes, .. } = self.semantics;
        self.is_workgroup() && self.memory >= Scope::Workgroup && acquire && release && classes.contains(all)
    }

    /// Whether this control barrier does all that a memory barrier directly before it does: a barrier of
    /// workgroup memory, which nobody outside of the workgroup accesses, so that a wider scope adds nothing.
    pub fn covers(&self, fence: &BarrierEntry) -> bool {
        let (own, other) = (&self.semantics, &fence.semantics);
        StorageClasses::WORKGROUP.contains(other.classes)
            && self.orders_workgroup(other.classes)
            && (own.make_available || !other.make_available)
            && (own.make_visible || !other.make_visible)
    }

    /// A control barrier at which a strand waits for the others of its workgroup.
    pub fn is_workgroup(&self) -> bool {
        self.execution == Some(Scope::Workgroup)
    }
}

/// One image operation. Registers are numbers of vector registers.
#[derive(Clone, Debug, PartialEq)]
pub struct ImageEntry {
    /// The static instruction.
    pub site: Site,
    /// The SPIR-V operation, with the image and the image operands that it uses.
    pub instruction: ImageInstruction,
    /// The array element of the image.
    pub element: ElementIndex,
    /// The array element of a separate sampler.
    pub sampler: Option<ElementIndex>,
    /// Registers of the arguments, low words before high words.
    pub arguments: SmallVec<[u32; 8]>,
    /// First result register and the number of result registers.
    pub results: (u32, u32),
    /// A scheduling point of the modelled mode.
    pub visible: bool,
}

/// One DebugPrintf instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrintEntry {
    /// The static instruction.
    pub site: Site,
    /// Index into `Shader::prints`.
    pub format: u32,
    /// Registers: WorkgroupId z, y and x, SubgroupId, then the arguments, low words before high words.
    pub registers: Vec<u32>,
}

/// One product of cooperative matrices. Registers are numbers of vector registers.
#[derive(Clone, Debug, PartialEq)]
pub struct MatrixEntry {
    /// What is computed.
    pub product: MatrixMulAdd,
    /// Registers of the components of A, B and C, low words before high words.
    pub operands: [Vec<u32>; 3],
    /// Those of the result's components.
    pub results: Vec<u32>,
}

/// An array element of a descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ElementIndex {
    /// Known.
    Constant(u32),
    /// In a vector register.
    Register(u32),
}

/// How many instructions have these accesses, if all are private; else 0.
fn private<'a>(accesses: impl Iterator<Item = &'a MemoryEntry>) -> u32 {
    let mut sites = BTreeSet::new();
    for entry in accesses {
        if entry.access.non_private {
            return 0;
        }
        sites.insert(entry.site);
    }
    sites.len() as u32
}

/// Generates code for `shader`.
///
/// # Errors
/// [`CompileError::NotImplemented`] names an operation that there is no code for.
pub fn generate(mut shader: Shader, options: &CompileOptions) -> Result<Program, CompileError> {
    if !options.subgroup_size.is_power_of_two() || options.subgroup_size > 32 {
        return Err(CompileError::Invalid(format!("subgroup size {}", options.subgroup_size)));
    }
    let size: u64 = shader.local_size.iter().map(|&n| u64::from(n)).product();
    if size == 0 || size > 4096 {
        return Err(CompileError::Limit(format!("workgroup of {size} invocations")));
    }
    simplify::simplify(&mut shader);
    let uniformity = uniform::analyse(&shader, options.modelled);
    let plan = plan::plan(&shader, &uniformity);
    let mut rolled = shader.rolled.take();
    rolled.iter_mut().for_each(|rolled| simplify::simplify(rolled));
    let told_of = rolled.as_deref().unwrap_or(&shader);
    let outline = options.modelled.then(|| Arc::new(ShaderOutline::new(told_of, options.subgroup_size)));
    let lowered = lower::lower(&shader, &uniformity, &plan, options)?;
    let mut program = allocate::allocate(lowered)?;
    shader.body = Vec::new();
    shader.values = Vec::new();
    shader.names = Vec::new();
    shader.private_workgroup = private(program.plain_workgroup());
    shader.private_storage = private(program.plain_storage());
    program.shader = shader;
    program.outline = outline;
    program.subgroup_size = options.subgroup_size;
    program.modelled = options.modelled;
    Program::new(program)
}

impl std::fmt::Display for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (k, pin) in self.pins.iter().enumerate() {
            writeln!(f, "      v{k} = {pin:?}")?;
        }
        for (k, inst) in self.code.iter().enumerate() {
            write!(f, "{k:5} {inst}")?;
            let shape = inst.op.shape();
            let entry = if shape[4] == OperandKind::Memory { Some(u32::from(inst.aux)) } else { None }
                .or((shape[5] == OperandKind::Memory).then_some(inst.imm));
            if let Some(entry) = entry.and_then(|k| self.memory.get(k as usize)) {
                write!(
                    f,
                    "   {:?} offset v{} << {} + {}",
                    entry.space, entry.offset, entry.shift, entry.immediate
                )?;
                write!(f, ", result v{}, values {:?}", entry.result, entry.values)?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORKGROUP: StorageClasses = StorageClasses::WORKGROUP;

    fn entry(execution: Option<Scope>, memory: Scope, classes: StorageClasses) -> BarrierEntry {
        let semantics = Semantics { acquire: true, release: true, classes, ..Semantics::RELAXED };
        BarrierEntry {
            site: Site(1),
            execution,
            memory,
            semantics,
            returned: SmallVec::new(),
            beside: Beside::Apart,
            behind: SmallVec::new(),
        }
    }

    fn atomic(classes: StorageClasses) -> Access {
        let semantics = Semantics { release: true, classes, ..Semantics::RELAXED };
        Access { atomic: Some(Scope::Workgroup), semantics, ..Access::plain(WORKGROUP, 4, 1) }
    }

    #[test]
    fn barriers_order_alone_where_nothing_else_does() {
        let whole = entry(Some(Scope::Workgroup), Scope::Workgroup, WORKGROUP);
        let fence = entry(None, Scope::Workgroup, WORKGROUP);
        let plain = Access::plain(WORKGROUP, 4, 1);
        let (relaxed, releasing) = (atomic(StorageClasses::empty()), atomic(WORKGROUP));
        let alone = |accesses: &[Access], barriers: &[&BarrierEntry]| {
            let barriers: Vec<_> = barriers.iter().copied().cloned().collect();
            barriers_alone(accesses.iter(), &barriers)
        };
        assert!(alone(&[plain], &[]) && alone(&[plain, relaxed], &[&whole]));
        assert!(alone(&[plain], &[&fence, &whole]), "the barrier orders what the fence may");
        assert!(!alone(&[plain, releasing], &[&whole]));
        assert!(!alone(&[plain, relaxed], &[&fence, &whole]), "a fence and a relaxed atomic release");
        let nothing = BarrierEntry { semantics: Semantics::RELAXED, ..whole.clone() };
        assert!(!alone(&[plain], &[&fence, &nothing]), "a control barrier carries what a fence released");
        assert!(alone(&[plain], &[&nothing]));
        let everything = entry(None, Scope::Device, WORKGROUP | StorageClasses::UNIFORM);
        assert!(!alone(&[plain], &[&everything, &whole]));
        let covered = BarrierEntry { beside: Beside::Covered, ..fence.clone() };
        assert!(alone(&[plain, relaxed], &[&covered, &whole]), "it does nothing");
        let near = entry(Some(Scope::Workgroup), Scope::Subgroup, WORKGROUP);
        let of_subgroup = entry(Some(Scope::Subgroup), Scope::Subgroup, StorageClasses::empty());
        assert!(!alone(&[plain], &[&near]) && !alone(&[plain], &[&of_subgroup]));
    }
    #[test]
    fn a_control_barrier_covers_what_it_does_as_well() {
        let whole = entry(Some(Scope::Workgroup), Scope::Workgroup, WORKGROUP);
        let covers = |change: &dyn Fn(&mut Semantics), scope| {
            let mut fence = entry(None, scope, WORKGROUP);
            change(&mut fence.semantics);
            whole.covers(&fence)
        };
        assert!(covers(&|_| {}, Scope::Device) && covers(&|fence| fence.acquire = false, Scope::Workgroup));
        assert!(!covers(&|fence| fence.make_available = true, Scope::Workgroup));
        assert!(!covers(&|fence| fence.make_visible = true, Scope::Workgroup));
        assert!(!covers(&|fence| fence.classes |= StorageClasses::UNIFORM, Scope::Workgroup));
        let fence = entry(None, Scope::Workgroup, WORKGROUP);
        let wide = entry(Some(Scope::Workgroup), Scope::Device, WORKGROUP | StorageClasses::UNIFORM);
        let buffers = entry(None, Scope::Workgroup, StorageClasses::UNIFORM);
        assert!(wide.covers(&fence) && !wide.covers(&buffers), "other workgroups access buffers");
        let releases = Semantics { acquire: false, ..whole.semantics };
        assert!(!BarrierEntry { semantics: releases, ..whole.clone() }.covers(&fence));
        let near = entry(Some(Scope::Workgroup), Scope::Subgroup, WORKGROUP);
        let of_subgroup = entry(Some(Scope::Subgroup), Scope::Workgroup, WORKGROUP);
        assert!(!near.covers(&fence) && !of_subgroup.covers(&fence));
    }
}
