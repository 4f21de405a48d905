//! Instructions, capabilities and execution modes that are younger than the grammar of the `rspirv` crate.

use super::operand::{Operands, core_instruction};
use pellucid_shader_interp::spirv::{NEWER, UNTYPED};
use rspirv::grammar::OperandKind::{IdRef, IdResult, IdResultType, LiteralInteger, StorageClass};
use rspirv::grammar::OperandQuantifier::{One, ZeroOrMore, ZeroOrOne};
use rspirv::grammar::{LogicalOperand, OperandKind, OperandQuantifier};
use rspirv::spirv::Op;

/// What an instruction is written with.
pub struct Form {
    /// Its number.
    pub opcode: u32,
    /// It, or an older one that has the same place in a module.
    pub op: Op,
    /// In order.
    pub operands: Operands,
}

type Kinds = &'static [(OperandKind, OperandQuantifier)];

const CHAIN: Kinds = &[(IdResultType, One), (IdResult, One), (IdRef, One), (IdRef, One), (IdRef, ZeroOrMore)];
const ELEMENT_CHAIN: Kinds =
    &[(IdResultType, One), (IdResult, One), (IdRef, One), (IdRef, One), (IdRef, One), (IdRef, ZeroOrMore)];

const REPLICATE: Kinds = &[(IdResultType, One), (IdResult, One), (IdRef, One)];

/// Operands of the instructions of SPV_KHR_untyped_pointers, SPV_EXT_long_vector and
/// SPV_EXT_replicated_composites.
const INSTRUCTIONS: &[(&str, Kinds)] = &[
    ("TypeUntypedPointerKHR", &[(IdResult, One), (StorageClass, One)]),
    (
        "UntypedVariableKHR",
        &[(IdResultType, One), (IdResult, One), (StorageClass, One), (IdRef, ZeroOrOne), (IdRef, ZeroOrOne)],
    ),
    ("UntypedAccessChainKHR", CHAIN),
    ("UntypedInBoundsAccessChainKHR", CHAIN),
    ("UntypedPtrAccessChainKHR", ELEMENT_CHAIN),
    ("UntypedInBoundsPtrAccessChainKHR", ELEMENT_CHAIN),
    (
        "UntypedArrayLengthKHR",
        &[(IdResultType, One), (IdResult, One), (IdRef, One), (IdRef, One), (LiteralInteger, One)],
    ),
    ("TypeVectorIdEXT", &[(IdResult, One), (IdRef, One), (IdRef, One)]),
    ("ConstantCompositeReplicateEXT", REPLICATE),
    ("SpecConstantCompositeReplicateEXT", REPLICATE),
    ("CompositeConstructReplicateEXT", REPLICATE),
];

/// Names of encodings, the optional operand of OpTypeFloat, with their numbers.
const ENCODINGS: &[(&str, u32)] = &[("BFloat16KHR", 0), ("Float8E4M3EXT", 4214), ("Float8E5M2EXT", 4215)];

/// Names of capabilities with their numbers.
const CAPABILITIES: &[(&str, u32)] = &[
    ("BFloat16CooperativeMatrixKHR", 5118),
    ("BFloat16DotProductKHR", 5117),
    ("BFloat16TypeKHR", 5116),
    ("ComputeDerivativeGroupLinearKHR", 5350),
    ("ComputeDerivativeGroupQuadsKHR", 5288),
    ("Float8CooperativeMatrixEXT", 4213),
    ("Float8EXT", 4212),
    ("FloatControls2", 6029),
    ("LongVectorEXT", 5425),
    ("ReplicatedCompositesEXT", 6024),
    ("UntypedPointersKHR", 4473),
];

/// Names of execution modes without operands, with their numbers.
const EXECUTION_MODES: &[(&str, u32)] =
    &[("DerivativeGroupLinearKHR", 5290), ("DerivativeGroupQuadsKHR", 5289)];

/// The instruction of that name, without `Op`.
pub fn form(name: &str) -> Option<Form> {
    if let Some(grammar) = core_instruction(name) {
        let (op, mut operands) = (grammar.opcode, grammar.operands.to_vec());
        if op == Op::TypeFloat {
            // FP Encoding, which is a number here, or one of its names.
            operands.push(LogicalOperand { kind: LiteralInteger, quantifier: ZeroOrOne });
        }
        return Some(Form { opcode: op as u32, op, operands });
    }
    let &(_, kinds) = INSTRUCTIONS.iter().find(|(younger, _)| *younger == name)?;
    let &(opcode, op, _) = UNTYPED.iter().chain(NEWER).find(|(.., younger)| *younger == name)?;
    let operands = kinds.iter().map(|&(kind, quantifier)| LogicalOperand { kind, quantifier }).collect();
    Some(Form { opcode, op, operands })
}

/// The number of the encoding of that name, for an operand of this instruction.
pub fn encoding(opcode: u32, name: &str) -> Option<u32> {
    let names = if opcode == Op::TypeFloat as u32 { ENCODINGS } else { &[] };
    names.iter().find(|(younger, _)| *younger == name).map(|(_, number)| *number)
}

/// The number of the capability or execution mode of that name.
pub fn value(kind: OperandKind, name: &str) -> Option<u32> {
    let names = match kind {
        OperandKind::Capability => CAPABILITIES,
        OperandKind::ExecutionMode => EXECUTION_MODES,
        _ => return None,
    };
    names.iter().find(|(younger, _)| *younger == name).map(|(_, number)| *number)
}
