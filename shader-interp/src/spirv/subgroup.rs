//! Subgroup operations: OpGroupNonUniform* and the older SPV_KHR_shader_ballot and SPV_KHR_subgroup_vote.
//! Vectors go component by component, booleans through lanes as words.

use super::lowerer::Lowerer;
use super::words::Instruction;
use crate::CompileError;
use crate::ir::{Alu, BuiltIn, GroupFold, GroupKind, OpKind, Scalar, Value};
use crate::ops::group::identity;
use pellucid_memory::access::Site;
use pellucid_memory::scope::Scope;
use spirv::Op;

fn fold(op: Op) -> Option<GroupFold> {
    Some(match op {
        Op::GroupNonUniformIAdd => GroupFold::IAdd,
        Op::GroupNonUniformFAdd => GroupFold::FAdd,
        Op::GroupNonUniformIMul => GroupFold::IMul,
        Op::GroupNonUniformFMul => GroupFold::FMul,
        Op::GroupNonUniformSMin => GroupFold::SMin,
        Op::GroupNonUniformUMin => GroupFold::UMin,
        Op::GroupNonUniformFMin => GroupFold::FMin,
        Op::GroupNonUniformSMax => GroupFold::SMax,
        Op::GroupNonUniformUMax => GroupFold::UMax,
        Op::GroupNonUniformFMax => GroupFold::FMax,
        Op::GroupNonUniformBitwiseAnd => GroupFold::And,
        Op::GroupNonUniformBitwiseOr => GroupFold::Or,
        Op::GroupNonUniformBitwiseXor => GroupFold::Xor,
        Op::GroupNonUniformLogicalAnd => GroupFold::LogicalAnd,
        Op::GroupNonUniformLogicalOr => GroupFold::LogicalOr,
        Op::GroupNonUniformLogicalXor => GroupFold::LogicalXor,
        _ => return None,
    })
}

/// True for the opcodes that [`Lowerer::op_subgroup`] takes.
pub(crate) fn is_subgroup(op: Op) -> bool {
    let number = op as u32;
    (Op::GroupNonUniformElect as u32..=Op::GroupNonUniformQuadSwap as u32).contains(&number)
        || matches!(
            op,
            Op::SubgroupBallotKHR
                | Op::SubgroupFirstInvocationKHR
                | Op::SubgroupAllKHR
                | Op::SubgroupAnyKHR
                | Op::SubgroupAllEqualKHR
                | Op::SubgroupReadInvocationKHR
                | Op::GroupNonUniformRotateKHR
                | Op::GroupNonUniformPartitionNV
        )
}

impl Lowerer<'_> {
    /// All subgroup operations.
    pub fn op_subgroup(&mut self, i: &Instruction<'_>) -> Result<(), CompileError> {
        use Op::*;
        self.sees_convergence();
        if i.op == GroupNonUniformPartitionNV {
            return self.partition(i);
        }
        let old = matches!(
            i.op,
            SubgroupBallotKHR
                | SubgroupFirstInvocationKHR
                | SubgroupAllKHR
                | SubgroupAnyKHR
                | SubgroupAllEqualKHR
                | SubgroupReadInvocationKHR
        );
        let at = if old { 3 } else { 4 };
        if !old && self.scope(i.id(3)?)? != Scope::Subgroup {
            return Err(i.refuse("at another scope than Subgroup"));
        }
        let site = self.site(i, 0);
        let bool = Scalar::Bool;
        let word = [Scalar::I32];
        let four = [Scalar::I32; 4];
        if let Some(fold) = fold(i.op) {
            return self.arithmetic_group(i, fold);
        }
        match i.op {
            GroupNonUniformElect => {
                let value = self.b.one(OpKind::Elect, bool, &[], site);
                self.set(i, &[value])
            }
            GroupNonUniformAll | SubgroupAllKHR | GroupNonUniformAny | SubgroupAnyKHR => {
                let all = matches!(i.op, GroupNonUniformAll | SubgroupAllKHR);
                let predicate = self.scalar_operand(i, at)?;
                let kind = if all { OpKind::VoteAll } else { OpKind::VoteAny };
                let value = self.b.one(kind, bool, &[predicate], site);
                self.set(i, &[value])
            }
            GroupNonUniformAllEqual | SubgroupAllEqualKHR => {
                let mut equal = None;
                for value in self.operand(i, at)? {
                    let value = self.word(value);
                    let here = self.b.one(OpKind::VoteAllEqual, bool, &[value], site);
                    equal = Some(match equal {
                        Some(before) => self.b.alu(Alu::LogicalAnd, bool, &[before, here]),
                        None => here,
                    });
                }
                let equal = equal.ok_or_else(|| i.invalid("has no value"))?;
                self.set(i, &[equal])
            }
            GroupNonUniformBallot | SubgroupBallotKHR => {
                let predicate = self.scalar_operand(i, at)?;
                let mask = self.b.op(OpKind::Ballot, &four, &[predicate], site);
                self.set(i, &mask)
            }
            GroupNonUniformInverseBallot => {
                let mask = self.operand(i, 4)?;
                let value = self.b.one(OpKind::InverseBallot, bool, &mask, site);
                self.set(i, &[value])
            }
            GroupNonUniformBallotBitExtract => {
                let mut arguments = self.operand(i, 4)?;
                arguments.push(self.int_operand(i, 5)?);
                let value = self.b.one(OpKind::BallotBitExtract, bool, &arguments, site);
                self.set(i, &[value])
            }
            GroupNonUniformBallotBitCount => {
                let kind = self.group_kind(i, 4, None)?;
                let mask = self.operand(i, 5)?;
                let value = self.b.op(OpKind::BallotBitCount(kind), &word, &mask, site);
                self.set(i, &value)
            }
            GroupNonUniformBallotFindLSB | GroupNonUniformBallotFindMSB => {
                let mask = self.operand(i, 4)?;
                let low = i.op == GroupNonUniformBallotFindLSB;
                let kind = if low { OpKind::BallotFindLsb } else { OpKind::BallotFindMsb };
                let value = self.b.op(kind, &word, &mask, site);
                self.set(i, &value)
            }
            GroupNonUniformBroadcast | SubgroupReadInvocationKHR => {
                self.lanes(i, at, OpKind::Broadcast, true)
            }
            GroupNonUniformBroadcastFirst | SubgroupFirstInvocationKHR => {
                self.lanes(i, at, OpKind::BroadcastFirst, false)
            }
            GroupNonUniformShuffle => self.lanes(i, at, OpKind::Shuffle, true),
            GroupNonUniformShuffleXor => self.lanes(i, at, OpKind::ShuffleXor, true),
            GroupNonUniformShuffleUp => self.lanes(i, at, OpKind::ShuffleUp, true),
            GroupNonUniformShuffleDown => self.lanes(i, at, OpKind::ShuffleDown, true),
            GroupNonUniformQuadBroadcast => self.lanes(i, at, OpKind::QuadBroadcast, true),
            GroupNonUniformQuadSwap => {
                let direction = self.constant_u32(i.id(5)?)?;
                if direction > 2 {
                    return Err(i.invalid(&format!("has direction {direction}")));
                }
                self.lanes(i, at, OpKind::QuadSwap(direction), false)
            }
            GroupNonUniformRotateKHR => {
                let cluster = if i.len() > 6 { self.cluster_size(i, 6)? } else { 0 };
                self.lanes(i, at, OpKind::Rotate(cluster), true)
            }
            _ => Err(i.refuse("")),
        }
    }

    /// Operations that move values between lanes: one for each component.
    fn lanes(
        &mut self,
        i: &Instruction<'_>,
        at: usize,
        kind: OpKind,
        with_lane: bool,
    ) -> Result<(), CompileError> {
        let site = self.site(i, 0);
        let values = self.operand(i, at)?;
        let lane = if with_lane { Some(self.int_operand(i, at + 1)?) } else { None };
        let mut results: Vec<Value> = Vec::with_capacity(values.len());
        for value in values {
            let is_bool = self.b.scalar(value) == Scalar::Bool;
            let value = self.word(value);
            let mut arguments = vec![value];
            arguments.extend(lane);
            let scalar = self.b.scalar(value);
            let mut result = self.b.one(kind.clone(), scalar, &arguments, site);
            if is_bool {
                let zero = self.b.int(0);
                result = self.b.alu(Alu::INotEqual, Scalar::Bool, &[result, zero]);
            }
            results.push(result);
        }
        self.set(i, &results)
    }

    fn cluster_size(&self, i: &Instruction<'_>, index: usize) -> Result<u32, CompileError> {
        let size = self.constant_u32(i.id(index)?)?;
        if size.is_power_of_two() { Ok(size) } else { Err(i.invalid(&format!("has a cluster of {size}"))) }
    }

    /// The GroupOperation literal at `index`, with the cluster size id at `cluster`.
    fn group_kind(
        &self,
        i: &Instruction<'_>,
        index: usize,
        cluster: Option<usize>,
    ) -> Result<GroupKind, CompileError> {
        Ok(match (i.word(index)?, cluster) {
            (0, _) => GroupKind::Reduce,
            (1, _) => GroupKind::InclusiveScan,
            (2, _) => GroupKind::ExclusiveScan,
            (3, Some(cluster)) => GroupKind::Clustered(self.cluster_size(i, cluster)?),
            (other, _) => return Err(i.refuse(&format!("with group operation {other}"))),
        })
    }

    fn arithmetic_group(&mut self, i: &Instruction<'_>, fold: GroupFold) -> Result<(), CompileError> {
        let values = self.operand(i, 5)?;
        let partitioned = match i.word(4)? {
            6 => Some(None),
            7 => Some(Some(BuiltIn::SubgroupLeMask(0))),
            8 => Some(Some(BuiltIn::SubgroupLtMask(0))),
            _ => None,
        };
        if let Some(scan) = partitioned {
            return self.fold_partitions(i, fold, &values, scan);
        }
        let kind = self.group_kind(i, 4, Some(6))?;
        let site = self.site(i, 0);
        let mut results: Vec<Value> = Vec::with_capacity(values.len());
        for value in values {
            let scalar = self.b.scalar(value);
            let logical =
                matches!(fold, GroupFold::LogicalAnd | GroupFold::LogicalOr | GroupFold::LogicalXor);
            if logical != (scalar == Scalar::Bool) {
                return Err(i.invalid("has a value of a type that it does not take"));
            }
            results.push(self.b.one(OpKind::Group(fold, kind), scalar, &[value], site));
        }
        self.set(i, &results)
    }

    /// True, and the mask of the invocations that are active.
    pub fn active(&mut self, site: Site) -> (Value, Value) {
        let yes = self.b.constant(Scalar::Bool, 1);
        let mask = self.b.op(OpKind::Ballot, &[Scalar::I32; 4], &[yes], site);
        (yes, mask[0])
    }

    /// OpGroupNonUniformPartitionNV: the active invocations that have the same value.
    fn partition(&mut self, i: &Instruction<'_>) -> Result<(), CompileError> {
        let site = self.site(i, 0);
        let values = self.operand(i, 3)?;
        let (yes, active) = self.active(site);
        let mut same = self.b.int(0);
        for lane in 0..self.options.subgroup_size {
            let from = self.b.int(lane);
            let mut equal = yes;
            for &value in &values {
                let value = self.word(value);
                let scalar = self.b.scalar(value);
                let other = self.b.one(OpKind::Broadcast, scalar, &[value, from], site);
                let compare = match scalar {
                    Scalar::F16 | Scalar::F32 | Scalar::F64 => Alu::FOrdEqual,
                    _ => Alu::IEqual,
                };
                let here = self.b.alu(compare, Scalar::Bool, &[value, other]);
                equal = self.b.alu(Alu::LogicalAnd, Scalar::Bool, &[equal, here]);
            }
            let (bit, zero) = (self.b.int(1 << lane), self.b.int(0));
            let bit = self.b.select(equal, bit, zero);
            same = self.b.alu(Alu::Or, Scalar::I32, &[same, bit]);
        }
        // What is not equal to itself is alone.
        let own = self.b.built_in(BuiltIn::SubgroupEqMask(0));
        let same = self.b.alu(Alu::Or, Scalar::I32, &[same, own]);
        let same = self.b.alu(Alu::And, Scalar::I32, &[same, active]);
        let zero = self.b.int(0);
        self.set(i, &[same, zero, zero, zero])
    }

    /// Arithmetic of the partitions of a subgroup, in the order of invocations; `scan` is the mask of those
    /// whose values come in.
    fn fold_partitions(
        &mut self,
        i: &Instruction<'_>,
        fold: GroupFold,
        values: &[Value],
        scan: Option<BuiltIn>,
    ) -> Result<(), CompileError> {
        let site = self.site(i, 0);
        let (_, active) = self.active(site);
        let members = self.operand(i, 6)?[0];
        let mut members = self.b.alu(Alu::And, Scalar::I32, &[members, active]);
        if let Some(mask) = scan {
            let mask = self.b.built_in(mask);
            members = self.b.alu(Alu::And, Scalar::I32, &[members, mask]);
        }
        let mut results: Vec<Value> = Vec::with_capacity(values.len());
        for &value in values {
            let scalar = self.b.scalar(value);
            let word = self.word(value);
            let carried = self.b.scalar(word);
            let mut sum = self.b.constant(carried, identity(fold, scalar));
            for lane in 0..self.options.subgroup_size {
                let (from, bit, zero) = (self.b.int(lane), self.b.int(1 << lane), self.b.int(0));
                let other = self.b.one(OpKind::Broadcast, carried, &[word, from], site);
                let bit = self.b.alu(Alu::And, Scalar::I32, &[members, bit]);
                let inside = self.b.alu(Alu::INotEqual, Scalar::Bool, &[bit, zero]);
                let next = self.b.alu(step(fold), carried, &[sum, other]);
                sum = self.b.select(inside, next, sum);
            }
            if scalar == Scalar::Bool {
                let zero = self.b.int(0);
                sum = self.b.alu(Alu::INotEqual, Scalar::Bool, &[sum, zero]);
            }
            results.push(sum);
        }
        self.set(i, &results)
    }
}

/// The operation that a fold repeats; of booleans as words.
fn step(fold: GroupFold) -> Alu {
    match fold {
        GroupFold::IAdd => Alu::IAdd,
        GroupFold::FAdd => Alu::FAdd,
        GroupFold::IMul => Alu::IMul,
        GroupFold::FMul => Alu::FMul,
        GroupFold::SMin => Alu::SMin,
        GroupFold::UMin => Alu::UMin,
        GroupFold::FMin => Alu::NMin,
        GroupFold::SMax => Alu::SMax,
        GroupFold::UMax => Alu::UMax,
        GroupFold::FMax => Alu::NMax,
        GroupFold::And | GroupFold::LogicalAnd => Alu::And,
        GroupFold::Or | GroupFold::LogicalOr => Alu::Or,
        GroupFold::Xor | GroupFold::LogicalXor => Alu::Xor,
    }
}
