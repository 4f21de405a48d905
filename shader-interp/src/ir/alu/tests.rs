//! Arithmetic operations, one by one: each row below runs on lanes and folds as constants, to the same bits.

use crate::code::select::instructions;
use crate::code::{self, OperandKind};
use crate::exec::plain::{PlainOptions, dispatch};
use crate::interface::{CompileOptions, Descriptor, Grid, Resources};
use crate::ir::*;
use crate::pass::builder::Builder;
use pellucid_memory::access::{Access, Reference, Site};
use pellucid_memory::device::MemoryRange;
use pellucid_memory::scope::StorageClasses;

/// An operation, the type of its operands, their bits, and the bits of its results.
type Example = (Alu, Scalar, &'static [u64], &'static [u64]);

const EXAMPLES: &[Example] = &[
    (Alu::RoundToBfloat16, Scalar::F32, &[0x3f81_8000], &[0x3f82]),
    (Alu::RoundToE4m3, Scalar::F32, &[0x43e8_8000], &[0x7f]),
    (Alu::SaturateToE4m3, Scalar::F32, &[0xc3e8_8000], &[0xfe]),
    (Alu::RoundToE5m2, Scalar::F32, &[0x3fa0_0001], &[0x3d]),
    (Alu::SaturateToE5m2, Scalar::F32, &[0x7f00_0000], &[0x7b]),
    (Alu::E4m3ToSingle, Scalar::I32, &[0xb9], &[0xbf90_0000]),
    (Alu::BitReverse, Scalar::I8, &[0x13], &[0xc8]),
    (Alu::BitReverse, Scalar::I16, &[0x13], &[0xc800]),
    (Alu::BitReverse, Scalar::I32, &[0x13], &[0xc800_0000]),
    (Alu::BitReverse, Scalar::I64, &[0x13], &[0xc8 << 56]),
    (Alu::SDiv, Scalar::I8, &[0x80, 0xff], &[0x80]),
    (Alu::SDiv, Scalar::I32, &[7, 0], &[0]),
    (Alu::SMod, Scalar::I16, &[0xfff9, 3], &[2]),
    (Alu::IAddCarry, Scalar::I16, &[0xffff, 2], &[1, 1]),
    (Alu::IAddCarry, Scalar::I64, &[u64::MAX, 2], &[1, 1]),
    (Alu::ISubBorrow, Scalar::I8, &[1, 2], &[0xff, 1]),
    (Alu::SMulExtended, Scalar::I8, &[0xfe, 3], &[0xfa, 0xff]),
    (Alu::UMulExtended, Scalar::I16, &[0xffff, 0xffff], &[1, 0xfffe]),
    (Alu::UMulExtended, Scalar::I32, &[0xffff_ffff, 2], &[0xffff_fffe, 1]),
    (Alu::Xor, Scalar::I64, &[0x1_0000_0003, 0x3_0000_0001], &[0x2_0000_0002]),
    (Alu::Not, Scalar::I64, &[0], &[u64::MAX]),
    (Alu::ShiftRightArithmetic, Scalar::I16, &[0x8000, 17], &[0xc000]),
    (Alu::ShiftLeft, Scalar::I8, &[0xff, 9], &[0xfe]),
    (Alu::BitCount, Scalar::I64, &[u64::MAX], &[64]),
    (Alu::FindSMsb, Scalar::I16, &[0xfffe], &[0]),
    (Alu::SDistance, Scalar::I8, &[0x80, 0x7f], &[0xff]),
    (Alu::SDistance, Scalar::I32, &[0x8000_0000, 0x7fff_ffff], &[0xffff_ffff]),
    (Alu::SDistance, Scalar::I64, &[1, u64::MAX], &[2]),
    (Alu::UDistance, Scalar::I16, &[1, 0xffff], &[0xfffe]),
    (Alu::UDistance, Scalar::I64, &[1, u64::MAX], &[u64::MAX - 1]),
    (Alu::SAddSat, Scalar::I8, &[0x7f, 1], &[0x7f]),
    (Alu::SAddSat, Scalar::I16, &[0x8000, 0xffff], &[0x8000]),
    (Alu::SAddSat, Scalar::I32, &[0x7fff_ffff, 1], &[0x7fff_ffff]),
    (Alu::SAddSat, Scalar::I64, &[1 << 63, u64::MAX], &[1 << 63]),
    (Alu::UAddSat, Scalar::I8, &[0xf0, 0x20], &[0xff]),
    (Alu::UAddSat, Scalar::I16, &[0xf0, 0x20], &[0x110]),
    (Alu::UAddSat, Scalar::I32, &[0xffff_fff0, 0x20], &[0xffff_ffff]),
    (Alu::SSubSat, Scalar::I8, &[0x80, 1], &[0x80]),
    (Alu::SSubSat, Scalar::I64, &[i64::MAX as u64, u64::MAX], &[i64::MAX as u64]),
    (Alu::USubSat, Scalar::I16, &[1, 2], &[0]),
    (Alu::USubSat, Scalar::I64, &[1, 2], &[0]),
    (Alu::SAverage, Scalar::I8, &[0xff, 0xfe], &[0xfe]),
    (Alu::SAverage, Scalar::I32, &[0x7fff_ffff, 0x7fff_fffd], &[0x7fff_fffe]),
    (Alu::UAverage, Scalar::I16, &[0xffff, 0xfffd], &[0xfffe]),
    (Alu::UAverage, Scalar::I64, &[u64::MAX, u64::MAX - 3], &[u64::MAX - 2]),
    (Alu::SAverageRounded, Scalar::I16, &[0xffff, 0xfffe], &[0xffff]),
    (Alu::SAverageRounded, Scalar::I64, &[i64::MAX as u64, i64::MAX as u64], &[i64::MAX as u64]),
    (Alu::UAverageRounded, Scalar::I8, &[0xff, 0xfe], &[0xff]),
    (Alu::UAverageRounded, Scalar::I32, &[0xffff_ffff, 0xffff_fffe], &[0xffff_ffff]),
    (Alu::SClamp, Scalar::I8, &[0x80, 0xff, 3], &[0xff]),
    (Alu::UClamp, Scalar::I64, &[9, 1, 3], &[3]),
    (Alu::SLess, Scalar::I8, &[0x80, 0], &[1]),
    (Alu::ULess, Scalar::I64, &[1 << 40, 1], &[0]),
    (Alu::FMul, Scalar::F32, &[0x4000_0000, 0x4040_0000], &[0x40c0_0000]),
    (Alu::FDiv, Scalar::F64, &[0x3ff0 << 48, 0], &[0x7ff0 << 48]),
    (Alu::FOrdLess, Scalar::F64, &[0, 0x3ff0 << 48], &[1]),
    (Alu::LogicalNotEqual, Scalar::Bool, &[1, 1], &[0]),
    (Alu::PackUnorm2x16, Scalar::F32, &[0x3f80_0000, 0], &[0xffff]),
    (Alu::UnpackSnorm4x8, Scalar::I32, &[0x7f00_8100], &[0, 0xbf80_0000, 0, 0x3f80_0000]),
    (Alu::SDot4x8, Scalar::I32, &[0x01ff_0203, 0x0102_0304], &[17]),
];

/// The value of an operand's bits: a constant, or loaded from buffer 1.
fn operand(b: &mut Builder, memory: &mut Vec<u32>, scalar: Scalar, bits: u64, constant: bool) -> Value {
    if constant {
        return b.constant(scalar, bits);
    }
    let access = Access::plain(StorageClasses::UNIFORM, 4, 1);
    let words = [0, 32].map(|shift| {
        let place =
            Place::Buffer { binding: 1, element: None, offset: None, immediate: 4 * memory.len() as u32 };
        memory.push((bits >> shift) as u32);
        b.one(OpKind::Load { place, access }, Scalar::I32, &[], Site(0))
    });
    match scalar {
        Scalar::Bool => {
            let zero = b.int(0);
            b.alu(Alu::INotEqual, Scalar::Bool, &[words[0], zero])
        }
        Scalar::F32 => b.convert(Conversion::Bitcast, scalar, words[0]),
        Scalar::I64 | Scalar::F64 => b.pack(words, scalar),
        _ => b.convert(Conversion::UConvert, scalar, words[0]),
    }
}

/// Stores a result's bits in buffer 0.
fn store(b: &mut Builder, value: Value, at: u32) {
    let words = match b.scalar(value) {
        Scalar::Bool => [b.convert(Conversion::BoolToInt, Scalar::I32, value), b.int(0)],
        Scalar::F32 => [b.convert(Conversion::Bitcast, Scalar::I32, value), b.int(0)],
        Scalar::I64 | Scalar::F64 => b.unpack(value),
        _ => [b.convert(Conversion::UConvert, Scalar::I32, value), b.int(0)],
    };
    let access = Access::plain(StorageClasses::UNIFORM, 4, 2);
    let place = Place::Buffer { binding: 0, element: None, offset: None, immediate: at };
    b.op(OpKind::Store { place, access }, &[], &words, Site(0));
}

/// The bits of the results when a shader computes an example; whether they were constants.
fn results(example: &Example, constant: bool) -> (Vec<u64>, bool) {
    let &(alu, scalar, operands, expected) = example;
    let mut b = Builder::default();
    b.fold_floats = true;
    let mut memory = Vec::new();
    let arguments: Vec<Value> = operands
        .iter()
        .enumerate()
        .map(|(k, &bits)| {
            let scalar = if alu.has(Mark::Shifts) && k == 1 { Scalar::I32 } else { scalar };
            operand(&mut b, &mut memory, scalar, bits, constant)
        })
        .collect();
    let values = b.alu_all(alu, &arguments);
    let folded = values.iter().all(|&value| b.constant_bits(value).is_some());
    for (k, &value) in values.iter().enumerate() {
        store(&mut b, value, 8 * k as u32);
    }
    let nodes = b.take();
    let mut body = std::mem::take(&mut b.prologue);
    body.extend(nodes);
    let binding = |binding| Binding {
        set: 0,
        binding,
        kind: DescriptorKind::StorageBuffer,
        count: 1,
        name: String::new(),
        written: true,
    };
    let shader = Shader {
        values: b.values,
        body,
        bindings: vec![binding(0), binding(1)],
        local_size: [1; 3],
        ..Shader::default()
    };
    let options = CompileOptions::default();
    let program = code::generate(shader, &options).expect("code for the operation");
    let range = |k: u32, words: &[u32]| {
        MemoryRange::of_words(words, 0x1000 * u64::from(k + 1), Reference(k)).expect("memory")
    };
    let out = range(0, &vec![0; 2 * expected.len()]);
    let bindings = [out.clone(), range(1, &memory)].map(|range| vec![Descriptor::Buffer(range)]).to_vec();
    let resources = Resources { bindings, ..Resources::default() };
    let grid = Grid { base: [0; 3], groups: [1; 3] };
    dispatch(&program, &grid, &resources, &PlainOptions::default()).expect("the shader ends");
    let words = out.words();
    let out =
        words.as_chunks().0.iter().map(|[low, high]| u64::from(*low) | u64::from(*high) << 32).collect();
    (out, folded)
}

#[test]
fn operations_compute_and_fold_what_the_examples_say() {
    for example in EXAMPLES {
        let &(alu, scalar, _, expected) = example;
        assert_eq!(results(example, false), (expected.to_vec(), false), "{example:?}");
        let (found, folded) = results(example, true);
        assert_eq!(found, expected, "{example:?} of constants");
        assert!(folded || scalar.is_float(), "{alu:?} of integers does not fold");
    }
}

#[test]
fn rows_name_instructions_that_take_their_operands() {
    for &alu in Alu::ALL {
        let row = alu.row();
        for (width, codes) in instructions(alu).into_iter().enumerate() {
            let expected = match alu {
                _ if codes.is_empty() => continue,
                alu if alu.has(Mark::Chained) => 2,
                alu if alu.has(Mark::Numbered) => 1,
                _ => row.results.len(),
            };
            assert_eq!(codes.len(), expected, "instructions of {alu:?}");
            for code in codes {
                let taken = code.shape()[1..5].iter().filter(|kind| **kind != OperandKind::None).count();
                let given = match alu {
                    alu if alu.has(Mark::Chained) => row.operands - 1,
                    alu if alu.has(Mark::Numbered) => row.operands + 1,
                    _ => row.operands,
                };
                assert_eq!(taken, given, "operands of {code:?} for {alu:?}");
            }
            for (gives, code) in row.results.iter().zip(codes) {
                let words = match gives {
                    Gives::Same | Gives::Chosen => OperandKind::Vector(width as u16 + 1),
                    Gives::Bool => OperandKind::Mask,
                    Gives::Word | Gives::Single => OperandKind::Vector(1),
                };
                assert_eq!(code.shape()[0], words, "result of {code:?} for {alu:?}");
            }
        }
    }
}
