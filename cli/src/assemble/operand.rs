//! Operands of every kind: ids, literals, enumerants and masks, and the operands that those ask for.

use super::number::{self, Scalar};
use super::token::Lexeme;
use super::{AssembleError, Parser, extended, younger};
use rspirv::binary::Disassemble as _;
use rspirv::dr::Operand;
use rspirv::grammar::{CoreInstructionTable, Instruction, LogicalOperand, OperandKind, OperandQuantifier};
use rspirv::spirv;
use std::collections::HashMap;
use std::str::FromStr as _;
use std::sync::OnceLock;

/// Operands still to be read, the next one last.
pub type Operands = Vec<LogicalOperand>;

/// The instruction of that name, without `Op`. Names with a vendor's suffix may stand for those without.
pub fn core_instruction(name: &str) -> Option<&'static Instruction<'static>> {
    static TABLE: OnceLock<HashMap<&str, &Instruction<'_>>> = OnceLock::new();
    let table = TABLE.get_or_init(|| CoreInstructionTable::iter().map(|i| (i.opname, i)).collect());
    let plain = ["KHR", "EXT", "GOOGLE", "NV", "INTEL"].iter().find_map(|suffix| name.strip_suffix(suffix));
    table.get(name).or_else(|| table.get(plain?)).copied()
}

/// A kind as a message names it.
pub fn describe(kind: OperandKind) -> String {
    match kind {
        OperandKind::IdResultType => "the id of a type".to_owned(),
        OperandKind::IdRef | OperandKind::PairIdRefIdRef | OperandKind::PairIdRefLiteralInteger => {
            "an id, such as %1 or %name".to_owned()
        }
        OperandKind::IdScope => "the id of a scope".to_owned(),
        OperandKind::IdMemorySemantics => "the id of memory semantics".to_owned(),
        OperandKind::LiteralInteger | OperandKind::PairLiteralIntegerIdRef => "an integer".to_owned(),
        OperandKind::LiteralFloat => "a float".to_owned(),
        OperandKind::LiteralContextDependentNumber => "a number".to_owned(),
        OperandKind::LiteralString => "a string".to_owned(),
        OperandKind::LiteralExtInstInteger => "an extended instruction's name or number".to_owned(),
        OperandKind::LiteralSpecConstantOpInteger => "an operation, such as IAdd".to_owned(),
        _ => match mask_names(kind) {
            Some(names) => {
                let names: Vec<&str> = names.iter().map(|(name, _)| name.as_str()).collect();
                format!("{kind:?} ({})", names.join(", "))
            }
            None => format!("a value of {kind:?}"),
        },
    }
}

/// The words of a literal string: its bytes, a zero byte, and zeroes to the end of a word.
pub fn string_words(text: &str) -> Vec<u32> {
    let mut bytes = text.as_bytes().to_vec();
    bytes.resize((bytes.len() / 4 + 1) * 4, 0);
    bytes.chunks_exact(4).map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]])).collect()
}

fn one(kind: OperandKind) -> LogicalOperand {
    LogicalOperand { kind, quantifier: OperandQuantifier::One }
}

/// Reads the next operand into `words` and adds what it asks for to `pending`; a string goes into `text`,
/// too.
pub(super) fn read(
    parser: &mut Parser<'_>,
    kind: OperandKind,
    words: &mut Vec<u32>,
    pending: &mut Operands,
    text: &mut String,
) -> Result<(), AssembleError> {
    let Some(token) = parser.peek() else { return Err(parser.expected(&describe(kind))) };
    let fail = |message: String| Err(token.error(message));
    let scalar_32 = Scalar::Int { width: 32, signed: token.text.starts_with('-') };
    let literal = |scalar: Scalar| match token.kind {
        Lexeme::Word => number::encode(token.text, scalar).map_err(|message| token.error(message)),
        _ => Err(token.error(format!("expected {}, found {}", describe(kind), token.shown()))),
    };
    match kind {
        OperandKind::IdResultType
        | OperandKind::IdRef
        | OperandKind::IdScope
        | OperandKind::IdMemorySemantics
        | OperandKind::PairIdRefIdRef
        | OperandKind::PairIdRefLiteralInteger => {
            if token.kind != Lexeme::Id {
                return Err(parser.expected(&describe(kind)));
            }
            words.push(parser.ids.get(token.text));
            match kind {
                OperandKind::PairIdRefIdRef => pending.push(one(OperandKind::IdRef)),
                OperandKind::PairIdRefLiteralInteger => pending.push(one(OperandKind::LiteralInteger)),
                _ => {}
            }
        }
        OperandKind::LiteralInteger => match younger::encoding(words[0], token.text) {
            Some(encoding) => words.push(encoding),
            None => words.extend(literal(scalar_32)?),
        },
        OperandKind::LiteralFloat => words.extend(literal(Scalar::Float { width: 32 })?),
        OperandKind::LiteralContextDependentNumber => {
            let Some(scalar) = words.get(1).and_then(|of| parser.types.scalars.get(of)) else {
                return fail("the type of this number is no OpTypeInt or OpTypeFloat before it".to_owned());
            };
            words.extend(literal(*scalar)?);
        }
        OperandKind::PairLiteralIntegerIdRef => {
            let selector = words.get(1).and_then(|id| parser.types.of.get(id));
            let scalar = selector.and_then(|of| parser.types.scalars.get(of)).copied().unwrap_or(scalar_32);
            words.extend(literal(scalar)?);
            pending.push(one(OperandKind::IdRef));
        }
        OperandKind::LiteralString => {
            let Lexeme::String(value) = &token.kind else { return Err(parser.expected(&describe(kind))) };
            if value.contains('\0') {
                return fail("a string cannot hold a zero byte".to_owned());
            }
            words.extend(string_words(value));
            text.clone_from(value);
        }
        OperandKind::LiteralExtInstInteger => {
            let set = words.get(3).and_then(|set| parser.types.imports.get(set));
            let Some(set) = set else { return fail("the set is no OpExtInstImport before it".to_owned()) };
            let Some((number, operands)) = extended::instruction(set, token.text) else {
                return fail(format!(
                    "no instruction of {set} is called {}; its number may stand for a name",
                    token.text
                ));
            };
            words.push(number);
            if let Some(operands) = operands {
                *pending = operands.iter().rev().cloned().collect();
            }
        }
        OperandKind::LiteralSpecConstantOpInteger => {
            let Some(grammar) = core_instruction(token.text) else {
                return fail(format!("expected {}, found {}", describe(kind), token.shown()));
            };
            words.push(grammar.opcode as u32);
            let result =
                |o: &&LogicalOperand| !matches!(o.kind, OperandKind::IdResultType | OperandKind::IdResult);
            *pending = grammar.operands.iter().filter(result).rev().cloned().collect();
        }
        _ => {
            let found = (token.kind == Lexeme::Word).then(|| enumerant(kind, token.text)).flatten();
            let Some((value, operands)) = found else { return Err(parser.expected(&describe(kind))) };
            words.push(value);
            pending.extend(operands.into_iter().rev());
        }
    }
    parser.at += 1;
    Ok(())
}

/// A mask or value by its text, with the operands that it asks for.
fn enumerant(kind: OperandKind, text: &str) -> Option<(u32, Operands)> {
    let number = || number::raw(text).ok().filter(|_| text.starts_with(|c: char| c.is_ascii_digit()));
    let Some(names) = mask_names(kind) else { return value(kind, text) };
    let mut bits = 0;
    if let Some(number) = number() {
        bits = number;
    } else {
        for part in text.split('|') {
            bits |= names.iter().find(|(name, _)| name == part)?.1;
        }
    }
    // Operands follow in the order of the bits.
    let each = (0..32).map(|bit| bits & 1 << bit).filter(|bit| *bit != 0);
    Some((bits, each.flat_map(|bit| mask_operands(kind, bit)).collect()))
}

macro_rules! masks {
    ($($kind:ident)*) => {
        /// The names of a mask's bits; `None` for other kinds.
        fn mask_names(kind: OperandKind) -> Option<Vec<(String, u32)>> {
            let text = |bits: u32| match kind {
                $(OperandKind::$kind => Some(spirv::$kind::from_bits_retain(bits).disassemble()),)*
                _ => None,
            };
            text(0)?;
            let mut names = vec![("None".to_owned(), 0)];
            if kind == OperandKind::MemorySemantics {
                names.push(("Relaxed".to_owned(), 0));
            }
            for bit in (0..32).map(|bit| 1 << bit) {
                let all = text(bit)?;
                names.extend(all.split('|').filter(|name| !name.is_empty()).map(|name| (name.to_owned(), bit)));
            }
            Some(names)
        }

        fn mask_operands(kind: OperandKind, bit: u32) -> Operands {
            match kind {
                $(OperandKind::$kind => Operand::$kind(spirv::$kind::from_bits_retain(bit)).additional_operands(),)*
                _ => Vec::new(),
            }
        }
    };
}

masks! {
    ImageOperands FPFastMathMode SelectionControl LoopControl FunctionControl MemorySemantics MemoryAccess KernelProfilingInfo RayFlags
    FragmentShadingRate CooperativeMatrixOperands
}

macro_rules! values {
    ($($kind:ident)*) => {
        fn value(kind: OperandKind, text: &str) -> Option<(u32, Operands)> {
            if let Some(number) = younger::value(kind, text) {
                return Some((number, Vec::new()));
            }
            let number = number::raw(text).ok();
            let dim = if kind == OperandKind::Dim { format!("Dim{text}") } else { String::new() };
            match kind {
                $(OperandKind::$kind => {
                    // An identifier of Rust cannot begin with a digit: 2D is called Dim2D there.
                    let named = spirv::$kind::from_str(text).or_else(|()| spirv::$kind::from_str(&dim)).ok();
                    let value = named.or_else(|| spirv::$kind::from_u32(number?))?;
                    Some((value as u32, Operand::$kind(value).additional_operands()))
                })*
                _ => None,
            }
        }
    };
}

values! {
    SourceLanguage ExecutionModel AddressingModel MemoryModel ExecutionMode StorageClass Dim SamplerAddressingMode SamplerFilterMode
    ImageFormat ImageChannelOrder ImageChannelDataType FPRoundingMode FPDenormMode QuantizationModes FPOperationMode OverflowModes
    LinkageType AccessQualifier HostAccessQualifier FunctionParameterAttribute Decoration BuiltIn Scope GroupOperation KernelEnqueueFlags
    Capability RayQueryIntersection RayQueryCommittedIntersectionType RayQueryCandidateIntersectionType PackedVectorFormat
    CooperativeMatrixLayout CooperativeMatrixUse InitializationModeQualifier LoadCacheControl StoreCacheControl
}
