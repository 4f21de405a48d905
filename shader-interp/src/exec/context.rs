//! What all workgroups of a dispatch share, and the registers that are written before code runs.

use crate::code::{Pin, Program};
use crate::interface::{Descriptor, Grid, PUSH_UNSET, Resources};
use crate::ir::BuiltIn;
use pellucid_memory::agent::SubgroupIdentity;
use pellucid_memory::system::{LANES, Lanes, MemorySystem, MemoryView, Trap};

/// One dispatch.
pub(crate) struct Context<'a> {
    pub program: &'a Program,
    pub grid: Grid,
    pub resources: &'a Resources,
    /// Memory of [`Program::views`].
    pub views: Vec<MemoryView<'a>>,
    pub invocations: u32,
    pub subgroups: u32,
    identity_pins: Vec<(usize, BuiltIn)>,
    /// For each subgroup, if any register needs them.
    local: Vec<[Lanes; 3]>,
}

impl<'a> Context<'a> {
    pub fn new(program: &'a Program, grid: &Grid, resources: &'a Resources) -> Context<'a> {
        let invocations = program.shader.local_size.iter().product::<u32>();
        let mut context = Context {
            program,
            grid: *grid,
            resources,
            views: Vec::new(),
            invocations,
            subgroups: invocations.div_ceil(program.subgroup_size),
            identity_pins: identity_pins(program),
            local: Vec::new(),
        };
        if context
            .identity_pins
            .iter()
            .any(|p| matches!(p.1, BuiltIn::LocalInvocationId(_) | BuiltIn::GlobalInvocationId(_)))
        {
            context.local = local_ids(program, context.subgroups);
        }
        context.views =
            program.views.iter().map(|(binding, element)| context.view(*binding, *element)).collect();
        context
    }

    /// A workgroup begins.
    pub fn begin_workgroup<M: MemorySystem>(&self, memory: &mut M, workgroup: u32) {
        let shader = &self.program.shader;
        if M::MODELLED || shader.workgroup_bytes > 0 {
            let zeroed = shader.workgroup.iter().any(|object| object.zeroed);
            memory.workgroup_begin(workgroup, shader.workgroup_bytes, zeroed);
        }
    }

    /// A workgroup has ended.
    pub fn end_workgroup<M: MemorySystem>(&self, memory: &mut M, workgroup: u32) {
        if M::MODELLED || self.program.shader.workgroup_bytes > 0 {
            memory.workgroup_end(workgroup);
        }
    }

    /// The memory of a buffer descriptor; nothing if there is none.
    pub fn view(&self, binding: u32, element: u32) -> MemoryView<'a> {
        match self.resources.bindings.get(binding as usize).and_then(|b| b.get(element as usize)) {
            Some(Descriptor::Buffer(range)) => range.view(),
            _ => MemoryView::NULL,
        }
    }

    /// A push constant of 1, 2 or 4 bytes; 0 outside the block.
    pub fn push_constant(&self, offset: u32, size: u32) -> u32 {
        let (of, start) = match offset.checked_sub(PUSH_UNSET) {
            Some(start) => (&self.resources.push_unset, start as usize),
            None => (&self.resources.push_constants, offset as usize),
        };
        let Some(bytes) = of.get(start..start + size as usize) else { return 0 };
        bytes.iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte))
    }

    /// `WorkgroupId` of a linear workgroup number.
    pub fn workgroup_id(&self, workgroup: u32) -> [u32; 3] {
        let [x, y, _] = self.grid.groups;
        let id = if y == 1 && self.grid.groups[2] == 1 {
            [workgroup, 0, 0]
        } else {
            let row = workgroup / x;
            [workgroup % x, row % y, row / y]
        };
        std::array::from_fn(|k| self.grid.base[k].wrapping_add(id[k]))
    }

    /// Who subgroup `subgroup` of a workgroup is.
    pub fn identity(&self, workgroup: u32, workgroup_id: [u32; 3], subgroup: u32) -> SubgroupIdentity {
        let size = self.program.subgroup_size;
        SubgroupIdentity {
            workgroup,
            workgroup_id,
            subgroup,
            first_local_index: subgroup * size,
            lanes: size.min(self.invocations - subgroup * size),
        }
    }

    /// Writes the pinned registers that do not depend on the subgroup.
    pub fn pin_constants(&self, vectors: &mut [Lanes]) {
        let size = self.program.subgroup_size;
        let all = u32::MAX >> (LANES as u32 - size);
        for (register, pin) in vectors.iter_mut().zip(&self.program.pins) {
            match *pin {
                Pin::Word(word) => register.0 = [word; LANES],
                Pin::Push { offset, size } => register.0 = [self.push_constant(offset, size); LANES],
                Pin::BuiltIn(builtin) => {
                    let first = |k: u8, mask: &dyn Fn(u32) -> u32| {
                        std::array::from_fn(|j| if k == 0 { mask(j as u32) & all } else { 0 })
                    };
                    match builtin {
                        BuiltIn::NumWorkgroups(k) => {
                            register.0 = [self.grid.groups[usize::from(k) % 3]; LANES]
                        }
                        BuiltIn::SubgroupSize => register.0 = [size; LANES],
                        BuiltIn::NumSubgroups => register.0 = [self.subgroups; LANES],
                        BuiltIn::SubgroupLocalInvocationId => register.0 = std::array::from_fn(|j| j as u32),
                        BuiltIn::SubgroupEqMask(k) => register.0 = first(k, &|j| 1 << j),
                        BuiltIn::SubgroupGeMask(k) => register.0 = first(k, &|j| u32::MAX << j),
                        BuiltIn::SubgroupGtMask(k) => register.0 = first(k, &|j| (u32::MAX << j) << 1),
                        BuiltIn::SubgroupLeMask(k) => register.0 = first(k, &|j| !((u32::MAX << j) << 1)),
                        BuiltIn::SubgroupLtMask(k) => register.0 = first(k, &|j| !(u32::MAX << j)),
                        BuiltIn::DeviceIndex => register.0 = [0; LANES],
                        BuiltIn::WorkgroupId(_)
                        | BuiltIn::LocalInvocationId(_)
                        | BuiltIn::GlobalInvocationId(_)
                        | BuiltIn::LocalInvocationIndex
                        | BuiltIn::SubgroupId => {}
                    }
                }
            }
        }
    }

    /// Writes the pinned registers that do.
    #[inline]
    pub fn pin_identity(&self, identity: &SubgroupIdentity, vectors: &mut [Lanes]) {
        for (register, builtin) in &self.identity_pins {
            let register = &mut vectors[*register];
            match *builtin {
                BuiltIn::WorkgroupId(k) => register.0 = [identity.workgroup_id[usize::from(k) % 3]; LANES],
                BuiltIn::LocalInvocationId(k) => {
                    *register = self.local[identity.subgroup as usize][usize::from(k) % 3];
                }
                BuiltIn::GlobalInvocationId(k) => {
                    let k = usize::from(k) % 3;
                    let first = identity.workgroup_id[k].wrapping_mul(self.program.shader.local_size[k]);
                    let local = &self.local[identity.subgroup as usize][k];
                    for (register, local) in register.0.iter_mut().zip(&local.0) {
                        *register = local.wrapping_add(first);
                    }
                }
                BuiltIn::LocalInvocationIndex => {
                    register.0 = std::array::from_fn(|j| identity.first_local_index + j as u32);
                }
                BuiltIn::SubgroupId => register.0 = [identity.subgroup; LANES],
                _ => {}
            }
        }
    }
}

/// Workgroups of a dispatch.
///
/// # Errors
/// More than can be numbered.
pub(crate) fn workgroups(grid: &Grid) -> Result<u64, Trap> {
    let total = grid.groups.iter().fold(1u64, |total, &n| total.saturating_mul(u64::from(n)));
    if total > u64::from(u32::MAX) {
        return Err(Trap::NotImplemented(format!("a dispatch of {total} workgroups")));
    }
    Ok(total)
}

/// The pinned registers that depend on the subgroup.
fn identity_pins(program: &Program) -> Vec<(usize, BuiltIn)> {
    let varies = |builtin: &BuiltIn| {
        matches!(
            builtin,
            BuiltIn::WorkgroupId(_)
                | BuiltIn::LocalInvocationId(_)
                | BuiltIn::GlobalInvocationId(_)
                | BuiltIn::LocalInvocationIndex
                | BuiltIn::SubgroupId
        )
    };
    let pins = program.pins.iter().enumerate();
    pins.filter_map(|(k, pin)| match pin {
        Pin::BuiltIn(builtin) if varies(builtin) => Some((k, *builtin)),
        _ => None,
    })
    .collect()
}

/// `LocalInvocationId` of every lane of every subgroup.
fn local_ids(program: &Program, subgroups: u32) -> Vec<[Lanes; 3]> {
    let [width, height, _] = program.shader.local_size;
    let lanes = |first: u32, f: &dyn Fn(u32) -> u32| Lanes(std::array::from_fn(|j| f(first + j as u32)));
    (0..subgroups)
        .map(|subgroup| {
            let first = subgroup * program.subgroup_size;
            [
                lanes(first, &|i| i % width),
                lanes(first, &|i| i / width % height),
                lanes(first, &|i| i / (width * height)),
            ]
        })
        .collect()
}
