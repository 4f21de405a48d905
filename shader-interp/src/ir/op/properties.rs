//! What holds of each operation, for passes and analyses: one row for each kind.

use super::super::alu::Alu;
use super::super::matrix::MatrixMulAdd;
use super::{BuiltIn, GroupFold, GroupKind, OpKind, Place};

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
            OpKind::ReadUndefined => (Fixed, Varying, Varying, Dropped),
            OpKind::Print(_)
            | OpKind::Note(_)
            | OpKind::NoteDiverging
            | OpKind::StoreUndefined { .. }
            | OpKind::CheckDefined { .. } => (Fixed, Varying, Varying, Dropped),
        };
        Properties { effect, subgroup, workgroup, undefined }
    }

    /// True if it can be dropped when its results are not used.
    pub fn is_droppable(&self) -> bool {
        self.properties().effect != Effect::Fixed
    }
}
