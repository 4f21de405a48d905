//! Subgroup operations: OpGroupNonUniform* and the older SPV_KHR_shader_ballot and SPV_KHR_subgroup_vote.
//! Vectors go component by component, booleans through lanes as words.

use super::lowerer::Lowerer;
use super::words::Instruction;
use crate::CompileError;
use crate::ir::{Alu, GroupFold, GroupKind, OpKind, Scalar, Value};
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
        )
}

impl Lowerer<'_> {
    /// All subgroup operations.
    pub fn op_subgroup(&mut self, i: &Instruction<'_>) -> Result<(), CompileError> {
        use Op::*;
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
        let kind = self.group_kind(i, 4, Some(6))?;
        let site = self.site(i, 0);
        let values = self.operand(i, 5)?;
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
}
