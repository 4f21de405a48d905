//! Launches: how many invocations there are, in which workgroups and subgroups, and what their built-in
//! variables hold. That is all that the interpreter's core knows of a stage: it runs the subgroups of
//! workgroups by number, and registers are *pinned* to what the launch says.
//!
//! A stage is a variant of [`Stage`], whose table says which built-in variables of SPIR-V it has, and one of
//! [`Launch`], which gives them their values.

use super::context::Context;
use crate::code::{Pin, Program};
use crate::interface::Grid;
use crate::ir::{BuiltIn, Stage};
use pellucid_memory::agent::{Placement, SubgroupIdentity};
use pellucid_memory::system::{LANES, Lanes, Trap};

/// A workgroup of a launch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Workgroup {
    /// Its linear number.
    pub number: u32,
    /// `WorkgroupId`.
    pub id: [u32; 3],
}

/// A launch of an entry point, by its stage.
pub(crate) enum Launch {
    Compute(Compute),
}

impl Launch {
    /// The launch of a grid of workgroups.
    #[inline(always)]
    pub fn new(program: &Program, grid: &Grid) -> Launch {
        match program.shader.stage {
            Stage::Compute => Launch::Compute(Compute::new(program, grid)),
        }
    }

    /// Workgroups.
    ///
    /// # Errors
    /// More than can be numbered.
    pub fn workgroups(&self) -> Result<u64, Trap> {
        let Launch::Compute(compute) = self;
        let total = compute.grid.groups.iter().fold(1u64, |total, &n| total.saturating_mul(u64::from(n)));
        if total > u64::from(u32::MAX) {
            return Err(Trap::NotImplemented(format!("a dispatch of {total} workgroups")));
        }
        Ok(total)
    }

    /// Subgroups of each workgroup.
    #[inline]
    pub fn subgroups(&self) -> u32 {
        let Launch::Compute(compute) = self;
        compute.subgroups
    }

    /// The workgroup of a linear number.
    #[inline]
    pub fn workgroup(&self, number: u32) -> Workgroup {
        let Launch::Compute(compute) = self;
        Workgroup { number, id: compute.workgroup_id(number) }
    }

    /// Who subgroup `subgroup` of a workgroup is.
    #[inline(always)]
    pub fn identity(&self, workgroup: Workgroup, subgroup: u32) -> SubgroupIdentity {
        let Launch::Compute(compute) = self;
        compute.identity(workgroup, subgroup)
    }

    /// Writes the pinned registers that do not depend on the subgroup.
    pub fn pin_constants(&self, context: &Context<'_>, vectors: &mut [Lanes]) {
        let Launch::Compute(compute) = self;
        compute.pin_constants(context, vectors);
    }

    /// Writes the pinned registers that do.
    #[inline(always)]
    pub fn pin_identity(&self, identity: &SubgroupIdentity, vectors: &mut [Lanes]) {
        let Launch::Compute(compute) = self;
        compute.pin_identity(identity, vectors);
    }
}

/// Workgroups of one size in a grid.
pub(crate) struct Compute {
    grid: Grid,
    local_size: [u32; 3],
    placement: Placement,
    /// Of a workgroup.
    invocations: u32,
    subgroups: u32,
    identity_pins: Vec<(usize, BuiltIn)>,
    /// `LocalInvocationId` and `LocalInvocationIndex` of each subgroup, if any register needs them.
    local: Vec<[Lanes; 4]>,
}

impl Compute {
    #[inline(always)]
    fn new(program: &Program, grid: &Grid) -> Compute {
        let local_size = program.shader.local_size;
        let invocations = local_size.iter().product::<u32>();
        let subgroups = invocations.div_ceil(program.subgroup_size);
        let identity_pins = identity_pins(program);
        let needed = identity_pins.iter().any(|(_, builtin)| {
            use BuiltIn::*;
            matches!(builtin, LocalInvocationId(_) | GlobalInvocationId(_) | LocalInvocationIndex)
        });
        let local = if needed { local_ids(program, subgroups) } else { Vec::new() };
        let placement = program.placement();
        Compute { grid: *grid, local_size, placement, invocations, subgroups, identity_pins, local }
    }

    /// `WorkgroupId` of a linear workgroup number.
    fn workgroup_id(&self, workgroup: u32) -> [u32; 3] {
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
    #[inline(always)]
    fn identity(&self, workgroup: Workgroup, subgroup: u32) -> SubgroupIdentity {
        let placement = self.placement;
        let left = self.invocations - placement.place(subgroup, 0);
        let lanes = placement.subgroup_size.min(left);
        let Workgroup { number, id } = workgroup;
        SubgroupIdentity { workgroup: number, workgroup_id: id, subgroup, lanes, placement }
    }

    /// Writes the pinned registers that do not depend on the subgroup.
    fn pin_constants(&self, context: &Context<'_>, vectors: &mut [Lanes]) {
        let size = self.placement.subgroup_size;
        let all = u32::MAX >> (LANES as u32 - size);
        for (register, pin) in vectors.iter_mut().zip(&context.program.pins) {
            match *pin {
                Pin::Word(word) => register.0 = [word; LANES],
                Pin::Push { offset, size } => register.0 = [context.push_constant(offset, size); LANES],
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
    #[inline(always)]
    fn pin_identity(&self, identity: &SubgroupIdentity, vectors: &mut [Lanes]) {
        for (register, builtin) in &self.identity_pins {
            let register = &mut vectors[*register];
            match *builtin {
                BuiltIn::WorkgroupId(k) => register.0 = [identity.workgroup_id[usize::from(k) % 3]; LANES],
                BuiltIn::LocalInvocationId(k) => {
                    *register = self.local[identity.subgroup as usize][usize::from(k) % 3];
                }
                BuiltIn::GlobalInvocationId(k) => {
                    let k = usize::from(k) % 3;
                    let first = identity.workgroup_id[k].wrapping_mul(self.local_size[k]);
                    let local = &self.local[identity.subgroup as usize][k];
                    for (register, local) in register.0.iter_mut().zip(&local.0) {
                        *register = local.wrapping_add(first);
                    }
                }
                BuiltIn::LocalInvocationIndex => {
                    *register = self.local[identity.subgroup as usize][3];
                }
                BuiltIn::SubgroupId => register.0 = [identity.subgroup; LANES],
                _ => {}
            }
        }
    }
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

/// `LocalInvocationId` and `LocalInvocationIndex` of every lane of every subgroup.
fn local_ids(program: &Program, subgroups: u32) -> Vec<[Lanes; 4]> {
    let [width, height, _] = program.shader.local_size;
    let placement = program.placement();
    (0..subgroups)
        .map(|subgroup| {
            let index: [u32; LANES] =
                std::array::from_fn(|j| placement.local_index(placement.place(subgroup, j as u32)));
            [
                Lanes(index.map(|i| i % width)),
                Lanes(index.map(|i| i / width % height)),
                Lanes(index.map(|i| i / (width * height))),
                Lanes(index),
            ]
        })
        .collect()
}
