//! Derivatives (*Derivative Operations*): differences between the values of a quad's invocations, which are
//! four lanes in a row: see [`pellucid_memory::agent::Placement`].

use super::lowerer::Lowerer;
use super::words::Instruction;
use crate::CompileError;
use crate::ir::{Alu, BuiltIn, OpKind, Scalar, Value};
use pellucid_memory::access::Site;
use pellucid_memory::finding::FindingId;
use spirv::Op;

/// A coordinate of a quad, as the bit of a lane's number that tells its neighbours along it apart.
#[derive(Clone, Copy)]
pub(crate) enum Axis {
    X = 1,
    Y = 2,
}

/// True for the opcodes that [`Lowerer::op_derivative`] takes.
pub(crate) fn is_derivative(op: Op) -> bool {
    (Op::DPdx as u32..=Op::FwidthCoarse as u32).contains(&(op as u32))
}

impl Lowerer<'_> {
    /// OpDPdx, OpDPdy, OpFwidth, fine and coarse. Those that are neither are fine.
    pub fn op_derivative(&mut self, i: &Instruction<'_>) -> Result<(), CompileError> {
        self.check_quad(i, FindingId::DerivativeDivergence)?;
        let values = self.operand(i, 3)?;
        if values.iter().any(|&value| self.b.scalar(value) != Scalar::F32) {
            return Err(i.invalid("is not of 32-bit floats"));
        }
        let coarse = matches!(i.op, Op::DPdxCoarse | Op::DPdyCoarse | Op::FwidthCoarse);
        let site = self.site(i, 0);
        let mut results = Vec::with_capacity(values.len());
        for value in values {
            results.push(match i.op {
                Op::DPdx | Op::DPdxFine | Op::DPdxCoarse => self.derivative(value, Axis::X, coarse, site),
                Op::DPdy | Op::DPdyFine | Op::DPdyCoarse => self.derivative(value, Axis::Y, coarse, site),
                _ => {
                    let [x, y] = [Axis::X, Axis::Y].map(|axis| {
                        let change = self.derivative(value, axis, coarse, site);
                        self.b.alu(Alu::FAbs, Scalar::F32, &[change])
                    });
                    self.b.alu(Alu::FAdd, Scalar::F32, &[x, y])
                }
            });
        }
        self.set(i, &results)
    }

    /// The derivative of a 32-bit float. `coarse`: that of the quad's first invocation, for all of them.
    pub fn derivative(&mut self, value: Value, along: Axis, coarse: bool, site: Site) -> Value {
        let bit = self.b.int(along as u32);
        let before = if coarse {
            self.b.int(0)
        } else {
            let lane = self.b.built_in(BuiltIn::SubgroupLocalInvocationId);
            let across = self.b.int(3 - along as u32);
            self.b.alu(Alu::And, Scalar::I32, &[lane, across])
        };
        let after = self.b.alu(Alu::Or, Scalar::I32, &[before, bit]);
        let [after, before] =
            [after, before].map(|of| self.b.one(OpKind::QuadBroadcast, Scalar::F32, &[value, of], site));
        self.b.alu(Alu::FSub, Scalar::F32, &[after, before])
    }

    /// That the shader has derivative groups; in check mode, a finding where not all invocations of one
    /// execute the instruction. Of instructions with implicit derivatives, which only give undefined results
    /// then, it is a note.
    pub fn check_quad(&mut self, i: &Instruction<'_>, id: FindingId) -> Result<(), CompileError> {
        if self.derivative_group.is_none() {
            return Err(i.invalid("is in a compute shader without DerivativeGroupLinearKHR or -QuadsKHR"));
        }
        if !self.options.modelled || (id == FindingId::ImplicitDerivativeDivergence && !self.notes()) {
            return Ok(());
        }
        let site = self.site(i, 0);
        let (_, active) = self.active(site);
        let lane = self.b.built_in(BuiltIn::SubgroupLocalInvocationId);
        let [quads, all] = [!3, 15].map(|bits| self.b.int(bits));
        let first = self.b.alu(Alu::And, Scalar::I32, &[lane, quads]);
        let active = self.b.alu(Alu::ShiftRightLogical, Scalar::I32, &[active, first]);
        let active = self.b.alu(Alu::And, Scalar::I32, &[active, all]);
        let divided = self.b.alu(Alu::INotEqual, Scalar::Bool, &[active, all]);
        self.note(i, id, divided);
        Ok(())
    }
}
