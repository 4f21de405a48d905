//! Programs that are small enough for Miri, by which it sees every kind of access of the interpreter's loop
//! to registers, private memory, workgroup memory and buffers. They run without it as well.

use crate::support::{checked, compile, options, resources, shader};
use pellucid_memory::plain::PlainMemory;
use pellucid_memory::system::{Lanes, Mask};
use pellucid_shader_interp::code::{Code, Inst, Opcode, OperandKind, Pin, Program};
use pellucid_shader_interp::exec::modelled::{self, ModelledOptions, SeededScheduler};
use pellucid_shader_interp::exec::plain::{self, PlainOptions};
use pellucid_shader_interp::exec::step::{Stepped, Stepper};
use pellucid_shader_interp::interface::{CompileOptions, Descriptor, Grid, Resources};
use pellucid_shader_interp::ir::{BuiltIn, GroupFold, GroupKind, Scalar};
use std::sync::LazyLock;

const GRID: Grid = Grid { base: [0; 3], groups: [1; 3] };

/// Registers of [`code`]: the first three are pinned, and the first two masks hold no lanes and all.
const VECTORS: u16 = 32;
const MASKS: u16 = 12;
const ALL_LANES: u16 = 11;

fn inst(op: Opcode, dst: u16, a: u16, b: u16) -> Inst {
    Inst { op, dst, a, b, c: 0, aux: 0, imm: 0 }
}

/// Code that runs `instructions` on one subgroup.
fn code(instructions: &[Inst]) -> Code {
    static EMPTY: LazyLock<Program> = LazyLock::new(|| compile(shader(Vec::new(), Vec::new(), 0, 32), 32));
    let mut code = Code::clone(&EMPTY);
    code.pins = vec![Pin::BuiltIn(BuiltIn::SubgroupLocalInvocationId), Pin::Word(0x4049_0fdb), Pin::Word(13)];
    (code.parks, code.masks, code.vectors) = (0, MASKS.into(), VECTORS.into());
    let sum = |scalar| (GroupFold::IAdd, GroupKind::Reduce, scalar);
    code.groups =
        vec![sum(Scalar::I32), sum(Scalar::I64), (GroupFold::LogicalAnd, GroupKind::Reduce, Scalar::Bool)];
    code.back_edges.clear();
    code.code = [instructions, &[inst(Opcode::Done, 0, 0, 0)]].concat();
    code
}

/// The registers in the end.
fn registers(instructions: &[Inst]) -> (Vec<Lanes>, Vec<Mask>) {
    let program = Program::new(code(instructions)).expect("code that is in order");
    let resources = Resources::default();
    let mut memory = PlainMemory::new(&[]);
    let mut stepper = Stepper::new(&program, &GRID, &resources, &mut memory).expect("a dispatch");
    let identity = stepper.identity(0, 0);
    let mut strand = stepper.start(&identity);
    while stepper.step(&identity, &mut strand).expect("an instruction") != Stepped::Ended {}
    (strand.vectors().to_vec(), strand.masks().to_vec())
}

/// Instructions whose operands are registers and numbers.
fn on_registers() -> impl Iterator<Item = Opcode> {
    let fits = |kind| {
        use OperandKind::{Literal, Mask, None, Target, Vector};
        matches!(kind, None | Vector(_) | Mask | Literal | Target)
    };
    let all = Opcode::ALL.iter().copied();
    let apart = [Opcode::Native, Opcode::Done];
    all.filter(move |op| !apart.contains(op) && op.shape().into_iter().all(fits))
}

/// An instruction on these registers, behind `all`, and what gives them one value that lanes have in one and
/// the same way, vectors in pairs.
fn with_operands(all: &mut Vec<Inst>, op: Opcode, vectors: [u16; 4], masks: [u16; 4]) {
    for register in vectors {
        all.push(inst(Opcode::Mov, register, 0, 0));
        all.push(inst(Opcode::Mov, register + 1, 1, 0));
    }
    masks.iter().for_each(|register| all.push(inst(Opcode::ULess, *register, 0, 2)));
    let shape = op.shape();
    let field = |k: usize| match shape[k] {
        OperandKind::Vector(_) => vectors[k.min(3)],
        OperandKind::Mask => masks[k.min(3)],
        _ => 0,
    };
    let imm = match op {
        _ if shape[5] == OperandKind::Target => all.len() as u32 + 1,
        Opcode::Group64 => 1,
        Opcode::GroupMask => 2,
        _ => 0,
    };
    all.push(Inst { op, dst: field(0), a: field(1), b: field(2), c: field(3), aux: field(4), imm });
}

#[test]
fn operands_of_an_instruction_may_be_one_register() {
    let mut all = Vec::new();
    for op in on_registers().filter(|op| *op != Opcode::EndLanes) {
        let jumps = op.shape()[5] == OperandKind::Target;
        if jumps {
            all.push(inst(Opcode::MaskMov, ALL_LANES, 1, 0));
        }
        with_operands(&mut all, op, [4; 4], [4; 4]);
        if jumps {
            // Wherever the lanes are, all go on here.
            all.push(inst(Opcode::Join, ALL_LANES, 0, 0));
        }
    }
    all.push(inst(Opcode::Mov, 28, 1, 0));
    let end = all.len() as u32;
    all.iter_mut().filter(|inst| inst.op == Opcode::Join && inst.imm == 0).for_each(|inst| inst.imm = end);
    assert_eq!(registers(&all).0[28].0, [0x4049_0fdb; 32], "all of them ran");
    // Miri chooses the bits of NaN anew each time: what it looks for has shown itself.
    let each = on_registers().take_while(|_| !cfg!(miri));
    for op in each {
        let run = |vectors, masks| {
            let mut all = Vec::new();
            with_operands(&mut all, op, vectors, masks);
            registers(&all)
        };
        let (vectors, masks) = run([4; 4], [4; 4]);
        let (expected, expected_masks) = run([8, 12, 16, 20], [4, 6, 8, 10]);
        match op.shape()[0] {
            OperandKind::Vector(1 | 2) if op != Opcode::ReadClock => {
                let run = if op.shape()[0] == OperandKind::Vector(2) { 2 } else { 1 };
                assert_eq!(vectors[4..4 + run], expected[8..8 + run], "{op:?}");
            }
            OperandKind::Mask => assert_eq!(masks[4], expected_masks[4], "{op:?}"),
            _ => {}
        }
    }
}

#[test]
fn only_code_that_is_in_order_is_a_program() {
    let good = [inst(Opcode::Mov, 3, 0, 0)];
    assert!(Program::new(code(&good)).is_ok());
    let wrong = [
        inst(Opcode::Native, 0, 0, 0),
        inst(Opcode::Mov, VECTORS, 0, 0),
        inst(Opcode::Mov, 3, VECTORS, 0),
        inst(Opcode::Mov, 2, 0, 0),
        inst(Opcode::Select64, VECTORS - 1, 0, 0),
        inst(Opcode::MaskMov, MASKS, 0, 0),
        Inst { imm: 2, ..inst(Opcode::Jump, 0, 0, 0) },
        inst(Opcode::LoadViewUniform, 3, 0, 0),
        inst(Opcode::Load, 0, 0, 0),
        inst(Opcode::MemoryBarrier, 0, 0, 0),
        inst(Opcode::Image, 0, 0, 0),
    ];
    for wrong in wrong {
        assert!(Program::new(code(&[wrong])).is_err(), "{wrong}");
    }
    let mut endless = code(&good);
    endless.code.pop();
    assert!(Program::new(endless).is_err(), "no end");
}

macro_rules! words {
    ($name:literal) => {
        include_bytes!(concat!("shaders/", $name, ".spv")).as_chunks::<4>().0
    };
}

/// Runs a workgroup of a shader in these modes, true for check mode; what is in the first buffer then.
fn results(modes: &[bool], words: &[[u8; 4]], buffers: &[Vec<u32>], push: &[u32]) -> Vec<Vec<u32>> {
    let words: Vec<u32> = words.iter().map(|word| u32::from_le_bytes(*word)).collect();
    let result = |&modelled: &bool| {
        let options = CompileOptions { modelled, ..options(32) };
        let program = pellucid_shader_interp::compile(&words, &options).expect("a shader that compiles");
        let resources = resources(&program, buffers, push);
        let ended = if modelled {
            let mut memory = checked(&program, GRID.groups);
            let mut scheduler = SeededScheduler::new(0);
            let options = ModelledOptions::default();
            modelled::dispatch(&program, &GRID, &resources, &mut memory, &mut scheduler, &options)
        } else {
            plain::dispatch(&program, &GRID, &resources, &PlainOptions::default())
        };
        assert_eq!(ended, Ok(()));
        let binding = program.shader.bindings.iter().position(|binding| binding.binding == 0);
        match &resources.bindings[binding.expect("binding 0")][0] {
            Descriptor::Buffer(range) => range.words(),
            _ => Vec::new(),
        }
    };
    modes.iter().map(result).collect()
}

#[test]
fn barriers_workgroup_memory_and_divergent_branches() {
    let words: Vec<u32> = (0..256).map(|k| k * k).collect();
    let sum: u32 = words.iter().sum();
    // Check mode takes Miri minutes here.
    let modes: &[bool] = if cfg!(miri) { &[false] } else { &[false, true] };
    for result in results(modes, words!("reduction"), &[vec![0; 1], words.clone()], &[]) {
        assert_eq!(result, [sum]);
    }
}

#[test]
fn loads_and_stores_of_buffers_in_and_out_of_bounds() {
    // The last four invocations have no element of the first buffer.
    let buffers = [vec![1f32.to_bits(); 60], (0..64).map(|k| (k as f32).to_bits()).collect()];
    let expected: Vec<u32> = (0..60).map(|k| (2.0 * k as f32 + 1.0).to_bits()).collect();
    // Miri has seen run mode above.
    let modes: &[bool] = if cfg!(miri) { &[true] } else { &[false, true] };
    for result in results(modes, words!("saxpy"), &buffers, &[2f32.to_bits(), 64]) {
        assert_eq!(result, expected);
    }
}

/// The words of `long_vectors`, with what spirv-as does not know; `declared`: with LongVectorEXT.
fn long_vectors(declared: bool) -> Vec<[u8; 4]> {
    let (head, body) = words!("long_vectors").split_at(5);
    let mut words = head.to_vec();
    for capability in [6024, 5425].iter().take(if declared { 2 } else { 1 }) {
        words.extend([2u32 << 16 | 17, *capability].map(u32::to_le_bytes));
    }
    let mut body = body.to_vec();
    let mut at = 0;
    while at < body.len() {
        let first = u32::from_le_bytes(body[at]);
        let made = match (first & 0xffff, first >> 16) {
            (28, 4) => Some(5288),
            (44, 4) => Some(4461),
            (51, 4) => Some(4462),
            (80, 4) => Some(4463),
            _ => None,
        };
        if let Some(opcode) = made {
            body[at] = (first & 0xffff_0000 | opcode).to_le_bytes();
        }
        at += (first >> 16) as usize;
    }
    words.extend(body);
    words
}

#[test]
#[cfg_attr(miri, ignore = "a thousand components take longer than all else")]
fn vectors_of_any_number_of_components() {
    let whole: Vec<f32> = (0..1024).map(|k| k as f32 + 2.0).collect();
    let mut buffer: Vec<u32> = whole.iter().map(|x| x.to_bits()).collect();
    buffer.resize(1024 + 16 * 13, 0);
    let expected = (0..16).flat_map(|lane: usize| {
        let x = lane as f32;
        let inserted = if lane == 3 { 0.5 } else { whole[3] * x };
        [
            x * x * 999.0 + 25.0,
            whole[33 * lane] * x,
            inserted,
            whole[1023] * x + inserted,
            2.0 * x,
            16.0 * x,
            120.0,
            480.0,
            300.0 * x,
            if lane < 8 { 4.0 * x } else { 4.0 },
            4.0 * x,
            6.0,
            8.0 * x,
        ]
    });
    let expected: Vec<f32> = expected.collect();
    for result in results(&[false, true], &long_vectors(true), &[buffer], &[]) {
        let values: Vec<f32> = result[1024..].iter().map(|&bits| f32::from_bits(bits)).collect();
        assert_eq!(values, expected);
    }
    let words: Vec<u32> = long_vectors(false).iter().map(|word| u32::from_le_bytes(*word)).collect();
    let refused = pellucid_shader_interp::compile(&words, &options(32));
    assert!(matches!(refused, Err(pellucid_shader_interp::CompileError::Invalid(_))));
}
