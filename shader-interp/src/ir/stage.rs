//! Stages: the execution models that entry points may have, and the built-in variables of each.

use super::BuiltIn;
use BuiltIn::{
    DeviceIndex, GlobalInvocationId, LocalInvocationId, LocalInvocationIndex, NumSubgroups, NumWorkgroups,
    SubgroupEqMask, SubgroupGeMask, SubgroupGtMask, SubgroupId, SubgroupLeMask, SubgroupLocalInvocationId,
    SubgroupLtMask, SubgroupSize, WorkgroupId,
};
use spirv::{BuiltIn as Name, ExecutionModel};

/// The stage of an entry point. What a launch of it is, [`crate::exec`] says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stage {
    /// GLCompute.
    #[default]
    Compute,
}

/// A built-in variable of SPIR-V and its components.
type Variable = (Name, &'static [BuiltIn]);

macro_rules! vector {
    ($of:ident 3) => {
        &[$of(0), $of(1), $of(2)]
    };
    ($of:ident 4) => {
        &[$of(0), $of(1), $of(2), $of(3)]
    };
}

static COMPUTE: &[Variable] = &[
    (Name::NumWorkgroups, vector!(NumWorkgroups 3)),
    (Name::WorkgroupId, vector!(WorkgroupId 3)),
    (Name::LocalInvocationId, vector!(LocalInvocationId 3)),
    (Name::GlobalInvocationId, vector!(GlobalInvocationId 3)),
    (Name::LocalInvocationIndex, &[LocalInvocationIndex]),
    (Name::SubgroupSize, &[SubgroupSize]),
    (Name::NumSubgroups, &[NumSubgroups]),
    (Name::SubgroupId, &[SubgroupId]),
    (Name::SubgroupLocalInvocationId, &[SubgroupLocalInvocationId]),
    (Name::SubgroupEqMask, vector!(SubgroupEqMask 4)),
    (Name::SubgroupGeMask, vector!(SubgroupGeMask 4)),
    (Name::SubgroupGtMask, vector!(SubgroupGtMask 4)),
    (Name::SubgroupLeMask, vector!(SubgroupLeMask 4)),
    (Name::SubgroupLtMask, vector!(SubgroupLtMask 4)),
    (Name::DeviceIndex, &[DeviceIndex]),
];

impl Stage {
    /// The stage of an execution model; `None` if entry points of it do not run.
    pub fn of(execution_model: u32) -> Option<Stage> {
        match ExecutionModel::from_u32(execution_model) {
            Some(ExecutionModel::GLCompute) => Some(Stage::Compute),
            _ => None,
        }
    }

    /// The components of a built-in variable; `None` if the stage has none of that name.
    pub fn built_in(self, name: Name) -> Option<&'static [BuiltIn]> {
        let variables = match self {
            Stage::Compute => COMPUTE,
        };
        variables.iter().find(|(known, _)| *known == name).map(|(_, components)| *components)
    }
}
